// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a request would launch: the same rules and plans as of the calls, without a launch. Plain C++17, host only.

#pragma once

#include <cstddef>

#include <tiletranspose/detail/calls/explain_movers.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>

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
  plan_launches(mover, facts.problem, facts.batch, facts.element_bytes, chosen,
                [&](const auto& plan) {
                  describe(result, mover, facts, chosen, plan);
                  return launch_counter{result}(plan);
                });
}

template <int ElementBytes, int Alignment>
void explain_problem(explanation& result, const tile_problem& problem, size_type batch,
                     explained_device device) {
  const size_type bits = address_bits_of(problem, Alignment);
  with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    const transpose_facts facts{problem, batch, ElementBytes,
                                access,  bits,  device.most_shared_bytes};
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
    return result;
  }
  explain_problem<ElementBytes, Alignment>(result, make_problem(request), request.batch, device);
  return result;
}

/// Rows that the mover for them takes, joined.
inline void describe_rows(explanation& result, const row_problem& joined, size_type alignment,
                          int known) {
  const row_plan plan(joined, alignment, known);
  say(result, "rows", joined.reverses ? "reversed rows" : "copied rows",
      "rows stay rows: they are moved 16 bytes at a time, as whole lines of the output");
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
  const row_problem joined = join_rows(rows);
  const bool is_done = with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    if (little != small_mover::none && fits_registers(ElementBytes, access)) {
      say(result, "", "little work", "so few elements that latency decides: one element an access");
      describe_little(result, little, work, access);
      return true;
    }
    if (!reverses_in_panels(ElementBytes) || !goes_in_panels(joined, access)) { return false; }
    describe_panels(
        result, relocation_of(joined), access, "reversed short rows",
        "short rows of elements that are no words: a panel's segments run along many rows");
    return true;
  });
  if (is_done) { return; }
  describe_rows(result, joined, bits | joined.element_bytes, known_element(ElementBytes));
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
        result, run_backwards(make_problem(request), reverses_rows(s), reverses_cols(s)),
        request.batch, device);
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
  result.threads = Shape::threads;
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
  tile_problem problem{};
  if (is_transpose(request, problem)) {
    explain_problem<sizeof(T), alignof(T)>(result, problem, 1, device);
  } else {
    with_plane_shape<sizeof(T), alignof(T), static_cast<int>(Planes)>(
        request, [&](auto shape) { describe_planes(result, shape, request); });
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
