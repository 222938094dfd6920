// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which problems are little work and how they are moved, in plain C++: each rule at its limits. Compiled with the tuning
// rows of small_rows.hpp, and once more with the library's own, for which the limits are read from the rows.

#include <tiletranspose/detail/choose/choose_reverse.cuh>
#include <tiletranspose/detail/choose/choose_small.cuh>

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <vector>

template <>
struct Catch::StringMaker<tt::detail::small_mover> {
  static std::string convert(tt::detail::small_mover mover) {
    const char* const names[] = {"none", "rows", "direct", "tiles"};
    return names[static_cast<int>(mover)];
  }
};

namespace {

using tt::size_type;
using tt::detail::choose_small;
using tt::detail::small_limits;
using tt::detail::small_mover;
using tt::detail::small_problem;

// Dense matrices of `fast` columns and `slow` rows of the output.
constexpr small_problem dense_transpose(size_type fast, size_type slow, int bytes,
                                        size_type batch = 1) {
  const auto row = [=](size_type elements) { return static_cast<long long>(elements) * bytes; };
  return {{fast, fast == 1 ? 0 : row(slow), bytes},
          {slow, bytes, slow == 1 ? 0 : row(fast)},
          batch,
          bytes,
          bytes,
          true};
}
constexpr small_problem dense_rows(size_type length, size_type rows, int bytes,
                                   size_type batch = 1) {
  const long long row = rows == 1 ? 0 : static_cast<long long>(length) * bytes;
  return {{length, bytes, bytes}, {rows, row, row}, batch, bytes, bytes, false};
}

constexpr small_mover transposed(size_type fast, size_type slow, int bytes, bool whole = false,
                                 size_type batch = 1) {
  return choose_small(dense_transpose(fast, slow, bytes, batch), whole);
}
constexpr small_mover moved_rows(size_type length, size_type rows, int bytes, size_type batch = 1) {
  return choose_small(dense_rows(length, rows, bytes, batch), false);
}

}  // namespace

#if defined(TILETRANSPOSE_TUNING_HEADER)

TEST_CASE("small: elements between two rows take that of the smaller size") {
  const int expected[] = {1, 1, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 13, 13};
  for (int bytes = 1; bytes <= 14; ++bytes) {
    CHECK(tt::detail::small_limits_of(bytes).element_bytes == expected[bytes - 1]);
  }
  CHECK(tt::detail::small_limits_of(64).element_bytes == 13);
}

TEST_CASE("small: a transpose is little up to so many elements") {
  CHECK(transposed(100, 100, 1) == small_mover::tiles);
  CHECK(transposed(100, 101, 1) == small_mover::none);
  CHECK(transposed(101, 100, 1) == small_mover::none);
  CHECK(transposed(50, 100, 4) == small_mover::tiles);
  CHECK(transposed(51, 100, 4) == small_mover::none);
  // Rows of whole accesses have a limit of their own.
  CHECK(transposed(40, 100, 4, true) == small_mover::tiles);
  CHECK(transposed(40, 101, 4, true) == small_mover::none);
  // So have narrow ones, whatever their rows.
  for (const bool whole : {false, true}) {
    CHECK(transposed(32, 93, 1, whole) == small_mover::tiles);
    CHECK(transposed(93, 32, 1, whole) == small_mover::tiles);
    CHECK(transposed(32, 94, 1, whole) == small_mover::none);
    CHECK(transposed(94, 32, 1, whole) == small_mover::none);
  }
  CHECK(transposed(33, 94, 1) == small_mover::tiles);
  CHECK(transposed(1, 1, 13) == small_mover::none);
  CHECK(transposed(1, 1, 64) == small_mover::none);
  // A side alone that is longer than any limit, in products that would overflow.
  constexpr size_type huge = std::numeric_limits<size_type>::max();
  CHECK(choose_small({{huge, 1, 1}, {2, 1, 1}, 1, 1, 1, true}, false) == small_mover::none);
  CHECK(choose_small({{2, 1, 1}, {huge, 1, 1}, 1, 1, 1, true}, false) == small_mover::none);
  CHECK(choose_small({{2, 1, 1}, {2, 1, 1}, huge, 1, 1, true}, false) == small_mover::none);
}

TEST_CASE("small: short sides are moved without a tile") {
  CHECK(transposed(8, 300, 1) == small_mover::direct);
  CHECK(transposed(300, 8, 1) == small_mover::direct);
  CHECK(transposed(9, 300, 1) == small_mover::tiles);
  CHECK(transposed(4, 300, 4) == small_mover::direct);
  CHECK(transposed(5, 300, 4) == small_mover::tiles);
  CHECK(transposed(1, 1, 1) == small_mover::direct);
}

TEST_CASE("small: batches count as one") {
  CHECK(transposed(20, 110, 4, false, 1) == small_mover::none);
  CHECK(transposed(40, 60, 4, false, 2) == small_mover::tiles);
  CHECK(transposed(40, 60, 4, false, 3) == small_mover::none);
  CHECK(moved_rows(20, 40, 1, 10) == small_mover::direct);
  CHECK(moved_rows(20, 40, 1, 11) == small_mover::none);
  CHECK(transposed(17, 17, 3, false, 65535) == small_mover::tiles);
  CHECK(transposed(17, 17, 3, false, 65536) == small_mover::none);
  CHECK(moved_rows(200, 2, 3, 65535) == small_mover::rows);
  CHECK(moved_rows(200, 2, 3, 65536) == small_mover::direct);
}

TEST_CASE("small: small matrices of a batch are moved without a tile, twice as wide ones") {
  CHECK(transposed(16, 128, 3, false, 2) == small_mover::direct);
  CHECK(transposed(16, 128, 3, false, 1) == small_mover::tiles);
  CHECK(transposed(16, 129, 3, false, 2) == small_mover::tiles);
  CHECK(transposed(17, 100, 3, false, 2) == small_mover::tiles);
  CHECK(transposed(9, 9, 3, false, 65536) == small_mover::direct);
  // And count as little up to twice as many elements.
  CHECK(transposed(20, 30, 1, false, 10) == small_mover::tiles);
  CHECK(transposed(20, 30, 1, false, 11) == small_mover::none);
  CHECK(transposed(20, 103, 1, false, 2) == small_mover::none);
}

TEST_CASE("small: elements that are counted fit 31 bits, whatever the tuning rows say") {
  constexpr size_type most = size_type{1} << 30;
  CHECK(choose_small({{4, 3, 3}, {1, 0, 0}, most / 4, 3, 3, true}, false) == small_mover::direct);
  CHECK(choose_small({{4, 3, 3}, {1, 0, 0}, most / 4 + 1, 3, 3, true}, false) == small_mover::none);
}

TEST_CASE("small: the fold of a triangle has every pair of tiles once") {
  for (unsigned tiles = 1; tiles <= 41; ++tiles) {
    INFO(tiles << " tiles");
    std::vector<int> seen(tiles * tiles, 0);
    for (unsigned k = 0; k < (tiles + 1) / 2; ++k) {
      for (unsigned i = 0; i <= tiles; ++i) {
        const tt::detail::tile_pair pair = tt::detail::fold_triangle(tiles, k, i);
        if (pair.row > pair.col) { continue; }
        REQUIRE(pair.col < tiles);
        ++seen[pair.row * tiles + pair.col];
      }
    }
    for (unsigned row = 0; row < tiles; ++row) {
      for (unsigned col = 0; col < tiles; ++col) {
        CHECK(seen[row * tiles + col] == (row <= col ? 1 : 0));
      }
    }
  }
}

TEST_CASE("small: rows by themselves or together") {
  CHECK(moved_rows(100, 80, 1) == small_mover::direct);
  CHECK(moved_rows(101, 79, 1) == small_mover::rows);
  CHECK(moved_rows(100, 81, 1) == small_mover::none);
  CHECK(moved_rows(8000, 1, 1) == small_mover::rows);
  CHECK(moved_rows(8001, 1, 1) == small_mover::none);
  CHECK(moved_rows(750, 4, 4) == small_mover::rows);
  CHECK(moved_rows(751, 4, 4) == small_mover::none);
  CHECK(moved_rows(1, 1, 13) == small_mover::none);
}

TEST_CASE("small: grids have 65535 blocks along their second axis") {
  CHECK(transposed(20, 32 * 65535, 3) == small_mover::tiles);
  CHECK(transposed(20, 32 * 65535 + 1, 3) == small_mover::none);
  CHECK(transposed(32 * 65535 + 1, 20, 3) == small_mover::tiles);
  CHECK(transposed(2, 32 * 65535 + 1, 3) == small_mover::direct);
  CHECK(moved_rows(101, 65535, 3) == small_mover::rows);
  CHECK(moved_rows(101, 65536, 3) == small_mover::direct);
}

TEST_CASE("small: offsets fit 31 bits, those beyond the last tile too") {
  constexpr long long most = std::numeric_limits<int>::max();
  constexpr long long far = most / (100 + 256);  // bytes between 100 rows
  const auto choose = [](long long in, long long out) {
    return choose_small({{100, in, 3}, {100, 3, out}, 1, 3, 3, true}, false);
  };
  const small_mover tiles = small_mover::tiles;
  CHECK(choose(300, 300) == tiles);
  for (const int sign : {1, -1}) {
    CHECK(choose(sign * (far - 4), 300) == tiles);
    CHECK(choose(sign * (far + 1), 300) == small_mover::none);
    CHECK(choose(300, sign * (far - 4)) == tiles);
    CHECK(choose(300, sign * (far + 1)) == small_mover::none);
  }
  CHECK(choose(far - 4, 4 - far) == tiles);
  constexpr long long farthest = std::numeric_limits<long long>::min();
  CHECK(choose(farthest, 300) == small_mover::none);
  CHECK(choose(300, farthest) == small_mover::none);
  CHECK(choose(std::numeric_limits<long long>::max(), 300) == small_mover::none);

  // Rows have no tiles, but blocks of 1024 elements at their ends.
  const auto rows = [](long long in, long long out) {
    return choose_small({{200, 3, 3}, {100, in, out}, 1, 3, 3, false}, false);
  };
  for (const int sign : {1, -1}) {
    CHECK(rows(sign * (most / 100 - 40), 600) == small_mover::rows);
    CHECK(rows(sign * (most / 100 - 30), 600) == small_mover::none);
    CHECK(rows(600, sign * (most / 100 - 40)) == small_mover::rows);
    CHECK(rows(600, sign * (most / 100 - 30)) == small_mover::none);
  }
}

TEST_CASE("small: tiles that the caller wrote") {
  const auto takes = [](size_type fast, size_type slow, int bytes, int tile, size_type batch = 1) {
    return takes_written_tile(dense_transpose(fast, slow, bytes, batch), tile);
  };
  CHECK(takes(100, 200, 1, 32));
  CHECK(!takes(100, 201, 1, 32));
  CHECK(takes(50, 100, 4, 32));
  CHECK(!takes(50, 101, 4, 32));
  CHECK(takes(50, 40, 1, 32, 10));
  CHECK(!takes(50, 40, 1, 32, 11));
  CHECK(!takes(1, 1, 13, 32));
  CHECK(takes(1, 32 * 65535, 3, 32));
  CHECK(!takes(1, 32 * 65535 + 1, 3, 32));
  CHECK(takes(1, 32 * 65535 + 1, 3, 64));
  CHECK(takes(1, 1, 3, 32, 65535));
  CHECK(!takes(1, 1, 3, 32, 65536));
  small_problem far = dense_transpose(10, 10, 3);
  far.fast.in_stride = 1 << 28;
  CHECK(!takes_written_tile(far, 32));
}

TEST_CASE("small: whole accesses and squares") {
  CHECK(tt::detail::takes_vectors(4, 5000, 1));
  CHECK(!tt::detail::takes_vectors(3, 5000, 1));
  CHECK(!tt::detail::takes_vectors(4, 5001, 1));
  CHECK(!tt::detail::takes_vectors(4, 1, 3));
  const auto square = [](size_type side, int bytes, bool whole) {
    return tt::detail::is_little_square(side, side * static_cast<size_type>(bytes), bytes, whole);
  };
  CHECK(square(70, 1, false));
  CHECK(!square(71, 1, false));
  CHECK(square(50, 1, true));
  CHECK(!square(51, 1, true));
  CHECK(square(40, 12, false));
  CHECK(!square(41, 12, false));
  CHECK(!square(1, 13, false));
  // Rows so far apart that offsets would not fit 31 bits.
  CHECK(tt::detail::is_little_square(10, (size_type{1} << 31) / 266, 1, false));
  CHECK(!tt::detail::is_little_square(10, (size_type{1} << 31) / 266 + 1, 1, false));
}

TEST_CASE("small: tiles are large where there are more elements, and squares in place more rows") {
  CHECK(small_tile_side(dense_transpose(20, 25, 1), 1) == 16);
  CHECK(small_tile_side(dense_transpose(20, 26, 1), 1) == 32);
  CHECK(small_tile_side(dense_transpose(10, 10, 1, 6), 1) == 32);  // those of a batch together
  CHECK(small_tile_side(dense_transpose(1, 1, 3), 3) == 32);       // which has no small ones
  CHECK(small_tile_side(dense_transpose(1, 1, 12), 3) == 32);
  CHECK(small_tile_side(dense_transpose(1, 1, 12), 12) == 16);  // too many accesses for large ones
  CHECK(tt::detail::square_tile_side(30, 1) == 16);
  CHECK(tt::detail::square_tile_side(31, 1) == 32);
  CHECK(tt::detail::square_tile_side(40, 4) == 16);
  CHECK(!tt::detail::has_large_square_tile(4));
}

TEST_CASE("small: what panels cannot take, and what has an operation, has limits of its own") {
  const auto takes = [](size_type fast, bool whole, auto change) {
    small_problem problem = dense_transpose(fast, 100, 4);
    change(problem);
    return choose_small(problem, whole) == small_mover::tiles;
  };
  const auto pitched = [](small_problem& problem) { problem.has_panel = false; };
  CHECK(takes(55, false, pitched));
  CHECK(!takes(56, false, pitched));
  CHECK(takes(40, true, pitched));
  CHECK(!takes(41, true, pitched));
  const auto backwards = [](small_problem& problem) {
    problem.slow.out_stride = -problem.slow.out_stride;
  };
  CHECK(takes(55, false, backwards));
  CHECK(!takes(56, false, backwards));
  const auto fused = [](small_problem& problem) {
    problem.has_panel = false;
    problem.operation = tt::detail::small_operation::one_output;
  };
  CHECK(takes(70, false, fused));
  CHECK(!takes(71, false, fused));
  CHECK(takes(45, true, fused));
  CHECK(!takes(46, true, fused));
  const auto dual = [](small_problem& problem) {
    problem.has_panel = false;
    problem.operation = tt::detail::small_operation::two_outputs;
  };
  CHECK(takes(55, false, dual));
  CHECK(!takes(56, false, dual));
  CHECK(takes(45, true, dual));
  CHECK(!takes(46, true, dual));
}

TEST_CASE("small: few elements of rows are one a thread") {
  CHECK(tt::detail::has_few_elements(dense_rows(150'000, 1, 1)));
  CHECK(!tt::detail::has_few_elements(dense_rows(75'000, 1, 1, 3)));
}

#else

TEST_CASE("small: the limits of every element size are those of its row") {
  for (int bytes = 1; bytes <= 64; ++bytes) {
    INFO(bytes << " bytes");
    const small_limits& limits = tt::detail::small_limits_of(bytes);
    CHECK(limits.element_bytes <= bytes);
    for (const small_limits& row : tt::detail::small_tuning) {
      CHECK((row.element_bytes <= limits.element_bytes || row.element_bytes > bytes));
    }
    // Squares of about as many elements, all of which a call may have.
    for (const bool whole : {false, true}) {
      const size_type most = whole ? limits.whole : limits.tile;
      size_type side = 33;
      while ((side + 1) * (side + 1) <= most) { ++side; }
      CHECK(transposed(side, most / side, bytes, whole) == small_mover::tiles);
      CHECK(transposed(side, most / side + 1, bytes, whole) == small_mover::none);
    }
    CHECK(transposed(32, limits.narrow / 32, bytes) == small_mover::tiles);
    CHECK(transposed(32, limits.narrow / 32 + 1, bytes) == small_mover::none);
    CHECK(transposed(limits.direct_side, 70, bytes) == small_mover::direct);
    CHECK(moved_rows(limits.rows, 1, bytes) == small_mover::rows);
    CHECK(moved_rows(limits.rows + 1, 1, bytes) == small_mover::none);
    CHECK(moved_rows(100, limits.rows / 100, bytes) == small_mover::direct);
    for (const bool whole : {false, true}) {
      const size_type side = whole ? limits.whole_square : limits.square_side;
      CHECK(tt::detail::is_little_square(side, 64 * side, bytes, whole));
      CHECK(!tt::detail::is_little_square(side + 1, 64 * side, bytes, whole));
    }
  }
}

TEST_CASE("small: rows of whole accesses of bytes and halves have their own limit from 300 on") {
  for (const int bytes : {1, 2}) {
    const size_type length = tt::detail::small_limits_of(bytes).whole / 300 + 1;
    CHECK(transposed(299, length + 20, bytes, true) == small_mover::tiles);
    CHECK(transposed(length + 20, 299, bytes, true) == small_mover::tiles);
    CHECK(transposed(300, length, bytes, true) == small_mover::none);
  }
}

TEST_CASE("small: a megabyte of every element size is little work") {
  for (int bytes = 1; bytes <= 64; ++bytes) {
    INFO(bytes << " bytes");
    size_type side = 1;
    while ((side + 1) * (side + 1) * static_cast<size_type>(bytes) <= 1'000'000) { ++side; }
    CHECK(transposed(side, side, bytes) != small_mover::none);
    CHECK(transposed(side, side, bytes, true) != small_mover::none);
    CHECK(moved_rows(side, side, bytes) != small_mover::none);
  }
}

#endif

TEST_CASE("small: an array that is reversed has every kernel that it can take") {
  for (int bytes = 1; bytes <= 64; ++bytes) {
    for (int alignment = 1; bytes % alignment == 0 && alignment <= 64; alignment *= 2) {
      const int known = tt::detail::known_element(bytes);
      for (size_type length = 1; length <= size_type{1} << 35; length += 1 + length / 7) {
        for (int access = tt::access_width(static_cast<size_type>(bytes), alignment);
             bytes % access == 0 && access <= 16; access *= 2) {
          if (tt::detail::has_little_work(bytes, access, false) &&
              moved_rows(length, 1, bytes) != small_mover::none) {
            continue;
          }
          for (size_type address = alignment; address <= 64; address *= 2) {
            const tt::detail::row_shape shape{length > 1, static_cast<size_type>(bytes), length,
                                              address | static_cast<size_type>(bytes)};
            const tt::detail::row_choice kernel = tt::detail::choose_rows(shape, known, false);
            if (!tt::detail::reverses_array_by(kernel, bytes, alignment, known)) {
              FAIL(bytes << " bytes at " << alignment << ", " << length << " elements");
            }
          }
        }
      }
    }
  }
}
