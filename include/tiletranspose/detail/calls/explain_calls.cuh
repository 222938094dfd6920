// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What calls would launch, but permutes: explain_X asks the rules and makes the plans that run_X does, without a launch.
/// Plain C++17, host only.

#pragma once

#include <cstddef>

#include <tiletranspose/detail/calls/explain_movers.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/tile/fused_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline explanation explain_start(const transpose_request& request) {
  explanation result;
  result.element_bytes = request.in_element;
  result.nx = request.nx;
  result.ny = request.ny;
  result.batch = request.batch;
  return result;
}
/// True where nothing is left to say: nothing to do, or a refusal.
inline bool explain_verdict(explanation& result, verdict answer) {
  if (answer == verdict::go) { return false; }
  const bool refused = answer == verdict::refused;
  result.answer = refused ? explained::refuses : explained::does_nothing;
  say(result, "", refused ? "refused" : "nothing to do", answer.why);
  return true;
}

template <class Mover>
void explain_choice(explanation& result, Mover mover, const transpose_facts& facts,
                    const choice& chosen) {
  plan_launches(mover, facts.problem, facts.element_bytes, chosen, [&](const auto& plan) {
    describe(result, mover, facts, chosen, plan);
    return launch_counter{result}(plan);
  });
}

template <int ElementBytes, int Alignment>
void explain_problem(explanation& result, const batch_problem& problem, explained_device device) {
  const size_type bits = address_bits_of(problem, Alignment);
  with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    const transpose_facts facts{problem, ElementBytes, access, bits, device.most_shared_bytes};
    const choice chosen = choose(facts);
    say(result, "", chosen.rule, chosen.why);
    with_mover<ElementBytes, access>(
        chosen, [&](auto mover) { explain_choice(result, mover, facts, chosen); });
  });
}

/// What a call of transpose answers.
template <int ElementBytes, int Alignment>
explanation explain_transpose(const transpose_request& request, explained_device device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine(request))) { return result; }
  if (is_vector(request)) {
    result.answer = explained::copies;
    say(result, "copy", "vectors", "a vector without gaps is its own transpose");
  } else {
    explain_problem<ElementBytes, Alignment>(result, make_problem(request), device);
  }
  return result;
}

/// Rows that the mover for them takes, joined. `bits` and `known` as plan_rows has them.
inline void describe_rows(explanation& result, const row_problem& joined, size_type bits,
                          int known) {
  say(result, "rows", joined.reverses ? "reversed rows" : "copied rows",
      "rows stay rows: they are moved 16 bytes at a time, as whole lines of the output");
  result.load_bytes = result.store_bytes = max_access_bytes;
  plan_rows(joined, bits, known,
            [&](row_choice, const auto& plan) { return launch_counter{result}(plan); });
}

/// Rows that stay rows, in place too.
template <int ElementBytes, int Alignment>
void explain_rows(explanation& result, const row_problem& rows) {
  const size_type bits = row_bits(rows, Alignment);
  const little_rows work = choose_little_rows(rows);
  const row_problem joined = join_rows(rows);
  if (work.access > 0) {
    describe_little(result, work.mover, work.problem, work.access);
    say(result, "rows", "whole accesses",
        "rows are whole accesses on both sides, of 16 bytes or of several elements: threads move "
        "these one by one");
    return;
  }
  with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    if (work.mover != small_mover::none && fits_registers(ElementBytes, access)) {
      say(result, "", "little work", "so few elements that latency decides: one element an access");
      describe_little(result, work.mover, work.problem, access);
    } else if (reverses_in_panels(ElementBytes) && !rows.in_place() &&
               goes_in_panels(joined, access)) {
      describe_panels(
          result, relocation_of(joined), access, "reversed short rows",
          "short rows of elements that are no words: a panel's segments run along many rows");
    } else {
      describe_rows(result, joined, bits, known_element(ElementBytes));
    }
  });
}

/// What a call of reorient answers.
template <int ElementBytes, int Alignment>
explanation explain_reorient(transpose_request request, symmetry s, explained_device device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine(request, s))) { return result; }
  if (!transposes(s)) {
    explain_rows<ElementBytes, Alignment>(result, make_rows(request, s));
  } else if (is_vector(request)) {
    explain_rows<ElementBytes, Alignment>(result, make_vector_rows(request, s));
  } else {
    explain_problem<ElementBytes, Alignment>(
        result, run_backwards(make_problem(request), reverses_rows(s), reverses_cols(s)), device);
  }
  return result;
}

/// The kernel of planes. Lanes load one side as segments of memory, and store the other.
template <class Shape>
void describe_planes(explanation& result, Shape, const plane_request& request) {
  int struct_access = Shape::access;
  int plane_access = Shape::access;
  if (Shape::in_registers) {
    struct_access = access_width(4 * Shape::words);
    plane_access = access_width(4 * Shape::plane_words);
    say(result, "planes", "planes apart",
        "planes do not lie equally far apart: warps move them and the structures as segments, and "
        "lanes exchange elements");
  } else {
    say(result, "planes", "large structures",
        "planes do not lie equally far apart, and registers do not hold the structures of a warp, "
        "or some address is no multiple of its accesses: they are moved one access at a time");
  }
  result.load_bytes = request.to_planes ? struct_access : plane_access;
  result.store_bytes = request.to_planes ? plane_access : struct_access;
  plan_planes<Shape>(request.structures, launch_counter{result});
}

/// What a call answers, by the type of its elements.
template <bool ToPlanes, class T, class Element, std::size_t Planes>
explanation explain_planes(const void* structs, Element* const (&planes)[Planes], size_type n,
                           explained_device device) {
  const plane_request request = make_planes<ToPlanes, T>(structs, planes, n);
  explanation result;
  result.element_bytes = sizeof(T);
  result.nx = ToPlanes ? Planes : n;
  result.ny = ToPlanes ? n : Planes;
  result.batch = 1;
  if (explain_verdict(result, examine(request))) { return result; }
  batch_problem problem{};
  if (is_transpose(request, problem)) {
    explain_problem<sizeof(T), alignof(T)>(result, problem, device);
  } else {
    with_plane_shape<sizeof(T), alignof(T), static_cast<int>(Planes)>(
        request, [&](auto shape) { describe_planes(result, shape, request); });
  }
  return result;
}

// Fused calls.

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

/// What a fused transpose that may go would launch.
template <fusion Kind, class In, class Out>
void explain_fused_problem(explanation& result, const batch_problem& problem,
                           const row_major_copy& copy, explained_device device) {
  const auto describe_tile = [&](auto shape) {
    using tile = decltype(shape);
    say(result, "fused tile", "fused tiles", sentence_of(tile::loads));
    result.tile_rows = tile::tile_rows;
    result.tile_cols = tile::tile_cols;
    result.load_bytes = tile::loads == fused_loads::elements ? tile::in_access
                        : tile::loads_unaligned              ? 4
                                                             : tile::load_bytes;
    result.store_bytes =
        tile::combines ? tile::combined * tile::out_bytes : static_cast<int>(tile::read_bytes);
    plan_fused<tile>(problem, copy, {0, 0}, launch_counter{result});
  };
  const little_operation work = choose_little_operation<Kind, In, Out>(problem);
  if (work.mover != small_mover::none) {
    using kept = std::conditional_t<calls_as_stored(Kind, sizeof(In), sizeof(Out)), In, Out>;
    say(result, "", "little work", "so few elements that latency decides: one element an access");
    describe_little(result, work.mover, work.problem, access_width(sizeof(kept), alignof(kept)));
    result.load_bytes = access_width(sizeof(In), alignof(In));
    result.store_bytes = access_width(sizeof(Out), alignof(Out));
  } else {
    with_fused_shape<Kind, In, Out>(
        problem, copy, [&] { return device.most_shared_bytes; }, describe_tile);
  }
}

/// What a fused call answers; `copy` is the second output of a call with two, its stride in elements.
template <fusion Kind, class In, class Out>
explanation explain_fused(const transpose_request& request, explained_device device,
                          void* copy = nullptr, size_type copy_stride = 0) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine(request))) { return result; }
  if (Kind == fusion::dual && explain_verdict(result, examine_copy(request, copy, copy_stride))) {
    return result;
  }
  explain_fused_problem<Kind, In, Out>(result, make_problem(request),
                                       {copy, copy_stride * sizeof(Out)}, device);
  return result;
}

// Calls in place.

/// A square in its own memory.
template <int ElementBytes, int Alignment>
void explain_square(explanation& result, const transpose_request& request) {
  const size_type side = request.nx;
  const size_type stride_bytes = request.in_stride * ElementBytes;
  const size_type bits = reinterpret_cast<size_type>(request.in) | stride_bytes;
  const bool aligned = (bits | side * ElementBytes) % max_access_bytes == 0;
  const bool whole = with_access<ElementBytes, Alignment>(bits, [&](auto width) {
    return with_swap_shape<ElementBytes, decltype(width)::value>(
        side * side, side, bits, explained_device{}.most_shared_bytes,
        [](auto tile) { return decltype(tile)::whole; });
  });
  if (is_little_square(side, stride_bytes, ElementBytes, aligned) &&
      fits_registers(ElementBytes, access_width(ElementBytes, Alignment))) {
    result.tile_rows = result.tile_cols = square_tile_side(side, ElementBytes);
    say(result, "little square", "little work",
        "so few elements that latency decides: tiles trade places element by element");
  } else if (whole) {
    say(result, "tiles that trade places", "whole squares",
        "rows of whole accesses of 16 bytes: tiles trade places, in one pass");
  } else {
    say(result, "tiles that trade places", "any squares",
        "rows start anywhere, or many long ones off lines, or elements are no accesses: tiles of "
        "bytes trade places, in one pass");
  }
}

/// What a call in place answers that has no scratch.
template <int ElementBytes, int Alignment>
explanation explain_reorient_inplace(const transpose_request& request, symmetry s) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine_inplace(request, s))) { return result; }
  const symmetry flip = transposes(s) ? compose(s, symmetry::transpose) : s;
  const row_problem rows = make_rows(request, flip);
  if (request.nx * request.ny == 1 || (!transposes(s) && rows.stay())) {
    explain_verdict(result, {verdict::nothing_to_do, "the matrix stays as it is"});
  } else if (transposes(s)) {
    explain_square<ElementBytes, Alignment>(result, request);
    if (flip != symmetry::identity) { result.why = "a square is transposed, and then flipped"; }
  } else {
    explain_rows<ElementBytes, Alignment>(result, rows);
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
    say(result, "", "vectors", "a vector without gaps is its own transpose");
  } else if (request.nx == request.ny) {
    explain_square<ElementBytes, Alignment>(result, request);
  } else if (temp_bytes >= request.nx * request.ny * ElementBytes) {
    say(result, "out of place and back", "scratch for the whole matrix",
        "it is transposed into the scratch, as out of place, and copied back");
  } else {
    say(result, "rectangle in place", "less scratch than the matrix",
        "rows or slabs of rows are permuted, then columns; the device decides how");
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
