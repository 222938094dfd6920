// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tuning rows by which no work is little, so that matrices of a test's size take the movers for large ones: what is
// compiled with TILETRANSPOSE_TUNING_HEADER=<large_work.hpp>. Tiles of whole 16-byte accesses are taken from the first.

#pragma once

#define LARGE_WORK(bytes, vectors) \
  { bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, vectors, 1, 0 }
#define TILETRANSPOSE_SMALL_TUNING                                                                 \
  LARGE_WORK(1, 16'777'216), LARGE_WORK(2, 8'388'608), LARGE_WORK(3, 0), LARGE_WORK(4, 4'194'304), \
      LARGE_WORK(5, 0), LARGE_WORK(8, 1'048'576), LARGE_WORK(9, 0)

// Tiles along axes are moved in micro-blocks, large ones in larger tiles.
#define TILETRANSPOSE_MICRO_TUNING \
  {1, 0, 60'000}, {2, 0, 60'000}, { 3, 0, 0 }
