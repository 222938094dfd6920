// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes and permutes of arrays that lie distributed over the ranks of an NCCL communicator. Opt-in: no other header
/// includes this one. It needs NCCL 2.19 or newer; CMake finds it as the component `distributed`. Where one process drives
/// several GPUs of a host, peers.cuh does without NCCL.
///
///     #include <tiletranspose/distributed.cuh>
///
///     std::size_t temp_bytes = 0;
///     status = tt::distributed_transpose(out, in, nx, ny, nullptr, temp_bytes, comm, stream);   // how much scratch
///     status = cudaMalloc(&temp, temp_bytes);
///     status = tt::distributed_transpose(out, in, nx, ny, temp, temp_bytes, comm, stream);
///
/// A matrix of ny rows and nx columns is dealt out by rows: rank r holds rows rows.begin(ranks, r) up to
/// rows.begin(ranks, r + 1), dense, in device memory of its own. The output, of nx rows and ny columns, is dealt out so
/// too. `nx` and `ny` are a number each, for even parts (partition.cuh), or a tt::partition. A rank may hold nothing; its
/// pointers may be null then.
///
/// Each rank transposes what it sends straight into the order in which it is sent, step by step, while the step before
/// travels. What arrives is put into place in one pass. What a rank keeps never leaves its GPU. Scratch is three steps of
/// sent and received bytes, and as much on all ranks. Steps of a transpose stay within limits however large the matrix is;
/// those of a permute grow with the axes that are not dealt out, which are never cut: see distributed_permute.
///
/// With NCCL 2.29 or newer scratch can be a window (ncclCommWindowRegister) that `distributed_options::window` names. Then
/// messages are put into the other ranks' scratch, between GPUs of a host by the copy engines, and transposes have the
/// multiprocessors for themselves. On all ranks the window begins where scratch does, and no put or signal of NCCL's that
/// others have made over the communicator still waits to be received.
///
/// All calls are collective: every rank of the communicator makes them, in the same order, with the same sizes, partitions,
/// element size and options. They run asynchronously on `stream`, allocate no device memory, and are made on the
/// communicator's device. An exchange of more than one step makes a few events, and a stream unless it is lent one. As
/// with NCCL's own calls, what uses one communicator on several streams must be put in an order by events.
/// \note Not tried under stream capture. With a window it is refused: cudaErrorStreamCaptureUnsupported.
///
/// cudaErrorInvalidValue, before this rank queues anything: a communicator that is null, partitions that are none, sizes
/// that overflow, axes that are no permutation or of which more than 8 are left, a pointer that is null or misaligned for its
/// type, too little scratch, input, output and scratch that share a byte. cudaErrorInvalidDevice: another device is current
/// than the communicator's. The other ranks do not learn of it, and wait for this one; distributed_check tells all of them
/// before data moves.
///
/// Errors of NCCL: cudaErrorOperatingSystem (ncclSystemError), cudaErrorInvalidResourceHandle (ncclInvalidArgument and
/// ncclInvalidUsage), cudaErrorUnknown (all others); ncclGetLastError(comm) has NCCL's own words.
/// cudaErrorNotSupported: a window, and an NCCL older than 2.29 at compile time. After an error in the middle of a call,
/// NCCL's or a launch's, the output holds anything, the stream waits for what was queued, and other ranks wait as long as
/// NCCL does: end them, and the communicator, by ncclCommAbort.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: distributed.cuh launches kernels from the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>

#include <nccl.h>

#include <cstddef>

#include <tiletranspose/detail/distributed/nccl_exchange.cuh>
#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/partition.cuh>
#include <tiletranspose/permute.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Transposes a matrix that is distributed by rows.
///
///     out[(x - first output row) * ny + y] == in[(y - first input row) * nx + x]    of the rank that holds row y
///
/// \param out         rows of the output that this rank holds, of ny elements each
/// \param in          rows of the input that it holds, of nx elements each
/// \param nx          columns of the input: how the output's rows are dealt out
/// \param ny          rows of the input, and how they are dealt out
/// \param temp        scratch in device memory, aligned for T; null asks how much
/// \param temp_bytes  bytes of scratch; set where `temp` is null, and then nothing else is done
/// \param comm        the communicator
/// \param stream      where the work is queued
/// \param options     tt::distributed_options: `step_bytes`, about so many bytes a rank sends in a step,
///                    `transfer_stream`, a stream for transfers, and `window`, of which `temp` is the start
/// \returns see the top of this file
///
/// With rows dealt out as the caller says, and a step of 16 MiB:
///
///     const tt::partition rows{ny, begins};    // begins[ranks + 1]
///     status = tt::distributed_transpose(out, in, nx, rows, temp, temp_bytes, comm, stream, {16 << 20});
template <class T>
[[nodiscard]] cudaError_t distributed_transpose(T* out, const T* in, partition nx, partition ny,
                                                void* temp, size_type& temp_bytes, ncclComm_t comm,
                                                cudaStream_t stream = nullptr,
                                                const distributed_options& options = {}) {
  static_assert(detail::check_output<T>(), "");
  return detail::exchange_by_nccl(detail::matrix_mover<T>{out, in}, nx, ny, 1, temp, temp_bytes,
                                  comm, stream, options);
}

/// Permutes the axes of an array that is distributed along its first axis, into one that is distributed along its own
/// first axis: axis j of the output is axis axes[j] of the input. Both first axes are dealt out evenly.
///
/// Where axes[0] is 0 every rank permutes its own part, and nothing travels. As permute.cuh says, axes of one element do not
/// count, and axes that stay together count as one: at most 8 may be left. It is the whole array that counts, so that all
/// ranks are told the same.
///
/// Of the two axes that are dealt out, before and after, the longer one is cut into steps, and no other axis is: a step
/// sends each other rank at least one index of it, whatever step_bytes says. Scratch grows with that: floats of extents
/// {2, 2, 1 << 30} and axes {1, 0, 2} take on 2 ranks one step of 4 GiB, and 8 GiB of scratch.
/// \param out      of this rank: its part of axis axes[0], and all of the other axes in the output's order
/// \param in       of this rank: its part of axis 0, and all of the others
/// \param extents  of the whole array
/// \param axes     each of 0 .. Rank - 1 once
/// Other arguments as of distributed_transpose.
///
/// From planes of z to planes of y, as a transform over three axes asks for it:
///
///     status = tt::distributed_permute(by_y, by_z, {nz, ny, nx}, {1, 0, 2}, temp, temp_bytes, comm, stream);
template <class T, std::size_t Rank>
[[nodiscard]] cudaError_t distributed_permute(T* out, const T* in, const size_type (&extents)[Rank],
                                              const int (&axes)[Rank], void* temp,
                                              size_type& temp_bytes, ncclComm_t comm,
                                              cudaStream_t stream = nullptr,
                                              const distributed_options& options = {}) {
  static_assert(detail::check_output<T>() && detail::check_rank<Rank>(), "");
  if (!detail::is_permutation(axes, static_cast<int>(Rank))) { return cudaErrorInvalidValue; }
  const auto first = static_cast<size_type>(axes[0]);
  size_type bytes = sizeof(T);
  bool countable = true;
  for (const size_type extent : extents) {
    countable = countable && extent > 0 && detail::multiplies(bytes, extent, bytes);
  }
  if (countable && bytes <= ~size_type{0} / 8) {
    // The slices of a rank may have fewer axes, and those of another one too many: the whole array decides.
    detail::relocation whole = detail::make_relocation(out, in, extents, axes);
    detail::normalize(whole);
    if (whole.rank > detail::most_axes) { return cudaErrorInvalidValue; }
  }
  size_type together = 1;  // elements of a step along the axis that is dealt out
  bool fits = true;
  bool empty = false;
  for (std::size_t k = 1; k < Rank; ++k) {
    if (k == first) { continue; }
    empty = empty || extents[k] == 0;
    fits = fits && detail::multiplies(together, extents[k], together);
  }
  if (!fits && !empty) { return cudaErrorInvalidValue; }
  if (empty) { together = 0; }
  if (first != 0) {
    const detail::array_mover<T> mover{out, in, axes,
                                       detail::make_relocation(out, in, extents, axes)};
    return detail::exchange_by_nccl(mover, extents[first], extents[0], together, temp, temp_bytes,
                                    comm, stream, options);
  }
  int ranks = 0;
  int rank = 0;
  const cudaError_t status = detail::ask_communicator(comm, ranks, rank);
  if (status != cudaSuccess) { return status; }
  if (temp == nullptr) {
    temp_bytes = detail::least_exchange_scratch;
    return cudaSuccess;
  }
  if (empty || extents[0] == 0) { return cudaSuccess; }
  size_type own[Rank];
  for (std::size_t k = 0; k < Rank; ++k) { own[k] = extents[k]; }
  own[0] = partition(extents[0]).count(ranks, rank);
  const bool valid =  // as an exchange of one rank
      detail::can_plan(together, own[0], 1, sizeof(T)) &&
      detail::examine_exchange(detail::exchange_plan(together, own[0], 1, 0, sizeof(T), 0), out, in,
                               temp, temp_bytes);
  if (!valid) { return cudaErrorInvalidValue; }
  return tt::permute(out, in, own, axes, stream);
}

/// Compares what the ranks would hand to distributed_transpose, before data moves: every rank calls it with its own
/// arguments, and all of them get the same answer. It exchanges one small message and waits for it.
/// \returns cudaErrorInvalidValue on every rank where the sizes, partitions, element sizes or options of two ranks differ,
///          or where one rank's pointers or scratch would be refused. A rank without any scratch, with scratch that is no
///          multiple of 16 bytes, or without a communicator is refused at once, and the others wait for it.
///
///     status = tt::distributed_check(out, in, nx, ny, temp, temp_bytes, comm, stream);    // once, or while debugging
template <class T>
[[nodiscard]] cudaError_t distributed_check(const T* out, const T* in, partition nx, partition ny,
                                            void* temp, size_type temp_bytes, ncclComm_t comm,
                                            cudaStream_t stream = nullptr,
                                            const distributed_options& options = {}) {
  static_assert(detail::check_output<T>(), "");
  if (!detail::points(temp, 16) || temp_bytes < detail::least_exchange_scratch) {
    return cudaErrorInvalidValue;
  }
  int ranks = 0;
  int rank = 0;
  const cudaError_t status = detail::ask_communicator(comm, ranks, rank);
  if (status != cudaSuccess) { return status; }
  bool valid = detail::can_plan(nx, ny, ranks, sizeof(T));
  if (valid && nx.total > 0 && ny.total > 0) {
    const detail::exchange_plan plan(nx, ny, ranks, rank, sizeof(T), options.step_bytes,
                                     detail::most_nccl_bytes);
    valid = detail::examine_exchange(plan, out, in, temp, temp_bytes);
  }
  const unsigned long long facts[] = {valid,
                                      nx.total,
                                      ny.total,
                                      sizeof(T),
                                      options.step_bytes,
                                      options.window != nullptr,
                                      valid ? detail::hash_of(nx, ranks) : 0,
                                      valid ? detail::hash_of(ny, ranks) : 0};
  return detail::compare_facts(facts, temp, comm, stream);
}

TILETRANSPOSE_NAMESPACE_END
