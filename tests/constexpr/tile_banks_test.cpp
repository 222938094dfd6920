// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank conflicts of the tiles of all element sizes, alignments and accesses: what the headers prove of one warp or
// a few, gone over for all warps of a tile and all ways in which its rows may start.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>
#include <tiletranspose/detail/rows/row_kernel.cuh>
#include <tiletranspose/detail/tile/tile_shape.cuh>
#include <utility>

#include "drain_ways.hpp"

using namespace tt::detail;
using tt::access_width;
using tt::request_ways;
using tt::sector_bytes;
using tt::tile_access;

namespace {

// Proved here rather than in the headers, where every program would pay for it.
static_assert(rounds_share_banks<16, 4>(16) && rounds_share_banks<16, 8>(16) &&
                  rounds_share_banks<8, 4>(8),
              "words that are read in turns must not conflict");
static_assert(access_ways<16>() == 1 && access_ways<8>() == 1 && access_ways<4>() == 1,
              "accesses that hold what lanes read must not conflict");

// The worst requests of a tile that are made to fill it, to drain it, and to read what a store that begins inside of a
// word wants of the word behind it.
struct tile_ways {
  int fill = 0;
  int drain = 0;
  int next_word = 0;
};

template <class Shape>
tile_ways ways_of() {
  tile_ways worst;
  const int fills = Shape::tile_rows / Shape::micro_rows * Shape::load_threads;
  if (!Shape::deals_loads) {  // whose warps are alike
    for (int first = 0; first < fills; first += 32) {
      const auto lanes = [&](int lane) -> long long {
        return first + lane < fills ? typename Shape::fill_lanes{}(first + lane) : -1;
      };
      worst.fill = larger(worst.fill, request_ways(lanes, Shape::fill_access));
    }
  }
  using plan = segment_rounds<Shape, Shape::store_bytes>;
  constexpr unsigned stores = plan::row_threads;
  constexpr unsigned skew_access = Shape::access_bytes < 4 ? Shape::access_bytes : 4;
  using lanes_type =
      drained_lanes<Shape, Shape::store_bytes, Shape::store_bytes, Shape::word_bytes>;
  for (unsigned first = 0; first < Shape::tile_cols * stores && first < 32 * 32; first += 32) {
    const auto exists = [&](int lane) {
      const unsigned step = first + static_cast<unsigned>(lane);
      return plan::row(step) < Shape::tile_cols && plan::exists(step);
    };
    for (unsigned step = 0; step < sector_bytes; step += skew_access) {
      for (unsigned turn = 0; turn < Shape::store_bytes / Shape::word_bytes; ++turn) {
        const lanes_type drained{turn, 0, Shape::joins_stores ? step : 0};
        const auto lanes = [&](int lane) -> long long {
          return exists(lane) ? drained(first + static_cast<unsigned>(lane)) : -1;
        };
        worst.drain = larger(worst.drain, request_ways(lanes, Shape::word_bytes));
      }
      if (!Shape::joins_stores || Shape::access_bytes >= 4) { continue; }
      // Off a word, or off 16 bytes: the two accesses that hold 16 bytes, or the word behind those that are read in
      // turns.
      for (unsigned skew = 0; skew < sector_bytes; skew += skew_access) {
        const lanes_type drained{0, skew, step};
        const auto from = [&](int lane) {
          return drained.from(first + static_cast<unsigned>(lane));
        };
        const auto first_lanes = [&](int lane) -> long long {
          return exists(lane) ? static_cast<long long>(first_access<16>(from(lane))) : -1;
        };
        const auto last_lanes = [&](int lane) -> long long {
          return exists(lane) ? static_cast<long long>(last_access<16>(from(lane))) : -1;
        };
        const auto next_lanes = [&](int lane) -> long long {
          return exists(lane) && from(lane) % 4 != 0
                     ? static_cast<long long>(from(lane) / 4 * 4 + Shape::store_bytes)
                     : -1;
        };
        if (Shape::reads_words) {
          worst.next_word = larger(worst.next_word, request_ways(next_lanes, 4));
        } else {
          worst.drain = larger(worst.drain, request_ways(first_lanes, 16));
          worst.drain = larger(worst.drain, request_ways(last_lanes, 16));
        }
      }
    }
  }
  return worst;
}

template <class Shape>
void check(const char* what) {
  const tile_ways worst = ways_of<Shape>();
  INFO(what << ", " << Shape::element_bytes << " bytes by " << Shape::access_bytes);
  CHECK(worst.fill <= 1);
  CHECK(worst.drain == Shape::drain_ways);
  CHECK(worst.next_word == Shape::next_word_ways);
  const bool odd_segments =
      Shape::moves_groups && (Shape::element_bytes == 3 || Shape::element_bytes == 5);
  CHECK(worst.drain == (odd_segments ? 2 : 1));
}

template <int Bytes, int AccessBytes>
void check_access() {
  if constexpr (AccessBytes >= 1 && access_width(Bytes) >= AccessBytes) {
    if constexpr (!tt::detail::lacks_tile(Bytes, AccessBytes)) {
      check<typename tuned_shape<90, Bytes, AccessBytes, tile_access::any>::type>("any");
    }
    check_access<Bytes, AccessBytes / 2>();
  }
}

template <int Bytes>
void check_size() {
  check_access<Bytes, access_width(Bytes)>();
  if constexpr (tt::has_whole_policy(Bytes, access_width(Bytes))) {
    check<typename tuned_shape<90, Bytes, Bytes, tile_access::whole>::type>("whole");
    check<vector_shape<Bytes>>("vectors");
  }
  if constexpr (tt::has_tall_policy(Bytes, access_width(Bytes))) {
    check<typename tuned_shape<90, Bytes, Bytes, tile_access::tall>::type>("tall");
  }
  if constexpr (access_width(Bytes) == Bytes) { check<swap_shape<Bytes>>("square in place"); }
}

template <int... Less>
void check_sizes(std::integer_sequence<int, Less...>) {
  (check_size<Less + 1>(), ...);
}

// The worst request of a warp that deals out the wide accesses of one row, wherever that starts.
template <class Shape>
int byte_tile_ways() {
  int worst = 0;
  for (int start = 0; start < 16; start += Shape::start_bytes) {
    for (int word = 0; word < static_cast<int>(Shape::words); ++word) {
      for (int access = 0; access < Shape::word_accesses; ++access) {
        const auto lanes = [&](int lane) -> long long {
          const auto rank = static_cast<unsigned>(lane);
          const auto rotated = static_cast<int>((word + Shape::first_word(rank)) % Shape::words);
          const int byte = 16 * lane - start +
                           rotated * static_cast<int>(sizeof(typename Shape::word)) +
                           access * Shape::access_bytes;
          const bool exists = lane < Shape::lanes && byte < Shape::row_bytes;
          return exists ? static_cast<long long>(Shape::place(byte)) : -1;
        };
        worst = larger(worst, request_ways(lanes, Shape::access_bytes));
      }
    }
  }
  return worst;
}

template <int Bytes, int Access>
void check_byte_tiles() {
  INFO("plain bytes of a square in place, " << Bytes << " bytes by " << Access);
  CHECK(byte_tile_ways<byte_tile_shape<Bytes, Access>>() == 1);
  CHECK(byte_tile_ways<byte_tile_shape<Bytes, Access, byte_tiles::little>>() == 1);
  if constexpr (has_aligned_byte_tiles<Bytes, Access>) {
    CHECK(byte_tile_ways<byte_tile_shape<Bytes, Access, byte_tiles::aligned>>() == 1);
  }
  if constexpr (Access > 1) { check_byte_tiles<Bytes, Access / 2>(); }
}

template <int... Less>
void check_all_byte_tiles(std::integer_sequence<int, Less...>) {
  (check_byte_tiles<Less + 1, access_width(Less + 1)>(), ...);
}

}  // namespace

TEST_CASE("tile banks: plain bytes of squares in place", "[banks]") {
  check_all_byte_tiles(std::make_integer_sequence<int, 64>());
}

TEST_CASE("tile banks: every warp of every tile", "[banks]") {
  check_sizes(std::make_integer_sequence<int, 64>());
  check<swap_shape<1, true>>("large square in place, 1 byte");
  check<swap_shape<2, true>>("large square in place, 2 bytes");
}

// The headers prove this of what a group of threads may begin with but for whole accesses.
TEST_CASE("tile banks: words that are read in turns, wherever they begin", "[banks]") {
  STATIC_REQUIRE(rounds_share_banks<16, 4>(128));
  STATIC_REQUIRE(rounds_share_banks<16, 8>(128));
  STATIC_REQUIRE(rounds_share_banks<8, 4>(128));
}

// Elements of a size that a kernel reverses in groups: an odd number of words, but for multiples of 8 bytes.
template <int Bytes>
constexpr bool has_proven_group() {
  if constexpr (known_element(Bytes) == 0) {
    return true;
  } else {
    return word_group<Bytes>::words % 2 != 0 || Bytes % 8 == 0;
  }
}
template <int... Less>
constexpr bool have_proven_groups(std::integer_sequence<int, Less...>) {
  return (has_proven_group<Less + 1>() && ...);
}

TEST_CASE("tile banks: groups that are reversed", "[banks]") {
  STATIC_REQUIRE(have_proven_groups(std::make_integer_sequence<int, 64>()));
}
