// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What fused calls and calls in place would launch. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/calls/explain_launch.cuh>
#include <tiletranspose/detail/choose/choose_inplace.cuh>
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

/// True where a load has several elements.
constexpr bool loads_several(fused_loads loads) {
  return loads == fused_loads::vectors || loads == fused_loads::shifted ||
         loads == fused_loads::dealt;
}

/// True, with the explanation, where a fused call is little work.
template <fusion Kind, class In, class Out>
bool explain_little_fused(explanation& result, const tile_problem& problem, size_type batch) {
  constexpr int in_bytes = sizeof(In);
  constexpr int out_bytes = sizeof(Out);
  constexpr int widest = larger(in_bytes, out_bytes);
  if constexpr (loads_together<In> && loads_together<Out> &&
                has_little_work(widest, widest, true)) {
    const little_operation work(problem, batch, address_bits_of(problem, 0), in_bytes, out_bytes);
    if (work.mover == small_mover::none) { return false; }
    using kept = typename either<Kind == fusion::accumulate, In, Out>::type;
    small_problem little = work.problem;
    little.element_bytes = sizeof(kept);
    result.rule = "little work";
    result.why = "so few elements that latency decides: one element an access";
    describe_little(result, work.mover, little, access_width(sizeof(kept), alignof(kept)));
    result.load_bytes = access_width(in_bytes, alignof(In));
    result.store_bytes = access_width(out_bytes, alignof(Out));
    return true;
  } else {
    return false;
  }
}

/// What a fused call answers; `copy` is the second output of a call with two.
template <fusion Kind, class In, class Out>
explanation explain_fused(const transpose_request& request, const row_major_copy& copy,
                          device_facts device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, request, symmetry::transpose)) { return result; }
  if (Kind == fusion::dual &&
      explain_verdict(result, examine_copy(request, copy.data, copy.stride_bytes / sizeof(Out)),
                      refusal::second_output)) {
    return result;
  }
  const tile_problem problem = make_problem(request);
  if (explain_little_fused<Kind, In, Out>(result, problem, request.batch)) { return result; }
  const auto add_launch = [&](const fused_arguments&, size_type blocks, size_type matrices) {
    ++result.launches;
    result.blocks += blocks * matrices;
    return 0;
  };
  const auto describe_tile = [&](auto shape) {
    using tile = decltype(shape);
    result.mover = "fused tile";
    result.rule = "fused tiles";
    result.why = sentence_of(tile::loads);
    result.tile_rows = tile::rows;
    result.tile_cols = tile::cols;
    result.load_bytes = tile::loads == fused_loads::elements ? access_width(sizeof(In), alignof(In))
                        : loads_several(tile::loads)         ? tile::load_bytes
                                                             : 4;
    result.store_bytes =
        tile::combines ? tile::combined * tile::out_bytes : static_cast<int>(tile::read_bytes);
    result.threads = tile::threads;
    result.shared_bytes = dynamic_bytes_of<tile>;
    return plan_fused<tile, Kind, In, Out>(problem, request.batch, copy, {0, 0}, add_launch);
  };
  with_fused_shape<Kind, In, Out>(
      problem, request.batch, copy, [&] { return device.most_shared_bytes; }, describe_tile);
  return result;
}

/// A square in its own memory.
template <int ElementBytes, int Alignment>
void explain_square(explanation& result, const transpose_request& request) {
  const size_type bits = reinterpret_cast<size_type>(request.in) |
                         request.in_stride * ElementBytes | request.nx * ElementBytes;
  if (is_little_square(request.nx, ElementBytes, bits % max_access_bytes == 0) &&
      fits_registers(ElementBytes, access_width(ElementBytes, Alignment))) {
    result.mover = "little square";
    result.rule = "little work";
    result.why = "so few elements that latency decides: tiles of 16 x 16 elements trade places";
    result.tile_rows = result.tile_cols = 16;
    return;
  }
  const bool whole = access_width(ElementBytes) == ElementBytes && bits % max_access_bytes == 0;
  result.mover = "tiles that trade places";
  result.rule = whole ? "whole squares" : "any squares";
  result.why = whole ? "rows of whole accesses of 16 bytes: tiles trade places, in one pass"
                     : "rows start anywhere, or elements are no accesses: tiles of bytes trade "
                       "places, in one pass";
}

/// What a call in place answers that has no scratch.
template <int ElementBytes, int Alignment>
explanation explain_reorient_inplace(const transpose_request& request, symmetry s) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine_inplace(request, s), find_inplace_refusal(request, s))) {
    return result;
  }
  const symmetry flip = transposes(s) ? compose(s, symmetry::transpose) : s;
  if (request.nx * request.ny == 1 || s == symmetry::identity) {
    result.answer = explained::does_nothing;
    result.rule = "nothing to do";
    result.why = "the matrix stays as it is";
  } else if (transposes(s)) {
    explain_square<ElementBytes, Alignment>(result, request);
    if (flip != symmetry::identity) { result.why = "a square is transposed, and then flipped"; }
  } else {
    const row_problem rows = make_rows(request, flip);
    const row_problem joined = join_rows(rows);
    const size_type alignment = row_bits(rows, Alignment) | joined.element_bytes;
    constexpr int known = known_element(ElementBytes, Alignment);
    if (joined.from_last_row && joined.reverses && joined.rows % 2 == 1) {  // as launch_rows has it
      row_problem middle = joined;
      middle.rows = 1;
      middle.from_last_row = false;
      describe_rows(result, middle, alignment, known);
    }
    describe_rows(result, joined, alignment, known);
  }
  return result;
}

/// What transpose_inplace with scratch answers.
template <int ElementBytes, int Alignment>
explanation explain_with_scratch(const transpose_request& request, const void* temp,
                                 size_type temp_bytes) {
  explanation result = explain_start(request);
  verdict answer = examine_inplace(request, symmetry::identity);
  refusal why = find_inplace_refusal(request, symmetry::identity);
  const bool is_array = request.nx == 1 || request.ny == 1;
  const bool is_square = request.nx == request.ny;
  if (answer == verdict::go) {
    why = refusal::scratch;
    answer = examine_scratch(
        request, temp, temp_bytes,
        is_array || is_square ? 1 : least_scratch(request.nx, request.ny, ElementBytes));
  }
  if (explain_verdict(result, answer, why)) { return result; }
  if (is_array) {
    result.answer = explained::does_nothing;
    result.rule = "vectors";
    result.why = "a vector without gaps is its own transpose";
  } else if (is_square) {
    explain_square<ElementBytes, Alignment>(result, request);
  } else if (temp_bytes >= request.nx * request.ny * ElementBytes) {
    result.mover = "out of place and back";
    result.rule = "scratch for the whole matrix";
    result.why = "it is transposed into the scratch, as out of place, and copied back";
  } else {
    result.mover = "rectangle in place";
    result.rule = "less scratch than the matrix";
    result.why = "rows or slabs of rows are permuted, then columns; the device decides how";
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
