// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What can be called, put together from a program's parts. FUZZ_SIZES, which CMake writes down, are the sizes of elements
// that it has, with commas. Include it in one place.

#pragma once

#include <fuzz_sizes.hpp>

#include "calls.hpp"

namespace fuzz {
namespace {

template <unsigned... Bytes>
caller find_among(const target& on) {
  caller found = nullptr;
  static_cast<void>(
      ((on.in.bytes == Bytes &&
        (found = find_moving<Bytes>(on.which, on.in.alignment, on.variant)) != nullptr) ||
       ...));
  return found;
}

template <unsigned... Bytes>
void add_moving(std::vector<target>& all, call which) {
  for (const unsigned bytes : {Bytes...}) {
    for (const unsigned alignment : {1u, 2u, 4u, 8u, 16u}) {
      for (int variant = 0; variant <= static_cast<int>(most_planes); ++variant) {
        const target on{which, {bytes, alignment}, {bytes, alignment}, variant};
        if (find_among<Bytes...>(on) != nullptr) { all.push_back(on); }
      }
    }
  }
}

}  // namespace

std::vector<target> all_targets() {
  std::vector<target> all;
  for (int i = 0; i < static_cast<int>(call::count); ++i) {
    const auto which = static_cast<call>(i);
    add_moving<FUZZ_SIZES>(all, which);
    for (const type_pair& pair : fused_pairs()) {
      if (find_fused(which, pair.in, pair.out) != nullptr) {
        all.push_back({which, pair.in, pair.out, 0});
      }
    }
    for (const element_type& type : mdspan_types()) {
      if (find_mdspan(which, type) != nullptr) { all.push_back({which, type, type, 0}); }
    }
  }
  return all;
}

caller find_caller(const target& on) {
  switch (on.which) {
    case call::transform:
    case call::transform_views:
    case call::transform_batched:
    case call::transform_batched_views:
    case call::accumulate:
    case call::accumulate_views:
    case call::dual:
    case call::dual_views:
    case call::transform_permute:
      return find_fused(on.which, on.in, on.out);
    case call::mdspan_transpose:
    case call::mdspan_reorient:
    case call::mdspan_permute:
    case call::mdspan_copy:
      return find_mdspan(on.which, on.in);
    default:
      return find_among<FUZZ_SIZES>(on);
  }
}

}  // namespace fuzz
