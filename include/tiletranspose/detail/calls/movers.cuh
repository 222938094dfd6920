// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a problem to a choice, a value, and on to a mover, a type: what a call can never choose is not compiled. Calls and
/// what tt::explain says of them take this way together. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/axes/axes_kernel.cuh>
#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>
#include <tiletranspose/detail/tile/tile_shape.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A mover for elements of a size and access.
template <mover By, int ElementBytes, int AccessBytes>
struct typed_mover {
  static constexpr mover by = By;
  static constexpr int access_bytes = AccessBytes;
};

/// The tuned_shape of tiles of an access, if the element has them.
template <tile_access Access, int ElementBytes, int AccessBytes>
using tile_shape_of =
    tuned_shape<tuned_architecture, ElementBytes, AccessBytes,
                has_tile(Access, ElementBytes, AccessBytes) ? Access : tile_access::any>;

/// Calls visit with that of the access that a choice says. Precondition: has_tile.
template <int ElementBytes, int AccessBytes, class Visit>
auto with_tile_shape(const choice& chosen, Visit visit) {
  switch (chosen.access) {
    case tile_access::whole:
      return visit(tile_shape_of<tile_access::whole, ElementBytes, AccessBytes>{});
    case tile_access::tall:
      return visit(tile_shape_of<tile_access::tall, ElementBytes, AccessBytes>{});
    default:
      return visit(tile_shape_of<tile_access::any, ElementBytes, AccessBytes>{});
  }
}

/// What a mover would launch; small_launch.cuh plans little work.
template <mover By, int ElementBytes, int AccessBytes>
auto plan_of(typed_mover<By, ElementBytes, AccessBytes>, const batch_problem& problem,
             const choice& chosen) {
  if constexpr (By == mover::vector_tile) {
    return plan_vector_tiles<vector_shape<ElementBytes>>(problem);
  } else if constexpr (By == mover::micro_tile) {
    const auto cut = cut_micro_tiles(problem, ElementBytes, ElementBytes, chosen.micro_side);
    launch_plan<axes_tile_arguments<int>> all{};  // one launch takes them
    plan_axes_tiles<int>(cut.tiles, cut.move, 1, [&](const auto& plan) { return all = plan, 0; });
    return all;
  } else if constexpr (By == mover::tile) {
    return with_tile_shape<ElementBytes, AccessBytes>(chosen, [&](auto tuned) {
      using shape = decltype(tuned);
      return plan_tiles<typename shape::type>(problem, shape::policy.strip_width);
    });
  } else if constexpr (By == mover::vectorised_panel) {
    return plan_vectorised(problem, chosen.shape);
  } else if constexpr (By == mover::word_shifted_panel) {
    return plan_word_shifted(problem, word_shifted_shape_of(ElementBytes, chosen.panels),
                             chosen.shared_bytes);
  } else {
    return plan_gathered(problem, ElementBytes, AccessBytes, chosen.shared_bytes);
  }
}

template <mover By>
using mover_constant = std::integral_constant<mover, By>;

/// Calls visit(typed_mover) with the mover of a choice for elements of this size and access, one that these can have.
template <int ElementBytes, int AccessBytes, class Visit>
auto with_mover(const choice& chosen, Visit visit) {
  const auto visit_by = [&](auto by) {
    return visit(typed_mover<decltype(by)::value, ElementBytes, AccessBytes>{});
  };
  if constexpr (has_little_work(ElementBytes, AccessBytes, true)) {
    if (chosen.by == mover::little) { return visit_by(mover_constant<mover::little>{}); }
  }
  if constexpr (has_vector_tile(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::vector_tile) { return visit_by(mover_constant<mover::vector_tile>{}); }
  }
  if constexpr (has_micro_tile(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::micro_tile) { return visit_by(mover_constant<mover::micro_tile>{}); }
  }
  if constexpr (has_vectorised_panel(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::vectorised_panel) {
      return visit_by(mover_constant<mover::vectorised_panel>{});
    }
  }
  if constexpr (has_word_shifted_panel(ElementBytes, AccessBytes)) {
    if (chosen.by == mover::word_shifted_panel) {
      return visit_by(mover_constant<mover::word_shifted_panel>{});
    }
  }
  if constexpr (has_tile(tile_access::any, ElementBytes, AccessBytes)) {
    if (chosen.by == mover::tile) { return visit_by(mover_constant<mover::tile>{}); }
  }
  return visit_by(mover_constant<mover::gathered_panel>{});
}

/// Calls go(plan) for each launch of a problem, or of the parts that it has to be split into, until one returns not 0.
template <class Mover, class Go>
auto plan_launches(Mover mover, const batch_problem& problem, int element_bytes,
                   const choice& chosen, Go go) -> decltype(go(plan_of(mover, problem, chosen))) {
  const auto plan = plan_of(mover, problem, chosen);
  if (plan.blocks <= max_blocks) { return go(plan); }
  const auto element = static_cast<size_type>(element_bytes);
  return split(problem, element, element, [&](const batch_problem& part) {
    return plan_launches(mover, part, element_bytes, chosen, go);
  });
}

/// Chooses the mover for elements of a size and alignment, by the access that their addresses allow, and calls
/// visit(typed_mover, facts, choice). most_shared() is what a block may ask the device for.
template <int ElementBytes, int Alignment, class MostShared, class Visit>
auto with_choice(const batch_problem& problem, MostShared most_shared, Visit visit) {
  const size_type bits = address_bits_of(problem, Alignment);
  return with_access<ElementBytes, Alignment>(bits, [&](auto width) {
    constexpr int access = decltype(width)::value;
    transpose_facts facts{problem, ElementBytes, access, bits, default_shared_bytes};
    choice chosen = choose(facts);
    // A rule before those that compare with it has no need of the device's shared memory.
    if (asks_shared_bytes(chosen, facts)) {
      facts.most_shared_bytes = most_shared();
      chosen = choose(facts);
    }
    return with_mover<ElementBytes, access>(
        chosen, [&](auto taken) { return visit(taken, facts, chosen); });
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
