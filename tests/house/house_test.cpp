// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The order of the house, read from the headers themselves: which room includes which, how long files and functions
// are, and which words are written. What is not yet as it should be may not grow: limits.txt says where it stands.
//
//   house_test INCLUDE limits.txt            checks
//   house_test --write INCLUDE limits.txt    writes limits.txt anew
//   house_test --must-find FOLDER            a control: fails unless every check finds something in FOLDER

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

struct header {
  std::string name;  ///< behind include/tiletranspose/
  std::vector<std::string> lines;
};

bool starts_with(const std::string& text, const std::string& what) {
  return text.compare(0, what.size(), what) == 0;
}

/// True where a pattern is a header's whole name, or a folder that it stands in.
bool fits(const std::string& pattern, const std::string& name) {
  return name == pattern || (pattern.back() == '/' && starts_with(name, pattern));
}

// ---- which room includes which

/// From the bottom to the top: a header includes what stands no higher than itself.
struct room {
  const char* pattern;  ///< the whole name, or a folder
  int floor;
};
constexpr int movers = 4;
constexpr int emulator = 100;  ///< nobody's floor: it stands on device parts alone
constexpr room rooms[] = {
    {"config.cuh", 0},       {"version.cuh", 0},         {"banks.cuh", 0},
    {"partition.cuh", 0},    {"layout.cuh", 0},          {"symmetry.cuh", 0},
    {"policy.cuh", 0},       {"detail/core/", 1},        {"detail/request/", 2},
    {"detail/choose/", 3},   {"detail/small/", 4},       {"detail/axes/", 4},
    {"detail/rows/", 4},     {"detail/tile/", 4},        {"detail/panel/", 4},
    {"detail/inplace/", 5},  {"explanation.cuh", 5},     {"detail/calls/", 6},
    {"transpose.cuh", 7},    {"reverse.cuh", 7},         {"explain.cuh", 7},
    {"permute.cuh", 7},      {"interleave.cuh", 7},      {"tiletranspose.cuh", 8},
    {"mdspan.cuh", 8},       {"detail/streamed/", 8},    {"detail/distributed/", 8},
    {"streamed.cuh", 9},     {"peers.cuh", 9},           {"distributed.cuh", 9},
    {"emulator/", emulator}, {"emulator.cuh", emulator},
};
/// Public headers that are not named are parts for device code, on the floor of detail/core.
int floor_of(const std::string& name) {
  for (const room& one : rooms) {
    if (fits(one.pattern, name)) { return one.floor; }
  }
  return name.find('/') == std::string::npos ? 1 : -1;
}
std::string folder_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

void check_includes(const header& one, std::vector<std::string>& found) {
  const int own = floor_of(one.name);
  if (own < 0) { found.push_back(one.name + " stands in no room"); }
  for (const std::string& line : one.lines) {
    constexpr char directive[] = "#include <tiletranspose/";
    if (!starts_with(line, directive)) { continue; }
    const std::string other =
        line.substr(std::strlen(directive), line.find('>') - std::strlen(directive));
    const int floor = floor_of(other);
    const bool climbs = own == emulator ? floor > 1 && floor != emulator : floor > own;
    const bool crosses =
        own == movers && floor == movers && folder_of(one.name) != folder_of(other);
    if (climbs || crosses) { found.push_back(one.name + " includes " + other); }
  }
}

// ---- how long

constexpr std::size_t most_file_lines = 600;
constexpr std::size_t most_function_lines = 90;

void check_file_length(const header& one, std::vector<std::string>& found) {
  if (one.lines.size() > most_file_lines) {
    found.push_back(one.name + " has " + std::to_string(one.lines.size()) + " lines");
  }
}

/// A block that ends in the first columns, as clang-format leaves functions and members, is a function's where a
/// parenthesis closes before it opens.
void check_function_lengths(const header& one, std::vector<std::string>& found) {
  struct open_block {
    std::size_t line;
    bool function;
  };
  std::vector<open_block> open;
  for (std::size_t i = 0; i < one.lines.size(); ++i) {
    std::string line = one.lines[i];
    line = line.substr(0, line.find("//"));
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '"' || line[at] == '\'') {  // what is quoted opens nothing
        const char quote = line[at];
        while (++at < line.size() && line[at] != quote) { at += line[at] == '\\' ? 1 : 0; }
        continue;
      }
      if (line[at] == '{') {
        const std::string before = line.substr(0, at);
        const bool heads =
            at + 1 == line.size() && before.find(')') != std::string::npos &&
            !std::regex_search(
                before,
                std::regex("^[ }]*(namespace|struct|class|enum|for|while|if|else|switch|do)\\b"));
        open.push_back({i, heads});
      } else if (line[at] == '}' && !open.empty()) {
        const open_block block = open.back();
        open.pop_back();
        const std::size_t length = i - block.line + 1;
        if (at <= 2 && block.function && length > most_function_lines) {
          found.push_back(one.name + ':' + std::to_string(block.line + 1) + " has a function of " +
                          std::to_string(length) + " lines");
        }
      }
    }
  }
}

// ---- what is written

/// Words of this project alone, which have a word of the field's instead: register transpose, bank rotation, element
/// reversal or round for "turn", panel for "box", gathered, vectorised and word-shifted for "staged", "turned" and
/// "sheared", row-staged for "spliced", accumulator operand for "recalled", unaligned words for "spanned", segment for
/// "piece" and "span", access for "chunk" and "unit", grid barrier for "meet", remainder for "rest", optimisation
/// barrier for "settled". Where they have another meaning they count, too.
constexpr const char* private_words[] = {
    "box",     "boxes",   "chunk",    "chunks", "meet",   "meets",   "piece",   "pieces",
    "recall",  "recalls", "recalled", "rest",   "rests",  "settle",  "settles", "settled",
    "shear",   "shears",  "sheared",  "span",   "spans",  "spanned", "splice",  "splices",
    "spliced", "staged",  "turn",     "turns",  "turned", "unit",    "units"};

/// Words that are the field's own in some headers. The bulk copy engine calls what it copies a box, as its driver call
/// does, and the emulator follows it; users rotate a matrix by quarter turns, as with numpy.rot90.
struct exception {
  const char* word;
  const char* pattern;  ///< of headers, as of rooms
};
constexpr exception exceptions[] = {
    {"box", "bulk_view.cuh"},
    {"box", "tile_io_bulk.cuh"},
    {"box", "tile_pipeline.cuh"},
    {"box", "detail/core/async_copy.cuh"},
    {"box", "detail/core/machine.cuh"},
    {"box", "emulator/"},
    {"box", "emulator.cuh"},
    {"boxes", "bulk_view.cuh"},
    {"boxes", "tile_io_bulk.cuh"},
    {"boxes", "emulator/"},
    {"boxes", "emulator.cuh"},
    {"boxes", "detail/core/async_copy.cuh"},
    {"turn", "reverse.cuh"},
    {"turn", "symmetry.cuh"},
    {"turns", "reverse.cuh"},
    {"turns", "symmetry.cuh"},
    {"turns", "explain.cuh"},
};
bool is_allowed(const std::string& word, const std::string& header) {
  return std::any_of(std::begin(exceptions), std::end(exceptions), [&](const exception& one) {
    return word == one.word && fits(one.pattern, header);
  });
}

/// How often a word stands by itself, or as a part of an identifier between underscores. A row-staged tile is the right
/// word for one.
std::size_t count_word(const std::string& line, const std::string& word) {
  const auto is_letter = [&](std::size_t at) {
    return at < line.size() && std::isalnum(static_cast<unsigned char>(line[at])) != 0;
  };
  std::size_t count = 0;
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const bool row_staged = word == "staged" && at >= 4 && line.compare(at - 3, 2, "ow") == 0;
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size()) && !row_staged) { ++count; }
  }
  return count;
}

using counts = std::map<std::string, std::size_t>;

counts count_all(const std::vector<header>& headers) {
  counts result{{"dated notes in detail", 0}};
  const std::regex date("20[0-9][0-9]-[0-9][0-9]-");
  std::vector<std::string> long_files;
  std::vector<std::string> long_functions;
  std::vector<std::string> crossings;
  for (const header& one : headers) {
    check_includes(one, crossings);
    check_file_length(one, long_files);
    check_function_lengths(one, long_functions);
    const bool detail = starts_with(one.name, "detail/");
    if (detail) { result["lines of detail"] += one.lines.size(); }
    for (const std::string& line : one.lines) {
      const bool dated = detail && !starts_with(one.name, "detail/choose/");
      if (dated && std::regex_search(line, date)) { ++result["dated notes in detail"]; }
      for (const char* word : private_words) {
        result[std::string("word ") + word] +=
            is_allowed(word, one.name) ? 0 : count_word(line, word);
      }
    }
  }
  result["includes against the order"] = crossings.size();
  result["files of more than 600 lines"] = long_files.size();
  result["functions of more than 90 lines"] = long_functions.size();
  for (const auto* list : {&crossings, &long_files, &long_functions}) {
    for (const std::string& text : *list) { std::cout << text << '\n'; }
  }
  return result;
}

std::vector<header> read_headers(const std::filesystem::path& folder) {
  std::vector<header> result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cuh") { continue; }
    header one{entry.path().lexically_relative(folder).generic_string(), {}};
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) { one.lines.push_back(line); }
    result.push_back(one);
  }
  return result;
}

/// What the house is to come to; all other limits are to come to 0.
std::size_t aim_of(const std::string& name) { return name == "lines of detail" ? 10500 : 0; }

int write(const counts& found, const char* file) {
  std::ofstream out(file);
  out << "# The most of each that tests/house allows: where the house stands. The aim is behind "
         "it.\n";
  for (const auto& [name, count] : found) {
    out << count << ' ' << name << " -> " << aim_of(name) << '\n';
  }
  return out.good() ? 0 : 1;
}

int compare(const counts& found, const char* file) {
  std::ifstream in(file);
  counts limits;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') { continue; }
    const std::size_t space = line.find(' ');
    limits[line.substr(space + 1, line.find(" -> ") - space - 1)] =
        std::stoul(line.substr(0, space));
  }
  int failures = limits.empty() ? 1 : 0;
  for (const auto& [name, count] : found) {
    const std::size_t limit = limits.count(name) > 0 ? limits[name] : aim_of(name);
    if (count > limit) {
      ++failures;
      std::cout << "too many " << name << ": " << count << ", of at most " << limit << '\n';
    } else if (count < limit) {
      std::cout << "the limit of " << name << " can go from " << limit << " to " << count << '\n';
    }
  }
  return failures == 0 ? 0 : 1;
}

/// A folder in which everything is wrong.
int must_find(const counts& found) {
  int missed = 0;
  for (const char* name :
       {"includes against the order", "files of more than 600 lines",
        "functions of more than 90 lines", "dated notes in detail", "word box"}) {
    const auto at = found.find(name);
    if (at == found.end() || at->second == 0) {
      ++missed;
      std::cout << "not found: " << name << '\n';
    }
  }
  return missed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() == 2 && given[0] == "--must-find") {
    return must_find(count_all(read_headers(given[1])));
  }
  if (given.size() == 3 && given[0] == "--write") {
    return write(count_all(read_headers(given[1])), arguments[3]);
  }
  if (given.size() != 2) {
    std::cerr << "usage: house_test [--write] INCLUDE LIMITS | --must-find FOLDER\n";
    return 2;
  }
  return compare(count_all(read_headers(given[0])), arguments[2]);
}
