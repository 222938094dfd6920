// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shared pitch of micro-blocks, over every number of rows and every length of a row that a panel can have.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "panel_ways.hpp"

using namespace tt::detail;
using tt::size_type;

namespace {

// Proved here rather than in the headers, where every program would pay for it.
static_assert(worst_strip_ways(1, 2) == 1 && worst_strip_ways(2, 1) == 1,
              "the lanes of a strip of 16 bytes must not conflict");

}  // namespace

// Batches of small matrices are transposed in micro-blocks of every side that vectorised_panel.cuh names. Lanes of one
// strip do not conflict; those that go on to the next column of short matrices, or to the next strip, may.
TEST_CASE("row pitch: vectorised panels", "[banks]") {
  for (const unsigned matrices : {1u, 2u, 3u, 4u, 7u}) {
    INFO(matrices << " matrices");
    CHECK(worst_vectorised_ways(1, 4, 40, matrices) <= 5);  // 1 byte: 4 x 4
    CHECK(worst_vectorised_ways(2, 4, 40, matrices) <= 4);  // 2 bytes: 4 x 4
    CHECK(worst_vectorised_ways(2, 2, 40, matrices) <= 4);  // 4 bytes: 2 x 2
    CHECK(worst_vectorised_ways(4, 2, 40, matrices) <= 4);  // 8 bytes: 2 x 2
    CHECK(worst_vectorised_ways(4, 1, 40, matrices) <= 3);  // 16 bytes
  }
  CHECK(worst_strip_ways(4, 0) == 1);
  CHECK(vectorised_ways(1, 32, 32, 4 * 32, true, 0, 0) ==
        32);  // what a pitch of all banks would give
  CHECK(vectorised_ways(1, 32, 32, 4 * 33, true, 0, 0) == 4);  // and what columns without strips do
}

// Rows of accesses of 16 bytes follow each other in the banks.
TEST_CASE("row pitch: a warp that goes on to the next row of 16-byte accesses", "[banks]") {
  for (unsigned cols = 8; cols < 60; ++cols) {
    for (const unsigned side : {1u, 2u}) {
      const unsigned in = 4 * strip_pitch(side * cols, 4, cols, 0);
      for (unsigned first = 0; first < 4 * cols; first += 8) {
        INFO(cols << " columns of micro-blocks of " << side << " rows, from the " << first
                  << "th on");
        CHECK(vectorised_ways(4, 7, cols, in, false, first, 0) == 1);
      }
    }
  }
}

TEST_CASE("row pitch: strips are whole and take each micro-block once", "[banks]") {
  for (size_type rows = 1; rows < 40; ++rows) {
    for (size_type cols = 1; cols < 40; ++cols) {
      const unsigned shift = strip_shift(1, rows, cols);
      INFO(rows << " x " << cols << " micro-blocks");
      CHECK(rows % (size_type{1} << shift) == 0);
      std::vector<int> taken(rows * cols);
      for (unsigned at = 0; at < rows * cols; ++at) {
        const micro_place place(at, plain_divider{static_cast<unsigned>(cols)}, shift);
        ++taken[place.row * cols + place.col];
      }
      CHECK(std::count(taken.begin(), taken.end(), 1) == static_cast<long>(rows * cols));
    }
  }
}
