// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The element types of `--type`, as values: what a user chooses when the program runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gallery {

enum class element { char_, short_, half_, int_, float_, double_ };

std::size_t size_of(element type);
std::string name_of(element type);
/// Throws `bad_input` for a name that is none.
element element_of(std::string_view name);

}  // namespace gallery
