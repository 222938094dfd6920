// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::reorient_batched in its three forms, contiguous, strided and arrays of pointers, for every
// symmetry.

#include "batches.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

batch_calls batches_of(const symmetry_calls& c, symmetry how) {
  return {c.type, how, c.batch, c.strided_batch, c.pointer_batch};
}

void check_every_form(const batch_calls& c, shape s, std::size_t batch, random_source& random) {
  check_contiguous(c, s, batch, random);
  check_strided(c, s, batch, random.between(0, 9), random.between(0, 9), random);
  check_scattered(c, s, batch, random);
}

void check_quick(std::size_t size) {
  require_device();
  random_source random;
  for (const symmetry_calls& c : between(plain_calls(), size, size)) {
    for (const symmetry how : every_symmetry) {
      const batch_calls b = batches_of(c, how);
      check_every_form(b, {33, 21}, 3, random);
      check_contiguous(b, {1, 5}, 4, random);
      // Rows of more than a block, and matrices too large to be staged whole.
      check_contiguous(b, {9000 / c.type.size, 7}, 2, random);
      check_scattered(b, {130, 1040 / c.type.size + 59}, 2, random);
    }
  }
}

}  // namespace

TEST_CASE("reorient batched: every path, 1 byte", "[batched][quick]") { check_quick(1); }
TEST_CASE("reorient batched: every path, 2 bytes", "[batched][quick]") { check_quick(2); }
TEST_CASE("reorient batched: every path, 3 bytes", "[batched][quick]") { check_quick(3); }
TEST_CASE("reorient batched: every path, 4 bytes", "[batched][quick]") { check_quick(4); }
TEST_CASE("reorient batched: every path, 8 bytes", "[batched][quick]") { check_quick(8); }
TEST_CASE("reorient batched: every path, 12 bytes", "[batched][quick]") { check_quick(12); }
TEST_CASE("reorient batched: every path, 16 bytes", "[batched][quick]") { check_quick(16); }
TEST_CASE("reorient batched: every path, 64 bytes", "[batched][quick]") { check_quick(64); }

TEST_CASE("reorient batched: a few matrices of every shape", "[batched]") {
  const shape shapes[] = {{1, 1},   {1, 5},   {5, 1},     {2, 2},     {3, 5},    {7, 9},   {8, 8},
                          {17, 31}, {32, 32}, {33, 33},   {64, 2},    {2, 64},   {64, 64}, {65, 63},
                          {3, 999}, {999, 3}, {128, 128}, {129, 257}, {8065, 2}, {4097, 3}};
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (const shape s : shapes) {
      for (const std::size_t batch : {1, 2, 7}) {
        for (const symmetry how : every_symmetry)
          check_every_form(batches_of(c, how), s, batch, random);
      }
    }
  });
}

TEST_CASE("reorient batched: every element type", "[batched]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (const symmetry how : every_symmetry) {
      check_every_form(batches_of(c, how), {45, 34}, 5, random);
      check_every_form(batches_of(c, how), {5, 3}, 60, random);
    }
  });
}

TEST_CASE("reorient batched: a thousand small matrices", "[batched]") {
  const shape shapes[] = {{1, 1}, {2, 3}, {1, 8}, {8, 1}, {8, 8}, {31, 17}, {3, 100}};
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (const shape s : shapes) {
      for (const symmetry how : every_symmetry) {
        if (s.nx * s.ny * c.type.size <= 4096)
          check_every_form(batches_of(c, how), s, 1000, random);
      }
    }
  });
}

// A grid that counts matrices in y or z would end at 65535 of them.
TEST_CASE("reorient batched: 70000 matrices", "[batched]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    if (c.type.size > 4) continue;
    DYNAMIC_SECTION(c.type.name) {
      for (const symmetry how : every_symmetry)
        check_every_form(batches_of(c, how), {3, 5}, 70000, random);
    }
  }
}

TEST_CASE("reorient batched: random shapes batches gaps and alignments", "[batched]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    const std::size_t most = 64 / c.type.alignment;
    for (int i = 0; i < 80; ++i) {
      const batch_calls b = batches_of(c, every_symmetry[random.between(0, 7)]);
      const shape s{random.between(1, 90), random.between(1, 90)};
      const std::size_t batch = random.between(1, 60);
      const std::size_t in = c.type.alignment * random.between(0, most);
      const std::size_t out = c.type.alignment * random.between(0, most);
      check_contiguous(b, s, batch, random, in, out);
      check_strided(b, s, batch, random.between(0, 40), random.between(0, 40), random, in, out);
      check_scattered(b, s, batch, random);
    }
  });
}
