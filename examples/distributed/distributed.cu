// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix whose rows are dealt out over processes, one for each GPU, transposed by way of NCCL, verified, and timed beside
// NCCL's own exchange of the same bytes. See README.md for how it is started.
#include <tiletranspose/distributed.cuh>
#include <tiletranspose/peers.cuh>

#include "matrix.cuh"
#include "ranks.hpp"

namespace {

void check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) {
    std::fprintf(stderr, "%s: %s; %s\n", what, ncclGetErrorString(status),
                 ncclGetLastError(nullptr));
    std::exit(1);
  }
}

// The median time of `rounds` calls, in milliseconds, of the rank that takes longest.
template <class Call>
float slowest_ms(int rounds, ncclComm_t comm, Call call) {
  const auto time = example::make_device_array<float>(1);
  const auto meet = [&](float value) {
    example::check(cudaMemcpy(time.get(), &value, sizeof value, cudaMemcpyHostToDevice),
                   "cudaMemcpy");
    check(ncclAllReduce(time.get(), time.get(), 1, ncclFloat, ncclMax, comm, nullptr),
          "ncclAllReduce");
    return example::to_host(time, 1)[0];
  };
  cudaEvent_t start, stop;
  example::check(cudaEventCreate(&start), "cudaEventCreate");
  example::check(cudaEventCreate(&stop), "cudaEventCreate");
  std::vector<float> times;
  for (int round = 0; round <= rounds; ++round) {
    meet(0);
    float own = 0;
    example::check(cudaEventRecord(start), "cudaEventRecord");
    call();
    example::check(cudaEventRecord(stop), "cudaEventRecord");
    example::check(cudaEventSynchronize(stop), "the call");
    example::check(cudaEventElapsedTime(&own, start, stop), "cudaEventElapsedTime");
    const float all = meet(own);
    if (round > 0) { times.push_back(all); }  // the first one connects the ranks
  }
  example::check(cudaEventDestroy(start), "cudaEventDestroy");
  example::check(cudaEventDestroy(stop), "cudaEventDestroy");
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The outputs of all ranks of this host, mapped into this process by CUDA's IPC.
template <class T>
class mapped_outputs {
 public:
  mapped_outputs(T* own, const ranks::place& place, ncclComm_t comm)
      : rank_(place.rank), outs_(static_cast<std::size_t>(place.ranks), nullptr) {
    std::vector<cudaIpcMemHandle_t> handles(outs_.size());
    auto& mine = handles[static_cast<std::size_t>(rank_)];
    bool good = cudaIpcGetMemHandle(&mine, own) == cudaSuccess;
    const auto all = example::make_device_array<cudaIpcMemHandle_t>(handles.size());
    example::check(cudaMemcpy(all.get() + rank_, &mine, sizeof mine, cudaMemcpyHostToDevice),
                   "cudaMemcpy");
    check(ncclAllGather(all.get() + rank_, all.get(), sizeof mine, ncclUint8, comm, nullptr),
          "ncclAllGather");
    handles = example::to_host(all, handles.size());
    for (std::size_t i = 0; i < outs_.size() && good; ++i) {
      void* memory = own;
      good =
          i == static_cast<std::size_t>(rank_) ||
          cudaIpcOpenMemHandle(&memory, handles[i], cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
      if (good) { outs_[i] = static_cast<T*>(memory); }
    }
    (void)cudaGetLastError();  // what cannot be mapped is no failure
    const int bad = good ? 0 : 1;
    const auto vote = example::to_device(std::vector<int>{bad});
    check(ncclAllReduce(vote.get(), vote.get(), 1, ncclInt, ncclSum, comm, nullptr),
          "ncclAllReduce");
    complete_ = example::to_host(vote, 1)[0] == 0;
  }
  mapped_outputs(const mapped_outputs&) = delete;
  mapped_outputs& operator=(const mapped_outputs&) = delete;
  ~mapped_outputs() {
    for (std::size_t i = 0; i < outs_.size(); ++i) {
      if (i != static_cast<std::size_t>(rank_) && outs_[i] != nullptr) {
        cudaIpcCloseMemHandle(outs_[i]);
      }
    }
  }
  bool complete() const { return complete_; }  // on every rank
  T* const* data() const { return outs_.data(); }

 private:
  int rank_;
  std::vector<T*> outs_;
  bool complete_ = false;
};

// Scratch that begins a window, into which the other ranks put their messages; its window is null where NCCL has none.
class window_scratch {
 public:
  window_scratch(std::size_t bytes, ncclComm_t comm) : comm_(comm) {
#if NCCL_VERSION_CODE >= 22900
    check(ncclMemAlloc(&memory_, bytes), "ncclMemAlloc");
    check(ncclCommWindowRegister(comm, memory_, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC),
          "ncclCommWindowRegister");
#else
    (void)bytes;
#endif
  }
  window_scratch(const window_scratch&) = delete;
  window_scratch& operator=(const window_scratch&) = delete;
  ~window_scratch() {
#if NCCL_VERSION_CODE >= 22900
    if (window_ != nullptr) {
      check(ncclCommWindowDeregister(comm_, window_), "ncclCommWindowDeregister");
    }
    check(ncclMemFree(memory_), "ncclMemFree");
#endif
  }
  void* memory() const { return memory_; }
  void* window() const { return window_; }

 private:
  ncclComm_t comm_;
  void* memory_ = nullptr;
#if NCCL_VERSION_CODE >= 22900
  ncclWindow_t window_ = nullptr;
#else
  void* window_ = nullptr;
#endif
};

template <class T>
int run(const ranks::place& own, ncclComm_t comm, const matrix::options& chosen) {
  const std::size_t nx = chosen.nx, ny = chosen.ny;
  const tt::partition columns(nx), rows(ny);
  const std::size_t in_rows = rows.count(own.ranks, own.rank);
  const std::size_t out_rows = columns.count(own.ranks, own.rank);
  const auto in = example::make_device_array<T>(in_rows * nx + 1);
  const auto out = example::make_device_array<T>(out_rows * ny + 1);
  matrix::fill<<<1024, 256>>>(in.get(), in_rows * nx, rows.begin(own.ranks, own.rank) * nx);

  tt::distributed_options options;
  options.step_bytes = chosen.step_bytes;
  std::size_t temp_bytes = 0;
  example::check(tt::distributed_transpose(out.get(), in.get(), nx, ny, nullptr, temp_bytes, comm,
                                           nullptr, options),
                 "tt::distributed_transpose, asked for scratch");
  const auto temp = example::make_device_array<unsigned char>(temp_bytes);
  example::check(tt::distributed_check(out.get(), in.get(), nx, ny, temp.get(), temp_bytes, comm,
                                       nullptr, options),
                 "tt::distributed_check");
  const auto is_right = [&] {
    return matrix::is_right(out.get(), out_rows, columns.begin(own.ranks, own.rank), nx, ny);
  };
  const auto clear = [&] {
    example::check(cudaMemset(out.get(), 0, out_rows * ny * sizeof(T)), "cudaMemset");
  };
  bool right = true;
  const auto transpose_ms = [&](void* scratch) {
    clear();
    const float ms = slowest_ms(chosen.rounds, comm, [&] {
      example::check(tt::distributed_transpose(out.get(), in.get(), nx, ny, scratch, temp_bytes,
                                               comm, nullptr, options),
                     "tt::distributed_transpose");
    });
    right = is_right() && right;
    return ms;
  };
  const float ms = transpose_ms(temp.get());
  const window_scratch window(temp_bytes, comm);
  options.window = window.window();
  const float put_ms = options.window != nullptr ? transpose_ms(window.memory()) : 0;

  // Where the ranks can map each other's outputs, kernels store into them; a reduction is the barrier.
  const mapped_outputs<T> outs(out.get(), own, comm);
  const auto barrier = example::make_device_array<float>(1);
  float mapped_ms = 0;
  if (outs.complete()) {
    clear();
    mapped_ms = slowest_ms(chosen.rounds, comm, [&] {
      example::check(tt::transpose_into_parts(outs.data(), in.get(), nx, ny, own.ranks, own.rank),
                     "tt::transpose_into_parts");
      check(ncclAllReduce(barrier.get(), barrier.get(), 1, ncclFloat, ncclMax, comm, nullptr),
            "ncclAllReduce");
    });
    right = is_right() && right;
  }

  // The same bytes as they lie, in one message to each other rank.
  const float bare_ms = slowest_ms(chosen.rounds, comm, [&] {
    check(ncclGroupStart(), "ncclGroupStart");
    const T* from = in.get();
    T* to = out.get();
    for (int peer = 0; peer < own.ranks; ++peer) {
      const std::size_t sent = in_rows * columns.count(own.ranks, peer);
      const std::size_t received = rows.count(own.ranks, peer) * out_rows;
      if (peer != own.rank) {
        check(ncclSend(from, sent * sizeof(T), ncclUint8, peer, comm, nullptr), "ncclSend");
        check(ncclRecv(to, received * sizeof(T), ncclUint8, peer, comm, nullptr), "ncclRecv");
      }
      from += sent;
      to += received;
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
  });

  (void)slowest_ms(1, comm, [] {});  // nobody unmaps before all are done
  if (!right) { std::fprintf(stderr, "distributed: rank %d holds wrong elements\n", own.rank); }
  if (own.rank == 0 && right) {
    const double sent = static_cast<double>(in_rows * (nx - out_rows) * sizeof(T));
    std::printf("%zu x %zu elements of %zu bytes over %d rank%s, %zu bytes of scratch; verified\n",
                nx, ny, sizeof(T), own.ranks, own.ranks == 1 ? "" : "s", temp_bytes);
    if (own.ranks > 1) { std::printf("  NCCL's exchange alone %.3f ms\n", bare_ms); }
    const auto print = [&](const char* what, float took) {
      std::printf("  %s %.3f ms", what, took);
      if (own.ranks > 1) {
        std::printf(", %.1f GB/s each way; NCCL's exchange takes %.1f %% of that",
                    sent / took * 1e-6, 100 * bare_ms / took);
      }
      std::printf("\n");
    };
    print("tt::distributed_transpose", ms);
    if (window.window() != nullptr) { print("the same through a window", put_ms); }
    if (outs.complete()) { print("stored into mapped outputs", mapped_ms); }
  }
  return right ? 0 : 1;
}

int run_rank(const ranks::place& own, const matrix::options& chosen) {
  example::need_gpu();
  int devices = 0;
  example::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (own.device >= devices) {
    std::fprintf(stderr, "distributed: rank %d has no GPU of its own\n", own.rank);
    return 1;
  }
  example::check(cudaSetDevice(own.device), "cudaSetDevice");
  ncclUniqueId id;
  if (own.rank == 0) { check(ncclGetUniqueId(&id), "ncclGetUniqueId"); }
  if (!ranks::hand_round(own, id)) {
    std::fprintf(stderr, "distributed: rank %d did not get the id by %s\n", own.rank,
                 own.meeting_point.c_str());
    return 1;
  }
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, own.ranks, id, own.rank), "ncclCommInitRank");
  const int status = matrix::with_element(
      chosen.element, [&](auto element) { return run<decltype(element)>(own, comm, chosen); });
  check(ncclCommDestroy(comm), "ncclCommDestroy");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const matrix::options chosen = matrix::parse(argc, argv);
  ranks::place own;
  if (ranks::from_environment(own)) { return run_rank(own, chosen); }
  const int devices = ranks::run_apart([] {
    int count = 0;
    return example::has_gpu() && cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
  });
  if (devices < 0) {
    std::fprintf(stderr, "distributed: the process that was to count the GPUs failed\n");
    return 1;
  }
  if (devices == 0) {
    std::printf("No GPU was found.\n");
    return 0;
  }
  return ranks::start(devices, [&](const ranks::place& child) { return run_rank(child, chosen); });
}
