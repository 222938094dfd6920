// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cases of permutes, and of structures and planes.

#pragma once

#include "case.hpp"
#include "random.hpp"

namespace fuzz {

// What such a case works on, of which call, element and content are chosen: one that goes.
void make_arrays(test_case& made, random_numbers& random, const limits& within);

// Gives it a fault; false where it cannot have that one.
bool spoil_arrays(test_case& c, random_numbers& random, defect fault);

// From the first byte that elements of a side lie in to behind the last; planes apart have none.
struct byte_range {
  long long begin;
  long long end;
};
byte_range range_of(const array_side& side, unsigned element);

}  // namespace fuzz
