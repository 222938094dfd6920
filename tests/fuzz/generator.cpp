// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From a seed and a number to a case: first one that goes, then perhaps what is wrong with it.

#include "arrays.hpp"
#include "faults.hpp"
#include "shapes.hpp"

namespace fuzz {
namespace {

struct shape {
  std::size_t nx;
  std::size_t ny;
};

// At most so many elements.
shape random_shape(random_numbers& random, const limits& within, std::size_t most, bool large) {
  shape s{1, 1};
  if (large) {
    const std::size_t elements = log_uniform(random, std::max<std::size_t>(most / 32, 1), most);
    s.nx = log_uniform(random, 2, std::max<std::size_t>(elements / 2, 2));
    s.ny = std::max<std::size_t>(elements / s.nx, 1);
  } else {
    switch (random.below(10)) {
      case 0:
        s = {random.between(1, 8), random.between(1, 8)};
        break;
      case 1:
        s.nx = s.ny = random.between(1, within.side);
        break;
      case 2:
      case 3:
        s = {near_an_edge(random, within.side), near_an_edge(random, within.side)};
        break;
      case 4:
      case 5:
        s = {log_uniform(random, 1, 64), log_uniform(random, 8, within.long_side)};
        break;
      default:
        s = {random.between(1, within.side), random.between(1, within.side)};
        break;
    }
  }
  if (random.below(2) == 0) { std::swap(s.nx, s.ny); }
  s.nx = std::min(s.nx, most);
  s.ny = std::min(s.ny, std::max<std::size_t>(most / s.nx, 1));
  return s;
}

bool transposes(int symmetry) { return symmetry >= 4; }

// What the least scratch memory is: 128 bytes of every row or column, whichever are more, in whole elements.
std::size_t least_scratch(shape s, std::size_t element) {
  if (s.nx == 1 || s.ny == 1 || s.nx == s.ny) { return 1; }
  const std::size_t longer = std::max(s.nx, s.ny);
  const std::size_t band = std::max<std::size_t>(128 / element, 1);
  return std::min(band, std::min(s.nx, s.ny)) * longer * element;
}

class maker {
 public:
  maker(test_case& made, random_numbers& random, const limits& within)
      : made_(made), with_(made.with), memory_(made.memory), random_(random), within_(within) {}

  void make() {
    const target& on = made_.on;
    memory_.in_element = on.in.bytes;
    memory_.out_element = on.out.bytes;
    memory_.key = mix(made_.seed ^ mix(made_.number));
    with_.salt = memory_.salt = narrow(random_.below(256));
    if (is_of_arrays(on.which)) {
      make_arrays(made_, random_, within_);
    } else {
      choose_symmetry();
      choose_shape();
      choose_strides();
      place_all();
    }
    choose_device();
  }

 private:
  void choose_symmetry() {
    const int any = static_cast<int>(random_.below(8));
    memory_.what = change::move;
    int symmetry = 4;
    switch (made_.on.which) {
      case call::transform:
      case call::transform_views:
      case call::transform_batched:
      case call::transform_batched_views:
      case call::dual:
      case call::dual_views:
        memory_.what = change::transform;
        break;
      case call::accumulate:
      case call::accumulate_views:
        memory_.what = change::accumulate;
        break;
      case call::reverse:
      case call::reverse_inplace:
      case call::flip_lr:
      case call::flip_lr_inplace:
        symmetry = 1;
        break;
      case call::flip_ud:
      case call::flip_ud_inplace:
        symmetry = 2;
        break;
      case call::rotate_180_inplace:
        symmetry = 3;
        break;
      case call::rotate: {
        static constexpr int turned[] = {0, 5, 3, 6};
        with_.turns = static_cast<long long>(random_.below(12)) - 6;
        if (random_.below(8) == 0) { with_.turns = static_cast<long long>(random_.next()); }
        symmetry = turned[(with_.turns % 4 + 4) % 4];
        break;
      }
      case call::anti_transpose:
        symmetry = 7;
        break;
      case call::reorient:
      case call::reorient_batched:
      case call::reorient_batched_strides:
      case call::reorient_batched_pointers:
      case call::reorient_batched_views:
      case call::reorient_inplace:
      case call::mdspan_reorient:
        symmetry = any;
        break;
      default:
        break;
    }
    with_.symmetry = symmetry;
    memory_.symmetry = static_cast<unsigned>(symmetry);
    if (is_mdspan(made_.on.which)) {
      with_.in_columns = memory_.in_columns = random_.below(2) == 0;
      with_.out_columns = memory_.out_columns = random_.below(2) == 0;
    }
  }

  void choose_shape() {
    const std::size_t element = std::max(memory_.in_element, memory_.out_element);
    const bool large = random_.below(within_.large_every) == 0;
    const std::size_t most = (large ? within_.bytes : within_.usual_bytes) / element;
    std::size_t batch = 1;
    if (is_batched(made_.on.which)) {
      batch = random_.below(4) == 0 ? log_uniform(random_, 1, 2000) : random_.between(1, 9);
      batch = std::min(batch, most);
    }
    shape s = random_shape(random_, within_, most / batch, large);
    if (is_array(made_.on.which)) { s = {s.nx * s.ny, 1}; }
    if (is_in_place(made_.on.which) && made_.on.which != call::transpose_inplace_scratch &&
        transposes(with_.symmetry)) {
      const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(s.nx * s.ny)));
      s.nx = s.ny = random_.below(2) == 0 ? side : std::min(s.nx, s.ny);
    }
    with_.nx = s.nx;
    with_.ny = s.ny;
    with_.batch = batch;
  }

  void choose_strides() {
    const bool turns = transposes(with_.symmetry);
    const bool in_place = is_in_place(made_.on.which);
    with_.out_rows = turns ? with_.nx : with_.ny;
    with_.out_cols = turns ? with_.ny : with_.nx;
    with_.copy_rows = with_.ny;
    with_.copy_cols = with_.nx;
    // What an mdspan has as columns are rows in memory.
    const auto stride = [&](std::size_t rows, std::size_t cols, unsigned element) {
      const std::size_t all_rows = rows * with_.batch;
      return cols + (has_strides(made_.on.which) ? gap_between(all_rows, cols, element) : 0);
    };
    with_.in_stride = with_.in_columns ? stride(with_.nx, with_.ny, memory_.in_element)
                                       : stride(with_.ny, with_.nx, memory_.in_element);
    with_.out_stride = with_.out_columns
                           ? stride(with_.out_cols, with_.out_rows, memory_.out_element)
                           : stride(with_.out_rows, with_.out_cols, memory_.out_element);
    if (in_place && made_.on.which != call::transpose_inplace_scratch) {
      with_.out_stride = with_.in_stride;
    }
    with_.copy_stride = stride(with_.copy_rows, with_.copy_cols, memory_.out_element);
    with_.in_batch = with_.out_batch = with_.nx * with_.ny;
    if (is_view_batch(made_.on.which)) {
      with_.in_batch = (with_.ny - 1) * with_.in_stride + with_.nx;
      with_.out_batch = (with_.out_rows - 1) * with_.out_stride + with_.out_cols;
    }
    if (has_batch_strides(made_.on.which)) {
      with_.in_batch += gap_between(with_.batch, with_.in_batch, memory_.in_element);
      with_.out_batch += gap_between(with_.batch, with_.out_batch, memory_.out_element);
    }
    set_side(memory_.in, with_.in_columns ? with_.nx : with_.ny,
             with_.in_columns ? with_.ny : with_.nx, with_.in_stride, with_.in_batch,
             memory_.in_element);
    set_side(memory_.out, with_.out_columns ? with_.out_cols : with_.out_rows,
             with_.out_columns ? with_.out_rows : with_.out_cols, with_.out_stride, with_.out_batch,
             memory_.out_element);
    if (has_copy(made_.on.which)) {
      set_side(memory_.copy, with_.copy_rows, with_.copy_cols, with_.copy_stride, 0,
               memory_.out_element);
    }
    if (has_pointers(made_.on.which)) {
      shuffle(memory_.in);
      shuffle(memory_.out);
    }
  }

  // Elements between `count` rows, or matrices, of `length` elements: fewer where they would be most of the memory.
  std::size_t gap_between(std::size_t count, std::size_t length, unsigned element) {
    const std::size_t gap = random_gap(random_, element);
    return std::min(gap, std::max(within_.usual_bytes / element / count, length));
  }

  void set_side(place& side, std::size_t rows, std::size_t cols, std::size_t stride,
                std::size_t step, std::size_t element) {
    side.rows = narrow(rows);
    side.row_bytes = narrow(cols * element);
    side.stride = narrow(stride * element);
    side.step = narrow(step * element);
    side.batch = narrow(with_.batch);
  }

  // Matrices behind pointers lie in another order, with gaps.
  void shuffle(place& side) {
    const unsigned element = &side == &memory_.in ? memory_.in_element : memory_.out_element;
    side.step += narrow(gap_between(side.batch, side.step / element, element)) * element;
    side.shift = narrow(random_.below(side.batch));
    side.factor = narrow(random_.between(1, side.batch));
    while (std::gcd(side.factor, side.batch) != 1) { ++side.factor; }
    side.factor %= side.batch;
    side.inverse = 0;
    for (unsigned i = 0; i < side.batch; ++i) {
      if (side.factor * i % side.batch == 1 % side.batch) { side.inverse = i; }
    }
  }

  void place_all() {
    layout memory(random_);
    const auto put = [&](place& side, unsigned alignment) {
      side.at = narrow(memory.take(end_of(side) - side.at, alignment));
    };
    const auto put_in = [&] { put(memory_.in, made_.on.in.alignment); };
    const auto put_out = [&] { put(memory_.out, made_.on.out.alignment); };
    if (is_in_place(made_.on.which)) {
      put_in();
      memory_.out.at = memory_.in.at;
    } else if (random_.below(2) == 0) {
      put_in();
      put_out();
    } else {
      put_out();
      put_in();
    }
    with_.in = memory_.in.at;
    with_.out = memory_.out.at;
    if (has_copy(made_.on.which)) {
      put(memory_.copy, made_.on.out.alignment);
      with_.copy = memory_.copy.at;
    }
    if (made_.on.which == call::transpose_inplace_scratch) { put_scratch(memory); }
    if (has_pointers(made_.on.which)) {
      memory_.has_pointers = true;
      with_.in = memory.take(8 * with_.batch, 8);
      with_.out = memory.take(8 * with_.batch, 8);
      memory_.ins_at = narrow(with_.in);
      memory_.outs_at = narrow(with_.out);
    }
    memory_.bytes = narrow(memory.bytes());
  }

  void put_scratch(layout& memory) {
    const std::size_t all = with_.nx * with_.ny * memory_.in_element;
    const std::size_t least = least_scratch({with_.nx, with_.ny}, memory_.in_element);
    made_.least_scratch = least;
    switch (random_.below(4)) {
      case 0:
        with_.temp_bytes = least;
        break;
      case 1:
        with_.temp_bytes = random_.between(least, std::max(least, all));
        break;
      case 2:
        with_.temp_bytes = std::max(least, all) + random_.below(2) * random_.between(1, 1000);
        break;
      default:
        with_.temp_bytes = least + random_.between(0, least);
        break;
    }
    with_.copy = memory.take(with_.temp_bytes, made_.on.in.alignment);
    memory_.temp_at = narrow(with_.copy);
    memory_.temp_bytes = narrow(with_.temp_bytes);
  }

  void choose_device() {
    made_.stream =
        static_cast<stream_kind>(random_.below(static_cast<std::uint64_t>(stream_kind::count)));
    made_.captured = made_.stream == stream_kind::non_blocking && random_.below(25) == 0;
    made_.error_pending = !made_.captured && random_.below(8) == 0;
    static constexpr int shared[] = {64, 100, 164, 228};
    made_.starts_together = random_.below(4) != 0;
    made_.multiprocessors = static_cast<int>(random_.between(1, 40));
    made_.shared_bytes = shared[random_.below(4)] * 1024 + 1024;
  }

  test_case& made_;
  arguments& with_;
  image& memory_;
  random_numbers& random_;
  const limits& within_;
};

}  // namespace

catalogue::catalogue(const std::vector<target>& targets) {
  for (const target& one : targets) {
    if (by_call_.empty() || by_call_.back().front().which != one.which) { by_call_.emplace_back(); }
    by_call_.back().push_back(one);
  }
}

const target& catalogue::pick(random_numbers& random) const {
  const std::vector<target>& one_call = by_call_[random.below(by_call_.size())];
  return one_call[random.below(one_call.size())];
}

test_case generate(std::uint64_t seed, std::uint64_t number, const catalogue& targets,
                   const limits& within) {
  random_numbers random(mix(seed) ^ mix(~number));
  test_case made;
  made.seed = seed;
  made.number = number;
  made.on = targets.pick(random);
  maker(made, random, within).make();
  if (random.below(8) == 0) { add_fault(made, random); }
  return made;
}

}  // namespace fuzz
