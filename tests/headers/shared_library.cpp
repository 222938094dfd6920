// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two shared libraries of one program, made of this file with different tuning rows, as others are with different
// architectures: each answers by its own.

#include <tiletranspose/explain.cuh>

__attribute__((visibility("default"))) std::string ANSWER() {
  return tt::to_string(tt::explain(reinterpret_cast<float*>(256),
                                   reinterpret_cast<const float*>(1 << 30), 1000, 1000));
}
