// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices and arrays distributed over NCCL: a communicator of one rank, and one of as many ranks as there are devices, with
// a thread for each.

#include "dealt_matrix.cuh"

#include <tiletranspose/distributed.cuh>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tt_test;
using tt::partition;

// A communicator of `ranks` devices.
class communicators {
 public:
  explicit communicators(int ranks) : comms_(static_cast<std::size_t>(ranks), nullptr) {
    const std::vector<int> devices = first_devices(ranks);
    if (ncclCommInitAll(comms_.data(), ranks, devices.data()) != ncclSuccess) {
      throw std::runtime_error{std::string{"ncclCommInitAll: "} + ncclGetLastError(nullptr)};
    }
  }
  communicators(const communicators&) = delete;
  communicators& operator=(const communicators&) = delete;
  ~communicators() {
    for (ncclComm_t comm : comms_) { (void)ncclCommDestroy(comm); }
  }
  int ranks() const { return static_cast<int>(comms_.size()); }
  ncclComm_t operator[](int rank) const { return comms_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<ncclComm_t> comms_;
};

// What each rank does, on a thread of its own with its device current; the statuses that came of it.
std::vector<cudaError_t> on_all_ranks(int ranks, const std::function<cudaError_t(int)>& rank) {
  std::vector<cudaError_t> statuses(static_cast<std::size_t>(ranks), cudaErrorUnknown);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      cudaError_t status = cudaSetDevice(r);
      if (status == cudaSuccess) { status = rank(r); }
      statuses[static_cast<std::size_t>(r)] = status;
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  return statuses;
}

bool all_are(cudaError_t wanted, const std::vector<cudaError_t>& statuses) {
  return std::all_of(statuses.begin(), statuses.end(),
                     [&](cudaError_t status) { return status == wanted; });
}

// Asks for scratch, calls, and waits; call(rank, temp, temp_bytes, stream) is the library's.
template <class Call>
void run(const communicators& comms, dealt_matrix& matrix, Call call) {
  const auto statuses = on_all_ranks(comms.ranks(), [&](int r) {
    const stream own;
    std::size_t bytes = 0;
    cudaError_t status = call(r, nullptr, bytes, own);
    if (status != cudaSuccess) { return status; }
    status = call(r, matrix.scratch(r, bytes), bytes, own);
    own.wait();
    return status;
  });
  REQUIRE(all_are(cudaSuccess, statuses));
  REQUIRE(matrix.difference().empty());
}

template <class T>
void check(const communicators& comms, partition nx, partition ny, std::size_t step_bytes) {
  INFO(comms.ranks() << " ranks, " << nx.total << " x " << ny.total << " elements of " << sizeof(T)
                     << ", steps of " << step_bytes << " bytes");
  dealt_matrix matrix(first_devices(comms.ranks()), nx, ny, sizeof(T));
  run(comms, matrix, [&](int r, void* temp, std::size_t& bytes, cudaStream_t own) {
    return tt::distributed_transpose(matrix.out<T>(r), matrix.in<T>(r), nx, ny, temp, bytes,
                                     comms[r], own, {step_bytes});
  });
}

void check_all(const communicators& comms) {
  const auto ranks = static_cast<std::size_t>(comms.ranks());
  check<float>(comms, 512, 512, 1 << 14);
  check<float>(comms, 1021, 517, 30000);
  check<float>(comms, 517, 1021, 0);
  check<float>(comms, 1, 300, 100);
  check<unsigned char>(comms, 1021, 1023, 9999);
  check<float_triple>(comms, 333, 501, 20000);
  check<bytes<64>>(comms, 65, 130, 20000);
  std::vector<std::size_t> begins(ranks, 0);  // the last rank holds everything
  begins.push_back(400);
  check<float>(comms, {400, begins.data()}, 300, 1 << 14);
  check<float>(comms, 300, {400, begins.data()}, 1 << 14);
}

// (z, y, x) to (y, z, x): a transpose of blocks of nx elements.
void check_permute(const communicators& comms, std::size_t nx, std::size_t ny, std::size_t nz) {
  dealt_matrix matrix(first_devices(comms.ranks()), ny, nz, nx * sizeof(float));
  run(comms, matrix, [&](int r, void* temp, std::size_t& bytes, cudaStream_t own) {
    return tt::distributed_permute(matrix.out<float>(r), matrix.in<float>(r), {nz, ny, nx},
                                   {1, 0, 2}, temp, bytes, comms[r], own, {1 << 16});
  });
}

}  // namespace

TEST_CASE("a communicator of one rank") {
  require_device();
  const communicators comms(1);
  check_all(comms);
  check_permute(comms, 33, 17, 9);
}

TEST_CASE("as many ranks as devices") {
  require_device();
  if (device_count() < 2) { SKIP("needs two devices"); }
  const communicators comms(device_count());
  check_all(comms);
  check_permute(comms, 33, 17, 9);
  check_permute(comms, 64, 128, 100);
  check<float>(comms, 8192, 8191, 0);
}

#if NCCL_VERSION_CODE >= 22900

namespace {

// Scratch of one rank that is a window.
class window_scratch {
 public:
  window_scratch(std::size_t bytes, ncclComm_t comm) : comm_(comm) {
    if (ncclMemAlloc(&memory_, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, memory_, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC) !=
            ncclSuccess) {
      throw std::runtime_error{std::string{"a window: "} + ncclGetLastError(comm)};
    }
  }
  window_scratch(const window_scratch&) = delete;
  window_scratch& operator=(const window_scratch&) = delete;
  ~window_scratch() {
    if (window_ != nullptr) { (void)ncclCommWindowDeregister(comm_, window_); }
    (void)ncclMemFree(memory_);
  }
  void* memory() const { return memory_; }
  ncclWindow_t window() const { return window_; }

 private:
  ncclComm_t comm_;
  void* memory_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

template <class T>
void check_put(const communicators& comms, partition nx, partition ny, std::size_t step_bytes) {
  INFO(comms.ranks() << " ranks, " << nx.total << " x " << ny.total << " elements of " << sizeof(T)
                     << ", steps of " << step_bytes << " bytes");
  dealt_matrix matrix(first_devices(comms.ranks()), nx, ny, sizeof(T));
  const auto statuses = on_all_ranks(comms.ranks(), [&](int r) {
    const stream own;
    std::size_t bytes = 0;
    const auto call = [&](void* temp, void* window) {
      return tt::distributed_transpose(matrix.out<T>(r), matrix.in<T>(r), nx, ny, temp, bytes,
                                       comms[r], own, {step_bytes, nullptr, window});
    };
    cudaError_t status = call(nullptr, nullptr);
    if (status != cudaSuccess) { return status; }
    const window_scratch scratch(bytes, comms[r]);
    if (scratch.window() == nullptr) { return cudaErrorNotSupported; }
    for (int i = 0; i < 5 && status == cudaSuccess; ++i) {
      status = call(scratch.memory(), scratch.window());
    }
    own.wait();
    return status;
  });
  REQUIRE(all_are(cudaSuccess, statuses));
  REQUIRE(matrix.difference().empty());
}

}  // namespace

TEST_CASE("messages are put into windows") {
  require_device();
  if (device_count() < 2) { SKIP("needs two devices"); }
  const communicators comms(device_count());
  const auto ranks = static_cast<std::size_t>(comms.ranks());
  check_put<float>(comms, 512, 512, 1 << 14);
  check_put<float>(comms, 1021, 517, 30000);
  check_put<float>(comms, 1, 300, 100);
  check_put<unsigned char>(comms, 1021, 1023, 9999);
  check_put<float_triple>(comms, 333, 501, 20000);
  check_put<float>(comms, 8192, 8191, 0);
  std::vector<std::size_t> begins(ranks, 0);  // the last rank holds everything
  begins.push_back(400);
  check_put<float>(comms, {400, begins.data()}, 300, 1 << 14);
  check_put<float>(comms, 300, {400, begins.data()}, 1 << 14);
}

#endif

TEST_CASE("calls follow each other without a wait of the host") {
  require_device();
  const communicators comms(device_count());
  dealt_matrix matrix(first_devices(comms.ranks()), 700, 500, sizeof(float));
  run(comms, matrix, [&](int r, void* temp, std::size_t& bytes, cudaStream_t own) {
    cudaError_t status = cudaSuccess;
    for (int i = 0; i < 20 && status == cudaSuccess; ++i) {
      status = tt::distributed_transpose(matrix.out<float>(r), matrix.in<float>(r), 700, 500, temp,
                                         bytes, comms[r], own, {20000});
    }
    return status;
  });
}

TEST_CASE("a check finds ranks that differ") {
  require_device();
  const communicators comms(device_count());
  const int ranks = comms.ranks();
  for (const bool differs : {false, true}) {
    dealt_matrix matrix(first_devices(comms.ranks()), 512, 512, sizeof(float));
    const auto statuses = on_all_ranks(ranks, [&](int r) {
      std::size_t bytes = 0;
      const float* const in = matrix.in<float>(r);
      float* const out = matrix.out<float>(r);
      cudaError_t status =
          tt::distributed_transpose(out, in, 512, 512, nullptr, bytes, comms[r], cudaStream_t{});
      if (status != cudaSuccess) { return status; }
      void* const temp = matrix.scratch(r, bytes);
      const bool other = differs && r == ranks - 1;
      return tt::distributed_check(other && ranks == 1 ? nullptr : out, in,
                                   other && ranks > 1 ? 511 : 512, 512, temp, bytes, comms[r]);
    });
    REQUIRE(all_are(differs ? cudaErrorInvalidValue : cudaSuccess, statuses));
  }
}

TEST_CASE("bad arguments, and another device than the communicator's") {
  require_device();
  const communicators comms(1);
  dealt_matrix matrix({0}, 64, 64, sizeof(float));
  std::size_t bytes = 0;
  float* const out = matrix.out<float>(0);
  const float* const in = matrix.in<float>(0);
  REQUIRE(tt::distributed_transpose(out, in, 64, 64, nullptr, bytes, comms[0]) == cudaSuccess);
  void* const temp = matrix.scratch(0, bytes);
  const auto refused = cudaErrorInvalidValue;
  REQUIRE(tt::distributed_transpose(out, in, 64, 64, temp, bytes, ncclComm_t{}) == refused);
  REQUIRE(tt::distributed_transpose(out, out, 64, 64, temp, bytes, comms[0]) == refused);
  std::size_t little = 1;
  REQUIRE(tt::distributed_transpose(out, in, 64, 64, temp, little, comms[0]) == refused);
  if (device_count() > 1) {
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    REQUIRE(tt::distributed_transpose(out, in, 64, 64, temp, bytes, comms[0]) ==
            cudaErrorInvalidDevice);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
  }
}
