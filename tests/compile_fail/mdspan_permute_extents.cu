// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: no permutation of its axes brings the extents of the input to those of the output

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::extents<int, 5, 5, cuda::std::dynamic_extent>;
#else
using extents = cuda::std::extents<int, 5, 6, cuda::std::dynamic_extent>;
#endif

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, cuda::std::extents<int, 4, 5, 6>> in) {
  return tt::permute(out, in, {1, 2, 0});
}
