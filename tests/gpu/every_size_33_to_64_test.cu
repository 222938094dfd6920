// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define FIRST_SIZE 33
#define LAST_SIZE 64
#include "every_size.cuh"
