// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: a copy has the rank of its input, which is 1 at least

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::dextents<int, 3>;
#else
using extents = cuda::std::dextents<int, 4>;
#endif

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, cuda::std::dextents<int, 4>> in) {
  return tt::copy(out, in);
}
