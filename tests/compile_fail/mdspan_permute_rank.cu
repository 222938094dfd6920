// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: input, output and the permutation of their axes have one rank

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::dextents<int, 4>;
#else
using extents = cuda::std::dextents<int, 3>;
#endif

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, extents> in) {
  return tt::permute(out, in, {1, 2, 0});
}
