// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a choice, a value, to a mover, a type: what a call can never choose is not compiled. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/axes/axes_kernel.cuh>
#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>
#include <tiletranspose/detail/tile/tile_shape.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One element an access; small_launch.cuh plans and launches it.
template <int ElementBytes, int AccessBytes>
struct little_mover {};

template <int ElementBytes>
struct vector_mover {
  using shape = vector_shape<ElementBytes>;
  auto plan(const matrix_problem& problem, const choice&) const {
    return plan_vector_tiles<shape>(problem);
  }
};

template <int ElementBytes>
struct micro_mover {
  auto plan(const batch_problem& problem, const choice& chosen) const {
    const relocation move = relocation_of(problem, ElementBytes, ElementBytes);
    launch_plan<axes_tile_arguments<int>> all{};  // one launch takes them
    plan_axes_tiles<int>(cut_micro_tiles(move, chosen.micro_side), move, 1,
                         [&](const auto& plan) { return all = plan, 0; });
    return all;
  }
};

/// Tiles of every access that the element has: a choice says which.
template <int ElementBytes, int AccessBytes>
struct tile_mover {
  /// Calls visit with the tuned_shape of an access. Precondition: has_tile.
  template <class Visit>
  static auto with_shape(tile_access access, Visit visit) {
    switch (access) {
      case tile_access::whole:
        return visit(shape_of<tile_access::whole>{});
      case tile_access::tall:
        return visit(shape_of<tile_access::tall>{});
      default:
        return visit(shape_of<tile_access::any>{});
    }
  }
  auto plan(const batch_problem& problem, const choice& chosen) const {
    return with_shape(chosen.access, [&](auto tuned) {
      using shape = decltype(tuned);
      return plan_tiles<typename shape::type>(problem, shape::policy.strip_width);
    });
  }

 private:
  template <tile_access Access>
  using shape_of =
      tuned_shape<tuned_architecture, ElementBytes, AccessBytes,
                  has_tile(Access, ElementBytes, AccessBytes) ? Access : tile_access::any>;
};

template <int ElementBytes, int AccessBytes>
struct gathered_mover {
  auto plan(const batch_problem& problem, const choice& chosen) const {
    return plan_gathered(problem, ElementBytes, AccessBytes, chosen.shared_bytes);
  }
};

/// Panels of micro-blocks: of every size, and for bytes those of pixels, whose micro-blocks are no squares.
template <int ElementBytes>
struct vectorised_mover {
  auto plan(const batch_problem& problem, const choice& chosen) const {
    return plan_vectorised(problem, chosen.shape);
  }
};

template <int ElementBytes>
struct word_shifted_mover {
  auto plan(const batch_problem& problem, const choice& chosen) const {
    return plan_word_shifted(problem, word_shifted_shape_of(ElementBytes, chosen.panels),
                             chosen.shared_bytes);
  }
};

/// Calls visit(mover) with the mover of a choice for elements of this size and access, one that these can have.
template <int ElementBytes, int AccessBytes, class Visit>
auto with_mover(const choice& chosen, Visit visit) {
  if constexpr (has_little_work(ElementBytes, AccessBytes, true)) {
    if (chosen.by == mover::little) { return visit(little_mover<ElementBytes, AccessBytes>{}); }
  }
  if constexpr (has_vector_tile(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::vector_tile) { return visit(vector_mover<ElementBytes>{}); }
  }
  if constexpr (has_micro_tile(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::micro_tile) { return visit(micro_mover<ElementBytes>{}); }
  }
  if constexpr (has_vectorised_panel(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::vectorised_panel) { return visit(vectorised_mover<ElementBytes>{}); }
  }
  if constexpr (has_word_shifted_panel(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::word_shifted_panel) {
      return visit(word_shifted_mover<ElementBytes>{});
    }
  }
  if constexpr (has_tile(tile_access::any, ElementBytes, AccessBytes)) {
    if (chosen.by == mover::tile) { return visit(tile_mover<ElementBytes, AccessBytes>{}); }
  }
  return visit(gathered_mover<ElementBytes, AccessBytes>{});
}

/// Calls go(plan) for each launch of a problem, or of the parts that it has to be split into, until one returns not 0.
template <class Mover, class Go>
auto plan_launches(Mover mover, const batch_problem& problem, int element_bytes,
                   const choice& chosen, Go go) -> decltype(go(mover.plan(problem, chosen))) {
  const auto plan = mover.plan(problem, chosen);
  if (plan.blocks <= max_blocks) { return go(plan); }
  const auto element = static_cast<size_type>(element_bytes);
  return split(problem, element, element, [&](const batch_problem& part) {
    return plan_launches(mover, part, element_bytes, chosen, go);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
