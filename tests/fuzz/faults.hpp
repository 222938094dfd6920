// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What can be wrong with a call that would go, and what kinds of calls there are.

#pragma once

#include "case.hpp"
#include "random.hpp"

namespace fuzz {

bool is_batched(call which);
bool is_in_place(call which);
bool is_mdspan(call which);
bool is_array(call which);       // one row
bool has_strides(call which);    // from row to row
bool is_view_batch(call which);  // both
bool has_batch_strides(call which);
bool has_pointers(call which);  // arrays of them
bool has_copy(call which);      // a second output
bool has_axes(call which);      // permutes
bool has_planes(call which);
bool is_rank_3(call which);     // permutes and copies of mdspans
bool is_of_arrays(call which);  // both

// Makes a call that goes one that must be refused or has nothing to do, or one whose matrices lie in each other's gaps.
void add_fault(test_case& c, random_numbers& random);

// The parts of a case that faults are made in.
struct spoiled_case {
  spoiled_case(test_case& c, random_numbers& random)
      : case_(c), with_(c.with), memory_(c.memory), random_(random), which_(c.on.which) {}

  test_case& case_;
  arguments& with_;
  image& memory_;
  random_numbers& random_;
  call which_;
};

}  // namespace fuzz
