// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// nvrtc_test INCLUDE_DIR ARCHITECTURE FILE [SENTENCE]
// Compiles FILE with NVRTC, which needs no GPU. With SENTENCE, it must fail and say that.

#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc < 4) { return 2; }
  std::ifstream file(argv[3]);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (source.empty()) { return 2; }

  const std::string include = std::string("--include-path=") + argv[1];
  const std::string architecture = std::string("--gpu-architecture=compute_") + argv[2];
  const char* const options[] = {include.c_str(), architecture.c_str(), "--std=c++17"};
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source.c_str(), argv[3], 0, nullptr, nullptr) != NVRTC_SUCCESS) {
    return 2;
  }
  const nvrtcResult result = nvrtcCompileProgram(program, 3, options);

  std::size_t log_size = 0;
  nvrtcGetProgramLogSize(program, &log_size);
  std::string log(log_size, '\0');
  nvrtcGetProgramLog(program, log.data());
  nvrtcDestroyProgram(&program);
  std::printf("%s\n%s", nvrtcGetErrorString(result), log.c_str());

  if (argc == 4) { return result == NVRTC_SUCCESS ? 0 : 1; }
  return result == NVRTC_ERROR_COMPILATION && log.find(argv[4]) != std::string::npos ? 0 : 1;
}
