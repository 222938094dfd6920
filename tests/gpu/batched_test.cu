// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose_batched in its three forms: contiguous, strided, arrays of pointers.

#include "batches.cuh"

using namespace tt_test;

namespace {

template <class T>
batch_calls make_batched(std::string name) {
  return {
      describe<T>(std::move(name)), tt::symmetry::transpose,
      [](std::byte* out, const std::byte* in, shape s, std::size_t batch, tt::symmetry) {
        return tt::transpose_batched(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in),
                                     s.nx, s.ny, batch);
      },
      [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
         shape s, std::size_t batch, tt::symmetry) {
        return tt::transpose_batched(reinterpret_cast<T*>(out), out_stride,
                                     reinterpret_cast<const T*>(in), in_stride, s.nx, s.ny, batch);
      },
      [](const std::byte* outs, const std::byte* ins, shape s, std::size_t batch, tt::symmetry) {
        return tt::transpose_batched(reinterpret_cast<T* const*>(outs),
                                     reinterpret_cast<const T* const*>(ins), s.nx, s.ny, batch);
      }};
}

const std::vector<batch_calls> transposes{
    make_batched<bytes<1>>("1 byte"),
    make_batched<std::uint16_t>("std::uint16_t"),
    make_batched<bytes<3>>("3 bytes"),
    make_batched<float>("float"),
    make_batched<double>("double"),
    make_batched<float_triple>("float_triple"),
    make_batched<aligned_quad>("aligned_quad"),
    make_batched<bytes<64>>("64 bytes"),
};

// Every matrix on a 16-byte boundary, so that wide accesses are open to it.
void check_aligned_pointers(const batch_calls& t, shape s, std::size_t batch,
                            random_source& random) {
  const std::size_t distance = (s.nx * s.ny * t.type.size + 31) / 16 * 16;
  check_pointers(t, s, {evenly(batch, distance), evenly(batch, distance)}, random);
}

void check_every_form(const batch_calls& t, shape s, std::size_t batch, random_source& random) {
  check_contiguous(t, s, batch, random);
  check_strided(t, s, batch, random.between(0, 9), random.between(0, 9), random);
  check_scattered(t, s, batch, random);
  check_aligned_pointers(t, s, batch, random);
}

}  // namespace

TEST_CASE("batched: every path at a small size", "[batched][quick]") {
  for_each_type(transposes, [&](const batch_calls& t, random_source& random) {
    for (const shape s : {shape{1, 1}, shape{3, 5}, shape{8, 8}, shape{33, 31}, shape{64, 64}}) {
      check_every_form(t, s, 3, random);
    }
    check_every_form(t, {3, 150}, 2, random);
    check_every_form(t, {150, 3}, 2, random);
    check_every_form(t, {128, 128}, 2, random);
    // Too large to be copied whole: rows that are short, rows that are long, whole accesses.
    check_every_form(t, {130, 1000 / t.type.size}, 2, random);
    check_every_form(t, {130, 1040 / t.type.size + 259}, 2, random);
    check_every_form(t, {256, 256}, 2, random);
    check_contiguous(t, {8, 8}, 100, random, t.type.alignment, 3 * t.type.alignment);
    // Several matrices a panel: even rows with pads between them, odd ones without; matrices that lie alike,
    // and such that start at every place of a word; rounds of columns and of whole matrices.
    for (const shape s : {shape{64, 64}, shape{60, 100}, shape{101, 99}, shape{12, 13}}) {
      check_contiguous(t, s, 9, random);
      check_contiguous(t, s, 9, random, t.type.alignment, 3 * t.type.alignment);
      check_strided(t, s, 9, 3, 5, random, t.type.alignment, 0);
    }
    // Words of small elements that start at every row: panels that are full and not, two matrices in a word, and
    // one matrix of a size that needs more shared memory than a block has without asking.
    for (const shape s : {shape{49, 51}, shape{24, 25}, shape{40, 13}, shape{50, 50}}) {
      check_contiguous(t, s, 11, random, 3 * t.type.alignment, t.type.alignment);
    }
    check_contiguous(t, {201, 199}, 2, random, t.type.alignment, 5 * t.type.alignment);
    // Matrices of so many bytes that their output is transposed in parts, which share words.
    if (t.type.size <= 2) {
      for (const shape s : {shape{251, 253 / t.type.size}, shape{199, 201 / t.type.size},
                            shape{301, 293 / t.type.size}}) {
        check_contiguous(t, s, 2, random, 3 * t.type.alignment, t.type.alignment);
      }
    }
    // Micro-blocks: many matrices a panel, some rows or some columns of one, and panels that are not full.
    check_contiguous(t, {4, 8}, 600, random);
    check_contiguous(t, {60, 52}, 7, random);
    for (const shape s : {shape{12, 1360}, shape{1360, 12}, shape{48, 272}, shape{272, 48}}) {
      check_contiguous(t, s, 2, random);
      check_strided(t, s, 2, 16, 32, random);
    }
    if (t.type.size <= 8) { check_every_form(t, {250, 1000 / t.type.size}, 2, random); }
    // Each of the tiniest matrices takes more shared memory than it has bytes where gaps part them.
    if (t.type.size <= 2) { check_strided(t, {1, 2}, 20000, 1, 0, random); }
  });
}

TEST_CASE("batched: a few matrices of every shape", "[batched]") {
  const shape shapes[] = {{1, 1},    {1, 5},     {5, 1},     {2, 2},     {3, 5},     {4, 4},
                          {7, 9},    {8, 8},     {16, 16},   {17, 31},   {31, 33},   {32, 32},
                          {33, 33},  {64, 2},    {2, 64},    {64, 64},   {65, 63},   {3, 1000},
                          {1000, 3}, {127, 129}, {128, 128}, {256, 256}, {257, 129}, {129, 257}};
  for_each_type(transposes, [&](const batch_calls& t, random_source& random) {
    for (const shape s : shapes) {
      for (const std::size_t batch : {1, 2, 7}) check_every_form(t, s, batch, random);
    }
    for (const std::size_t row_bytes : {200, 400, 600, 1000, 1024, 1100}) {
      check_every_form(t, {130, row_bytes / t.type.size}, 3, random);
    }
  });
}

// More than little work of matrices that no panel holds: word-shifted panels of some of their columns, or of some rows.
TEST_CASE("batched: few rows and few columns of bytes and halves", "[batched][quick]") {
  for_each_type(transposes, [&](const batch_calls& t, random_source& random) {
    if (t.type.size > 2) { return; }
    for (const shape s : {shape{1001, 447 / t.type.size}, shape{290, 599 / t.type.size},
                          shape{24001, 11}, shape{832 / t.type.size, 132}, shape{152, 1160}}) {
      const std::size_t batch = (18 << 20) / (s.nx * s.ny * t.type.size);
      check_contiguous(t, s, batch, random);
      check_contiguous(t, s, batch, random, 3 * t.type.alignment, t.type.alignment);
      check_strided(t, s, batch, random.between(0, 9), random.between(0, 9), random);
    }
  });
}

TEST_CASE("batched: a thousand small matrices", "[batched]") {
  const shape shapes[] = {{1, 1}, {2, 3}, {3, 5}, {8, 8}, {16, 16}, {31, 17}, {32, 32}, {3, 100}};
  for_each_type(transposes, [&](const batch_calls& t, random_source& random) {
    for (const shape s : shapes) {
      if (s.nx * s.ny * t.type.size <= 8192) check_every_form(t, s, 1000, random);
    }
  });
}

// A grid that counts matrices in y or z would end at 65535 of them.
TEST_CASE("batched: 70000 matrices", "[batched]") {
  require_device();
  random_source random;
  for (const batch_calls& t : transposes) {
    if (t.type.size > 8) continue;
    DYNAMIC_SECTION(t.type.name) {
      check_every_form(t, {8, 8}, 70000, random);
      check_every_form(t, {3, 5}, 70000, random);
    }
  }
}

// Output rows that are sectors, or begin inside of them. Of words four million and more go in other blocks than fewer, and of
// bytes and halves 32 and 64 MB are the limits.
TEST_CASE("batched: more than little work in the tiles of little work and in micro-blocks",
          "[batched]") {
  for_each_type(transposes, [&](const batch_calls& t, random_source& random) {
    for (const shape s : {shape{44, 96}, shape{100, 64}, shape{57, 160}, shape{160, 44}}) {
      const std::size_t bytes = s.nx * s.ny * t.type.size;
      for (const std::size_t all : {std::size_t{15} << 20, std::size_t{18} << 20}) {
        check_contiguous(t, s, all / bytes, random);
        check_aligned_pointers(t, s, all / bytes, random);
      }
    }
    if (t.type.size <= 2) {
      check_contiguous(t, {280, 448}, (std::size_t{36} << 20) / (280 * 448 * t.type.size), random);
      check_contiguous(t, {288, 448}, (std::size_t{68} << 20) / (288 * 448 * t.type.size), random);
      check_contiguous(t, {280, 452}, (std::size_t{36} << 20) / (280 * 452 * t.type.size), random);
    }
  });
}

TEST_CASE("batched: random shapes batches gaps and alignments", "[batched]") {
  for_each_type(transposes, [&](const batch_calls& t, random_source& random) {
    const std::size_t most = 64 / t.type.alignment;
    for (int i = 0; i < 30; ++i) {
      const shape s{random.between(1, 90), random.between(1, 90)};
      const std::size_t batch = random.between(1, 60);
      const std::size_t in = t.type.alignment * random.between(0, most);
      const std::size_t out = t.type.alignment * random.between(0, most);
      check_contiguous(t, s, batch, random, in, out);
      check_strided(t, s, batch, random.between(0, 40), random.between(0, 40), random, in, out);
      check_scattered(t, s, batch, random);
    }
  });
}
