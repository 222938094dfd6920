// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a fused transpose asks of the function object that it is given.

#pragma once

#include <type_traits>
#include <utility>

#include <tiletranspose/detail/tile/fused_policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Whether a const `Op` can be called with these arguments, as lvalues, and yields what converts to `Result`.
template <class Result, class Op, class... Arguments>
class yields {
  template <class Called>
  static std::is_convertible<
      decltype(std::declval<const Called&>()(std::declval<const Arguments&>()...)), Result>
  test(int);
  template <class Called>
  static std::false_type test(...);

 public:
  static constexpr bool value = decltype(test<Op>(0))::value;
};

/// Whether a function object can be called as a fused transpose does. Answered where the compiler looks at device code:
/// for the host, nvcc replaces __device__ lambdas by types that cannot be called.
template <fusion Kind, class In, class Out, class Op>
constexpr bool takes_elements() {
#if TILETRANSPOSE_ON_DEVICE
  if constexpr (Kind == fusion::accumulate) {
    return yields<Out, Op, In, Out>::value;
  } else {
    return yields<Out, Op, In>::value;
  }
#else
  return true;
#endif
}

/// What a fused transpose asks of its function object.
template <fusion Kind, class In, class Out, class Op>
constexpr bool check_function() {
  constexpr bool is_object = !std::is_function<typename std::remove_pointer<Op>::type>::value &&
                             !std::is_member_pointer<Op>::value;
  static_assert(is_object,
                "tt: a fused transpose takes a function object with a __device__ call operator, no "
                "function and no pointer to one, whose address the GPU does not know");
  static_assert(std::is_trivially_copyable<Op>::value,
                "tt: the function of a fused transpose must be trivially copyable; it is handed to "
                "the kernel as bytes");
  constexpr bool fits = !is_object || takes_elements<Kind, In, Out, Op>();
  static_assert(fits || Kind == fusion::accumulate,
                "tt: the function of transform_transpose must be callable, as a const object, with "
                "an element of the input, and yield what converts to an element of the output");
  static_assert(fits || Kind != fusion::accumulate,
                "tt: the function of accumulate_transpose must be callable, as a const object, "
                "with an element of the input and an old one of the output, and yield what "
                "converts to an element of the output");
  return true;
}

/// Calls a function object as the kernel does. The kernel's parts are functions for host and device, from which nvcc
/// takes a call of a host function with a warning, and in a folder of system headers without one. Here it is an error.
template <fusion Kind, class In, class Out, class Op>
__device__ TILETRANSPOSE_INLINE void call_on_device(const Op& op, const In* element,
                                                    const Out* old) {
  if constexpr (Kind == fusion::accumulate) {
    static_cast<void>(op(*element, *old));
  } else {
    static_cast<void>(op(*element));
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
