// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a caller of a launch wrapper asks for, and whether it can be done: every check that transpose.cuh promises
/// at its top, before anything of CUDA is touched. Plain C++17.

#pragma once

#include <tiletranspose/detail/request/overlap.cuh>
#include <tiletranspose/symmetry.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// `batch` matrices of ny x nx elements to be transposed, or laid down again in another way. Strides in
/// elements.
struct transpose_request {
  const void* in;
  void* out;
  size_type nx;
  size_type ny;
  size_type in_stride;  ///< from row to row
  size_type out_stride;
  size_type batch;
  size_type in_batch;  ///< from matrix to matrix; 0 where `pointer_arrays`
  size_type out_batch;
  size_type in_element;  ///< bytes
  size_type out_element;
  size_type in_alignment;  ///< of what `in` points to, as its type has it; a power of two
  size_type out_alignment;
  bool pointer_arrays;  ///< in and out are device arrays of pointers
};

enum class verdict { nothing_to_do, refused, go };

/// The matrices of a call, as far as its name says: a kernel for one matrix of little work knows of no others, which is
/// worth up to 9 % of its time.
enum class matrices {
  one,
  batch,    ///< one behind the other
  pointers  ///< where device arrays of pointers say
};

/// True for a pointer that the caller may use with its type. Behind one that is misaligned a kernel would fail, and
/// take the context with it.
inline bool points(const void* address, size_type alignment) {
  return address != nullptr && reinterpret_cast<size_type>(address) % alignment == 0;
}

/// Sets `product` and returns true where a * b fits an eighth of the address space, as any allocation
/// must; `overlap` adds up to four of such.
constexpr bool multiplies(size_type a, size_type b, size_type& product) {
  constexpr size_type most = ~size_type{0} / 8;
  if (a != 0 && b > most / a) { return false; }
  product = a * b;
  return true;
}

/// The memory of `outer` segments of `length` elements, `stride` apart; false where it overflows.
inline bool make_region(const void* first, size_type outer, size_type length, size_type stride,
                        size_type element, memory_region& region) {
  size_type reach = 0;
  size_type segment_bytes = 0;
  size_type stride_bytes = 0;
  if (!multiplies(length, element, segment_bytes)) { return false; }
  if (outer > 1 &&
      (!multiplies(stride, element, stride_bytes) || !multiplies(outer - 1, stride_bytes, reach))) {
    return false;
  }
  const auto address = reinterpret_cast<size_type>(first);
  if (reach > ~size_type{0} / 2 - segment_bytes ||
      address > ~size_type{0} - (reach + segment_bytes)) {
    return false;
  }
  region = {address, outer, segment_bytes, stride_bytes};
  return true;
}

/// The memory of one side of a request. The matrices of a batch lie one behind the other or, where their rows have gaps,
/// side by side: all rows of the same number in the stride of one.
inline bool make_side(const void* first, size_type rows, size_type cols, size_type stride,
                      size_type batch, size_type batch_stride, size_type element,
                      region_batch& side) {
  side.count = 1;
  side.step_bytes = 1;
  if (batch == 1) { return make_region(first, rows, cols, stride, element, side.first); }
  size_type matrix = 0;
  if (!multiplies(rows, cols, matrix)) { return false; }
  if (rows == 1 || stride == cols) {
    return batch_stride >= matrix &&
           make_region(first, batch, matrix, batch_stride, element, side.first);
  }
  const bool side_by_side = batch_stride < stride;
  const size_type extent = side_by_side ? cols : (rows - 1) * stride + cols;
  memory_region all{};  // from the first element to the last
  if (!make_region(first, rows, cols, stride, element, side.first) || batch_stride < extent ||
      !make_region(first, batch, extent, batch_stride, element, all)) {
    return false;
  }
  side.count = batch;
  side.step_bytes = all.stride_bytes;
  if (!side_by_side) { return true; }
  side.count = rows;
  side.step_bytes = stride * element;
  side.first = all;
  return all.end() - all.first <= side.step_bytes &&
         all.first + (rows - 1) * side.step_bytes <= ~size_type{0} - (all.end() - all.first);
}

/// Why a request is refused.
enum class refusal {
  none,
  null_pointer,
  misaligned_pointer,
  short_stride,
  too_large,
  shared_tables,
  shared_bytes,
  no_square,
  second_output,
  scratch,
  axes,             ///< of a permute: they repeat, or are none of the array's
  many_axes,        ///< more are left than a permute takes
  shared_range,     ///< input and output share memory between their first and last elements
  shared_elements,  ///< two elements of the output might share an address
  shared_planes     ///< two planes that are written share a byte
};

/// The rule that refuses a request with work to do; `s` says what shape the output has.
inline refusal find_refusal(const transpose_request& request, symmetry s) {
  const size_type out_rows = transposes(s) ? request.nx : request.ny;
  const size_type out_cols = transposes(s) ? request.ny : request.nx;
  if (request.in == nullptr || request.out == nullptr) { return refusal::null_pointer; }
  if (!points(request.in, request.in_alignment) || !points(request.out, request.out_alignment)) {
    return refusal::misaligned_pointer;
  }
  if (request.in_stride < request.nx || request.out_stride < out_cols) {
    return refusal::short_stride;
  }
  region_batch in{};
  region_batch out{};
  // Behind arrays of pointers only the size of one matrix can be checked; a slot that both arrays
  // share names a matrix that would be read and written.
  const size_type batch = request.pointer_arrays ? 1 : request.batch;
  if (request.pointer_arrays) {
    if (!make_region(request.in, 1, request.batch, 0, sizeof(void*), in.first) ||
        !make_region(request.out, 1, request.batch, 0, sizeof(void*), out.first)) {
      return refusal::too_large;
    }
    if (overlap(in.first, out.first)) { return refusal::shared_tables; }
  }
  if (!make_side(request.in, request.ny, request.nx, request.in_stride, batch, request.in_batch,
                 request.in_element, in) ||
      !make_side(request.out, out_rows, out_cols, request.out_stride, batch, request.out_batch,
                 request.out_element, out)) {
    return refusal::too_large;
  }
  return !request.pointer_arrays && overlap_batches(in, out) ? refusal::shared_bytes
                                                             : refusal::none;
}

/// `s` says what shape the output has.
inline verdict examine(const transpose_request& request, symmetry s = symmetry::transpose) {
  if (request.nx == 0 || request.ny == 0 || request.batch == 0) { return verdict::nothing_to_do; }
  return find_refusal(request, s) == refusal::none ? verdict::go : verdict::refused;
}

/// The rule that refuses one matrix that is its own output, which symmetries that transpose ask to be square.
inline refusal find_inplace_refusal(const transpose_request& request, symmetry s) {
  if (request.in == nullptr) { return refusal::null_pointer; }
  if (!points(request.in, request.in_alignment)) { return refusal::misaligned_pointer; }
  if (request.in_stride < request.nx) { return refusal::short_stride; }
  if (transposes(s) && request.nx != request.ny) { return refusal::no_square; }
  memory_region data{};
  return make_region(request.in, request.ny, request.nx, request.in_stride, request.in_element,
                     data)
             ? refusal::none
             : refusal::too_large;
}
inline verdict examine_inplace(const transpose_request& request, symmetry s) {
  if (request.nx == 0 || request.ny == 0) { return verdict::nothing_to_do; }
  return find_inplace_refusal(request, s) == refusal::none ? verdict::go : verdict::refused;
}

/// Whether `copy`, a second output of the input's shape and of the output's elements, can be written beside
/// a request of one matrix that may go.
inline verdict examine_copy(const transpose_request& request, const void* copy,
                            size_type copy_stride) {
  if (!points(copy, request.out_alignment) || copy_stride < request.nx) { return verdict::refused; }
  memory_region in{};
  memory_region out{};
  memory_region copied{};
  const bool fits =
      make_region(request.in, request.ny, request.nx, request.in_stride, request.in_element, in) &&
      make_region(request.out, request.nx, request.ny, request.out_stride, request.out_element,
                  out) &&
      make_region(copy, request.ny, request.nx, copy_stride, request.out_element, copied);
  return fits && !overlap(copied, in) && !overlap(copied, out) ? verdict::go : verdict::refused;
}

/// Whether a dense matrix that may go in place can use `scratch`, of at least `least` bytes and aligned as its elements.
inline verdict examine_scratch(const transpose_request& request, const void* scratch,
                               size_type scratch_bytes, size_type least) {
  if (!points(scratch, request.out_alignment) || scratch_bytes < least) { return verdict::refused; }
  memory_region data{};
  memory_region temp{};
  const bool fits = make_region(request.out, request.ny, request.nx, request.out_stride,
                                request.out_element, data) &&
                    make_region(scratch, 1, scratch_bytes, 0, 1, temp);
  return fits && !overlap(data, temp) ? verdict::go : verdict::refused;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
