// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Fused transposes of little work: the caller's function as an operation of the mover for it.

#pragma once

#include <tiletranspose/detail/small/small_launch.cuh>
#include <tiletranspose/detail/tile/fused_function.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A T as the words that its size and alignment allow.
template <class T>
using words_of = element_words<sizeof(T), access_width(sizeof(T), alignof(T))>;

template <class T>
TILETRANSPOSE_FUNCTION words_of<T> to_words(const T& value) {
  words_of<T> words;
  copy_bytes(&words, &value, sizeof(T));
  return words;
}

/// The words of a T as one, which need not have a default constructor.
template <class T>
union from_words {
  T value;
  TILETRANSPOSE_FUNCTION explicit from_words(const words_of<T>& words) {
    copy_bytes(static_cast<void*>(this), &words, sizeof(T));
  }
};

/// The matrix beside input and output of a call with two outputs; rows of bytes.
struct second_output {
  unsigned char* data;
  size_type stride_bytes;
};

/// Calls `op` for each element on its way, as it is loaded or as it is stored.
template <fusion Kind, class In, class Out, class Op>
struct fused_operation {
  static constexpr bool accumulates = Kind == fusion::accumulate;
  static constexpr bool waits = calls_as_stored(Kind, sizeof(In), sizeof(Out));
  using kept = typename std::conditional<waits, In, Out>::type;
  using stored = words_of<kept>;
  static constexpr int in_bytes = sizeof(In);
  static constexpr int out_bytes = sizeof(Out);
  static constexpr int kept_bytes = sizeof(kept);
  static constexpr int accesses = sizeof(stored) / sizeof(stored::words[0]);

  Op op;
  second_output copy;

  static constexpr bool fetches = accumulates;
  using fetched = typename std::conditional<fetches, words_of<Out>, no_operand>::type;

  TILETRANSPOSE_FUNCTION stored load(const unsigned char* from, unsigned row, unsigned col) const {
    static_cast<void>(row), static_cast<void>(col);
    if constexpr (waits) {
      return to_words<In>(load_global<In>(from));
    } else {
      const Out result = call_at<In, Out>(op, load_global<In>(from), row, col);
      return to_words<Out>(result);
    }
  }
  TILETRANSPOSE_FUNCTION void write_second(const stored& words, unsigned row, unsigned col) const {
    (void)words, (void)row, (void)col;
    if constexpr (Kind == fusion::dual) {
      store_global(copy.data + row * copy.stride_bytes + col * sizeof(Out), words);
    }
  }
  TILETRANSPOSE_FUNCTION static fetched fetch(const unsigned char* to) {
    return load_global<fetched>(to);
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& words, const fetched& old,
                                    unsigned row, unsigned col) const {
    (void)old, (void)row, (void)col;
    if constexpr (waits && !accumulates) {
#if TILETRANSPOSE_ON_DEVICE
      const Out result = call_at<In, Out>(op, __builtin_bit_cast(In, words), row, col);
#else
      const from_words<In> element(words);
      const Out result = call_at<In, Out>(op, element.value, row, col);
#endif
      store_global(to, result);
    } else if constexpr (accumulates) {
#if TILETRANSPOSE_ON_DEVICE
      // By this built-in, because nvcc kept the union of 2-byte elements in local memory.
      const Out result = op(__builtin_bit_cast(In, words), __builtin_bit_cast(Out, old));
#else
      const from_words<In> element(words);
      const from_words<Out> before(old);
      const Out result = op(element.value, before.value);
#endif
      store_global(to, result);
    } else {
      store_global(to, words);
    }
  }
  TILETRANSPOSE_FUNCTION void show_compiler() const {
#if TILETRANSPOSE_ON_DEVICE
    if (false) { call_on_device<Kind, In, Out>(op, nullptr, nullptr); }
#endif
  }
};

/// Moves a fused transpose if it is little work: true, with the launch's status.
template <fusion Kind, class In, class Out, matrices Matrices, class Op>
bool transform_little(const tile_problem& problem, size_type batch, const second_output& copy,
                      const Op& op, cudaStream_t stream, cudaError_t& status) {
  constexpr int widest = larger(static_cast<int>(sizeof(In)), static_cast<int>(sizeof(Out)));
  if constexpr (loads_together<In> && loads_together<Out> &&
                has_little_work(widest, widest, true)) {
    const little_operation work(Kind, problem, batch, address_bits_of(problem, 0), sizeof(In),
                                sizeof(Out));
    if (work.mover == small_mover::none) { return false; }
    status = launch_small<true>(work.mover, work.problem, batch_of<Matrices>(problem),
                                fused_operation<Kind, In, Out, Op>{op, copy}, stream);
    return true;
  } else {
    return false;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
