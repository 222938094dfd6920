// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What tt::explain says of a mover's plan: the part of a matrix that a block takes, the accesses, and what these ask of
/// memory: the sectors that they are expected to touch, in the mean of where rows may start, and the conflict ways that
/// are proved or tested. Plain C++17, host only.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/calls/movers.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/small/small_kernel.cuh>
#include <tiletranspose/explanation.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What tt::explain says in words.
inline void say(explanation& result, const char* mover, const char* rule, const char* why) {
  result.mover = mover;
  result.rule = rule;
  result.why = why;
}

/// Adds up the launches of a plan, whose blocks are like those of the first.
struct launch_counter {
  explanation& result;
  template <class Arguments>
  int operator()(const launch_plan<Arguments>& plan) const {
    if (result.launches++ == 0) {
      result.threads = plan.threads;
      result.shared_bytes = plan.shared_bytes;
    }
    result.blocks += plan.blocks * plan.blocks_down * plan.blocks_deep;
    return 0;
  }
};

/// Sectors that hold `bytes` bytes from byte `at` on.
constexpr size_type segment_sectors(size_type at, size_type bytes) {
  return divide_up(at + bytes, sector_bytes) - at / sector_bytes;
}
/// Sectors of a warp's requests: `count` aligned accesses of `width` bytes, `step` bytes apart, from byte `at` on.
inline size_type lane_sectors(size_type at, size_type count, size_type width, size_type step) {
  size_type sectors = 0;
  for (size_type lanes = 32; count > 0; count -= lanes, at += lanes * step) {
    lanes = smaller(lanes, count);
    sectors += step < sector_bytes ? segment_sectors(at, (lanes - 1) * step + width) : lanes;
  }
  return sectors;
}

/// Sectors that are touched for each one that a row of `bytes` bytes fills, in the mean of where rows may start.
/// \param cut    rows are cut into segments of so many bytes
/// \param count  count(at, length) are those of a segment of `length` bytes from byte `at` of a sector on
template <class Count>
double mean_sectors(const transpose_facts& facts, bool input, size_type bytes, size_type cut,
                    Count count) {
  const bool tables = facts.pointer_arrays;
  const size_type stride = input ? facts.in_stride_bytes : facts.out_stride_bytes;
  const size_type batch = input ? facts.in_batch_bytes : facts.out_batch_bytes;
  const auto address = reinterpret_cast<size_type>(input ? facts.in : facts.out);
  const auto access = static_cast<size_type>(facts.access_bytes);
  const size_type further = tables ? access : facts.batch > 1 ? batch : 0;
  const size_type bits = sector_bytes | stride | cut | further;
  const size_type step = bits & (0 - bits);  // the least distance between two starts
  size_type sum = 0;
  for (size_type at = (tables ? batch : address) % step; at < sector_bytes; at += step) {
    sum += bytes / cut * count(at, cut) + (bytes % cut > 0 ? count(at, bytes % cut) : 0);
  }
  return static_cast<double>(sum * step) / static_cast<double>(bytes);
}
inline double mean_sectors(const transpose_facts& facts, bool input, size_type bytes) {
  return mean_sectors(facts, input, bytes, bytes, segment_sectors);
}
/// Sectors of requests for `request` bytes by accesses of `width` bytes, from byte `at` on; elements before the first whole
/// access and behind the last go singly.
inline size_type request_sectors(size_type at, size_type bytes, size_type width,
                                 size_type request) {
  const size_type end = at + bytes;
  const size_type first = smaller(divide_up(at, width) * width, end);
  const size_type last = larger(end / width * width, first);
  size_type sectors = (first != at ? 1 : 0) + (last != end ? 1 : 0);
  for (size_type done = first; done < last; done += request) {
    sectors += segment_sectors(done, smaller(request, last - done));
  }
  return sectors;
}
/// Of rows of the output that are cut at sectors, by stores of `store_bytes` and narrower ones at both ends.
inline double mean_output_sectors(const transpose_facts& facts, int store_bytes) {
  const auto store = static_cast<size_type>(larger(store_bytes, facts.access_bytes));
  const size_type bytes = facts.column_bytes();
  return mean_sectors(facts, false, bytes, ~(~size_type{0} >> 1), [&](size_type at, size_type) {
    return request_sectors(at, bytes, store, bytes);
  });
}

/// Of a row of a tile.
template <class Shape>
size_type tile_row_sectors(size_type at, size_type bytes) {
  constexpr size_type load = Shape::load_bytes;
  if constexpr (Shape::deals_loads) {
    return segment_sectors(at, bytes);
  } else if constexpr (Shape::shifts_loads) {
    size_type sectors = 0;  // of one word of each load after the other
    for (size_type word = 0; word < load + 4; word += 4) {
      sectors += lane_sectors(at / 4 * 4 + word, divide_up(bytes, load), 4, load);
    }
    return sectors;
  } else {
    return lane_sectors(at, bytes / load, load, load);
  }
}

/// Says of the launches of a transpose, which are alike, what its mover does, and adds them up.
template <int ElementBytes, int AccessBytes>
struct choice_describer {
  explanation& result;
  const transpose_facts& facts;
  const choice& chosen;

  template <class Arguments>
  int operator()(const launch_plan<Arguments>& plan) const {
    describe(plan.arguments);
    return launch_counter{result}(plan);
  }

 private:
  void describe(const tile_arguments& tile) const {
    with_tile_shape<ElementBytes, AccessBytes>(chosen, [&](auto tuned) {
      using shape = typename decltype(tuned)::type;
      result.mover = "tile";
      result.tile_rows = shape::tile_rows;
      result.tile_cols = tile.tile_cols;
      result.load_bytes = decltype(tuned)::policy.load_bytes;
      result.store_bytes = decltype(tuned)::policy.store_bytes;
      // Rows that are read again: tiles reach back by their skew or, where segments are joined, forward.
      const bool skewed = tile.sector_mask != 0;
      const size_type tiles = divide_up(facts.ny, shape::tile_rows);
      const size_type again = skewed ? shape::skew_rows * (tiles - (tile.cols_touch ? 0 : 1)) : 0;
      const size_type row_bytes = facts.row_bytes();
      result.memory = {0, tile.cols_touch ? 1 : mean_output_sectors(facts, shape::store_bytes),
                       explained_bound::proved, 1,
                       larger(shape::drain_ways, shape::next_word_ways)};
      // Else the ends of rows, which are loaded singly, weigh much.
      constexpr bool has_ends = shape::deals_loads || shape::shifts_loads;
      if (!has_ends || tile.rows_touch || row_bytes >= 2048) {
        result.memory.sectors_read =
            (1 + static_cast<double>(again) / static_cast<double>(facts.ny)) *
            mean_sectors(facts, true, row_bytes, tile.tile_cols * ElementBytes,
                         tile_row_sectors<shape>);
      }
    });
  }
  void describe(const matrix_problem&) const {
    using tile = vector_shape<ElementBytes>;
    result.mover = "tile";
    result.tile_rows = result.tile_cols = tile::tile_cols;
    result.load_bytes = result.store_bytes = max_access_bytes;
    result.memory = {mean_sectors(facts, true, vector_tile_row_bytes),
                     mean_sectors(facts, false, vector_tile_row_bytes), explained_bound::proved, 1,
                     tile::drain_ways};
  }
  void describe(const axes_tile_arguments<int>&) const {
    result.mover = "tile";
    result.tile_rows = result.tile_cols = static_cast<size_type>(chosen.micro_side);
    result.load_bytes = result.store_bytes = access_width(micro_elements * facts.element());
  }
  void describe(const vectorised_arguments& panel) const {
    result.mover = "vectorised panel";
    result.load_bytes = result.store_bytes = max_access_bytes;
    result.memory = {mean_sectors(facts, true, panel.in_side.segment.divisor * max_access_bytes),
                     mean_sectors(facts, false, panel.out_side.segment.divisor * max_access_bytes),
                     explained_bound::tested, 5, 5};
  }
  void describe(const word_shifted_arguments& panel) const {
    const word_shifted_shape shape = word_shifted_shape_of(ElementBytes, chosen.panels);
    const size_type cols = shape.joins_rows ? facts.nx : panel.panel_cols;
    const size_type column = panel.panel_matrices * panel.panel_rows * facts.element();
    const size_type row = cols * (shape.joins_rows ? column : facts.element());
    const double again = static_cast<double>(shape.skew_rows()) / panel.panel_rows;
    result.mover = "word-shifted panel";
    result.tile_rows = panel.panel_rows;
    result.tile_cols = panel.panel_cols;
    result.load_bytes = result.store_bytes = max_access_bytes;
    result.memory = {(1 + again) * mean_sectors(facts, true, row),
                     shape.joins_cols ? mean_sectors(facts, false, cols * column)
                                      : mean_output_sectors(facts, max_access_bytes),
                     explained_bound::missing, 0, 0};
  }
  void describe(const axes_panel_arguments& panel) const {
    const size_type loads = panel_item_bytes(AccessBytes, panel.pads);
    const size_type stores = bytes_of_lane(AccessBytes);
    result.mover = "gathered panel";
    result.load_bytes = static_cast<int>(loads);
    result.store_bytes = static_cast<int>(stores);
    // Of warps that go on to the next segment nothing is said.
    const auto is_told = [](unsigned lanes) { return lanes % 32 == 0 || 32 % lanes == 0; };
    if (!is_told(panel.from.lanes.divisor) || !is_told(panel.to.lanes.divisor)) { return; }
    const auto sectors = [&](bool input, const side_segments& side, size_type width) {
      const size_type length = side.length * size_type{AccessBytes};
      const size_type request = smaller<size_type>(side.lanes.divisor, 32) * width;
      return mean_sectors(facts, input, length, length, [&](size_type at, size_type bytes) {
        return request_sectors(at, bytes, input ? 1 : width, request);
      });
    };
    result.memory = {sectors(true, panel.from, loads), sectors(false, panel.to, stores),
                     explained_bound::missing, 0, 0};
    if (panel.skew > 0) {  // what two panels stage, and no sector twice
      result.memory.sectors_read *=
          1 + static_cast<double>(panel.skew) / panel.split_part[panel.to.clip];
      result.memory.sectors_written = 1;
    }
  }
};

/// Panels along several axes, by accesses of a width.
inline void describe_panels(explanation& result, const relocation& move, int access,
                            const char* rule, const char* why) {
  const auto bytes = static_cast<unsigned>(access);
  say(result, "panels along several axes", rule, why);
  result.store_bytes = static_cast<int>(bytes_of_lane(bytes));
  plan_axes_panels(as_accesses(move, static_cast<size_type>(access)), [&](const auto& plan) {
    result.load_bytes = static_cast<int>(panel_item_bytes(bytes, plan.arguments.pads));
    return launch_counter{result}(plan);
  });
}

inline void describe_little(explanation& result, small_mover mover, const small_problem& problem,
                            int access_bytes) {
  const int accesses = problem.kept_bytes / access_bytes;
  const small_batch<matrices::one> any{};
  result.mover = "little work by elements";
  result.load_bytes = result.store_bytes = access_bytes;
  if (mover != small_mover::tiles) {
    const bool divides = problem.transposes || mover == small_mover::direct;
    launch_counter{result}(plan_small_rows(problem, any, divides, accesses));
    return;
  }
  const int side = small_tile_side(problem, accesses);
  const bool many = side == 32 && are_many_tiles(problem) &&
                    has_many_tiles(problem.element_bytes, problem.kept_bytes, accesses);
  const int block_rows = small_block_rows(side, problem.kept_bytes, accesses, many);
  result.mover = "little work by tiles";
  result.tile_rows = result.tile_cols = static_cast<size_type>(side);
  launch_counter{result}(plan_small_tiles(problem, any, side, block_rows));
}

/// Of the memory of single elements nothing is said.
template <int ElementBytes, int AccessBytes>
void explain_little(explanation& result, const transpose_facts& facts, const choice& chosen) {
  const small_problem problem = little_problem(facts);
  describe_little(result, chosen.little, problem, AccessBytes);
  if (chosen.little != small_mover::tiles) { return; }
  using stored = typename copy_operation<ElementBytes, AccessBytes>::stored;
  const int side = small_tile_side(problem, ElementBytes / AccessBytes);
  const auto sectors = [&](bool input, size_type extent) {
    return mean_sectors(facts, input, extent * ElementBytes,
                        static_cast<size_type>(side) * ElementBytes,
                        [](size_type at, size_type bytes) {
                          return ElementBytes / AccessBytes *  // parts of elements
                                 lane_sectors(at, bytes / ElementBytes, AccessBytes, ElementBytes);
                        });
  };
  const auto ways_of = [](auto tile_side, bool down) {
    constexpr int tile = decltype(tile_side)::value;
    const auto lane_map = [&](int lane) {
      return tile_coordinate{down ? lane % tile : lane / tile, down ? lane / tile : lane % tile};
    };
    return conflict_ways(padded_layout<stored, tile, tile, element_padding<stored, tile>()>{},
                         lane_map, access_width(sizeof(stored), alignof(stored)));
  };
  const auto ways = [&](bool down) {
    return side == 16 ? ways_of(std::integral_constant<int, 16>{}, down)
                      : ways_of(std::integral_constant<int, 32>{}, down);
  };
  result.memory = {sectors(true, facts.nx), sectors(false, facts.ny), explained_bound::proved,
                   ways(false), ways(true)};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
