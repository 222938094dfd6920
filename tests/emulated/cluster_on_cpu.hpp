// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Several devices on the CPU, with streams, events and NCCL: cuda_on_cpu.hpp runs a launch at once, here it is queued to
/// its stream and run later. Which of the streams whose first operation can run goes next is drawn at random, so that work
/// which nothing orders runs in any order. Include it before the library, instead of cuda_on_cpu.hpp.

#pragma once

#define cudaLaunchKernel launch_at_once
#define cudaMemcpyAsync copy_at_once
#define cudaGetDevice only_device
#include "cuda_on_cpu.hpp"
#undef cudaLaunchKernel
#undef cudaMemcpyAsync
#undef cudaGetDevice

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using cudaEvent_t = struct event_of_nobody*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;

namespace cpu {

struct operation {
  std::function<bool()> ready;
  std::function<void()> run;
};

/// A mark: how often it was set by the host, and how far the streams have come.
struct event_state {
  int set = 0;
  int reached = 0;
};

/// Pinned memory, which the host and the device call by different addresses, as they may where it is registered.
class pinned_range {
 public:
  explicit pinned_range(std::size_t bytes) : bytes_(bytes) {
    const int memory = memfd_create("pinned", 0);
    if (memory < 0 || ftruncate(memory, static_cast<off_t>(bytes)) != 0) { std::abort(); }
    host_ = map(memory);
    device_ = map(memory);
    close(memory);
  }
  pinned_range(const pinned_range&) = delete;
  pinned_range& operator=(const pinned_range&) = delete;
  ~pinned_range() {
    munmap(host_, bytes_);
    munmap(device_, bytes_);
  }
  unsigned char* host() const { return host_; }
  /// Null for an address that is none of its own.
  unsigned char* mapped(const void* address) const {
    const auto distance =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(host_);
    return distance < bytes_ ? device_ + distance : nullptr;
  }

 private:
  unsigned char* map(int memory) const {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (at == MAP_FAILED) { std::abort(); }
    return static_cast<unsigned char*>(at);
  }

  std::size_t bytes_;
  unsigned char* host_;
  unsigned char* device_;
};

/// All streams and events of a test.
struct cluster {
  std::recursive_mutex mutex;
  std::mt19937 random{1};
  std::vector<std::deque<operation>>
      streams;  ///< the first ones are the null streams of the devices
  std::vector<event_state> events;
  std::vector<std::string> faults;
  std::vector<std::unique_ptr<pinned_range>> pinned;
  bool pins = true;  ///< else there is no pinned memory left
  int devices = 1;
  bool peers_can_access = true;
  int peer_copies = 0;          ///< through the host
  bool ignores_events = false;  ///< a control: streams wait for nothing
  bool nccl_fails = false;      ///< NCCL refuses the next message
  bool nccl_does_not_block = false;
  int asked = 0;
  bool captures = false;        ///< streams are captured
  int host_failure_after = -1;  ///< so many copies go well, then one fails

  void start(int device_count, unsigned seed) {
    streams.assign(static_cast<std::size_t>(device_count), {});
    events.clear();
    faults.clear();
    pinned.clear();
    pins = true;
    random.seed(seed);
    devices = device_count;
    peers_can_access = true;
    peer_copies = 0;
    ignores_events = false;
    nccl_fails = false;
    nccl_does_not_block = false;
    asked = 0;
    captures = false;
    host_failure_after = -1;
  }
  bool step() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!streams[i].empty() && (!streams[i].front().ready || streams[i].front().ready())) {
        ready.push_back(i);
      }
    }
    if (ready.empty()) { return false; }
    auto& queue = streams[ready[random() % ready.size()]];
    const operation next = queue.front();
    queue.pop_front();
    if (next.run) { next.run(); }
    return true;
  }
  /// Runs all that can run; false where something is left that waits for ever.
  bool drain() {
    const std::lock_guard<std::recursive_mutex> lock(mutex);
    while (step()) {}
    for (const auto& queue : streams) {
      if (!queue.empty()) { return false; }
    }
    return true;
  }
  /// Runs until `done`, as a host thread that waits; other threads may have to queue something first.
  template <class Done>
  cudaError_t wait(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::lock_guard<std::recursive_mutex> lock(mutex);
        if (done()) { return cudaSuccess; }
        if (step()) { continue; }
      }
      std::this_thread::yield();
    }
    faults.push_back("the host waits for ever");
    return cudaErrorUnknown;
  }
};
inline cluster& machines() {
  static cluster all;
  return all;
}
inline int& current_device() {
  static thread_local int device = 0;
  return device;
}
inline std::size_t index_of(cudaStream_t stream) {
  return stream == nullptr ? static_cast<std::size_t>(current_device())
                           : reinterpret_cast<std::size_t>(stream) - 1;
}
inline void enqueue(cudaStream_t stream, std::function<void()> run,
                    std::function<bool()> ready = {}) {
  const std::lock_guard<std::recursive_mutex> lock(machines().mutex);
  machines().streams[index_of(stream)].push_back({std::move(ready), std::move(run)});
}
inline cudaStream_t new_stream() {
  const std::lock_guard<std::recursive_mutex> lock(machines().mutex);
  machines().streams.emplace_back();
  return reinterpret_cast<cudaStream_t>(machines().streams.size());
}
inline bool copy_fails() {
  int& left = machines().host_failure_after;
  return left >= 0 && left-- == 0;
}

}  // namespace cpu

inline cudaError_t cudaGetDevice(int* device) {
  *device = cpu::current_device();
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= cpu::machines().devices) { return cudaErrorInvalidDevice; }
  cpu::current_device() = device;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int* possible, int, int) {
  *possible = cpu::machines().peers_can_access ? 1 : 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaErrorPeerAccessAlreadyEnabled;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

/// Pinned host memory.
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1 };
struct cudaPointerAttributes {
  cudaMemoryType type;
  void* devicePointer;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                            const void* address) {
  *attributes = {};
  for (const auto& range : cpu::machines().pinned) {
    if (void* const mapped = range->mapped(address)) { *attributes = {cudaMemoryTypeHost, mapped}; }
  }
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  if (!cpu::machines().pins) { return cudaErrorMemoryAllocation; }
  cpu::machines().pinned.push_back(std::make_unique<cpu::pinned_range>(bytes));
  *memory = cpu::machines().pinned.back()->host();
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) {
  auto& all = cpu::machines().pinned;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& range) { return range->host() == memory; }),
            all.end());
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = cpu::new_stream();
  return cudaSuccess;
}
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cpu::machines().captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::size_t index = cpu::index_of(stream);
  return cpu::machines().wait([=] { return cpu::machines().streams[index].empty(); });
}

inline cpu::event_state& state_of(cudaEvent_t event) {
  return cpu::machines().events[reinterpret_cast<std::size_t>(event) - 1];
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const std::lock_guard<std::recursive_mutex> lock(cpu::machines().mutex);
  cpu::machines().events.emplace_back();
  *event = reinterpret_cast<cudaEvent_t>(cpu::machines().events.size());
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard<std::recursive_mutex> lock(cpu::machines().mutex);
  const int number = ++state_of(event).set;
  cpu::enqueue(stream, [=] { state_of(event).reached = number; });
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard<std::recursive_mutex> lock(cpu::machines().mutex);
  const int number = state_of(event).set;
  cpu::enqueue(stream, {},
               [=] { return cpu::machines().ignores_events || state_of(event).reached >= number; });
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const int number = state_of(event).set;
  return cpu::machines().wait(
      [=] { return cpu::machines().ignores_events || state_of(event).reached >= number; });
}

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  using values = std::tuple<std::remove_cv_t<Parameters>...>;
  const auto all = std::make_shared<values>(
      cpu::gather<values>(arguments, std::index_sequence_for<Parameters...>()));
  cpu::enqueue(stream, [=] {
    std::apply(
        [&](auto&... each) {
          void* pointers[] = {const_cast<void*>(static_cast<const void*>(&each))...};
          const cudaError_t status = cpu::launch(kernel, grid, block, pointers, shared_bytes);
          if (status != cudaSuccess) { cpu::machines().faults.push_back("a launch failed"); }
        },
        *all);
  });
  return cudaSuccess;
}

/// Pageable host memory is read before the call returns, as CUDA does with little of it.
inline cudaError_t cudaMemcpyAsync(void* out, const void* in, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  if (cpu::copy_fails()) { return cudaErrorUnknown; }
  const auto* const first = static_cast<const unsigned char*>(in);
  if (kind == cudaMemcpyHostToDevice) {
    const std::vector<unsigned char> kept(first, first + bytes);
    cpu::enqueue(stream, [=] { std::memcpy(out, kept.data(), bytes); });
  } else {
    cpu::enqueue(stream, [=] { std::memcpy(out, in, bytes); });
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* out, std::size_t out_pitch, const void* in,
                                     std::size_t in_pitch, std::size_t row_bytes, std::size_t rows,
                                     cudaMemcpyKind, cudaStream_t stream) {
  if (cpu::copy_fails()) { return cudaErrorUnknown; }
  constexpr std::size_t most = (std::size_t{1} << 31) - 1;  // cudaDevAttrMaxPitch
  if (out_pitch < row_bytes || in_pitch < row_bytes || out_pitch > most || in_pitch > most) {
    return cudaErrorInvalidValue;
  }
  cpu::enqueue(stream, [=] {
    for (std::size_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<unsigned char*>(out) + row * out_pitch,
                  static_cast<const unsigned char*>(in) + row * in_pitch, row_bytes);
    }
  });
  return cudaSuccess;
}

/// Between devices that cannot reach each other.
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaMemcpy3DPeerParms {
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};
inline cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
  ++cpu::machines().peer_copies;
  if (copy->srcDevice == copy->dstDevice || copy->extent.depth != 1) {
    return cudaErrorInvalidValue;
  }
  return cudaMemcpy2DAsync(copy->dstPtr.ptr, copy->dstPtr.pitch, copy->srcPtr.ptr,
                           copy->srcPtr.pitch, copy->extent.width, copy->extent.height,
                           cudaMemcpyDefault, stream);
}
inline cudaError_t cudaMemcpyPeerAsync(void* out, int, const void* in, int, std::size_t bytes,
                                       cudaStream_t stream) {
  return cudaMemcpyAsync(out, in, bytes, cudaMemcpyDefault, stream);
}

// ---- NCCL

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
};
enum ncclDataType_t { ncclUint8 = 1, ncclUint64 = 5 };
enum ncclRedOp_t { ncclMax = 2 };
#define NCCL_VERSION_CODE 22900

namespace cpu {

/// A message on its way: read where the receiver takes it, as late as NCCL may read it.
struct message {
  const void* memory;
  std::size_t bytes;
  std::shared_ptr<bool> taken;
};
struct reduction {
  int given = 0;
  std::vector<unsigned long long> greatest;
};
/// What the ranks of a communicator share.
struct network {
  int ranks = 1;
  std::map<std::pair<int, int>, std::deque<message>> mail;
  std::vector<reduction> reductions;
  std::size_t messages = 0;
  std::map<std::pair<int, int>, int> signals;  ///< from one rank to another, not yet waited for
};
/// A window: the memory of each rank.
struct window {
  std::vector<unsigned char*> memory;
  std::vector<std::size_t> bytes;
};

}  // namespace cpu

struct communicator_on_cpu {
  cpu::network* network;
  int rank;
  int device;
  std::size_t reductions = 0;
};
using ncclComm_t = communicator_on_cpu*;

namespace cpu {

struct point_to_point {
  ncclComm_t comm;
  void* memory;
  std::size_t bytes;
  int peer;
  bool sends;
  cudaStream_t stream;
};
inline std::vector<point_to_point>& open_group() {
  static thread_local std::vector<point_to_point> group;
  return group;
}

/// What NCCL answers where all is well.
inline ncclResult_t queued() {
  return machines().nccl_does_not_block ? ncclInProgress : ncclSuccess;
}

inline void queue_group(const std::vector<point_to_point>& group) {
  if (group.empty()) { return; }
  const cudaStream_t stream = group.front().stream;
  const auto sent = std::make_shared<std::vector<std::shared_ptr<bool>>>();
  enqueue(stream, [=] {
    for (const point_to_point& one : group) {
      if (!one.sends) { continue; }
      sent->push_back(std::make_shared<bool>(false));
      one.comm->network->mail[{one.comm->rank, one.peer}].push_back(
          {one.memory, one.bytes, sent->back()});
      ++one.comm->network->messages;
    }
  });
  enqueue(
      stream,
      [=] {
        for (const point_to_point& one : group) {
          if (one.sends) { continue; }
          auto& mail = one.comm->network->mail[{one.peer, one.comm->rank}];
          const message next = mail.front();
          mail.pop_front();
          if (next.bytes != one.bytes) {
            machines().faults.push_back("a message is " + std::to_string(next.bytes) +
                                        " bytes long, not " + std::to_string(one.bytes));
          }
          std::memcpy(one.memory, next.memory, std::min(next.bytes, one.bytes));
          *next.taken = true;
        }
      },
      [=] {
        for (const point_to_point& one : group) {
          if (!one.sends && one.comm->network->mail[{one.peer, one.comm->rank}].empty()) {
            return false;
          }
        }
        return true;
      });
  enqueue(stream, {}, [=] {
    return std::all_of(sent->begin(), sent->end(), [](const auto& taken) { return *taken; });
  });
}

}  // namespace cpu

/// A communicator that does not block is done when it has been asked three times.
inline ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* result) {
  cpu::cluster& all = cpu::machines();
  const bool busy = all.nccl_does_not_block && ++all.asked % 3 != 0;
  *result = busy ? ncclInProgress : ncclSuccess;
  return ncclSuccess;
}
inline ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks) {
  *ranks = comm->network->ranks;
  return ncclSuccess;
}
inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess;
}
inline ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  *device = comm->device;
  return ncclSuccess;
}
inline ncclResult_t ncclGroupStart() {
  cpu::open_group().clear();
  return ncclSuccess;
}
/// A group one of whose messages was refused sends nothing.
inline ncclResult_t ncclGroupEnd() {
  const bool fails = cpu::machines().nccl_fails;
  if (!fails) { cpu::queue_group(cpu::open_group()); }
  cpu::open_group().clear();
  return fails ? ncclSystemError : cpu::queued();
}
inline ncclResult_t ncclSend(const void* memory, std::size_t count, ncclDataType_t, int peer,
                             ncclComm_t comm, cudaStream_t stream) {
  if (cpu::machines().nccl_fails) { return ncclSystemError; }
  cpu::open_group().push_back({comm, const_cast<void*>(memory), count, peer, true, stream});
  return cpu::queued();
}
inline ncclResult_t ncclRecv(void* memory, std::size_t count, ncclDataType_t, int peer,
                             ncclComm_t comm, cudaStream_t stream) {
  cpu::open_group().push_back({comm, memory, count, peer, false, stream});
  return cpu::queued();
}
/// A message is put as late as its signal, by which alone the other rank may know of it.
using ncclWindow_t = cpu::window*;
struct ncclWaitSignalDesc_t {
  int opCnt, peer, sigIdx, ctx;
};
inline ncclResult_t ncclPutSignal(const void* memory, std::size_t count, ncclDataType_t, int peer,
                                  ncclWindow_t window, std::size_t offset, int, int, unsigned,
                                  ncclComm_t comm, cudaStream_t stream) {
  if (cpu::machines().nccl_fails) { return ncclSystemError; }
  const auto to = static_cast<std::size_t>(peer);
  if (offset + count > window->bytes[to]) { return ncclInvalidArgument; }
  cpu::enqueue(stream, [=] {
    std::memcpy(window->memory[to] + offset, memory, count);
    ++comm->network->messages;
    ++comm->network->signals[{comm->rank, peer}];
  });
  return cpu::queued();
}
inline ncclResult_t ncclSignal(int peer, int, int, unsigned, ncclComm_t comm, cudaStream_t stream) {
  cpu::enqueue(stream, [=] { ++comm->network->signals[{comm->rank, peer}]; });
  return cpu::queued();
}
inline ncclResult_t ncclWaitSignal(int count, ncclWaitSignalDesc_t* signals, ncclComm_t comm,
                                   cudaStream_t stream) {
  for (int i = 0; i < count; ++i) {
    const ncclWaitSignalDesc_t one = signals[i];
    const auto left = [=]() -> int& { return comm->network->signals[{one.peer, comm->rank}]; };
    cpu::enqueue(
        stream, [=] { left() -= one.opCnt; }, [=] { return left() >= one.opCnt; });
  }
  return cpu::queued();
}
/// The greatest of each number, in place.
inline ncclResult_t ncclAllReduce(const void*, void* memory, std::size_t count, ncclDataType_t,
                                  ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t number = comm->reductions++;
  cpu::network* const network = comm->network;
  auto* const values = static_cast<unsigned long long*>(memory);
  cpu::enqueue(stream, [=] {
    network->reductions.resize(std::max(network->reductions.size(), number + 1));
    cpu::reduction& shared = network->reductions[number];
    shared.greatest.resize(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      shared.greatest[i] = std::max(shared.greatest[i], values[i]);
    }
    ++shared.given;
  });
  cpu::enqueue(
      stream,
      [=] {
        const cpu::reduction& shared = network->reductions[number];
        std::copy(shared.greatest.begin(), shared.greatest.end(), values);
      },
      [=] { return network->reductions[number].given == network->ranks; });
  return ncclSuccess;
}
