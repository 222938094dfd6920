// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How host matrices are cut: blocks cover each element once, fit their buffers, and have long rows. Copies by several
// threads move what one would.

#include <tiletranspose/detail/streamed/block_plan.cuh>
#include <tiletranspose/detail/streamed/copy_team.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using tt::size_type;
using tt::detail::block_plan;
using tt::detail::matrix_block;

constexpr size_type least = size_type{6} * 64 << 10;

static_assert(tt::detail::square_root(0) == 0 && tt::detail::square_root(15) == 3 &&
              tt::detail::square_root(16) == 4);

/// What is wrong with a plan of a small matrix.
std::string examine(const block_plan& plan, size_type nx, size_type ny, size_type element) {
  std::vector<int> covered(nx * ny, 0);
  for (size_type k = 0; k < plan.count(); ++k) {
    const matrix_block block = plan.block(k);
    if (block.cols == 0 || block.rows == 0) { return "an empty block"; }
    if (block.cols * block.rows * element > plan.block_bytes()) { return "a block is too large"; }
    for (size_type y = block.y; y < block.y + block.rows; ++y) {
      for (size_type x = block.x; x < block.x + block.cols; ++x) {
        if (y >= ny || x >= nx) { return "a block reaches behind the matrix"; }
        ++covered[y * nx + x];
      }
    }
  }
  return std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; })
             ? ""
             : "an element is not moved once";
}

/// Bytes of the shorter of the rows that are read and written, where there is more than one block.
size_type shortest_row(const block_plan& plan, size_type element) {
  const matrix_block first = plan.block(0);
  return std::min(first.cols, first.rows) * element;
}

}  // namespace

TEST_CASE("blocks cover every element once and fit their buffers") {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    const size_type element = 1 + random() % 64;
    const size_type nx = 1 + random() % (round % 3 == 0 ? 5000 : 300);
    const size_type ny = 1 + random() % (round % 3 == 1 ? 5000 : 300);
    const size_type scratch = least + random() % (1 << 20);
    INFO(nx << " x " << ny << " of " << element << " bytes, scratch " << scratch);
    const block_plan plan(nx, ny, element, scratch);
    REQUIRE(examine(plan, nx, ny, element).empty());
    REQUIRE(plan.out_offset(2) + plan.block_bytes() <= scratch);
  }
}

TEST_CASE("a plan that is wrong is seen") {
  const block_plan plan(600, 500, 4, least);
  REQUIRE(examine(plan, 600, 500, 4).empty());
  REQUIRE(!examine(plan, 600, 501, 4).empty());
  REQUIRE(!examine(plan, 601, 500, 4).empty());
  REQUIRE(!examine(plan, 599, 500, 4).empty());
  REQUIRE(!examine(plan, 600, 500, 64).empty());
}

TEST_CASE("buffers of blocks that are under way at once are apart") {
  const block_plan plan(10000, 10000, 4, least + 12345);
  std::vector<size_type> begins;
  for (size_type k = 5; k < 5 + tt::detail::blocks_under_way; ++k) {
    begins.push_back(plan.in_offset(k));
    begins.push_back(plan.out_offset(k));
  }
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    REQUIRE(begins[i] - begins[i - 1] == plan.block_bytes());
  }
}

TEST_CASE("rows in host memory are long, on both sides") {
  constexpr size_type usual = size_type{6} * 32 << 20;
  // 32768 x 32768 floats: panels of 256 rows or columns would have rows of 1 KiB on one side.
  REQUIRE(shortest_row(block_plan(32768, 32768, 4, usual), 4) >= 11000);
  REQUIRE(shortest_row(block_plan(32768, 32768, 1, usual), 1) >= 5000);
  REQUIRE(shortest_row(block_plan(size_type{1} << 20, size_type{1} << 20, 8, usual), 8) >= 16000);
  // Whole rows, where that leaves long ones on the other side.
  const block_plan tall(1000, 10'000'000, 4, usual);
  REQUIRE(tall.block(0).cols == 1000);
  REQUIRE(shortest_row(tall, 4) >= 4000);
  const block_plan wide(10'000'000, 1000, 4, usual);
  REQUIRE(wide.block(0).rows == 1000);
}

TEST_CASE("a team of threads copies rows as one would") {
  std::mt19937 random(23);
  for (int threads = 1; threads <= 5; ++threads) {
    tt::detail::copy_team team(threads);
    for (int round = 0; round < 40; ++round) {
      const size_type row_bytes = random() % 300;
      const size_type rows = random() % 20;
      const size_type in_pitch = row_bytes + random() % 9;
      const size_type out_pitch = row_bytes + random() % 9;
      std::vector<unsigned char> in(in_pitch * rows + 1);
      for (unsigned char& byte : in) { byte = static_cast<unsigned char>(random()); }
      std::vector<unsigned char> out(out_pitch * rows + 1, 7);
      std::vector<unsigned char> wanted = out;
      for (size_type row = 0; row < rows; ++row) {
        std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(row * in_pitch), row_bytes,
                    wanted.begin() + static_cast<std::ptrdiff_t>(row * out_pitch));
      }
      team.copy({out.data(), out_pitch, in.data(), in_pitch, row_bytes, rows});
      REQUIRE(out == wanted);
    }
  }
}
