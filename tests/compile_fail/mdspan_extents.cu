// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the output of a transpose has as many rows as the input has columns, and the reverse

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::extents<int, 4, cuda::std::dynamic_extent>;
#else
using extents = cuda::std::extents<int, 6, cuda::std::dynamic_extent>;
#endif

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, cuda::std::extents<int, 4, 6>> in) {
  return tt::transpose(out, in);
}
