// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank model against figures worked out by hand and against a second model, written here from
// the same rules; the paddings and the policy that follow from it.

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/layout.cuh>
#include <tiletranspose/policy.cuh>

namespace {

template <int N>
struct bytes {
  unsigned char value[N];
};

template <class T, int Rows, int Cols, int Padding>
constexpr int column_ways(tt::bank_model model = tt::banks_32x4) {
  return tt::conflict_ways(tt::padded_layout<T, Rows, Cols, Padding>{}, tt::along_columns, model);
}
template <class T, int Rows, int Cols, int Padding>
constexpr int row_ways(tt::bank_model model = tt::banks_32x4) {
  return tt::conflict_ways(tt::padded_layout<T, Rows, Cols, Padding>{}, tt::along_rows, model);
}

// ---------------------------------------------------- known figures, as a compiler sees them

static_assert(row_ways<float, 32, 32, 0>() == 1);
static_assert(column_ways<float, 32, 32, 0>() == 32);
static_assert(column_ways<float, 32, 32, 1>() == 1);
static_assert(column_ways<float, 32, 32, 2>() == 2);
static_assert(column_ways<float, 32, 32, 4>() == 4);
static_assert(column_ways<float, 16, 16, 0>() == 8);  // two columns a warp

// Below 4 bytes a padding of one element moves the next row by less than a bank.
static_assert(column_ways<short, 32, 32, 0>() == 16);
static_assert(column_ways<short, 32, 32, 1>() == 2);
static_assert(column_ways<short, 64, 64, 1>() == 2);
static_assert(column_ways<short, 32, 32, 2>() == 1);
static_assert(column_ways<short, 64, 64, 2>() == 1);
static_assert(column_ways<char, 128, 128, 0>() == 32);
static_assert(column_ways<char, 128, 128, 1>() == 4);
static_assert(column_ways<char, 128, 128, 4>() == 1);
// Lanes of one word are served together.
static_assert(row_ways<char, 128, 128, 4>() == 1);
static_assert(row_ways<short, 64, 64, 2>() == 1);

// 8-byte accesses are served by half-warps, 16-byte accesses by quarter-warps.
static_assert(column_ways<double, 32, 32, 0>() == 16);
static_assert(column_ways<double, 32, 32, 1>() == 1);
static_assert(row_ways<double, 32, 32, 1>() == 1);
static_assert(column_ways<bytes<16>, 32, 32, 0>() == 8);
static_assert(column_ways<bytes<16>, 32, 32, 1>() == 1);

// 16 banks, served by half-warps.
static_assert(column_ways<float, 32, 32, 0>(tt::banks_16x4) == 16);
static_assert(column_ways<float, 32, 32, 1>(tt::banks_16x4) == 1);
static_assert(column_ways<float, 16, 16, 0>(tt::banks_16x4) == 16);
static_assert(column_ways<float, 16, 16, 1>(tt::banks_16x4) == 1);

// 8-byte banks.
static_assert(column_ways<double, 32, 32, 0>(tt::banks_32x8) == 32);
static_assert(column_ways<double, 32, 32, 1>(tt::banks_32x8) == 1);
static_assert(column_ways<float, 32, 32, 0>(tt::banks_32x8) == 16);
static_assert(column_ways<float, 32, 32, 2>(tt::banks_32x8) == 1);
static_assert(tt::banks_of_width(4).bank_width == 4 && tt::banks_of_width(8).bank_width == 8);
// A bank width stands for its model, also one that no GPU has.
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, tt::along_columns, 16) == 8);
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, tt::along_columns, 4) == 32);
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, tt::along_columns, 8) == 16);
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 2>{}, tt::along_columns, 8) == 1);

// What only the run knows, asked of the compiler too.
static_assert(tt::map_ways(tt::padded_map(4, 32, 32, 0), tt::along_columns) == 32);
static_assert(tt::map_ways(tt::padded_map(1, 32, 32, 1), tt::along_columns) == 2);
static_assert(tt::map_ways(tt::padded_map(4, 32, 32, 2), tt::along_columns, tt::banks_32x8) == 1);
static_assert(tt::map_ways(tt::swizzled_map(2, 32, 32, 4), tt::along_columns) == 1);

// The walk itself: element, and byte inside it.
constexpr bool is_place(tt::walk_steps steps, int step, int row, int col, int byte) {
  const tt::walk_steps::place at = steps(step);
  return at.row == row && at.col == col && at.byte == byte;
}
constexpr tt::walk_steps down(tt::along_columns, 12, 8, 5);  // 12 bytes are three words
static_assert(down.access_bytes == 4 && down.count == 8 * 5 * 3);
static_assert(is_place(down, 0, 0, 0, 0) && is_place(down, 5, 1, 0, 8));
static_assert(is_place(down, 24, 0, 1, 0) && is_place(down, 119, 7, 4, 8));
constexpr tt::walk_steps across({false, 16}, 4, 3, 8);  // 16 bytes are four elements
static_assert(across.count == 6 && is_place(across, 1, 0, 4, 0) && is_place(across, 2, 1, 0, 0));

// Lanes that are served together.
static_assert(tt::phase_lanes(1, tt::banks_32x4) == 32 && tt::phase_lanes(4, tt::banks_32x4) == 32);
static_assert(tt::phase_lanes(8, tt::banks_32x4) == 16 && tt::phase_lanes(16, tt::banks_32x4) == 8);
static_assert(tt::phase_lanes(8, tt::banks_32x8) == 32 && tt::phase_lanes(4, tt::banks_16x4) == 16);

// A warp takes two rows of a tile of 16 columns, and two columns of one of 16 rows.
static_assert(column_ways<float, 32, 16, 0>() == 16 && row_ways<float, 32, 16, 0>() == 1);
static_assert(column_ways<float, 32, 16, 1>() == 1 && row_ways<float, 32, 16, 1>() == 2);
static_assert(column_ways<float, 16, 32, 1>() == 2 && row_ways<float, 16, 32, 1>() == 1);
static_assert(column_ways<float, 16, 32, 2>() == 1 && row_ways<float, 16, 32, 2>() == 1);

static_assert(tt::is_conflict_free(tt::padded_layout<float, 32, 32, 1>{}));
static_assert(!tt::is_conflict_free(tt::padded_layout<float, 32, 32, 0>{}));
static_assert(!tt::is_conflict_free(tt::padded_layout<float, 32, 16, 1>{}));

static_assert(tt::default_padding<float, 32>() == 1);
static_assert(tt::default_padding<float, 16, 32>() == 2);
static_assert(tt::default_padding<short, 32>() == 2);
static_assert(tt::default_padding<short, 64>() == 2);
static_assert(tt::default_padding<char, 128>() == 4);
static_assert(tt::default_padding<double, 32>() == 1);
static_assert(tt::default_padding<double, 32, 32, 8>() == 1);
static_assert(tt::default_padding<bytes<16>, 32>() == 1);

// One request, given by its lanes.
constexpr long long one_word(int) { return 40; }
constexpr long long bytes_of_one_word(int lane) { return 40 + lane % 4; }
constexpr long long no_lane(int) { return -1; }
constexpr long long stride_of_one_line(int lane) { return lane * 128LL; }
constexpr long long even_lanes(int lane) { return lane % 2 == 0 ? lane * 64LL : -1; }
constexpr long long last_lane(int lane) { return lane == 31 ? 4 : -1; }
constexpr long long straddling(int lane) { return lane * 4LL + 2; }
static_assert(tt::request_ways(one_word, 4) == 1, "broadcast");
static_assert(tt::request_ways(bytes_of_one_word, 1) == 1, "broadcast of a word's bytes");
static_assert(tt::request_ways(no_lane, 4) == 0);
static_assert(tt::request_ways(last_lane, 4) == 1);
static_assert(tt::request_ways(stride_of_one_line, 4) == 32);
static_assert(tt::request_ways(stride_of_one_line, 4, tt::banks_32x4, 8) == 8);
static_assert(tt::request_ways(stride_of_one_line, 8) == 16, "two phases");
static_assert(tt::request_ways(stride_of_one_line, 16) == 8, "four phases");
static_assert(tt::request_ways(stride_of_one_line, 4, tt::banks_16x4) == 16);
static_assert(tt::request_ways(stride_of_one_line, 4, tt::banks_32x8) == 16);
static_assert(tt::request_ways(even_lanes, 4) == 16, "half of the lanes, all in bank 0");
static_assert(tt::request_ways(straddling, 4) == 2, "33 words");

// More words in a phase than any access of a GPU has, and more banks.
constexpr long long three_words(int lane) { return lane * 352LL + 22; }
constexpr tt::bank_model banks_64x4{64, 4, 64};
static_assert(tt::request_ways(three_words, 11, tt::banks_32x8) == 3, "69 words");
static_assert(tt::request_ways(stride_of_one_line, 252) == 2, "63 words");
static_assert(tt::request_ways(stride_of_one_line, 260) == 3, "65 words");
static_assert(tt::request_ways(stride_of_one_line, 520) == 5, "130 words");
static_assert(tt::request_ways(straddling, 4, {80, 4, 80}, 80) == 2, "81 words");
static_assert(tt::request_ways(stride_of_one_line, 4, {80, 4, 80}, 80) == 16);
static_assert(tt::request_ways(stride_of_one_line, 4, banks_64x4) == 16);
static_assert(tt::request_ways(stride_of_one_line, 4, banks_64x4, 64) == 32);
static_assert(tt::request_ways(straddling, 4, banks_64x4, 64) == 2, "65 words");
static_assert(column_ways<float, 64, 64, 0>(banks_64x4) == 64);
static_assert(column_ways<float, 64, 64, 1>(banks_64x4) == 1);

constexpr tt::tile_coordinate half_a_column(int lane) {
  return lane < 16 ? tt::tile_coordinate{lane, 3} : tt::tile_coordinate{-1, 0};
}
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, half_a_column, 4) == 16);
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 1>{}, half_a_column, 4) == 1);

static_assert(tt::access_width(1) == 1 && tt::access_width(2) == 2 && tt::access_width(3) == 1);
static_assert(tt::access_width(12) == 4 && tt::access_width(24) == 8 && tt::access_width(64) == 16);
static_assert(tt::access_width(16, 4) == 4 && tt::access_width(16, 64) == 16);
static_assert(tt::access_width(12, 1) == 1 && tt::access_width(8, 2) == 2);

// ---------------------------------------------------- the second model

// The words that each bank has to serve, phase by phase; a negative offset is an inactive lane.
int reference_ways(const std::vector<long long>& offsets, int access_bytes, tt::bank_model model) {
  const int bytes_per_cycle = model.banks * model.bank_width;
  const int phase = std::max(1, std::min(model.request_lanes, bytes_per_cycle / access_bytes));
  std::size_t worst = 0;
  for (std::size_t first = 0; first < offsets.size(); first += phase) {
    std::vector<long long> words;
    for (std::size_t lane = first; lane < std::min(first + phase, offsets.size()); ++lane) {
      for (int i = 0; offsets[lane] >= 0 && i < access_bytes; ++i) {
        words.push_back((offsets[lane] + i) / model.bank_width);
      }
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::vector<std::size_t> served(static_cast<std::size_t>(model.banks));
    for (const long long word : words) {
      worst = std::max(worst, ++served[static_cast<std::size_t>(word % model.banks)]);
    }
  }
  return static_cast<int>(worst);
}

// The ways of the worst request of a walk, or any figure above `limit`.
template <class Layout>
int reference_walk(Layout layout, int element, int rows, int cols, bool by_columns,
                   tt::bank_model model, int limit) {
  int access = 16;
  while (element % access != 0) { access /= 2; }
  std::vector<long long> request;
  int worst = 0;
  const auto finish = [&] {
    worst = std::max(worst, reference_ways(request, access, model));
    request.clear();
  };
  for (int outer = 0; outer < (by_columns ? cols : rows); ++outer) {
    for (int inner = 0; inner < (by_columns ? rows : cols); ++inner) {
      const int row = by_columns ? inner : outer;
      const int col = by_columns ? outer : inner;
      for (int part = 0; part < element; part += access) {
        request.push_back(static_cast<long long>(layout(row, col)) * element + part);
        if (static_cast<int>(request.size()) == model.request_lanes) { finish(); }
        if (worst > limit) { return worst; }
      }
    }
  }
  finish();
  return worst;
}

struct padding_choice {
  int padding;
  int ways;
};

padding_choice reference_padding(int element, int rows, int cols, tt::bank_model model) {
  padding_choice best{0, 1 << 20};
  for (int padding = 0; padding <= 128 && best.ways > 1; ++padding) {
    const auto layout = [&](int row, int col) { return row * (cols + padding) + col; };
    int ways = 0;
    for (const bool by_columns : {true, false}) {
      if (ways < best.ways) {
        ways = std::max(
            ways, reference_walk(layout, element, rows, cols, by_columns, model, best.ways - 1));
      }
    }
    if (ways < best.ways) { best = {padding, ways}; }
  }
  return best;
}

struct named_model {
  const char* name;
  tt::bank_model model;
};
const named_model models[] = {{"32 banks of 4 bytes", tt::banks_32x4},
                              {"32 banks of 8 bytes", tt::banks_32x8},
                              {"16 banks of 4 bytes", tt::banks_16x4}};
// What no GPU of CUDA's has.
const named_model other_models[] = {{"64 banks of 4 bytes", banks_64x4},
                                    {"80 banks of 4 bytes", {80, 4, 80}},
                                    {"33 banks of 4 bytes", {33, 4, 32}},
                                    {"32 banks of 4 bytes for 128 lanes", {32, 4, 128}},
                                    {"2 banks of 16 bytes for 3 lanes", {2, 16, 3}}};

}  // namespace

TEST_CASE("banks: random requests take as many ways as the reference says", "[banks]") {
  std::mt19937_64 random(Catch::getSeed());
  const auto between = [&](int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
  };
  for (int round = 0; round < 20000; ++round) {
    const bool on_gpu = round % 8 != 7;  // else accesses and banks that there are not
    const named_model& m =
        on_gpu || round % 16 == 7 ? models[between(0, 2)] : other_models[between(0, 4)];
    const int access = on_gpu ? 1 << between(0, 4) : between(1, round % 32 == 7 ? 1000 : 24);
    const int lanes = round % 4 == 0 ? between(1, 32) : on_gpu ? 32 : between(32, 130);
    const int reach = 1 << between(2, 14);  // few words often, so that lanes meet in them
    const int stride = between(0, 200);
    const int kind = between(0, 3);
    const bool aligned = between(0, 3) != 0;
    std::vector<long long> offsets;
    for (int lane = 0; lane < lanes; ++lane) {
      long long offset = kind == 0 ? between(0, reach)
                                   : lane * static_cast<long long>(stride) + between(0, kind - 1);
      if (aligned) { offset -= offset % access; }
      if (between(0, 9) == 0) { offset = -1; }
      offsets.push_back(offset);
    }
    const auto offset_of = [&](int lane) { return offsets[static_cast<std::size_t>(lane)]; };
    const int expected = reference_ways(offsets, access, m.model);
    INFO("round " << round << " of --rng-seed " << Catch::getSeed() << ": " << m.name
                  << ", accesses of " << access << " bytes");
    REQUIRE(tt::request_ways(offset_of, access, m.model, lanes) == expected);
  }
}

TEST_CASE("banks: random lane maps on tiles take as many ways as the reference says", "[banks]") {
  std::mt19937_64 random(Catch::getSeed());
  const auto check = [&](auto layout) {
    constexpr int element = sizeof(typename decltype(layout)::element);
    std::uniform_int_distribution<int> row(0, layout.rows - 1);
    std::uniform_int_distribution<int> col(0, layout.cols - 1);
    for (int round = 0; round < 500; ++round) {
      std::vector<tt::tile_coordinate> lanes;
      std::vector<long long> offsets;
      for (int lane = 0; lane < 32; ++lane) {
        const tt::tile_coordinate at{round % 2 == 0 || random() % 8 != 0 ? row(random) : -1,
                                     round % 3 == 0 ? 0 : col(random)};
        lanes.push_back(at);
        offsets.push_back(at.row < 0 ? -1 : layout(at.row, at.col) * element);
      }
      const auto lane_map = [&](int lane) { return lanes[static_cast<std::size_t>(lane)]; };
      const named_model& m = models[round % 3];
      INFO("round " << round << " of --rng-seed " << Catch::getSeed() << ": " << m.name);
      REQUIRE(tt::conflict_ways(layout, lane_map, element, m.model) ==
              reference_ways(offsets, element, m.model));
    }
  };
  check(tt::padded_layout<char, 64, 64, 3>{});
  check(tt::padded_layout<short, 32, 64, 0>{});
  check(tt::padded_layout<float, 32, 32, 1>{});
  check(tt::padded_layout<double, 40, 24, 1>{});
  check(tt::swizzled_layout<float, 32, 32>{});
  check(tt::swizzled_layout<bytes<16>, 32, 8>{});
}

TEST_CASE("banks: walks over tiles take as many ways as the reference says", "[banks]") {
  const auto check = [](auto layout) {
    constexpr int element = sizeof(typename decltype(layout)::element);
    for (const named_model& m : models) {
      INFO(m.name << ", elements of " << element << " bytes, " << layout.rows << " x "
                  << layout.cols);
      const auto expected = [&](bool by_columns) {
        return reference_walk(layout, element, layout.rows, layout.cols, by_columns, m.model,
                              1 << 20);
      };
      const int rows = expected(false);
      const int columns = expected(true);
      CHECK(tt::conflict_ways(layout, tt::along_rows, m.model) == rows);
      CHECK(tt::conflict_ways(layout, tt::along_columns, m.model) == columns);
      CHECK(tt::is_conflict_free(layout, m.model) == (rows == 1 && columns == 1));
    }
  };
  check(tt::padded_layout<char, 32, 32, 0>{});
  check(tt::padded_layout<char, 128, 128, 4>{});
  check(tt::padded_layout<short, 64, 32, 1>{});
  check(tt::padded_layout<bytes<3>, 32, 32, 1>{});
  check(tt::padded_layout<float, 7, 5, 0>{});
  check(tt::padded_layout<float, 32, 33, 0>{});
  check(tt::padded_layout<double, 32, 32, 1>{});
  check(tt::padded_layout<bytes<12>, 32, 32, 1>{});
  check(tt::padded_layout<bytes<24>, 16, 32, 2>{});
  check(tt::padded_layout<bytes<64>, 16, 16, 1>{});
  check(tt::swizzled_layout<char, 32, 128>{});
  check(tt::swizzled_layout<float, 32, 8>{});
  check(tt::swizzled_layout<bytes<12>, 32, 32>{});
}

TEST_CASE("banks: walks by wide accesses", "[banks]") {
  const tt::padded_layout<float, 32, 32, 0> packed;
  // Eight lanes take a row, one phase: 16 bytes each.
  CHECK(tt::conflict_ways(packed, tt::tile_walk{false, 16}) == 1);
  CHECK(tt::conflict_ways(packed, tt::tile_walk{true, 16}) == 8);
  const tt::padded_layout<float, 32, 32, 4> shifted;
  CHECK(tt::conflict_ways(shifted, tt::tile_walk{true, 16}) == 1);
  // Narrower than an element: the halves of a double, side by side.
  const tt::padded_layout<double, 32, 32, 1> doubles;
  CHECK(tt::conflict_ways(doubles, tt::tile_walk{false, 4}) == 1);
  CHECK(tt::conflict_ways(doubles, tt::tile_walk{true, 4}) == 1);
}

TEST_CASE("padding: the smallest that is conflict-free, for every element size", "[padding]") {
  struct tile {
    int rows, cols;
  };
  const tile tiles[] = {{32, 32}, {16, 16}, {64, 32}, {32, 16}, {16, 64}, {24, 40}, {8, 8}};
  for (const named_model& m : models) {
    for (const tile& t : tiles) {
      for (int element = 1; element <= 64; ++element) {
        const padding_choice expected = reference_padding(element, t.rows, t.cols, m.model);
        INFO(m.name << ", elements of " << element << " bytes, " << t.rows << " x " << t.cols
                    << ": " << expected.ways << " ways");
        REQUIRE(tt::padding_for(element, t.rows, t.cols, m.model) == expected.padding);
      }
    }
  }
}

TEST_CASE("padding: where none is conflict-free, the one of fewest ways", "[padding]") {
  // A warp takes two rows of 16 words, which must lie 16 banks apart; a column must not.
  const padding_choice fewest = reference_padding(4, 32, 16, tt::banks_32x4);
  CHECK(fewest.ways == 2);
  CHECK(fewest.padding == 1);
  CHECK(tt::padding_for(4, 32, 16) == fewest.padding);
  CHECK(!tt::is_conflict_free(tt::padded_layout<float, 32, 16, 1>{}));
}

TEST_CASE("access_width: the widest power of two that divides both, up to 16", "[policy]") {
  for (int element = 1; element <= 128; ++element) {
    for (int alignment = 1; alignment <= 64; ++alignment) {
      int expected = 1;
      for (const int width : {2, 4, 8, 16}) {
        if (element % width == 0 && alignment % width == 0) { expected = width; }
      }
      INFO(element << " bytes aligned to " << alignment);
      REQUIRE(tt::access_width(static_cast<tt::size_type>(element),
                               static_cast<tt::size_type>(alignment)) == expected);
    }
  }
}

TEST_CASE("policy: every tile can be launched and fits the narrowest shared memory", "[policy]") {
  for (const int architecture : {75, 80, 86, 89, 90, 100, 120}) {
    for (int element = 1; element <= tt::max_element_bytes; ++element) {
      for (int access_bytes = tt::access_width(static_cast<tt::size_type>(element));
           access_bytes > 0; access_bytes /= 2) {
        for (const tt::tile_access access :
             {tt::tile_access::whole, tt::tile_access::tall, tt::tile_access::any}) {
          const bool tall = access == tt::tile_access::tall;
          if (tall && !tt::has_tall_policy(element, access_bytes)) { continue; }
          const bool any = tall || access == tt::tile_access::any;
          if (!any && !tt::has_whole_policy(element, access_bytes)) { continue; }
          const tt::tile_policy p = tt::tuned_policy(architecture, element, access_bytes, access);
          INFO("architecture " << architecture << ", elements of " << element << " bytes by "
                               << access_bytes
                               << (tall  ? ", tall"
                                   : any ? ""
                                         : ", whole")
                               << ": " << p.tile_rows << " x " << p.tile_cols << ", " << p.threads
                               << " threads, " << p.load_bytes << " " << p.fill_bytes << " "
                               << p.store_bytes << " bytes");
          REQUIRE(p.tile_rows > 0);
          REQUIRE(p.tile_cols > 0);
          REQUIRE(p.tile_rows * p.tile_cols * element <= 48 * 1024);
          REQUIRE(p.threads > 0);
          REQUIRE(p.threads <= 512);
          REQUIRE(p.blocks_per_sm >= 1);
          REQUIRE(p.threads * p.blocks_per_sm <= 1536);
          REQUIRE(p.strip_width >= 1);
          REQUIRE((p.fetched_bytes == 0 || p.fetched_bytes == 128 || p.fetched_bytes == 256));
          const auto is_access = [](int bytes) {
            return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
          };
          // Elements whose addresses are no multiples of a word go in groups of whole words.
          const bool groups = access_bytes < 4 && access_bytes < element &&
                              p.load_bytes == p.fill_bytes && p.load_bytes % 4 == 0 &&
                              p.load_bytes % element == 0;
          REQUIRE((groups || (is_access(p.load_bytes) && is_access(p.fill_bytes))));
          REQUIRE(is_access(p.store_bytes));
          // Rows of the input tile and of the output tile are made of whole accesses.
          REQUIRE(p.tile_cols * element % p.load_bytes == 0);
          REQUIRE(p.tile_rows * element % p.store_bytes == 0);
          REQUIRE(p.tile_rows * element % tt::sector_bytes == 0);
          REQUIRE(p == tt::tuned_policy(architecture, element, access_bytes, access));
          tt::tile_policy other = p;
          ++other.strip_width;
          REQUIRE(p != other);
        }
      }
    }
  }
}
