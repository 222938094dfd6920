// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How host matrices are cut: blocks cover each element once, fit their buffers, and have long rows. Copies by several
// threads move what one would.

#include <tiletranspose/detail/streamed/block_plan.cuh>
#include <tiletranspose/detail/streamed/copy_team.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using tt::size_type;
using tt::detail::block_plan;
using tt::detail::matrix_block;

constexpr size_type least = size_type{64} << 10;

/// What is wrong with a plan of a small matrix.
std::string examine(const block_plan& plan, size_type nx, size_type ny, size_type element) {
  std::vector<int> covered(nx * ny, 0);
  for (size_type k = 0; k < plan.count(); ++k) {
    const matrix_block block = plan.block(k);
    if (block.cols == 0 || block.rows == 0) { return "an empty block"; }
    const size_type padding = (ny - block.rows) % 16;  // as the rows of the output are aligned
    if ((block.rows + padding) * block.cols * element + 15 > plan.block_bytes()) {
      return "a block is too large";
    }
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

}  // namespace

TEST_CASE("blocks cover every element once and fit their buffers") {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    const size_type element = 1 + random() % 64;
    const size_type nx = 1 + random() % (round % 3 == 0 ? 5000 : 300);
    const size_type ny = 1 + random() % (round % 3 == 1 ? 5000 : 300);
    const size_type buffer = least + random() % (1 << 18);
    INFO(nx << " x " << ny << " of " << element << " bytes, buffers of " << buffer);
    const block_plan plan(nx, ny, element, buffer);
    REQUIRE(examine(plan, nx, ny, element).empty());
    REQUIRE(plan.all_bytes() <= tt::detail::blocks_under_way * buffer);
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
    begins.push_back(plan.offset(k));
  }
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 0; i < begins.size(); ++i) { REQUIRE(begins[i] == i * plan.block_bytes()); }
  REQUIRE(begins.back() + plan.block_bytes() == plan.all_bytes());
}

TEST_CASE("rows that come in are long, and segments that go out long enough") {
  constexpr size_type usual = size_type{34} << 20;
  const auto in_bytes = [](const block_plan& plan, size_type element) {
    return plan.block(0).cols * element;
  };
  const auto out_bytes = [](const block_plan& plan, size_type element) {
    return plan.block(0).rows * element;
  };
  // 32768 x 32768 floats: panels of whole rows would have segments of 1 KiB.
  const block_plan square(32768, 32768, 4, usual);
  REQUIRE(in_bytes(square, 4) == 65536);
  REQUIRE(out_bytes(square, 4) == 2048);
  for (const size_type element : {1, 3, 8, 12, 64}) {
    const block_plan large(size_type{1} << 20, size_type{1} << 20, element, usual);
    REQUIRE(in_bytes(large, element) >= 8000);
    REQUIRE(out_bytes(large, element) >= 2048);
    REQUIRE(out_bytes(large, element) <= 4096);
  }
  // Small buffers have room for both sides.
  const block_plan little(32768, 32768, 4, least);
  REQUIRE(in_bytes(little, 4) >= 256);
  REQUIRE(out_bytes(little, 4) >= 256);
  // Whole rows, where there are enough of them.
  const block_plan tall(1000, 10'000'000, 4, usual);
  REQUIRE(tall.block(0).cols == 1000);
  REQUIRE(out_bytes(tall, 4) >= 32000);
  const block_plan wide(10'000'000, 100, 4, usual);
  REQUIRE(wide.block(0).rows == 100);
  REQUIRE(in_bytes(wide, 4) >= 300'000);
}

TEST_CASE("blocks are about equally large") {
  const block_plan plan(20000, 3000, 4, size_type{8} << 20);
  const size_type first = plan.block(0).cols * plan.block(0).rows;
  const matrix_block last = plan.block(plan.count() - 1);
  REQUIRE(plan.count() > 4);
  REQUIRE(last.cols * last.rows * 3 >= first * 2);
}

TEST_CASE("a team of threads copies rows as one would") {
  std::mt19937 random(23);
  struct rows_between {
    tt::detail::row_copy copy;
    std::vector<unsigned char> in;
    std::vector<unsigned char> out;
    std::vector<unsigned char> wanted;

    explicit rows_between(std::mt19937& source) {
      const size_type row_bytes = source() % 300;
      const size_type rows = source() % 20;
      const size_type in_pitch = row_bytes + source() % 9;
      const size_type out_pitch = row_bytes + source() % 9;
      in.resize(in_pitch * rows + 1);
      for (unsigned char& byte : in) { byte = static_cast<unsigned char>(source()); }
      out.assign(out_pitch * rows + 1, 7);
      wanted = out;
      for (size_type row = 0; row < rows; ++row) {
        std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(row * in_pitch), row_bytes,
                    wanted.begin() + static_cast<std::ptrdiff_t>(row * out_pitch));
      }
      copy = {out.data(), out_pitch, in.data(), in_pitch, row_bytes, rows};
    }
  };
  for (int threads = 1; threads <= 5; ++threads) {
    tt::detail::copy_team team(threads);
    for (int round = 0; round < 200; ++round) {
      const rows_between first(random);
      const rows_between second(random);
      team.copy(round % 5 == 1 ? tt::detail::row_copy{} : first.copy,
                round % 5 == 2 ? tt::detail::row_copy{} : second.copy);
      REQUIRE((round % 5 == 1 || first.out == first.wanted));
      REQUIRE((round % 5 == 2 || second.out == second.wanted));
      if (round % 50 == 0) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
    }
  }
}
