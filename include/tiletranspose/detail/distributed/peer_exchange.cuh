// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One process that drives several GPUs: slices copied into other devices' memory, and the order between their streams.

#pragma once

#include <memory>
#include <vector>

#include <tiletranspose/detail/core/transfer.cuh>
#include <tiletranspose/detail/distributed/device_exchange.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// cudaErrorPeerAccessUnsupported where kernels of a device cannot store into the memory of another.
inline cudaError_t ask_reach(int device, int other) {
  int possible = 1;
  const cudaError_t status =
      device == other ? cudaSuccess : cudaDeviceCanAccessPeer(&possible, device, other);
  return status == cudaSuccess && possible == 0 ? cudaErrorPeerAccessUnsupported : status;
}

/// Gives the thread its device back.
class device_guard {
 public:
  device_guard() : known_(cudaGetDevice(&device_) == cudaSuccess) {}
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() {
    if (known_) { (void)cudaSetDevice(device_); }
  }

 private:
  int device_ = 0;
  bool known_;
};

/// Calls use(i) while the device of part i is current, for one part after the other until one fails.
template <class Part, class Use>
cudaError_t on_each_device(const Part* parts, int count, Use use) {
  first_failure ok;
  for (int i = 0; i < count && ok(cudaSetDevice(parts[i].device)) && ok(use(i)); ++i) {}
  return ok.status;
}

/// Every stream waits for all that the others have queued so far. `Part` has a device and a stream.
template <class Part>
cudaError_t join_streams(const Part* parts, int count) {
  const auto marks = std::make_unique<stream_mark[]>(static_cast<size_type>(count));
  const cudaError_t marked = on_each_device(parts, count, [&](int i) {
    const cudaError_t made = marks[i].make();
    return made == cudaSuccess ? marks[i].set(parts[i].stream) : made;
  });
  if (marked != cudaSuccess) { return marked; }
  return on_each_device(parts, count, [&](int i) {
    cudaError_t held = cudaSuccess;
    for (int j = 0; j < count && held == cudaSuccess; ++j) {
      if (j != i) { held = marks[j].hold(parts[i].stream); }
    }
    return held;
  });
}

/// Copies of rows straight to where they belong in the other devices' outputs, by the copy engines.
template <class Part>
struct peer_transport {
  static constexpr bool lands = true;
  static constexpr size_type ahead = 2;
  const Part* parts;
  bool reach;  ///< the devices reach each other's memory

  cudaError_t transfer(const exchange_plan& plan, size_type step, const unsigned char* sent,
                       unsigned char*, cudaStream_t stream) const {
    cudaError_t status = cudaSuccess;
    plan.for_each(messages::sent, step, [&](const exchange_slice& slice) {
      const size_type element = plan.element_bytes;
      const size_type pitch = plan.rows.total * element;
      const size_type row = slice.x - plan.columns.begin(plan.ranks, slice.peer);
      unsigned char* const out = reinterpret_cast<unsigned char*>(parts[slice.peer].out);
      unsigned char* const to = out + row * pitch + slice.y * element;
      const unsigned char* const from = sent + slice.offset;
      const size_type row_bytes = slice.rows * element;
      const devices_apart apart{parts[slice.peer].device, parts[plan.rank].device};
      if (status != cudaSuccess) { return; }
      status = copy_rows(to, pitch, from, row_bytes, row_bytes, slice.cols, stream,
                         reach || apart.out == apart.in ? nullptr : &apart);
    });
    return status;
  }
};

/// Whether the memory of all parts is fit for use; with `copies` each has scratch. Inputs may be one.
template <class T, class Part>
bool examine_parts(const exchange_plan& plan, const Part* parts, bool copies) {
  std::vector<used_memory> memory;
  for (int i = 0; i < plan.ranks; ++i) {
    const exchange_plan own = plan.seen_by(i);
    if ((parts[i].temp != nullptr) != copies) { return false; }
    memory.push_back({parts[i].out, held_out(own), true});
    memory.push_back({parts[i].in, held_in(own), false});
    memory.push_back({parts[i].temp, copies ? exchange_scratch(own, true) : 0, true});
  }
  return examine_memory(memory.data(), memory.size(), alignof(T)) == verdict::go;
}

/// Queues the exchanges of all devices round by round, so that none waits for the host to be done with another.
template <class T, class Part>
cudaError_t exchange_by_copies(const exchange_plan& plan, const Part* parts, bool reach) {
  using exchange = device_exchange<matrix_mover<T>, peer_transport<Part>>;
  std::vector<std::unique_ptr<exchange>> ranks;
  cudaError_t status = on_each_device(parts, plan.ranks, [&](int i) {
    const Part& part = parts[i];
    ranks.push_back(std::unique_ptr<exchange>(new exchange{
        plan.seen_by(i), {part.out, part.in}, {parts, reach}, part.temp, part.stream}));
    return ranks.back()->prepare(nullptr);
  });
  if (status != cudaSuccess) { return status; }
  for (size_type round = 0; round < ranks[0]->rounds() && status == cudaSuccess; ++round) {
    status = on_each_device(parts, plan.ranks,
                            [&](int i) { return ranks[static_cast<size_type>(i)]->round(round); });
  }
  for (int i = 0; i < plan.ranks && status != cudaSuccess; ++i) {
    (void)cudaSetDevice(parts[i].device);
    (void)ranks[static_cast<size_type>(i)]->abandon();
  }
  return status;
}

/// One rank's share where its kernels can store into every output: the others' first, so that the link starts early.
template <class T>
cudaError_t store_into_parts(T* const* outs, const T* in, partition columns, partition rows,
                             int ranks, int rank, cudaStream_t stream) {
  const size_type first_row = rows.begin(ranks, rank);
  const size_type own_rows = rows.count(ranks, rank);
  for (int i = 1; i <= ranks; ++i) {
    const int peer = (rank + i) % ranks;
    const size_type cols = columns.count(ranks, peer);
    if (cols == 0 || own_rows == 0) { continue; }
    const matrix_view<const T> from{in + columns.begin(ranks, peer), own_rows, cols, columns.total};
    const matrix_view<T> to{outs[peer] + first_row, cols, own_rows, rows.total};
    const cudaError_t status =
        run_transpose<sizeof(T), alignof(T), matrices::one>(view_request(to, from), stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
