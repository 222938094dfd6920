// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of errors share: calls that differ in their form alone, arguments that no call may
// follow, capture into graphs, errors made on purpose, and what is asked of every form.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "symmetries.cuh"

namespace tt_test {

inline constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t half_huge = huge / 2 + 1;  // 2^63: twice that is 0
inline constexpr std::size_t matrices = 3;              // in the batches of forms

template <class T>
tt::matrix_view<T> view(T* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  return {data, rows, cols, stride};
}

// `pointer`, some bytes further on.
template <class T>
T* off_by(T* pointer, std::size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
}

// Addresses that no call may follow. Far apart, aligned, and in nobody's memory.
inline float* fake_out() { return reinterpret_cast<float*>(std::uintptr_t{1} << 44); }
inline const float* fake_in() { return reinterpret_cast<const float*>(std::uintptr_t{1} << 45); }

// One form of a call out of place, all with the same arguments. `batch` matrices lie one behind the other.
struct form {
  const char* name;
  tt::symmetry how;
  std::size_t batch;
  cudaError_t (*call)(float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s);

  byte_vector expected(const byte_vector& in, shape s) const {
    byte_vector result;
    const std::size_t matrix = s.nx * s.ny * sizeof(float);
    for (std::size_t i = 0; i < batch; ++i) {
      const byte_vector one = reoriented({&in[i * matrix], s.ny, s.nx, s.nx, sizeof(float)}, how);
      result.insert(result.end(), one.begin(), one.end());
    }
    return result;
  }
};

// Random input for a form of a call, an output to match and the expectation for it.
class form_case {
 public:
  form_case(const form& f, shape s, random_source& random)
      : form_(f),
        shape_(s),
        content_(random.fill(s.nx * s.ny * f.batch * sizeof(float))),
        in_(content_),
        out_(content_.size(), 0, random) {
    expect();
    out_.poison();
  }

  cudaError_t call(cudaStream_t s = nullptr) const {
    return form_.call(out_.as<float>(), in_.as<float>(), shape_.nx, shape_.ny, s);
  }

  // A new input of the same size in the same place, the output poisoned again.
  void renew(random_source& random) {
    content_ = random.fill(content_.size());
    in_.replace(content_);
    expect();
    out_.poison();
  }

  const input_buffer& in() const { return in_; }
  const output_buffer& out() const { return out_; }

 private:
  void expect() {
    const byte_vector expected = form_.expected(content_, shape_);
    const std::size_t elements = expected.size() / sizeof(float);
    out_.expect(0, elements, {expected.data(), 1, elements, elements, sizeof(float)});
  }

  const form& form_;
  shape shape_;
  byte_vector content_;
  input_buffer in_;
  output_buffer out_;
};

// Records what `enqueue(stream)` puts into a stream, and runs nothing.
template <class Enqueue>
cudaGraph_t capture(const stream& s, Enqueue enqueue) {
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  const cudaError_t status = enqueue(s);
  check_cuda(cudaStreamEndCapture(s, &graph), "cudaStreamEndCapture");
  CHECK(status == cudaSuccess);
  return graph;
}

inline std::size_t count_nodes(cudaGraph_t graph) {
  std::size_t nodes = 0;
  check_cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
  return nodes;
}

// A recorded graph, which it owns, ready to be run.
class replay {
 public:
  explicit replay(cudaGraph_t graph) : graph_(graph) {
    check_cuda(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
  }
  ~replay() {
    (void)cudaGraphExecDestroy(executable_);
    (void)cudaGraphDestroy(graph_);
  }
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;

  std::size_t nodes() const { return count_nodes(graph_); }

  void run(const stream& s) const {
    check_cuda(cudaGraphLaunch(executable_, s), "cudaGraphLaunch");
    s.wait();
  }

 private:
  cudaGraph_t graph_;
  cudaGraphExec_t executable_ = nullptr;
};

// A template, so that several translation units may have it.
template <int = 0>
__global__ void do_nothing() {}

// Calls of CUDA that fail, so that their error is the one that cudaGetLastError would return.
inline cudaError_t leave_an_error_behind() {
  void* p = nullptr;
  return cudaMalloc(&p, huge / 4);
}
inline cudaError_t ask_for_no_device() { return cudaSetDevice(-1); }
inline cudaError_t ask_for_too_many_threads() {
  return cudaLaunchKernel(reinterpret_cast<const void*>(do_nothing<>), dim3{1}, dim3{4096}, nullptr,
                          0, nullptr);
}
constexpr cudaError_t (*ways_to_fail[])() = {leave_an_error_behind, ask_for_no_device,
                                             ask_for_too_many_threads};

// What `call` returns while a stream that it does not use is being captured: where that one synchronizes with
// the legacy stream, CUDA refuses every launch into the latter. Clears the last error.
template <class Call>
cudaError_t status_beside_a_capture(Call call) {
  const stream captured{cudaStreamDefault};
  check_cuda(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal),
             "cudaStreamBeginCapture");
  const cudaError_t status = call();
  cudaGraph_t graph = nullptr;
  (void)cudaStreamEndCapture(captured, &graph);
  if (graph != nullptr) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
  return status;
}

// What a bare launch returns there.
inline cudaError_t bare_status_beside_a_capture() {
  return status_beside_a_capture([] {
    return cudaLaunchKernel(reinterpret_cast<const void*>(do_nothing<>), dim3{1}, dim3{1}, nullptr,
                            0, nullptr);
  });
}

// ---------------------------------------------------- what is asked of every form

using form_list = std::vector<form>;

inline void check_null_pointers(const form_list& forms) {
  for (const form& f : forms) {
    INFO(f.name);
    CHECK(f.call(nullptr, fake_in(), 5, 7, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(fake_out(), nullptr, 5, 7, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(nullptr, nullptr, 5, 7, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(nullptr, fake_in(), 1, 1, nullptr) == cudaErrorInvalidValue);
  }
}

// Floats lie at multiples of 4 bytes. Anything else would fail in the kernel and take the context with it.
constexpr std::size_t misalignments_of_floats[] = {1, 2, 3, 5, 6, 7};

inline void check_misaligned_pointers(const form_list& forms) {
  for (const form& f : forms) {
    for (const std::size_t by : misalignments_of_floats) {
      INFO(f.name << ", " << by << " bytes");
      float* const out = off_by(fake_out(), by);
      const float* const in = off_by(fake_in(), by);
      CHECK(f.call(out, fake_in(), 5, 7, nullptr) == cudaErrorInvalidValue);
      CHECK(f.call(fake_out(), in, 5, 7, nullptr) == cudaErrorInvalidValue);
      CHECK(f.call(out, in, 5, 7, nullptr) == cudaErrorInvalidValue);
      CHECK(f.call(out, in, 1, 1, nullptr) == cudaErrorInvalidValue);
      CHECK(f.call(out, in, 5, 0, nullptr) == cudaSuccess);
    }
  }
}

// Shapes of which nx * ny overflows, or only nx * ny * sizeof(float).
inline const std::vector<shape>& overflowing_shapes() {
  constexpr std::size_t root = std::size_t{1} << 32;
  static const std::vector<shape> shapes{
      {huge, 2},    {2, huge},        {half_huge, 2},    {2, half_huge},    {root, root},
      {huge, huge}, {huge / 3, 4},    {huge / 4 + 1, 1}, {1, huge / 4 + 1}, {huge, 1},
      {1, huge},    {root, root / 4}, {root / 4, root}};
  return shapes;
}

inline void check_overflows(const form_list& forms) {
  for (const form& f : forms) {
    INFO(f.name);
    for (const shape s : overflowing_shapes()) {
      INFO("nx " << s.nx << ", ny " << s.ny);
      CHECK(f.call(fake_out(), fake_in(), s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    }
  }
}

// Equal pointers too, and where nothing would move: in place has its own name.
inline void check_overlaps(const form_list& forms) {
  constexpr shape s{5, 7};
  float* const base = fake_out();
  for (const form& f : forms) {
    INFO(f.name);
    const std::size_t elements = s.nx * s.ny * f.batch;
    CHECK(f.call(base, base, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(base, base, 1, 1, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(base + 1, base, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(base, base + 1, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    // One element in common.
    CHECK(f.call(base + elements - 1, base, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(base, base + elements - 1, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
  }
}

// Touching is not overlapping. Without a device the call fails too, but for another reason.
inline void check_neighbours(const form_list& forms) {
  const bool device = has_device();
  constexpr shape s{5, 7};
  random_source random;
  for (const form& f : forms) {
    INFO(f.name);
    const std::size_t elements = s.nx * s.ny * f.batch;
    const std::size_t size = elements * sizeof(float);
    if (!device) {
      CHECK(f.call(fake_out() + elements, fake_out(), s.nx, s.ny, nullptr) !=
            cudaErrorInvalidValue);
      CHECK(f.call(fake_out(), fake_out() + elements, s.nx, s.ny, nullptr) !=
            cudaErrorInvalidValue);
      continue;
    }
    for (const bool input_first : {true, false}) {
      const std::size_t in = input_first ? 0 : size;
      const std::size_t out = input_first ? size : 0;
      const byte_vector content = random.fill(size);
      const byte_vector expected = f.expected(content, s);
      output_buffer both{2 * size, 0, random};
      both.hold(in, elements, {content.data(), 1, elements, elements, sizeof(float)});
      both.expect(out, elements, {expected.data(), 1, elements, elements, sizeof(float)});
      both.poison();
      CHECK(f.call(both.as<float>() + out / sizeof(float), both.as<float>() + in / sizeof(float),
                   s.nx, s.ny, nullptr) == cudaSuccess);
      CHECK(both.difference() == "");
    }
  }
  (void)cudaGetLastError();
}

constexpr shape empty_shapes[] = {{0, 0}, {0, 7}, {5, 0}, {0, huge}, {huge, 0}};

inline void check_zero_work(const form_list& forms) {
  for (const form& f : forms) {
    INFO(f.name);
    for (const shape s : empty_shapes) {
      INFO("nx " << s.nx << ", ny " << s.ny);
      CHECK(f.call(nullptr, nullptr, s.nx, s.ny, nullptr) == cudaSuccess);
      CHECK(f.call(fake_out(), nullptr, s.nx, s.ny, nullptr) == cudaSuccess);
      CHECK(f.call(nullptr, fake_in(), s.nx, s.ny, nullptr) == cudaSuccess);
      CHECK(f.call(fake_out(), fake_out(), s.nx, s.ny, nullptr) == cudaSuccess);
    }
  }
}

// What a call returns where there is no device; skips the test where there is one.
inline cudaError_t status_without_a_device() {
  if (has_device()) SKIP("there is a device");
  int count = 0;
  const cudaError_t none = cudaGetDeviceCount(&count);
  REQUIRE(none != cudaSuccess);
  return none;
}

inline void check_without_a_device(const form_list& forms) {
  const cudaError_t none = status_without_a_device();
  for (const form& f : forms) {
    INFO(f.name);
    CHECK(f.call(fake_out(), fake_in(), 5, 7, nullptr) == none);
  }
  (void)cudaGetLastError();
}

inline void check_refusals_write_nothing(const form_list& forms) {
  random_source random;
  constexpr shape s{37, 41};
  for (const form& f : forms) {
    INFO(f.name);
    const form_case c{f, s, random};
    float* const out = c.out().as<float>();
    const float* const in = c.in().as<float>();
    CHECK(f.call(out, nullptr, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(out, out, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(out, out + 1, s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(off_by(out, 2), in, s.nx - 1, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(out, off_by(in, 2), s.nx - 1, s.ny, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(out, in, huge, 2, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(out, in, huge / 4 + 1, 1, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(out, in, 0, s.ny, nullptr) == cudaSuccess);
    CHECK(f.call(out, in, s.nx, 0, nullptr) == cudaSuccess);
    CHECK(c.out().trace_of_a_write() == "");
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }
}

inline void check_refusals_launch_nothing(const form_list& forms) {
  random_source random;
  const stream s;
  for (const form& f : forms) {
    INFO(f.name);
    const form_case c{f, {37, 41}, random};
    float* const out = c.out().as<float>();
    const float* const in = c.in().as<float>();
    cudaGraph_t graph = capture(s, [&](cudaStream_t to) {
      CHECK(f.call(out, out, 37, 41, to) == cudaErrorInvalidValue);
      CHECK(f.call(nullptr, in, 37, 41, to) == cudaErrorInvalidValue);
      CHECK(f.call(off_by(out, 1), in, 36, 41, to) == cudaErrorInvalidValue);
      CHECK(f.call(out, off_by(in, 1), 36, 41, to) == cudaErrorInvalidValue);
      CHECK(f.call(out, in, 0, 41, to) == cudaSuccess);
      return f.call(out, in, 37, 0, to);
    });
    CHECK(count_nodes(graph) == 0);
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
}

inline void check_an_earlier_error(const form_list& forms, shape s) {
  random_source random;
  for (const form& f : forms) {
    for (const auto fail : ways_to_fail) {
      INFO(f.name << ", " << s.nx << " x " << s.ny);
      const form_case c{f, s, random};
      const cudaError_t earlier = fail();
      INFO(cudaGetErrorName(earlier));
      REQUIRE(earlier != cudaSuccess);
      REQUIRE(cudaPeekAtLastError() == earlier);
      CHECK(c.call() == cudaSuccess);
      CHECK(cudaPeekAtLastError() == earlier);
      CHECK(f.call(nullptr, c.in().as<float>(), s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
      CHECK(cudaPeekAtLastError() == earlier);
      CHECK(f.call(nullptr, nullptr, 37, 0, nullptr) == cudaSuccess);
      CHECK(cudaPeekAtLastError() == earlier);
      CHECK(c.out().difference() == "");
      CHECK(cudaGetLastError() == earlier);
    }
  }
}

// A kernel in a graph: which, of how many blocks, with how much dynamic shared memory.
using kernel_node = std::tuple<void*, unsigned, unsigned>;

inline std::vector<kernel_node> kernel_nodes(cudaGraph_t graph) {
  std::size_t count = count_nodes(graph);
  std::vector<cudaGraphNode_t> nodes(count);
  check_cuda(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
  std::vector<kernel_node> result;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    check_cuda(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    if (type != cudaGraphNodeTypeKernel) continue;
    cudaKernelNodeParams launch{};
    check_cuda(cudaGraphKernelNodeGetParams(node, &launch), "cudaGraphKernelNodeGetParams");
    result.emplace_back(launch.func, launch.gridDim.x, launch.sharedMemBytes);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Requires call(stream) to launch the same kernels beside an earlier error as without one, and to leave it pending.
// Returns the most dynamic shared memory that one of them asks for.
template <class Call>
std::size_t check_same_kernels_beside_an_error(Call call) {
  const stream s;
  const auto launched = [&](bool beside_an_error) {
    cudaGraph_t graph = capture(s, [&](cudaStream_t to) {
      const cudaError_t earlier = beside_an_error ? ask_for_no_device() : cudaSuccess;
      const cudaError_t status = call(to);
      CHECK(cudaGetLastError() == earlier);
      return status;
    });
    const std::vector<kernel_node> nodes = kernel_nodes(graph);
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return nodes;
  };
  const std::vector<kernel_node> alone = launched(false);
  CHECK(!alone.empty());
  CHECK(launched(true) == alone);
  std::size_t most = 0;
  for (const kernel_node& one : alone) most = std::max<std::size_t>(most, std::get<2>(one));
  return most;
}

// What every kernel has without being allowed more.
constexpr std::size_t plain_shared_bytes = 48 * 1024;

// How much shared memory the device's blocks may have.
inline std::size_t allowable_shared_bytes() {
  int bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
             "cudaDeviceGetAttribute");
  return static_cast<std::size_t>(bytes);
}

// Whatever status a bare launch gets is the one to return.
inline void check_failed_launches(const form_list& forms) {
  random_source random;
  const cudaError_t expected = bare_status_beside_a_capture();
  REQUIRE(expected != cudaSuccess);
  for (const bool after_another : {false, true}) {
    for (const form& f : forms) {
      INFO(f.name << (after_another ? ", after an earlier error" : ""));
      const form_case c{f, {37, 41}, random};
      if (after_another) REQUIRE(leave_an_error_behind() != expected);
      CHECK(status_beside_a_capture([&] { return c.call(); }) == expected);
      CHECK(c.out().trace_of_a_write() == "");
    }
  }
}

inline void check_own_stream(const form_list& forms) {
  random_source random;
  const stream s;
  for (const form& f : forms) {
    INFO(f.name);
    const form_case c{f, {129, 65}, random};
    REQUIRE(c.call(s) == cudaSuccess);
    s.wait();
    CHECK(c.out().difference() == "");
  }
}

inline void check_graphs(const form_list& forms, shape size) {
  random_source random;
  const stream s;
  for (const form& f : forms) {
    INFO(f.name << ", " << size.nx << " x " << size.ny);
    form_case c{f, size, random};
    const replay graph{capture(s, [&](cudaStream_t to) { return c.call(to); })};
    CHECK(graph.nodes() >= 1);
    // Recorded, not run.
    CHECK(c.out().trace_of_a_write() == "");
    for (int i = 0; i < 3; ++i) {
      c.renew(random);
      graph.run(s);
      CHECK(c.out().difference() == "");
    }
  }
}

inline void check_several_threads(const form_list& forms) {
  constexpr std::size_t thread_count = 8;
  // Catch2 may not assert on other threads: each leaves words for this one.
  std::array<std::string, thread_count> complaints;
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      try {
        random_source random{Catch::getSeed() + 1000 * i};
        const stream s;
        // All at once, so that what is done on the first call only is done by several.
        ++ready;
        while (ready < thread_count) std::this_thread::yield();
        for (int round = 0; round < 10 && complaints[i].empty(); ++round) {
          for (const form& f : forms) {
            const shape size{random.between(1, 200), random.between(1, 200)};
            const form_case c{f, size, random};
            check_cuda(c.call(s), f.name);
            s.wait();
            const std::string difference = c.out().difference();
            if (!difference.empty()) complaints[i] = f.name + (": " + difference);
          }
        }
      } catch (const std::exception& e) { complaints[i] = e.what(); }
    });
  }
  for (std::thread& t : threads) t.join();
  INFO("repeat with --rng-seed " << Catch::getSeed());
  for (const std::string& complaint : complaints) CHECK(complaint == "");
}

// Skips the test where there is one device alone.
inline void check_every_device(const form_list& forms) {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  if (count < 2) SKIP("one device only");
  random_source random;
  // Back to the first at the end: what was learnt of one device must not be used on another.
  for (int i = 0; i <= count; ++i) {
    const int device = i % count;
    INFO("device " << device);
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    for (const form& f : forms) {
      INFO(f.name);
      const form_case c{f, {300, 200}, random};
      CHECK(c.call() == cudaSuccess);
      CHECK(c.out().difference() == "");
      int current = -1;
      CHECK(cudaGetDevice(&current) == cudaSuccess);
      CHECK(current == device);
    }
  }
}

}  // namespace tt_test
