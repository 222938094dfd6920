// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which problems are little work and how they are moved, in plain C++: each rule at its limits. Compiled with the tuning
// rows of small_rows.hpp, and once more with the library's own, for which the limits are read from the rows.

#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/choose/choose_rows.cuh>

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <utility>
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

/// How a transpose is moved if it is little work.
constexpr small_mover transposed(size_type fast, size_type slow, int bytes, size_type batch = 1) {
  const small_problem problem = dense_transpose(fast, slow, bytes, batch);
  return choose_small(problem, tt::detail::most_counted, work_of(problem).direct);
}
constexpr small_mover moved_rows(size_type length, size_type rows, int bytes, size_type batch = 1) {
  return tt::detail::choose_small_rows(dense_rows(length, rows, bytes, batch));
}

/// A batch of matrices of nx columns and ny rows, elements behind each row of input and output.
struct asked {
  size_type nx;
  size_type ny;
  int bytes;
  size_type batch = 1;
  size_type in_gap = 0;
  size_type out_gap = 0;
  bool pointers = false;
};
tt::detail::transpose_facts facts_of(const asked& a) {
  const auto element = static_cast<size_type>(a.bytes);
  tt::detail::batch_problem problem{};
  problem.in_stride_bytes = (a.nx + a.in_gap) * element;
  problem.out_stride_bytes = (a.ny + a.out_gap) * element;
  problem.in_batch_bytes = problem.out_batch_bytes = a.nx * a.ny * element;
  problem.nx = a.nx;
  problem.ny = a.ny;
  problem.pointer_arrays = a.pointers;
  problem.batch = a.batch;
  return {problem,
          a.bytes,
          a.bytes,
          problem.in_stride_bytes | problem.out_stride_bytes,
          {tt::default_shared_bytes}};
}
bool beside(const tt::detail::choice& other, const asked& a) {
  const tt::detail::transpose_facts facts = facts_of(a);
  const small_problem problem = little_problem(facts);
  return is_little_beside(other, facts, problem, work_of(problem).places);
}
/// True where it is little work beside a mover.
bool beside(tt::detail::mover by, const asked& a) {
  tt::detail::choice other;
  other.by = by;
  other.panels = tt::detail::panel_kind::few_rows;
  return beside(other, a);
}
using tt::detail::mover;

}  // namespace

#if defined(TILETRANSPOSE_TUNING_HEADER)

TEST_CASE("small: elements between two rows take that of the smaller size") {
  const int expected[] = {1, 1, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 13, 13};
  for (int bytes = 1; bytes <= 14; ++bytes) {
    CHECK(tt::detail::small_limits_of(bytes).element_bytes == expected[bytes - 1]);
  }
  CHECK(tt::detail::small_limits_of(64).element_bytes == 13);
}

TEST_CASE("small: beside tiles a transpose is little up to so many elements") {
  CHECK(beside(mover::tile, {100, 100, 1}));
  CHECK(!beside(mover::tile, {100, 101, 1}));
  CHECK(!beside(mover::tile, {101, 100, 1}));
  CHECK(beside(mover::tile, {50, 100, 4}));
  CHECK(!beside(mover::tile, {51, 100, 4}));
  // Rows of whole accesses have a limit of their own, and so have rows with gaps.
  CHECK(beside(mover::tile, {60, 64, 4}));
  CHECK(!beside(mover::tile, {64, 64, 4}));
  CHECK(!beside(mover::tile, {80, 80, 1}));
  CHECK(beside(mover::tile, {100, 55, 4, 1, 1}));
  CHECK(beside(mover::tile, {100, 55, 4, 1, 0, 1}));
  CHECK(!beside(mover::tile, {100, 56, 4, 1, 1}));
  // Sides that leave tiles mostly empty are always moved so.
  CHECK(beside(mover::tile, {64, 20'000, 1, 1, 1}));
  CHECK(!beside(mover::tile, {65, 20'000, 1, 1, 1}));
  CHECK(beside(mover::tile, {32, 20'000, 4, 1, 1}));
  CHECK(!beside(mover::tile, {33, 20'000, 4, 1, 1}));
  // A batch counts as one, and matrices that leave them partly empty have three times the limit.
  CHECK(beside(mover::tile, {50, 100, 4, 3}));
  CHECK(!beside(mover::tile, {50, 101, 4, 3}));
}

TEST_CASE("small: beside panels it is little up to so much work") {
  // Tiles have the places of 32 x 32 elements each, and elements without tiles count twice, wide ones by half as much again.
  CHECK(beside(mover::gathered_panel, {32, 64, 1}));
  CHECK(!beside(mover::gathered_panel, {32, 65, 1}));
  CHECK(beside(mover::gathered_panel, {2, 750, 1}));
  CHECK(!beside(mover::gathered_panel, {2, 751, 1}));
  CHECK(beside(mover::vectorised_panel, {2, 625, 1}));
  CHECK(!beside(mover::vectorised_panel, {2, 626, 1}));
  CHECK(beside(mover::word_shifted_panel, {2, 875, 1}));
  CHECK(!beside(mover::word_shifted_panel, {2, 876, 1}));
  tt::detail::choice columns;
  columns.by = mover::word_shifted_panel;
  columns.panels = tt::detail::panel_kind::few_columns;
  CHECK(beside(columns, {2, 1000, 1}));
  CHECK(!beside(columns, {2, 1001, 1}));
  CHECK(beside(mover::gathered_panel, {2, 666, 8}));
  CHECK(!beside(mover::gathered_panel, {2, 667, 8}));
  // Behind pointers small matrices always are.
  CHECK(beside(mover::gathered_panel, {32, 32, 1, 10'000, 0, 0, true}));
  CHECK(!beside(mover::gathered_panel, {32, 33, 1, 10'000, 0, 0, true}));
  // Rows of a short side with gaps are as long as the L2 cache holds them.
  CHECK(beside(mover::gathered_panel, {4, 1 << 23, 1, 1, 1}));
  CHECK(!beside(mover::gathered_panel, {4, (1 << 23) + 1, 1, 1, 1}));
}

TEST_CASE("small: what is little beside every mover is so certainly") {
  tt::detail::choice chosen;
  CHECK(little_work(facts_of({2, 625, 1}), chosen));
  CHECK(chosen.is_certain);
  CHECK(chosen.little == small_mover::direct);
  little_work(facts_of({2, 626, 1}), chosen);
  CHECK(!chosen.is_certain);
  CHECK(!little_work(facts_of({1, 2, 13}), chosen));
  // A side alone that is longer than any limit, in products that would overflow.
  constexpr size_type huge = std::numeric_limits<size_type>::max();
  CHECK(transposed(1, 1, 3) == small_mover::direct);
  CHECK(choose_small({{huge, 1, 1}, {2, 1, 1}, 1, 1, 1, true}, ALL, false) == small_mover::none);
  CHECK(choose_small({{2, 1, 1}, {huge, 1, 1}, 1, 1, 1, true}, ALL, false) == small_mover::none);
  CHECK(choose_small({{2, 1, 1}, {2, 1, 1}, huge, 1, 1, true}, ALL, false) == small_mover::none);
}

TEST_CASE("small: what would fill little of its tiles is moved without") {
  // Of rows of up to 64 elements half a tile and, of longer ones, a quarter.
  CHECK(transposed(16, 320, 1) == small_mover::direct);
  CHECK(transposed(17, 320, 1) == small_mover::tiles);
  CHECK(transposed(320, 8, 1) == small_mover::direct);
  CHECK(transposed(320, 9, 1) == small_mover::tiles);
  CHECK(transposed(8, 320, 4) == small_mover::direct);
  CHECK(transposed(9, 320, 4) == small_mover::tiles);
  CHECK(transposed(64, 8, 1) == small_mover::direct);
  CHECK(transposed(64, 16, 1) == small_mover::direct);
  CHECK(transposed(65, 16, 1) == small_mover::tiles);
  CHECK(transposed(1, 1, 1) == small_mover::direct);
  // Matrices of a batch likewise, all alike.
  CHECK(transposed(22, 22, 1, 100) == small_mover::direct);
  CHECK(transposed(23, 23, 1, 100) == small_mover::tiles);
}

TEST_CASE("small: batches of rows count as one") {
  CHECK(moved_rows(20, 40, 1, 10) == small_mover::direct);
  CHECK(moved_rows(20, 40, 1, 11) == small_mover::none);
  CHECK(transposed(30, 30, 3, 65535) == small_mover::tiles);
  CHECK(transposed(30, 30, 3, 65536) == small_mover::none);
  CHECK(transposed(9, 9, 3, 65536) == small_mover::direct);
  CHECK(moved_rows(400, 2, 3, 65535) == small_mover::rows);
  CHECK(moved_rows(400, 2, 3, 65536) == small_mover::direct);
}

TEST_CASE("small: elements that are counted fit 31 bits, whatever the tuning rows say") {
  constexpr size_type most = size_type{1} << 30;
  const auto choose = [](size_type batch) {
    return choose_small({{4, 3, 3}, {1, 0, 0}, batch, 3, 3, true}, ~size_type{0}, true);
  };
  CHECK(choose(most / 4) == small_mover::direct);
  CHECK(choose(most / 4 + 1) == small_mover::none);
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
  // Of bytes twice as many where rows are short, longer ones if they are reversed.
  CHECK(moved_rows(5, 3200, 1) == small_mover::direct);
  CHECK(moved_rows(5, 3201, 1) == small_mover::none);
  CHECK(moved_rows(6, 1334, 1) == small_mover::none);
  CHECK(moved_rows(5, 601, 4) == small_mover::none);
  const auto reversed = [](size_type length, size_type rows) {
    small_problem problem = dense_rows(length, rows, 1);
    problem.fast.in_stride = -1;
    return tt::detail::choose_small_rows(problem);
  };
  CHECK(reversed(100, 160) == small_mover::direct);
  CHECK(reversed(100, 161) == small_mover::none);
  CHECK(reversed(101, 80) == small_mover::none);
}

TEST_CASE("small: many rows that leave their blocks mostly empty go together") {
  CHECK(moved_rows(337, 2000, 3) == small_mover::direct);  // of 512
  CHECK(moved_rows(338, 2000, 3) == small_mover::rows);
  CHECK(moved_rows(512, 2000, 3) == small_mover::rows);
  CHECK(moved_rows(513, 2000, 3) == small_mover::direct);  // of 1024
  CHECK(moved_rows(337, 445, 3) == small_mover::rows);     // few
}

TEST_CASE("small: grids have 65535 blocks along their second axis") {
  CHECK(transposed(20, 32 * 65535, 3) == small_mover::tiles);
  CHECK(transposed(20, 32 * 65535 + 1, 3) == small_mover::none);
  CHECK(transposed(32 * 65535 + 1, 20, 3) == small_mover::tiles);
  CHECK(transposed(2, 32 * 65535 + 1, 3) == small_mover::direct);
  CHECK(moved_rows(400, 65535, 3) == small_mover::rows);
  CHECK(moved_rows(400, 65536, 3) == small_mover::direct);
}

TEST_CASE("small: offsets fit 31 bits, those beyond the last tile too") {
  constexpr long long most = std::numeric_limits<int>::max();
  constexpr long long far = most / (100 + 256);  // bytes between 100 rows
  const auto choose = [](long long in, long long out) {
    return choose_small({{100, in, 3}, {100, 3, out}, 1, 3, 3, true}, ALL, false);
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
    return tt::detail::choose_small_rows({{200, 3, 3}, {100, in, out}, 1, 3, 3, false});
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
  // Narrow matrices do whatever their size is, as long as 31 bits reach all that a tile may touch.
  CHECK(takes(31, 1000, 1, 32));
  CHECK(takes(1000, 31, 1, 32));
  CHECK(!takes(32, 1000, 1, 32));
  CHECK(!takes(31, 1000, 1, 16));
  CHECK(takes(6'605'652, 2, 2, 32));
  CHECK(!takes(66'056'520, 2, 2, 32));
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
  CHECK(small_tile_side(dense_transpose(32, 32, 1), 1) == 16);
  CHECK(small_tile_side(dense_transpose(32, 33, 1), 1) == 32);
  CHECK(small_tile_side(dense_transpose(10, 10, 1, 2), 1) == 32);  // those of a batch together
  CHECK(small_tile_side(dense_transpose(1, 1, 3), 3) == 32);       // which has no small ones
  CHECK(small_tile_side(dense_transpose(32, 32, 12), 3) == 32);
  CHECK(small_tile_side(dense_transpose(32, 32, 12), 12) ==
        16);  // too many accesses for large ones
  CHECK(tt::detail::square_tile_side(30, 1) == 16);
  CHECK(tt::detail::square_tile_side(31, 1) == 32);
  CHECK(tt::detail::square_tile_side(40, 4) == 16);
  CHECK(!tt::detail::has_large_square_tile(4));
}

TEST_CASE("small: large tiles that would be emptier than small ones are not taken") {
  // Of more than 8 bytes, with 60 percent of their places at most.
  CHECK(small_tile_side(dense_transpose(100, 16, 12), 3) == 16);
  CHECK(small_tile_side(dense_transpose(100, 17, 12), 3) == 32);
  CHECK(small_tile_side(dense_transpose(33, 33, 12, 100), 3) == 16);
  CHECK(small_tile_side(dense_transpose(100, 100, 12), 3) == 32);
  // Of 8 bytes, that are full.
  CHECK(small_tile_side(dense_transpose(16, 16, 8, 100), 1) == 16);
  CHECK(small_tile_side(dense_transpose(16, 15, 8, 100), 1) == 32);
  CHECK(small_tile_side(dense_transpose(16, 32, 8, 100), 1) == 32);
  CHECK(small_tile_side(dense_transpose(16, 16, 4, 100), 1) == 32);
}

TEST_CASE("small: many tiles of words, whose output rows are sectors, have fewer threads") {
  using tt::detail::are_many_tiles;
  constexpr size_type most = tt::detail::least_many_tiles;
  CHECK(are_many_tiles(dense_transpose(64, 64, 4, most / 4096)));
  CHECK(!are_many_tiles(dense_transpose(64, most / 64, 4)));
  CHECK(!are_many_tiles(dense_transpose(64, 64, 4, most / 4096 - 1)));
  CHECK(!are_many_tiles(dense_transpose(68, 64, 4, most / 4096)));
  CHECK(tt::detail::has_many_tiles(4, 4, 1));
  CHECK(!tt::detail::has_many_tiles(4, 4, 4));
  CHECK(!tt::detail::has_many_tiles(8, 4, 1));
}

TEST_CASE("small: batches with an operation that leave large tiles empty are little work") {
  const auto takes = [](size_type nx, size_type ny, size_type batch, bool to_halves) {
    tt::detail::batch_problem problem{};
    problem.nx = nx;
    problem.ny = ny;
    problem.batch = batch;
    problem.in_stride_bytes = 4 * nx;
    problem.in_batch_bytes = 4 * nx * ny;
    problem.out_stride_bytes = (to_halves ? 2 : 4) * ny;
    problem.out_batch_bytes = problem.out_stride_bytes * nx;
    using tt::detail::fusion;
    const auto chosen =
        to_halves ? tt::detail::choose_little_operation<fusion::transform, float, short>(problem)
                  : tt::detail::choose_little_operation<fusion::transform, float, float>(problem);
    return chosen.mover == small_mover::tiles;
  };
  // Tiles of floats to halves, and to floats, have 128 rows of 64.
  CHECK(takes(96, 120, 1000, true));
  CHECK(!takes(96, 128, 1000, true));
  CHECK(!takes(96, 120, 1, true));
  CHECK(takes(96, 100, 1000, false));
  CHECK(takes(128, 128, 1000, false));  // output rows are sectors
  CHECK(!takes(128, 121, 1000, false));
  CHECK(takes(128, 122, 1000, false));  // these begin inside of sectors, and reach into two tiles
}

TEST_CASE("small: what has an operation has limits of its own") {
  const auto takes = [](size_type fast, bool whole, bool is_dual) {
    small_problem problem = dense_transpose(fast, 100, 4);
    problem.is_dual = is_dual;
    return tt::detail::choose_small_operation(problem, whole, false) == small_mover::tiles;
  };
  CHECK(takes(70, false, false));
  CHECK(!takes(71, false, false));
  CHECK(takes(45, true, false));
  CHECK(!takes(46, true, false));
  CHECK(takes(55, false, true));
  CHECK(!takes(56, false, true));
  CHECK(takes(45, true, true));
  // Directly moved is less of two outputs.
  small_problem dual = dense_transpose(16, 320, 1);
  CHECK(work_of(dual).direct);
  dual.is_dual = true;
  CHECK(!work_of(dual).direct);
  dual.fast.extent = 8;
  CHECK(work_of(dual).direct);
  // The wider its elements, and the fewer the columns, the less.
  const auto dual_is_direct = [](size_type rows, size_type cols, int bytes) {
    small_problem problem = dense_transpose(rows, cols, bytes);
    problem.is_dual = true;
    return work_of(problem).direct;
  };
  CHECK(dual_is_direct(5, 320, 3));
  CHECK(!dual_is_direct(6, 320, 3));
  CHECK(dual_is_direct(320, 4, 3));
  CHECK(!dual_is_direct(320, 5, 3));
  CHECK(dual_is_direct(8, 320, 4));
  CHECK(!dual_is_direct(320, 5, 4));
  CHECK(!dual_is_direct(320, 2, 12));
  // Two outputs of smaller elements are little work where a side is short, however long the other one is.
  small_problem halves = dense_transpose(1'000'000, tt::detail::lone_dual_side, 4);
  halves.is_dual = true;
  CHECK(tt::detail::choose_small_operation(halves, false, false) == small_mover::none);
  halves.kept_bytes = 2;
  CHECK(tt::detail::choose_small_operation(halves, false, false) == small_mover::tiles);
  halves.slow.extent = tt::detail::lone_dual_side + 1;
  CHECK(tt::detail::choose_small_operation(halves, false, false) == small_mover::none);
  CHECK(!takes(46, true, true));
  // Sides that would leave tiles mostly empty have none.
  small_problem narrow = dense_transpose(30, 100'000, 4);
  CHECK(tt::detail::choose_small_operation(narrow, false, false) == small_mover::tiles);
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
    // Elements that no tile is needed for.
    const auto work_of_rows = [&](size_type work) { return 2 * work / (bytes < 8 ? 4 : 3) / 2; };
    const std::pair<mover, size_type> beside_panels[] = {
        {mover::gathered_panel, limits.gathered},
        {mover::vectorised_panel, limits.vectorised},
        {mover::word_shifted_panel, limits.shifted}};
    for (const auto& [by, most] : beside_panels) {
      CHECK(beside(by, {work_of_rows(most), 2, bytes}));
      CHECK(!beside(by, {work_of_rows(most) + 1, 2, bytes}));
    }
    CHECK(beside(mover::tile, {65, limits.tile / 65, bytes}));
    CHECK(
        !beside(mover::tile, {65, tt::detail::larger(limits.tile, limits.whole) / 65 + 1, bytes}));
    CHECK(transposed(2, 70, bytes) == small_mover::direct);
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

TEST_CASE("small: a megabyte of every element size is little work") {
  for (int bytes = 1; bytes <= 64; ++bytes) {
    INFO(bytes << " bytes");
    size_type side = 1;
    while ((side + 1) * (side + 1) * static_cast<size_type>(bytes) <= 1'000'000) { ++side; }
    tt::detail::choice chosen;
    CHECK(little_work(facts_of({side, side, bytes}), chosen));
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
