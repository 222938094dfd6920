// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "failure.hpp"

namespace gallery {

const char* const usage =
    "usage: gallery [OPTION ...]\n"
    "Runs the famous shared-memory kernels, rebuilt from tiletranspose's parts: verifies each, "
    "times it\n"
    "and prints its bandwidth beside what the bank model and the sector count predict.\n"
    "\n"
    "  --list              names the routines and stops\n"
    "  --only NAME         this routine or family alone; may be given several times\n"
    "  --size NXxNY        columns x rows of the matrix (8192x8192)\n"
    "  --type T            char, short, half, int, float or double (float, and double beside it "
    "for\n"
    "                      global access)\n"
    "  --device N          the GPU to use (0)\n"
    "  --reps N            timed runs, of which the median counts (21)\n"
    "  --format F          table, csv or json (table)\n"
    "  --plot FILE.svg     writes a bar chart too\n"
    "  --bank-width 4|8    bytes a bank serves per cycle in the model (4). A setting of the model "
    "alone:\n"
    "                      no GPU of today can switch its banks.\n"
    "  --carveout PERCENT  times every kernel once more with this part of the L1 cache preferred "
    "as\n"
    "                      shared memory\n"
    "  --help              prints this\n"
    "\n"
    "Without a GPU it prints the predictions and says that nothing was timed. The emulator runs\n"
    "and verifies the gallery's own kernels on the CPU, at 70x45, or at --size where both sides\n"
    "are 32 to 128.\n";

namespace {

template <class Number>
Number parse_number(const std::string& option, const std::string& text, Number least, Number most) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, trouble] = std::from_chars(text.data(), end, value);
  if (text.empty() || trouble != std::errc{} || stop != end || value < least || value > most) {
    throw bad_input(option + " takes a number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

std::size_t parse_side(const std::string& text, const std::string& whole) {
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, trouble] = std::from_chars(text.data(), end, value);
  const bool too_large = trouble == std::errc::result_out_of_range;
  if (stop != end || (!too_large && value == 0)) {
    throw bad_input("--size takes COLUMNSxROWS, such as 1000x777, not '" + whole + "'");
  }
  if (too_large) { throw bad_input("--size " + whole + " is too large"); }
  return value;
}

/// The elements, their bytes and the blocks that the smallest tiles need must all be countable.
void check_size(std::size_t nx, std::size_t ny, const std::string& text) {
  constexpr std::size_t most_bytes = std::size_t{1} << 60;
  constexpr std::size_t smallest_tile = 8;
  constexpr std::size_t most_blocks = std::numeric_limits<int>::max();
  const auto tiles = [](std::size_t side) { return side / smallest_tile + 1; };
  if (nx > most_bytes / ny || tiles(nx) > most_blocks / tiles(ny)) {
    throw bad_input("--size " + text + " is too large: it has more than " +
                    std::to_string(most_blocks) + " tiles of 8x8");
  }
}

void parse_size(options& chosen, const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) {
    throw bad_input("--size takes COLUMNSxROWS, such as 1000x777, not '" + text + "'");
  }
  chosen.nx = parse_side(text.substr(0, cross), text);
  chosen.ny = parse_side(text.substr(cross + 1), text);
  check_size(chosen.nx, chosen.ny, text);
}

output_format parse_format(const std::string& text) {
  if (text == "table") { return output_format::table; }
  if (text == "csv") { return output_format::csv; }
  if (text == "json") { return output_format::json; }
  throw bad_input("--format takes table, csv or json, not '" + text + "'");
}

std::string parse_plot(const std::string& text) {
  constexpr std::size_t suffix = 4;
  if (text.size() <= suffix || text.compare(text.size() - suffix, suffix, ".svg") != 0) {
    throw bad_input("--plot takes a file name that ends in .svg, not '" + text + "'");
  }
  return text;
}

}  // namespace

options parse(const std::vector<std::string>& arguments) {
  options chosen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (++i == arguments.size()) { throw bad_input(option + " needs a value"); }
      return arguments[i];
    };
    if (option == "--help" || option == "-h") {
      chosen.help = true;
    } else if (option == "--list") {
      chosen.list = true;
    } else if (option == "--only") {
      chosen.only.push_back(value());
    } else if (option == "--size") {
      parse_size(chosen, value());
    } else if (option == "--type") {
      chosen.type = element_of(value());
    } else if (option == "--device") {
      chosen.device = parse_number(option, value(), 0, std::numeric_limits<int>::max());
    } else if (option == "--reps") {
      chosen.reps = parse_number(option, value(), 1, 100000);
    } else if (option == "--format") {
      chosen.format = parse_format(value());
    } else if (option == "--plot") {
      chosen.plot = parse_plot(value());
    } else if (option == "--bank-width") {
      const std::string& width = value();
      if (width != "4" && width != "8") {
        throw bad_input("--bank-width takes 4 or 8, not '" + width + "'");
      }
      chosen.bank_width = width == "4" ? 4 : 8;
    } else if (option == "--carveout") {
      chosen.carveout = parse_number(option, value(), 0, 100);
    } else {
      throw bad_input("unknown option " + option + "; try gallery --help");
    }
  }
  return chosen;
}

}  // namespace gallery
