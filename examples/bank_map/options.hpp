// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The command line: which tile, which walk, and where the picture goes.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/layout.cuh>

namespace bank_map {

/// Arguments that cannot be served; the text is one line.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What one picture shows.
struct subject {
  tt::tile_map tile;
  tt::tile_walk walk;
  tt::bank_model banks;
};

struct options {
  bool help = false;
  std::string svg;                // empty: none
  std::vector<subject> subjects;  // one picture each
};

/// Without a word about the tile the subjects are the four that show why one element of padding works for
/// 4-byte elements and not for bytes.
options parse(const std::vector<std::string>& arguments);

extern const char* const usage;

}  // namespace bank_map
