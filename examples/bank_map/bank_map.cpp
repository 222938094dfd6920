// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Draws a tile in shared memory as a grid of banks. Plain C++: it needs neither a GPU nor CUDA.
#include <exception>
#include <fstream>
#include <iostream>

#include "options.hpp"
#include "snapshot.hpp"
#include "svg_picture.hpp"
#include "text_picture.hpp"

namespace bank_map {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_bad_input = 2;

void write_file(const std::string& name, const std::vector<snapshot>& panels) {
  std::ofstream file(name);
  if (!file) { throw bad_input("--svg " + name + " cannot be written"); }
  write_svg(file, panels);
  file.close();
  if (!file) { throw std::runtime_error(name + " could not be written"); }
}

int run(const options& chosen) {
  std::vector<snapshot> panels;
  for (const subject& of : chosen.subjects) { panels.push_back(take(of)); }
  if (!chosen.svg.empty()) { write_file(chosen.svg, panels); }
  for (const snapshot& seen : panels) {
    write_text(std::cout, seen);
    if (panels.size() > 1) { std::cout << "\n"; }
  }
  if (panels.size() > 1) { write_story(std::cout); }
  return 0;
}

}  // namespace
}  // namespace bank_map

int main(int argc, char** argv) {
  try {
    const bank_map::options chosen = bank_map::parse({argv + 1, argv + argc});
    if (chosen.help) {
      std::cout << bank_map::usage;
      return 0;
    }
    return bank_map::run(chosen);
  } catch (const bank_map::bad_input& error) {
    std::cerr << "bank_map: " << error.what() << "\n";
    return bank_map::exit_bad_input;
  } catch (const std::exception& error) {
    std::cerr << "bank_map: " << error.what() << "\n";
    return bank_map::exit_failed;
  }
}
