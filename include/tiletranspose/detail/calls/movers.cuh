// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a choice, a value, to a mover, a type: what a call can never choose is not compiled. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/panel/gathered_plan.cuh>
#include <tiletranspose/detail/panel/vectorised_plan.cuh>
#include <tiletranspose/detail/panel/word_shifted_plan.cuh>
#include <tiletranspose/detail/tile/shapes.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One element an access; small_launch.cuh plans and launches it.
template <int ElementBytes, int AccessBytes>
struct little_mover {};

template <int ElementBytes>
struct vector_mover {
  using shape = typename vector_shape<ElementBytes>::type;
  auto plan(const tile_problem& problem, size_type, const choice&) const {
    return plan_vector_tiles<shape>(problem);
  }
};

template <int ElementBytes, int AccessBytes, tile_access Access>
struct tile_mover {
  using tuned = tuned_shape<tuned_architecture, ElementBytes, AccessBytes, Access>;
  using shape = typename tuned::type;
  static_assert(Access != tile_access::large || shape::shared_bytes == large_tile_shared_bytes, "");
  auto plan(const tile_problem& problem, size_type batch, const choice&) const {
    return plan_tiles(problem, batch, traits_of<shape>(tuned::policy.strip_width));
  }
};

template <int ElementBytes, int AccessBytes>
struct gathered_mover {
  auto plan(const tile_problem& problem, size_type batch, const choice& chosen) const {
    return plan_gathered(problem, batch, ElementBytes, AccessBytes, chosen.panel,
                         chosen.shared_bytes);
  }
};

template <int ElementBytes, bool Pixels>
struct vectorised_mover {
  static constexpr vectorised_shape values =
      vectorised_shape_of(ElementBytes, Pixels ? vectorised_size::pixels : vectorised_size::kb_16);
  using shape = static_vectorised_shape<ElementBytes, values.rows, values.cols>;
  auto plan(const tile_problem& problem, size_type batch, const choice& chosen) const {
    return plan_vectorised(problem, batch, vectorised_shape_of(ElementBytes, chosen.size),
                           chosen.vectorised);
  }
};

template <int ElementBytes, word_shifted_kind Kind>
struct word_shifted_mover {
  static constexpr word_shifted_shape values = word_shifted_shape_of(ElementBytes, Kind);
  using shape = static_word_shifted_shape<ElementBytes, values.joins_rows, values.joins_cols>;
  auto plan(const tile_problem& problem, size_type batch, const choice& chosen) const {
    return plan_word_shifted(problem, batch, values, chosen.shared_bytes);
  }
};

template <tile_access Access, int ElementBytes, int AccessBytes, class Visit>
auto visit_tile(Visit visit) {
  constexpr bool exists = has_tile(Access, ElementBytes, AccessBytes);
  return visit(tile_mover < ElementBytes, AccessBytes, exists ? Access : tile_access::any > {});
}
template <word_shifted_kind Kind, int ElementBytes, int AccessBytes, class Visit>
auto visit_word_shifted(Visit visit) {
  if constexpr (has_word_shifted_panel(ElementBytes, AccessBytes)) {
    return visit(word_shifted_mover<ElementBytes, Kind>{});
  } else {
    return visit_tile<tile_access::any, ElementBytes, AccessBytes>(visit);
  }
}

/// Calls visit(mover) with the mover of a choice for elements of this size and access. Precondition: it is reachable.
template <int ElementBytes, int AccessBytes, class Visit>
auto with_mover(const choice& chosen, Visit visit) {
  switch (chosen.by) {
    case mover::little:
      if constexpr (has_little_work(ElementBytes, AccessBytes, true)) {
        return visit(little_mover<ElementBytes, AccessBytes>{});
      }
      break;
    case mover::vector_tile:
      if constexpr (has_vector_tile(ElementBytes, AccessBytes)) {
        return visit(vector_mover<ElementBytes>{});
      }
      break;
    case mover::gathered_panel:
      return visit(gathered_mover<ElementBytes, (AccessBytes < 4 ? AccessBytes : 4)>{});
    case mover::vectorised_panel:
      if constexpr (has_vectorised_panel(ElementBytes, AccessBytes)) {
        if constexpr (ElementBytes == 1) {
          if (chosen.size == vectorised_size::pixels) {
            return visit(vectorised_mover<ElementBytes, true>{});
          }
        }
        return visit(vectorised_mover<ElementBytes, false>{});
      }
      break;
    case mover::word_shifted_panel:
      switch (chosen.word_shifted) {
        case word_shifted_kind::matrices:
          return visit_word_shifted<word_shifted_kind::matrices, ElementBytes, AccessBytes>(visit);
        case word_shifted_kind::columns:
          return visit_word_shifted<word_shifted_kind::columns, ElementBytes, AccessBytes>(visit);
        default:
          return visit_word_shifted<word_shifted_kind::rows, ElementBytes, AccessBytes>(visit);
      }
    default:
      break;
  }
  switch (chosen.access) {
    case tile_access::whole:
      return visit_tile<tile_access::whole, ElementBytes, AccessBytes>(visit);
    case tile_access::large:
      return visit_tile<tile_access::large, ElementBytes, AccessBytes>(visit);
    case tile_access::tall:
      return visit_tile<tile_access::tall, ElementBytes, AccessBytes>(visit);
    default:
      return visit_tile<tile_access::any, ElementBytes, AccessBytes>(visit);
  }
}

/// Calls go(mover, plan) for the launch of a problem, or for the launches that it has to be split into, until one
/// returns something else than 0.
template <class Mover, class Go>
auto plan_launches(Mover mover, const tile_problem& problem, size_type batch, int element_bytes,
                   const choice& chosen, Go go)
    -> decltype(go(mover, mover.plan(problem, batch, chosen))) {
  const auto plan = mover.plan(problem, batch, chosen);
  if (plan.blocks <= max_blocks) { return go(mover, plan); }
  const auto element = static_cast<size_type>(element_bytes);
  return split(problem, batch, element, element,
               [&](const tile_problem& part, size_type part_batch) {
                 return plan_launches(mover, part, part_batch, element_bytes, chosen, go);
               });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
