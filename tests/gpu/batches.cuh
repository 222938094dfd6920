// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of batches share: where matrices lie, arrays of pointers to them, one check of a call.
#pragma once

#include "symmetries.cuh"

namespace tt_test {

// Where the matrices of a batch lie, in bytes from the first byte of their buffer.
struct batch_placement {
  std::vector<std::size_t> in, out;
  std::size_t in_misalignment = 0, out_misalignment = 0;
};

inline std::vector<std::size_t> evenly(std::size_t batch, std::size_t distance) {
  std::vector<std::size_t> result(batch);
  for (std::size_t i = 0; i < batch; ++i) result[i] = i * distance;
  return result;
}

// Every matrix somewhere, in no order, at any alignment that the type allows.
inline std::vector<std::size_t> scattered(std::size_t batch, std::size_t size,
                                          std::size_t alignment, random_source& random) {
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

// Lays a batch of random matrices down with `launch(out, in)` and checks every byte within reach.
template <class Launch>
void check_batch(const char* form, const element_type& type, tt::symmetry how, shape s,
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

// ---------------------------------------------------- the three forms

// A call on batches in its three forms, its types erased. Strides in elements; outs and ins: device arrays of
// pointers.
struct batch_calls {
  element_type type;
  tt::symmetry how;
  cudaError_t (*contiguous)(std::byte* out, const std::byte* in, shape s, std::size_t batch,
                            tt::symmetry how);
  cudaError_t (*strided)(std::byte* out, std::size_t out_stride, const std::byte* in,
                         std::size_t in_stride, shape s, std::size_t batch, tt::symmetry how);
  cudaError_t (*pointers)(const std::byte* outs, const std::byte* ins, shape s, std::size_t batch,
                          tt::symmetry how);
};

inline void check_contiguous(const batch_calls& c, shape s, std::size_t batch,
                             random_source& random, std::size_t in_misalignment = 0,
                             std::size_t out_misalignment = 0) {
  const std::size_t matrix = s.nx * s.ny * c.type.size;
  check_batch(
      "contiguous", c.type, c.how, s,
      {evenly(batch, matrix), evenly(batch, matrix), in_misalignment, out_misalignment}, random,
      [&](std::byte* out, const std::byte* in) { return c.contiguous(out, in, s, batch, c.how); });
}

// With `in_gap` and `out_gap` elements between two matrices.
inline void check_strided(const batch_calls& c, shape s, std::size_t batch, std::size_t in_gap,
                          std::size_t out_gap, random_source& random,
                          std::size_t in_misalignment = 0, std::size_t out_misalignment = 0) {
  const std::size_t in_stride = s.nx * s.ny + in_gap;
  const std::size_t out_stride = s.nx * s.ny + out_gap;
  check_batch("strided", c.type, c.how, s,
              {evenly(batch, in_stride * c.type.size), evenly(batch, out_stride * c.type.size),
               in_misalignment, out_misalignment},
              random, [&](std::byte* out, const std::byte* in) {
                return c.strided(out, out_stride, in, in_stride, s, batch, c.how);
              });
}

inline void check_pointers(const batch_calls& c, shape s, const batch_placement& p,
                           random_source& random) {
  check_batch("pointers", c.type, c.how, s, p, random, [&](std::byte* out, const std::byte* in) {
    const input_buffer outs = pointers(out, p.out);
    const input_buffer ins = pointers(in, p.in);
    const cudaError_t status = c.pointers(outs.data(), ins.data(), s, p.in.size(), c.how);
    // The arrays have to outlive the kernel.
    const cudaError_t end = cudaDeviceSynchronize();
    return status == cudaSuccess ? end : status;
  });
}

inline void check_scattered(const batch_calls& c, shape s, std::size_t batch,
                            random_source& random) {
  const std::size_t matrix = s.nx * s.ny * c.type.size;
  check_pointers(c, s,
                 {scattered(batch, matrix, c.type.alignment, random),
                  scattered(batch, matrix, c.type.alignment, random)},
                 random);
}

}  // namespace tt_test
