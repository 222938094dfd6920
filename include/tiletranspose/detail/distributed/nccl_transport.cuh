// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Messages by way of NCCL, what NCCL knows of its communicator, and its errors as CUDA's.

#pragma once

#include <nccl.h>

#include <tiletranspose/detail/distributed/exchange_plan.cuh>

#if NCCL_VERSION_CODE < 21900
#error "tt: distributed.cuh needs NCCL 2.19 or newer"
#endif

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a caller is told of an error of NCCL's; ncclGetLastError(comm) has its text.
inline cudaError_t nccl_status(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return cudaSuccess;
    case ncclSystemError:
      return cudaErrorOperatingSystem;
    case ncclInvalidArgument:
    case ncclInvalidUsage:
      return cudaErrorInvalidResourceHandle;
    default:
      return cudaErrorUnknown;
  }
}

/// The same once a communicator that does not block has queued what was asked of it.
inline cudaError_t nccl_finish(ncclResult_t result, ncclComm_t comm) {
  while (result == ncclInProgress) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &result);
    if (asked != ncclSuccess) { return nccl_status(asked); }
  }
  return nccl_status(result);
}

/// Fails where the communicator has failed before, and where it is of another device than the current one.
inline cudaError_t ask_communicator(ncclComm_t comm, int& ranks, int& rank) {
  if (comm == nullptr) { return cudaErrorInvalidValue; }
  ncclResult_t state = ncclSuccess;
  int device = 0;
  ncclResult_t result = ncclCommGetAsyncError(comm, &state);
  if (result == ncclSuccess) { result = state; }
  cudaError_t status = nccl_finish(result, comm);
  if (status == cudaSuccess) { status = nccl_status(ncclCommCount(comm, &ranks)); }
  if (status == cudaSuccess) { status = nccl_status(ncclCommUserRank(comm, &rank)); }
  if (status == cudaSuccess) { status = nccl_status(ncclCommCuDevice(comm, &device)); }
  int current = 0;
  if (status == cudaSuccess) { status = cudaGetDevice(&current); }
  return status == cudaSuccess && current != device ? cudaErrorInvalidDevice : status;
}

/// All messages of a step in one group, so that they travel at once.
struct nccl_transport {
  static constexpr bool lands = false;
  ncclComm_t comm;

  cudaError_t transfer(const exchange_plan& plan, size_type step, const unsigned char* sent,
                       unsigned char* received, cudaStream_t stream) const {
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess) { return nccl_status(result); }
    const auto add = [&](ncclResult_t next) {
      if (next != ncclInProgress) { result = next; }
    };
    plan.for_each_sent(step, [&](const exchange_slice& slice) {
      if (result != ncclSuccess) { return; }
      add(ncclSend(sent + slice.offset, slice.bytes, ncclUint8, slice.peer, comm, stream));
    });
    plan.for_each_received(step, [&](const exchange_slice& slice) {
      if (result != ncclSuccess) { return; }
      add(ncclRecv(received + slice.offset, slice.bytes, ncclUint8, slice.peer, comm, stream));
    });
    const ncclResult_t ended =
        ncclGroupEnd();  // also where a message failed: a group must be closed
    return result != ncclSuccess ? nccl_status(result) : nccl_finish(ended, comm);
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
