// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::accumulate_transpose and tt::transform_transpose_dual: every way an output element is moved, old
// elements that must be read before and only before they are written, three matrices that must not meet.

#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "fused.cuh"

using namespace tt_test;

namespace {

struct scaled_sum {
  float alpha, beta;
  __host__ __device__ float operator()(float element, float old) const {
    return alpha * element + beta * old;
  }
};

struct add_half {
  __device__ float operator()(__half element, float old) const {
    return __half2float(element) + old;
  }
};

struct add_to_half {
  __device__ __half operator()(float element, __half old) const {
    return __float2half_rn(element + __half2float(old));
  }
};

struct add_conjugate {
  __host__ __device__ cuDoubleComplex operator()(cuDoubleComplex element,
                                                 cuDoubleComplex old) const {
    return {old.x + element.x, old.y - element.y};
  }
};

// Byte by byte, without a carry, so that each byte shows where it came from.
template <class T>
struct add_bytes {
  __host__ __device__ T operator()(const T& element, const T& old) const {
    T result;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      reinterpret_cast<unsigned char*>(&result)[i] =
          static_cast<unsigned char>(reinterpret_cast<const unsigned char*>(&element)[i] +
                                     3 * reinterpret_cast<const unsigned char*>(&old)[i]);
    }
    return result;
  }
};

struct to_half {
  __device__ __half operator()(float value) const { return __float2half_rn(value); }
};
struct to_fp8 {
  __device__ __nv_fp8_e4m3 operator()(float value) const { return __nv_fp8_e4m3(value); }
};
struct plus_one {
  __host__ __device__ int operator()(int value) const { return value + 1; }
};
struct inverted {
  __host__ __device__ std::uint8_t operator()(std::uint8_t value) const {
    return static_cast<std::uint8_t>(~value);
  }
};
// Not a number any more, but bits that show where they came from.
struct swapped_halves {
  __host__ __device__ double operator()(double value) const {
    unsigned words[2];
    memcpy(words, &value, sizeof words);
    const unsigned swapped[2] = {words[1], words[0]};
    memcpy(&value, swapped, sizeof value);
    return value;
  }
};
struct to_double {
  __host__ __device__ double operator()(float value) const { return value; }
};
struct negative {
  __host__ __device__ pixel operator()(const pixel& p) const {
    return {static_cast<std::uint8_t>(~p.red), static_cast<std::uint8_t>(~p.green),
            static_cast<std::uint8_t>(~p.blue)};
  }
};
struct repeat {
  __host__ __device__ repeat_16 operator()(float value) const {
    repeat_16 result;
    for (float& v : result.value) v = value;
    return result;
  }
};

// Counts its calls.
struct counted_sum {
  unsigned long long* calls;
  __device__ float operator()(float element, float old) const {
    atomicAdd(calls, 1ull);
    return element + old;
  }
};

template <class T>
std::vector<T> random_elements() {
  random_source random{11};
  std::vector<T> result(3000);
  const byte_vector bytes = random.fill(result.size() * sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::vector<__half> exact_halves() {
  std::vector<__half> result;
  for (int i = 0; i < 1024; ++i) result.push_back(__float2half_rn(static_cast<float>(i) / 16));
  return result;
}

std::vector<cuDoubleComplex> exact_complex() {
  std::vector<cuDoubleComplex> result;
  for (const float value : exact_floats()) result.push_back({value, 300 - value});
  return result;
}

// Calls check(values, olds, op, reference) for a kind of accumulation.
constexpr scaled_sum update{2, 0.5f};
template <class Check>
void with_floats(Check check) {
  check(exact_floats(), exact_floats(), update, update);
}
template <class Check>
void with_halves_to_floats(Check check) {
  check(exact_halves(), exact_floats(), add_half{},
        [](__half v, float old) { return old + __half2float(v); });
}
template <class Check>
void with_floats_to_halves(Check check) {
  check(exact_floats(), exact_halves(), add_to_half{},
        [](float v, __half old) { return __float2half_rn(__half2float(old) + v); });
}
template <class T, class Check>
void with_bytes_of(Check check) {
  check(random_elements<T>(), random_elements<T>(), add_bytes<T>{}, add_bytes<T>{});
}
template <class Check>
void with_complex(Check check) {
  check(exact_complex(), exact_complex(), add_conjugate{}, add_conjugate{});
}

constexpr auto small = [](const auto& values, const auto& olds, auto op, auto reference) {
  check_small<accumulate_call>(values, olds, op, reference);
};
constexpr auto many = [](const auto& values, const auto& olds, auto op, auto reference) {
  check_many<accumulate_call>(values, olds, op, reference);
};

constexpr std::size_t nx = 5;
constexpr std::size_t ny = 7;

}  // namespace

TEST_CASE("accumulate: every path at a small size", "[accumulate][quick]") {
  require_device();
  SECTION("float") { with_floats(small); }
  SECTION("half to float") { with_halves_to_floats(small); }
  SECTION("float to half") { with_floats_to_halves(small); }
  SECTION("complex double, conjugated") { with_complex(small); }
  SECTION("1 byte") { with_bytes_of<std::uint8_t>(small); }
  SECTION("3 bytes") { with_bytes_of<pixel>(small); }
  SECTION("8 bytes") { with_bytes_of<double>(small); }
  SECTION("12 bytes") { with_bytes_of<float_triple>(small); }
  SECTION("32 bytes, aligned to 16") { with_bytes_of<aligned_32>(small); }
  SECTION("64 bytes") { with_bytes_of<repeat_16>(small); }
}

TEST_CASE("accumulate: the function is called once per element", "[accumulate][quick]") {
  require_device();
  for (const shape s : {shape{512, 768}, shape{131, 259}}) {
    device_allocation in{s.nx * s.ny * sizeof(float)}, out{s.nx * s.ny * sizeof(float)};
    device_allocation calls{sizeof(unsigned long long)};
    upload(in.data(), byte_vector(s.nx * s.ny * sizeof(float)));
    upload(out.data(), byte_vector(s.nx * s.ny * sizeof(float)));
    upload(calls.data(), byte_vector(sizeof(unsigned long long)));
    const counted_sum op{reinterpret_cast<unsigned long long*>(calls.data())};
    REQUIRE(tt::accumulate_transpose(reinterpret_cast<float*>(out.data()),
                                     reinterpret_cast<const float*>(in.data()), s.nx, s.ny,
                                     op) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const byte_vector counted = download(calls.data(), sizeof(unsigned long long));
    unsigned long long times = 0;
    std::memcpy(&times, counted.data(), sizeof times);
    CHECK(times == s.nx * s.ny);
  }
}

TEST_CASE("accumulate: float", "[accumulate]") {
  require_device();
  with_floats(many);
}
TEST_CASE("accumulate: half to float", "[accumulate]") {
  require_device();
  with_halves_to_floats(many);
}
TEST_CASE("accumulate: float to half", "[accumulate]") {
  require_device();
  with_floats_to_halves(many);
}
TEST_CASE("accumulate: complex double", "[accumulate]") {
  require_device();
  with_complex(many);
}
TEST_CASE("accumulate: bytes", "[accumulate]") {
  require_device();
  with_bytes_of<std::uint8_t>(many);
}
TEST_CASE("accumulate: 3 bytes", "[accumulate]") {
  require_device();
  with_bytes_of<pixel>(many);
}
TEST_CASE("accumulate: 12 bytes", "[accumulate]") {
  require_device();
  with_bytes_of<float_triple>(many);
}

// Many blocks are under way at once: one that read what another has already replaced would show.
TEST_CASE("accumulate: large, nobody reads what is already new", "[accumulate]") {
  require_device();
  random_source random;
  for (const shape s : {shape{2003, 3001}, shape{2048, 2048}}) {
    check_fused<accumulate_call>(s, {}, random, exact_floats(), exact_floats(), update, update);
    check_fused<accumulate_call>(s, {}, random, random_elements<std::uint8_t>(),
                                 random_elements<std::uint8_t>(), add_bytes<std::uint8_t>{},
                                 add_bytes<std::uint8_t>{});
    check_fused<accumulate_call>(s, {}, random, random_elements<float_triple>(),
                                 random_elements<float_triple>(), add_bytes<float_triple>{},
                                 add_bytes<float_triple>{});
  }
}

TEST_CASE("dual: every path at a small size", "[dual][quick]") {
  require_device();
  SECTION("float to half") {
    check_small<dual_call, __half>(some_floats(), to_half{},
                                   [](float v) { return __float2half_rn(v); });
  }
  SECTION("float to fp8") {
    check_small<dual_call, __nv_fp8_e4m3>(some_floats(), to_fp8{},
                                          [](float v) { return __nv_fp8_e4m3(v); });
  }
  SECTION("int to int") { check_small<dual_call, int>(some_ints(), plus_one{}, plus_one{}); }
  SECTION("float to double") {
    check_small<dual_call, double>(some_floats(), to_double{}, to_double{});
  }
  SECTION("pixel to pixel") {
    check_small<dual_call, pixel>(some_pixels(), negative{}, negative{});
  }
  SECTION("byte to byte") {
    check_small<dual_call, std::uint8_t>(every_byte(), inverted{}, inverted{});
  }
  SECTION("double to double") {
    check_small<dual_call, double>(random_elements<double>(), swapped_halves{}, swapped_halves{});
  }
  SECTION("float to 64 bytes") {
    check_small<dual_call, repeat_16>(some_floats(), repeat{}, repeat{});
  }
}

TEST_CASE("dual: large tiles", "[dual][quick][elsewhere]") {
  require_device();
  if (tt::detail::most_shared_bytes() < 96 * 1024) {
    SKIP("blocks of this device may not have that much shared memory");
  }
  random_source random;
  // Rows of the output are whole sectors, or not.
  for (const std::size_t rows : {800, 803}) {
    check_fused<large_dual_call>({520, rows}, {544, 0, 544, 0, 0, 0}, random, every_byte(),
                                 every_byte(), inverted{}, inverted{});
  }
}

TEST_CASE("dual: float to half", "[dual]") {
  require_device();
  check_many<dual_call, __half>(some_floats(), to_half{},
                                [](float v) { return __float2half_rn(v); });
}
TEST_CASE("dual: float to fp8", "[dual]") {
  require_device();
  check_many<dual_call, __nv_fp8_e4m3>(some_floats(), to_fp8{},
                                       [](float v) { return __nv_fp8_e4m3(v); });
}
TEST_CASE("dual: int to int", "[dual]") {
  require_device();
  check_many<dual_call, int>(some_ints(), plus_one{}, plus_one{});
}
TEST_CASE("dual: pixel to pixel", "[dual]") {
  require_device();
  check_many<dual_call, pixel>(some_pixels(), negative{}, negative{});
}

// ---- refusals, which need no device: nothing is launched, so the addresses are only compared -----

TEST_CASE("fused: zero work succeeds whatever the pointers", "[fused][quick]") {
  float* const none = nullptr;
  CHECK(tt::accumulate_transpose(none, none, 0, 5, update) == cudaSuccess);
  CHECK(tt::accumulate_transpose(none, none, 5, 0, update) == cudaSuccess);
  CHECK(tt::transform_transpose_dual(none, none, none, 0, 5, plus_one{}) == cudaSuccess);
  CHECK(tt::transform_transpose(tt::matrix_view<float>{none, 0, 0, 0},
                                tt::matrix_view<const float>{none, 0, 5, 1},
                                plus_one{}) == cudaSuccess);
}

TEST_CASE("fused: pointers and shapes are checked", "[fused][quick]") {
  auto* const base = reinterpret_cast<float*>(std::uintptr_t{1} << 32);
  float* const in = base;
  float* const out = base + 1000;
  float* const copy = base + 2000;
  float* const none = nullptr;
  constexpr cudaError_t refused = cudaErrorInvalidValue;
  SECTION("null") {
    CHECK(tt::accumulate_transpose(none, in, nx, ny, update) == refused);
    CHECK(tt::accumulate_transpose(out, none, nx, ny, update) == refused);
    CHECK(tt::transform_transpose_dual(none, out, in, nx, ny, plus_one{}) == refused);
    CHECK(tt::transform_transpose_dual(copy, none, in, nx, ny, plus_one{}) == refused);
    CHECK(tt::transform_transpose_dual(copy, out, none, nx, ny, plus_one{}) == refused);
  }
  SECTION("each pair of the three, one element in common") {
    const std::size_t last = nx * ny - 1;
    for (float* const other : {in, in + last, in - last}) {
      CHECK(tt::accumulate_transpose(other, in, nx, ny, update) == refused);
      CHECK(tt::transform_transpose_dual(other, out, in, nx, ny, plus_one{}) == refused);
      CHECK(tt::transform_transpose_dual(copy, other, in, nx, ny, plus_one{}) == refused);
    }
    for (float* const other : {out, out + last, out - last}) {
      CHECK(tt::transform_transpose_dual(other, out, in, nx, ny, plus_one{}) == refused);
    }
  }
  SECTION("the copy is counted in its own bytes") {
    auto* const wide_out = reinterpret_cast<double*>(out);
    auto* const wide_copy = reinterpret_cast<double*>(in + nx * ny);
    const auto call = [&](double* to) {
      return tt::transform_transpose_dual(to, wide_out, in, nx, ny, to_double{});
    };
    CHECK(call(wide_copy - nx * ny) == refused);
    CHECK(call(reinterpret_cast<double*>(in - 2 * nx * ny + 2)) == refused);
    CHECK(call(wide_out + nx * ny - 1) == refused);
  }
  SECTION("views") {
    const tt::matrix_view<const float> from{in, ny, nx, nx + 1};
    const tt::matrix_view<float> to{out, nx, ny, ny + 2};
    const tt::matrix_view<float> beside{copy, ny, nx, nx + 3};
    tt::matrix_view<float> wrong = to;
    wrong.rows = nx + 1;
    CHECK(tt::transform_transpose(wrong, from, plus_one{}) == refused);
    CHECK(tt::accumulate_transpose(wrong, from, update) == refused);
    CHECK(tt::transform_transpose_dual(beside, wrong, from, plus_one{}) == refused);
    wrong = to;
    wrong.stride = ny - 1;
    CHECK(tt::accumulate_transpose(wrong, from, update) == refused);
    wrong = beside;
    wrong.cols = nx - 1;
    CHECK(tt::transform_transpose_dual(wrong, to, from, plus_one{}) == refused);
    wrong = beside;
    wrong.stride = nx - 1;
    CHECK(tt::transform_transpose_dual(wrong, to, from, plus_one{}) == refused);
    wrong.stride = ~std::size_t{0} / 8;
    CHECK(tt::transform_transpose_dual(wrong, to, from, plus_one{}) == refused);
  }
}

TEST_CASE("dual: a refused call writes nothing", "[dual][quick]") {
  require_device();
  random_source random;
  constexpr std::size_t size = nx * ny * sizeof(int);
  const input_buffer in{random.fill(size)};
  const output_buffer out{size, 0, random}, copy{size, 0, random};
  out.poison();
  copy.poison();
  const auto call = [&](int* to_copy, int* to, const int* from, std::size_t cols) {
    return tt::transform_transpose_dual(to_copy, to, from, cols, ny, plus_one{});
  };
  constexpr cudaError_t refused = cudaErrorInvalidValue;
  int* const none = nullptr;
  CHECK(call(none, out.as<int>(), in.as<int>(), nx) == refused);
  CHECK(call(copy.as<int>(), none, in.as<int>(), nx) == refused);
  CHECK(call(copy.as<int>(), out.as<int>(), none, nx) == refused);
  CHECK(call(copy.as<int>(), copy.as<int>(), in.as<int>(), nx) == refused);
  CHECK(call(copy.as<int>(), out.as<int>(), copy.as<int>(), nx) == refused);
  CHECK(call(copy.as<int>(), out.as<int>(), out.as<int>(), nx) == refused);
  CHECK(call(copy.as<int>(), out.as<int>(), in.as<int>(), ~std::size_t{0} / 2) == refused);
  CHECK(tt::transform_transpose_dual(tt::matrix_view<int>{copy.as<int>(), ny, nx, nx - 1},
                                     tt::matrix_view<int>{out.as<int>(), nx, ny, ny},
                                     tt::matrix_view<const int>{in.as<int>(), ny, nx, nx},
                                     plus_one{}) == refused);
  CHECK(call(copy.as<int>(), out.as<int>(), in.as<int>(), 0) == cudaSuccess);
  CHECK(out.trace_of_a_write() == "");
  CHECK(copy.trace_of_a_write() == "");
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

// Rows of the copy between rows of the input share no byte with them.
TEST_CASE("dual: interleaved matrices are taken", "[dual][quick]") {
  require_device();
  device_allocation memory{ny * 4 * nx * sizeof(int)};
  std::vector<int> content(ny * 4 * nx, -1);
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) content[y * 4 * nx + x] = static_cast<int>(y * nx + x);
  }
  byte_vector bytes(content.size() * sizeof(int));
  std::memcpy(bytes.data(), content.data(), bytes.size());
  upload(memory.data(), bytes);
  device_allocation out{nx * ny * sizeof(int)};
  auto* const base = reinterpret_cast<int*>(memory.data());
  REQUIRE(tt::transform_transpose_dual(
              tt::matrix_view<int>{base + 2 * nx, ny, nx, 4 * nx},
              tt::matrix_view<int>{reinterpret_cast<int*>(out.data()), nx, ny, ny},
              tt::matrix_view<const int>{base, ny, nx, 4 * nx}, plus_one{}) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const byte_vector after = download(memory.data(), bytes.size());
  std::vector<int> expected = content;
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      expected[y * 4 * nx + 2 * nx + x] = content[y * 4 * nx + x] + 1;
    }
  }
  REQUIRE(std::memcmp(after.data(), expected.data(), after.size()) == 0);
}
