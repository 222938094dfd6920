// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launch wrappers: transposes of matrices in device memory, one call from the host.
///
///     #include <tiletranspose/transpose.cuh>
///
///     cudaError_t status = tt::transpose(out, in, nx, ny, stream);      // tuned
///     status = tt::transpose<float, 32, 8>(out, in, nx, ny, stream);    // this tile, this block
///
/// All of them
/// - take any trivially copyable element of 1 to 64 bytes, any shape, any stride and any alignment that the
///   element's type allows; sizes are limited by memory alone;
/// - run asynchronously on `stream`, allocate nothing, and may be called from several threads, on any
///   current device and while a stream is captured;
/// - return cudaSuccess without a launch where there is nothing to move, whatever the pointers;
/// - return cudaErrorInvalidValue before anything is launched, and leave `out` as it was, for null
///   pointers, pointers that are not aligned for their type, a stride shorter than its row, sizes that
///   overflow the address space, and input and output that share a byte;
/// - return the status of their own launch otherwise. An error that an earlier call left behind is neither
///   returned nor cleared. The compiler warns of a call whose status is dropped.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: transpose.cuh launches kernels from the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>

#include <type_traits>

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/calls/explicit_transpose.cuh>
#include <tiletranspose/detail/calls/fused.cuh>
#include <tiletranspose/detail/calls/rectangle_inplace.cuh>
#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/inplace/square.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What the fused calls ask of their types.
template <fusion Kind, class Out, class In, class Op>
constexpr bool check_fused() {
  if constexpr (!has_size<Out> || !has_size<In>) {
    return check_element<std::conditional_t<has_size<Out>, In, Out>>();
  } else {
    return check_output<Out>() && check_element<In>() && check_function<Kind, In, Out, Op>();
  }
}

}  // namespace detail

/// Transposes a matrix, tuned for its type, shape and alignment.
///
///     out[x * ny + y] == in[y * nx + x]    for 0 <= x < nx, 0 <= y < ny
///
/// \param out     nx rows x ny columns, row-major, device memory
/// \param in      ny rows x nx columns, row-major, device memory; does not overlap `out`
/// \param nx      columns of the input, in elements
/// \param ny      rows of the input
/// \param stream  where the work is queued
/// \returns see the top of this file
template <class T>
[[nodiscard]] cudaError_t transpose(T* out, const T* in, size_type nx, size_type ny,
                                    cudaStream_t stream = nullptr) {
  static_assert(detail::check_element<T>(), "");
  return detail::run_transpose<sizeof(T), alignof(T), detail::matrices::one>(
      detail::dense_request(out, in, nx, ny), stream);
}

/// Transposes a pitched matrix or a part of one, tuned.
///
///     out(x, y) == in(y, x)
///
/// \param out  in.cols rows x in.rows columns; memory between its rows is left alone
/// \param in   strides in elements, at least the number of columns
/// \returns cudaErrorInvalidValue also where the shapes do not match
///
/// A part of `rows` rows and `cols` columns of a matrix whose rows are `pitch` elements apart:
///
///     const tt::matrix_view<const float> part{in, rows, cols, pitch};
///     status = tt::transpose(tt::matrix_view<float>{out, cols, rows, rows}, part, stream);
template <class T, class Element>
[[nodiscard]] cudaError_t transpose(matrix_view<T> out, matrix_view<Element> in,
                                    cudaStream_t stream = nullptr) {
  static_assert(detail::check_matrices<T, Element>(), "");
  return detail::run_transpose<sizeof(T), alignof(T), detail::matrices::one>(
      detail::view_request(out, in), stream);
}

/// Transposes with the tile and the block that you write.
///
///     out[x * ny + y] == in[y * nx + x]
///
/// \tparam TileDim    rows and columns of a tile
/// \tparam BlockRows  rows of threads; a block has TileDim * BlockRows threads, each serving
///                    TileDim / BlockRows elements of a tile. A block moves one tile where there is little
///                    work and of structures, else as many, one below the other, as keep its threads' loads in
///                    flight.
/// \tparam Padding    unused elements behind each row of the tile; the default comes from the model of 4-byte
///                    banks; for others take default_padding<T, TileDim, TileDim, BankWidth>()
/// \tparam BankWidth  bytes that a shared-memory bank serves per cycle, 4 or 8: the model that Padding is judged
///                    by. It changes no hardware.
/// A tile that would conflict where another padding would not is a compiler error.
/// \param out,in,nx,ny,stream  as for the tuned form
/// \returns see the top of this file
/// Shared memory: at most 48 KB.
template <class T, int TileDim, int BlockRows, int Padding = default_padding<T, TileDim>(),
          int BankWidth = 4>
[[nodiscard]] cudaError_t transpose(T* out, const T* in, size_type nx, size_type ny,
                                    cudaStream_t stream = nullptr) {
  if constexpr (detail::check_tile<T, TileDim, BlockRows, Padding, BankWidth>()) {
    return detail::run_explicit_transpose<sizeof(T), alignof(T), TileDim, BlockRows, Padding>(
        detail::dense_request(out, in, nx, ny), stream);
  } else {
    return cudaErrorInvalidValue;  // after the sentence that the compiler has said
  }
}

/// The same for pitched matrices and parts of matrices.
template <class T, int TileDim, int BlockRows, int Padding = default_padding<T, TileDim>(),
          int BankWidth = 4, class Element = const T>
[[nodiscard]] cudaError_t transpose(matrix_view<T> out, matrix_view<Element> in,
                                    cudaStream_t stream = nullptr) {
  static_assert(detail::check_matrices<T, Element>(), "");
  if constexpr (detail::check_tile<T, TileDim, BlockRows, Padding, BankWidth>()) {
    return detail::run_explicit_transpose<sizeof(T), alignof(T), TileDim, BlockRows, Padding>(
        detail::view_request(out, in), stream);
  } else {
    return cudaErrorInvalidValue;  // after the sentence that the compiler has said
  }
}

/// Transposes `batch` matrices that lie one behind the other.
///
///     out[(b * nx + x) * ny + y] == in[(b * ny + y) * nx + x]    for 0 <= b < batch
///
/// \param out    batch * nx * ny elements: matrices of nx rows x ny columns
/// \param in     as many: matrices of ny rows x nx columns
/// \param batch  number of matrices
///
///     status = tt::transpose_batched(out, in, nx, ny, batch, stream);
///
/// For matrices of pointers use the form with batch strides; the plain form takes pointers to pointers as
/// the array form below.
template <class T, typename std::enable_if<!std::is_pointer<T>::value, int>::type = 0>
[[nodiscard]] cudaError_t transpose_batched(T* out, const T* in, size_type nx, size_type ny,
                                            size_type batch, cudaStream_t stream = nullptr) {
  static_assert(detail::check_element<T>(), "");
  size_type elements = 0;  // where the product overflows, examine() refuses a stride of 0
  detail::multiplies(nx, ny, elements);
  return detail::run_transpose<sizeof(T), alignof(T), detail::matrices::batch>(
      detail::dense_request(out, in, nx, ny, batch, elements, elements), stream);
}

/// Transposes `batch` matrices with gaps between them.
///
///     out[b * out_batch_stride + x * ny + y] == in[b * in_batch_stride + y * nx + x]
///
/// \param out_batch_stride,in_batch_stride  elements from the start of one matrix to the next, at least
///        nx * ny; memory between the matrices of `out` is left alone
/// \returns cudaErrorInvalidValue also for a batch stride that is less, where there are several matrices
///
///     status = tt::transpose_batched(out, nx * ny + 16, in, nx * ny, nx, ny, batch, stream);
template <class T>
[[nodiscard]] cudaError_t transpose_batched(T* out, size_type out_batch_stride, const T* in,
                                            size_type in_batch_stride, size_type nx, size_type ny,
                                            size_type batch, cudaStream_t stream = nullptr) {
  static_assert(detail::check_element<T>(), "");
  return detail::run_transpose<sizeof(T), alignof(T), detail::matrices::batch>(
      detail::dense_request(out, in, nx, ny, batch, out_batch_stride, in_batch_stride), stream);
}

/// Transposes `batch` pitched matrices, or parts of matrices.
///
///     element (x, y) of matrix b of out == element (y, x) of matrix b of in    for 0 <= b < batch
///
/// \param out,in  the first of them; the others have the same shapes and strides
/// \param out_batch_stride,in_batch_stride  elements from the first element of one matrix to that of the next. The
///        matrices of a side lie one behind the other, or side by side in rows as long as their stride.
/// \returns cudaErrorInvalidValue also where the matrices of a side overlap
///
/// Four matrices side by side become four dense ones:
///
///     const tt::matrix_view<const float> left{in, rows, cols, 4 * cols};
///     status = tt::transpose_batched(tt::matrix_view<float>{out, cols, rows, rows}, rows * cols, left, cols, 4, stream);
template <class T, class Element>
[[nodiscard]] cudaError_t transpose_batched(matrix_view<T> out, size_type out_batch_stride,
                                            matrix_view<Element> in, size_type in_batch_stride,
                                            size_type batch, cudaStream_t stream = nullptr) {
  static_assert(detail::check_matrices<T, Element>(), "");
  return detail::run_transpose<sizeof(T), alignof(T), detail::matrices::batch>(
      detail::view_request(out, in, batch, out_batch_stride, in_batch_stride), stream);
}

/// Transposes `batch` matrices that lie anywhere.
///
///     outs[b][x * ny + y] == ins[b][y * nx + x]
///
/// \param outs,ins  arrays of `batch` pointers, themselves in device memory. The matrices must not
///                  overlap, nor a pointer be null or misaligned, which only the caller can know.
///
///     status = tt::transpose_batched(outs, ins, nx, ny, batch, stream);    // float* const* outs; const float* const* ins
template <class T>
[[nodiscard]] cudaError_t transpose_batched(T* const* outs, const T* const* ins, size_type nx,
                                            size_type ny, size_type batch,
                                            cudaStream_t stream = nullptr) {
  static_assert(detail::check_element<T>(), "");
  return detail::run_transpose<sizeof(T), alignof(T), detail::matrices::pointers>(
      detail::pointers_request(outs, ins, nx, ny, batch), stream);
}

/// Transposes and applies a function to every element, in one pass.
///
///     out[x * ny + y] == op(in[y * nx + x])
///
/// \param out  nx rows x ny columns of the type that `op` yields, or one that it converts to
/// \param in   ny rows x nx columns
/// \param op   a trivially copyable function object with a __device__ (or __host__ __device__) call
///             operator; called once per element, or more than once for elements near tile borders, so it
///             must depend on its arguments alone. One that cannot be called with an element alone is called with
///             the element, its row and its column in the input, op(in[y * nx + x], y, x), as std::size_t.
///
///     struct to_half {
///       __device__ __half operator()(float value) const { return __float2half(value); }
///     };
///     status = tt::transform_transpose(halves, floats, nx, ny, to_half{}, stream);
///
/// A bias for each column:
///
///     struct add_bias {
///       const float* bias;
///       __device__ float operator()(float value, std::size_t, std::size_t col) const {
///         return value + bias[col];
///       }
///     };
///     status = tt::transform_transpose(out, in, nx, ny, add_bias{bias}, stream);
template <class Out, class In, class Op>
[[nodiscard]] cudaError_t transform_transpose(Out* out, const In* in, size_type nx, size_type ny,
                                              Op op, cudaStream_t stream = nullptr) {
  static_assert(detail::check_fused<detail::fusion::transform, Out, In, Op>(), "");
  return detail::run_fused<detail::fusion::transform, In, Out, detail::matrices::one>(
      detail::dense_request(out, in, nx, ny), op, stream);
}

/// The same for pitched matrices and parts of matrices; rows and columns are counted from the first element of `in`.
///
///     out(x, y) == op(in(y, x))
template <class Out, class Element, class Op>
[[nodiscard]] cudaError_t transform_transpose(matrix_view<Out> out, matrix_view<Element> in, Op op,
                                              cudaStream_t stream = nullptr) {
  using element = typename detail::remove_const<Element>::type;
  static_assert(detail::check_fused<detail::fusion::transform, Out, element, Op>(), "");
  return detail::run_fused<detail::fusion::transform, element, Out, detail::matrices::one>(
      detail::view_request(out, in), op, stream);
}

/// Transposes `batch` matrices that lie one behind the other, and applies a function to every element.
///
///     out[(b * nx + x) * ny + y] == op(in[(b * ny + y) * nx + x])    for 0 <= b < batch
///
/// \param op  as of transform_transpose; rows and columns are those of an element's own matrix
/// One launch, unless that would have 2^31 blocks and more. Of more than 65535 matrices each takes a large tile of its own, but
/// where types have 1, 2 or 4 bytes, not both of them 4, and rows are whole groups of four, aligned as these are, and where
/// matrices are too small for any tile.
///
///     status = tt::transform_transpose_batched(halves, floats, nx, ny, batch, to_half{}, stream);
template <class Out, class In, class Op>
[[nodiscard]] cudaError_t transform_transpose_batched(Out* out, const In* in, size_type nx,
                                                      size_type ny, size_type batch, Op op,
                                                      cudaStream_t stream = nullptr) {
  static_assert(detail::check_fused<detail::fusion::transform, Out, In, Op>(), "");
  size_type elements = 0;  // where the product overflows, examine() refuses a stride of 0
  detail::multiplies(nx, ny, elements);
  return detail::run_fused<detail::fusion::transform, In, Out, detail::matrices::batch>(
      detail::dense_request(out, in, nx, ny, batch, elements, elements), op, stream);
}

/// The same with gaps between the matrices; batch strides as of transpose_batched.
template <class Out, class In, class Op>
[[nodiscard]] cudaError_t transform_transpose_batched(Out* out, size_type out_batch_stride,
                                                      const In* in, size_type in_batch_stride,
                                                      size_type nx, size_type ny, size_type batch,
                                                      Op op, cudaStream_t stream = nullptr) {
  static_assert(detail::check_fused<detail::fusion::transform, Out, In, Op>(), "");
  return detail::run_fused<detail::fusion::transform, In, Out, detail::matrices::batch>(
      detail::dense_request(out, in, nx, ny, batch, out_batch_stride, in_batch_stride), op, stream);
}

/// The same for pitched matrices and parts of matrices.
template <class Out, class Element, class Op>
[[nodiscard]] cudaError_t transform_transpose_batched(matrix_view<Out> out,
                                                      size_type out_batch_stride,
                                                      matrix_view<Element> in,
                                                      size_type in_batch_stride, size_type batch,
                                                      Op op, cudaStream_t stream = nullptr) {
  using element = typename detail::remove_const<Element>::type;
  static_assert(detail::check_fused<detail::fusion::transform, Out, element, Op>(), "");
  return detail::run_fused<detail::fusion::transform, element, Out, detail::matrices::batch>(
      detail::view_request(out, in, batch, out_batch_stride, in_batch_stride), op, stream);
}

/// Transposes into a matrix that already holds something, and combines both, in one pass: reads the input
/// and the old output once, writes the output once.
///
///     out[x * ny + y] == op(in[y * nx + x], old_out[x * ny + y])
///
/// \param op   as above, with two arguments: an element of the input and the element of the output that
///             it is to replace. Called once per element, near tile borders too.
///
/// BLAS' update C = alpha A^T + beta C:
///
///     struct scaled_sum {
///       float alpha, beta;
///       __device__ float operator()(float element, float old) const {
///         return alpha * element + beta * old;
///       }
///     };
///     status = tt::accumulate_transpose(out, in, nx, ny, scaled_sum{2.0f, 0.5f}, stream);
template <class Out, class In, class Op>
[[nodiscard]] cudaError_t accumulate_transpose(Out* out, const In* in, size_type nx, size_type ny,
                                               Op op, cudaStream_t stream = nullptr) {
  static_assert(detail::check_fused<detail::fusion::accumulate, Out, In, Op>(), "");
  return detail::run_fused<detail::fusion::accumulate, In, Out, detail::matrices::one>(
      detail::dense_request(out, in, nx, ny), op, stream);
}

/// The same for pitched matrices and parts of matrices.
///
///     out(x, y) == op(in(y, x), old_out(x, y))
template <class Out, class Element, class Op>
[[nodiscard]] cudaError_t accumulate_transpose(matrix_view<Out> out, matrix_view<Element> in, Op op,
                                               cudaStream_t stream = nullptr) {
  using element = typename detail::remove_const<Element>::type;
  static_assert(detail::check_fused<detail::fusion::accumulate, Out, element, Op>(), "");
  return detail::run_fused<detail::fusion::accumulate, element, Out, detail::matrices::one>(
      detail::view_request(out, in), op, stream);
}

/// Applies a function to every element and writes the result twice, as the input lies and transposed, from
/// one read of the input: what a matrix product and the product of its gradient want of one operand.
///
///     copy[y * nx + x] == out[x * ny + y] == op(in[y * nx + x])
///
/// \param copy  ny rows x nx columns
/// \param out   nx rows x ny columns of the same type
/// \param in    ny rows x nx columns; none of the three may share a byte with another
/// \param op    as of transform_transpose
///
///     status = tt::transform_transpose_dual(rows, columns, in, nx, ny, to_fp8{scale}, stream);
template <class Out, class In, class Op>
[[nodiscard]] cudaError_t transform_transpose_dual(Out* copy, Out* out, const In* in, size_type nx,
                                                   size_type ny, Op op,
                                                   cudaStream_t stream = nullptr) {
  static_assert(detail::check_fused<detail::fusion::dual, Out, In, Op>(), "");
  return detail::run_fused<detail::fusion::dual, In, Out, detail::matrices::one>(
      detail::dense_request(out, in, nx, ny), op, stream, copy, nx);
}

/// The same for pitched matrices and parts of matrices.
///
///     copy(y, x) == out(x, y) == op(in(y, x))
template <class Out, class Element, class Op>
[[nodiscard]] cudaError_t transform_transpose_dual(matrix_view<Out> copy, matrix_view<Out> out,
                                                   matrix_view<Element> in, Op op,
                                                   cudaStream_t stream = nullptr) {
  using element = typename detail::remove_const<Element>::type;
  static_assert(detail::check_fused<detail::fusion::dual, Out, element, Op>(), "");
  const bool fits = copy.rows == in.rows && copy.cols == in.cols;
  return detail::run_fused<detail::fusion::dual, element, Out, detail::matrices::one>(
      detail::view_request(out, in), op, stream, fits ? copy.data : nullptr, copy.stride);
}

/// Transposes a square in its own memory, without scratch.
///
///     data(x, y) becomes data(y, x)
///
/// \param data  as many rows as columns; memory between its rows is left alone
/// \returns cudaErrorInvalidValue also for a matrix that is no square: it needs scratch. It is one launch:
///          where that fails the data are as they were.
///
///     status = tt::transpose_inplace(tt::matrix_view<float>{data, side, side, pitch}, stream);
template <class T>
[[nodiscard]] cudaError_t transpose_inplace(matrix_view<T> data, cudaStream_t stream = nullptr) {
  static_assert(detail::check_inplace<T>(), "");
  const detail::transpose_request request = detail::inplace_request(data);
  const detail::verdict answer = detail::examine_inplace(request, symmetry::transpose);
  return answer == detail::verdict::go ? detail::transpose_square<sizeof(T), alignof(T)>(
                                             detail::make_problem(request), stream)
                                       : detail::status_of(answer);
}

/// The same for nx == ny rows one behind the other.
///
///     status = tt::transpose_inplace(data, side, side, stream);
template <class T>
[[nodiscard]] cudaError_t transpose_inplace(T* data, size_type nx, size_type ny,
                                            cudaStream_t stream = nullptr) {
  return tt::transpose_inplace(matrix_view<T>{data, ny, nx, nx}, stream);
}

/// Transposes a matrix of any shape in its own memory, in the manner of CUB: asked without scratch memory, it
/// says how much it needs at least; as much as the matrix makes it faster.
///
///     data[x * ny + y] becomes data[y * nx + x]
///
///     std::size_t bytes = 0;
///     status = tt::transpose_inplace(nullptr, bytes, data, nx, ny, stream);    // bytes: the least
///     cudaMalloc(&temp, bytes);
///     status = tt::transpose_inplace(temp, bytes, data, nx, ny, stream);
///
/// Passes over the matrix, each of which reads and writes all of it:
///
///     nx * ny elements of scratch                 2: out of place and back
///     less, one side a multiple of the other      2: squares, columns
///     less, by segments                           2: slabs of rows, columns of segments
///     less, other shapes                          2: rows, columns; or 3, with squares between them
///
/// "Rows" and "columns" are those of the matrix, or of its transpose, that has more rows than columns. Squares are as
/// large as the greatest common divisor of the sides. Segments are 64 to 512 bytes of a column that move together, of data
/// that start on 16 bytes, and elements of up to 16 bytes, of an even size up to 32, or of a multiple of 4; a slab is as
/// many rows as a segment has elements. They are taken unless one side is a multiple of the other, the shorter one is a
/// multiple of 16 bytes, and the shared memory of all multiprocessors holds 128 bytes of every row.
///
/// The least is as many whole elements as fit 128 bytes (or one, where that is more) for each row or for each column,
/// whichever are more in number, and never more than the matrix itself; all of it where a side has 2^31 elements or
/// more. Between that and the whole matrix more scratch rarely helps: only where the matrix has no regular segments,
/// and the shared memory of all multiprocessors does not hold 32 bytes of every row, or that of one block does not hold
/// a row. Columns and rows then pass through scratch, of which every byte up to 24 MB saves launches of columns, and lets
/// more rows go at a time. Squares, single rows and single columns need none, for which the query answers 1 byte, and a
/// single pass or none.
///
/// Passes over columns, and over slabs that several blocks hold, are cooperative launches, whose blocks wait for each
/// other: they start when all multiprocessors have room for them.
///
/// \param temp        scratch in device memory, aligned as T, that does not overlap `data`; or null
/// \param temp_bytes  the bytes of `temp`; set to the least where `temp` is null
/// \param data        ny rows x nx columns before, nx rows x ny columns after
/// \returns cudaErrorInvalidValue, with the data as they were, also where temp_bytes is less than the least.
///          A launch may fail behind one that did not, for want of memory for a kernel's code, say: the data are then
///          neither what they were nor what they were to become, and some elements may be in the scratch alone. With
///          scratch for the whole matrix, and where it is square, they are as they were.
template <class T>
[[nodiscard]] cudaError_t transpose_inplace(void* temp, size_type& temp_bytes, T* data,
                                            size_type nx, size_type ny,
                                            cudaStream_t stream = nullptr) {
  static_assert(detail::check_inplace<T>(), "");
  return detail::run_with_scratch<sizeof(T), alignof(T)>(
      temp, temp_bytes, detail::inplace_request(matrix_view<T>{data, ny, nx, nx}), stream);
}

// Calls whose matrices do not fit each other: one sentence each instead of a list of candidates.

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t transpose(Out*, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class T, int TileDim, int BlockRows, int Padding = 0, int BankWidth = 4, class Out,
          class In, class... Rest,
          detail::if_not<detail::is_pair<Out, In> && detail::same_type<T, Out>> = 0>
[[nodiscard]] cudaError_t transpose(Out*, In*, Rest...) {
  static_assert(detail::check_written_matrices<T, Out, In>(), "");
  return cudaErrorInvalidValue;
}

template <class T, int TileDim, int BlockRows, int Padding = 0, int BankWidth = 4, class Out,
          class In, class... Rest, detail::if_not<detail::same_type<T, Out>> = 0>
[[nodiscard]] cudaError_t transpose(matrix_view<Out>, matrix_view<In>, Rest...) {
  static_assert(detail::check_written_matrices<T, Out, In>(), "");
  return cudaErrorInvalidValue;
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_batch_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t transpose_batched(Out*, In*, Rest...) {
  return detail::refuse_pair<std::remove_pointer_t<Out>, std::remove_pointer_t<In>>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t transpose_batched(Out*, size_type, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class Copy, class Out, class In, class... Rest,
          detail::if_not<detail::same_type<Copy, Out>> = 0>
[[nodiscard]] cudaError_t transform_transpose_dual(Copy*, Out*, In*, Rest...) {
  static_assert(detail::check_outputs<Copy, Out>(), "");
  return cudaErrorInvalidValue;
}

template <class Copy, class Out, class In, class... Rest,
          detail::if_not<detail::same_type<Copy, Out>> = 0>
[[nodiscard]] cudaError_t transform_transpose_dual(matrix_view<Copy>, matrix_view<Out>,
                                                   matrix_view<In>, Rest...) {
  static_assert(detail::check_outputs<Copy, Out>(), "");
  return cudaErrorInvalidValue;
}

TILETRANSPOSE_NAMESPACE_END
