// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::reorient_batched in its three forms, contiguous, strided and arrays of pointers, for every
// symmetry.

#include "symmetries.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

// Where the matrices of a batch lie, in bytes from the first byte of their buffer.
struct batch_placement {
  std::vector<std::size_t> in, out;
  std::size_t in_misalignment = 0, out_misalignment = 0;
};

std::vector<std::size_t> evenly(std::size_t batch, std::size_t distance) {
  std::vector<std::size_t> result(batch);
  for (std::size_t i = 0; i < batch; ++i) result[i] = i * distance;
  return result;
}

// Every matrix somewhere, in no order, at any alignment that the type allows.
std::vector<std::size_t> scattered(std::size_t batch, std::size_t size, std::size_t alignment,
                                   random_source& random) {
  std::vector<std::size_t> result(batch);
  std::size_t next = 0;
  for (std::size_t& first : result) {
    first = next + alignment * random.between(0, 3);
    next = first + (size + alignment - 1) / alignment * alignment;
  }
  for (std::size_t i = batch; i > 1; --i)
    std::swap(result[i - 1], result[random.between(0, i - 1)]);
  return result;
}

template <class Launch>
void check_batch(const char* form, const element_type& type, symmetry how, shape s,
                 const batch_placement& p, random_source& random, Launch launch) {
  INFO(form << ", " << describe(type, how, s) << ", batch " << p.in.size() << ", misaligned by "
            << p.in_misalignment << " -> " << p.out_misalignment
            << " bytes; repeat with --rng-seed " << Catch::getSeed());
  const shape t = reoriented(s, how);
  const std::size_t matrix = s.nx * s.ny * type.size;
  const std::size_t in_size = *std::max_element(p.in.begin(), p.in.end()) + matrix;
  const std::size_t out_size = *std::max_element(p.out.begin(), p.out.end()) + matrix;
  const byte_vector content = random.fill(in_size);
  const input_buffer in{content, p.in_misalignment};
  output_buffer out{out_size, p.out_misalignment, random};
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    const byte_vector expected =
        reoriented({content.data() + p.in[i], s.ny, s.nx, s.nx, type.size}, how);
    out.expect(p.out[i], t.nx, {expected.data(), t.ny, t.nx, t.nx, type.size});
  }
  out.poison();
  REQUIRE(launch(out.data(), in.data()) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

void check_contiguous(const symmetry_calls& c, symmetry how, shape s, std::size_t batch,
                      random_source& random, std::size_t in_misalignment = 0,
                      std::size_t out_misalignment = 0) {
  const std::size_t matrix = s.nx * s.ny * c.type.size;
  check_batch("contiguous", c.type, how, s,
              {evenly(batch, matrix), evenly(batch, matrix), in_misalignment, out_misalignment},
              random,
              [&](std::byte* out, const std::byte* in) { return c.batch(out, in, s, batch, how); });
}

// With `in_gap` and `out_gap` elements between two matrices.
void check_strided(const symmetry_calls& c, symmetry how, shape s, std::size_t batch,
                   std::size_t in_gap, std::size_t out_gap, random_source& random,
                   std::size_t in_misalignment = 0, std::size_t out_misalignment = 0) {
  const std::size_t in_stride = s.nx * s.ny + in_gap;
  const std::size_t out_stride = s.nx * s.ny + out_gap;
  check_batch("strided", c.type, how, s,
              {evenly(batch, in_stride * c.type.size), evenly(batch, out_stride * c.type.size),
               in_misalignment, out_misalignment},
              random, [&](std::byte* out, const std::byte* in) {
                return c.strided_batch(out, out_stride, in, in_stride, s, batch, how);
              });
}

// The device array of base + offsets[i].
template <class Byte>
input_buffer pointers(Byte* base, const std::vector<std::size_t>& offsets) {
  byte_vector array(offsets.size() * sizeof base);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    Byte* const p = base + offsets[i];
    std::memcpy(&array[i * sizeof p], &p, sizeof p);
  }
  return input_buffer{std::move(array)};
}

void check_pointers(const symmetry_calls& c, symmetry how, shape s, std::size_t batch,
                    random_source& random) {
  const std::size_t matrix = s.nx * s.ny * c.type.size;
  const batch_placement p{scattered(batch, matrix, c.type.alignment, random),
                          scattered(batch, matrix, c.type.alignment, random)};
  check_batch("pointers", c.type, how, s, p, random, [&](std::byte* out, const std::byte* in) {
    const input_buffer outs = pointers(out, p.out);
    const input_buffer ins = pointers(in, p.in);
    const cudaError_t status = c.pointer_batch(outs.data(), ins.data(), s, batch, how);
    // The arrays have to outlive the kernel.
    const cudaError_t end = cudaDeviceSynchronize();
    return status == cudaSuccess ? end : status;
  });
}

void check_every_form(const symmetry_calls& c, symmetry how, shape s, std::size_t batch,
                      random_source& random) {
  check_contiguous(c, how, s, batch, random);
  check_strided(c, how, s, batch, random.between(0, 9), random.between(0, 9), random);
  check_pointers(c, how, s, batch, random);
}

void check_quick(std::size_t size) {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    if (c.type.size != size) continue;
    for (const symmetry how : every_symmetry) {
      check_every_form(c, how, {33, 21}, 3, random);
      check_contiguous(c, how, {1, 5}, 4, random);
      // Rows of more than a block, and matrices too large to be staged whole.
      check_contiguous(c, how, {9000 / c.type.size, 7}, 2, random);
      check_pointers(c, how, {130, 1040 / c.type.size + 59}, 2, random);
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
  require_device();
  random_source random;
  const shape shapes[] = {{1, 1},   {1, 5},   {5, 1},     {2, 2},     {3, 5},    {7, 9},   {8, 8},
                          {17, 31}, {32, 32}, {33, 33},   {64, 2},    {2, 64},   {64, 64}, {65, 63},
                          {3, 999}, {999, 3}, {128, 128}, {129, 257}, {8065, 2}, {4097, 3}};
  for (const symmetry_calls& c : plain_calls()) {
    DYNAMIC_SECTION(c.type.name) {
      for (const shape s : shapes) {
        for (const std::size_t batch : {1, 2, 7}) {
          for (const symmetry how : every_symmetry) check_every_form(c, how, s, batch, random);
        }
      }
    }
  }
}

TEST_CASE("reorient batched: every element type", "[batched]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : every_call()) {
    DYNAMIC_SECTION(c.type.name) {
      for (const symmetry how : every_symmetry) {
        check_every_form(c, how, {45, 34}, 5, random);
        check_every_form(c, how, {5, 3}, 60, random);
      }
    }
  }
}

TEST_CASE("reorient batched: a thousand small matrices", "[batched]") {
  require_device();
  random_source random;
  const shape shapes[] = {{1, 1}, {2, 3}, {1, 8}, {8, 1}, {8, 8}, {31, 17}, {3, 100}};
  for (const symmetry_calls& c : plain_calls()) {
    DYNAMIC_SECTION(c.type.name) {
      for (const shape s : shapes) {
        for (const symmetry how : every_symmetry) {
          if (s.nx * s.ny * c.type.size <= 4096) check_every_form(c, how, s, 1000, random);
        }
      }
    }
  }
}

// A grid that counts matrices in y or z would end at 65535 of them.
TEST_CASE("reorient batched: 70000 matrices", "[batched]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    if (c.type.size > 4) continue;
    DYNAMIC_SECTION(c.type.name) {
      for (const symmetry how : every_symmetry) check_every_form(c, how, {3, 5}, 70000, random);
    }
  }
}

TEST_CASE("reorient batched: random shapes batches gaps and alignments", "[batched]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    DYNAMIC_SECTION(c.type.name) {
      const std::size_t most = 64 / c.type.alignment;
      for (int i = 0; i < 80; ++i) {
        const symmetry how = every_symmetry[random.between(0, 7)];
        const shape s{random.between(1, 90), random.between(1, 90)};
        const std::size_t batch = random.between(1, 60);
        const std::size_t in = c.type.alignment * random.between(0, most);
        const std::size_t out = c.type.alignment * random.between(0, most);
        check_contiguous(c, how, s, batch, random, in, out);
        check_strided(c, how, s, batch, random.between(0, 40), random.between(0, 40), random, in,
                      out);
        check_pointers(c, how, s, batch, random);
      }
    }
  }
}
