// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The picture as an SVG that takes light or dark colours as its reader prefers.
#pragma once

#include <iosfwd>
#include <vector>

#include "snapshot.hpp"

namespace bank_map {

/// One panel a snapshot, two beside each other.
void write_svg(std::ostream& to, const std::vector<snapshot>& panels);

}  // namespace bank_map
