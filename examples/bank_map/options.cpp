// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "options.hpp"

#include <charconv>
#include <optional>

namespace bank_map {

const char* const usage =
    "usage: bank_map [OPTION ...]\n"
    "Draws a tile in shared memory as a grid of banks: one column a bank, one line a round of all "
    "banks.\n"
    "Marked are the words that the worst request of a warp asks for; those that meet in one bank "
    "conflict.\n"
    "\n"
    "  --element BYTES     of an element, 1 to 64 (4); nothing else about its type matters\n"
    "  --tile ROWSxCOLS    of the tile (32x32)\n"
    "  --padding N|model   unused elements behind each row; model: what tt::default_padding finds "
    "(0)\n"
    "  --swizzle BYTES     instead of padding: vectors of so many bytes trade places\n"
    "  --walk columns|rows what a warp reads or writes along (columns)\n"
    "  --bank-width 4|8    bytes of a bank (4); 8 was a mode of compute capability 3.x\n"
    "  --banks 32|16       how many there are (32); 16 were those of compute capability 1.x\n"
    "  --svg FILE.svg      draws the picture too\n"
    "  --help              prints this\n"
    "\n"
    "Without any of the first seven it draws four tiles: 4-byte elements without padding and with "
    "one\n"
    "element, 1-byte elements with one element and with one word. It needs no GPU.\n";

namespace {

constexpr int most_side = 1024;
constexpr int most_padding = 1024;
constexpr int most_bytes = 227 * 1024;  // of a block's shared memory, compute capability 9.0

int parse_number(const std::string& option, const std::string& text, int least, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, trouble] = std::from_chars(text.data(), end, value);
  if (trouble != std::errc{} || stop != end || value < least || value > most) {
    throw bad_input(option + " takes a number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

/// One of two words: true for the first.
bool parse_choice(const std::string& option, const std::string& text, const char* yes,
                  const char* no) {
  if (text != yes && text != no) {
    throw bad_input(option + " takes " + yes + " or " + no + ", not '" + text + "'");
  }
  return text == yes;
}

/// What the user said about the tile, before it is one.
struct wishes {
  int element_bytes = 4;
  int rows = 32;
  int cols = 32;
  std::optional<int> padding;
  bool model_padding = false;
  std::optional<int> swizzle;
  bool by_columns = true;
  bool wide_banks = false;
  bool few_banks = false;
};

void parse_tile(wishes& wanted, const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) {
    throw bad_input("--tile takes ROWSxCOLS, such as 32x32, not '" + text + "'");
  }
  wanted.rows = parse_number("--tile", text.substr(0, cross), 1, most_side);
  wanted.cols = parse_number("--tile", text.substr(cross + 1), 1, most_side);
}

tt::bank_model banks_of(const wishes& wanted) {
  if (wanted.few_banks && wanted.wide_banks) {
    throw bad_input("--banks 16 goes with --bank-width 4 only; no GPU had 16 banks of 8 bytes");
  }
  return wanted.few_banks ? tt::banks_16x4 : tt::banks_of_width(wanted.wide_banks ? 8 : 4);
}

tt::tile_map tile_of(const wishes& wanted, tt::bank_model banks) {
  if (!wanted.swizzle.has_value()) {
    const int padding = wanted.model_padding
                            ? tt::padding_for(wanted.element_bytes, wanted.rows, wanted.cols, banks)
                            : wanted.padding.value_or(0);
    return tt::padded_map(wanted.element_bytes, wanted.rows, wanted.cols, padding);
  }
  if (wanted.padding.has_value() || wanted.model_padding) {
    throw bad_input("--padding and --swizzle exclude each other");
  }
  if (!tt::can_swizzle(wanted.element_bytes, wanted.cols, *wanted.swizzle)) {
    throw bad_input("--swizzle " + std::to_string(*wanted.swizzle) +
                    " does not fit: a row must hold a power of two of vectors of whole elements");
  }
  return tt::swizzled_map(wanted.element_bytes, wanted.rows, wanted.cols, *wanted.swizzle);
}

subject subject_of(const wishes& wanted) {
  const tt::bank_model banks = banks_of(wanted);
  const tt::tile_map tile = tile_of(wanted, banks);
  if (tile.size() > most_bytes / tile.element_bytes) {
    throw bad_input("the tile has more than " + std::to_string(most_bytes) +
                    " bytes, the most that a block can have");
  }
  return {tile, wanted.by_columns ? tt::along_columns : tt::along_rows, banks};
}

std::vector<subject> story() {
  constexpr int dim = 32;
  const auto tile = [](int bytes, int padding) {
    return subject{tt::padded_map(bytes, dim, dim, padding), tt::along_columns, tt::banks_32x4};
  };
  return {tile(4, 0), tile(4, 1), tile(1, 1), tile(1, tt::padding_for(1, dim, dim))};
}

}  // namespace

options parse(const std::vector<std::string>& arguments) {
  options chosen;
  wishes wanted;
  bool has_wishes = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (++i == arguments.size()) { throw bad_input(option + " needs a value"); }
      return arguments[i];
    };
    if (option == "--help" || option == "-h") {
      chosen.help = true;
      continue;
    }
    if (option == "--svg") {
      chosen.svg = value();
      if (chosen.svg.size() < 5 || chosen.svg.substr(chosen.svg.size() - 4) != ".svg") {
        throw bad_input("--svg takes a file name that ends in .svg, not '" + chosen.svg + "'");
      }
      continue;
    }
    has_wishes = true;
    if (option == "--element") {
      wanted.element_bytes = parse_number(option, value(), 1, tt::max_element_bytes);
    } else if (option == "--tile") {
      parse_tile(wanted, value());
    } else if (option == "--padding") {
      const std::string& text = value();
      wanted.model_padding = text == "model";
      if (!wanted.model_padding) { wanted.padding = parse_number(option, text, 0, most_padding); }
    } else if (option == "--swizzle") {
      wanted.swizzle = parse_number(option, value(), 1, most_bytes);
    } else if (option == "--walk") {
      wanted.by_columns = parse_choice(option, value(), "columns", "rows");
    } else if (option == "--bank-width") {
      wanted.wide_banks = parse_choice(option, value(), "8", "4");
    } else if (option == "--banks") {
      wanted.few_banks = parse_choice(option, value(), "16", "32");
    } else {
      throw bad_input("unknown option " + option + "; try bank_map --help");
    }
  }
  chosen.subjects = has_wishes ? std::vector<subject>{subject_of(wanted)} : story();
  return chosen;
}

}  // namespace bank_map
