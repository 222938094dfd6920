// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is the same in all emulated tests, compiled once and optimized; see CMakeLists.txt.

#include "elements.hpp"
#include "thread_storage.hpp"

#include <tiletranspose/emulator.cuh>
