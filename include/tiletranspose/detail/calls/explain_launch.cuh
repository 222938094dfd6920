// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a request would launch: the same rules and plans as of the calls, without a launch. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/calls/explain_sectors.cuh>
#include <tiletranspose/detail/calls/movers.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/small/small_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// What a call does with its arguments.
enum class explained { launches, copies, does_nothing, refuses };

/// One axis of a permute: elements, and how many elements lie between two of them.
struct explained_axis {
  size_type extent;
  long long in_stride;
  long long out_stride;
};

/// The axes that a side of a tile runs along, the slowest of that side first.
struct explained_side {
  int count;
  int axes[3];
};

/// What tt::explain answers.
struct explanation {
  explained answer = explained::launches;
  const char* mover = "";  ///< which mover takes the call
  const char* rule = "";   ///< the rule that decided
  const char* why = "";    ///< and what it says
  size_type element_bytes = 0;
  size_type nx = 0;  ///< columns of the input
  size_type ny = 0;  ///< its rows
  size_type batch = 0;
  size_type tile_rows =
      0;  ///< rows of the input that a block moves, 0 where it takes them otherwise
  size_type tile_cols = 0;
  int load_bytes = 0;  ///< that a lane loads at once
  int store_bytes = 0;
  size_type launches = 0;
  size_type blocks = 0;        ///< of all launches
  int threads = 0;             ///< of a block
  size_type shared_bytes = 0;  ///< dynamic ones of a block
  explained_memory memory;

  /// Of a permute alone, which has `rank` in place of nx, ny and batch: the axes that are left when those that stay together
  /// are one, in the order of the input, the slowest first. Axis j of the output is axis order[j]. Where nothing is
  /// launched they are the axes that were given.
  int rank = 0;
  explained_axis axes[16] = {};
  int order[16] = {};
  explained_side tile_sides[2] = {};  ///< along the output's fastest axis, and along the input's
};

namespace detail {

/// The sentence that says which rule refused a request.
inline const char* sentence_of(refusal answer) {
  switch (answer) {
    case refusal::null_pointer:
      return "a pointer is null, or the shapes of input and output do not match";
    case refusal::misaligned_pointer:
      return "a pointer is no multiple of its type's alignment";
    case refusal::short_stride:
      return "a stride is shorter than its row";
    case refusal::too_large:
      return "sizes overflow the address space, or a batch stride is less than a matrix";
    case refusal::shared_tables:
      return "the arrays of pointers overlap";
    case refusal::shared_bytes:
      return "input and output share a byte";
    case refusal::no_square:
      return "a matrix that is transposed in its own memory without scratch must be a square";
    case refusal::second_output:
      return "the second output is null or misaligned, its stride or shape does not suit it, or it "
             "shares a byte";
    case refusal::scratch:
      return "the scratch is misaligned, less than the least, or shares a byte with the data";
    case refusal::axes:
      return "axes repeat, or are none of the array's";
    case refusal::many_axes:
      return "more than 8 axes are left when those that stay together are one";
    case refusal::shared_range:
      return "input and output share memory between their first and last elements";
    case refusal::shared_elements:
      return "an axis of the output does not step over all that the faster ones reach";
    case refusal::shared_planes:
      return "two planes that are written share a byte";
    default:
      return "";
  }
}

inline explanation explain_start(const transpose_request& request) {
  explanation result;
  result.element_bytes = request.in_element;
  result.nx = request.nx;
  result.ny = request.ny;
  result.batch = request.batch;
  return result;
}
/// True where nothing is left to say: nothing to do, or a refusal.
inline bool explain_verdict(explanation& result, verdict answer, refusal why) {
  if (answer == verdict::go) { return false; }
  const bool refused = answer == verdict::refused;
  result.answer = refused ? explained::refuses : explained::does_nothing;
  result.rule = refused ? "refused" : "nothing to do";
  result.why = refused ? sentence_of(why) : "a size is 0";
  return true;
}
inline bool explain_verdict(explanation& result, const transpose_request& request, symmetry s) {
  const verdict answer = examine(request, s);
  return explain_verdict(result, answer,
                         answer == verdict::refused ? find_refusal(request, s) : refusal::none);
}

/// The part of a matrix that a block takes, and the accesses that it does so by.
template <int ElementBytes, int AccessBytes, class Plan>
void describe(explanation& result, tile_mover<ElementBytes, AccessBytes>, const choice& chosen,
              const Plan& plan) {
  const tile_policy policy =
      tuned_policy(tuned_architecture, ElementBytes, AccessBytes, chosen.access);
  result.mover = "tile";
  result.tile_rows = static_cast<size_type>(policy.tile_rows);
  result.tile_cols = plan.arguments.tile_cols;
  result.load_bytes = policy.load_bytes;
  result.store_bytes = policy.store_bytes;
}
template <int ElementBytes, class Plan>
void describe(explanation& result, vector_mover<ElementBytes>, const choice&, const Plan&) {
  result.mover = "tile";
  result.tile_rows = result.tile_cols = vector_shape<ElementBytes>::side;
  result.load_bytes = result.store_bytes = max_access_bytes;
}
template <int ElementBytes, int AccessBytes, class Plan>
void describe(explanation& result, gathered_mover<ElementBytes, AccessBytes>, const choice&,
              const Plan& plan) {
  result.mover = "gathered panel";
  result.store_bytes = static_cast<int>(bytes_of_lane(AccessBytes));
  result.load_bytes = static_cast<int>(panel_item_bytes(AccessBytes, plan.arguments.pads));
}
template <int ElementBytes, class Plan>
void describe(explanation& result, vectorised_mover<ElementBytes>, const choice&, const Plan&) {
  result.mover = "vectorised panel";
  result.load_bytes = result.store_bytes = max_access_bytes;
}
template <int ElementBytes, class Plan>
void describe(explanation& result, word_shifted_mover<ElementBytes>, const choice&,
              const Plan& plan) {
  result.mover = "word-shifted panel";
  result.tile_rows = plan.arguments.panel_rows;
  result.tile_cols = plan.arguments.panel_cols;
  result.load_bytes = result.store_bytes = max_access_bytes;
}

inline void describe_little(explanation& result, small_mover mover, const small_problem& problem,
                            int access_bytes) {
  const int accesses = problem.kept_bytes / access_bytes;
  const bool tiles = mover == small_mover::tiles;
  const int side = small_tile_side(problem, accesses);
  const small_grid grid =
      tiles ? tile_grid(problem, side, small_block_rows(side, problem.kept_bytes, accesses))
            : row_grid(problem, problem.transposes || mover == small_mover::direct, accesses);
  result.mover = tiles ? "little work by tiles" : "little work by elements";
  if (tiles) { result.tile_rows = result.tile_cols = static_cast<size_type>(side); }
  result.load_bytes = result.store_bytes = access_bytes;
  result.launches = 1;
  result.blocks = grid.blocks();
  result.threads = grid.threads;
}

/// Adds up the launches of a plan.
struct launch_counter {
  explanation& result;
  template <class Arguments>
  int operator()(const Arguments&, size_type blocks) const {
    ++result.launches;
    result.blocks += blocks;
    return 0;
  }
};

template <class Mover>
void explain_choice(explanation& result, Mover mover, const transpose_facts& facts,
                    const choice& chosen) {
  plan_launches(mover, facts.problem, facts.batch, facts.element_bytes, chosen,
                [&](const auto& plan) {
                  describe(result, mover, chosen, plan);
                  result.memory = memory_of(mover, facts, chosen, plan);
                  ++result.launches;
                  result.blocks += plan.blocks * plan.blocks_down;
                  result.threads = plan.threads;
                  result.shared_bytes = plan.shared_bytes;
                  return 0;
                });
}
template <int ElementBytes, int AccessBytes>
void explain_choice(explanation& result, little_mover<ElementBytes, AccessBytes>,
                    const transpose_facts& facts, const choice& chosen) {
  describe_little(result, chosen.little,
                  small_transpose(facts.problem, facts.batch, ElementBytes, ElementBytes),
                  AccessBytes);
  result.memory = memory_of(little_mover<ElementBytes, AccessBytes>{}, facts, chosen);
}

template <int ElementBytes, int Alignment>
void explain_problem(explanation& result, const tile_problem& problem, size_type batch,
                     device_facts device) {
  const size_type bits = address_bits_of(problem, Alignment);
  with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    const transpose_facts facts = find_facts(problem, batch, ElementBytes, access, bits, device);
    const choice chosen = choose(facts);
    result.rule = chosen.rule;
    result.why = chosen.why;
    with_mover<ElementBytes, access>(
        chosen, [&](auto mover) { explain_choice(result, mover, facts, chosen); });
  });
}

/// What a call of transpose answers.
template <int ElementBytes, int Alignment>
explanation explain_transpose(const transpose_request& request, device_facts device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, request, symmetry::transpose)) { return result; }
  if (is_vector(request)) {
    result.answer = explained::copies;
    result.mover = "copy";
    result.rule = "vectors";
    result.why = "a vector without gaps is its own transpose";
    return result;
  }
  explain_problem<ElementBytes, Alignment>(result, make_problem(request), request.batch, device);
  return result;
}

/// Rows that the mover for them takes, joined.
inline void describe_rows(explanation& result, const row_problem& joined, size_type alignment,
                          int known) {
  const row_plan plan = plan_rows(joined, alignment, known);
  result.mover = "rows";
  result.rule = joined.reverses ? "reversed rows" : "copied rows";
  result.why = "rows stay rows: they are moved 16 bytes at a time, as whole lines of the output";
  result.load_bytes = result.store_bytes = max_access_bytes;
  if (plan.matrix_blocks == 0) { return; }  // all rows stay where they are
  result.launches += divide_up(joined.batch, larger<size_type>(max_blocks / plan.matrix_blocks, 1));
  result.blocks += plan.matrix_blocks * joined.batch;
  result.threads = static_cast<int>(plan.arguments.threads);
  result.shared_bytes = plan.shared_bytes;
}

/// Rows that stay rows.
template <int ElementBytes, int Alignment>
void explain_rows(explanation& result, const row_problem& rows) {
  const size_type bits = row_bits(rows, Alignment);
  const small_problem work = make_little_rows(rows).problem;
  const small_mover little = choose_small_rows(work);
  const bool is_little = with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    if (little == small_mover::none || !fits_registers(ElementBytes, access)) { return false; }
    result.rule = "little work";
    result.why = "so few elements that latency decides: one element an access";
    describe_little(result, little, work, access);
    return true;
  });
  if (is_little) { return; }
  const row_problem joined = join_rows(rows);
  describe_rows(result, joined, bits | joined.element_bytes, known_element(ElementBytes));
}

/// What a call of reorient answers.
template <int ElementBytes, int Alignment>
explanation explain_reorient(transpose_request request, symmetry s, device_facts device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, request, s)) { return result; }
  if (!transposes(s)) {
    explain_rows<ElementBytes, Alignment>(result, make_rows(request, s));
  } else if (is_vector(request)) {
    explain_rows<ElementBytes, Alignment>(result, make_vector_rows(request, s));
  } else {
    explain_problem<ElementBytes, Alignment>(
        result, run_backwards(make_problem(request), reverses_rows(s), reverses_cols(s)),
        request.batch, device);
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
