// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The families of routines; each is one source file.
#pragma once

#include <string>
#include <vector>

#include "routine.hpp"

namespace gallery {

std::vector<routine> ceilings(const problem& asked);
std::vector<routine> transposes(const problem& asked);
std::vector<routine> shared_access(const problem& asked);
std::vector<routine> reverses(const problem& asked);
std::vector<routine> dynamic_shared(const problem& asked);
std::vector<routine> global_access(const problem& asked);
std::vector<routine> compositions(const problem& asked);
std::vector<routine> launch_shapes(const problem& asked);

/// All of them, in the order of the table.
std::vector<routine> all_routines(const problem& asked);

/// The routine that all others are measured against.
inline constexpr const char* reference_routine = "cudaMemcpy";

/// Those of a name, or of a family's name; all where `names` is empty. Throws `bad_input` for a name that is
/// neither.
std::vector<routine> select(std::vector<routine> routines, const std::vector<std::string>& names);

}  // namespace gallery
