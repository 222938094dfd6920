// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What fused calls would launch. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/calls/explain_launch.cuh>
#include <tiletranspose/detail/tile/fused_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The sentence that says how a tile's rows are loaded.
inline const char* sentence_of(fused_loads loads) {
  switch (loads) {
    case fused_loads::vectors:
      return "rows of the input start at multiples of 16 bytes: a lane loads several elements";
    case fused_loads::shifted:
      return "rows start anywhere: a lane loads several elements, and has the next one's for those "
             "that it lacks";
    case fused_loads::dealt:
      return "rows start anywhere: a lane loads what one store of the second output takes";
    case fused_loads::elements:
      return "a lane loads one element, or a part of one";
    default:
      return "elements that start inside of words are loaded as the words that they lie in";
  }
}

/// True, with the explanation, where a fused call is little work.
template <fusion Kind, class In, class Out>
bool explain_little_fused(explanation& result, const batch_problem& problem) {
  constexpr int in_bytes = sizeof(In);
  constexpr int out_bytes = sizeof(Out);
  constexpr int widest = larger(in_bytes, out_bytes);
  if constexpr (loads_together<In> && loads_together<Out> &&
                has_little_work(widest, widest, true)) {
    const little_operation work(Kind, problem, address_bits_of(problem, 0), in_bytes, out_bytes);
    if (work.mover == small_mover::none) { return false; }
    constexpr bool waits = calls_as_stored(Kind, in_bytes, out_bytes);
    using kept = std::conditional_t<waits, In, Out>;
    result.rule = "little work";
    result.why = "so few elements that latency decides: one element an access";
    describe_little(result, work.mover, work.problem, access_width(sizeof(kept), alignof(kept)));
    result.load_bytes = access_width(in_bytes, alignof(In));
    result.store_bytes = access_width(out_bytes, alignof(Out));
    return true;
  } else {
    return false;
  }
}

/// What a fused transpose that may go would launch.
template <fusion Kind, class In, class Out>
void explain_fused_problem(explanation& result, const batch_problem& problem,
                           const row_major_copy& copy, explained_device device) {
  if (explain_little_fused<Kind, In, Out>(result, problem)) { return; }
  const auto describe_tile = [&](auto shape) {
    using tile = decltype(shape);
    result.mover = "fused tile";
    result.rule = "fused tiles";
    result.why = sentence_of(tile::loads);
    result.tile_rows = tile::tile_rows;
    result.tile_cols = tile::tile_cols;
    result.load_bytes = tile::loads == fused_loads::elements ? tile::in_access
                        : tile::loads_unaligned              ? 4
                                                             : tile::load_bytes;
    result.store_bytes =
        tile::combines ? tile::combined * tile::out_bytes : static_cast<int>(tile::read_bytes);
    return plan_fused<tile>(problem, copy, {0, 0}, launch_counter{result});
  };
  with_fused_shape<Kind, In, Out>(
      problem, copy, [&] { return device.most_shared_bytes; }, describe_tile);
}

/// What a fused call answers; `copy` is the second output of a call with two.
template <fusion Kind, class In, class Out>
explanation explain_fused(const transpose_request& request, const row_major_copy& copy,
                          explained_device device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine(request))) { return result; }
  if (Kind == fusion::dual &&
      explain_verdict(result, examine_copy(request, copy.data, copy.stride_bytes / sizeof(Out)))) {
    return result;
  }
  explain_fused_problem<Kind, In, Out>(result, make_problem(request), copy, device);
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
