// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's program for several ranks: the package brings NCCL's header and library.

#include <tiletranspose/distributed.cuh>

#include <cstdio>

int main() {
  int version = 0;
  std::size_t temp_bytes = 0;
  const bool refused = tt::distributed_transpose<float>(nullptr, nullptr, 8, 8, nullptr, temp_bytes,
                                                        nullptr) == cudaErrorInvalidValue;
  const bool linked = ncclGetVersion(&version) == ncclSuccess && version >= 21900;
  std::printf("NCCL %d\n", version);
  return refused && linked ? 0 : 1;
}
