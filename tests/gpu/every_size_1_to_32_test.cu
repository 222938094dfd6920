// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define FIRST_SIZE 1
#define LAST_SIZE 32
#include "every_size.cuh"
