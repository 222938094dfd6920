// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arrays.hpp"

#include "faults.hpp"
#include "shapes.hpp"

namespace fuzz {
namespace {

void shuffle(random_numbers& random, std::vector<int>& list) {
  for (std::size_t i = list.size(); i > 1; --i) { std::swap(list[i - 1], list[random.below(i)]); }
}

class array_maker {
 public:
  array_maker(test_case& made, random_numbers& random, const limits& within)
      : made_(made), with_(made.with), memory_(made.memory), random_(random), within_(within) {}

  void make() {
    memory_.what = made_.on.which == call::transform_permute ? change::transform : change::move;
    layout places(random_);
    if (has_planes(made_.on.which)) {
      choose_structures();
      place_structures(places);
    } else {
      choose_groups();
      choose_orders();
      split_groups();
      give_axes();
      place_sides(places);
    }
    memory_.bytes = narrow(places.bytes());
  }

 private:
  // Axes that stay together are a group: the library makes one of them. Axes of one element are groups of their own.
  struct given_axis {
    int group;
    std::size_t extent;
  };

  std::size_t most_elements() {
    const std::size_t element = std::max(memory_.in_element, memory_.out_element);
    const bool large = random_.below(within_.large_every) == 0;
    return (large ? within_.bytes : within_.usual_bytes) / element;
  }

  void choose_groups() {
    const std::size_t most = most_elements();
    const std::size_t count = is_rank_3(made_.on.which) ? random_.between(1, 3)
                              : random_.below(3) == 0   ? random_.between(1, 8)
                                                        : random_.between(2, 6);
    std::size_t left = std::max<std::size_t>(most, 1);
    std::vector<std::size_t> extents;
    for (std::size_t after = count; after-- > 0;) {
      const double share = std::pow(static_cast<double>(left), 1 / static_cast<double>(after + 1));
      const auto usual = std::clamp<std::size_t>(static_cast<std::size_t>(2 * share), 1, left);
      std::size_t extent = 1;
      switch (random_.below(6)) {
        case 0:
        case 1:
          extent = random_.between(2, 5);
          break;
        case 2:
          extent = near_an_edge(random_, usual);
          break;
        case 3:
          extent = log_uniform(random_, 1, left);
          break;
        default:
          extent = random_.between(1, usual);
          break;
      }
      extent = std::min(extent, left);
      left /= extent;
      extents.push_back(extent);
    }
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    shuffle(random_, order);
    for (std::size_t g = 0; g < count; ++g) {
      axes_.push_back({static_cast<int>(g), extents[static_cast<std::size_t>(order[g])]});
    }
    groups_ = static_cast<int>(count);
  }

  // Of the groups in memory, the slowest first.
  void choose_orders() {
    in_order_.resize(static_cast<std::size_t>(groups_));
    std::iota(in_order_.begin(), in_order_.end(), 0);
    out_order_ = in_order_;
    switch (random_.below(16)) {
      case 0:
        break;
      case 1:
      case 2:
        std::reverse(out_order_.begin(), out_order_.end());
        break;
      case 3:
      case 4:
      case 5:  // the fastest axis stays
        out_order_.pop_back();
        shuffle(random_, out_order_);
        out_order_.push_back(groups_ - 1);
        break;
      default:
        shuffle(random_, out_order_);
        break;
    }
  }

  // Makes several axes of groups, and adds axes of one element, up to a random rank.
  void split_groups() {
    const bool is_3 = is_rank_3(made_.on.which);
    const std::size_t most = random_.below(3) == 0 ? most_axes : 8;
    const std::size_t rank = is_3 ? 3 : random_.between(axes_.size(), most);
    for (int attempts = 0; axes_.size() < rank && attempts < 40; ++attempts) {
      const auto at = static_cast<std::ptrdiff_t>(random_.below(axes_.size()));
      given_axis& axis = axes_[static_cast<std::size_t>(at)];
      if (is_3 || random_.below(4) == 0) {
        add_single(in_order_);
        add_single(out_order_);
        axes_.insert(axes_.begin() + at, {groups_++, 1});
        continue;
      }
      const std::size_t divisor = random_.between(2, 8);
      if (axis.extent <= divisor || axis.extent % divisor != 0) { continue; }
      axis.extent /= divisor;
      axes_.insert(axes_.begin() + at + 1, {axis.group, divisor});
    }
  }
  void add_single(std::vector<int>& order) {
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(random_.below(order.size() + 1)),
                 groups_);
  }

  // Numbers the axes: as they lie in the input where the call goes by their order, else in any order.
  void give_axes() {
    std::vector<given_axis> listed;
    if (!has_any_strides()) {
      add_in_order(listed, in_order_);
    } else {
      std::vector<int> order = in_order_;
      if (random_.below(2) == 0) { shuffle(random_, order); }
      add_in_order(listed, order);
    }
    axes_ = listed;
    with_.rank = static_cast<int>(axes_.size());
    for (std::size_t k = 0; k < axes_.size(); ++k) { with_.extents[k] = axes_[k].extent; }
    int j = 0;
    for (const int group : out_order_) {
      for (std::size_t k = 0; k < axes_.size(); ++k) {
        if (axes_[k].group == group) { with_.axes[j++] = static_cast<int>(k); }
      }
    }
    lay(in_order_, with_.in_strides, memory_.in_element, true);
    lay(out_order_, with_.out_strides, memory_.out_element, false);
  }
  void add_in_order(std::vector<given_axis>& listed, const std::vector<int>& order) const {
    for (const int group : order) {
      for (const given_axis& axis : axes_) {
        if (axis.group == group) { listed.push_back(axis); }
      }
    }
  }

  // Strides are given; those of mdspans run forwards, and let no elements share an address.
  bool has_any_strides() const {
    return made_.on.which == call::permute_strides || is_rank_3(made_.on.which);
  }

  // Strides of a side whose groups lie in memory in this order, from the fastest on: without gaps where these would make
  // most of the memory.
  void lay(const std::vector<int>& order, std::ptrdiff_t (&strides)[most_axes], unsigned element,
           bool may_repeat) {
    const bool strided = made_.on.which == call::permute_strides;
    const bool repeats = strided && may_repeat && random_.below(4) == 0;
    const bool gaps = has_any_strides() && random_.below(2) == 0;
    if (lay_apart(order, strides, element, gaps, repeats) * element > 2 * within_.bytes) {
      lay_apart(order, strides, element, false, repeats);
    }
  }
  // Elements that the side reaches.
  std::size_t lay_apart(const std::vector<int>& order, std::ptrdiff_t (&strides)[most_axes],
                        unsigned element, bool gaps, bool repeats) {
    const bool strided = made_.on.which == call::permute_strides;
    std::size_t step = gaps && random_.below(4) == 0 ? random_.between(2, 4) : 1;
    std::size_t reached = 0;  // behind the first, along all faster groups
    for (std::size_t i = order.size(); i-- > 0;) {
      const bool backwards = strided && random_.below(4) == 0;
      std::size_t stride = step;
      if (repeats && random_.below(3) == 0) { stride = random_.below(3); }  // or overlaps itself
      std::size_t extent = 1;
      for (std::size_t k = axes_.size(); k-- > 0;) {
        if (axes_[k].group != order[i]) { continue; }
        const auto here = static_cast<std::ptrdiff_t>(stride * extent);
        strides[k] = backwards ? -here : here;
        extent *= axes_[k].extent;
      }
      reached += (extent - 1) * stride;
      if (strided && extent == 1) { strides[axis_of(order[i])] = stride_of_nothing(); }
      step = std::max(stride * extent, reached + 1);
      if (!gaps) { continue; }
      if (random_.below(3) == 0) { step = reached + 1; }
      step += std::min(random_gap(random_, element), std::max<std::size_t>(step, 4));
    }
    return reached + 1;
  }
  std::size_t axis_of(int group) const {
    std::size_t k = 0;
    while (axes_[k].group != group) { ++k; }
    return k;
  }
  // An axis of one element is not stepped along.
  std::ptrdiff_t stride_of_nothing() {
    const auto small = static_cast<std::ptrdiff_t>(random_.below(2000)) - 1000;
    return random_.below(8) == 0 ? static_cast<std::ptrdiff_t>(random_.next()) : small;
  }

  void fill_side(array_side& side, const std::ptrdiff_t (&strides)[most_axes], unsigned element) {
    side.rank = static_cast<unsigned>(with_.rank);
    for (unsigned k = 0; k < side.rank; ++k) {
      side.extents[k] = narrow(with_.extents[k]);
      const std::ptrdiff_t stride = side.extents[k] > 1 ? strides[k] : 0;
      side.strides[k] = static_cast<int>(stride * static_cast<std::ptrdiff_t>(element));
      side.by_stride[k] = k;
    }
    const auto distance = [&](unsigned k) { return std::abs(side.strides[k]); };
    std::sort(side.by_stride, side.by_stride + side.rank,
              [&](unsigned a, unsigned b) { return distance(a) > distance(b); });
  }

  void place_sides(layout& places) {
    const auto put = [&](array_side& side, const auto& strides, const element_type& type) {
      fill_side(side, strides, type.bytes);
      const byte_range range = range_of(side, type.bytes);
      const std::size_t at =
          places.take(static_cast<std::size_t>(range.end - range.begin), type.alignment);
      side.at = narrow(at - static_cast<std::size_t>(range.begin));
      return side.at;
    };
    const bool out_first = random_.below(2) == 0;
    if (out_first) { with_.out = put(memory_.array_out, with_.out_strides, made_.on.out); }
    with_.in = put(memory_.array_in, with_.in_strides, made_.on.in);
    if (!out_first) { with_.out = put(memory_.array_out, with_.out_strides, made_.on.out); }
  }

  void choose_structures() {
    const auto planes = static_cast<std::size_t>(made_.on.variant);
    const std::size_t most = std::max<std::size_t>(most_elements() / planes, 1);
    with_.nx = random_.below(3) == 0 ? near_an_edge(random_, most) : log_uniform(random_, 1, most);
    const unsigned element = memory_.in_element;
    for (array_side* const side : {&memory_.array_in, &memory_.array_out}) {
      side->rank = 2;
      side->extents[0] = narrow(planes);
      side->extents[1] = narrow(with_.nx);
      side->strides[0] = static_cast<int>(element);
      side->strides[1] = static_cast<int>(planes * element);
      side->by_stride[0] = 1;
      side->by_stride[1] = 0;
    }
    array_side& apart = planes_side();
    apart.has_planes = true;
    apart.strides[0] = 0;
    apart.strides[1] = static_cast<int>(element);
  }
  array_side& planes_side() {
    return made_.on.which == call::interleave ? memory_.array_in : memory_.array_out;
  }

  void place_structures(layout& places) {
    const bool together = made_.on.which == call::interleave;
    const std::size_t bytes = with_.nx * memory_.in_element;
    const std::size_t planes = static_cast<std::size_t>(made_.on.variant);
    const bool first = random_.below(2) == 0;
    const auto put_structures = [&] {
      array_side& side = together ? memory_.array_out : memory_.array_in;
      side.at = narrow(places.take(planes * bytes, made_.on.in.alignment));
      (together ? with_.out : with_.in) = side.at;
    };
    if (first) { put_structures(); }
    put_planes(places, bytes, planes);
    if (!first) { put_structures(); }
    for (std::size_t k = 0; k < planes; ++k) { planes_side().planes[k] = narrow(with_.planes[k]); }
  }
  void put_planes(layout& places, std::size_t bytes, std::size_t planes) {
    const std::size_t alignment = made_.on.in.alignment;
    std::vector<int> order(planes);
    std::iota(order.begin(), order.end(), 0);
    const std::uint64_t how = random_.below(6);
    if (how <= 1) {  // equally far apart, in either direction
      const std::size_t gap = random_gap(random_, memory_.in_element);
      const std::size_t step = bytes + std::min(gap, with_.nx) * memory_.in_element;
      const std::size_t at = places.take(planes * step, alignment);
      if (how == 1) { std::reverse(order.begin(), order.end()); }
      for (std::size_t k = 0; k < planes; ++k) {
        with_.planes[k] = at + static_cast<std::size_t>(order[k]) * step;
      }
    } else if (how == 2 && made_.on.which == call::interleave) {  // each of another's elements
      const std::size_t more = random_.between(0, 40) * memory_.in_element;
      const std::size_t at = places.take(bytes + more, alignment);
      for (std::size_t k = 0; k < planes; ++k) {
        with_.planes[k] = at + random_.between(0, more) / alignment * alignment;
      }
    } else {
      shuffle(random_, order);
      for (const int k : order) {
        const std::size_t more = random_.below(3) * 256;
        with_.planes[k] = places.take(bytes + more, alignment);
      }
    }
  }

  test_case& made_;
  arguments& with_;
  image& memory_;
  random_numbers& random_;
  const limits& within_;
  std::vector<given_axis> axes_;
  std::vector<int> in_order_;
  std::vector<int> out_order_;
  int groups_ = 0;
};

}  // namespace

byte_range range_of(const array_side& side, unsigned element) {
  byte_range range{side.at, static_cast<long long>(side.at) + element};
  for (unsigned k = 0; k < side.rank; ++k) {
    const long long far = static_cast<long long>(side.extents[k] - 1) * side.strides[k];
    (far < 0 ? range.begin : range.end) += far;
  }
  return range;
}

void make_arrays(test_case& made, random_numbers& random, const limits& within) {
  array_maker(made, random, within).make();
}

}  // namespace fuzz
