// Where little work ends on: a GPU; 2026-11-24.
// Compile with -DTILETRANSPOSE_TUNING_HEADER='"this_file.h"', all files of a program alike.
#pragma once
#define TILETRANSPOSE_SMALL_TUNING \
  {1, 7000000, 1000000, 400000, 2000000, 8, 1000, 16777216, 32, 16000000}, \
  {4, 1200, 0, 340, 1100000, 6, 700, 4194304, 1, 40000000}
