// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Shared memory while a warp's worst request is served: which word each lane wants, and where words meet in
/// one bank.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace bank_map {

/// What a word of shared memory holds, as far as the tile is concerned.
enum class content {
  element,  // a byte of one at least
  padding,
  nothing  // it lies behind the tile
};

/// One word of shared memory: what a bank serves in one cycle.
struct word {
  content holds = content::nothing;
  std::vector<int> lanes;  // that want it
  bool conflicts = false;  // another word of its bank is wanted too
};

struct snapshot {
  subject of;
  std::vector<std::vector<word>> lines;  // [line][bank]
  int ways;                              // cycles of the busiest bank
  int request;                           // the worst, counted from the first of the walk
  int first_lane, lanes;                 // those that are served together
  tt::walk_steps::place first, last;     // what the first and the last of them access
};

/// Of the request with the most ways, the lanes served together that need them.
snapshot take(const subject& of);

/// "32 ways", "conflict-free"
std::string verdict_of(const snapshot& seen);
/// "4-byte elements, 32 x 32, padding 1"
std::string name_of(const subject& of);
/// How far the next row's start lies, in banks; and what a column therefore meets.
std::string reason_of(const snapshot& seen);

}  // namespace bank_map
