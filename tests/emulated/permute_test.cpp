// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permutes of arrays of any rank on the CPU, against their definition: every permutation of up to five axes, random ranks
// up to twelve, strides of either sign, functions on the way, and everything that is refused.

#include "cuda_on_cpu.hpp"

#include <tiletranspose/explain.cuh>
#include <tiletranspose/permute.cuh>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "permutes.hpp"

#include <sys/mman.h>

namespace {

using tt::detail::axes_mover;

template <class T, std::size_t Rank>
void check_all_orders(const std::array<size_type, Rank>& extents) {
  std::array<int, Rank> order{};
  std::iota(order.begin(), order.end(), 0);
  do { check<T>(extents, order); } while (std::next_permutation(order.begin(), order.end()));
}

template <class T>
void check_ranks() {
  check_all_orders<T, 1>({37});
  check_all_orders<T, 2>({37, 41});
  check_all_orders<T, 2>({1, 5});
  check_all_orders<T, 3>({7, 33, 35});
  check_all_orders<T, 3>({2, 64, 3});
  check_all_orders<T, 4>({3, 11, 5, 13});
  check_all_orders<T, 4>({2, 34, 1, 33});
  check_all_orders<T, 5>({2, 3, 9, 5, 11});
}

}  // namespace

TEST_CASE("permute: every order of up to five axes") {
  check_ranks<unsigned char>();
  check_ranks<float>();
  check_ranks<element<3>>();
  check_ranks<element<12>>();
}

TEST_CASE("permute: offsets and wider elements") {
  for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
    check<unsigned short, 4>({3, 20, 5, 17}, {2, 3, 0, 1}, offset);
    check<double, 4>({3, 9, 5, 10}, {0, 3, 2, 1}, offset);
    check<element<16>, 4>({2, 5, 9, 4}, {1, 0, 2, 3}, offset);
    check<unsigned char, 4>({4, 5, 6, 24}, {2, 1, 0, 3}, offset);
    // Of as many accesses as registers hold in a tile, and of more.
    check<element<48>, 4>({3, 9, 4, 10}, {0, 3, 2, 1}, offset);
    check<element<49>, 4>({3, 9, 4, 10}, {0, 3, 2, 1}, offset);
    check<element<63>, 4>({2, 9, 3, 11}, {3, 2, 1, 0}, offset);
  }
}

// Short axes on both sides: elements that follow each other in the output are stored together where they come from the
// same places everywhere.
namespace {
template <class T>
void check_short_axes() {
  for (const std::size_t offset : {0u, 1u, 2u}) {
    check<T, 5>({3, 2, 2, 4, 32}, {0, 3, 1, 4, 2}, offset);  // pixels are shuffled by 2
    check<T, 5>({3, 4, 2, 32, 2}, {0, 2, 4, 1, 3}, offset);  // and back
    check<T, 5>({2, 4, 4, 3, 12}, {0, 3, 1, 4, 2}, offset);
    check<T, 5>({2, 3, 3, 5, 16}, {0, 3, 1, 4, 2}, offset);
    check<T, 3>({2, 1500, 2}, {2, 1, 0}, offset);
    check<T, 3>({3, 700, 3}, {2, 1, 0}, offset);
    check<T, 3>({4, 321, 4}, {2, 1, 0}, offset);
    check<T, 4>({5, 2, 544, 2}, {0, 3, 2, 1}, offset);
    check<T, 3>({16, 1, 16}, {2, 1, 0}, offset);
    check<T, 2>({2, 8}, {1, 0}, offset);
  }
}
}  // namespace

TEST_CASE("permute: short axes on both sides") {
  check_short_axes<unsigned char>();
  check_short_axes<unsigned short>();
  check_short_axes<float>();
  check_short_axes<double>();
  check_short_axes<element<16>>();
}

TEST_CASE("permute: elements are taken together where that is as in the first ones") {
  using tt::detail::gather;
  alignas(64) static unsigned char out[64];
  // Pixels shuffled by 2: planes of 400 elements, rows of 20.
  const tt::detail::relocation shuffled{
      {nullptr, out, 4, 4, 4, 4}, 3, {{5, 20, 80}, {20, 1, 2}, {2, 400, 1}}};
  tt::detail::relocation move = shuffled;
  tt::detail::gathered_places places{};
  REQUIRE(gather(move, 4, places));
  CHECK(move.rank == 2);
  CHECK(move.out_element == 16);
  CHECK(move.axes[0].in_stride == 20);
  CHECK(move.axes[0].out_stride == 20);
  CHECK(move.axes[1].extent == 10);
  CHECK(move.axes[1].in_stride == 2);
  CHECK(move.axes[1].out_stride == 1);
  CHECK(places[1] == 1600);
  CHECK(places[2] == 4);
  CHECK(places[3] == 1604);
  // An odd extent, a gap, and a place that is not aligned.
  move = shuffled;
  move.axes[1].extent = 19;
  CHECK_FALSE(gather(move, 4, places));
  move = shuffled;
  move.axes[1].out_stride = 3;
  CHECK_FALSE(gather(move, 4, places));
  move = shuffled;
  move.axes[0].out_stride = 82;
  CHECK_FALSE(gather(move, 4, places));
  move = shuffled;
  move.out = out + 8;
  CHECK_FALSE(gather(move, 4, places));
}

TEST_CASE("permute: the order of elements that are moved one by one") {
  using tt::detail::order_elements;
  const auto order_of = [](int rank, std::initializer_list<tt::detail::relocation_axis> axes) {
    tt::detail::relocation move{};
    move.in_element = move.out_element = 4;
    move.rank = rank;
    std::copy(axes.begin(), axes.end(), move.axes);
    return order_elements(move, 1024);
  };
  // A short axis of the input follows the output's fastest one, until a block is full.
  const auto rows = order_of(4, {{15, 7200, 460800}, {15, 480, 30720}, {32, 16, 960}, {16, 1, 1}});
  CHECK(rows.axes[0] == 3);
  CHECK(rows.axes[1] == 2);
  CHECK(rows.axes[2] == 1);
  CHECK(rows.inner == 3);  // 94 % of 8 blocks
  CHECK(rows.inner_extent == 16 * 32 * 15);
}

// 2 x N x 12 elements, the first two axes exchanged: N is too long to be counted together with the 24 others.
TEST_CASE("permute: blocks of elements are full beside an axis of any length") {
  for (const long long length : {44000000LL, 45000000LL, 1100000000LL}) {
    tt::detail::relocation move{};
    move.in_element = move.out_element = 4;
    move.rank = 3;
    const auto extent = static_cast<size_type>(length);
    move.axes[0] = {extent, 12, 24};
    move.axes[1] = {2, 12 * length, 12};
    move.axes[2] = {12, 1, 1};
    size_type places = 0;
    size_type elements = 0;
    int launches = 0;
    tt::detail::plan_axes_elements<long long>(move, 4, [&](const auto& plan) {
      const auto& arguments = plan.arguments;
      places += plan.blocks * arguments.per_block;
      elements += plan.blocks / arguments.blocks.divisor * arguments.elements;
      ++launches;
      return 0;
    });
    CAPTURE(length, launches);
    CHECK(elements == 24 * extent);
    CHECK(places <= elements + elements / 8);
    CHECK(launches <= 64);
  }
}

TEST_CASE("permute: halves of an array have whole micro-blocks, too") {
  for (const size_type extent : {size_type{8}, size_type{44}, size_type{252}, size_type{1024}}) {
    tt::detail::relocation move{};
    move.in_element = move.out_element = 4;
    move.rank = 1;
    move.axes[0] = {extent, 1, 1};
    size_type sum = 0;
    tt::detail::split(move, [&](const tt::detail::relocation& part) {
      CHECK(part.axes[0].extent % 4 == 0);
      sum += part.axes[0].extent;
      return 0;
    });
    CHECK(sum == extent);
  }
}

namespace {
template <class T, std::size_t Rank>
void check_random(std::mt19937& generator, int cases) {
  for (int i = 0; i < cases; ++i) {
    std::array<size_type, Rank> extents{};
    size_type left = 6000;
    for (size_type& extent : extents) {
      const size_type most = std::min<size_type>(left, Rank > 6 ? 4 : 40);
      extent = 1 + generator() % most;
      left = std::max<size_type>(left / extent, 1);
    }
    std::array<int, Rank> order{};
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(extents.begin(), extents.end(), generator);
    std::shuffle(order.begin(), order.end(), generator);
    check<T>(extents, order, generator() % 4);
  }
}
}  // namespace

TEST_CASE("permute: random ranks and shapes") {
  std::mt19937 generator(11);
  check_random<unsigned char, 3>(generator, 40);
  check_random<unsigned char, 5>(generator, 40);
  check_random<float, 6>(generator, 30);
  check_random<float, 8>(generator, 30);
}

namespace {

// Random strides: a permute of parts of larger arrays, some axes of either side backwards.
template <class T, std::size_t Rank>
void check_strides(std::mt19937& generator) {
  size_type extents[Rank];
  std::ptrdiff_t in_strides[Rank];
  std::ptrdiff_t out_strides[Rank];
  std::vector<axis> axes(Rank);
  std::array<std::size_t, Rank> in_order{};
  std::array<std::size_t, Rank> out_order{};
  std::iota(in_order.begin(), in_order.end(), 0);
  std::iota(out_order.begin(), out_order.end(), 0);
  std::shuffle(in_order.begin(), in_order.end(), generator);
  std::shuffle(out_order.begin(), out_order.end(), generator);
  for (std::size_t k = 0; k < Rank; ++k) { extents[k] = 1 + generator() % (Rank > 3 ? 9 : 40); }
  // From the fastest axis on; what lies in front of the first element and behind it.
  const auto lay = [&](const std::array<std::size_t, Rank>& order, std::ptrdiff_t* strides,
                       bool broadcasts) {
    std::ptrdiff_t step = 1 + static_cast<std::ptrdiff_t>(generator() % 3 == 0);
    std::pair<std::size_t, std::size_t> room{0, 1};
    for (std::size_t i = Rank; i-- > 0;) {
      const std::size_t k = order[i];
      const auto extent = static_cast<std::ptrdiff_t>(extents[k]);
      strides[k] = broadcasts && generator() % 6 == 0 ? 0 : step;
      const auto far = static_cast<std::size_t>((extent - 1) * strides[k]);
      if (generator() % 3 == 0) {
        strides[k] = -strides[k];
        room.first += far;
      } else {
        room.second += far;
      }
      step = step * extent + static_cast<std::ptrdiff_t>(generator() % 2 * 3);
    }
    return room;
  };
  const auto in_room = lay(in_order, in_strides, true);
  const auto out_room = lay(out_order, out_strides, false);
  for (std::size_t k = 0; k < Rank; ++k) { axes[k] = {extents[k], in_strides[k], out_strides[k]}; }
  memory in(random_bytes((in_room.first + in_room.second) * sizeof(T) + 128));
  memory out(
      std::vector<unsigned char>((out_room.first + out_room.second) * sizeof(T) + 128, guard));
  const std::size_t in_first = 64 + in_room.first * sizeof(T);
  const std::size_t out_first = 64 + out_room.first * sizeof(T);
  cpu::this_device() = {};
  REQUIRE(tt::permute(reinterpret_cast<T*>(out.bytes.data() + out_first), out_strides,
                      reinterpret_cast<const T*>(in.bytes.data() + in_first), in_strides,
                      extents) == cudaSuccess);
  REQUIRE(out.content() ==
          expected(in.content(), in_first, out.bytes.size(), out_first, axes, sizeof(T)));
}

}  // namespace

TEST_CASE("permute: strides of either sign, gaps and broadcasts") {
  std::mt19937 generator(13);
  for (int i = 0; i < 60; ++i) {
    INFO("case " << i);
    check_strides<unsigned char, 2>(generator);
    check_strides<float, 3>(generator);
    check_strides<element<3>, 3>(generator);
    check_strides<unsigned short, 4>(generator);
  }
}

namespace {

// Address space of which only what is touched takes memory.
class wide_memory {
 public:
  explicit wide_memory(std::size_t bytes) : bytes_(bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) { throw std::bad_alloc(); }
    data_ = static_cast<unsigned char*>(at);
  }
  wide_memory(const wide_memory&) = delete;
  wide_memory& operator=(const wide_memory&) = delete;
  ~wide_memory() { munmap(data_, bytes_); }
  unsigned char* data() const { return data_; }

 private:
  unsigned char* data_;
  std::size_t bytes_;
};

}  // namespace

TEST_CASE("permute: elements gigabytes apart") {
  constexpr std::ptrdiff_t gibibyte = std::ptrdiff_t{1} << 30;
  // The farthest elements of a side are just in reach of 31 bits, just out of it, and far out.
  const std::ptrdiff_t steps[] = {gibibyte - 5000, gibibyte, 3 * gibibyte + 7};
  for (const std::ptrdiff_t in_step : steps) {
    for (const std::ptrdiff_t out_step : steps) {
      for (const bool backwards : {false, true}) {
        const size_type extents[] = {3, 40, 50};
        const std::ptrdiff_t in_strides[] = {backwards ? -in_step : in_step, 51, 1};
        const std::ptrdiff_t out_strides[] = {1, 3, 2 * out_step / 49};
        const wide_memory in(static_cast<std::size_t>(2 * in_step + 5000));
        const wide_memory out(static_cast<std::size_t>(2 * out_step + 5000));
        unsigned char* const first = in.data() + (backwards ? 2 * in_step : 0);
        const auto at = [&](const std::ptrdiff_t* strides, size_type i, size_type j, size_type k) {
          const std::ptrdiff_t index[] = {static_cast<std::ptrdiff_t>(i),
                                          static_cast<std::ptrdiff_t>(j),
                                          static_cast<std::ptrdiff_t>(k)};
          return index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2];
        };
        const auto for_each = [&](auto use) {
          for (size_type i = 0; i < extents[0]; ++i) {
            for (size_type j = 0; j < extents[1]; ++j) {
              for (size_type k = 0; k < extents[2]; ++k) {
                use(at(in_strides, i, j, k), at(out_strides, i, j, k));
              }
            }
          }
        };
        unsigned next = 1;
        for_each([&](std::ptrdiff_t from, std::ptrdiff_t) {
          first[from] = static_cast<unsigned char>((next = next * 1664525u + 1013904223u) >> 24);
        });
        cpu::this_device() = {};
        REQUIRE(tt::permute(out.data(), out_strides, static_cast<const unsigned char*>(first),
                            in_strides, extents) == cudaSuccess);
        CHECK(cpu::this_device().launches == 1);
        size_type wrong = 0;
        for_each([&](std::ptrdiff_t from, std::ptrdiff_t to) {
          wrong += out.data()[to] == first[from] ? 0 : 1;
        });
        REQUIRE(wrong == 0);
      }
    }
  }
}

// Panels and word-shifted tiles are for large arrays. Here they move small ones, of any extents and strides.
namespace {
enum class gaps { none, of_output, of_both_backwards };

/// A permute of random extents, and axes that change places, in memory of its own.
struct random_relocation {
  std::vector<axis> axes;
  memory in{{}};
  memory out{{}};
  std::size_t in_first = 0;
  std::size_t out_first = 0;
  tt::detail::relocation move{};
  std::string said;

  random_relocation(std::mt19937& generator, int bytes, int access, int rank, size_type most,
                    size_type elements, gaps allowed)
      : axes(static_cast<std::size_t>(rank)) {
    std::vector<int> in_order(static_cast<std::size_t>(rank));
    std::iota(in_order.begin(), in_order.end(), 0);
    std::vector<int> out_order = in_order;
    std::shuffle(in_order.begin(), in_order.end(), generator);
    std::shuffle(out_order.begin(), out_order.end(), generator);
    for (axis& one : axes) {
      one.extent = 1 + generator() % std::min(most, elements);
      elements = std::max<size_type>(elements / one.extent, 1);
    }
    // What lies in front of the first element and behind it.
    const auto lay = [&](const std::vector<int>& order, std::ptrdiff_t axis::*stride,
                         bool has_gaps) {
      std::ptrdiff_t step = 1;
      std::pair<std::size_t, std::size_t> room{0, 1};
      for (const int k : order) {
        axis& one = axes[static_cast<std::size_t>(k)];
        const auto extent = static_cast<std::ptrdiff_t>(one.extent);
        const bool backwards = allowed == gaps::of_both_backwards && generator() % 3 == 0;
        one.*stride = backwards ? -step : step;
        (backwards ? room.first : room.second) += static_cast<std::size_t>((extent - 1) * step);
        step = step * extent + (has_gaps ? static_cast<std::ptrdiff_t>(generator() % 4 == 0) : 0);
      }
      return room;
    };
    const auto in_room = lay(in_order, &axis::in, allowed == gaps::of_both_backwards);
    const auto out_room = lay(out_order, &axis::out, allowed != gaps::none);
    const auto size = static_cast<std::size_t>(bytes);
    in = memory(random_bytes((in_room.first + in_room.second) * size + 128));
    out =
        memory(std::vector<unsigned char>((out_room.first + out_room.second) * size + 128, guard));
    const auto offset = [&] { return generator() % 4 * static_cast<std::size_t>(access); };
    in_first = 64 + in_room.first * size + offset();
    out_first = 64 + out_room.first * size + offset();
    move = {in.bytes.data() + in_first,     out.bytes.data() + out_first,   size, size,
            static_cast<size_type>(access), static_cast<size_type>(access), rank, {}};
    said = std::to_string(bytes) + " bytes at " + std::to_string(access) + ":";
    for (std::size_t k = 0; k < axes.size(); ++k) {
      move.axes[k] = {axes[k].extent, axes[k].in, axes[k].out};
      said += ' ' + std::to_string(axes[k].extent) + '/' + std::to_string(axes[k].in) + '/' +
              std::to_string(axes[k].out);
    }
    tt::detail::normalize(move);
  }
  std::vector<unsigned char> wanted() {
    return expected(in.content(), in_first, out.bytes.size(), out_first, axes,
                    static_cast<int>(move.in_element));
  }
};

template <int Bytes, int Access>
void check_panels(std::mt19937& generator, int rank, size_type most, bool dense) {
  random_relocation moved(generator, Bytes, Access, rank, most, 6000,
                          dense ? gaps::none : gaps::of_both_backwards);
  INFO(moved.said);
  if (moved.move.rank == 0 || moved.move.rank > tt::detail::most_axes) { return; }
  cpu::this_device() = {};
  REQUIRE(tt::detail::launch_panels<Access>(moved.move, nullptr) == cudaSuccess);
  REQUIRE(moved.out.content() == moved.wanted());
}

/// False where no word-shifted tiles can move it.
template <int Bytes>
bool check_word_shifted_tiles(std::mt19937& generator, int rank, size_type most) {
  random_relocation moved(generator, Bytes, tt::access_width(Bytes), rank, most, 120000,
                          rank % 2 == 0 ? gaps::none : gaps::of_output);
  INFO(moved.said);
  const tt::detail::relocation& move = moved.move;
  if (move.rank < 2 || move.rank > tt::detail::most_axes) { return false; }
  const tt::detail::axes_choice choice = choose_axes(move);
  if (choice.x == move.rank - 1 || move.axes[choice.x].in_stride != 1 ||
      move.axes[move.rank - 1].out_stride != 1) {
    return false;
  }
  cpu::this_device() = {};
  cpu::this_device().options.knows(static_cast<const unsigned char*>(move.in),
                                   count_elements(move) * Bytes);
  cpu::this_device().options.knows(moved.out.bytes.data() + 64, moved.out.bytes.size() - 64);
  REQUIRE(tt::detail::launch_word_shifted_tiles<Bytes>(choice, move, nullptr) == cudaSuccess);
  INFO(cpu::this_device().last.table());
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(moved.out.content() == moved.wanted());
  return true;
}

/// Matrices whose columns end about where the last tile does, wherever they begin in their sectors.
template <int Bytes>
void check_ends_of_word_shifted_tiles() {
  constexpr auto bytes = static_cast<std::size_t>(Bytes);
  constexpr size_type cols = 40;
  const auto step =
      static_cast<size_type>(tt::detail::word_shifted_tile_shape{Bytes}.sector_rows());
  for (size_type tiles = 1; tiles <= 3; ++tiles) {
    for (const size_type further : {0, 1, 2}) {
      const size_type rows = tiles * step + further - 32 / bytes;
      if (rows < 2 || rows > 1000) { continue; }
      for (const size_type first : {0, 1, 2, 3}) {
        const std::vector<axis> axes{{rows, static_cast<std::ptrdiff_t>(cols), 1},
                                     {cols, 1, static_cast<std::ptrdiff_t>(rows)}};
        memory in(random_bytes(rows * cols * bytes + 128));
        memory out(std::vector<unsigned char>(rows * cols * bytes + 128, guard));
        const std::size_t out_first = 64 + first * bytes;
        const auto alignment = static_cast<size_type>(tt::access_width(Bytes));
        tt::detail::relocation move{in.bytes.data() + 64,
                                    out.bytes.data() + out_first,
                                    bytes,
                                    bytes,
                                    alignment,
                                    alignment,
                                    2,
                                    {}};
        for (std::size_t k = 0; k < 2; ++k) {
          move.axes[k] = {axes[k].extent, axes[k].in, axes[k].out};
        }
        tt::detail::normalize(move);
        cpu::this_device() = {};
        INFO(Bytes << " bytes, " << rows << " rows, " << first << " elements into a sector");
        REQUIRE(tt::detail::launch_word_shifted_tiles<Bytes>(choose_axes(move), move, nullptr) ==
                cudaSuccess);
        REQUIRE(cpu::this_device().faults == 0);
        REQUIRE(out.content() ==
                expected(in.content(), 64, out.bytes.size(), out_first, axes, Bytes));
      }
    }
  }
}

template <int Bytes, int Access>
void check_panels_of_all_ranks() {
  std::mt19937 generator(16 + Bytes);
  for (int i = 0; i < 9; ++i) {
    const int rank = 2 + i % 5;
    const size_type most = (i % 3 == 0 ? 5 : i % 3 == 1 ? 40 : 3000);
    for (const bool dense : {true, false}) {
      check_panels<Bytes, Access>(generator, rank, most, dense);
    }
  }
}
}  // namespace

TEST_CASE("permute: panels of several axes, packed elements") {
  check_panels_of_all_ranks<1, 1>();
  check_panels_of_all_ranks<2, 2>();
  check_panels_of_all_ranks<3, 1>();
}

TEST_CASE("permute: panels of several axes, elements of words") {
  check_panels_of_all_ranks<4, 4>();
  check_panels_of_all_ranks<8, 8>();
  check_panels_of_all_ranks<12, 4>();
  check_panels_of_all_ranks<16, 16>();
}

// Segments of the output run along many reversed rows: a thread goes on by whole rows, as long as a block has the threads
// for them, and else row by row.
namespace {
template <int Bytes, int Access>
void check_reversed_rows(std::size_t length) {
  const std::size_t rows = 2 + 9000 / (length * Bytes);
  const std::size_t bytes = rows * length * Bytes;
  memory in(random_bytes(bytes + 128));
  memory out(std::vector<unsigned char>(bytes + 128, guard));
  const std::size_t in_first = 64 + (length - 1) * Bytes;
  const tt::detail::row_problem flipped{
      {{in.bytes.data() + 64, out.bytes.data() + 64, length * Bytes, length * Bytes, 0, 0, length,
        rows, false},
       1},
      Bytes,
      false,
      true};
  const auto row = static_cast<std::ptrdiff_t>(length);
  cpu::this_device() = {};
  INFO(length << " elements of " << Bytes << " bytes");
  REQUIRE(tt::detail::launch_panels<Access>(relocation_of(flipped), nullptr) == cudaSuccess);
  REQUIRE(out.content() == expected(in.content(), in_first, out.bytes.size(), 64,
                                    {{rows, row, row}, {length, -1, 1}}, Bytes));
}
}  // namespace

TEST_CASE("permute: panels of reversed rows") {
  for (const std::size_t length : {5u, 64u, 255u, 256u, 257u, 260u, 340u, 701u, 1020u, 1024u}) {
    check_reversed_rows<1, 1>(length);
    check_reversed_rows<2, 2>(length);
    check_reversed_rows<3, 1>(length);
    check_reversed_rows<4, 4>(length);
    check_reversed_rows<12, 4>(length);
  }
}

TEST_CASE("permute: which reversed rows go in panels") {
  const auto goes = [](size_type bytes, size_type access) {
    const size_type elements = bytes / 3;
    return tt::detail::goes_in_panels(
        {{{nullptr, nullptr, bytes, bytes, 0, 0, elements, 7, false}, 1}, 3, false, true}, access);
  };
  CHECK(goes(255, 1));
  CHECK_FALSE(goes(261, 1));
  CHECK(goes(510, 1));  // two bytes of a word are a period of 255 words
  CHECK(goes(1020, 1));
  CHECK_FALSE(goes(1032, 1));
  CHECK_FALSE(goes((size_type{3} << 40) + 3, 1));
  // One row, or rows with gaps.
  CHECK_FALSE(tt::detail::goes_in_panels(
      {{{nullptr, nullptr, 30, 30, 0, 0, 10, 1, false}, 1}, 3, false, true}, 1));
  CHECK_FALSE(tt::detail::goes_in_panels(
      {{{nullptr, nullptr, 33, 30, 0, 0, 10, 7, false}, 1}, 3, false, true}, 1));
}

TEST_CASE("permute: word-shifted tiles") {
  std::mt19937 generator(23);
  int moved = 0;
  for (int i = 0; i < 30; ++i) {
    const int rank = 2 + i % 4;
    const size_type most = i % 3 == 0 ? 20 : i % 3 == 1 ? 400 : 60000;
    moved += check_word_shifted_tiles<1>(generator, rank, most) ? 1 : 0;
    moved += check_word_shifted_tiles<2>(generator, rank, most) ? 1 : 0;
    moved += check_word_shifted_tiles<3>(generator, rank, most) ? 1 : 0;
  }
  CHECK(moved >= 45);
}

TEST_CASE("permute: columns that end with a word-shifted tile") {
  check_ends_of_word_shifted_tiles<1>();
  check_ends_of_word_shifted_tiles<2>();
  check_ends_of_word_shifted_tiles<3>();
}

// Elements of a dense array whose axes change places.
namespace {

// How a copy goes that no transpose and no rows take; `elements` where one of them does.
axes_mover way_of(const tt::detail::relocation& move, size_type access) {
  const tt::detail::axes_choice chosen = choose_copy(move);
  const bool along_axes = chosen.mover == axes_mover::tiles || chosen.mover == axes_mover::elements;
  return along_axes ? choose_axes_copy(chosen, move, static_cast<int>(access)).mover
                    : axes_mover::elements;
}

bool goes(axes_mover way, size_type element, std::vector<size_type> extents,
          std::vector<int> axes) {
  alignas(16) static unsigned char memory_of_nobody[16];
  tt::detail::relocation move{{memory_of_nobody, memory_of_nobody, element, element, 1, 1},
                              static_cast<int>(extents.size()),
                              {}};
  REQUIRE(tt::detail::permute_axes(move, extents.data(), axes.data()));
  normalize(move);
  return way_of(move, tt::access_width(element)) == way;
}
bool goes_in_panels(size_type element, const std::vector<size_type>& extents,
                    const std::vector<int>& axes) {
  return goes(axes_mover::panels, element, extents, axes);
}
}  // namespace

TEST_CASE("permute: what goes in panels fits the shared memory that every block may have") {
  std::mt19937_64 generator(19);
  alignas(16) static unsigned char memory_of_nobody[16];
  int taken = 0;
  for (int i = 0; i < 60000; ++i) {
    const std::size_t element = std::array<std::size_t, 7>{1, 2, 3, 4, 8, 12, 16}[generator() % 7];
    const auto rank = static_cast<std::size_t>(2 + generator() % 6);
    std::vector<size_type> extents(rank);
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    size_type left = size_type{1} << (20 + generator() % 12);
    for (size_type& extent : extents) {
      extent = 1 + generator() % std::min<size_type>(left, generator() % 3 == 0 ? left : 40);
      left = std::max<size_type>(left / extent, 1);
    }
    std::shuffle(extents.begin(), extents.end(), generator);
    tt::detail::relocation move{
        {memory_of_nobody, memory_of_nobody, element, element, 1, 1}, static_cast<int>(rank), {}};
    REQUIRE(tt::detail::permute_axes(move, extents.data(), order.data()));
    normalize(move);
    const auto access = static_cast<size_type>(tt::access_width(element));
    if (move.rank == 0 || way_of(move, access) != axes_mover::panels) { continue; }
    ++taken;
    plan_axes_panels(as_accesses(move, access), [](const auto& plan) {
      REQUIRE(plan.shared_bytes <= tt::default_shared_bytes);
      REQUIRE(plan.arguments.to.lanes.divisor <= static_cast<unsigned>(plan.threads));
      return 0;
    });
  }
  REQUIRE(taken > 1000);
}

TEST_CASE("permute: what goes in panels") {
  // Both sides are short along their fastest axes, and share a long one.
  CHECK(goes_in_panels(4, {3, 30000000, 3}, {2, 1, 0}));
  CHECK(goes_in_panels(1, {3, 120000000, 3}, {2, 1, 0}));
  CHECK(goes_in_panels(8, {5, 7, 500000, 3}, {3, 1, 2, 0}));
  // One side is short, and the next axis is the other's fastest.
  CHECK(goes_in_panels(4, {4, 39, 71, 206, 23}, {2, 4, 0, 1, 3}));
  CHECK(goes_in_panels(12, {189, 77, 151, 8}, {3, 1, 2, 0}));
  // Rows that stay rows, but not those of whole accesses of 16 bytes, nor longer ones of 8.
  CHECK(goes_in_panels(4, {1000, 300, 30, 3}, {2, 1, 0, 3}));
  CHECK_FALSE(goes_in_panels(4, {1000, 300, 30, 4}, {2, 1, 0, 3}));
  CHECK(goes_in_panels(4, {30, 40, 30, 20, 31}, {2, 0, 3, 1, 4}));
  CHECK_FALSE(goes_in_panels(4, {30, 40, 30, 20, 30}, {2, 0, 3, 1, 4}));
  // Segments of one side, or of both, that are the whole panel.
  CHECK(goes_in_panels(4, {250000, 5, 3, 4}, {0, 3, 2, 1}));
  CHECK(goes_in_panels(2, {498, 25, 1649, 6}, {3, 1, 0, 2}));
  // Instead of tiles, if segments are long enough for the size of elements.
  CHECK(goes_in_panels(4, {29, 57, 61, 623}, {3, 2, 1, 0}));
  CHECK_FALSE(goes_in_panels(4, {5, 5, 5, 5, 5, 12505}, {3, 1, 5, 0, 2, 4}));
  // And of micro-blocks, if the output has short segments.
  CHECK(goes_in_panels(1, {424, 401, 12, 124}, {1, 0, 3, 2}));
  CHECK_FALSE(goes_in_panels(1, {424, 401, 20, 124}, {1, 0, 3, 2}));
  CHECK_FALSE(goes_in_panels(1, {320, 96, 75, 96}, {3, 2, 1, 0}));
  // Little work, long sides.
  CHECK_FALSE(goes_in_panels(4, {3, 30000, 3}, {2, 1, 0}));
  CHECK_FALSE(goes_in_panels(4, {28, 48, 28, 28, 48}, {4, 0, 3, 2, 1}));
  CHECK_FALSE(goes_in_panels(4, {16384, 16384}, {1, 0}));
}

TEST_CASE("permute: inputs without gaps") {
  const auto is_dense = [](const std::vector<axis>& axes) {
    tt::detail::relocation move{};
    move.rank = static_cast<int>(axes.size());
    for (std::size_t k = 0; k < axes.size(); ++k) {
      move.axes[k] = {axes[k].extent, axes[k].in, axes[k].out};
    }
    return has_dense_input(move);
  };
  CHECK(is_dense({{5, 12, 1}, {3, 4, 5}, {4, 1, 15}}));
  CHECK(is_dense({{5, -12, 1}, {3, 4, 5}, {4, -1, 15}}));
  CHECK_FALSE(is_dense({{5, 13, 1}, {3, 4, 5}, {4, 1, 15}}));
  // As many elements as it reaches over, but some of them twice, and gaps.
  CHECK_FALSE(is_dense({{2, 0, 1}, {1001, 2001, 2}, {1000, 1, 2002}}));
  CHECK_FALSE(is_dense({{3, 0, 1}, {3, 4, 3}}));
}

TEST_CASE("permute: what goes in word-shifted tiles") {
  const auto goes_shifted = [](size_type element, const std::vector<size_type>& extents,
                               const std::vector<int>& axes) {
    return goes(axes_mover::word_shifted_tiles, element, extents, axes);
  };
  CHECK(goes_shifted(1, {97, 75, 97, 321}, {3, 2, 1, 0}));
  CHECK(goes_shifted(2, {97, 75, 97, 321}, {3, 2, 1, 0}));
  CHECK(goes_shifted(1, {814, 22981, 17}, {2, 1, 0}));
  CHECK(goes_shifted(3, {97, 75, 97, 321}, {3, 2, 1, 0}));
  CHECK_FALSE(goes_shifted(4, {97, 75, 97, 321}, {3, 2, 1, 0}));
  // Not what would be mostly empty, nor panels that have long segments.
  CHECK_FALSE(goes_shifted(1, {3, 120000000, 3}, {2, 1, 0}));
  CHECK(goes_shifted(2, {6, 25, 498, 1649}, {3, 2, 1, 0}));
  CHECK_FALSE(goes_shifted(2, {498, 25, 1649, 6}, {3, 1, 0, 2}));
  // Matrices between whose short rows those of others lie, unless their rows are whole lines.
  CHECK(goes_shifted(1, {235, 572, 204}, {2, 1, 0}));
  CHECK(goes_shifted(1, {641, 643, 647}, {2, 1, 0}));
  CHECK(goes_shifted(2, {181, 217, 181}, {2, 1, 0}));
  CHECK(goes_shifted(3, {79, 1144, 1087}, {2, 1, 0}));
  CHECK_FALSE(goes_shifted(2, {641, 643, 647}, {2, 1, 0}));
  CHECK_FALSE(goes_shifted(1, {1024, 1024, 1024}, {2, 1, 0}));
  // Rows that are too short for tiles, but not micro-blocks.
  CHECK(goes_shifted(1, {264, 87300, 12}, {2, 1, 0}));
  CHECK_FALSE(goes_shifted(1, {264, 87300, 20}, {2, 1, 0}));
  CHECK_FALSE(goes_shifted(1, {320, 96, 75, 96}, {3, 2, 1, 0}));
  // What stays together: pixels of three bytes, not of four.
  CHECK(goes_shifted(1, {8001, 8007, 3}, {1, 0, 2}));
  CHECK(goes_shifted(1, {97, 75, 97, 321, 2}, {3, 2, 1, 0, 4}));
  CHECK_FALSE(goes_shifted(1, {97, 75, 97, 321, 4}, {3, 2, 1, 0, 4}));
  // Little work.
  CHECK_FALSE(goes_shifted(1, {97, 75, 97, 7}, {3, 2, 1, 0}));
}

namespace {
struct doubled {
  double operator()(unsigned char value) const { return 2.0 * value; }
};
struct halved {
  unsigned char operator()(float value) const { return static_cast<unsigned char>(value / 2); }
};

template <class Out, class In, class Op, std::size_t Rank>
void check_function(const size_type (&extents)[Rank], const int (&axes)[Rank], Op op) {
  size_type count = 1;
  for (const size_type extent : extents) { count *= extent; }
  tt::emulated_buffer<In> in(count);
  tt::emulated_buffer<Out> out(count);
  for (size_type i = 0; i < count; ++i) { in[i] = static_cast<In>(i * 7 % 251); }
  cpu::this_device() = {};
  const In* const from = in.data();
  REQUIRE(tt::transform_permute(out.data(), from, extents, axes, op) == cudaSuccess);
  // The place in the output of each element of the input.
  bool right = true;
  for (size_type i = 0; i < count; ++i) {
    size_type rest = i;
    size_type index[Rank];
    for (std::size_t k = Rank; k-- > 0;) { index[k] = rest % extents[k], rest /= extents[k]; }
    size_type to = 0;
    for (std::size_t j = 0; j < Rank; ++j) { to = to * extents[axes[j]] + index[axes[j]]; }
    right = right && out[to] == op(from[i]);
  }
  CHECK(right);
}
}  // namespace

TEST_CASE("permute: a function on the way") {
  check_function<double, unsigned char>({33, 40}, {1, 0}, doubled{});
  check_function<double, unsigned char>({3, 9, 20}, {0, 2, 1}, doubled{});
  check_function<double, unsigned char>({3, 9, 11, 10}, {2, 1, 3, 0}, doubled{});
  check_function<double, unsigned char>({6, 50}, {0, 1}, doubled{});
  check_function<unsigned char, float>({2, 33, 3, 34}, {0, 3, 2, 1}, halved{});
  check_function<unsigned char, float>({2, 33, 3}, {0, 2, 1}, halved{});
  check_function<unsigned char, float>({1, 1}, {0, 1}, halved{});
}

namespace {
axes_mover mover_of(std::vector<axis> axes, int out = 1) {
  alignas(8) static unsigned char places[8];
  tt::detail::relocation move{
      {&places[0], &places[out], 4, 4, 1, 1}, static_cast<int>(axes.size()), {}};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    move.axes[k] = {axes[k].extent, axes[k].in, axes[k].out};
  }
  normalize(move);
  return choose_axes(move).mover;
}
}  // namespace

TEST_CASE("permute: what two axes and a batch can express goes to their movers") {
  CHECK(mover_of({{9, 35, 35}, {7, 5, 5}, {5, 1, 1}}, 4) == axes_mover::copy);
  CHECK(mover_of({{9, 35, 35}, {7, 5, 5}, {5, 1, 1}}) == axes_mover::rows);  // words are shifted
  CHECK(mover_of({{9, 40, 1}, {40, 1, 9}}) == axes_mover::transpose);
  CHECK(mover_of({{9, -40, 1}, {40, 1, 9}}) == axes_mover::transpose);
  CHECK(mover_of({{3, 360, 360}, {9, 40, 1}, {40, 1, 9}}) == axes_mover::transpose);
  CHECK(mover_of({{3, 64, 4096}, {64, 192, 1}, {64, 1, 64}}) == axes_mover::transpose);
  // Matrices whose short rows lie between those of others, on one side or on both.
  CHECK(mover_of({{3, 20, 4000}, {4000, 60, 1}, {20, 1, 12000}}) == axes_mover::tiles);
  CHECK(mover_of({{3, 20, 40}, {40, 60, 1}, {20, 1, 120}}) == axes_mover::elements);  // few bytes
  CHECK(mover_of({{64, 1, 20}, {100, 1280, 1280}, {20, 64, 1}}) == axes_mover::transpose);
  CHECK(mover_of({{64, 1, 2000}, {100, 64, 20}, {20, 6400, 1}}) == axes_mover::tiles);
  CHECK(mover_of({{5, 1, 500}, {100, 5, 5}, {5, 500, 1}}) == axes_mover::elements);
  CHECK(mover_of({{9, -40, 40}, {40, 1, 1}}) == axes_mover::rows);
  CHECK(mover_of({{9, 40, 200}, {5, 360, 40}, {40, 1, 1}}) == axes_mover::rows);
  // Images of several planes: rows and columns stay together.
  CHECK(mover_of({{2, 6000, 6000}, {50, 120, 40}, {40, 3, 1}, {3, 1, 2000}}) ==
        axes_mover::transpose);
  // Heads of attention: rows that stay rows, but in three axes.
  CHECK(mover_of({{2, 4290, 4290}, {11, 390, 13}, {30, 13, 143}, {13, 1, 1}}) ==
        axes_mover::elements);
  CHECK(mover_of({{20, 6000, 1}, {10, 600, 20}, {20, 30, 200}, {30, 1, 4000}}) ==
        axes_mover::tiles);
  // A side that is too short alone takes the next axis.
  CHECK(mover_of({{40, 1800, 1}, {10, 180, 40}, {60, 3, 400}, {3, 1, 24000}}) == axes_mover::tiles);
  CHECK(mover_of({{2, 8, 1}, {2, 4, 2}, {2, 2, 4}, {2, 1, 8}}) == axes_mover::elements);
}

TEST_CASE("permute: strides of axes of one element do not count") {
  constexpr std::ptrdiff_t far = std::numeric_limits<std::ptrdiff_t>::max();
  tt::emulated_buffer<float> in(12);
  tt::emulated_buffer<float> out(12);
  for (int i = 0; i < 12; ++i) { in[static_cast<size_type>(i)] = static_cast<float>(i); }
  const float* const from = in.data();
  cpu::this_device() = {};
  REQUIRE(tt::permute(out.data(), {-far, 1, 3}, from, {far, 4, 1}, {1, 3, 4}) == cudaSuccess);
  REQUIRE(tt::permute(out.data(), {1, far, 3}, from, {4, -far - 1, 1}, {3, 1, 4}) == cudaSuccess);
  for (size_type i = 0; i < 3; ++i) {
    for (size_type j = 0; j < 4; ++j) { REQUIRE(out[i + 3 * j] == in[4 * i + j]); }
  }
}

TEST_CASE("permute: what is refused leaves the output alone") {
  tt::emulated_buffer<float> in(64);
  tt::emulated_buffer<float> out(64);
  std::memset(out.data(), guard, 64 * sizeof(float));
  std::memset(in.data(), 1, 64 * sizeof(float));
  const float* const from = in.data();
  float* const to = out.data();
  const cudaError_t refused = cudaErrorInvalidValue;
  cpu::this_device() = {};
  CHECK(tt::permute(to, from, {4, 4}, {0, 0}) == refused);
  CHECK(tt::permute(to, from, {4, 4}, {0, 2}) == refused);
  CHECK(tt::permute(to, from, {4, 4}, {-1, 0}) == refused);
  CHECK(tt::permute(static_cast<float*>(nullptr), from, {4, 4}, {1, 0}) == refused);
  CHECK(tt::permute(to, static_cast<const float*>(nullptr), {4, 4}, {1, 0}) == refused);
  CHECK(tt::permute(reinterpret_cast<float*>(reinterpret_cast<char*>(to) + 1), from, {4, 4},
                    {1, 0}) == refused);
  CHECK(tt::permute(to, from, {size_type{1} << 40, size_type{1} << 40}, {1, 0}) == refused);
  CHECK(tt::permute(in.data() + 8, from, {4, 4}, {1, 0}) == refused);
  CHECK(tt::permute(in.data(), from, {4, 4}, {1, 0}) == refused);
  // Elements of the output that share an address.
  CHECK(tt::permute(to, {1, 3}, from, {4, 1}, {4, 4}) == refused);
  CHECK(tt::permute(to, {0, 1}, from, {4, 1}, {4, 4}) == refused);
  CHECK(tt::permute(to, {-3, 1}, from, {4, 1}, {4, 4}) == refused);
  // More than eight axes that stay apart.
  CHECK(tt::permute(to, from, {2, 2, 2, 2, 2, 2, 2, 2, 2}, {8, 7, 6, 5, 4, 3, 2, 1, 0}) == refused);
  CHECK(cpu::this_device().launches == 0);
  for (int i = 0; i < 64; ++i) {
    float untouched = 0;
    std::memset(&untouched, guard, sizeof untouched);
    REQUIRE(std::memcmp(&out.data()[i], &untouched, sizeof untouched) == 0);
  }

  CHECK(tt::permute(static_cast<float*>(nullptr), from, {4, 0}, {1, 0}) == cudaSuccess);
  CHECK(cpu::this_device().launches == 0);
  // Nine axes of which two stay together.
  CHECK(tt::permute(to, from, {2, 2, 1, 1, 2, 2, 2, 1, 2}, {8, 6, 7, 5, 4, 3, 2, 0, 1}) ==
        cudaSuccess);
}
