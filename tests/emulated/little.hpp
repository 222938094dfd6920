// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the tests of little work share: matrices of bytes between guards, and one check of a call for all of them.

#pragma once

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/tiletranspose.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

/// Where the matrices of a batch lie. Gaps in elements between rows and matrices, shifts in bytes past a multiple of
/// 256; behind arrays of pointers matrices lie in another order.
struct little_case {
  std::size_t element;  ///< bytes
  std::size_t nx;       ///< of the input
  std::size_t ny;
  tt::symmetry how = tt::symmetry::transpose;
  std::size_t batch = 1;
  bool pointers = false;
  std::size_t in_gap = 0;
  std::size_t out_gap = 0;
  std::size_t in_matrix_gap = 0;
  std::size_t out_matrix_gap = 0;
  std::size_t in_shift = 0;
  std::size_t out_shift = 0;

  bool turns() const { return tt::transposes(how); }
  std::size_t out_cols() const { return turns() ? ny : nx; }
  std::size_t out_rows() const { return turns() ? nx : ny; }
  std::size_t in_stride() const { return nx + in_gap; }
  std::size_t out_stride() const { return out_cols() + out_gap; }
  std::size_t in_step() const { return ny * in_stride() + in_matrix_gap; }
  std::size_t out_step() const { return out_rows() * out_stride() + out_matrix_gap; }

  /// Bytes from the first input to element (row, col) of input b, and the same of the output.
  std::size_t in_at(std::size_t b, std::size_t row, std::size_t col) const {
    return element * (b * in_step() + row * in_stride() + col);
  }
  std::size_t out_at(std::size_t b, std::size_t row, std::size_t col) const {
    const std::size_t place = pointers ? batch - 1 - b : b;
    return element * (place * out_step() + row * out_stride() + col);
  }
  /// The same of the element of input b that comes to (row, col) of its output.
  std::size_t source_of(std::size_t b, std::size_t row, std::size_t col) const {
    const std::size_t y = turns() ? col : row;
    const std::size_t x = turns() ? row : col;
    return in_at(b, tt::reverses_rows(how) ? ny - 1 - y : y,
                 tt::reverses_cols(how) ? nx - 1 - x : x);
  }

  std::string text() const {
    std::string result;
    const auto add = [&](const char* what, std::size_t a, std::size_t b) {
      result += std::string(what) + ' ' + std::to_string(a) + ' ' + std::to_string(b) + ", ";
    };
    result = std::to_string(element) + " bytes, symmetry " + std::to_string(static_cast<int>(how)) +
             (pointers ? ", pointers, " : ", ");
    add("nx and ny", nx, ny);
    add("batch", batch, 0);
    add("gaps of rows", in_gap, out_gap);
    add("of matrices", in_matrix_gap, out_matrix_gap);
    add("shifts", in_shift, out_shift);
    return result + "repeat with --rng-seed " + std::to_string(Catch::getSeed());
  }
};

/// Random bytes, guards around them.
class guarded_bytes {
 public:
  guarded_bytes(std::size_t bytes, std::size_t shift)
      : memory_(2 * guard + shift + bytes), first_(guard + shift) {
    fill(memory_);
  }
  unsigned char* data() { return memory_.data() + first_; }
  std::vector<unsigned char> copy() const {
    return {memory_.data(), memory_.data() + memory_.size()};
  }
  /// True where all bytes, guards too, are those of a copy in which `changes` of (data, element) has been made.
  bool is(const std::vector<unsigned char>& expected) const {
    return std::memcmp(memory_.data(), expected.data(), expected.size()) == 0;
  }
  std::size_t first() const { return first_; }

 private:
  static constexpr std::size_t guard = 256;
  tt::emulated_buffer<unsigned char> memory_;
  std::size_t first_;
};

/// Tells the device of the rows of a matrix, a byte an element; const ones may not be written.
template <class Byte>
void know(Byte* data, std::size_t rows, std::size_t row_bytes, std::size_t stride_bytes) {
  cpu::this_device().options.knows(tt::matrix_view<Byte>{data, rows, row_bytes, stride_bytes});
}

/// True where the last launch was one of the mover for little work: each access stands in one of its files.
inline bool took_little_mover() {
  for (const tt::access_report& access : cpu::this_device().last.accesses) {
    bool little = false;
    for (const char* file : {"element_tile.cuh", "small_kernel.cuh", "little_fused.cuh"}) {
      little = little || access.site.find(file) == 0;
    }
    if (!little) { return false; }
  }
  return cpu::this_device().launches > 0;
}

/// What a call is handed. Arrays of pointers where the case has them, else the first matrices.
struct little_pointers {
  unsigned char* out;
  const unsigned char* in;
  unsigned char* const* outs;
  const unsigned char* const* ins;
};

/// Runs launch(pointers): every byte of the output is as it should be, written once, and no other has been touched.
template <class Launch>
void check_little(const little_case& c, int most_ways, Launch launch) {
  guarded_bytes in(c.element * c.in_step() * c.batch, c.in_shift);
  guarded_bytes out(c.element * c.out_step() * c.batch, c.out_shift);
  cpu::this_device() = {};
  std::vector<unsigned char> expected = out.copy();
  const std::vector<unsigned char> before = in.copy();
  std::vector<const unsigned char*> ins;
  std::vector<unsigned char*> outs;
  for (std::size_t b = 0; b < c.batch; ++b) {
    ins.push_back(in.data() + c.in_at(b, 0, 0));
    outs.push_back(out.data() + c.out_at(b, 0, 0));
    know(ins.back(), c.ny, c.nx * c.element, c.in_stride() * c.element);
    know(outs.back(), c.out_rows(), c.out_cols() * c.element, c.out_stride() * c.element);
    for (std::size_t row = 0; row < c.out_rows(); ++row) {
      for (std::size_t col = 0; col < c.out_cols(); ++col) {
        std::memcpy(&expected[out.first() + c.out_at(b, row, col)],
                    &before[in.first() + c.source_of(b, row, col)], c.element);
      }
    }
  }
  const cudaError_t status =
      launch(little_pointers{out.data(), in.data(), outs.data(), ins.data()});
  const cpu::device& device = cpu::this_device();
  INFO(c.text() << '\n' << device.last.table());
  CHECK(status == cudaSuccess);
  CHECK(out.is(expected));
  CHECK(in.is(before));
  CHECK(device.faults == 0);
  CHECK(device.launches == 1);
  CHECK(device.stored == c.element * c.nx * c.ny * c.batch);
  CHECK(device.last.worst_ways() <= most_ways);
  CHECK(took_little_mover());
}

/// Sides beside the edges of tiles of 16 and 32, and others, up to 70.
inline std::size_t pick_side(random_numbers& random) {
  constexpr std::size_t sides[] = {9,  10, 12, 15, 16, 17, 20, 24, 31, 32,
                                   33, 34, 40, 47, 48, 49, 63, 64, 65, 70};
  return random.coin() ? random.between(9, 70)
                       : sides[random.between(0, sizeof(sides) / sizeof(sides[0]) - 1)];
}
