// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "element.hpp"

namespace gallery {

enum class output_format { table, csv, json };

struct options {
  bool help = false;
  bool list = false;
  std::vector<std::string> only;  // names of routines or families; empty: all
  std::size_t nx = 8192;          // columns of the input
  std::size_t ny = 8192;          // its rows
  std::optional<element> type;    // none: float, and double beside it where a routine shows both
  std::optional<int> device;      // none: the first, where there is one
  int reps = 21;
  output_format format = output_format::table;
  std::string plot;  // empty: none
  int bank_width = 4;
  std::optional<int> carveout;  // percent
};

/// Throws `bad_input`, whose text is one line.
options parse(const std::vector<std::string>& arguments);

extern const char* const usage;

}  // namespace gallery
