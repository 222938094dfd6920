// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "element.hpp"

#include <algorithm>
#include <iterator>

#include "failure.hpp"

namespace gallery {
namespace {

struct entry {
  element type;
  const char* name;
  std::size_t bytes;
};

constexpr entry table[] = {
    {element::char_, "char", 1}, {element::short_, "short", 2}, {element::half_, "half", 2},
    {element::int_, "int", 4},   {element::float_, "float", 4}, {element::double_, "double", 8},
};

const entry& find(element type) {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const entry& e) { return e.type == type; });
}

}  // namespace

std::size_t size_of(element type) { return find(type).bytes; }
std::string name_of(element type) { return find(type).name; }

element element_of(std::string_view name) {
  for (const entry& e : table) {
    if (e.name == name) { return e.type; }
  }
  std::string known;
  for (const entry& e : table) { known += std::string(known.empty() ? "" : ", ") + e.name; }
  throw bad_input("unknown type " + std::string(name) + "; there are " + known);
}

}  // namespace gallery
