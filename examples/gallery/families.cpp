// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "families.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "failure.hpp"

namespace gallery {

std::vector<routine> all_routines(const problem& asked) {
  std::vector<routine> all;
  for (const auto family : {ceilings, transposes, shared_access, reverses, dynamic_shared,
                            global_access, compositions, launch_shapes}) {
    std::vector<routine> some = family(asked);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<routine> select(std::vector<routine> routines, const std::vector<std::string>& names) {
  const auto is_called = [](const routine& r, const std::string& name) {
    return r.name == name || name_of(r.family) == name;
  };
  for (const std::string& name : names) {
    if (std::none_of(routines.begin(), routines.end(),
                     [&](const routine& r) { return is_called(r, name); })) {
      throw bad_input("no routine or family is called " + name + "; try gallery --list");
    }
  }
  if (names.empty()) { return routines; }
  std::vector<routine> chosen;
  for (routine& r : routines) {
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return is_called(r, name); })) {
      chosen.push_back(std::move(r));
    }
  }
  return chosen;
}

}  // namespace gallery
