// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cases on the GPU. A kernel writes the memory of a case, the call runs, and another kernel compares every byte with what
// it must be; the host looks at the results of many cases at a time.

#include <cuda_runtime.h>

#include "gpu_limits.hpp"
#include "options.hpp"
#include "targets.hpp"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fuzz {
namespace {

constexpr unsigned batch_cases = 512;  // that the host looks at together
constexpr unsigned all_right = ~0u;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(status));
  }
}

__global__ void write_memory(const __grid_constant__ image memory) {
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.base);
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned word = blockIdx.x * blockDim.x + threadIdx.x; word < memory.bytes / 8;
       word += step) {
    words[word] = initial_word(memory, word);
  }
}

// The first byte that is wrong.
__global__ void compare_memory(const __grid_constant__ image memory, unsigned* first_wrong) {
  const auto* const words = reinterpret_cast<const unsigned*>(memory.base);
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned word = blockIdx.x * blockDim.x + threadIdx.x; word < memory.bytes / 4;
       word += step) {
    const unsigned got = words[word];
    for (unsigned i = 0; i < 4; ++i) {
      const int expected = final_byte(memory, 4 * word + i);
      if (expected != anything && expected != static_cast<int>(got >> 8 * i & 255u)) {
        atomicMin(first_wrong, 4 * word + i);
      }
    }
  }
}

unsigned blocks_for(unsigned threads) { return std::min(threads / 256 + 1, 2048u); }

// A stream and the memory of the cases in it, one after the other.
struct lane {
  cudaStream_t stream = nullptr;
  unsigned char* memory = nullptr;
};

class gpu {
 public:
  gpu() {
    check(cudaMalloc(&results_, batch_cases * sizeof(unsigned)), "cudaMalloc");
    for (int i = 0; i < static_cast<int>(stream_kind::count); ++i) {
      check(cudaMalloc(&lanes_[i].memory, gpu_memory_bytes), "cudaMalloc");
    }
    check(cudaStreamCreate(&lane_of(stream_kind::blocking).stream), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&lane_of(stream_kind::non_blocking).stream,
                                    cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
    lane_of(stream_kind::per_thread).stream = cudaStreamPerThread;
    begin_batch();
  }

  void begin_batch() {
    check(cudaMemset(results_, 0xff, batch_cases * sizeof(unsigned)), "cudaMemset");
    check(cudaDeviceSynchronize(), "before a batch of cases");
  }

  // Queues a case. What can be wrong at once is returned.
  std::string queue(test_case& c, unsigned slot) {
    const lane& on = lane_of(c.stream);
    if (c.memory.bytes > gpu_memory_bytes) { throw std::logic_error("a case is too large"); }
    c.memory.base = reinterpret_cast<std::uint64_t>(on.memory);
    write_memory<<<blocks_for(c.memory.bytes / 8), 256, 0, on.stream>>>(c.memory);
    check(cudaGetLastError(), "write_memory");
    std::ostringstream words;
    const cudaError_t pending = c.error_pending ? cudaSetDevice(-1) : cudaSuccess;
    const cudaError_t status =
        c.captured ? call_in_graph(c, on) : make_call(c, on.memory, on.stream);
    const cudaError_t after = cudaGetLastError();
    if (status != (c.refused ? cudaErrorInvalidValue : cudaSuccess)) {
      words << "  returned " << cudaGetErrorName(status) << '\n';
    }
    if (after != pending) {
      words << "  left " << cudaGetErrorName(after) << " pending instead of "
            << cudaGetErrorName(pending) << '\n';
    }
    compare_memory<<<blocks_for(c.memory.bytes / 4), 256, 0, on.stream>>>(c.memory,
                                                                          results_ + slot);
    check(cudaGetLastError(), "compare_memory");
    return words.str();
  }

  // For every case of the batch its first wrong byte.
  std::vector<unsigned> end_batch() {
    check(cudaDeviceSynchronize(), "a batch of cases");
    std::vector<unsigned> found(batch_cases);
    check(
        cudaMemcpy(found.data(), results_, batch_cases * sizeof(unsigned), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
    return found;
  }

  // Only while no later case has been queued in the same stream.
  std::string tell_wrong(const test_case& c, unsigned at) {
    unsigned char got = 0;
    check(cudaMemcpy(&got, lane_of(c.stream).memory + at, 1, cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::ostringstream words;
    words << "  " << describe_place(c, at) << " is " << unsigned{got} << " and should be "
          << final_byte(c.memory, at) << '\n';
    return words.str();
  }

 private:
  lane& lane_of(stream_kind kind) { return lanes_[static_cast<int>(kind)]; }

  static cudaError_t call_in_graph(const test_case& c, const lane& on) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t runnable = nullptr;
    check(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeThreadLocal), "a capture");
    const cudaError_t status = make_call(c, on.memory, on.stream);
    check(cudaStreamEndCapture(on.stream, &graph), "the end of a capture");
    check(cudaGraphInstantiate(&runnable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(runnable, on.stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(on.stream), "a graph");
    check(cudaGraphExecDestroy(runnable), "cudaGraphExecDestroy");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return status;
  }

  lane lanes_[static_cast<int>(stream_kind::count)];
  unsigned* results_ = nullptr;
};

// Runs cases of a seed, and tells which are wrong.
class run {
 public:
  run(const options& asked, std::string program)
      : asked_(asked), program_(std::move(program)), targets_(all_targets()) {}

  int all() {
    start_ = last_report_ = clock::now();
    std::cout << "seed " << asked_.seed << std::endl;
    const unsigned together = asked_.each ? 1 : batch_cases;
    while (done_ < asked_.cases &&
           (asked_.seconds == 0 || seconds_since(start_) < asked_.seconds)) {
      const std::uint64_t left = asked_.cases - done_;
      const unsigned count = static_cast<unsigned>(std::min<std::uint64_t>(left, together));
      if (!run_batch(asked_.first + done_, count)) { return 1; }
      done_ += count;
      if (seconds_since(last_report_) > 5) {
        last_report_ = clock::now();
        std::cout << done_ << " cases in " << seconds_since(start_) << " s" << std::endl;
      }
    }
    std::cout << done_ << " cases in " << seconds_since(start_) << " s, all right" << std::endl;
    return 0;
  }

 private:
  using clock = std::chrono::steady_clock;

  static double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  }

  // False where a case is wrong, after saying which.
  bool run_batch(std::uint64_t first, unsigned count) {
    std::vector<std::string> wrong(count);
    std::vector<unsigned> found;
    try {
      gpu_.begin_batch();
      for (unsigned i = 0; i < count; ++i) {
        test_case c = generate(asked_.seed, first + i, targets_, gpu_limits);
        if (asked_.describes) { std::cout << describe(c) << std::endl; }
        wrong[i] = gpu_.queue(c, i);
      }
      found = gpu_.end_batch();
    } catch (const std::runtime_error& e) {
      report_failure(first, count, e.what());
      return false;
    }
    int told = 0;
    for (unsigned i = 0; i < count && told < 5; ++i) {
      if (wrong[i].empty() && found[i] == all_right) { continue; }
      report(first + i, wrong[i]);
      ++told;
    }
    return told == 0;
  }

  // Once more by itself, for the words.
  void report(std::uint64_t number, const std::string& wrong) {
    gpu_.begin_batch();
    test_case c = generate(asked_.seed, number, targets_, gpu_limits);
    const std::string again = gpu_.queue(c, 0);
    const unsigned at = gpu_.end_batch()[0];
    std::cout << "WRONG: " << describe(c) << '\n' << wrong;
    if (at != all_right) {
      std::cout << gpu_.tell_wrong(c, at);
    } else if (again.empty()) {
      std::cout << "  right when it runs by itself\n";
    }
    std::cout << "repeat it with: " << program_ << " --seed " << asked_.seed << " --case " << number
              << std::endl;
  }

  // A kernel that failed takes the context with it: another process runs the cases one by one.
  void report_failure(std::uint64_t first, unsigned count, const char* what) {
    if (count == 1) {
      const test_case c = generate(asked_.seed, first, targets_, gpu_limits);
      std::cout << "WRONG: " << describe(c) << "\n  " << what << "\nrepeat it with: " << program_
                << " --seed " << asked_.seed << " --case " << first << std::endl;
      return;
    }
    const std::vector<std::string> words{program_,
                                         "--seed",
                                         std::to_string(asked_.seed),
                                         "--first",
                                         std::to_string(first),
                                         "--cases",
                                         std::to_string(count),
                                         "--each"};
    std::cout << what << " in one of the cases " << first << " to " << first + count - 1
              << "; one by one:\n ";
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      std::cout << ' ' << word;
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    std::cout << std::endl;
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
    std::cout << "that could not be started" << std::endl;
  }

  const options& asked_;
  std::string program_;
  catalogue targets_;
  gpu gpu_;
  std::uint64_t done_ = 0;
  clock::time_point start_;
  clock::time_point last_report_;
};

// CTest shows tests that end so as skipped.
constexpr int skipped = 4;

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  try {
    const fuzz::options asked = fuzz::read_options(argc, argv);
    if (!fuzz::has_device()) {
      std::cout << "no usable CUDA device" << std::endl;
      return fuzz::skipped;
    }
    return fuzz::run(asked, argv[0]).all();
  } catch (const std::invalid_argument& e) {
    std::cerr << e.what() << "\nusage: " << argv[0] << fuzz::usage;
    return 2;
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
    return 1;
  }
}
