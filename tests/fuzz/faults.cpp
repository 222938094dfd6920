// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "faults.hpp"

#include "arrays.hpp"

#include <algorithm>
#include <numeric>

namespace fuzz {

bool is_batched(call which) {
  return which == call::transpose_batched || which == call::reorient_batched ||
         which == call::transform_batched || has_batch_strides(which) || has_pointers(which);
}
bool is_in_place(call which) {
  return which >= call::transpose_inplace && which <= call::rotate_180_inplace;
}
bool is_mdspan(call which) {
  return which == call::mdspan_transpose || which == call::mdspan_reorient;
}
bool is_array(call which) { return which == call::reverse || which == call::reverse_inplace; }
bool has_strides(call which) {
  return which == call::transpose_views || which == call::transpose_explicit_views ||
         which == call::transform_views || which == call::accumulate_views ||
         which == call::dual_views || which == call::reorient ||
         which == call::transpose_inplace_view || which == call::reorient_inplace ||
         is_mdspan(which) || is_view_batch(which);
}
bool is_view_batch(call which) {
  return which == call::transpose_batched_views || which == call::reorient_batched_views ||
         which == call::transform_batched_views;
}
bool has_batch_strides(call which) {
  return which == call::transpose_batched_strides || which == call::reorient_batched_strides ||
         is_view_batch(which);
}
bool has_pointers(call which) {
  return which == call::transpose_batched_pointers || which == call::reorient_batched_pointers;
}
bool has_copy(call which) { return which == call::dual || which == call::dual_views; }
bool has_axes(call which) {
  return which == call::permute || which == call::permute_strides ||
         which == call::transform_permute || is_rank_3(which);
}
bool is_rank_3(call which) { return which == call::mdspan_permute || which == call::mdspan_copy; }
bool has_planes(call which) { return which == call::deinterleave || which == call::interleave; }
bool is_of_arrays(call which) { return has_axes(which) || has_planes(which); }

namespace {

constexpr std::size_t huge = ~std::size_t{0};

// True where a byte belongs to both sides: by a map of all bytes.
bool share_a_byte(const place& a, const place& b) {
  const unsigned first = std::min(a.at, b.at);
  std::vector<char> used(std::max(end_of(a), end_of(b)) - first);
  bool shared = false;
  for (const place* side : {&a, &b}) {
    for (unsigned at = side->at; at < end_of(*side); ++at) {
      spot found{};
      if (!find(*side, at, found)) { continue; }
      char& byte = used[at - first];
      shared = shared || byte != 0;
      byte = 1;
    }
  }
  return shared;
}

class spoiler : spoiled_case {
 public:
  using spoiled_case::spoiled_case;

  // False where the call cannot have this fault.
  bool apply(defect fault) {
    switch (fault) {
      case defect::no_work:
        return leave_no_work();
      case defect::null_in:
        return lose(with_.in);
      case defect::null_out:
        return !is_in_place(which_) && lose(with_.out);
      case defect::null_copy:
        return has_copy(which_) && lose(with_.copy);
      case defect::misaligned_in:
        return misalign(with_.in, case_.on.in.alignment);
      case defect::misaligned_out:
        return !is_in_place(which_) && misalign(with_.out, case_.on.out.alignment);
      case defect::misaligned_copy:
        return with_.copy != nowhere && misalign_always(with_.copy, case_.on.out.alignment);
      case defect::short_in_stride:
        return views() && shorten(with_.in_stride, with_.nx);
      case defect::short_out_stride:
        return views() && !is_in_place(which_) && shorten(with_.out_stride, with_.out_cols);
      case defect::short_copy_stride:
        return which_ == call::dual_views && shorten(with_.copy_stride, with_.copy_cols);
      case defect::short_in_batch:
        return gapped_batch() && shorten(with_.in_batch, least_step(with_.ny, with_.nx));
      case defect::short_out_batch:
        return gapped_batch() &&
               shorten(with_.out_batch, least_step(with_.out_rows, with_.out_cols));
      case defect::shape_of_out:
        return has_strides(which_) && !is_in_place(which_) &&
               change_shape(with_.out_rows, with_.out_cols, with_.out_stride);
      case defect::shape_of_copy:
        return which_ == call::dual_views &&
               change_shape(with_.copy_rows, with_.copy_cols, with_.copy_stride);
      case defect::shared_bytes:
        return share();
      case defect::interleaved:
        return interleave();
      case defect::shared_copy:
        return share_copy();
      case defect::too_many:
        return ask_for_too_many();
      case defect::too_wide:
        return ask_for_too_wide();
      case defect::little_scratch:
        return which_ == call::transpose_inplace_scratch && shorten(with_.temp_bytes, least());
      case defect::no_square:
        return leave_no_square();
      default:
        return false;
    }
  }

 private:
  bool views() const { return has_strides(which_) && !is_mdspan(which_); }
  bool gapped_batch() const { return has_batch_strides(which_) && with_.batch > 1; }
  // Pitched matrices may lie side by side.
  std::size_t least_step(std::size_t rows, std::size_t cols) const {
    return is_view_batch(which_) ? cols : rows * cols;
  }
  std::size_t least() const { return case_.least_scratch; }

  static bool lose(std::size_t& pointer) {
    pointer = nowhere;
    return true;
  }

  bool misalign_always(std::size_t& pointer, std::size_t alignment) {
    if (alignment == 1) { return false; }
    pointer += random_.between(1, alignment - 1);
    return true;
  }
  bool misalign(std::size_t& pointer, std::size_t alignment) {
    return misalign_always(pointer, has_pointers(which_) ? 8 : alignment);
  }

  // To less than `least`.
  bool shorten(std::size_t& value, std::size_t least) {
    value = random_.below(2) == 0 ? least - 1 : random_.below(least);
    return true;
  }

  bool change_shape(std::size_t& rows, std::size_t& cols, std::size_t& stride) {
    switch (random_.below(4)) {
      case 0:
        ++rows;
        break;
      case 1:
        --rows;
        break;
      case 2:
        ++cols;
        break;
      default:
        if (rows == cols) { return false; }
        std::swap(rows, cols);
        break;
    }
    stride = std::max(stride, cols);
    return true;
  }

  bool leave_no_work() {
    const auto any = [&](std::size_t& pointer) {
      if (random_.below(3) == 0) { pointer = nowhere; }
      if (random_.below(3) == 0) { pointer = with_.in + random_.below(9); }
    };
    switch (random_.below(is_batched(which_) ? 3 : 2)) {
      case 0:
        with_.nx = 0;
        if (is_in_place(which_)) { with_.ny *= random_.below(2); }
        break;
      case 1:
        (is_array(which_) ? with_.nx : with_.ny) = 0;
        break;
      default:
        with_.batch = 0;
        break;
    }
    any(with_.out);
    any(with_.copy);
    any(with_.in);
    if (is_mdspan(which_)) {  // extents are what mdspans are made of
      const bool turns = with_.symmetry >= 4;
      with_.out_rows = turns ? with_.nx : with_.ny;
      with_.out_cols = turns ? with_.ny : with_.nx;
    }
    return true;
  }

  // Output on input, or scratch on data.
  bool share() {
    if (which_ == call::transpose_inplace_scratch) {
      const std::size_t elements = with_.nx * with_.ny;
      with_.copy = with_.in + random_.below(elements) * memory_.in_element;
      return true;
    }
    if (is_in_place(which_) || has_copy(which_)) { return false; }
    if (has_pointers(which_)) {
      with_.out = with_.in + 8 * random_.below(with_.batch);
      return true;
    }
    return move_output() && share_a_byte(memory_.in, memory_.out);
  }
  bool interleave() {
    if (is_in_place(which_) || has_copy(which_) || is_view_batch(which_)) { return false; }
    if (has_strides(which_)) {
      part_rows(memory_.in.stride, memory_.in.row_bytes + memory_.out.row_bytes, with_.in_stride,
                with_.out_stride);
      memory_.out.stride = memory_.in.stride;
    } else if (has_batch_strides(which_) && with_.batch > 1) {
      part_rows(memory_.in.step, slot_bytes(memory_.in) + slot_bytes(memory_.out), with_.in_batch,
                with_.out_batch);
      memory_.out.step = memory_.in.step;
    } else {
      return false;
    }
    if (!move_output()) { return false; }
    if (random_.below(4) != 0) {  // into the gap behind the first row
      const unsigned row = has_strides(which_) ? memory_.in.row_bytes : slot_bytes(memory_.in);
      const unsigned alignment = case_.on.out.alignment;
      const unsigned at = memory_.in.at + row + static_cast<unsigned>(random_.below(40));
      memory_.out.at = (at + alignment - 1) / alignment * alignment;
      with_.out = memory_.out.at;
      memory_.bytes = (std::max(end_of(memory_.in), end_of(memory_.out)) + 511) / 256 * 256;
    }
    return !share_a_byte(memory_.in, memory_.out);
  }
  // Makes a stride that has room for both sides, or sometimes not.
  void part_rows(unsigned& stride, unsigned both, std::size_t& in, std::size_t& out) {
    const unsigned step = std::lcm(memory_.in_element, memory_.out_element);
    const unsigned least = std::max(memory_.in.row_bytes, memory_.out.row_bytes);
    const auto wanted = static_cast<unsigned>(random_.between(both, both + 40));
    stride = (std::max(wanted, least) + step - 1) / step * step;
    in = stride / memory_.in_element;
    out = stride / memory_.out_element;
  }
  // To any place between those where it touches the input from below and from above. False where that would take long to
  // judge.
  bool move_output() {
    place& in = memory_.in;
    place& out = memory_.out;
    const unsigned in_bytes = end_of(in) - in.at;
    const unsigned out_bytes = end_of(out) - out.at;
    if (in_bytes > 30'000 || out_bytes > 30'000) { return false; }
    in.at = 256 + (out_bytes + 255) / 256 * 256 + in.at % 256;
    out.at = in.at - out_bytes + static_cast<unsigned>(random_.below(in_bytes + out_bytes + 1));
    out.at -= out.at % case_.on.out.alignment;
    with_.in = in.at;
    with_.out = out.at;
    memory_.bytes = (std::max(end_of(in), end_of(out)) + 511) / 256 * 256;
    return true;
  }

  bool share_copy() {
    if (!has_copy(which_)) { return false; }
    with_.copy = random_.below(2) == 0 ? with_.in : with_.out;
    return true;
  }

  bool ask_for_too_many() {
    if (is_mdspan(which_)) { return false; }
    constexpr std::size_t root = std::size_t{1} << 32;
    const bool square =
        is_in_place(which_) && which_ != call::transpose_inplace_scratch && with_.symmetry >= 4;
    switch (random_.below(3)) {
      case 0:
        with_.nx = with_.ny = square ? root : huge / 2;
        break;
      case 1:
        with_.nx = huge;
        with_.ny = square ? huge : 2;
        break;
      default:
        with_.nx = square ? root : 2;
        with_.ny = square ? root : huge;
        break;
    }
    if (is_array(which_)) { with_.nx = huge; }
    const bool turns = with_.symmetry >= 4;
    with_.in_stride = with_.nx;
    with_.out_rows = turns ? with_.nx : with_.ny;
    with_.out_cols = turns ? with_.ny : with_.nx;
    with_.out_stride = with_.out_cols;
    with_.copy_rows = with_.ny;
    with_.copy_cols = with_.copy_stride = with_.nx;
    with_.in_batch = with_.out_batch = huge / 2;
    return true;
  }

  bool ask_for_too_wide() {
    const std::size_t wide = random_.below(2) == 0 ? huge : std::size_t{1} << 62;
    if (has_batch_strides(which_)) {
      if (with_.batch == 1) { return false; }
      (random_.below(2) == 0 ? with_.in_batch : with_.out_batch) = wide;
      return true;
    }
    if (!views()) { return false; }
    if (with_.ny > 1 && (is_in_place(which_) || random_.below(2) == 0)) {
      with_.in_stride = wide;
      return true;
    }
    if (is_in_place(which_) || with_.out_rows == 1) { return false; }
    with_.out_stride = wide;
    return true;
  }

  bool leave_no_square() {
    if (!is_in_place(which_) || which_ == call::transpose_inplace_scratch || with_.symmetry < 4) {
      return false;
    }
    with_.ny = with_.ny + random_.between(1, 3);
    return true;
  }
};

}  // namespace

void add_fault(test_case& c, random_numbers& random) {
  for (int attempts = 0; attempts < 20; ++attempts) {
    test_case spoilt = c;
    const auto any =
        static_cast<defect>(1 + random.below(static_cast<std::uint64_t>(defect::count) - 1));
    const defect fault = random.below(8) == 0 ? defect::interleaved : any;
    const bool spoils = is_of_arrays(c.on.which) ? spoil_arrays(spoilt, random, fault)
                                                 : spoiler(spoilt, random).apply(fault);
    if (!spoils) { continue; }
    const bool moves = fault == defect::interleaved || fault == defect::touching;
    spoilt.fault = fault;
    spoilt.refused = fault != defect::no_work && !moves;
    if (!moves) { spoilt.memory.what = change::none; }
    c = spoilt;
    return;
  }
}

}  // namespace fuzz
