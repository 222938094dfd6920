// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transposes between lanes and structures per thread, on the CPU: against their formulas, for every number
// of items, and counted.

#include <tiletranspose/emulator.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/warp_exchange.cuh>
#include <tiletranspose/warp_transpose.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace {

template <int Bytes>
struct element {
  unsigned char bytes[Bytes];
};

template <class T>
std::vector<T> numbered(std::size_t count) {
  std::vector<T> result(count);
  unsigned state = 1;
  for (T& item : result) {
    unsigned char bytes[sizeof(T)];
    for (unsigned char& byte : bytes) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<unsigned char>(state >> 24);
    }
    std::memcpy(&item, bytes, sizeof(T));
  }
  return result;
}

// ---------------------------------------------------- between lanes

constexpr std::size_t threads = 64;

// What a thread does in the checks below: puts its items, of those in blocked order, into the striped array
// in striped order, and the other way round. Checks are templates of the type alone, bodies of all else.
template <class T>
using exchange_body =
    std::function<void(tt::emulated_block, const T* elements, T* striped, T* blocked)>;

template <class T>
void check_orders(int n, std::size_t shared_bytes, int ways, const exchange_body<T>& body) {
  const std::size_t all = threads * static_cast<std::size_t>(n);
  const std::vector<T> elements = numbered<T>(all);
  std::vector<T> striped(all), blocked(all);
  const std::function<void(tt::emulated_block)> thread = [&](tt::emulated_block block) {
    body(block, elements.data(), striped.data(), blocked.data());
  };
  const tt::emulation_report report = tt::emulate(1, threads, shared_bytes, thread);
  INFO(report.table());
  CHECK(report.clean());
  CHECK(report.worst_ways() == ways);
  CHECK(std::memcmp(striped.data(), elements.data(), all * sizeof(T)) == 0);
  CHECK(std::memcmp(blocked.data(), elements.data(), all * sizeof(T)) == 0);
}

template <int Lanes, class T, int N>
void check_exchange() {
  INFO(Lanes << " lanes, " << N << " items of " << sizeof(T) << " bytes");
  check_orders<T>(N, 0, 0, [](tt::emulated_block block, const T* elements, T* striped, T* blocked) {
    const std::size_t lane = block.thread_rank() % Lanes;
    const std::size_t first = (block.thread_rank() - lane) * N;
    const auto blocked_place = [&](std::size_t i) { return first + lane * N + i; };
    const auto striped_place = [&](std::size_t i) { return first + i * Lanes + lane; };
    T items[N];
    for (std::size_t i = 0; i < N; ++i) { items[i] = elements[blocked_place(i)]; }
    tt::warp_blocked_to_striped(tt::static_lanes<Lanes>{}, items);
    for (std::size_t i = 0; i < N; ++i) { striped[striped_place(i)] = items[i]; }
    for (std::size_t i = 0; i < N; ++i) { items[i] = elements[striped_place(i)]; }
    tt::warp_striped_to_blocked(tt::static_lanes<Lanes>{}, items);
    for (std::size_t i = 0; i < N; ++i) { blocked[blocked_place(i)] = items[i]; }
  });
}

// The same by exchanges that may own storage, in which lanes meet in no bank.
template <class T, int N>
void check_storage() {
  INFO(N << " items of " << sizeof(T) << " bytes");
  using warp_exchange = tt::warp_exchange<T, N>;
  struct storage {
    typename warp_exchange::storage of_warp[threads / 32];
  };
  const auto body = [](tt::emulated_block block, const T* elements, T* striped, T* blocked) {
    const std::size_t lane = block.thread_rank() % 32;
    const std::size_t warp = block.thread_rank() / 32;
    const warp_exchange exchanger(block.shared_as<storage>().of_warp[warp]);
    const auto blocked_place = [&](std::size_t i) { return (warp * 32 + lane) * N + i; };
    const auto striped_place = [&](std::size_t i) { return (warp * N + i) * 32 + lane; };
    T items[N];
    for (std::size_t i = 0; i < N; ++i) { items[i] = elements[blocked_place(i)]; }
    exchanger.blocked_to_striped(tt::static_warp{}, items);
    for (std::size_t i = 0; i < N; ++i) { striped[striped_place(i)] = items[i]; }
    tt::static_warp::sync();
    for (std::size_t i = 0; i < N; ++i) { items[i] = elements[striped_place(i)]; }
    exchanger.striped_to_blocked(tt::static_warp{}, items);
    for (std::size_t i = 0; i < N; ++i) { blocked[blocked_place(i)] = items[i]; }
  };
  check_orders<T>(N, sizeof(storage), warp_exchange::uses_shared ? 1 : 0, body);
}

template <class T, int... N>
void check_storage(std::integer_sequence<int, N...>) {
  (check_storage<T, N + 1>(), ...);
}

template <int Lanes, class T, int... N>
void check_items(std::integer_sequence<int, N...>) {
  (check_exchange<Lanes, T, N + 1>(), ...);
}

template <class T, int Most>
void check_few_lanes() {
  check_items<2, T>(std::make_integer_sequence<int, Most>{});
  check_items<4, T>(std::make_integer_sequence<int, Most>{});
  check_items<8, T>(std::make_integer_sequence<int, Most>{});
  check_items<16, T>(std::make_integer_sequence<int, Most>{});
}

// Squares of N lanes, and the same move by its name for a group.
template <int N, class T>
void check_square() {
  INFO(N << " x " << N << " items of " << sizeof(T) << " bytes");
  constexpr std::size_t all = threads * N;
  const std::vector<T> elements = numbered<T>(all);
  std::vector<T> turned(all), by_group(all), expected(all);
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t lane = i / N;
    expected[i] = elements[(lane - lane % N + i % N) * N + lane % N];
  }
  const tt::emulation_report report = tt::emulate(1, threads, 0, [&](tt::emulated_block block) {
    const std::size_t first = block.thread_rank() * std::size_t{N};
    T items[N];
    for (std::size_t i = 0; i < N; ++i) { items[i] = elements[first + i]; }
    tt::warp_transpose(items);
    for (std::size_t i = 0; i < N; ++i) { turned[first + i] = items[i]; }
    for (std::size_t i = 0; i < N; ++i) { items[i] = elements[first + i]; }
    tt::warp_transpose(tt::static_lanes<N>{}, items);
    for (std::size_t i = 0; i < N; ++i) { by_group[first + i] = items[i]; }
  });
  CHECK(report.clean());
  CHECK(std::memcmp(turned.data(), expected.data(), all * sizeof(T)) == 0);
  CHECK(std::memcmp(by_group.data(), expected.data(), all * sizeof(T)) == 0);
}

// ---------------------------------------------------- structures

// Copies `count` structures, `off` of them past a 16-byte boundary, and returns what it took. The emulator
// knows where both arrays end.
template <class T, int N>
tt::emulation_report check_structs(std::size_t count, std::size_t off) {
  INFO(count << " structures of " << sizeof(T) << " bytes, " << N << " a thread, off by " << off);
  const std::vector<T> elements = numbered<T>(count);
  tt::emulated_buffer<T> in(off + count), out(off + count);
  std::memcpy(static_cast<void*>(in.data() + off), elements.data(), count * sizeof(T));
  tt::emulator_options options;
  options.knows(in.data() + off, count).knows(out.data() + off, count);
  const std::size_t per_block = threads * N;
  const tt::emulation_report report =
      tt::emulate(options, static_cast<unsigned>((count + per_block - 1) / per_block), threads, 0,
                  [&](tt::emulated_block block) {
                    const std::size_t first = block.index().x * per_block;
                    T items[N];
                    tt::load_structs(block, items, static_cast<const T*>(in.data()) + off + first,
                                     count - first);
                    tt::store_structs(block, out.data() + off + first, count - first, items);
                  });
  INFO(report.table());
  CHECK(report.clean());
  CHECK(std::memcmp(out.data() + off, elements.data(), count * sizeof(T)) == 0);
  return report;
}

template <class T, int N>
void check_counts() {
  constexpr std::size_t warp = 32 * N;
  for (const std::size_t count :
       {std::size_t{1}, warp - 1, warp, warp + 1, 4 * warp, 5 * warp - 2}) {
    check_structs<T, N>(count, 0);
    check_structs<T, N>(count, 1);
  }
  // Whole warps touch no sector twice in a request, and each access is as wide as the structures allow.
  const tt::emulation_report report = check_structs<T, N>(4 * warp, 0);
  const auto width = static_cast<std::uint64_t>(tt::access_width(N * sizeof(T)));
  for (const tt::access_report& moved : {report.global_loads(), report.global_stores()}) {
    CHECK(moved.sectors == moved.least_sectors);
    CHECK(moved.requests == 4 * warp * sizeof(T) / (32 * width));
  }
}

}  // namespace

TEST_CASE("exchanges of 1 to 64 items in 32 lanes") {
  check_items<32, unsigned>(std::make_integer_sequence<int, 64>{});
}

TEST_CASE("exchanges of packed items in 32 lanes") {
  check_items<32, unsigned char>(std::make_integer_sequence<int, 20>{});
  check_items<32, unsigned short>(std::make_integer_sequence<int, 20>{});
  check_exchange<32, unsigned char, 26>();
  check_exchange<32, unsigned char, 28>();
  check_exchange<32, unsigned char, 31>();
  check_exchange<32, unsigned char, 32>();
  check_exchange<32, unsigned char, 64>();
  check_exchange<32, unsigned short, 30>();
  check_exchange<32, unsigned short, 32>();
  check_exchange<32, unsigned short, 62>();
}

TEST_CASE("exchanges that may own storage") {
  check_storage<unsigned>(std::make_integer_sequence<int, 36>{});
  check_storage<unsigned, 48>();
  check_storage<unsigned, 63>();
  check_storage<unsigned, 64>();
  check_storage<unsigned char>(std::make_integer_sequence<int, 20>{});
  check_storage<unsigned char, 32>();
  check_storage<unsigned char, 33>();
  check_storage<unsigned short>(std::make_integer_sequence<int, 20>{});
  check_storage<unsigned short, 32>();
  check_storage<unsigned short, 34>();
  check_storage<unsigned char, 62>();
  check_storage<unsigned char, 63>();
  check_storage<unsigned short, 63>();
  check_storage<unsigned long long>(std::make_integer_sequence<int, 18>{});
  check_storage<unsigned long long, 24>();
  check_storage<unsigned long long, 32>();
  check_storage<unsigned long long, 34>();
  check_storage<element<16>>(std::make_integer_sequence<int, 17>{});
  check_storage<element<3>>(std::make_integer_sequence<int, 4>{});
}

#if defined(MORE_ITEMS)
TEST_CASE("exchanges of every number of items that may own storage") {
  check_storage<unsigned>(std::make_integer_sequence<int, 64>{});
  check_storage<unsigned char>(std::make_integer_sequence<int, 33>{});
  check_storage<unsigned short>(std::make_integer_sequence<int, 34>{});
  check_storage<unsigned long long>(std::make_integer_sequence<int, 34>{});
}
#endif

TEST_CASE("exchanges in 2 to 16 lanes") {
  check_few_lanes<unsigned, 18>();
  check_few_lanes<unsigned char, 17>();
  check_few_lanes<unsigned short, 9>();
}

TEST_CASE("squares") {
  check_square<2, unsigned>();
  check_square<4, unsigned char>();
  check_square<8, unsigned short>();
  check_square<16, element<3>>();
  check_square<32, unsigned>();
}

TEST_CASE("exchanges of items of several words") {
  check_items<32, element<3>>(std::make_integer_sequence<int, 4>{});
  check_items<8, element<7>>(std::make_integer_sequence<int, 4>{});
  check_items<32, element<12>>(std::make_integer_sequence<int, 4>{});
  check_items<16, element<64>>(std::make_integer_sequence<int, 4>{});
}

TEST_CASE("structures are moved whole, coalesced and up to their end") {
  check_counts<element<3>, 1>();
  check_counts<element<3>, 4>();
  check_counts<float, 1>();
  check_counts<float, 6>();
  check_counts<element<12>, 1>();
  check_counts<element<16>, 4>();
  check_counts<element<28>, 1>();
  check_counts<element<64>, 1>();
}

namespace {

// A warp that counts in a type of its own.
template <class Number>
struct counted_warp {
  static constexpr int static_size = 32;
  static Number thread_rank() { return static_cast<Number>(tt::static_warp::thread_rank()); }
  static Number size() { return 32; }
  static void sync() { tt::static_warp::sync(); }
};

template <class Number>
void check_counted_warp() {
  const std::vector<element<12>> in = numbered<element<12>>(32 * 3);
  std::vector<element<12>> out(32 * 3);
  const tt::emulation_report report = tt::emulate(1, 32, 0, [&](tt::emulated_block) {
    const counted_warp<Number> warp;
    element<12> items[3];
    tt::load_structs(warp, items, in.data(), in.size());
    tt::warp_exchange<element<12>, 3>::storage storage;
    const tt::warp_exchange<element<12>, 3> exchange(storage);
    exchange.blocked_to_striped(warp, items);
    tt::warp_striped_to_blocked(warp, items);
    tt::store_structs(warp, out.data(), out.size(), items);
  });
  CHECK(report.clean());
  CHECK(std::memcmp(out.data(), in.data(), in.size() * sizeof(element<12>)) == 0);
}

}  // namespace

TEST_CASE("a group may count its threads in any type of integers") {
  check_counted_warp<int>();
  check_counted_warp<long long>();
  check_counted_warp<unsigned long long>();
}
