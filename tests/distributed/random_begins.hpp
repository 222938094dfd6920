// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uneven partitions for tests.
#pragma once

#include <tiletranspose/partition.cuh>

#include <algorithm>
#include <random>
#include <vector>

/// The begins of parts of random sizes; some ranks hold nothing.
inline std::vector<tt::size_type> random_begins(int ranks, tt::size_type total,
                                                std::mt19937& random) {
  std::vector<tt::size_type> begins{0};
  for (int r = 1; r < ranks; ++r) { begins.push_back(random() % (total + 1)); }
  begins.push_back(total);
  std::sort(begins.begin(), begins.end());
  return begins;
}
