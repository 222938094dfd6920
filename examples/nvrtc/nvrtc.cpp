// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a kernel at run time around an expression, from the library's device parts, and launches
// it. To compile it needs no GPU; the library's headers and CUDA's are all that it includes.
//
//   nvrtc [--compile-only]

#include <nvrtc.h>

#include <tiletranspose/tile.cuh>

#include <cstring>
#include <string>

#include "../example.cuh"

using example::check;

// out(x, y) == EXPRESSION of in(y, x). Launch: one block of 256 threads per 32 x 32 tile.
const char* const source = R"(
#include <tiletranspose/banks.cuh>
#include <tiletranspose/group.cuh>
#include <tiletranspose/tile_io.cuh>

extern "C" __global__ void kernel(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  using tile_type = tt::shared_tile<float, tt::swizzled_layout<float, 32, 32>>;
  static_assert(tt::is_conflict_free(tile_type::layout{}), "");
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const tt::static_block<256> block;
  const tt::size_type row = blockIdx.y * tt::size_type{32};
  const tt::size_type col = blockIdx.x * tt::size_type{32};
  tt::load_tile(block, tile, in, row, col);
  block.sync();
  for (unsigned i = block.thread_rank(); i < 32 * 32; i += block.size()) {
    const float x = row + i / 32 < in.rows && col + i % 32 < in.cols ? tile.get(i / 32, i % 32) : 0;
    tile.set(i / 32, i % 32, EXPRESSION);
  }
  block.sync();
  tt::store_tile_transposed(block, out, col, row, tile);
}
)";
const char* const expression = "(0.5f * x + 1)";
float evaluate(float x) { return 0.5f * x + 1; }

std::vector<char> compile(const std::string& architecture) {
  const std::string options[] = {"--std=c++17",
                                 "--gpu-architecture=" + architecture,
                                 "--include-path=" TILETRANSPOSE_INCLUDE_DIR,
                                 "--include-path=" CUDA_INCLUDE_DIR,
                                 "--include-path=" CUDA_INCLUDE_DIR "/cccl",
                                 std::string("--define-macro=EXPRESSION=") + expression};
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());

  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, source, "kernel.cu", 0, nullptr, nullptr);
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  if (result != NVRTC_SUCCESS) {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::vector<char> log(size + 1);
    nvrtcGetProgramLog(program, log.data());
    std::fprintf(stderr, "nvrtc: %s\n%s", nvrtcGetErrorString(result), log.data());
    std::exit(1);
  }
  std::size_t size = 0;
  nvrtcGetCUBINSize(program, &size);
  std::vector<char> cubin(size);
  nvrtcGetCUBIN(program, cubin.data());
  nvrtcDestroyProgram(&program);
  return cubin;
}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--compile-only") == 0) {
    std::printf("Compiled to %zu bytes for sm_90.\n", compile("sm_90").size());
    return 0;
  }
  example::need_gpu();
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "attribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "attribute");
  const std::vector<char> cubin = compile("sm_" + std::to_string(10 * major + minor));

  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  check(cudaLibraryGetKernel(&kernel, library, "kernel"), "cudaLibraryGetKernel");

  constexpr std::size_t nx = 1000, ny = 700;  // columns and rows of the input
  std::vector<float> in(nx * ny);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto device_in = example::to_device(in);
  const auto device_out = example::make_device_array<float>(nx * ny);

  tt::matrix_view<float> to{device_out.get(), nx, ny, ny};
  tt::matrix_view<const float> from{device_in.get(), ny, nx, nx};
  void* arguments[] = {&to, &from};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                         dim3((nx + 31) / 32, (ny + 31) / 32), dim3(256), arguments, 0, nullptr),
        "cudaLaunchKernel");

  const std::vector<float> out = example::to_host(device_out, nx * ny);
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      if (out[x * ny + y] != evaluate(in[y * nx + x])) {
        std::fprintf(stderr, "nvrtc: wrong at row %zu, column %zu of the input\n", y, x);
        return 1;
      }
    }
  }
  std::printf("%s of %zu x %zu floats, transposed by a kernel from a string; verified.\n",
              expression, nx, ny);
  return 0;
}
