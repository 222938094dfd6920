// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Distributed calls over an NCCL communicator: asked for their scratch, checked, run, and compared over the ranks. What
/// NCCL knows of its communicator, and its errors as CUDA's.

#pragma once

#include <nccl.h>

#include <tiletranspose/detail/distributed/device_exchange.cuh>

#if NCCL_VERSION_CODE < 21900
#error "tt: distributed.cuh needs NCCL 2.19 or newer"
#endif

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a caller is told of an error of NCCL's; ncclGetLastError(comm) has its text. A communicator that does not block is
/// waited for until it has queued what was asked of it.
inline cudaError_t nccl_status(ncclResult_t result, ncclComm_t comm) {
  while (result == ncclInProgress) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &result);
    if (asked != ncclSuccess) { result = asked; }
  }
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

/// Fails where the communicator has failed before, and where it is of another device than the current one.
inline cudaError_t ask_communicator(ncclComm_t comm, int& ranks, int& rank) {
  if (comm == nullptr) { return cudaErrorInvalidValue; }
  first_failure ok;
  const auto says = [&](ncclResult_t result) { return ok(nccl_status(result, comm)); };
  ncclResult_t state = ncclSuccess;
  int device = 0;
  int current = 0;
  const bool known = says(ncclCommGetAsyncError(comm, &state)) && says(state) &&
                     says(ncclCommCount(comm, &ranks)) && says(ncclCommUserRank(comm, &rank)) &&
                     says(ncclCommCuDevice(comm, &device)) && ok(cudaGetDevice(&current));
  return known && current != device ? cudaErrorInvalidDevice : ok.status;
}

/// Calls add(call) for what NCCL is to do at once; add calls it unless an earlier one has failed.
template <class Calls>
cudaError_t nccl_group(ncclComm_t comm, Calls calls) {
  ncclResult_t result = ncclGroupStart();
  if (result != ncclSuccess) { return nccl_status(result, comm); }
  calls([&](auto call) {
    const ncclResult_t next = result == ncclSuccess ? call() : result;
    if (next != ncclInProgress) { result = next; }
  });
  const ncclResult_t ended = ncclGroupEnd();  // also where a call failed: it must be closed
  return nccl_status(result != ncclSuccess ? result : ended, comm);
}

/// All messages of a step in one group, so that they travel at once.
struct nccl_transport {
  static constexpr bool lands = false;
  static constexpr size_type ahead = 2;
  ncclComm_t comm;

  cudaError_t transfer(const exchange_plan& plan, size_type step, const unsigned char* sent,
                       unsigned char* received, cudaStream_t stream) const {
    return nccl_group(comm, [&](auto add) {
      plan.for_each(messages::sent, step, [&](const exchange_slice& slice) {
        add([&] {
          return ncclSend(sent + slice.offset, slice.bytes, ncclUint8, slice.peer, comm, stream);
        });
      });
      plan.for_each(messages::received, step, [&](const exchange_slice& slice) {
        add([&] {
          return ncclRecv(received + slice.offset, slice.bytes, ncclUint8, slice.peer, comm,
                          stream);
        });
      });
    });
  }
};

#if NCCL_VERSION_CODE >= 22900

/// Messages are put into the other ranks' scratch, which leaves the multiprocessors to the transposes: between GPUs of a host
/// the copy engines do it. Scratch is what the window begins with, on all ranks.
///
/// A rank signals every step to all with whom it exchanges messages: what it sends them is there, and its buffer of the next
/// step is free, since it has put into place all steps but the one before. Who has waited for these signals may put the
/// next step. Before the first step one more is exchanged, with which all have come to the call.
struct window_transport {
  static constexpr bool lands = false;
  static constexpr size_type ahead = 1;
  ncclComm_t comm;
  ncclWindow_t window;

  cudaError_t transfer(const exchange_plan& plan, size_type step, const unsigned char* sent,
                       unsigned char*, cudaStream_t stream) const {
    const cudaError_t status = step == 0 ? put(plan, step, nullptr, stream) : cudaSuccess;
    return status == cudaSuccess ? put(plan, step, sent, stream) : status;
  }

 private:
  /// Puts and signals, or only signals where `sent` is null; then waits for the others' signals.
  cudaError_t put(const exchange_plan& plan, size_type step, const unsigned char* sent,
                  cudaStream_t stream) const {
    cudaError_t status = nccl_group(comm, [&](auto add) {
      if (sent != nullptr) {
        plan.for_each(messages::sent, step, [&](const exchange_slice& slice) {
          add([&] {
            return ncclPutSignal(sent + slice.offset, slice.bytes, ncclUint8, slice.peer, window,
                                 landing_place(plan, step, slice.peer), 0, 0, 0, comm, stream);
          });
        });
      }
      for_each_peer(plan, [&](int peer) {
        if (sent != nullptr && plan.slice(step, plan.rank, peer).bytes > 0) { return; }
        add([&] { return ncclSignal(peer, 0, 0, 0, comm, stream); });
      });
    });
    for_each_peer(plan, [&](int peer) {
      ncclWaitSignalDesc_t signal{1, peer, 0, 0};
      if (status == cudaSuccess) {
        status = nccl_status(ncclWaitSignal(1, &signal, comm, stream), comm);
      }
    });
    return status;
  }
  /// Of what this rank sends to `peer`, in its window.
  static size_type landing_place(const exchange_plan& plan, size_type step, int peer) {
    const exchange_plan theirs = plan.seen_by(peer);
    size_type place = 0;
    theirs.for_each(messages::received, step, [&](const exchange_slice& slice) {
      if (slice.peer == plan.rank) { place = slice.offset; }
    });
    return buffer_begin(theirs, step, lands) + theirs.send_bytes + place;
  }
  /// Calls use(peer) for all ranks with which messages are exchanged in some step.
  template <class Use>
  static void for_each_peer(const exchange_plan& plan, Use use) {
    for (int i = 1; i < plan.ranks; ++i) {
      const int peer = (plan.rank + i) % plan.ranks;
      if (plan.slice(0, plan.rank, peer).bytes + plan.slice(0, peer, plan.rank).bytes > 0) {
        use(peer);
      }
    }
  }
};

#endif

/// Whether one rank's memory serves its plan.
template <class T>
bool examine_exchange(const exchange_plan& plan, const T* out, const T* in, const void* temp,
                      size_type temp_bytes) {
  const size_type needed = exchange_scratch(plan, nccl_transport::lands);
  const used_memory memory[] = {
      {out, held_out(plan), true}, {in, held_in(plan), false}, {temp, needed, true}};
  return temp_bytes >= needed && examine_memory(memory, 3, alignof(T)) == verdict::go;
}

/// The two calls of a distributed call.
template <class Mover>
cudaError_t exchange_by_nccl(const Mover& mover, partition columns, partition rows,
                             size_type together, void* temp, size_type& temp_bytes, ncclComm_t comm,
                             cudaStream_t stream, const distributed_options& options) {
  int ranks = 0;
  int rank = 0;
  cudaError_t status = ask_communicator(comm, ranks, rank);
  if (status != cudaSuccess) { return status; }
  size_type element = 0;
  if (!multiplies(together, sizeof(*mover.out), element) ||
      !can_plan(columns, rows, ranks, element)) {
    return cudaErrorInvalidValue;
  }
  const exchange_plan plan(columns, rows, ranks, rank, element, options.step_bytes,
                           most_nccl_bytes);
  if (temp == nullptr) {
    temp_bytes = exchange_scratch_of_all(plan, nccl_transport::lands);
    return cudaSuccess;
  }
  if (columns.total == 0 || rows.total == 0 || together == 0) { return cudaSuccess; }
  if (!detail::examine_exchange(plan, mover.out, mover.in, temp, temp_bytes)) {
    return cudaErrorInvalidValue;
  }
  const auto exchange_by = [&](auto transport) {
    device_exchange<Mover, decltype(transport)> exchange{plan, mover, transport, temp, stream};
    status = exchange.prepare(options.transfer_stream);
    return status == cudaSuccess ? exchange.run() : status;
  };
  if (options.window == nullptr) { return exchange_by(nccl_transport{comm}); }
#if NCCL_VERSION_CODE >= 22900
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  status = cudaStreamIsCapturing(stream, &capture);  // a graph's signals are numbered but once
  if (status != cudaSuccess) { return status; }
  if (capture != cudaStreamCaptureStatusNone) { return cudaErrorStreamCaptureUnsupported; }
  return exchange_by(window_transport{comm, static_cast<ncclWindow_t>(options.window)});
#else
  return cudaErrorNotSupported;
#endif
}

/// One number of all begins, another one for almost every other partition.
constexpr unsigned long long hash_of(const partition& part, int ranks) {
  unsigned long long hash = 14695981039346656037u;
  for (int rank = 0; rank <= ranks; ++rank) {
    hash = (hash ^ part.begin(ranks, rank)) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash;
}

/// Compares what all ranks must say alike: success where it is the same and the first of it, whether it is valid, is 1. Facts
/// are alike where the greatest of each is also the least, and that is the complement of the greatest complement: one
/// reduction finds both. Waits for it.
template <int Count>
cudaError_t compare_facts(const unsigned long long (&facts)[Count], void* temp, ncclComm_t comm,
                          cudaStream_t stream) {
  unsigned long long values[2 * Count];
  for (int i = 0; i < Count; ++i) {
    values[i] = facts[i];
    values[Count + i] = ~facts[i];
  }
  static_assert(sizeof(values) <= least_exchange_scratch, "");
  first_failure ok;
  (void)(ok(cudaMemcpyAsync(temp, values, sizeof(values), cudaMemcpyHostToDevice, stream)) &&
         ok(nccl_status(ncclAllReduce(temp, temp, 2 * Count, ncclUint64, ncclMax, comm, stream),
                        comm)) &&
         ok(cudaMemcpyAsync(values, temp, sizeof(values), cudaMemcpyDeviceToHost, stream)));
  if (!ok(cudaStreamSynchronize(stream))) { return ok.status; }  // `values` end here
  bool same = facts[0] == 1;
  for (int i = 0; i < Count; ++i) { same = same && values[i] == ~values[Count + i]; }
  return same ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
