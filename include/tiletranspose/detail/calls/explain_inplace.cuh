// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What calls in place would do. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/calls/explain_launch.cuh>
#include <tiletranspose/detail/choose/choose_inplace.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A square in its own memory.
template <int ElementBytes, int Alignment>
void explain_square(explanation& result, const transpose_request& request) {
  const size_type bits = reinterpret_cast<size_type>(request.in) |
                         request.in_stride * ElementBytes | request.nx * ElementBytes;
  if (is_little_square(request.nx, request.in_stride * ElementBytes, ElementBytes,
                       bits % max_access_bytes == 0) &&
      fits_registers(ElementBytes, access_width(ElementBytes, Alignment))) {
    result.mover = "little square";
    result.rule = "little work";
    result.why = "so few elements that latency decides: tiles trade places element by element";
    result.tile_rows = result.tile_cols = square_tile_side(request.nx, ElementBytes);
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
  if (explain_verdict(result, examine_inplace(request, s))) { return result; }
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
    constexpr int known = known_element(ElementBytes);
    if (joined.from_last_row && joined.reverses && joined.ny % 2 == 1) {  // as launch_rows has it
      row_problem middle = joined;
      middle.ny = 1;
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
  if (answer == verdict::go) {
    answer = examine_scratch(request, temp, temp_bytes,
                             least_scratch(request.nx, request.ny, ElementBytes));
  }
  if (explain_verdict(result, answer)) { return result; }
  if (request.nx == 1 || request.ny == 1) {
    result.answer = explained::does_nothing;
    result.rule = "vectors";
    result.why = "a vector without gaps is its own transpose";
  } else if (request.nx == request.ny) {
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
