// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Results as a bar chart: sorted, one colour a family, cudaMemcpyAsync as a line. An SVG that takes light or
/// dark colours as its reader prefers.
#pragma once

#include <iosfwd>

#include "output.hpp"

namespace gallery {

/// `all_cases`: those too that are too many, or too unlike the others, to stand among all routines.
void write_plot(std::ostream& to, const heading& about, const results& found, bool all_cases);

/// How many bars `write_plot` would draw.
std::size_t count_bars(const results& found, bool all_cases);

}  // namespace gallery
