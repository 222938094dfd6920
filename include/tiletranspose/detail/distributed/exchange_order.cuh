// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// In which order a rank does what its plan says. Plain C++17, host only: the GPU and the tests on the CPU run this one
/// function.

#pragma once

#include <tiletranspose/detail/distributed/exchange_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Queues one of exchange_rounds() rounds. `Machine` has two queues, one that works and one that transfers:
///
///     pack(step)      work: transposes what is sent into the send half of buffer step % buffers
///     hand_over(step) transfer waits for all that was queued to work so far
///     transfer(step)  transfer: sends and receives the step's messages
///     report(step)    marks the end of the transfer
///     keep(step)      work: transposes a slice of what stays on this rank
///     await(step)     work waits for the mark
///     place(step)     work: brings what arrived to where it belongs
///
/// Each returns false where it failed; nothing else is queued then. A buffer is packed anew only after work has waited for
/// its last transfer, and received into anew only after it was emptied, because transfer waits for work before each step.
///
///     work      pack 0, keep 0, pack 1, keep 1, pack 2, keep 2, place 0, pack 3, keep 3, place 1, ...
///     transfer          0 ................ 1 ................ 2 ................ 3 ...
template <class Machine>
bool queue_exchange_round(const exchange_plan& plan, size_type round, Machine& machine) {
  if (round < plan.steps() &&
      !(machine.pack(round) && machine.hand_over(round) && machine.transfer(round) &&
        machine.report(round) && machine.keep(round))) {
    return false;
  }
  const size_type ahead = plan.buffers() - 1;
  if (round < ahead) { return true; }
  return machine.await(round - ahead) && machine.place(round - ahead);
}

constexpr size_type exchange_rounds(const exchange_plan& plan) {
  return plan.steps() + plan.buffers() - 1;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
