// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Found instead of NCCL's own header by tests that include cluster_on_cpu.hpp first, which has as much of NCCL as the
// library calls.
#pragma once
