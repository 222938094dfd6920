// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cases in words.

#include "case.hpp"
#include "faults.hpp"

#include <sstream>

namespace fuzz {

const char* name_of(call which) {
  static constexpr const char* names[] = {"transpose",
                                          "transpose of views",
                                          "transpose, explicit tile",
                                          "transpose of views, explicit tile",
                                          "transpose_batched",
                                          "transpose_batched with batch strides",
                                          "transpose_batched of pointers",
                                          "transpose_batched of views",
                                          "transform_transpose",
                                          "transform_transpose of views",
                                          "transform_transpose_batched",
                                          "transform_transpose_batched of views",
                                          "accumulate_transpose",
                                          "accumulate_transpose of views",
                                          "transform_transpose_dual",
                                          "transform_transpose_dual of views",
                                          "reverse",
                                          "flip_lr",
                                          "flip_ud",
                                          "rotate",
                                          "anti_transpose",
                                          "reorient",
                                          "reorient_batched",
                                          "reorient_batched with batch strides",
                                          "reorient_batched of pointers",
                                          "reorient_batched of views",
                                          "transpose_inplace",
                                          "transpose_inplace of a view",
                                          "transpose_inplace with scratch",
                                          "reorient_inplace",
                                          "reverse_inplace",
                                          "flip_lr_inplace",
                                          "flip_ud_inplace",
                                          "rotate_180_inplace",
                                          "transpose of mdspans",
                                          "reorient of mdspans",
                                          "permute",
                                          "permute with strides",
                                          "transform_permute",
                                          "deinterleave",
                                          "interleave",
                                          "permute of mdspans",
                                          "copy of mdspans"};
  static_assert(sizeof names / sizeof *names == static_cast<std::size_t>(call::count), "");
  return names[static_cast<int>(which)];
}

const char* name_of(defect which) {
  static constexpr const char* names[] = {"nothing",
                                          "no work",
                                          "no input",
                                          "no output",
                                          "no second output",
                                          "a misaligned input",
                                          "a misaligned output",
                                          "a misaligned second output or scratch",
                                          "an input's stride shorter than a row",
                                          "an output's stride shorter than a row",
                                          "a second output's stride shorter than a row",
                                          "an input's batch stride shorter than a matrix",
                                          "an output's batch stride shorter than a matrix",
                                          "the shape of the output",
                                          "the shape of the second output",
                                          "memory that overlaps",
                                          "memory that lies in each other's gaps, as it may",
                                          "a second output that overlaps",
                                          "more elements than there are addresses",
                                          "a stride that overflows",
                                          "too little scratch",
                                          "a matrix that is no square",
                                          "an axis that repeats",
                                          "an axis that the array has not",
                                          "more axes than 8 that stay apart",
                                          "elements of the output that share an address",
                                          "memory that touches, as it may"};
  static_assert(sizeof names / sizeof *names == static_cast<std::size_t>(defect::count), "");
  return names[static_cast<int>(which)];
}

namespace {

const char* name_of(stream_kind which) {
  static constexpr const char* names[] = {"the null stream", "a blocking stream",
                                          "a non-blocking stream", "the per-thread stream"};
  static_assert(sizeof names / sizeof *names == static_cast<std::size_t>(stream_kind::count), "");
  return names[static_cast<int>(which)];
}

const char* name_of_symmetry(int symmetry) {
  static constexpr const char* names[] = {"identity",  "flip_lr",   "flip_ud",    "rotate_180",
                                          "transpose", "rotate_90", "rotate_270", "anti_transpose"};
  return names[symmetry];
}

std::string describe_side(std::size_t at) {
  return at == nowhere ? "null" : "byte " + std::to_string(at);
}

// What follows the elements of permutes and planes.
std::string describe_arrays(const test_case& c) {
  const arguments& with = c.with;
  std::ostringstream words;
  const auto list = [&](const char* name, const auto* values, int count) {
    words << name;
    for (int k = 0; k < count; ++k) { words << (k > 0 ? ", " : " {") << values[k]; }
    words << '}';
  };
  if (has_planes(c.on.which)) {
    words << "; " << with.nx << " structures, planes at bytes";
    list("", with.planes, c.on.variant);
    return words.str();
  }
  list("; extents", with.extents, with.rank);
  if (c.on.which != call::permute_strides) { list(", axes", with.axes, with.rank); }
  if (c.on.which == call::permute_strides || is_rank_3(c.on.which)) {
    list(", strides of the input", with.in_strides, with.rank);
    list(", of the output", with.out_strides, with.rank);
  }
  return words.str();
}

std::string describe_type(const element_type& type) {
  return std::to_string(type.bytes) + " bytes aligned to " + std::to_string(type.alignment);
}

}  // namespace

std::string describe(const test_case& c) {
  const arguments& with = c.with;
  std::ostringstream words;
  words << "case " << c.number << " of seed " << c.seed << ": " << name_of(c.on.which);
  if (c.on.which == call::reorient_inplace || c.on.which == call::reorient ||
      c.on.which == call::mdspan_reorient || c.on.which == call::reorient_batched ||
      c.on.which == call::reorient_batched_strides ||
      c.on.which == call::reorient_batched_pointers || c.on.which == call::reorient_batched_views) {
    words << ", " << name_of_symmetry(with.symmetry);
  }
  if (c.on.which == call::rotate) { words << ", " << with.turns << " quarter turns"; }
  words << "\n  elements of " << describe_type(c.on.in);
  if (c.memory.what != change::move && (c.on.in.bytes != c.on.out.bytes)) {
    words << " to " << describe_type(c.on.out);
  }
  if (is_of_arrays(c.on.which)) {
    words << describe_arrays(c);
  } else {
    if (c.on.variant != 0) { words << ", tile " << c.on.variant; }
    words << "; nx " << with.nx << ", ny " << with.ny;
  }
  if (is_batched(c.on.which)) { words << ", batch " << with.batch; }
  if (has_batch_strides(c.on.which)) {
    words << ", batch strides " << with.in_batch << " -> " << with.out_batch;
  }
  if (has_strides(c.on.which)) {
    words << ", strides " << with.in_stride << " -> " << with.out_stride << ", output of "
          << with.out_rows << " rows and " << with.out_cols << " columns";
  }
  if (is_mdspan(c.on.which)) {
    words << ", layouts " << (with.in_columns ? "left" : "right") << " -> "
          << (with.out_columns ? "left" : "right");
  }
  words << "\n  input at " << describe_side(with.in);
  if (!is_in_place(c.on.which)) { words << ", output at " << describe_side(with.out); }
  if (has_pointers(c.on.which)) { words << " (arrays of pointers)"; }
  if (has_copy(c.on.which)) {
    words << ", second output at " << describe_side(with.copy) << " of " << with.copy_rows
          << " rows and " << with.copy_cols << " columns, stride " << with.copy_stride;
  }
  if (c.on.which == call::transpose_inplace_scratch) {
    words << ", scratch of " << with.temp_bytes << " bytes at " << describe_side(with.copy);
  }
  words << " of " << c.memory.bytes << "\n  in " << name_of(c.stream)
        << (c.captured ? ", captured into a graph" : "")
        << (c.error_pending ? ", beside an earlier error" : "") << "; with " << name_of(c.fault)
        << " wrong: " << (c.refused ? "must be refused" : "must succeed");
  return words.str();
}

std::string describe_place(const test_case& c, unsigned at) {
  const image& memory = c.memory;
  std::ostringstream words;
  const auto tell = [&](const char* name, const place& side, unsigned element) {
    spot found{};
    if (!find(side, at, found)) { return false; }
    words << name;
    if (side.batch > 1) { words << ", matrix " << found.matrix; }
    words << ", row " << found.row << ", column " << found.byte / element << ", byte "
          << found.byte % element;
    return true;
  };
  array_spot in_array{};
  if (find(memory.array_out, memory.out_element, at, in_array)) {
    words << "output, element";
    for (unsigned k = 0; k < memory.array_out.rank; ++k) { words << ' ' << in_array.index[k]; }
    words << ", byte " << in_array.byte;
  } else if (!tell("output", memory.out, memory.out_element) &&
             !tell("second output", memory.copy, memory.out_element) &&
             !tell("input", memory.in, memory.in_element)) {
    const bool in_temp = at - memory.temp_at < memory.temp_bytes;
    const bool in_arrays = memory.has_pointers && (at - memory.ins_at < 8 * memory.in.batch ||
                                                   at - memory.outs_at < 8 * memory.in.batch);
    words << (in_temp ? "scratch" : in_arrays ? "an array of pointers" : "a guard or a gap");
  }
  words << " (byte " << at << ")";
  return words.str();
}

}  // namespace fuzz
