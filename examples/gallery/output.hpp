// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Results as a table to read, as CSV and as JSON.
#pragma once

#include <iosfwd>
#include <string>

#include "measure.hpp"
#include "options.hpp"

namespace gallery {

/// What the results are of.
struct heading {
  std::string device;  // its name
  std::string date;    // ISO 8601
  std::size_t nx, ny;
  std::string type;
  int reps;
  int bank_width;
  std::optional<int> carveout;
};

void write_table(std::ostream& to, const heading& about, const results& found);
void write_csv(std::ostream& to, const heading& about, const results& found);
void write_json(std::ostream& to, const heading& about, const results& found);

void write(std::ostream& to, output_format format, const heading& about, const results& found);

/// A number of so many decimals; a dash where there is none.
std::string number(std::optional<double> value, int decimals);

}  // namespace gallery
