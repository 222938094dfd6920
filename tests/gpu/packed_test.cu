// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fused calls of elements that start at any byte, such as pixels of three bytes, or at any second one: to single
// bytes, to others that do, and to whole ones.

#include "fused.cuh"

using namespace tt_test;

namespace {

template <int Bytes, int Alignment = 1>
struct alignas(Alignment) packed {
  unsigned char bytes[Bytes];
};

// Every byte of the result depends on all bytes of the element, and on its place.
template <class To>
struct blend {
  template <class From>
  __host__ __device__ To operator()(const From& value) const {
    unsigned sum = 0;
    for (const unsigned char byte : value.bytes) sum = 3 * sum + byte;
    To result;
    for (unsigned char& byte : result.bytes) byte = static_cast<unsigned char>(sum = 5 * sum + 1);
    return result;
  }
  template <class From>
  __host__ __device__ To operator()(const From& value, const To& old) const {
    To result = (*this)(value);
    for (unsigned i = 0; i < sizeof(To); ++i) {
      result.bytes[i] = static_cast<unsigned char>(result.bytes[i] + 7 * old.bytes[i]);
    }
    return result;
  }
};

template <class T>
std::vector<T> random_elements() {
  random_source random{7};
  std::vector<T> result(3000);
  const byte_vector bytes = random.fill(result.size() * sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

template <class From, class To>
void check_each_call() {
  const auto values = random_elements<From>();
  const auto olds = random_elements<To>();
  check_small<transform_call>(values, olds, blend<To>{}, blend<To>{});
  check_small<accumulate_call>(values, olds, blend<To>{}, blend<To>{});
  check_small<dual_call>(values, olds, blend<To>{}, blend<To>{});
}

template <class From, class To>
void check_conversion() {
  check_many<transform_call, To>(random_elements<From>(), blend<To>{}, blend<To>{});
}

template <class From, class To>
void check_accumulation() {
  check_many<accumulate_call>(random_elements<From>(), random_elements<To>(), blend<To>{},
                              blend<To>{});
}

}  // namespace

TEST_CASE("packed: each call at a small size", "[packed][quick]") {
  require_device();
  SECTION("1 to 3") { check_each_call<packed<1>, packed<3>>(); }
  SECTION("2 to 1") { check_each_call<packed<2>, packed<1>>(); }
  SECTION("3 to 1") { check_each_call<packed<3>, packed<1>>(); }
  SECTION("3 to 3") { check_each_call<packed<3>, packed<3>>(); }
  SECTION("3 to 12") { check_each_call<packed<3>, packed<12, 4>>(); }
  SECTION("4 at any byte to 4") { check_each_call<packed<4>, packed<4>>(); }
  SECTION("5 to 11") { check_each_call<packed<5>, packed<11>>(); }
  SECTION("6 to 10") { check_each_call<packed<6, 2>, packed<10, 2>>(); }
  SECTION("8 to 3") { check_each_call<packed<8>, packed<3>>(); }
  SECTION("9 to 8") { check_each_call<packed<9>, packed<8, 8>>(); }
  SECTION("12 to 3") { check_each_call<packed<12, 4>, packed<3>>(); }
  SECTION("17 to 31") { check_each_call<packed<17>, packed<31>>(); }
  SECTION("24 to 24") { check_each_call<packed<24, 8>, packed<24, 8>>(); }
  SECTION("63 to 63") { check_each_call<packed<63>, packed<63>>(); }
  SECTION("64 to 1") { check_each_call<packed<64, 4>, packed<1>>(); }
}

#ifdef MORE_PAIRS
TEST_CASE("packed: each call at a small size, more pairs", "[packed][quick]") {
  require_device();
  SECTION("2 to 2") { check_each_call<packed<2>, packed<2>>(); }
  SECTION("3 to 8") { check_each_call<packed<3>, packed<8, 8>>(); }
  SECTION("4 at any byte to 1") { check_each_call<packed<4>, packed<1>>(); }
  SECTION("4 at any byte to 3") { check_each_call<packed<4>, packed<3>>(); }
  SECTION("4 to 3") { check_each_call<packed<4, 4>, packed<3>>(); }
  SECTION("5 to 1") { check_each_call<packed<5>, packed<1>>(); }
  SECTION("5 to 5") { check_each_call<packed<5>, packed<5>>(); }
  SECTION("6 to 2") { check_each_call<packed<6, 2>, packed<2, 2>>(); }
  SECTION("6 to 6") { check_each_call<packed<6, 2>, packed<6, 2>>(); }
  SECTION("7 to 3") { check_each_call<packed<7>, packed<3>>(); }
  SECTION("7 to 7") { check_each_call<packed<7>, packed<7>>(); }
  SECTION("8 to 1") { check_each_call<packed<8, 8>, packed<1>>(); }
  SECTION("8 to 4") { check_each_call<packed<8>, packed<4, 4>>(); }
  SECTION("8 to 8") { check_each_call<packed<8>, packed<8>>(); }
  SECTION("9 to 9") { check_each_call<packed<9>, packed<9>>(); }
  SECTION("9 to 12") { check_each_call<packed<9>, packed<12, 4>>(); }
  SECTION("10 to 14") { check_each_call<packed<10>, packed<14>>(); }
  SECTION("12 to 2") { check_each_call<packed<12, 4>, packed<2, 2>>(); }
  SECTION("15 to 15") { check_each_call<packed<15>, packed<15>>(); }
  SECTION("16 to 16") { check_each_call<packed<16>, packed<16>>(); }
  SECTION("18 to 30") { check_each_call<packed<18, 2>, packed<30, 2>>(); }
  SECTION("33 to 16") { check_each_call<packed<33>, packed<16, 16>>(); }
}
#endif

TEST_CASE("packed: 3 bytes to 1", "[packed]") {
  require_device();
  check_conversion<packed<3>, packed<1>>();
}
TEST_CASE("packed: 3 bytes to 3", "[packed]") {
  require_device();
  check_conversion<packed<3>, packed<3>>();
}
TEST_CASE("packed: 3 bytes to 12", "[packed]") {
  require_device();
  check_conversion<packed<3>, packed<12, 4>>();
}
TEST_CASE("packed: 7 bytes to 1", "[packed]") {
  require_device();
  check_conversion<packed<7>, packed<1>>();
}
TEST_CASE("packed: 6 bytes at even addresses to 4", "[packed]") {
  require_device();
  check_conversion<packed<6, 2>, packed<4, 4>>();
}
TEST_CASE("packed: 3 bytes added to 3", "[packed]") {
  require_device();
  check_accumulation<packed<3>, packed<3>>();
}
TEST_CASE("packed: 3 bytes added to 1", "[packed]") {
  require_device();
  check_accumulation<packed<3>, packed<1>>();
}
TEST_CASE("packed: 9 bytes added to 15", "[packed]") {
  require_device();
  check_accumulation<packed<9>, packed<15>>();
}
TEST_CASE("packed: 8 bytes added to 4", "[packed]") {
  require_device();
  check_accumulation<packed<8, 8>, packed<4, 4>>();
}
TEST_CASE("packed: 7 bytes added to 5", "[packed]") {
  require_device();
  check_accumulation<packed<7>, packed<5>>();
}
TEST_CASE("packed: 4 bytes added to 6 at even addresses", "[packed]") {
  require_device();
  check_accumulation<packed<4, 4>, packed<6, 2>>();
}
