// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "arrays.hpp"

#include "faults.hpp"
#include "shapes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace fuzz {
namespace {

class array_spoiler : spoiled_case {
 public:
  using spoiled_case::spoiled_case;

  bool apply(defect fault) {
    const bool by_order = has_axes(which_) && which_ != call::permute_strides;
    switch (fault) {
      case defect::no_work:
        return leave_no_work();
      case defect::null_in:
        pointer(true) = nowhere;
        return true;
      case defect::null_out:
        pointer(false) = nowhere;
        return true;
      case defect::misaligned_in:
        return misalign(pointer(true), case_.on.in.alignment);
      case defect::misaligned_out:
        return misalign(pointer(false), case_.on.out.alignment);
      case defect::shared_bytes:
        return move_output(true);
      case defect::touching:
        return move_output(false);
      case defect::shared_copy:
        return share_planes();
      case defect::too_many:
        return ask_for_too_many();
      case defect::too_wide:
        return which_ == call::permute_strides && ask_for_too_wide();
      case defect::repeated_axis:
        return by_order && which_ != call::mdspan_copy && repeat_axis();
      case defect::foreign_axis:
        return by_order && which_ != call::mdspan_copy && name_foreign_axis();
      case defect::many_axes:
        return has_axes(which_) && !is_rank_3(which_) && ask_for_many_axes();
      case defect::shape_of_out:
        with_.out_cols = random_.between(1, 3);  // more elements along its first axis
        return is_rank_3(which_);
      case defect::shared_elements:
        return which_ == call::permute_strides && share_elements();
      default:
        return false;
    }
  }

 private:
  // To the input or the output; of planes to any.
  std::size_t& pointer(bool in) {
    const bool is_plane = which_ == (in ? call::interleave : call::deinterleave);
    if (is_plane) { return with_.planes[random_.below(static_cast<unsigned>(case_.on.variant))]; }
    return in ? with_.in : with_.out;
  }
  std::size_t any_axis() { return random_.below(static_cast<unsigned>(with_.rank)); }
  // One of several elements; false where there is none.
  bool find_long_axis(std::size_t& axis, std::size_t other = nowhere) {
    const std::size_t from = any_axis();
    for (std::size_t k = 0; k < static_cast<std::size_t>(with_.rank); ++k) {
      axis = (from + k) % static_cast<std::size_t>(with_.rank);
      if (axis != other && with_.extents[axis] > 1) { return true; }
    }
    return false;
  }

  bool misalign(std::size_t& pointer, std::size_t alignment) {
    if (alignment == 1) { return false; }
    pointer += random_.between(1, alignment - 1);
    return true;
  }

  bool leave_no_work() {
    if (has_planes(which_)) {
      with_.nx = 0;
    } else {
      with_.extents[any_axis()] = 0;
    }
    for (const bool in : {true, false}) {
      if (random_.below(3) == 0) { pointer(in) = nowhere; }
      if (random_.below(3) == 0) { pointer(in) = 256 + random_.below(9); }
    }
    return true;
  }

  // To where its first byte, or its last, is one of the input's range, or just none of it.
  bool move_output(bool shares) {
    if (has_planes(which_)) { return shares && share_structures(); }
    array_side& in = memory_.array_in;
    array_side& out = memory_.array_out;
    const byte_range from = range_of(in, memory_.in_element);
    byte_range to = range_of(out, memory_.out_element);
    const long long in_bytes = from.end - from.begin;
    const long long out_bytes = to.end - to.begin;
    const auto alignment = static_cast<long long>(case_.on.out.alignment);
    const auto random_below = [&](long long bound) {
      return static_cast<long long>(random_.below(static_cast<std::uint64_t>(bound)));
    };
    // Room for the output in front of the input.
    const long long begin = 256 + (out_bytes + 511) / 256 * 256 + from.begin % 256;
    long long at = begin + in_bytes;  // behind it
    if (shares) {
      const long long inside = random_.below(2) == 0 ? 1 : 1 + random_below(in_bytes);
      at = random_.below(2) == 0 ? begin + in_bytes - inside : begin - out_bytes + inside;
    } else if (random_.below(2) == 0) {
      at = begin - out_bytes;
    }
    const long long off = at % alignment;
    if (shares || at < begin) {
      at -= off;
    } else {
      at += (alignment - off) % alignment;
    }
    const bool overlaps = at < begin + in_bytes && begin < at + out_bytes;
    if (overlaps != shares) { return false; }
    in.at = narrow(static_cast<std::size_t>(in.at + begin - from.begin));
    out.at = narrow(static_cast<std::size_t>(out.at + at - to.begin));
    with_.in = in.at;
    with_.out = out.at;
    const long long end = std::max(begin + in_bytes, at + out_bytes);
    memory_.bytes = narrow(static_cast<std::size_t>(end + 511) / 256 * 256);
    return true;
  }
  bool share_structures() {
    const std::size_t bytes = with_.nx * memory_.in_element;
    const std::size_t all = bytes * static_cast<std::size_t>(case_.on.variant);
    const std::size_t structures = which_ == call::interleave ? with_.out : with_.in;
    std::size_t& plane = with_.planes[random_.below(static_cast<unsigned>(case_.on.variant))];
    plane = structures + random_.below(all / memory_.in_element) * memory_.in_element;
    return true;
  }
  // Planes that are written must not share bytes.
  bool share_planes() {
    if (which_ != call::deinterleave) { return false; }
    const auto planes = static_cast<unsigned>(case_.on.variant);
    const std::size_t one = random_.below(planes);
    const std::size_t other = (one + random_.between(1, planes - 1)) % planes;
    with_.planes[one] = with_.planes[other] + random_.below(with_.nx) * memory_.in_element;
    return true;
  }

  bool ask_for_too_many() {
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    const std::size_t many = random_.below(2) == 0 ? huge : std::size_t{1} << 62;
    if (has_planes(which_)) {
      with_.nx = many;
      return true;
    }
    const std::size_t axis = any_axis();
    if (random_.below(2) == 0 && with_.rank > 1) {
      constexpr std::size_t root = std::size_t{1} << 32;
      with_.extents[(axis + 1) % static_cast<std::size_t>(with_.rank)] = root;
      with_.extents[axis] = root;
    } else {
      with_.extents[axis] = many;
    }
    if (with_.out_strides[axis] == 0) { with_.out_strides[axis] = 1; }
    return true;
  }

  bool ask_for_too_wide() {
    std::size_t axis = 0;
    if (!find_long_axis(axis)) { return false; }
    using bounds = std::numeric_limits<std::ptrdiff_t>;
    const std::ptrdiff_t wide[] = {bounds::max(), bounds::min(), bounds::max() / 2,
                                   bounds::min() / 2};
    (random_.below(2) == 0 ? with_.in_strides : with_.out_strides)[axis] = wide[random_.below(4)];
    return true;
  }

  bool repeat_axis() {
    if (with_.rank < 2) { return false; }
    const auto rank = static_cast<std::size_t>(with_.rank);
    const std::size_t one = any_axis();
    with_.axes[one] = with_.axes[(one + random_.between(1, rank - 1)) % rank];
    return true;
  }
  bool name_foreign_axis() {
    const int foreign[] = {with_.rank,
                           -1,
                           std::numeric_limits<int>::max(),
                           std::numeric_limits<int>::min(),
                           with_.rank + 1,
                           -with_.rank};
    with_.axes[any_axis()] = foreign[random_.below(6)];
    return true;
  }

  // No two axes stay together where all are in reverse.
  bool ask_for_many_axes() {
    with_.rank = static_cast<int>(random_.between(9, most_axes));
    for (int k = 0; k < with_.rank; ++k) {
      with_.extents[k] = random_.between(2, 3);
      with_.axes[k] = with_.rank - 1 - k;
    }
    std::ptrdiff_t out = 1;
    std::ptrdiff_t in = 1;
    for (int k = 0; k < with_.rank; ++k) {
      const int last = with_.rank - 1 - k;
      with_.out_strides[k] = out;
      with_.in_strides[last] = in;
      out *= static_cast<std::ptrdiff_t>(with_.extents[k]);
      in *= static_cast<std::ptrdiff_t>(with_.extents[last]);
    }
    return true;
  }

  // An axis that does not step over what a faster one reaches.
  bool share_elements() {
    std::size_t one = 0;
    std::size_t other = 0;
    if (!find_long_axis(one)) { return false; }
    switch (random_.below(3)) {
      case 0:
        with_.out_strides[one] = 0;
        return true;
      case 1:
        if (!find_long_axis(other, one)) { return false; }
        with_.out_strides[one] = with_.out_strides[other] * (random_.below(2) == 0 ? 1 : -1);
        return true;
      default:
        if (!find_long_axis(other, one)) { return false; }
        const auto last = static_cast<std::ptrdiff_t>(with_.extents[other] - 1);
        with_.out_strides[one] = with_.out_strides[other] * last;
        return true;
    }
  }
};

}  // namespace

bool spoil_arrays(test_case& c, random_numbers& random, defect fault) {
  return array_spoiler(c, random).apply(fault);
}

}  // namespace fuzz
