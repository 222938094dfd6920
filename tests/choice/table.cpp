// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of choices: what the library launches for thousands of problems, compared with what it launched when the
// table was written. Names of kernels are not in it, so that they may change.
//
//   choice_table table.txt            compares; fails where anything differs
//   choice_table --write table.txt    writes the table anew
//   choice_table --all                prints every line, for a comparison of two trees

#include "table.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>

namespace choice {
namespace {

struct short_name {
  const char* kernel;
  const char* mover;
};
constexpr short_name names[] = {
    {"tile_kernel", "tile"},
    {"vector_kernel", "vector tile"},
    {"axes_micro_kernel", "micro-blocks"},
    {"axes_tile_kernel", "tile of axes"},
    {"axes_element_kernel", "elements"},
    {"word_shifted_tile_kernel", "word-shifted tile"},
    {"small_tile_kernel", "little tile"},
    {"small_row_kernel", "little rows"},
    {"little_square_kernel", "little square"},
    {"strip_kernel", "strip"},
    {"structure_kernel", "structures"},
    {"fused_kernel", "fused tile"},
    {"axes_panel_kernel", "gathered panel"},
    {"vectorised_kernel", "vectorised panel"},
    {"word_shifted_kernel", "word-shifted panel"},
    {"row_kernel", "rows"},
    {"swap_kernel", "swap"},
    {"row_shuffle_kernel", "shuffle rows"},
    {"column_kernel", "columns"},
    {"slab_kernel", "slabs"},
    {"remainder_kernel", "remainder"},
};

/// "tile<4 64 1>" of "void tt::detail::tile_kernel<tt::detail::tile_shape<4, 64, true> >(...)": a short name and the
/// numbers of the kernel's shape.
std::string short_kernel(const std::string& kernel) {
  const std::size_t open = kernel.find('<');
  const std::size_t start = kernel.rfind(':', open) + 1;
  const std::string name = kernel.substr(start, open - start);
  const char* mover = nullptr;
  for (const short_name& known : names) {
    if (name == known.kernel) { mover = known.mover; }
  }
  if (mover == nullptr) { throw std::runtime_error("no short name for the kernel " + kernel); }
  std::string result = std::string(mover) + '<';
  int depth = 0;
  for (std::size_t i = open; i < kernel.size();) {
    depth += kernel[i] == '<' ? 1 : kernel[i] == '>' ? -1 : 0;
    if (depth == 0) { break; }
    const std::size_t first = i++;
    if (std::isalnum(static_cast<unsigned char>(kernel[first])) == 0 && kernel[first] != '_') {
      continue;
    }
    while (std::isalnum(static_cast<unsigned char>(kernel[i])) != 0 || kernel[i] == '_') { ++i; }
    std::string word = kernel.substr(first, i - first);
    if (word == "true" || word == "false") { word = word == "true" ? "1" : "0"; }
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) { continue; }
    while (std::isdigit(static_cast<unsigned char>(word.back())) == 0) { word.pop_back(); }
    result += (result.back() == '<' ? "" : " ") + word;
  }
  return result + '>';
}

const std::string& kernel_name(const void* kernel) {
  static std::map<const void*, std::string> known;
  std::string& name = known[kernel];
  if (!name.empty()) { return name; }
  Dl_info info{};
  if (dladdr(kernel, &info) == 0 || info.dli_sname == nullptr) {
    throw std::runtime_error("a kernel without a symbol");
  }
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed), std::free);
  if (failed != 0) { throw std::runtime_error("a kernel whose symbol is no C++"); }
  return name = short_kernel(text.get());
}

std::string hash_of(const group& one) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::string& line : one.lines) {
    for (const char c : line + '\n') {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

groups all_groups() {
  groups all;
  add_slice_0(all);
  add_slice_1(all);
  add_slice_2(all);
  add_slice_3(all);
  add_slice_4(all);
  add_slice_5(all);
  return all;
}

/// A line with a hash for each group, and one line of the group, another for each.
std::vector<std::string> table_of(const groups& all) {
  std::vector<std::string> lines;
  std::size_t which = 0;
  for (const group& one : all) {
    const std::size_t count = one.lines.size();
    lines.push_back(one.name + ": " + std::to_string(count) + " problems " + hash_of(one));
    lines.push_back("  " + one.lines[which++ % count]);
  }
  return lines;
}

int compare(const groups& all, const char* file) {
  std::ifstream stored(file);
  std::size_t problems = 0;
  for (const group& one : all) { problems += one.lines.size(); }
  int different = 0;
  for (const std::string& line : table_of(all)) {
    std::string expected;
    std::getline(stored, expected);
    if (line == expected) { continue; }
    ++different;
    std::cerr << "the table says  " << expected << "\nthe library     " << line << "\n\n";
  }
  std::string more;
  if (std::getline(stored, more)) {
    ++different;
    std::cerr << "the table goes on: " << more << '\n';
  }
  std::cout << problems << " problems of " << all.size() << " groups, " << different
            << " lines of the table differ\n";
  return different == 0 && problems >= 3000 ? 0 : 1;
}

}  // namespace

std::string describe_launches(cudaError_t status) {
  if (status != cudaSuccess) { return "error " + std::to_string(static_cast<int>(status)); }
  std::string result;
  std::string last;
  std::size_t repeated = 0;
  const auto flush = [&] {
    if (repeated > 0) {
      result += (result.empty() ? "" : "; ") + last +
                (repeated > 1 ? " (" + std::to_string(repeated) + " times)" : "");
    }
  };
  for (const cpu::launch_shape& one : cpu::this_device().seen) {
    std::string text = "copy or clear " + std::to_string(one.shared_bytes) + " bytes";
    if (one.kernel != nullptr) {
      text = kernel_name(one.kernel) + ' ' + std::to_string(one.grid.x);
      if (one.grid.y > 1 || one.grid.z > 1) { text += " by " + std::to_string(one.grid.y); }
      if (one.grid.z > 1) { text += " by " + std::to_string(one.grid.z); }
      text += " x " + std::to_string(one.block.x) + ", " + std::to_string(one.shared_bytes);
    }
    if (text != last) {
      flush();
      last = text;
      repeated = 0;
    }
    ++repeated;
  }
  flush();
  return result.empty() ? "nothing" : result;
}

void compare_with_launches(const tt::explanation& explained, cudaError_t status,
                           const std::string& what) {
  std::size_t launches = 0;
  std::size_t copies = 0;
  std::size_t blocks = 0;
  bool same = true;
  for (const cpu::launch_shape& one : cpu::this_device().seen) {
    if (one.kernel == nullptr) {
      ++copies;
      continue;
    }
    ++launches;
    blocks += std::size_t{one.grid.x} * one.grid.y * one.grid.z;
    same = same && one.block.x == static_cast<unsigned>(explained.threads) &&
           one.shared_bytes == explained.shared_bytes;
  }
  same = same && explained.launches == launches && explained.blocks == blocks &&
         (explained.answer == tt::explained::copies) == (copies > 0) &&
         (explained.answer == tt::explained::refuses) == (status != cudaSuccess) &&
         (explained.answer == tt::explained::launches) == (launches > 0);
  if (!same) {
    throw std::runtime_error(what + ": launched " + describe_launches(status) + ", explained\n" +
                             tt::to_string(explained));
  }
}

}  // namespace choice

int main(int count, char** arguments) {
  const bool prints = count == 2 && std::strcmp(arguments[1], "--all") == 0;
  const bool writes = count == 3 && std::strcmp(arguments[1], "--write") == 0;
  if (count != 2 && !writes) {
    std::cerr << "usage: choice_table [--write] TABLE | --all\n";
    return 2;
  }
  const choice::groups all = choice::all_groups();
  if (prints) {
    for (const choice::group& one : all) {
      for (const std::string& line : one.lines) { std::cout << one.name << ": " << line << '\n'; }
    }
    return 0;
  }
  if (writes) {
    std::ofstream file(arguments[2]);
    for (const std::string& line : choice::table_of(all)) { file << line << '\n'; }
    return file.good() ? 0 : 1;
  }
  return choice::compare(all, arguments[1]);
}
