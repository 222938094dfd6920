// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Squares that trade tiles in their own memory: every byte lands, none other is touched, and no request meets more
// often in a bank than it must.

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>
#include <tiletranspose/emulator.cuh>
#include <vector>

#include "elements.hpp"

TEST_CASE("squares: each pair of tiles is taken once") {
  for (unsigned tiles = 1; tiles <= 70; ++tiles) {
    const tt::detail::pair_order order(tiles);
    std::vector<int> taken(tiles * tiles);
    for (unsigned block = 0; block < order.blocks(); ++block) {
      const auto [row, col] = order(block);
      if (row <= col && col < tiles) { ++taken[row * tiles + col]; }
    }
    INFO(tiles << " tiles a side");
    for (unsigned row = 0; row < tiles; ++row) {
      for (unsigned col = 0; col < tiles; ++col) {
        REQUIRE(taken[row * tiles + col] == (row <= col ? 1 : 0));
      }
    }
  }
}

namespace {

// A square in its own memory that starts `offset` bytes after a multiple of 16, its rows `gap` bytes apart: run(options,
// first, stride, length) transposes it.
template <class Run>
void check_square(std::size_t element_bytes, std::size_t side, std::size_t gap, std::size_t offset,
                  int most_ways, Run run) {
  const std::size_t stride = side * element_bytes + gap;
  const std::size_t length = (side - 1) * stride + side * element_bytes;
  tt::emulated_buffer<element<16>> data((offset + length + 15) / 16);
  fill(data);
  auto* const first = reinterpret_cast<unsigned char*>(data.data()) + offset;
  const std::vector<unsigned char> before(first, first + length);
  tt::emulator_options options;
  options.knows(first, length);
  const tt::emulation_report report = run(options, first, stride, length);
  INFO(element_bytes << " bytes, " << side << " rows " << gap << " bytes apart from byte " << offset
                     << " on\n"
                     << report.table());
  CHECK(report.clean());
  CHECK(report.worst_ways() <= most_ways);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t row = i / stride;
    const std::size_t col = i % stride / element_bytes;
    const std::size_t from =
        col < side ? col * stride + row * element_bytes + i % stride % element_bytes : i;
    wrong += first[i] != before[from];
  }
  CHECK(wrong == 0);
}

// All tiles of all blocks.
template <class Shape, class Body>
void check_pairs(std::size_t side, std::size_t tile, std::size_t gap, std::size_t offset,
                 int most_ways, Body body) {
  check_square(
      Shape::element_bytes, side, gap, offset, most_ways,
      [&](const tt::emulator_options& options, unsigned char* first, std::size_t stride,
          std::size_t length) {
        const tt::detail::swap_arguments arguments{{first, stride, side},
                                                   tt::detail::pair_order((side + tile - 1) / tile),
                                                   {first, first + length}};
        return tt::emulate(
            options, static_cast<unsigned>(arguments.order.blocks()), 2 * Shape::threads,
            2 * Shape::shared_bytes,
            [&](tt::emulated_block block) { body(block.shared(), arguments, block.index().x); });
      });
}

// Little squares, an element or one of its accesses a lane.
template <int ElementBytes, int Side, int Access = tt::access_width(ElementBytes)>
void check_elements() {
  using shape = tt::detail::little_square_shape<ElementBytes, Access, Side>;
  using storage = typename shape::tile::storage[2];
  // Halves share words, and so do parts of two elements; words of 16 x 16 elements conflict with every padding.
  constexpr int ways = shape::parts > 1 && Access < 4 ? 3
                       : ElementBytes == 2 || (Side == 16 && alignof(typename shape::stored) == 4)
                           ? 2
                           : 1;
  for (const unsigned side : {1, Side - 1, Side, 2 * Side + 1, 3 * Side + 5}) {
    const unsigned tiles = (side + Side - 1) / Side;
    const auto run = [&](const tt::emulator_options& options, unsigned char* first,
                         std::size_t stride, std::size_t) {
      const tt::detail::square_problem square{first, stride, side};
      return tt::emulate(options, (tiles + 1) * ((tiles + 1) / 2), 2 * shape::threads,
                         sizeof(storage), [&](tt::emulated_block block) {
                           const unsigned at = block.index().x;
                           tt::detail::swap_elements<shape>(
                               *reinterpret_cast<storage*>(block.shared()), square,
                               at / (tiles + 1), at % (tiles + 1));
                         });
    };
    check_square(ElementBytes, side, 0, 0, ways, run);
    check_square(ElementBytes, side, 3 * ElementBytes, 0, ways, run);
  }
}

// Rows that start on every narrow access of 16 bytes one after the other, if they may, and all alike.
template <class Shape>
void check_byte_tiles() {
  constexpr std::size_t tile = Shape::side;
  constexpr std::size_t start = Shape::start_bytes;
  // The word behind 16 bytes, which rows read by lanes that are no multiple of eight meet once more.
  // Wide accesses that no other tile has a byte of have two ways, and the ends of a matrix' rows three.
  constexpr int ways = Shape::starts_aligned && Shape::access_bytes < 16 ? 3
                       : Shape::lanes % 8 == 0                           ? 4
                                                                         : 5;
  const auto body = [](unsigned char* shared, const auto& arguments, unsigned block) {
    tt::detail::swap_tiles<Shape>(shared, arguments, block);
  };
  for (const std::size_t side : {std::size_t{2}, tile / 2, tile, 2 * tile, 3 * tile + 5}) {
    const std::size_t past = side * Shape::element_bytes % start;
    const std::size_t least = past == 0 ? 0 : start - past;  // gap
    check_pairs<Shape>(side, tile, least, 0, ways, body);
    check_pairs<Shape>(side, tile, least + 3 * start, start % 16, ways, body);
    check_pairs<Shape>(side, tile, 16 - side * Shape::element_bytes % 16, 16 - start, ways, body);
  }
}

template <int ElementBytes, int Access = tt::access_width(ElementBytes)>
void check_sizes() {
  check_byte_tiles<tt::detail::byte_tile_shape<ElementBytes, Access>>();
  check_byte_tiles<
      tt::detail::byte_tile_shape<ElementBytes, Access, tt::detail::byte_tiles::little>>();
  if constexpr (tt::detail::has_aligned_byte_tiles<ElementBytes, Access>) {
    check_byte_tiles<
        tt::detail::byte_tile_shape<ElementBytes, Access, tt::detail::byte_tiles::aligned>>();
  }
}

}  // namespace

TEST_CASE("squares: little ones, element by element") {
  check_elements<1, 16>();
  check_elements<1, 32>();
  check_elements<2, 32>();
  check_elements<3, 16>();
  check_elements<3, 32>();
  check_elements<4, 32>();
  check_elements<8, 32>();
  check_elements<12, 16>();
  check_elements<12, 32>();
  check_elements<16, 32>();
  check_elements<20, 16>();
  check_elements<24, 16>();
  check_elements<8, 32, 2>();
  check_elements<9, 16>();
  check_elements<12, 16, 1>();
  check_elements<16, 16, 1>();
}

TEST_CASE("squares: tiles of plain bytes, powers of two") {
  check_sizes<1>();
  check_sizes<2>();
  check_sizes<4>();
  check_sizes<4, 1>();
  check_sizes<8>();
  check_sizes<8, 2>();
  check_sizes<16>();
}

TEST_CASE("squares: tiles of plain bytes, other elements") {
  check_sizes<3>();
  check_sizes<5>();
  check_sizes<6>();
  check_sizes<7>();
  check_sizes<10>();
  check_sizes<12>();
  check_sizes<20>();
  check_sizes<24>();
  check_sizes<31>();
  check_sizes<40>();
  check_sizes<48>();
  check_sizes<63>();
}

template <int ElementBytes>
void check_large_tiles() {
  using shape = tt::detail::swap_shape<ElementBytes, true>;
  check_pairs<shape>(2 * shape::tile_rows + 16, shape::tile_rows, 16, 0, 1,
                     [](unsigned char* shared, const auto& arguments, unsigned block) {
                       tt::detail::swap_tiles<shape>(shared, arguments, block);
                     });
}

TEST_CASE("squares: large tiles of 1 and 2 bytes") {
  check_large_tiles<1>();
  check_large_tiles<2>();
}
