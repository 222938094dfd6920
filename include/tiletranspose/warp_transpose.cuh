// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes in registers, without shared memory: `thread_transpose` inside one thread, `warp_transpose`
/// and its two directions between the lanes of a warp. warp_exchange.cuh moves items through shared memory where
/// that is faster.
///
///     __global__ void kernel(float* out, const float* in) {   // one warp per 32 x 7 floats
///       float items[7];
///       for (int i = 0; i < 7; ++i) { items[i] = in[32 * i + threadIdx.x]; }    // striped: coalesced
///       tt::warp_striped_to_blocked(tt::static_warp{}, items);                  // 7 neighbours a lane
///       // ... compute on in[7 * threadIdx.x + 0 .. 6] ...
///       tt::warp_blocked_to_striped(tt::static_warp{}, items);
///       for (int i = 0; i < 7; ++i) { out[32 * i + threadIdx.x] = items[i]; }
///     }

#pragma once

#include <tiletranspose/detail/core/exchange.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/group.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Transposes a micro-block that one thread holds packed in 32-bit registers.
///
///     element r of out[c] == element c of in[r]
///
/// `in` has `Rows` rows of 4 * RowWords / ElementBytes elements; `out` has as many rows as `in` has
/// columns, of Rows * ElementBytes / 4 words. Element i of a row lies in its bytes
/// [i * ElementBytes, (i + 1) * ElementBytes), lowest first. A word costs a byte permute for each word less
/// one that its bytes come from (1 byte: two); whole words only change their names.
///
///     unsigned in[2][1] = {{0x00010000}, {0x00110010}};    // rows (0x0000 0x0001) (0x0010 0x0011)
///     unsigned out[2][1];
///     tt::thread_transpose<2>(out, in);                     // {{0x00100000}, {0x00110001}}
///
/// \tparam ElementBytes  any; rows and columns of the micro-block are whole words
/// Shared memory: none. Barriers: none.
template <int ElementBytes, int Rows, int RowWords, int Columns, int ColumnWords>
TILETRANSPOSE_FUNCTION void thread_transpose(unsigned (&out)[Columns][ColumnWords],
                                             const unsigned (&in)[Rows][RowWords]) {
  static_assert(
      Columns * ElementBytes == 4 * RowWords && Rows * ElementBytes == 4 * ColumnWords,
      "tt: the transpose of a Rows x Columns micro-block has Columns rows of Rows elements");
  if constexpr (ElementBytes == 1) {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < Rows; r += 4) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < RowWords; ++w) {
        const unsigned low01 = detail::pick_bytes(in[r][w], in[r + 1][w], 0x5140);
        const unsigned high01 = detail::pick_bytes(in[r][w], in[r + 1][w], 0x7362);
        const unsigned low23 = detail::pick_bytes(in[r + 2][w], in[r + 3][w], 0x5140);
        const unsigned high23 = detail::pick_bytes(in[r + 2][w], in[r + 3][w], 0x7362);
        out[4 * w][r / 4] = detail::pick_bytes(low01, low23, 0x5410);
        out[4 * w + 1][r / 4] = detail::pick_bytes(low01, low23, 0x7632);
        out[4 * w + 2][r / 4] = detail::pick_bytes(high01, high23, 0x5410);
        out[4 * w + 3][r / 4] = detail::pick_bytes(high01, high23, 0x7632);
      }
    }
  } else {
    TILETRANSPOSE_UNROLL
    for (int c = 0; c < Columns; ++c) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < ColumnWords; ++w) {
        out[c][w] = detail::pick_word(in[0], [=](int i) {
          const int byte = 4 * w + i;  // of the column
          return byte / ElementBytes * 4 * RowWords + c * ElementBytes + byte % ElementBytes;
        });
      }
    }
  }
}

/// The group of `Lanes` consecutive lanes of a warp that the calling thread belongs to; it starts at a
/// multiple of `Lanes`. The other groups of the warp call the same function at the same time.
/// Precondition: all 32 threads of the warp exist and call.
template <int Lanes>
struct static_lanes {
  static_assert(Lanes == 2 || Lanes == 4 || Lanes == 8 || Lanes == 16 || Lanes == 32,
                "tt: a group of lanes has 2, 4, 8, 16 or 32 of them");

  static constexpr int static_size = Lanes;

  TILETRANSPOSE_FUNCTION static unsigned thread_rank(
      detail::access_site site = detail::access_site::at()) {
    return static_warp::thread_rank(site) % Lanes;
  }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return Lanes; }
  /// Waits for the whole warp.
  TILETRANSPOSE_FUNCTION static void sync(detail::access_site site = detail::access_site::at()) {
    static_warp::sync(site);
  }
};

namespace detail {

/// The number of lanes that a group's type names, else 0. A cooperative-groups tile names it as its first
/// template argument.
template <class Group>
struct known_lanes : known_size<Group> {};
template <template <unsigned, class> class Tile, unsigned Lanes, class Parent>
struct known_lanes<Tile<Lanes, Parent>> {
  static constexpr int value = Lanes;
};

/// How N items of T in each of `Lanes` lanes are laid into registers to travel.
template <int Lanes, class T, int N>
struct item_registers {
  static constexpr int bytes = static_cast<int>(sizeof(T));
  static constexpr bool squares = N % Lanes == 0;
  static constexpr bool packs = bytes <= 2;
  static constexpr bool single = !squares && N * bytes <= 4;
  /// An odd number of pairs of words travels as two exchanges of half the words, whose lanes and rotations are the
  /// same.
  static constexpr bool pairs = !squares && !packs && N % 4 == 2 && N > 16;
  /// Items in a register. They need not fill it: as many as divide N evenly keep neighbours together.
  static constexpr int per_word =
      !packs    ? 1
      : squares ? 4 / bytes
      : single  ? N
                : static_cast<int>(common_divisor(common_divisor(N, 4 / bytes), Lanes));
  static constexpr int planes = packs ? 1 : (bytes + 3) / 4;  // words of one item
  static constexpr int words = (N + per_word - 1) / per_word;
  static constexpr int count = N;

  /// Squares come out one behind the other: where item m of the squares lies in striped order.
  TILETRANSPOSE_HOST_DEVICE static constexpr int striped_place(int m) {
    return squares ? m % Lanes * (N / Lanes) + m / Lanes : m;
  }

  /// Bytes of plane `plane` that are there.
  TILETRANSPOSE_HOST_DEVICE static constexpr int plane_bytes(int plane) {
    return bytes - 4 * plane < 4 ? bytes - 4 * plane : 4;
  }

  template <bool Striped>
  TILETRANSPOSE_FUNCTION static void pack(int plane, const T (&items)[N],
                                          unsigned (&packed)[words]) {
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < words; ++w) {
      packed[w] = 0;
      TILETRANSPOSE_UNROLL
      for (int i = w * per_word; i < (w + 1) * per_word && i < N; ++i) {
        copy_bytes(
            reinterpret_cast<unsigned char*>(&packed[w]) + i % per_word * bytes,
            reinterpret_cast<const unsigned char*>(items + (Striped ? striped_place(i) : i)) +
                4 * plane,
            static_cast<size_type>(plane_bytes(plane)));
      }
      if (bytes == 2 && per_word == 1) {
        packed[w] = half_word(static_cast<unsigned short>(packed[w]));
      }
    }
  }

  template <bool Striped, int PerWord = per_word>
  TILETRANSPOSE_FUNCTION static void unpack(int plane,
                                            const unsigned (&packed)[(N + PerWord - 1) / PerWord],
                                            T (&items)[N]) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < N; ++i) {
      const unsigned first = static_cast<unsigned>(i % PerWord * bytes);
      const unsigned word = first == 0
                                ? packed[i / PerWord]
                                : pick_bytes(packed[i / PerWord], 0, 0x3210 + 0x1111 * first);
      copy_bytes(
          reinterpret_cast<unsigned char*>(items + (Striped ? striped_place(i) : i)) + 4 * plane,
          &word, static_cast<size_type>(plane_bytes(plane)));
    }
  }
};

/// One exchange between blocked and striped order, of all planes of the items.
template <bool ToStriped, class Group, class T, int N>
TILETRANSPOSE_FUNCTION void exchange_items(Group group, T (&items)[N]) {
  static_assert(check_element<T>(), "");
  constexpr int lanes = known_lanes<Group>::value;
  static_assert(lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32,
                "tt: a warp transpose takes a group of 2, 4, 8, 16 or 32 lanes whose number the "
                "compiler knows, such as tt::static_warp or tt::static_lanes<8>");
  static_assert(N <= 64, "tt: a warp transpose takes 1 to 64 items a lane; move more in parts");
  if constexpr ((lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32) && N > 1 &&
                N <= 64) {
    using registers = item_registers<lanes, T, N>;
    const unsigned lane = lane_index();
    const lane_group<lanes> there{lane - lane % lanes, static_cast<unsigned>(group.thread_rank())};
    TILETRANSPOSE_UNROLL
    for (int plane = 0; plane < registers::planes; ++plane) {
      unsigned words[registers::words];
      registers::template pack<!ToStriped>(plane, items, words);
      if constexpr (registers::squares) {
        transpose_squares<lanes, registers::packs ? registers::bytes : 4>(there.rank, words);
      } else if constexpr (registers::single) {
        unsigned apart[N];
        travel_in_word<ToStriped, registers::bytes>(there, words[0], apart);
        registers::template unpack<ToStriped, 1>(plane, apart, items);
      } else if constexpr (registers::packs && lanes == 32 && N * registers::bytes == 16) {
        travel_by_matrix<ToStriped, registers::bytes>(there, words);
      } else if constexpr (registers::pairs) {
        if constexpr (!ToStriped) { transpose_squares<2, 4>(there.rank, words); }
        unsigned halves[2][N / 2];
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < N; ++i) { halves[i % 2][i / 2] = words[i]; }
        TILETRANSPOSE_UNROLL
        for (int half = 0; half < 2; ++half) {
          word_route<lanes, N / 2, 2>::template travel<ToStriped>(there, halves[half]);
        }
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < N; ++i) { words[i] = halves[i % 2][i / 2]; }
        if constexpr (ToStriped) { transpose_squares<2, 4>(there.rank, words); }
      } else {
        constexpr int per_word = registers::per_word;
        constexpr int bytes = registers::packs ? registers::bytes : 4;
        if constexpr (!ToStriped) { transpose_squares<per_word, bytes>(there.rank, words); }
        word_route<lanes, registers::words, per_word, (per_word > 1)>::template travel<ToStriped>(
            there, words);
        if constexpr (ToStriped) { transpose_squares<per_word, bytes>(there.rank, words); }
      }
      if constexpr (!registers::single) {
        registers::template unpack<ToStriped>(plane, words, items);
      }
    }
  }
}

}  // namespace detail

/// Turns items from blocked into striped order, in registers.
///
///     before:  item i of lane l is element l * N + i          after:  element i * L + l
///
///     L = 4 lanes, N = 3:   lane 0   0 1 2        lane 0   0 4 8
///                           lane 1   3 4 5        lane 1   1 5 9
///                           lane 2   6 7 8   ->   lane 2   2 6 10
///                           lane 3   9 10 11      lane 3   3 7 11
///
/// Blocked is what a lane computes on, striped is what a warp writes coalesced. With N == L both
/// directions are the transpose of a square.
/// \param group  `static_warp`, `static_lanes<L>` or a cooperative-groups tile of L lanes; L is 2, 4, 8, 16
///               or 32. All 32 lanes of the warp call, groups of the same warp at the same time.
/// \param items  N items of each lane, 1 to 64; T has 1 to 64 bytes and is trivially copyable
/// Cost per 4 bytes of an item: N shuffles, the numbers of their lanes, and N selects for each round of a rotation;
/// where N is odd, four rounds at most. Items of 1 and 2 bytes travel four and two in a word, as far as their
/// number allows.
/// Shared memory: none. Barriers: none; the shuffles keep the warp together.
/// Source: Catanzaro, Keller, Garland, PPoPP 2014 (see detail/core/exchange.cuh).
template <class Group, class T, int N>
TILETRANSPOSE_FUNCTION void warp_blocked_to_striped(
    Group group, T (&items)[N], detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  detail::exchange_items<true>(group, items);
}

/// Turns items from striped into blocked order, in registers: the inverse of `warp_blocked_to_striped`,
/// with the same parameters and cost.
///
///     before:  item i of lane l is element i * L + l          after:  element l * N + i
///
/// A warp that reads 32 structures of N words coalesced, word i * 32 + l into item i of lane l, so gives each
/// lane its own structure.
template <class Group, class T, int N>
TILETRANSPOSE_FUNCTION void warp_striped_to_blocked(
    Group group, T (&items)[N], detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  detail::exchange_items<false>(group, items);
}

/// Transposes the L x N matrix whose rows the lanes hold, lane l row l. The N x L result, row behind row, is
/// dealt out N items a lane again:
///
///     A(l, i) == item i of lane l before;   item i of lane l after == A(p % L, p / L), p = l * N + i
///
/// With N == L: item i of lane l after == item l of lane i before. The same move as
/// `warp_striped_to_blocked`, which see for parameters and cost.
template <class Group, class T, int N>
TILETRANSPOSE_FUNCTION void warp_transpose(Group group, T (&items)[N],
                                           detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  detail::exchange_items<false>(group, items);
}

/// Transposes the N x N square that each N consecutive lanes hold, lane l row l % N.
///
///     item i of lane l after == item l % N of lane l - l % N + i before
///
/// Precondition: N is 2, 4, 8, 16 or 32; all 32 lanes of the warp call.
/// Shared memory: none. Barriers: none.
template <class T, int N>
TILETRANSPOSE_FUNCTION void warp_transpose(T (&items)[N],
                                           detail::access_site caller = detail::access_site::at()) {
  constexpr bool square = N == 2 || N == 4 || N == 8 || N == 16 || N == 32;
  static_assert(
      square,
      "tt: warp_transpose(items) takes squares of 2, 4, 8, 16 or 32 items a lane; name the "
      "group for other shapes: warp_transpose(tt::static_warp{}, items)");
  const detail::call_scope here(caller);
  if constexpr (square) { detail::exchange_items<false>(static_lanes<N>{}, items); }
}

TILETRANSPOSE_NAMESPACE_END
