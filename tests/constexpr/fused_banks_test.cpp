// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank conflicts of the tiles of fused calls: what fused_shape.cuh proves of one warp, and of any rows, gone
// over for the warps of a tile, all shifts of dealt loads and many patterns of the rows' skews.

#include <catch2/catch_test_macros.hpp>
#include <tiletranspose/detail/tile/fused_shape.cuh>

#include "drain_ways.hpp"

using namespace tt::detail;
using tt::request_ways;

namespace {

template <int Bytes, int Alignment = Bytes>
struct alignas(Alignment) item {
  unsigned char bytes[Bytes];
};

// The worst request that stores elements into the shared rows.
template <class Fused>
int fill_ways() {
  int worst = 0;
  for (int first = 0; first < Fused::threads; first += 32) {
    for (int shift = 0; shift < (Fused::deals ? Fused::period : 1); ++shift) {
      for (int i = 0; i < Fused::count; ++i) {
        for (int part = 0; part < Fused::micro_rows * Fused::bytes; part += Fused::fill_access) {
          const auto lanes = [&](int at) -> long long {
            const int lane = (first + at) % Fused::lanes;
            const int row = (first + at) / Fused::lanes * Fused::micro_rows;
            const int col = lane * Fused::count - shift;
            const bool fills = Fused::deals ? col > -Fused::count && col < Fused::tile_cols
                                            : !Fused::shifts || col < Fused::tile_cols;
            if (!fills) { return -1; }
            return static_cast<long long>(Fused::row_offset(0)) + row * Fused::bytes +
                   (col + i) * Fused::pitch + Fused::lane_padding(lane, shift) -
                   Fused::wrap_padding(i, shift) + part;
          };
          worst = larger(worst, request_ways(lanes, Fused::fill_access));
        }
      }
    }
  }
  return worst;
}

// The worst that reads them.
template <class Fused>
int drain_ways() {
  constexpr int bytes = Fused::read_bytes;
  constexpr int vector_bytes = Fused::segment_bytes / Fused::row_reads;
  constexpr int access_bytes = Fused::combines ? Fused::in_access : Fused::out_access;
  constexpr bool together = access_bytes < bytes && bytes >= 4;
  constexpr bool in_rounds = together && access_bytes >= 4;
  constexpr bool off_words = together && access_bytes < 4;
  constexpr int access = off_words ? bytes : smaller(access_bytes, bytes);
  int worst = 0;
  const auto visit = [&](int first, int skew, int skew_step) {
    const auto from = [&](int lane) -> long long {
      const int step = first + lane;
      const int row = step / Fused::row_reads;
      if (row >= Fused::tile_cols) { return -1; }
      const int byte =
          step % Fused::row_reads * vector_bytes - (skew + row * skew_step) % Fused::skew_bytes;
      // Of a segment that starts inside of a word, the bytes before the next one are written by themselves.
      if (Fused::holds_operand && byte < 0) { return -1; }
      const auto offset = static_cast<long long>(Fused::row_offset(static_cast<unsigned>(row)));
      return Fused::combines ? offset + (byte + Fused::skew_rows * Fused::out_bytes) /
                                            Fused::out_bytes * Fused::in_bytes
                             : offset + Fused::lead_bytes + byte;
    };
    for (int part = 0; part < bytes; part += access) {
      const auto lanes = [&](int lane) -> long long {
        const long long start = from(lane);
        if (start < 0) { return -1; }
        if constexpr (in_rounds) {
          return word_in_round<bytes, access>(static_cast<unsigned>(first + lane),
                                              static_cast<unsigned>(start),
                                              static_cast<unsigned>(part / access));
        }
        return off_words
                   ? static_cast<long long>(first_access<access>(static_cast<unsigned>(start)))
                   : start + part;
      };
      worst = larger(worst, request_ways(lanes, access));
    }
    if (off_words) {
      const auto lanes = [&](int lane) -> long long {
        const long long start = from(lane);
        return start < 0
                   ? -1
                   : static_cast<long long>(last_access<access>(static_cast<unsigned>(start)));
      };
      worst = larger(worst, request_ways(lanes, access));
    }
  };
  for (int first = 0; first < Fused::tile_cols * Fused::row_reads && first < 16 * 32; first += 32) {
    for (int skew = 0; skew < Fused::skew_bytes; skew += Fused::out_access) {
      for (const int steps : {0, 1, 3, 5}) { visit(first, skew, steps * Fused::out_access); }
    }
  }
  return worst;
}

template <class In, class Out, fusion Kind, bool Aligned, bool Large = false>
void check() {
  using fused = fused_shape<In, Out, Kind, Aligned, Large>;
  INFO(fused::in_bytes << " bytes by " << fused::in_access << " to " << fused::out_bytes << " by "
                       << fused::out_access << ", kind " << static_cast<int>(Kind)
                       << (Aligned ? ", aligned" : ""));
  // A warp that stores parts of large elements may meet once for each row that it fills.
  const int parts = fused::access_bytes < fused::bytes ? larger(32 / fused::lanes, 1) : 1;
  CHECK(fill_ways<fused>() <= larger(fused::fill_ways, parts));
  CHECK(drain_ways<fused>() <= fused::drain_ways);
}

template <class In, class Out>
void check_kinds() {
  check<In, Out, fusion::transform, false>();
  check<In, Out, fusion::transform, true>();
  check<In, Out, fusion::accumulate, false>();
  check<In, Out, fusion::accumulate, true>();
  check<In, Out, fusion::dual, false>();
  check<In, Out, fusion::dual, true>();
}

template <class In>
void check_outputs() {
  check_kinds<In, item<1>>();
  check_kinds<In, item<2>>();
  check_kinds<In, item<4>>();
  check_kinds<In, item<8>>();
  check_kinds<In, item<16>>();
  check_kinds<In, item<3, 1>>();
  check_kinds<In, item<11, 1>>();
  check_kinds<In, item<12, 4>>();
  check_kinds<In, item<64, 4>>();
}

}  // namespace

TEST_CASE("fused banks: small elements", "[banks]") {
  check_outputs<item<1>>();
  check_outputs<item<2>>();
  check_outputs<item<3, 1>>();
  check<item<1>, item<1>, fusion::dual, true, true>();
  check<item<2>, item<1>, fusion::dual, true, true>();
}

TEST_CASE("fused banks: words", "[banks]") {
  check_outputs<item<4>>();
  check_outputs<item<8>>();
  check_outputs<item<16>>();
}

TEST_CASE("fused banks: elements of several accesses", "[banks]") {
  check_outputs<item<11, 1>>();
  check_outputs<item<16, 4>>();
  check_kinds<item<8, 4>, item<8, 4>>();
  check_kinds<item<4, 1>, item<4, 1>>();
  check_outputs<item<64, 4>>();
}

TEST_CASE("fused banks: rows of packed elements stored together", "[banks]") {
  check_kinds<item<7, 1>, item<7, 1>>();
  check_kinds<item<3, 1>, item<9, 1>>();
  check_kinds<item<10, 2>, item<10, 2>>();
  check_kinds<item<6, 2>, item<14, 2>>();
  check_kinds<item<15, 1>, item<15, 1>>();
  check_kinds<item<17, 1>, item<31, 1>>();
  check_kinds<item<30, 2>, item<30, 2>>();
}
