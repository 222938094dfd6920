// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is the same in all emulated tests, compiled once and optimized; see CMakeLists.txt.

#include "elements.hpp"
#include "thread_storage.hpp"

#include <tiletranspose/emulator.cuh>

#if defined(__SANITIZE_ADDRESS__)
/// With detect_stack_use_after_return, which GCC 13 and newer turn on, AddressSanitizer keeps a stack beside each fiber:
/// tests took two to four times as long, on 16 cores at once. Those that ask for it (CMakeLists.txt) get 0.7 MB of such a
/// stack instead of 2.8 for each of hundreds of fibers, which leaves them below 1 GB.
extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:max_uar_stack_size_log=16";
}
#endif
