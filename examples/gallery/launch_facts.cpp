// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch_facts.hpp"

#include <memory>
#include <type_traits>
#include <vector>

#include "workspace.hpp"

namespace gallery {
namespace {

struct graph_deleter {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, graph_deleter>;

graph capture(const std::function<cudaError_t()>& enqueue, cudaStream_t stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  const cudaError_t status = enqueue();
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
  graph result(captured);
  check(status, "a launch inside stream capture");
  check(ended, "cudaStreamEndCapture");
  return result;
}

std::vector<cudaGraphNode_t> nodes_of(const graph& captured) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(captured.get(), nullptr, &count), "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) {
    check(cudaGraphGetNodes(captured.get(), nodes.data(), &count), "cudaGraphGetNodes");
  }
  return nodes;
}

std::size_t blocks_in(const dim3& grid) { return std::size_t{grid.x} * grid.y * grid.z; }

launched_kernel describe(const cudaKernelNodeParams& node) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, node.func), "cudaFuncGetAttributes");
  const int threads = static_cast<int>(blocks_in(node.blockDim));
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, node.func, threads,
                                                      node.sharedMemBytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return {node.func,
          {threads, attributes.sharedSizeBytes + node.sharedMemBytes, attributes.numRegs},
          blocks};
}

}  // namespace

std::optional<launched_kernel> find_kernel(const std::function<cudaError_t()>& enqueue,
                                           cudaStream_t stream) {
  const graph captured = capture(enqueue, stream);
  std::optional<launched_kernel> found;
  std::size_t most_blocks = 0;
  for (cudaGraphNode_t node : nodes_of(captured)) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    if (type != cudaGraphNodeTypeKernel) { continue; }
    cudaKernelNodeParams parameters{};
    check(cudaGraphKernelNodeGetParams(node, &parameters), "cudaGraphKernelNodeGetParams");
    const std::size_t blocks = blocks_in(parameters.gridDim);
    if (blocks > most_blocks) {
      found = describe(parameters);
      most_blocks = blocks;
    }
  }
  return found;
}

void prefer_carveout(const launched_kernel& kernel, int percent) {
  check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributePreferredSharedMemoryCarveout,
                             percent),
        "cudaFuncSetAttribute");
}

}  // namespace gallery
