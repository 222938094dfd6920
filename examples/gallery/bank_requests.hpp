// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Wavefronts: the cycles in which shared memory serves one request of a warp, all its phases together. It is
/// what the hardware counts, where the ways of the bank model are those of the worst phase.
#pragma once

#include <tiletranspose/banks.cuh>

namespace gallery {

/// Wavefronts per request, in the mean, when a whole tile is walked.
template <class Layout>
double mean_wavefronts(Layout layout, tt::tile_walk walk, tt::bank_model banks) {
  constexpr int element_bytes = static_cast<int>(sizeof(typename Layout::element));
  const tt::walk_steps steps(walk, element_bytes, Layout::rows, Layout::cols);
  const int together = tt::phase_lanes(steps.access_bytes, banks);
  int wavefronts = 0;
  int requests = 0;
  for (int first = 0; first < steps.count; first += banks.request_lanes) {
    for (int phase = 0; phase < banks.request_lanes; phase += together) {
      wavefronts += tt::request_ways(
          [&](int lane) -> long long {
            const int step = first + phase + lane;
            if (step >= steps.count) { return -1; }
            const tt::walk_steps::place at = steps(step);
            return static_cast<long long>(layout(at.row, at.col)) * element_bytes + at.byte;
          },
          steps.access_bytes, banks, together);
    }
    ++requests;
  }
  return static_cast<double>(wavefronts) / requests;
}

}  // namespace gallery
