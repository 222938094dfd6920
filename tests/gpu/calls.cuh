// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of errors share: calls that differ in their form alone, arguments that no call may
// follow, capture into graphs, and errors made on purpose.
#pragma once

#include <cstdint>
#include <limits>

#include "support.cuh"

namespace tt_test {

inline constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t half_huge = huge / 2 + 1;  // 2^63: twice that is 0
inline constexpr std::size_t matrices = 3;              // in the batches of forms

template <class T>
tt::matrix_view<T> view(T* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  return {data, rows, cols, stride};
}

// Addresses that no call may follow. Far apart, aligned, and in nobody's memory.
inline float* fake_out() { return reinterpret_cast<float*>(std::uintptr_t{1} << 44); }
inline const float* fake_in() { return reinterpret_cast<const float*>(std::uintptr_t{1} << 45); }

// Random input for a form of a call, an output to match and the expectation for it. A form has a `batch` of
// matrices one behind the other, `call(out, in, nx, ny, stream)`, and `expected(content, shape)`.
template <class Form>
class form_case {
 public:
  form_case(const Form& f, shape s, random_source& random)
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

  const Form& form_;
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

// Fails a CUDA call, so that its error is the one that cudaGetLastError would return.
inline cudaError_t leave_an_error_behind() {
  void* p = nullptr;
  return cudaMalloc(&p, huge / 4);
}

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

}  // namespace tt_test
