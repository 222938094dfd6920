// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The version of the library. CMake reads it from here, so that it is written once.

#pragma once

#define TILETRANSPOSE_VERSION_MAJOR 0
#define TILETRANSPOSE_VERSION_MINOR 1
#define TILETRANSPOSE_VERSION_PATCH 0

/// 10000 * major + 100 * minor + patch
#define TILETRANSPOSE_VERSION                                                \
  (TILETRANSPOSE_VERSION_MAJOR * 10000 + TILETRANSPOSE_VERSION_MINOR * 100 + \
   TILETRANSPOSE_VERSION_PATCH)
