// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the parts of a smem_layout must be trivially copyable; it is a kernel's argument

#include <tiletranspose/smem.cuh>

// A part that somebody else wrote.
struct counted_array {
  static constexpr tt::size_type alignment = 4;
  constexpr tt::size_type bytes() const { return 4 * length; }
  __host__ __device__ int* at(unsigned char* memory) const {
    return reinterpret_cast<int*>(memory);
  }
#ifdef MUST_FAIL
  counted_array(const counted_array& other) : length(other.length) {}
#endif
  tt::size_type length;
};

static_assert(tt::smem_layout<counted_array>::alignment == 4);
