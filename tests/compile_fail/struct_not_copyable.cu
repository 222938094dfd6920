// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the element type must be trivially copyable; the library moves its bytes

#include <tiletranspose/struct_io.cuh>

struct particle {
  float x, y;
#ifdef MUST_FAIL
  __host__ __device__ particle& operator=(const particle& other) {
    x = other.x;
    return *this;
  }
#endif
};

__device__ void call(particle* structs, const particle (&items)[1]) {
  tt::store_structs(tt::static_warp{}, structs, 32, items);
}
