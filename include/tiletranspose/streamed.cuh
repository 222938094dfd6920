// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes of matrices in host memory, of any size, through a GPU that does not hold them. Opt-in: no other header
/// includes this one. It starts host threads: give the linker `-pthread` where it asks for it.
///
///     #include <tiletranspose/streamed.cuh>
///
///     std::size_t temp_bytes = 0;
///     status = tt::streamed_transpose(out, in, nx, ny, nullptr, temp_bytes, stream);   // an amount that serves well
///     status = cudaMalloc(&temp, temp_bytes);
///     status = tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes, stream);      // host memory to host memory
///
/// The matrix is cut into blocks. While one is transposed, the next one comes in and the one before goes out.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: streamed.cuh launches kernels from the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>

#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/detail/streamed/block_stream.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// The least scratch that streamed_transpose takes, in device memory and, where it is given any, in pinned memory.
inline constexpr size_type least_streamed_scratch =
    2 * detail::blocks_under_way * detail::least_buffer_bytes;

/// Transposes a matrix in host memory.
///
///     out[x * ny + y] == in[y * nx + x]
///
/// It waits: when it returns, the output is complete. It starts after the work that `stream` has so far. It allocates a
/// few streams and events, and for pageable matrices up to 48 MiB of pinned memory, unless you lend some. It cannot be
/// captured.
/// \param out         nx rows x ny columns, row-major, host memory
/// \param in          ny rows x nx columns, row-major, host memory; shares no byte with `out`
/// \param nx,ny       columns and rows of the input
/// \param temp        scratch in device memory, aligned for T; null asks for an amount that serves well
/// \param temp_bytes  how much: least_streamed_scratch or more; set where `temp` is null. More makes longer copies.
/// \param stream      where blocks are transposed
/// \param options     progress, pinned memory that you lend, host threads
/// \returns cudaErrorInvalidValue, before anything is done: a pointer that is null or misaligned for T, sizes that
///          overflow, too little scratch, pinned memory of less than least_streamed_scratch bytes or not aligned for T,
///          input and output that share a byte. Where nx or ny is 0 nothing is done. After any other error, such as
///          cudaErrorMemoryAllocation where there is no pinned memory left, nothing is under way any more, and each
///          element of the output holds its old value or its new one; blocks that `progress` has reported are complete.
///
/// The copy engines read pinned matrices (cudaMallocHost, cudaHostRegister of all of it), and a kernel stores into
/// them. Pageable ones, such as mapped files, go through buffers in pinned memory, into and out of which host threads
/// copy. To allocate these takes some 40 ms; for smaller matrices, or many, lend some, of which at most 96 MiB are used.
/// Where the system gives fewer threads than it is asked for, these do the work; with -fno-exceptions the program ends.
///
/// A matrix is registered as a whole or not at all: only its two ends are asked about. Where both are pinned and memory
/// between them is not, the GPU is led to addresses that it cannot reach. With options:
///
///     tt::streamed_options options;
///     options.pinned = pinned;
///     options.pinned_bytes = temp_bytes;
///     options.progress = [](void*, std::size_t done, std::size_t all) { std::printf("%zu of %zu bytes\n", done, all); };
///     status = tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes, stream, options);
template <class T>
[[nodiscard]] cudaError_t streamed_transpose(T* out, const T* in, size_type nx, size_type ny,
                                             void* temp, size_type& temp_bytes,
                                             cudaStream_t stream = nullptr,
                                             const streamed_options& options = {}) {
  static_assert(detail::check_output<T>(), "");
  size_type elements = 0;
  size_type bytes = 0;
  if (!detail::multiplies(nx, ny, elements) || !detail::multiplies(elements, sizeof(T), bytes)) {
    return cudaErrorInvalidValue;
  }
  if (temp == nullptr) {
    temp_bytes =
        2 * detail::blocks_under_way * detail::good_buffer_bytes(bytes, size_type{34} << 20);
    return cudaSuccess;
  }
  if (elements == 0) { return cudaSuccess; }
  const bool lent = options.pinned != nullptr;
  if (detail::examine(detail::dense_request(out, in, nx, ny)) != detail::verdict::go ||
      !detail::points(temp, alignof(T)) || temp_bytes < least_streamed_scratch ||
      (lent && (!detail::points(options.pinned, alignof(T)) ||
                options.pinned_bytes < least_streamed_scratch))) {
    return cudaErrorInvalidValue;
  }
  return detail::stream_matrix(detail::host_side<T>{out, nx, ny},
                               detail::host_side<T>{const_cast<T*>(in), ny, nx}, temp, temp_bytes,
                               options, stream);
}

/// Matrices that do not fit each other: one sentence instead of a list of candidates.
template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t streamed_transpose(Out*, In*, Rest&&...) {
  return detail::refuse_pair<Out, In>();
}

TILETRANSPOSE_NAMESPACE_END
