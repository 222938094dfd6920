// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From a case to a call of the library. Include CUDA first, or what stands for it on the CPU.

#pragma once

#include "case.hpp"

#include <vector>

namespace fuzz {

// The arguments of a case as pointers into its memory.
struct bound_arguments {
  const arguments& with;
  unsigned char* memory;
  std::size_t least_scratch;  // that a query must answer; 0 where nobody cares

  template <class T>
  T* at(std::size_t place) const {
    return place == nowhere ? nullptr : reinterpret_cast<T*>(memory + place);
  }
  template <class T>
  const T* in() const {
    return at<const T>(with.in);
  }
  template <class T>
  T* data() const {  // of a call in place
    return at<T>(with.in);
  }
  template <class T>
  T* out() const {
    return at<T>(with.out);
  }
  template <class T>
  T* copy() const {
    return at<T>(with.copy);
  }
};

using caller = cudaError_t (*)(const bound_arguments&, cudaStream_t);

// Calls for elements of a size: null where there is none. One translation unit for each size.
template <unsigned Bytes>
caller find_moving(call which, unsigned alignment, int variant);

// Fused calls: a list of pairs of types.
struct type_pair {
  element_type in;
  element_type out;
};
const std::vector<type_pair>& fused_pairs();
caller find_fused(call which, const element_type& in, const element_type& out);

// Calls for mdspans.
const std::vector<element_type>& mdspan_types();
caller find_mdspan(call which, const element_type& type);

// All that is compiled into the program, each call's targets together.
std::vector<target> all_targets();
caller find_caller(const target& on);

inline cudaError_t make_call(const test_case& c, unsigned char* memory, cudaStream_t stream) {
  const bool known = c.fault != defect::no_work && c.fault != defect::too_many;
  return find_caller(c.on)({c.with, memory, known ? c.least_scratch : 0}, stream);
}

}  // namespace fuzz
