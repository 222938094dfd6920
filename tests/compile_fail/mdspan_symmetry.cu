// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: no symmetry brings the extents of the input to those of the output

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::extents<int, 5, cuda::std::dynamic_extent>;
#else
using extents = cuda::std::extents<int, 6, cuda::std::dynamic_extent>;
#endif

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, cuda::std::extents<int, 4, 6>> in, tt::symmetry s) {
  return tt::reorient(out, in, s);
}
