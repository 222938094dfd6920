// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A user's own tuning rows. With -DTILETRANSPOSE_TUNING_HEADER='"my_tuning.h"' that header is read before the tables of
/// this folder. Each of them names a macro that the header may define: the rows that stand in place of the table's own.
/// All source files of a program must be compiled with the same rows. Plain C++17.

#pragma once

#if defined(TILETRANSPOSE_TUNING_HEADER)
#include TILETRANSPOSE_TUNING_HEADER
#endif
