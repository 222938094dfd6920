// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The problem that every out-of-place transpose is, and what of its addresses decides how it is moved. Plain C++17.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/request/request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a launch of any mover moves: a matrix, or those of a batch. Sizes and strides are in bytes where the name says so, else
/// in elements. Row strides are numbers modulo 2^64: a matrix whose rows run backwards starts at its first row, the one with
/// the highest address, and has a negative stride. So nobody divides by a stride, nor compares it but to ask whether rows
/// follow without a gap.
struct matrix_problem {
  const void* in;  ///< ny x nx; or a device array of pointers to matrices
  void* out;       ///< nx x ny; likewise
  size_type in_stride_bytes;
  size_type out_stride_bytes;
  size_type in_batch_bytes;  ///< to the next matrix; behind pointers, from one to the first row
  size_type out_batch_bytes;
  size_type nx;
  size_type ny;
  bool pointer_arrays;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(size_type batch) const {
    return pointer_arrays ? static_cast<const unsigned char* const*>(in)[batch] + in_batch_bytes
                          : static_cast<const unsigned char*>(in) + batch * in_batch_bytes;
  }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(size_type batch) const {
    return pointer_arrays ? static_cast<unsigned char* const*>(out)[batch] + out_batch_bytes
                          : static_cast<unsigned char*>(out) + batch * out_batch_bytes;
  }
};

/// What a call moves: so many matrices. Kernels have their number from the grid.
struct batch_problem : matrix_problem {
  size_type batch;
};

/// The stride of a single row of the input leads nowhere and may wrap: the row's length stands for it.
inline batch_problem make_problem(const transpose_request& request) {
  return {{request.in, request.out,
           (request.ny == 1 ? request.nx : request.in_stride) * request.in_element,
           request.out_stride * request.out_element, request.in_batch * request.in_element,
           request.out_batch * request.out_element, request.nx, request.ny, request.pointer_arrays},
          request.batch};
}

/// The problem with each matrix starting so many bytes later.
template <class Problem>
Problem start_later(Problem problem, size_type in_bytes, size_type out_bytes) {
  if (problem.pointer_arrays) {
    problem.in_batch_bytes += in_bytes;
    problem.out_batch_bytes += out_bytes;
  } else {
    problem.in = static_cast<const unsigned char*>(problem.in) + in_bytes;
    problem.out = static_cast<unsigned char*>(problem.out) + out_bytes;
  }
  return problem;
}

/// The problem from a later matrix on.
template <class Problem>
Problem skip_matrices(Problem problem, size_type count) {
  const bool tables = problem.pointer_arrays;
  problem.in = static_cast<const unsigned char*>(problem.in) +
               count * (tables ? sizeof(void*) : problem.in_batch_bytes);
  problem.out = static_cast<unsigned char*>(problem.out) +
                count * (tables ? sizeof(void*) : problem.out_batch_bytes);
  return problem;
}

/// Calls launch(problem) for each half of work that is too much for one grid; `launch` returns 0 to go on.
/// Halves of a matrix start at multiples of 4096 rows or columns, so that alignment is as it was.
template <class Launch>
auto split(const batch_problem& problem, size_type in_element, size_type out_element,
           Launch launch) {
  const auto half_of = [](size_type extent) { return (extent / 2 + 4095) / 4096 * 4096; };
  batch_problem first = problem;
  batch_problem second = problem;
  if (problem.batch > 1) {
    first.batch = problem.batch / 2;
    second = skip_matrices(problem, first.batch);
    second.batch -= first.batch;
  } else if (problem.nx > problem.ny) {
    first.nx = half_of(problem.nx);
    second.nx -= first.nx;
    second = start_later(second, first.nx * in_element, first.nx * problem.out_stride_bytes);
  } else {
    first.ny = half_of(problem.ny);
    second.ny -= first.ny;
    second = start_later(second, first.ny * problem.in_stride_bytes, first.ny * out_element);
  }
  const auto status = launch(first);
  return status == decltype(launch(first)){} ? launch(second) : status;
}

/// The problem with the rows of the input, of the output or of both taken from the last to the first: the first one is
/// where the last one was, and a stride leads back.
inline batch_problem run_backwards(batch_problem problem, bool in_rows, bool out_rows) {
  problem = start_later(problem, in_rows ? (problem.ny - 1) * problem.in_stride_bytes : 0,
                        out_rows ? (problem.nx - 1) * problem.out_stride_bytes : 0);
  if (in_rows) { problem.in_stride_bytes = size_type{0} - problem.in_stride_bytes; }
  if (out_rows) { problem.out_stride_bytes = size_type{0} - problem.out_stride_bytes; }
  return problem;
}

/// The bits that the address of some row of a side has. Precondition: no pointer arrays.
inline size_type row_bits_of(const batch_problem& problem, bool input) {
  const size_type batch_bytes = input ? problem.in_batch_bytes : problem.out_batch_bytes;
  return reinterpret_cast<size_type>(input ? problem.in : problem.out) |
         (input ? problem.in_stride_bytes : problem.out_stride_bytes) |
         (problem.batch > 1 ? batch_bytes : 0);
}

/// The mask for the distance of the output's rows from a sector: 0 where all of them start on one.
inline unsigned sector_mask(const batch_problem& problem) {
  return problem.pointer_arrays || row_bits_of(problem, false) % sector_bytes != 0
             ? sector_bytes - 1
             : 0;
}

/// True where rows of `row_bytes` follow each other without a gap, forwards or backwards.
constexpr bool is_dense(size_type stride_bytes, size_type row_bytes) {
  return stride_bytes == row_bytes || 0 - stride_bytes == row_bytes;
}

/// What all addresses of an element are multiples of: the bits that some pointer or stride has. Behind
/// pointer arrays only what the type promises is known.
inline size_type address_bits_of(const matrix_problem& problem, size_type promised) {
  const size_type pointers = problem.pointer_arrays ? promised
                                                    : reinterpret_cast<size_type>(problem.in) |
                                                          reinterpret_cast<size_type>(problem.out);
  return pointers | problem.in_stride_bytes | problem.out_stride_bytes | problem.in_batch_bytes |
         problem.out_batch_bytes;
}

/// True where words of 4 bytes of the input are words of the output. Else cudaMemcpyAsync has 27 to 35 % of its speed.
inline bool share_words(const void* out, const void* in) {
  return (reinterpret_cast<size_type>(in) - reinterpret_cast<size_type>(out)) % 4 == 0;
}

/// True of a vector without gaps on both sides: it is its own transpose.
inline bool is_vector(const transpose_request& request) {
  const size_type elements = request.nx * request.ny;
  return (request.nx == 1 || request.ny == 1) && !request.pointer_arrays &&
         (request.nx == 1 ? request.in_stride : request.out_stride) == 1 &&
         (request.batch == 1 || (request.in_batch == elements && request.out_batch == elements));
}

/// Calls launch(width) with the access by which an element is moved, a std::integral_constant: the widest that its
/// size allows, where `bits` says that all addresses are multiples of it, else the one that its type promises.
template <int ElementBytes, int Alignment, class Launch>
auto with_access(size_type bits, Launch launch) {
  constexpr int widest = access_width(ElementBytes);
  constexpr int promised = access_width(ElementBytes, Alignment);
  if constexpr (promised < widest) {
    if (bits % widest != 0) { return launch(std::integral_constant<int, promised>{}); }
  }
  return launch(std::integral_constant<int, widest>{});
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
