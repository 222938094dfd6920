// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <string>

#include "array.hpp"

namespace tiletranspose_python {

/// What a relocation would launch, and why, in a few lines. No call of CUDA.
std::string explain(const relocation& move);

}  // namespace tiletranspose_python
