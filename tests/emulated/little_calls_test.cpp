// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every call that the mover for little work takes, at random shapes of up to 70 x 70 elements, and tiles that the caller
// wrote.

#include "little.hpp"

namespace {

// Two rows of a tile of 16 share a warp, in which one lane of the second may meet one of the first.
constexpr int tuned_ways = 2;

constexpr tt::symmetry every_symmetry[] = {tt::symmetry::identity,   tt::symmetry::flip_lr,
                                           tt::symmetry::flip_ud,    tt::symmetry::rotate_180,
                                           tt::symmetry::transpose,  tt::symmetry::rotate_90,
                                           tt::symmetry::rotate_270, tt::symmetry::anti_transpose};

template <class T>
struct typed {
  T* out;
  const T* in;
  T* const* outs;
  const T* const* ins;

  explicit typed(const little_pointers& p)
      : out(reinterpret_cast<T*>(p.out)),
        in(reinterpret_cast<const T*>(p.in)),
        outs(reinterpret_cast<T* const*>(p.outs)),
        ins(reinterpret_cast<const T* const*>(p.ins)) {}

  tt::matrix_view<T> out_view(const little_case& c) const {
    return {out, c.out_rows(), c.out_cols(), c.out_stride()};
  }
  tt::matrix_view<const T> in_view(const little_case& c) const {
    return {in, c.ny, c.nx, c.in_stride()};
  }
};

// A dense matrix of any shape.
template <class T>
little_case pick_case(random_numbers& random, tt::symmetry how = tt::symmetry::transpose) {
  little_case c{};
  c.element = sizeof(T);
  c.how = how;
  c.nx = random.between(0, 3) == 0 ? random.between(2, 8) : pick_side(random);
  c.ny = random.between(0, 3) == 0 ? random.between(2, 8) : pick_side(random);
  c.in_shift = alignof(T) * random.between(0, 48 / alignof(T));
  c.out_shift = alignof(T) * random.between(0, 48 / alignof(T));
  return c;
}
template <class T>
little_case pick_view(random_numbers& random, tt::symmetry how = tt::symmetry::transpose) {
  little_case c = pick_case<T>(random, how);
  c.in_gap = random.between(0, 9);
  c.out_gap = random.between(0, 9);
  return c;
}
template <class T>
little_case pick_batch(random_numbers& random, bool gaps, bool pointers,
                       tt::symmetry how = tt::symmetry::transpose) {
  little_case c = pick_case<T>(random, how);
  c.batch = random.between(2, 4);
  c.pointers = pointers;
  c.in_matrix_gap = gaps ? random.between(1, 9) : 0;
  c.out_matrix_gap = gaps ? random.between(1, 9) : 0;
  return c;
}

template <class T>
void check_transposes(random_numbers& random) {
  little_case c = pick_case<T>(random);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::transpose(t.out, t.in, c.nx, c.ny);
  });
  c = pick_view<T>(random);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    return tt::transpose(typed<T>(p).out_view(c), typed<T>(p).in_view(c));
  });
  c = pick_batch<T>(random, false, false);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::transpose_batched(t.out, t.in, c.nx, c.ny, c.batch);
  });
  c = pick_batch<T>(random, true, false);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::transpose_batched(t.out, c.out_step(), t.in, c.in_step(), c.nx, c.ny, c.batch);
  });
  c = pick_batch<T>(random, random.coin(), true);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::transpose_batched(t.outs, t.ins, c.nx, c.ny, c.batch);
  });
}

template <class T>
void check_symmetry(tt::symmetry how, random_numbers& random) {
  little_case c = pick_view<T>(random, how);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    return tt::reorient(typed<T>(p).out_view(c), typed<T>(p).in_view(c), how);
  });
  c = pick_batch<T>(random, false, false, how);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::reorient_batched(t.out, t.in, c.nx, c.ny, c.batch, how);
  });
  c = pick_batch<T>(random, true, false, how);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::reorient_batched(t.out, c.out_step(), t.in, c.in_step(), c.nx, c.ny, c.batch, how);
  });
  c = pick_batch<T>(random, random.coin(), true, how);
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    const typed<T> t(p);
    return tt::reorient_batched(t.outs, t.ins, c.nx, c.ny, c.batch, how);
  });
}

template <class T>
void check_names(random_numbers& random) {
  using tt::symmetry;
  const auto check = [&](symmetry how, auto call) {
    const little_case c = pick_case<T>(random, how);
    check_little(c, tuned_ways, [&](const little_pointers& p) {
      const typed<T> t(p);
      return call(t.out, t.in, c.nx, c.ny);
    });
  };
  check(symmetry::flip_lr, [](auto... all) { return tt::flip_lr(all...); });
  check(symmetry::flip_ud, [](auto... all) { return tt::flip_ud(all...); });
  check(symmetry::anti_transpose, [](auto... all) { return tt::anti_transpose(all...); });
  check(symmetry::rotate_90, [](auto... all) { return tt::rotate(all..., 1); });
  check(symmetry::rotate_180, [](auto... all) { return tt::rotate(all..., 2); });
  check(symmetry::rotate_270, [](auto... all) { return tt::rotate(all..., -1); });
  little_case c = pick_case<T>(random, symmetry::flip_lr);
  c.nx = random.between(1, 3000);
  c.ny = 1;
  check_little(c, tuned_ways, [&](const little_pointers& p) {
    return tt::reverse(typed<T>(p).out, typed<T>(p).in, c.nx);
  });
}

// One row, one column: arrays, which are copied or reversed, and columns of a wider matrix.
template <class T>
void check_vectors(random_numbers& random) {
  for (const bool row : {true, false}) {
    little_case c = pick_view<T>(random, tt::symmetry::rotate_270);
    (row ? c.ny : c.nx) = 1;
    (row ? c.nx : c.ny) = random.between(1, 1200);
    check_little(c, tuned_ways, [&](const little_pointers& p) {
      return tt::reorient(typed<T>(p).out_view(c), typed<T>(p).in_view(c), c.how);
    });
  }
}

template <class T>
void check_square(random_numbers& random) {
  const std::size_t side = random.between(2, 70);
  tt::emulated_buffer<T> data(side * side, random.between(0, 9));
  fill(data);
  const std::vector<T> before(data.begin(), data.end());
  cpu::this_device() = {};
  cpu::this_device().options.knows(data);
  const cudaError_t status = tt::transpose_inplace(data.data(), side, side);
  INFO(sizeof(T) << " bytes, " << side << " rows; repeat with --rng-seed " << Catch::getSeed()
                 << '\n'
                 << cpu::this_device().last.table());
  CHECK(status == cudaSuccess);
  bool right = true;
  for (std::size_t i = 0; i < data.size(); ++i) {
    right = right && equal(data[i], before[i % side * side + i / side]);
  }
  CHECK(right);
  CHECK(cpu::this_device().faults == 0);
  CHECK(cpu::this_device().last.worst_ways() <= tuned_ways);
  CHECK(took_little_mover());
}

template <class T>
void check_calls() {
  random_numbers random;
  for (int i = 0; i < 4; ++i) {
    check_transposes<T>(random);
    check_names<T>(random);
    check_vectors<T>(random);
    check_square<T>(random);
    for (const tt::symmetry how : every_symmetry) { check_symmetry<T>(how, random); }
  }
}

// Threads, and one block for each tile.
template <class T, int TileDim, int BlockRows>
void check_written(int most_ways) {
  random_numbers random;
  for (int i = 0; i < 4; ++i) {
    little_case c = pick_view<T>(random);
    if (i == 0) { c.nx = c.ny = 2 * TileDim; }
    if (i == 1) { c.nx = TileDim + 1, c.ny = TileDim - 1; }
    INFO("tile " << TileDim << " by " << BlockRows);
    check_little(c, most_ways, [&](const little_pointers& p) {
      return tt::transpose<T, TileDim, BlockRows>(typed<T>(p).out_view(c), typed<T>(p).in_view(c));
    });
    const tt::emulation_report& report = cpu::this_device().last;
    CHECK(report.threads == TileDim * BlockRows);
    const auto tiles = [](std::size_t side) { return (side + TileDim - 1) / TileDim; };
    CHECK(report.blocks == tiles(c.nx) * tiles(c.ny));
  }
}

}  // namespace

TEST_CASE("little calls: 1 byte") { check_calls<element<1>>(); }
TEST_CASE("little calls: 3 bytes") { check_calls<element<3>>(); }
TEST_CASE("little calls: 4 bytes") { check_calls<element<4>>(); }
TEST_CASE("little calls: 12 bytes") { check_calls<element<12>>(); }
TEST_CASE("little calls: 16 bytes") { check_calls<element<16>>(); }
TEST_CASE("little calls: 16 bytes aligned to 4") { check_calls<element<16, 4>>(); }
TEST_CASE("little calls: 64 bytes aligned to as many") { check_calls<element<64, 64>>(); }

TEST_CASE("little calls: tiles that the caller wrote") {
  check_written<element<1>, 32, 8>(1);
  check_written<element<1>, 16, 16>(2);
  check_written<element<2>, 64, 4>(1);
  check_written<element<3>, 32, 8>(2);
  check_written<element<4>, 32, 8>(1);
  check_written<element<4>, 32, 32>(1);
  check_written<element<4>, 16, 16>(2);
  check_written<element<4>, 24, 4>(2);
  check_written<element<4>, 8, 2>(2);
  check_written<element<4>, 8, 1>(2);
  check_written<element<8>, 32, 8>(1);
  check_written<element<12>, 32, 8>(1);
  check_written<element<12>, 24, 4>(2);
  check_written<element<16>, 16, 16>(1);
  check_written<element<40, 8>, 16, 16>(1);
  check_written<element<64>, 24, 4>(1);
}
