// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One case: a call with its arguments, the memory that it works on, and what must come of it.

#pragma once

#include "image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

enum class call {
  transpose,
  transpose_views,
  transpose_explicit,
  transpose_explicit_views,
  transpose_batched,
  transpose_batched_strides,
  transpose_batched_pointers,
  transpose_batched_views,
  transform,
  transform_views,
  transform_batched,
  transform_batched_views,
  accumulate,
  accumulate_views,
  dual,
  dual_views,
  reverse,
  flip_lr,
  flip_ud,
  rotate,
  anti_transpose,
  reorient,
  reorient_batched,
  reorient_batched_strides,
  reorient_batched_pointers,
  reorient_batched_views,
  transpose_inplace,
  transpose_inplace_view,
  transpose_inplace_scratch,
  reorient_inplace,
  reverse_inplace,
  flip_lr_inplace,
  flip_ud_inplace,
  rotate_180_inplace,
  mdspan_transpose,
  mdspan_reorient,
  permute,
  permute_strides,
  transform_permute,
  deinterleave,
  interleave,
  mdspan_permute,
  mdspan_copy,
  count
};

const char* name_of(call which);

struct element_type {
  unsigned bytes;
  unsigned alignment;
};

// What can be called: a call for elements of a type. Of fused calls `out` is the output's element, of others the same;
// `variant` tells tiles that the caller writes, and is how many planes there are.
struct target {
  call which;
  element_type in;
  element_type out;
  int variant;
};

// No memory.
constexpr std::size_t nowhere = ~std::size_t{0};

// What is handed to the call. Places are bytes from the start of the memory; strides count elements.
struct arguments {
  std::size_t in = nowhere;  // or the array of pointers to inputs
  std::size_t out = nowhere;
  std::size_t copy = nowhere;  // or the scratch memory
  std::size_t nx = 0;          // of the input
  std::size_t ny = 0;
  std::size_t in_stride = 0;
  std::size_t out_rows = 0;  // of views
  std::size_t out_cols = 0;
  std::size_t out_stride = 0;
  std::size_t copy_rows = 0;
  std::size_t copy_cols = 0;
  std::size_t copy_stride = 0;
  std::size_t batch = 1;
  std::size_t in_batch = 0;
  std::size_t out_batch = 0;
  std::size_t temp_bytes = 0;
  int symmetry = 0;
  long long turns = 0;
  unsigned salt = 0;
  bool in_columns = false;  // mdspans whose columns lie one behind the other
  bool out_columns = false;
  // Of permutes. Axis k has the same number on both sides; without strides axis j of the output is axes[j].
  int rank = 0;
  std::size_t extents[most_axes] = {};
  int axes[most_axes] = {};
  std::ptrdiff_t in_strides[most_axes] = {};
  std::ptrdiff_t out_strides[most_axes] = {};
  // Of interleave and deinterleave, whose structures are `nx` and are the output or the input.
  std::size_t planes[most_planes] = {};
};

enum class stream_kind { null, blocking, non_blocking, per_thread, count };

// What makes a call one that must be refused, or have nothing to do.
enum class defect {
  none,
  no_work,
  null_in,
  null_out,
  null_copy,
  misaligned_in,
  misaligned_out,
  misaligned_copy,
  short_in_stride,
  short_out_stride,
  short_copy_stride,
  short_in_batch,
  short_out_batch,
  shape_of_out,
  shape_of_copy,
  shared_bytes,  // input and output, or data and scratch
  interleaved,   // not refused: memory that lies in each other's gaps
  shared_copy,   // two outputs, or an input and the second output
  too_many,      // elements
  too_wide,      // a stride
  little_scratch,
  no_square,
  repeated_axis,
  foreign_axis,
  many_axes,
  shared_elements,
  touching,  // not refused: memory that begins where the other's ends
  count
};

const char* name_of(defect which);

struct test_case {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  target on{};
  arguments with;
  image memory;
  defect fault = defect::none;
  bool refused = false;           // must return cudaErrorInvalidValue, else cudaSuccess
  std::size_t least_scratch = 0;  // what a query must answer
  stream_kind stream = stream_kind::null;
  bool captured = false;       // into a graph, which is then launched
  bool error_pending = false;  // before the call, and still after it
  // The device, where it is emulated.
  bool starts_together = false;
  int multiprocessors = 4;
  int shared_bytes = 228 * 1024;
};

// All of it, in words.
std::string describe(const test_case& c);
// Whose byte that is.
std::string describe_place(const test_case& c, unsigned at);

// How large cases get.
struct limits {
  std::size_t side;         // of most matrices
  std::size_t long_side;    // of those with a short one
  std::size_t bytes;        // of a matrix or a batch, at most
  std::size_t usual_bytes;  // but for one case in `large_every`
  unsigned large_every;
};

class random_numbers;

// All targets of a program, each call as likely as the next.
class catalogue {
 public:
  // Those of one call follow each other.
  explicit catalogue(const std::vector<target>& targets);
  const target& pick(random_numbers& random) const;

 private:
  std::vector<std::vector<target>> by_call_;
};

// Case `number` of a seed.
test_case generate(std::uint64_t seed, std::uint64_t number, const catalogue& targets,
                   const limits& within);

}  // namespace fuzz
