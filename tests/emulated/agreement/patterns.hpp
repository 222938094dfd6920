// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Requests of a warp of which some lanes take part, each with an address of its own: what the emulator's
/// prices are compared with a GPU's counters on.

#pragma once

#include <tiletranspose/config.cuh>

namespace agreement {

constexpr unsigned pattern_bytes = 4096;

TILETRANSPOSE_HOST_DEVICE inline unsigned scattered(unsigned value) {
  value = (value ^ (value >> 15)) * 0x2c1b3c6du;
  value = (value ^ (value >> 12)) * 0x297a2d39u;
  return value ^ (value >> 15);
}

/// Where a lane's access starts in shared memory; negative where it makes none.
TILETRANSPOSE_HOST_DEVICE inline int pattern_offset(unsigned pattern, unsigned lane,
                                                    unsigned width) {
  const unsigned variant = pattern / 8;
  const unsigned random = scattered(pattern * 32 + lane);
  const unsigned most = pattern_bytes / width;
  switch (pattern % 8) {
    case 0:
      return static_cast<int>((lane >> variant % 5) * width);
    case 1:
      return lane % (2u << variant % 4) == 0 ? static_cast<int>(lane * width) : -1;
    case 2:
      return lane % 8 <= variant % 8 ? static_cast<int>(lane * width) : -1;
    case 3:
      return static_cast<int>((lane & ~(1u << variant % 5)) * width);
    case 4:
      return static_cast<int>(lane % (1u << variant % 6) * width);
    case 5:
      return random % 2 == 0 ? static_cast<int>(random / 2 % 16 * width) : -1;
    case 6:
      return random % 8 == 0 ? static_cast<int>(random / 8 % most * width) : -1;
    default:
      return random % 4 == 0 ? static_cast<int>(random / 4 % 32 * width) : -1;
  }
}

}  // namespace agreement
