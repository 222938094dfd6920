// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: structures must not be const or volatile; they are moved by their bytes

#include <tiletranspose/struct_io.cuh>

#ifdef MUST_FAIL
using particle = volatile float;
#else
using particle = float;
#endif

__device__ void call(particle* structs, const particle (&items)[1]) {
  tt::store_structs(tt::static_warp{}, structs, 32, items);
}
