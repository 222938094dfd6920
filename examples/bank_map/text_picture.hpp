// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The picture for the terminal, and the words that go with it.
#pragma once

#include <iosfwd>

#include "snapshot.hpp"

namespace bank_map {

void write_text(std::ostream& to, const snapshot& seen);
/// Why one element of padding works for 4-byte elements and not for bytes.
void write_story(std::ostream& to);

}  // namespace bank_map
