// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How large cases get on the GPU, and the memory that each stream has for one.

#pragma once

#include "case.hpp"

namespace fuzz {

inline constexpr limits gpu_limits{300, 20'000, std::size_t{48} << 20, std::size_t{1} << 20, 8};
inline constexpr std::size_t gpu_memory_bytes = std::size_t{256} << 20;

}  // namespace fuzz
