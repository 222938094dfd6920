// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "text_picture.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>

namespace bank_map {
namespace {

bool is_wanted(const std::vector<word>& line) {
  return std::any_of(line.begin(), line.end(), [](const word& w) { return !w.lanes.empty(); });
}

std::string cell_text(const word& w) {
  if (w.lanes.empty()) {
    return w.holds == content::element ? "  . " : w.holds == content::padding ? "  _ " : "    ";
  }
  const bool shared = w.lanes.size() > 1;
  const char mark = w.conflicts ? (shared ? '#' : '!') : (shared ? '+' : ' ');
  std::ostringstream text;
  text << std::setw(3) << w.lanes.front() << mark;
  return text.str();
}

void write_line(std::ostream& to, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  to << line << "\n";
}

std::string margin_text(const std::string& what) {
  constexpr std::size_t margin = 6;
  return std::string(margin - std::min(margin, what.size()), ' ') + what;
}

void write_grid(std::ostream& to, const snapshot& seen) {
  // A tile of many lines is shown where it is wanted.
  constexpr std::size_t most_lines = 48;
  const bool all = seen.lines.size() <= most_lines;
  std::string banks = margin_text("bank");
  for (int bank = 0; bank < seen.of.banks.banks; ++bank) {
    word numbered;
    numbered.lanes.push_back(bank);
    banks += cell_text(numbered);
  }
  write_line(to, banks);
  std::size_t left_out = 0;
  const auto tell_left_out = [&] {
    if (left_out > 0) { to << margin_text("...") << "  " << left_out << " lines more\n"; }
    left_out = 0;
  };
  for (std::size_t number = 0; number < seen.lines.size(); ++number) {
    const std::vector<word>& line = seen.lines[number];
    if (!all && !is_wanted(line)) {
      ++left_out;
      continue;
    }
    tell_left_out();
    std::string text = margin_text(std::to_string(number));
    for (const word& w : line) { text += cell_text(w); }
    write_line(to, text);
  }
  tell_left_out();
}

void write_request(std::ostream& to, const snapshot& seen) {
  const subject& of = seen.of;
  to << "Lanes " << seen.first_lane << " to " << seen.first_lane + seen.lanes - 1
     << " are served together; they take (row, column) " << seen.first.row << ", " << seen.first.col
     << " to " << seen.last.row << ", " << seen.last.col << ".\n"
     << "Here " << reason_of(seen) << ".\n";
  for (std::size_t bank = 0; bank < static_cast<std::size_t>(of.banks.banks); ++bank) {
    std::vector<int> lanes;
    int words = 0;
    for (const auto& line : seen.lines) {
      if (!line[bank].conflicts) { continue; }
      ++words;
      lanes.insert(lanes.end(), line[bank].lanes.begin(), line[bank].lanes.end());
    }
    if (words == 0) { continue; }
    to << "  bank " << std::setw(2) << bank << ": " << words << " words for lanes";
    for (const int lane : lanes) { to << " " << lane; }
    to << "\n";
  }
}

/// What other paddings would do to a transpose, whose warps write rows and read columns.
void write_paddings(std::ostream& to, const subject& of) {
  constexpr int shown = 8;
  const tt::tile_map& tile = of.tile;
  const int best = tt::padding_for(tile.element_bytes, tile.rows, tile.cols, of.banks);
  const auto ways = [&](int padding) {
    return tt::padded_ways(tile.element_bytes, tile.rows, tile.cols, padding, of.banks);
  };
  to << "Ways of the worse of writing rows and reading columns, by padding:";
  for (int padding = 0; padding <= shown; ++padding) {
    to << (padding == 0 ? " " : ", ") << padding << ": " << ways(padding);
  }
  to << ".\nThe bank model takes padding " << best << ": " << ways(best)
     << (ways(best) == 1 ? " way.\n" : " ways.\n");
}

}  // namespace

void write_text(std::ostream& to, const snapshot& seen) {
  to << name_of(seen.of) << ": a warp along " << (seen.of.walk.by_columns ? "columns" : "rows")
     << " is " << (seen.ways <= 1 ? "" : "served in ") << verdict_of(seen) << "\n\n";
  write_grid(to, seen);
  to << "\nA cell is a word of " << seen.of.banks.bank_width
     << " bytes: . of the tile, _ padding, a number the lane that wants it,\n"
        "+ more lanes want the same word, ! its bank has another word to serve, # both.\n\n";
  write_request(to, seen);
  write_paddings(to, seen.of);
}

void write_story(std::ostream& to) {
  to << "Why +1 works for float and not for bytes\n\n"
        "A bank serves one word of 4 bytes a cycle, and consecutive words lie in consecutive "
        "banks. A\n"
        "column of a tile conflicts where two of its rows start in the same bank. One float of "
        "padding is\n"
        "one word: every row starts one bank after the one above, and 32 rows find 32 banks. One "
        "byte of\n"
        "padding is a quarter of a word: rows start at fractions of a bank, some columns cross "
        "into the\n"
        "next word in one row and not in another, and two rows meet. A whole word of padding, 4 "
        "bytes,\n"
        "brings back what +1 does for float. tt::default_padding counts instead of guessing.\n";
}

}  // namespace bank_map
