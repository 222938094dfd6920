// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tuning rows for small_test.cpp, read as a user's are: round numbers that differ from each other. Elements of 3 bytes
// are always little work, as far as limits go, and those of 13 bytes and more never.

#pragma once

#define NEVER(bytes) \
  { bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define ALL 1u << 30
#define TILETRANSPOSE_SMALL_TUNING                                             \
  {1,     10'000, 6'000, 12'000, 14'000, 9'000, 3'000, 2'500, 3'500, 4'000,    \
   8'000, 1'500,  50,    25,     70,     50,    30,    5'000, 4,     20'000},  \
      {3,   ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL,                       \
       ALL, 0,   50,  25,  900, 900, 600, 0,   0,   1u << 31},                 \
      {4,     5'000, 4'000, 5'500, 7'000, 4'500, 2'000, 1'500, 2'200, 2'400,   \
       3'000, 0,     25,    20,    40,    35,    40,    2'500, 2,     20'000}, \
      NEVER(13)
