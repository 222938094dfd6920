// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Few columns, few rows, small matrices and narrow ones of 1- and 2-byte elements on the CPU, as they are and rotated:
// random shapes, batches and places. Every element is compared, no access leaves its matrix, no shared memory is read
// that nobody wrote, and no two threads race.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/reverse.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>

namespace {

static_assert(!tt::detail::has_little_work(1, 1, true),
              "movers for large matrices are tested here");

struct panels_case {
  std::size_t nx, ny, batch;
  std::size_t in_offset, out_offset;  // elements
  tt::symmetry how;
};

panels_case make_case(std::size_t element, random_numbers& random) {
  constexpr tt::symmetry turns[] = {tt::symmetry::transpose, tt::symmetry::transpose,
                                    tt::symmetry::rotate_90, tt::symmetry::rotate_270,
                                    tt::symmetry::anti_transpose};
  panels_case c{};
  switch (random.between(0, 6)) {
    case 0:  // many small matrices
      c.nx = random.between(2, 70);
      c.ny = random.between(2, 70);
      c.batch = random.between(2, 60);
      break;
    case 1:  // few columns: panels that begin, continue and end them
      c.nx = random.between(2, random.between(0, 1) == 0 ? 64 : 208);
      c.ny = random.between(100, 3000);
      c.batch = random.between(1, 2);
      break;
    case 2:  // few rows
      c.nx = random.between(100, 3000);
      c.ny = random.between(2, random.between(0, 1) == 0 ? 64 : 260);
      c.batch = random.between(1, 2);
      break;
    case 3:  // one matrix a panel, its output in parts
      c.nx = random.between(64, 500);
      c.ny = random.between(56000, 90000) / (c.nx * element);
      c.batch = 2;
      break;
    case 4:  // tiles: segments that go on from one output row to the next
      c.nx = random.between(65, 600);
      c.ny = random.between(65, 600);
      c.batch = 1;
      break;
    case 5:  // few rows of a batch: matrices that no panel holds
      c.nx = random.between(520, 800);
      c.ny = random.between(225, 600 / element);
      c.batch = 2;
      break;
    default:  // one matrix a panel
      c.nx = random.between(70, 210);
      c.ny = random.between(70, 210);
      c.batch = 2;
  }
  if (random.between(0, 2) == 0) {
    c.ny = (c.ny + 7) / 8 * 8;
  }  // columns that lie in the same banks
  c.in_offset = random.between(0, 40);
  c.out_offset = random.between(0, 40);
  c.how = turns[random.between(0, 4)];
  return c;
}

template <class T>
void check(const panels_case& c) {
  const std::size_t size = c.nx * c.ny;
  tt::emulated_buffer<T> in(size * c.batch, c.in_offset);
  tt::emulated_buffer<T> out(size * c.batch, c.out_offset);
  fill(in);
  cpu::this_device() = {};
  cpu::this_device()
      .options.knows(static_cast<const T*>(in.data()), in.size())
      .knows(out.data(), out.size());
  const cudaError_t status = tt::reorient_batched(out.data(), static_cast<const T*>(in.data()),
                                                  c.nx, c.ny, c.batch, c.how);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t y = i % c.ny;
    const std::size_t x = i % size / c.ny;
    const std::size_t from_y = tt::reverses_rows(c.how) ? c.ny - 1 - y : y;
    const std::size_t from_x = tt::reverses_cols(c.how) ? c.nx - 1 - x : x;
    wrong += out[i] != in[i / size * size + from_y * c.nx + from_x] ? 1 : 0;
  }
  const cpu::device& device = cpu::this_device();
  INFO(sizeof(T) << " bytes, nx " << c.nx << ", ny " << c.ny << ", batch " << c.batch
                 << ", symmetry " << static_cast<int>(c.how) << ", off by " << c.in_offset
                 << " and " << c.out_offset << "; repeat with --rng-seed " << Catch::getSeed()
                 << '\n'
                 << device.last.table());
  CHECK(status == cudaSuccess);
  CHECK(wrong == 0);
  CHECK(device.faults == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("panels of small elements at random shapes", "", unsigned char, unsigned short) {
  random_numbers random;
  for (int i = 0; i < 180; ++i) { check<TestType>(make_case(sizeof(TestType), random)); }
}
