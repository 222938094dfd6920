// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a matrix is an mdspan of rank 2

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::dextents<int, 3>;
#else
using extents = cuda::std::dextents<int, 2>;
#endif

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, extents> in) {
  return tt::transpose(out, in);
}
