// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose_batched in its three forms: contiguous, strided, arrays of pointers.

#include "support.cuh"

using namespace tt_test;

namespace {

struct batched_transpose {
  element_type type;
  cudaError_t (*contiguous)(std::byte* out, const std::byte* in, shape s, std::size_t batch);
  cudaError_t (*strided)(std::byte* out, std::size_t out_stride, const std::byte* in,
                         std::size_t in_stride, shape s, std::size_t batch);
  cudaError_t (*pointers)(const std::byte* outs, const std::byte* ins, shape s, std::size_t batch);
};

template <class T>
batched_transpose make_batched(std::string name) {
  return {describe<T>(std::move(name)),
          [](std::byte* out, const std::byte* in, shape s, std::size_t batch) {
            return tt::transpose_batched(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in),
                                         s.nx, s.ny, batch);
          },
          [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
             shape s, std::size_t batch) {
            return tt::transpose_batched(reinterpret_cast<T*>(out), out_stride,
                                         reinterpret_cast<const T*>(in), in_stride, s.nx, s.ny,
                                         batch);
          },
          [](const std::byte* outs, const std::byte* ins, shape s, std::size_t batch) {
            return tt::transpose_batched(reinterpret_cast<T* const*>(outs),
                                         reinterpret_cast<const T* const*>(ins), s.nx, s.ny, batch);
          }};
}

const std::vector<batched_transpose> transposes{
    make_batched<bytes<1>>("1 byte"),
    make_batched<std::uint16_t>("std::uint16_t"),
    make_batched<bytes<3>>("3 bytes"),
    make_batched<float>("float"),
    make_batched<double>("double"),
    make_batched<float_triple>("float_triple"),
    make_batched<aligned_quad>("aligned_quad"),
    make_batched<bytes<64>>("64 bytes"),
};

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
void check_batch(const char* form, const element_type& type, shape s, const batch_placement& p,
                 random_source& random, Launch launch) {
  INFO(form << ", " << type.name << ", nx " << s.nx << ", ny " << s.ny << ", batch " << p.in.size()
            << ", misaligned by " << p.in_misalignment << " -> " << p.out_misalignment
            << " bytes; repeat with --rng-seed " << Catch::getSeed());
  const std::size_t matrix = s.nx * s.ny * type.size;
  const std::size_t in_size = *std::max_element(p.in.begin(), p.in.end()) + matrix;
  const std::size_t out_size = *std::max_element(p.out.begin(), p.out.end()) + matrix;
  const byte_vector content = random.fill(in_size);
  const input_buffer in{content, p.in_misalignment};
  output_buffer out{out_size, p.out_misalignment, random};
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    const byte_vector expected =
        transposed({content.data() + p.in[i], s.ny, s.nx, s.nx, type.size});
    out.expect(p.out[i], s.ny, {expected.data(), s.nx, s.ny, s.ny, type.size});
  }
  out.poison();
  REQUIRE(launch(out.data(), in.data()) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

void check_contiguous(const batched_transpose& t, shape s, std::size_t batch, random_source& random,
                      std::size_t in_misalignment = 0, std::size_t out_misalignment = 0) {
  const std::size_t matrix = s.nx * s.ny * t.type.size;
  check_batch("contiguous", t.type, s,
              {evenly(batch, matrix), evenly(batch, matrix), in_misalignment, out_misalignment},
              random,
              [&](std::byte* out, const std::byte* in) { return t.contiguous(out, in, s, batch); });
}

// With `in_gap` and `out_gap` elements between two matrices.
void check_strided(const batched_transpose& t, shape s, std::size_t batch, std::size_t in_gap,
                   std::size_t out_gap, random_source& random, std::size_t in_misalignment = 0,
                   std::size_t out_misalignment = 0) {
  const std::size_t in_stride = s.nx * s.ny + in_gap;
  const std::size_t out_stride = s.nx * s.ny + out_gap;
  check_batch("strided", t.type, s,
              {evenly(batch, in_stride * t.type.size), evenly(batch, out_stride * t.type.size),
               in_misalignment, out_misalignment},
              random, [&](std::byte* out, const std::byte* in) {
                return t.strided(out, out_stride, in, in_stride, s, batch);
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

void check_pointers(const batched_transpose& t, shape s, const batch_placement& p,
                    random_source& random) {
  check_batch("pointers", t.type, s, p, random, [&](std::byte* out, const std::byte* in) {
    const input_buffer outs = pointers(out, p.out);
    const input_buffer ins = pointers(in, p.in);
    const cudaError_t status = t.pointers(outs.data(), ins.data(), s, p.in.size());
    // The arrays have to outlive the kernel.
    const cudaError_t end = cudaDeviceSynchronize();
    return status == cudaSuccess ? end : status;
  });
}

void check_scattered(const batched_transpose& t, shape s, std::size_t batch,
                     random_source& random) {
  const std::size_t matrix = s.nx * s.ny * t.type.size;
  check_pointers(t, s,
                 {scattered(batch, matrix, t.type.alignment, random),
                  scattered(batch, matrix, t.type.alignment, random), 0, 0},
                 random);
}

// Every matrix on a 16-byte boundary, so that wide accesses are open to it.
void check_aligned_pointers(const batched_transpose& t, shape s, std::size_t batch,
                            random_source& random) {
  const std::size_t distance = (s.nx * s.ny * t.type.size + 31) / 16 * 16;
  check_pointers(t, s, {evenly(batch, distance), evenly(batch, distance), 0, 0}, random);
}

void check_every_form(const batched_transpose& t, shape s, std::size_t batch,
                      random_source& random) {
  check_contiguous(t, s, batch, random);
  check_strided(t, s, batch, random.between(0, 9), random.between(0, 9), random);
  check_scattered(t, s, batch, random);
  check_aligned_pointers(t, s, batch, random);
}

}  // namespace

TEST_CASE("batched: every path at a small size", "[batched][quick]") {
  require_device();
  random_source random;
  for (const batched_transpose& t : transposes) {
    DYNAMIC_SECTION(t.type.name) {
      for (const shape s : {shape{1, 1}, shape{3, 5}, shape{8, 8}, shape{33, 31}, shape{64, 64}}) {
        check_every_form(t, s, 3, random);
      }
      check_every_form(t, {3, 150}, 2, random);
      check_every_form(t, {150, 3}, 2, random);
      check_every_form(t, {128, 128}, 2, random);
      // Too large to be staged whole: rows that are short, rows that are long, whole accesses.
      check_every_form(t, {130, 1000 / t.type.size}, 2, random);
      check_every_form(t, {130, 1040 / t.type.size + 259}, 2, random);
      check_every_form(t, {256, 256}, 2, random);
      check_contiguous(t, {8, 8}, 100, random, t.type.alignment, 3 * t.type.alignment);
      // Several matrices a box: even rows with pads between them, odd ones without; matrices that lie alike,
      // and such that start at every place of a word; rounds of columns and of whole matrices.
      for (const shape s : {shape{64, 64}, shape{60, 100}, shape{101, 99}, shape{12, 13}}) {
        check_contiguous(t, s, 9, random);
        check_contiguous(t, s, 9, random, t.type.alignment, 3 * t.type.alignment);
        check_strided(t, s, 9, 3, 5, random, t.type.alignment, 0);
      }
      // Micro-blocks: many matrices a box, some rows or some columns of one, and boxes that are not full.
      check_contiguous(t, {4, 8}, 600, random);
      check_contiguous(t, {60, 52}, 7, random);
      for (const shape s : {shape{12, 1360}, shape{1360, 12}, shape{48, 272}, shape{272, 48}}) {
        check_contiguous(t, s, 2, random);
        check_strided(t, s, 2, 16, 32, random);
      }
      if (t.type.size <= 8) { check_every_form(t, {250, 1000 / t.type.size}, 2, random); }
      // Each of the tiniest matrices takes more shared memory than it has bytes where gaps part them.
      if (t.type.size <= 2) { check_strided(t, {1, 2}, 20000, 1, 0, random); }
    }
  }
}

TEST_CASE("batched: a few matrices of every shape", "[batched]") {
  require_device();
  random_source random;
  const shape shapes[] = {{1, 1},    {1, 5},     {5, 1},     {2, 2},     {3, 5},     {4, 4},
                          {7, 9},    {8, 8},     {16, 16},   {17, 31},   {31, 33},   {32, 32},
                          {33, 33},  {64, 2},    {2, 64},    {64, 64},   {65, 63},   {3, 1000},
                          {1000, 3}, {127, 129}, {128, 128}, {256, 256}, {257, 129}, {129, 257}};
  for (const batched_transpose& t : transposes) {
    DYNAMIC_SECTION(t.type.name) {
      for (const shape s : shapes) {
        for (const std::size_t batch : {1, 2, 7}) check_every_form(t, s, batch, random);
      }
      for (const std::size_t row_bytes : {200, 400, 600, 1000, 1024, 1100}) {
        check_every_form(t, {130, row_bytes / t.type.size}, 3, random);
      }
    }
  }
}

TEST_CASE("batched: a thousand small matrices", "[batched]") {
  require_device();
  random_source random;
  const shape shapes[] = {{1, 1}, {2, 3}, {3, 5}, {8, 8}, {16, 16}, {31, 17}, {32, 32}, {3, 100}};
  for (const batched_transpose& t : transposes) {
    DYNAMIC_SECTION(t.type.name) {
      for (const shape s : shapes) {
        if (s.nx * s.ny * t.type.size <= 8192) check_every_form(t, s, 1000, random);
      }
    }
  }
}

// A grid that counts matrices in y or z would end at 65535 of them.
TEST_CASE("batched: 70000 matrices", "[batched]") {
  require_device();
  random_source random;
  for (const batched_transpose& t : transposes) {
    if (t.type.size > 8) continue;
    DYNAMIC_SECTION(t.type.name) {
      check_every_form(t, {8, 8}, 70000, random);
      check_every_form(t, {3, 5}, 70000, random);
    }
  }
}

TEST_CASE("batched: random shapes batches gaps and alignments", "[batched]") {
  require_device();
  random_source random;
  for (const batched_transpose& t : transposes) {
    DYNAMIC_SECTION(t.type.name) {
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
    }
  }
}
