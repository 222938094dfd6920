// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// nvrtc_test ARCHITECTURE FILE SENTENCE INCLUDE_DIR...
// Compiles FILE with NVRTC, which needs no GPU. With a SENTENCE that is not empty, it must fail and
// say that.

#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 5) { return 2; }
  const std::string sentence = argv[3];
  std::ifstream file(argv[2]);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (source.empty()) { return 2; }

  std::vector<std::string> options{"--std=c++17",
                                   std::string("--gpu-architecture=compute_") + argv[1]};
  for (int i = 4; i < argc; ++i) { options.push_back(std::string("--include-path=") + argv[i]); }
  std::vector<const char*> pointers;
  for (const std::string& option : options) { pointers.push_back(option.c_str()); }
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source.c_str(), argv[2], 0, nullptr, nullptr) != NVRTC_SUCCESS) {
    return 2;
  }
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());

  std::size_t log_size = 0;
  nvrtcGetProgramLogSize(program, &log_size);
  std::string log(log_size, '\0');
  nvrtcGetProgramLog(program, log.data());
  nvrtcDestroyProgram(&program);
  std::printf("%s\n%s", nvrtcGetErrorString(result), log.c_str());

  if (sentence.empty()) { return result == NVRTC_SUCCESS ? 0 : 1; }
  return result == NVRTC_ERROR_COMPILATION && log.find(sentence) != std::string::npos ? 0 : 1;
}
