// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a fused transpose asks of the function object that it is given.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/choose/fused_policy.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Whether a const `Op` can be called with these arguments, as lvalues, and yields what converts to `Result`. A pointer to a
/// member is invoked, but not called.
template <class Result, class Op, class... Arguments>
inline constexpr bool yields = !std::is_member_pointer<Op>::value &&
                               std::is_invocable_r<Result, const Op&, const Arguments&...>::value;

/// Whether a class has one call operator, of three parameters: what Clang can say of one that is for the device alone.
template <class Op, class = void>
struct has_three_parameters : std::false_type {};
template <class Op>
struct has_three_parameters<Op, std::void_t<decltype(&Op::operator())>> {
  template <class Result, class Class, class A, class B, class C>
  static std::true_type test(Result (Class::*)(A, B, C) const);
  static std::false_type test(...);
  static constexpr bool value = decltype(test(&Op::operator()))::value;
};

/// Whether a function object is called with an element and its row and column in the input, not with the element alone.
template <class In, class Out, class Op>
inline constexpr bool takes_place =
#if TILETRANSPOSE_CLANG_CUDA
    has_three_parameters<Op>::value;
#else
    !yields<Out, Op, In> && yields<Out, Op, In, size_type, size_type>;
#endif

/// Calls it so. A matrix of a batch counts its rows and columns for itself.
template <class In, class Out, class Op>
TILETRANSPOSE_FUNCTION Out call_at(const Op& op, const In& element, size_type row, size_type col) {
  if constexpr (takes_place<In, Out, Op>) {
    return op(element, row, col);
  } else {
    static_cast<void>(row), static_cast<void>(col);
    return op(element);
  }
}

/// Whether the bytes of a function object may be handed to a kernel. For the host compiler nvcc replaces a __host__
/// __device__ lambda by a type that has a copy constructor; it starts with the lambda's captures, which are all that a
/// kernel reads. Where nvcc compiles for the device it sees the lambda itself.
template <class Op>
constexpr bool is_copied_as_bytes() {
#if defined(__CUDACC_EXTENDED_LAMBDA__) && !TILETRANSPOSE_ON_DEVICE
  if (__nv_is_extended_host_device_lambda_closure_type(Op)) { return true; }
#endif
  return std::is_trivially_copyable<Op>::value;
}

/// Whether a function object can be called as a fused transpose does. Answered where the compiler looks at device code:
/// for the host, nvcc replaces __device__ lambdas by types that cannot be called. Clang takes a __device__ function for
/// one that nobody outside of device code can call.
template <fusion Kind, class In, class Out, class Op>
constexpr bool takes_elements() {
#if TILETRANSPOSE_ON_DEVICE && !TILETRANSPOSE_CLANG_CUDA
  if constexpr (Kind == fusion::accumulate) {
    return yields<Out, Op, In, Out>;
  } else {
    return yields<Out, Op, In> || takes_place<In, Out, Op>;
  }
#else
  return true;
#endif
}

/// Whether its kernels can be instantiated.
template <fusion Kind, class In, class Out, class Op>
constexpr bool is_fusible() {
  if constexpr (is_element<In>() && is_element<Out>()) {
    return takes_elements<Kind, In, Out, Op>();
  }
  return false;
}

/// What a fused transpose asks of its function object.
template <fusion Kind, class In, class Out, class Op>
constexpr bool check_function() {
  constexpr bool is_object = !std::is_function<typename std::remove_pointer<Op>::type>::value &&
                             !std::is_member_pointer<Op>::value;
  static_assert(is_object,
                "tt: a fused transpose takes a function object with a __device__ call operator, no "
                "function and no pointer to one, whose address the GPU does not know");
  static_assert(is_copied_as_bytes<Op>(),
                "tt: the function of a fused transpose must be trivially copyable; it is handed to "
                "the kernel as bytes");
  constexpr bool fits = !is_object || takes_elements<Kind, In, Out, Op>();
  static_assert(fits || Kind == fusion::accumulate,
                "tt: the function of transform_transpose must be callable, as a const object, with "
                "an element of the input, or with one and its row and column there, and yield what "
                "converts to an element of the output");
  static_assert(fits || Kind != fusion::accumulate,
                "tt: the function of accumulate_transpose must be callable, as a const object, "
                "with an element of the input and an old one of the output, and yield what "
                "converts to an element of the output");
  return true;
}

#if defined(__CUDACC__) || defined(__device__)  // where there are kernels
/// Calls a function object as the kernel does. The kernel's parts are functions for host and device, from which nvcc
/// takes a call of a host function with a warning, and in a folder of system headers without one. Here it is an error.
template <fusion Kind, class In, class Out, class Op>
__device__ TILETRANSPOSE_INLINE void call_on_device(const Op& op, const In* element,
                                                    const Out* old) {
  if constexpr (Kind == fusion::accumulate) {
    static_cast<void>(op(*element, *old));
  } else if constexpr (takes_place<In, Out, Op>) {
    static_cast<void>(op(*element, size_type{0}, size_type{0}));
  } else {
    static_cast<void>(op(*element));
  }
}
#endif

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
