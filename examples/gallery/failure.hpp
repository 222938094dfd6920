// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The two ways to fail, and the exit status of each.
#pragma once

#include <stdexcept>

namespace gallery {

inline constexpr int exit_failed = 1;     // a wrong result or a failed CUDA call
inline constexpr int exit_bad_input = 2;  // arguments that cannot be served

/// The user asked for something that does not exist or does not fit.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something broke that the user had no part in.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gallery
