// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// cuBLAS in the benchmark of small and middle problems, where it was found.
#pragma once

#include "cases.cuh"

#if defined(TILETRANSPOSE_BENCHMARK_CUBLAS)
#include "../peers.cuh"
#endif

namespace bench {

/// Enters cublas<t>geam for out = factor * transpose(in) + old_factor * out, where it has the type.
template <class T>
void enter_geam(small_case& c, T* out, const T* in, const shape& s, double factor,
                double old_factor = 0) {
#if defined(TILETRANSPOSE_BENCHMARK_CUBLAS)
  if constexpr (has_geam<T>) {
    c.field.push_back({entrant::geam, [=] { return geam(out, in, s, factor, old_factor); }});
  }
#else
  (void)c, (void)out, (void)in, (void)s, (void)factor, (void)old_factor;
#endif
}

}  // namespace bench
