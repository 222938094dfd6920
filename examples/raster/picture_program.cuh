// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the programs that take pictures share: pixels, errors and the exit statuses they end in.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "../example.cuh"

namespace picture_program {

constexpr int exit_failed = 1;     // a wrong result or a failed CUDA call: `failure`
constexpr int exit_bad_input = 2;  // unusable arguments or files: any other exception

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw failure(std::string(call) + ": " + cudaGetErrorString(status));
  }
}

struct pixel {
  std::uint8_t r, g, b;
};

using example::device_array;
using example::make_device_array;

// main: parses the arguments and runs, or shows how the program is used. What is wrong becomes one line and
// an exit status.
template <class Parse, class Run>
int start(const char* name, const char* usage, Parse parse, Run run) {
  try {
    const auto chosen = parse();
    if (chosen.help) {
      std::fputs(usage, stdout);
      return 0;
    }
    return run(chosen);
  } catch (const failure& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return exit_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return exit_bad_input;
  }
}

}  // namespace picture_program
