// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "routine.hpp"

namespace gallery {

const char* name_of(family member) {
  switch (member) {
    case family::ceilings:
      return "ceilings";
    case family::transposes:
      return "transposes";
    case family::shared_access:
      return "shared-memory-access";
    case family::reverse:
      return "reverse";
    case family::dynamic_shared:
      return "dynamic-shared-memory";
    case family::global_access:
      return "global-access";
    case family::composition:
      return "composition";
    default:
      return "launch-shape";
  }
}

}  // namespace gallery
