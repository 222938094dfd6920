// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Symmetries that keep rows rows, out of place and in place, on the CPU: random shapes, pitches, batches and
// places beside the ends of what a block takes and beside lines of 128 bytes. Every byte is compared, those
// between rows too; no access leaves its rows, and no two threads race.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/reverse.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <vector>

namespace {

#if !defined(LITTLE_ROWS)
static_assert(!tt::detail::has_little_work(1, 1, false),
              "movers for large matrices are tested here");
#endif

struct rows_case {
  std::size_t nx, ny, in_stride, out_stride, in_offset, out_offset;
  std::size_t in_shift, out_shift;  // bytes
  tt::symmetry how;
  bool in_place;
  bool in_segments = false;  // by the mover for rows, whatever else would take them
};

// Elements whose bytes are about `bytes`, at least one.
std::size_t elements(std::size_t bytes, std::size_t size) {
  return bytes < size ? 1 : bytes / size;
}

// Shapes that have found faults, and those like them.
rows_case make_case(random_numbers& random, std::size_t size, std::size_t alignment) {
  rows_case c{};
  switch (random.between(0, 5)) {
    case 0:  // many short rows
      c.nx = random.between(1, 12);
      c.ny = random.between(1, elements(9000, size * c.nx));
      break;
    case 1:  // one row, about the spans of a few blocks
      c.nx = elements(random.between(1, 3) * 16384 + random.between(0, 300), size);
      c.ny = 1;
      break;
    case 2:  // rows of whole lines
      c.nx = 128 * random.between(1, 3);
      c.ny = random.between(1, elements(40000, size * c.nx));
      break;
    case 3:  // one row of whole lines
      c.nx = 8 * elements(random.between(15000, 36000), 8 * size);
      c.ny = 1;
      break;
    case 4:  // short rows of whole lines
      c.nx = elements(256, size);
      c.ny = random.between(50, 130);
      break;
    default:
      c.nx = random.between(1, elements(3000, size));
      c.ny = random.between(1, 9);
  }
  c.in_place = random.coin();
  const bool dense = random.coin();
  c.in_stride = c.nx + (dense ? 0 : random.between(0, 9));
  c.out_stride = c.in_place ? c.in_stride : c.nx + (dense ? 0 : random.between(0, 9));
  c.in_offset = random.coin() ? 0 : random.between(0, 9);
  c.out_offset = random.coin() ? 0 : random.between(0, 9);
  // Elements of less alignment than their size start between the places of aligned ones, too.
  const std::size_t steps = size / alignment - 1;
  c.in_shift = random.coin() ? 0 : alignment * random.between(0, steps);
  c.out_shift = random.coin() ? 0 : alignment * random.between(0, steps);
  c.how = static_cast<tt::symmetry>(random.between(c.in_place ? 1 : 0, 3));
  c.in_segments = random.coin();
  return c;
}

// The mover for rows, whatever else would take them.
template <class T>
cudaError_t move_segments(tt::matrix_view<T> out, tt::matrix_view<const T> in, tt::symmetry s) {
  const auto rows = tt::detail::make_rows(tt::detail::reorient_request(out, in, s), s);
  if (rows.in_place() && rows.stay()) { return cudaSuccess; }
  return tt::detail::launch_rows<sizeof(T), alignof(T)>(rows, nullptr);
}

// Elements, and the bytes that they and what lies around them are made of.
template <class T>
class place {
 public:
  place(std::size_t elements, std::size_t shift) : memory_(elements + 1), shift_(shift) {
    fill_at_random(begin(), bytes());
  }
  T* data() { return reinterpret_cast<T*>(begin() + shift_); }
  unsigned char* begin() { return reinterpret_cast<unsigned char*>(memory_.data()); }
  std::size_t bytes() const { return memory_.size() * sizeof(T); }
  std::vector<unsigned char> copy() { return {begin(), begin() + bytes()}; }
  std::size_t byte_of(std::size_t element) const { return shift_ + element * sizeof(T); }

 private:
  tt::emulated_buffer<T> memory_;
  std::size_t shift_;
};

template <class T>
void check(const rows_case& c) {
  const auto extent = [&](std::size_t offset, std::size_t stride) {
    return offset + (c.ny - 1) * stride + c.nx;
  };
  place<T> in(extent(c.in_offset, c.in_stride), c.in_shift);
  place<T> out(extent(c.out_offset, c.out_stride), c.out_shift);
  place<T>& result = c.in_place ? in : out;
  const std::size_t offset = c.in_place ? c.in_offset : c.out_offset;
  const std::vector<unsigned char> source = in.copy();
  std::vector<unsigned char> expected = result.copy();
  for (std::size_t y = 0; y < c.ny; ++y) {
    for (std::size_t x = 0; x < c.nx; ++x) {
      const std::size_t row = tt::reverses_rows(c.how) ? c.ny - 1 - y : y;
      const std::size_t col = tt::reverses_cols(c.how) ? c.nx - 1 - x : x;
      std::memcpy(&expected[result.byte_of(offset + y * c.out_stride + x)],
                  &source[in.byte_of(c.in_offset + row * c.in_stride + col)], sizeof(T));
    }
  }

  cpu::this_device() = {};
  const tt::matrix_view<T> data{in.data() + c.in_offset, c.ny, c.nx, c.in_stride};
  const tt::matrix_view<T> to{out.data() + c.out_offset, c.ny, c.nx, c.out_stride};
  const tt::matrix_view<const T> from{data.data, c.ny, c.nx, c.in_stride};
  cudaError_t status = cudaSuccess;
  if (c.in_place) {
    cpu::this_device().options.knows(data);
    status = c.in_segments ? move_segments(data, from, c.how) : tt::reorient_inplace(data, c.how);
  } else {
    cpu::this_device().options.knows(from).knows(to);
    status = c.in_segments ? move_segments(to, from, c.how) : tt::reorient(to, from, c.how);
  }
  INFO(sizeof(T) << " bytes aligned to " << alignof(T) << ", symmetry " << static_cast<int>(c.how)
                 << (c.in_place ? " in place" : "") << (c.in_segments ? " in segments" : "")
                 << ", nx " << c.nx << ", ny " << c.ny << ", strides " << c.in_stride << " -> "
                 << c.out_stride << ", offsets " << c.in_offset << " -> " << c.out_offset
                 << ", bytes " << c.in_shift << " -> " << c.out_shift << "; repeat with --rng-seed "
                 << Catch::getSeed() << '\n'
                 << cpu::this_device().last.table());
  REQUIRE(status == cudaSuccess);
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(std::memcmp(result.begin(), expected.data(), expected.size()) == 0);
}

template <class T>
void check_random_rows() {
  random_numbers random;
  for (int i = 0; i < 24; ++i) { check<T>(make_case(random, sizeof(T), alignof(T))); }
}

#if defined(LITTLE_ROWS)
// Rows, strides and places that are multiples of 4, 8 or 16 bytes: whole accesses, odd numbers of them and even ones.
rows_case make_whole_case(random_numbers& random, std::size_t size) {
  std::size_t unit = size;  // elements of whole accesses
  const std::size_t access = std::size_t{4} << random.between(0, 2);
  while (unit % access != 0) { unit += size; }
  unit /= size;
  rows_case c{};
  c.nx = unit * random.between(1, random.coin() ? 9 : 400);
  c.ny = random.between(1, 12);
  const bool dense = random.coin();
  c.in_place = random.coin();
  c.in_stride = c.nx + (dense ? 0 : unit * random.between(0, 3));
  c.out_stride = c.in_place ? c.in_stride : c.nx + (dense ? 0 : unit * random.between(0, 3));
  c.in_offset = unit * random.between(0, 3);
  c.out_offset = unit * random.between(0, 3);
  c.how = static_cast<tt::symmetry>(random.between(c.in_place ? 1 : 0, 3));
  return c;
}

}  // namespace

TEMPLATE_TEST_CASE("rows of whole accesses", "", (element<1, 1>), (element<2, 2>), (element<2, 1>),
                   (element<3, 1>), (element<4, 4>), (element<8, 8>), (element<12, 4>),
                   (element<16, 16>)) {
  random_numbers random;
  for (int i = 0; i < 60; ++i) { check<TestType>(make_whole_case(random, sizeof(TestType))); }
  // So many that a thread takes several, in rows that fill their blocks and in rows that leave them mostly empty.
  constexpr std::size_t words =
      4 * sizeof(TestType) / tt::detail::common_divisor(4, sizeof(TestType));
  for (const std::size_t accesses : {1025, 129}) {
    const std::size_t nx = accesses * words / sizeof(TestType);
    const std::size_t ny = 330'001 * 4 / (nx * sizeof(TestType));
    for (const bool in_place : {false, true}) {
      check<TestType>({nx, ny, nx, nx, 0, 0, 0, 0, tt::symmetry::flip_lr, in_place});
      check<TestType>({nx, ny, nx, nx, 0, 0, 0, 0, tt::symmetry::flip_ud, in_place});
    }
  }
}
#else
}  // namespace

TEMPLATE_TEST_CASE("rows of random shapes", "", (element<1, 1>), (element<2, 2>), (element<3, 1>),
                   (element<4, 4>), (element<5, 1>), (element<6, 2>), (element<8, 8>),
                   (element<12, 4>), (element<16, 16>), (element<31, 1>), (element<48, 16>),
                   (element<60, 4>), (element<64, 2>)) {
  check_random_rows<TestType>();
}

#if defined(MORE_TYPES)
TEMPLATE_TEST_CASE("rows of random shapes, more types", "", (element<2, 1>), (element<4, 1>),
                   (element<7, 1>), (element<8, 4>), (element<9, 1>), (element<12, 1>),
                   (element<16, 4>), (element<22, 2>), (element<32, 2>), (element<63, 1>),
                   (element<64, 16>)) {
  check_random_rows<TestType>();
}
#endif

// Groups of whole words that begin in the last word of a row reach over its end, and into nobody else's row.
TEMPLATE_TEST_CASE("rows of whole groups, reversed", "", (element<9, 1>), (element<31, 1>),
                   (element<62, 2>)) {
  const std::size_t group = tt::detail::word_group<sizeof(TestType)>::bytes / sizeof(TestType);
  const std::size_t nx = 1116 / sizeof(TestType) / group * group;
  for (std::size_t offset = 0; offset < 8; ++offset) {
    const rows_case c{nx, 14, nx, nx, offset, 3 * offset, 0, 0, tt::symmetry::flip_lr, offset > 6};
    check<TestType>(c);
  }
}
#endif
