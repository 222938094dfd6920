// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What an exchange costs on paper: the plans that the library makes, priced with assumed links. It prints a table as the
// documents show it.
//
//   distributed_cost [SIDE ELEMENT_BYTES]    a square matrix

#include <tiletranspose/detail/distributed/exchange_plan.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

using tt::size_type;
using tt::detail::exchange_plan;
using tt::detail::exchange_slice;

// Assumptions, not measurements.
constexpr int gpus_per_host = 8;
constexpr double nvlink = 450e9;          // bytes a second, each way, of one GPU
constexpr double network = 50e9;          // likewise: an adapter of 400 Gbit/s for each GPU
constexpr double memory = 4e12;           // bytes a second that a GPU reads or writes
constexpr double step_seconds = 15e-6;    // to start a group of messages
constexpr double message_seconds = 1e-6;  // to handle one more message of a group

/// What the first rank sends, which has the most wherever parts are uneven.
struct traffic {
  size_type inside = 0;   // bytes to GPUs of its host
  size_type outside = 0;  // bytes over the network
  size_type messages = 0;
  size_type longest = 0;  // bytes of a message
  size_type step = 0;     // bytes of the first step
};

traffic count(const exchange_plan& plan) {
  traffic result;
  for (size_type step = 0; step < plan.steps; ++step) {
    plan.for_each(tt::detail::messages::sent, step, [&](const exchange_slice& slice) {
      (slice.peer < gpus_per_host ? result.inside : result.outside) += slice.bytes;
      ++result.messages;
      result.longest = std::max(result.longest, slice.bytes);
      if (step == 0) { result.step += slice.bytes; }
    });
  }
  return result;
}

void print(int ranks, size_type side, size_type element) {
  const exchange_plan plan(side, side, ranks, 0, element, 0, tt::detail::most_nccl_bytes);
  const traffic sent = count(plan);
  const double link = std::max(static_cast<double>(sent.inside) / nvlink,
                               static_cast<double>(sent.outside) / network);
  const double handling = static_cast<double>(plan.steps) * step_seconds +
                          static_cast<double>(sent.messages) * message_seconds;
  // Nothing travels while the first step is packed and the last one placed: each is read and written once.
  const double ends = 4 * static_cast<double>(sent.step) / memory;
  constexpr double mebi = 1 << 20;
  std::printf("| %d | %.1f | %.1f | %zu | %zu | %.3f | %.0f | %.3f | %.0f |\n", ranks,
              static_cast<double>(sent.inside) / mebi, static_cast<double>(sent.outside) / mebi,
              plan.steps, sent.messages, static_cast<double>(sent.longest) / mebi,
              static_cast<double>(plan.buffers() * (plan.send_bytes + plan.receive_bytes)) / mebi,
              1e3 * link, 100 * link / (link + handling + ends));
}

}  // namespace

int main(int argc, char** argv) {
  const size_type side = argc > 2 ? std::strtoull(argv[1], nullptr, 10) : 32768;
  const size_type element = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4;
  if (side == 0 || side > (size_type{1} << 28) || element == 0 || element > 64) {
    std::fprintf(stderr, "usage: distributed_cost [SIDE ELEMENT_BYTES]\n");
    return 2;
  }
  std::printf(
      "| GPUs | MiB by NVLink | MiB by network | steps | messages | MiB of the longest | MiB of "
      "scratch | ms on the link "
      "| %% of the link |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const int ranks : {2, 4, 8, 16, 64, 256, 1024}) { print(ranks, side, element); }
}
