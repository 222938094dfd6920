// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mover for little work with every element size of FIRST_SIZE to LAST_SIZE, aligned as the size allows and not at all:
// each of its kernels, strides of either sign, the three forms of batches and squares in place, at shapes that straddle
// the edges of tiles. Kernels are launched as the calls do, without the movers for large matrices, which would take a
// compiler minutes; little_calls_test.cpp makes the calls.

#include "little.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace {

enum class kernel { tiles, direct, rows };

// How often a request of a tile of `side` may meet in a bank. Columns of 32 do not conflict, or two ways where elements
// are no whole words. Two columns of 16 share a request, and an element of the second may meet one of the first: two ways;
// odd sizes above 16 bytes up to four. Elements that are moved by less than the largest power of two that divides them
// meet as often as that has parts, words at least.
int tile_ways(int side, int bytes, int access) {
  const bool packed = bytes <= 4 && access < bytes;
  const int power = packed ? 4 : bytes & -bytes;
  const int parts = std::max(power / std::max(packed ? 4 : access, 4), 1);
  const bool words = packed || bytes <= 2 || bytes % 4 == 0;
  const int columns = side == 32 ? (words ? 1 : 2) : bytes % 2 == 1 && bytes > 16 ? 4 : 2;
  return std::max(columns, parts);
}
int most_ways(kernel which, int bytes, int access) {
  return which == kernel::tiles ? tile_ways(tt::detail::small_tile_side(bytes), bytes, access) : 0;
}

// The launches of a transpose and of rows, as far as they are little work.
template <int Bytes, int Alignment>
cudaError_t launch_case(const little_case& c, const little_pointers& p) {
  using namespace tt::detail;
  transpose_request request{};
  request.in = c.pointers ? static_cast<const void*>(p.ins) : p.in;
  request.out = c.pointers ? const_cast<unsigned char**>(p.outs) : static_cast<void*>(p.out);
  request.nx = c.nx;
  request.ny = c.ny;
  request.in_stride = c.in_stride();
  request.out_stride = c.out_stride();
  request.batch = c.batch;
  request.in_batch = c.pointers ? 0 : c.in_step();
  request.out_batch = c.pointers ? 0 : c.out_step();
  request.in_element = request.out_element = Bytes;
  request.pointer_arrays = c.pointers;
  cudaError_t status = cudaErrorUnknown;
  if (c.turns()) {
    const tile_problem problem = run_backwards(make_problem(request), c.how);
    const tt::size_type bits = address_bits_of(problem, Alignment);
    return with_unit<Bytes, Alignment>(bits, [&](auto unit) {
      const copy_operation<Bytes, decltype(unit)::value> operation;
      return transpose_little<Bytes, Bytes>(problem, c.batch, bits, operation, nullptr, status)
                 ? status
                 : cudaErrorUnknown;
    });
  }
  const row_problem rows = make_rows(request, c.how);
  return with_unit<Bytes, Alignment>(row_bits(rows, Alignment), [&](auto unit) {
    const copy_operation<Bytes, decltype(unit)::value> operation;
    return move_little_rows(rows, operation, nullptr, status) ? status : cudaErrorUnknown;
  });
}

constexpr tt::symmetry turns[] = {tt::symmetry::transpose, tt::symmetry::rotate_90,
                                  tt::symmetry::rotate_270, tt::symmetry::anti_transpose};
constexpr tt::symmetry flips[] = {tt::symmetry::identity, tt::symmetry::flip_lr,
                                  tt::symmetry::flip_ud, tt::symmetry::rotate_180};

enum class form { one, batch, pointers };

// A shape that takes the kernel.
little_case make_case(kernel which, form f, std::size_t bytes, random_numbers& random) {
  little_case c{};
  c.element = bytes;
  c.nx = pick_side(random);
  c.ny = pick_side(random);
  c.how = turns[random.between(0, 3)];
  if (which == kernel::direct && random.coin()) {
    (random.coin() ? c.nx : c.ny) = random.between(1, 4);
  } else if (which == kernel::direct) {  // short rows that are not one long one
    c.nx = random.between(1, 100);
    c.how = flips[random.between(1, 2)];
    c.in_gap = 1;
  } else if (which == kernel::rows) {
    constexpr std::size_t lengths[] = {101, 127, 128, 129, 511, 513, 1023, 1024, 1025, 1100};
    c.nx = lengths[random.between(0, 9)];
    c.ny = random.between(1, 3);
    c.how = flips[random.between(0, 3)];
  }
  if (f == form::one) {
    c.in_gap += random.coin() ? random.between(0, 9) : 0;
    c.out_gap = random.coin() ? random.between(0, 9) : 0;
    return c;
  }
  c.in_gap = 0;  // matrices of a batch are dense
  c.batch = random.between(2, 3);
  c.pointers = f == form::pointers;
  c.in_matrix_gap = random.coin() ? random.between(1, 5) : 0;
  c.out_matrix_gap = random.coin() ? random.between(1, 5) : 0;
  return c;
}

template <int Bytes, int Alignment>
void check_square(std::size_t side, std::size_t gap, std::size_t shift) {
  using namespace tt::detail;
  const std::size_t stride = side + gap;
  guarded_bytes data(Bytes * stride * side, shift);
  const std::vector<unsigned char> before = data.copy();
  std::vector<unsigned char> expected = before;
  for (std::size_t i = 0; i < side * side; ++i) {
    const std::size_t row = i / side;
    const std::size_t col = i % side;
    std::memcpy(&expected[data.first() + Bytes * (row * stride + col)],
                &before[data.first() + Bytes * (col * stride + row)], Bytes);
  }
  cpu::this_device() = {};
  know(data.data(), side, Bytes * side, Bytes * stride);
  const square_problem square{data.data(), Bytes * stride, side};
  const tt::size_type bits = reinterpret_cast<tt::size_type>(square.data) | square.stride_bytes;
  int access = 0;
  const cudaError_t status = with_unit<Bytes, Alignment>(bits, [&](auto unit) {
    access = decltype(unit)::value;
    return launch_little_square<Bytes, decltype(unit)::value>(square, nullptr);
  });
  const cpu::device& device = cpu::this_device();
  INFO(Bytes << " bytes by " << access << ", " << side << " rows " << gap << " apart, shift "
             << shift << "; repeat with --rng-seed " << Catch::getSeed() << '\n'
             << device.last.table());
  CHECK(status == cudaSuccess);
  CHECK(data.is(expected));
  CHECK(device.faults == 0);
  CHECK(device.stored == Bytes * side * side);
  CHECK(device.last.worst_ways() <= tile_ways(16, Bytes, access));
}

// Behind arrays of pointers elements are moved by what their type promises, else by the widest accesses of their size if
// all addresses are multiples of these, as `aligned` says.
template <int Bytes, int Alignment>
void check_type(bool aligned, random_numbers& random) {
  constexpr int widest = tt::access_width(Bytes);
  constexpr int promised = tt::access_width(Bytes, Alignment);
  const std::size_t step = aligned ? widest : Alignment;
  const auto pick_shift = [&] { return step * random.between(0, 48 / step); };
  std::set<const void*> kernels[2];
  for (const kernel which : {kernel::tiles, kernel::direct, kernel::rows}) {
    for (const form f : {form::one, form::one, form::batch, form::pointers}) {
      little_case c = make_case(which, f, Bytes, random);
      c.in_shift = pick_shift();
      c.out_shift = aligned ? pick_shift() : Alignment;
      const int access = aligned && f != form::pointers ? widest : promised;
      check_little(c, most_ways(which, Bytes, access),
                   [&](const little_pointers& p) { return launch_case<Bytes, Alignment>(c, p); });
      kernels[f == form::pointers].insert(cpu::this_device().kernel);
    }
  }
  for (const auto& taken : kernels) { CHECK(taken.size() == 3); }
  for (const std::size_t side : {std::size_t{2}, std::size_t{16}, pick_side(random)}) {
    check_square<Bytes, Alignment>(side, random.coin() ? 0 : random.between(1, 9),
                                   aligned ? 0 : Alignment);
  }
}

template <int Bytes, int Alignment>
void check_type() {
  random_numbers random;
  check_type<Bytes, Alignment>(true, random);
  if (tt::access_width(Bytes, Alignment) < tt::access_width(Bytes)) {
    check_type<Bytes, Alignment>(false, random);
  }
}

template <int... Offset>
void check_sizes(std::integer_sequence<int, Offset...>) {
  (check_type<FIRST_SIZE + Offset, 1>(), ...);
}

}  // namespace

TEST_CASE("little work of every element size") {
  check_sizes(std::make_integer_sequence<int, LAST_SIZE - FIRST_SIZE + 1>());
}

#if LAST_SIZE == 64

TEST_CASE("little work of elements that are aligned to parts of them") {
  check_type<4, 2>();
  check_type<8, 4>();
  check_type<12, 2>();
  check_type<16, 8>();
  check_type<24, 4>();
  check_type<32, 32>();
  check_type<64, 64>();
}

#endif
