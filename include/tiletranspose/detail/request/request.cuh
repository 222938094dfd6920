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

/// One axis: elements, and how far one is from the next on both sides, in elements or, of little work, bytes; of either sign.
struct relocation_axis {
  size_type extent;
  long long in_stride;
  long long out_stride;

  constexpr long long stride(bool input) const { return input ? in_stride : out_stride; }
};

/// How far a stride leads, either way.
constexpr size_type distance(long long stride) {
  const auto forwards = static_cast<size_type>(stride);
  return stride < 0 ? 0 - forwards : forwards;
}

/// Both sides of a call, whose types are gone.
struct typed_sides {
  const void* in;
  void* out;
  size_type in_element;  ///< bytes
  size_type out_element;
  size_type in_alignment;  ///< of what `in` points to, as its type has it; a power of two
  size_type out_alignment;
};

/// `batch` matrices of ny rows of nx elements that become transposes or other symmetries of them. Strides in elements.
struct transpose_request : typed_sides {
  size_type nx;
  size_type ny;
  size_type in_stride;  ///< from row to row
  size_type out_stride;
  size_type batch = 1;
  size_type in_batch = 0;  ///< from matrix to matrix; 0 where `pointer_arrays`
  size_type out_batch = 0;
  bool pointer_arrays = false;  ///< in and out are device arrays of pointers
};

/// What becomes of a request, and the sentence that says why where nothing is launched.
struct verdict {
  enum kind { nothing_to_do, refused, go };
  kind answer;
  const char* why = "";

  constexpr operator kind() const { return answer; }
};
constexpr verdict refuse(const char* why) { return {verdict::refused, why}; }
constexpr verdict refuse_unless(bool right, const char* why) {
  return right ? verdict{verdict::go} : refuse(why);
}
inline constexpr verdict nothing_to_move{verdict::nothing_to_do, "a size is 0"};

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
inline verdict examine_pointers(const typed_sides& sides) {
  if (sides.in == nullptr || sides.out == nullptr) {
    return refuse("a pointer is null, or the shapes of input and output do not match");
  }
  return refuse_unless(
      points(sides.in, sides.in_alignment) && points(sides.out, sides.out_alignment),
      "a pointer is no multiple of its type's alignment");
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
  region = {reinterpret_cast<size_type>(first), outer, segment_bytes, stride_bytes};
  return region.first <= ~size_type{0} - (reach + segment_bytes);
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
  const size_type inner = side_by_side ? batch : rows;  // segments of a region, which lie closer
  const size_type inner_stride = side_by_side ? batch_stride : stride;
  const size_type outer_stride = side_by_side ? stride : batch_stride;
  if (inner_stride < cols || !make_region(first, inner, cols, inner_stride, element, side.first)) {
    return false;
  }
  side.count = side_by_side ? rows : batch;
  side.step_bytes = outer_stride * element;
  const size_type extent = (inner - 1) * inner_stride + cols;
  memory_region all{};  // from the first element to the last
  return outer_stride >= extent &&
         make_region(first, side.count, extent, outer_stride, element, all);
}

inline constexpr verdict size_refused =
    refuse("sizes overflow the address space, or a batch stride is less than a matrix");
inline constexpr verdict overlap_refused = refuse("input and output share a byte");

/// All that is asked of a request but whether its sides, `in` and `out`, share memory. `s` says what shape the output has.
inline verdict examine_sides(const transpose_request& request, symmetry s, region_batch& in,
                             region_batch& out) {
  if (request.nx == 0 || request.ny == 0 || request.batch == 0) { return nothing_to_move; }
  const size_type out_rows = transposes(s) ? request.nx : request.ny;
  const size_type out_cols = transposes(s) ? request.ny : request.nx;
  const verdict pointers = examine_pointers(request);
  if (pointers != verdict::go) { return pointers; }
  if (request.in_stride < request.nx || request.out_stride < out_cols) {
    return refuse("a stride is shorter than its row");
  }
  // Behind arrays of pointers only the size of one matrix can be checked; a slot that both arrays
  // share names a matrix that would be read and written.
  const size_type batch = request.pointer_arrays ? 1 : request.batch;
  if (request.pointer_arrays) {
    if (!make_region(request.in, 1, request.batch, 0, sizeof(void*), in.first) ||
        !make_region(request.out, 1, request.batch, 0, sizeof(void*), out.first)) {
      return size_refused;
    }
    if (overlap(in.first, out.first)) { return refuse("the arrays of pointers overlap"); }
  }
  const bool fits = make_side(request.in, request.ny, request.nx, request.in_stride, batch,
                              request.in_batch, request.in_element, in) &&
                    make_side(request.out, out_rows, out_cols, request.out_stride, batch,
                              request.out_batch, request.out_element, out);
  return fits ? verdict{verdict::go} : size_refused;
}

inline verdict examine(const transpose_request& request, symmetry s = symmetry::transpose) {
  region_batch in{}, out{};
  const verdict answer = examine_sides(request, s, in, out);
  return answer == verdict::go && !request.pointer_arrays && overlap_batches(in, out)
             ? overlap_refused
             : answer;
}

/// Of one matrix that is its own output, which symmetries that transpose ask to be square.
inline verdict examine_inplace(const transpose_request& request, symmetry s) {
  region_batch in{}, out{};
  const verdict answer = examine_sides(request, symmetry::identity, in, out);
  if (answer != verdict::go || !transposes(s)) { return answer; }
  return refuse_unless(
      request.nx == request.ny,
      "a matrix that is transposed in its own memory without scratch must be a square");
}

/// Of a request of one matrix beside whose output `copy`, of the input's shape and of the output's elements, is written.
inline verdict examine_copy(const transpose_request& request, const void* copy,
                            size_type copy_stride) {
  region_batch in{}, out{};
  memory_region copied{};
  const verdict answer = examine(request);
  if (answer != verdict::go) { return answer; }
  const bool fits =
      examine_sides(request, symmetry::transpose, in, out) == verdict::go &&
      points(copy, request.out_alignment) && copy_stride >= request.nx &&
      make_region(copy, request.ny, request.nx, copy_stride, request.out_element, copied);
  return refuse_unless(
      fits && !overlap(copied, in.first) && !overlap(copied, out.first),
      "the second output is null or misaligned, its stride or shape does not suit it, or it shares "
      "a byte");
}

/// Memory that a call uses, without gaps; of no bytes it needs no address.
struct used_memory {
  const void* first;
  size_type bytes;
  bool written;
};

/// Refuses memory that is null, misaligned, longer than the address space, or written and shared with other memory.
inline verdict examine_memory(const used_memory* memory, size_type count, size_type alignment) {
  for (size_type i = 0; i < count; ++i) {
    if (memory[i].bytes == 0) { continue; }
    const verdict pointer = examine_pointers(
        {memory[i].first, const_cast<void*>(memory[i].first), 1, 1, alignment, alignment});
    if (pointer != verdict::go) { return pointer; }
    memory_region own{};
    if (!make_region(memory[i].first, 1, memory[i].bytes, 0, 1, own)) { return size_refused; }
    for (size_type j = 0; j < i; ++j) {
      const bool matters = memory[j].bytes > 0 && (memory[i].written || memory[j].written);
      if (matters &&
          overlap(own, {reinterpret_cast<size_type>(memory[j].first), 1, memory[j].bytes, 0})) {
        return memory[i].written == memory[j].written
                   ? refuse("two planes that are written share a byte")
                   : overlap_refused;
      }
    }
  }
  return {verdict::go};
}

/// Of a dense matrix in place that uses `scratch`, of at least `least` bytes and aligned as its elements.
inline verdict examine_scratch(const transpose_request& request, const void* scratch,
                               size_type scratch_bytes, size_type least) {
  const verdict answer = examine_inplace(request, symmetry::identity);
  if (answer != verdict::go) { return answer; }
  const used_memory memory[] = {{request.out, request.nx * request.ny * request.out_element, true},
                                {scratch, scratch_bytes, true}};
  return refuse_unless(
      scratch_bytes >= least && examine_memory(memory, 2, request.out_alignment) == verdict::go,
      "the scratch is misaligned, less than the least, or shares a byte with the data");
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
