// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes of matrices that lie distributed over GPUs of one host which can reach each other's memory. One process
/// drives all of them, or each rank has the others' outputs mapped. Opt-in, without NCCL.
///
///     #include <tiletranspose/peers.cuh>
///
///     status = tt::enable_peer_access(devices, 2);    // once
///     tt::device_part<float> parts[] = {{0, out0, in0, nullptr, stream0}, {1, out1, in1, nullptr, stream1}};
///     status = tt::distributed_transpose(parts, 2, nx, ny);    // kernels store into the other GPU's memory
///
/// The matrix, its transpose and their partitions are as in distributed.cuh; part i is what rank i holds. The calls run
/// asynchronously on the streams of all parts, allocate no device memory, and leave the current device as it was. Each
/// stream starts when all of them have come to the call, and goes on when all parts are done.
///
/// cudaErrorInvalidValue, before anything is queued: no parts, partitions that are none, sizes that overflow, a pointer
/// that is null or misaligned for its type, scratch for some devices and not for all, memory that is written and shares a
/// byte with other memory of the call. cudaErrorPeerAccessUnsupported, likewise: a kernel could not store into the
/// other GPU. After another error the outputs hold anything.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: peers.cuh launches kernels from the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>

#include <tiletranspose/detail/distributed/peer_exchange.cuh>
#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/partition.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// What one device has of a distributed matrix.
template <class T>
struct device_part {
  int device;
  T* out;                         ///< its rows of the output, dense
  const T* in;                    ///< its rows of the input, dense
  void* temp = nullptr;           ///< scratch of that device, or null
  cudaStream_t stream = nullptr;  ///< of that device
};

/// Has all of these devices store into the memory of each other, for as long as the process lives.
/// \returns cudaErrorPeerAccessUnsupported where two of them cannot; access that is enabled already is no error
///
///     status = tt::enable_peer_access(devices, 2);
[[nodiscard]] inline cudaError_t enable_peer_access(const int* devices, int count) {
  const detail::device_guard guard;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (devices[i] == devices[j]) { continue; }
      cudaError_t status = detail::ask_reach(devices[i], devices[j]);
      if (status == cudaSuccess) { status = cudaSetDevice(devices[i]); }
      if (status == cudaSuccess) { status = cudaDeviceEnablePeerAccess(devices[j], 0); }
      if (status == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError();  // what this call left behind
      } else if (status != cudaSuccess) {
        return status;
      }
    }
  }
  return cudaSuccess;
}

/// How much scratch each device needs for copies by the copy engines, in bytes.
///
///     const std::size_t temp_bytes = tt::peer_scratch_bytes<float>(2, nx, ny);
/// \returns 0 where the arguments would be refused
template <class T>
[[nodiscard]] size_type peer_scratch_bytes(int count, partition nx, partition ny,
                                           const distributed_options& options = {}) {
  if (!detail::can_plan(nx, ny, count, sizeof(T))) { return 0; }
  const detail::exchange_plan plan(nx, ny, count, 0, sizeof(T), options.step_bytes);
  return detail::exchange_scratch_of_all(plan, true);
}

/// Transposes a matrix that is distributed by rows over the devices of this process.
///
/// Call enable_peer_access first. Without scratch, which is where every part's `temp` is null, kernels store straight into
/// the outputs of the other devices. With scratch, of peer_scratch_bytes() on every device, slices are transposed into it
/// and copied from there by the copy engines while the next ones are transposed; where devices cannot reach each other,
/// CUDA takes such copies through the host. On two H200s copies took 1.06 to 1.12 times as long as bare
/// copies of the same bytes, and stores 1.27 to 1.37 times.
/// \param parts    an array on the host, read before the call returns; one device may stand in it several times
/// \param count    how many
/// \param nx       columns of the input: how the output's rows are dealt out
/// \param ny       rows of the input, and how they are dealt out
/// \param options  all but transfer_stream, which is of one device
/// \returns see the top of this file
///
///     status = tt::distributed_transpose(parts, 2, nx, ny);
template <class T>
[[nodiscard]] cudaError_t distributed_transpose(const device_part<T>* parts, int count,
                                                partition nx, partition ny,
                                                const distributed_options& options = {}) {
  static_assert(detail::check_output<T>(), "");
  if (parts == nullptr || !detail::can_plan(nx, ny, count, sizeof(T))) {
    return cudaErrorInvalidValue;
  }
  if (nx.total == 0 || ny.total == 0) { return cudaSuccess; }
  const bool copies = parts[0].temp != nullptr;
  const detail::exchange_plan plan(nx, ny, count, 0, sizeof(T), options.step_bytes);
  if (!detail::examine_parts<T>(plan, parts, copies)) { return cudaErrorInvalidValue; }
  cudaError_t reach = cudaSuccess;
  for (int i = 0; i < count * count && reach == cudaSuccess; ++i) {
    reach = detail::ask_reach(parts[i / count].device, parts[i % count].device);
  }
  if (reach != cudaSuccess && !(copies && reach == cudaErrorPeerAccessUnsupported)) {
    return reach;
  }
  const detail::device_guard guard;
  cudaError_t status = detail::join_streams(parts, count);
  if (status != cudaSuccess) { return status; }
  if (copies) {
    status = detail::exchange_by_copies<T>(plan, parts, reach == cudaSuccess);
  } else {
    std::vector<T*> outs;
    for (int i = 0; i < count; ++i) { outs.push_back(parts[i].out); }
    status = detail::on_each_device(parts, count, [&](int i) {
      return detail::store_into_parts(outs.data(), parts[i].in, nx, ny, count, i, parts[i].stream);
    });
  }
  const cudaError_t joined = detail::join_streams(parts, count);
  return status != cudaSuccess ? status : joined;
}

/// One rank's share where each rank is a process or a thread of its own that has the outputs of all others mapped, by CUDA's
/// IPC, its virtual memory or NCCL's windows: its kernels store into all of them.
///
///     outs[r][(x - first output row of r) * ny + y] == in[(y - first input row) * nx + x]    for all ranks r
///
/// The caller sees to it that no rank starts before all outputs may be written, nor reads its own before all are done.
/// \param outs   `ranks` pointers that this device may store to, in an array on the host
/// \param in     rows of the input that `rank` holds
///
///     status = tt::transpose_into_parts(outs, in, nx, ny, ranks, rank, stream);
template <class T>
[[nodiscard]] cudaError_t transpose_into_parts(T* const* outs, const T* in, partition nx,
                                               partition ny, int ranks, int rank,
                                               cudaStream_t stream = nullptr) {
  static_assert(detail::check_output<T>(), "");
  if (!detail::can_plan(nx, ny, ranks, sizeof(T)) || rank < 0 || rank >= ranks) {
    return cudaErrorInvalidValue;
  }
  if (nx.total == 0 || ny.count(ranks, rank) == 0) { return cudaSuccess; }
  if (outs == nullptr) { return cudaErrorInvalidValue; }
  std::vector<detail::used_memory> memory{
      {in, ny.count(ranks, rank) * nx.total * sizeof(T), false}};
  for (int i = 0; i < ranks; ++i) {
    memory.push_back({outs[i], nx.count(ranks, i) * ny.total * sizeof(T), true});
  }
  if (detail::examine_memory(memory.data(), memory.size(), alignof(T)) != detail::verdict::go) {
    return cudaErrorInvalidValue;
  }
  return detail::store_into_parts(outs, in, nx, ny, ranks, rank, stream);
}

TILETRANSPOSE_NAMESPACE_END
