// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Fused transposes: checked, then moved by tiles of their own or, in micro-blocks and as little work, with the caller's
/// function as an operation of the movers for these.

#pragma once

#include <tiletranspose/detail/calls/transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A T as the words that its size and alignment allow.
template <class T>
using words_of = element_words<sizeof(T), access_width(sizeof(T), alignof(T))>;

template <class T>
TILETRANSPOSE_FUNCTION words_of<T> to_words(const T& value) {
  words_of<T> words;
  detail::copy_bytes(&words, __builtin_addressof(value), sizeof(T));
  return words;
}

/// The words of a T as one, which need not have a default constructor.
template <class T>
TILETRANSPOSE_FUNCTION T from_words(const words_of<T>& words) {
#if TILETRANSPOSE_ON_DEVICE
  return __builtin_bit_cast(T, words);  // nvcc kept 2-byte elements in local memory otherwise
#else
  return load<T>(&words);
#endif
}

/// Calls `op` for each element on its way, as it is loaded or as it is stored.
template <fusion Kind, class In, class Out, class Op>
struct fused_operation {
  static constexpr bool fetches = Kind == fusion::accumulate;
  static constexpr bool waits = calls_as_stored(Kind, sizeof(In), sizeof(Out));
  using kept = typename std::conditional<waits, In, Out>::type;
  using stored = words_of<kept>;
  static constexpr int in_bytes = sizeof(In);
  static constexpr int out_bytes = sizeof(Out);
  static constexpr int kept_bytes = sizeof(kept);
  static constexpr int accesses = sizeof(stored) / sizeof(stored::words[0]);

  Op op;
  row_major_copy copy;

  using fetched = typename std::conditional<fetches, words_of<Out>, no_operand>::type;

  TILETRANSPOSE_FUNCTION stored load(const unsigned char* from, unsigned row, unsigned col) const {
    static_cast<void>(row), static_cast<void>(col);
    if constexpr (waits) {
      return detail::to_words<In>(load_global<In>(from));
    } else {
      const Out result = call_at<In, Out>(op, load_global<In>(from), row, col);
      return detail::to_words<Out>(result);
    }
  }
  template <class Row>
  TILETRANSPOSE_FUNCTION void convert(unsigned* to, const Row& from, unsigned row,
                                      unsigned col) const {
    constexpr int count = static_cast<int>(sizeof from / sizeof(In));
    words_of<In> before[count];
    words_of<Out> after[count];
    __builtin_memcpy(before, &from, sizeof from);
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < count; ++i) {
      const Out result =
          call_at<In, Out>(op, from_words<In>(before[i]), row, col + static_cast<unsigned>(i));
      after[i] = detail::to_words<Out>(result);
    }
    __builtin_memcpy(to, after, sizeof after);
  }
  TILETRANSPOSE_FUNCTION void write_second(const stored& words, unsigned row, unsigned col) const {
    (void)words, (void)row, (void)col;
    if constexpr (Kind == fusion::dual) {
      detail::store_global(copy.place(row, col * sizeof(Out)), words);
    }
  }
  TILETRANSPOSE_FUNCTION static fetched fetch(const unsigned char* to) {
    return load_global<fetched>(to);
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& words, const fetched& old,
                                    unsigned row, unsigned col) const {
    (void)old, (void)row, (void)col;
    if constexpr (waits && !fetches) {
      detail::store_global(to, call_at<In, Out>(op, from_words<In>(words), row, col));
    } else if constexpr (fetches) {
      const Out result = op(from_words<In>(words), from_words<Out>(old));
      detail::store_global(to, result);
    } else {
      detail::store_global(to, words);
    }
  }
  TILETRANSPOSE_FUNCTION void show_compiler() const {
#if TILETRANSPOSE_ON_DEVICE
    if (false) { call_on_device<Kind, In, Out>(op, nullptr, nullptr); }
#endif
  }
};

/// Moves a transpose with a function on the way: in micro-blocks, as little work, or by tiles.
template <fusion Kind, class In, class Out, matrices Matrices, class Op>
cudaError_t transform_problem(const batch_problem& problem, const Op& op, cudaStream_t stream,
                              const row_major_copy& copy = {}) {
  if constexpr (Kind == fusion::transform && Matrices != matrices::pointers &&
                has_fused_micro_blocks(sizeof(In), sizeof(Out))) {
    if (const int side = fused_micro_side(problem, sizeof(In), sizeof(Out))) {
      const micro_transpose cut = cut_micro_tiles(problem, sizeof(In), sizeof(Out), side);
      return detail::launch_micro_tiles(cut.tiles, cut.move,
                                        fused_operation<Kind, In, Out, Op>{op, copy}, stream);
    }
  }
  if constexpr (has_little_operation<In, Out>) {
    const little_operation work = choose_little_operation<Kind, In, Out>(problem);
    if (work.mover != small_mover::none) {
      return detail::launch_small<true>(work.mover, work.problem, batch_of<Matrices>(problem),
                                        fused_operation<Kind, In, Out, Op>{op, copy}, stream);
    }
  }
  return with_fused_shape<Kind, In, Out>(
      problem, copy, [] { return most_shared_bytes(); },
      [&](auto shape) { return launch_fused_tiles<decltype(shape)>(problem, copy, op, stream); });
}

/// out(x, y) = op(in(y, x)), of each matrix of a batch, or of one matrix with the old out(x, y) as a second argument, or with
/// copy(y, x) = out(x, y), whose stride is in elements.
template <fusion Kind, class In, class Out, matrices Matrices, class Op>
cudaError_t run_fused(const transpose_request& request, const Op& op, cudaStream_t stream,
                      Out* copy = nullptr, size_type copy_stride = 0) {
  const verdict answer =
      Kind == fusion::dual ? detail::examine_copy(request, copy, copy_stride) : examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (is_fusible<Kind, In, Out, Op>()) {  // else one sentence has been said
    return transform_problem<Kind, In, Out, Matrices>(make_problem(request), op, stream,
                                                      {copy, copy_stride * sizeof(Out)});
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
