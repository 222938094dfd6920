// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels behind tt::transpose where the rows of the input, of the output or of both run backwards:
// a stride is a number modulo 2^64, so that it may be negative. Rotations are such transposes.

#include "support.cuh"

using namespace tt_test;

namespace {

// Each side: elements from row to row, and whether rows run backwards.
struct side {
  std::size_t stride;
  bool backwards;
  std::size_t misalignment;
};

struct backwards_transpose {
  element_type type;
  cudaError_t (*launch)(const tt::detail::batch_problem& problem);
};

template <int Bytes, int AccessBytes>
backwards_transpose make_backwards() {
  return {{std::to_string(Bytes) + " bytes by " + std::to_string(AccessBytes), Bytes, AccessBytes},
          [](const tt::detail::batch_problem& problem) {
            return tt::detail::transpose_problem<Bytes, AccessBytes, tt::detail::matrices::batch>(
                problem, nullptr);
          }};
}

const std::vector<backwards_transpose> transposes{make_backwards<1, 1>(),  make_backwards<2, 2>(),
                                                  make_backwards<3, 1>(),  make_backwards<4, 4>(),
                                                  make_backwards<8, 8>(),  make_backwards<12, 4>(),
                                                  make_backwards<16, 16>()};

// `rows` rows of `row_bytes` bytes in the opposite order.
byte_vector reversed_rows(const byte_vector& dense, std::size_t row_bytes) {
  byte_vector result;
  for (std::size_t at = dense.size(); at > 0; at -= row_bytes) {
    result.insert(result.end(), dense.begin() + static_cast<std::ptrdiff_t>(at - row_bytes),
                  dense.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return result;
}

// Matrices of a batch lie one behind the other, in increasing order.
void check(const backwards_transpose& t, shape s, std::size_t batch, side in_side, side out_side,
           random_source& random) {
  const std::size_t size = t.type.size;
  INFO(t.type.name << ", nx " << s.nx << ", ny " << s.ny << ", batch " << batch << ", strides "
                   << in_side.stride << (in_side.backwards ? " backwards" : "") << " -> "
                   << out_side.stride << (out_side.backwards ? " backwards" : "")
                   << ", misaligned by " << in_side.misalignment << " -> " << out_side.misalignment
                   << " bytes; repeat with --rng-seed " << Catch::getSeed());
  const std::size_t in_extent = (s.ny - 1) * in_side.stride + s.nx;
  const std::size_t out_extent = (s.nx - 1) * out_side.stride + s.ny;
  const std::size_t in_batch = s.ny * in_side.stride;
  const std::size_t out_batch = s.nx * out_side.stride;
  const byte_vector content = random.fill(((batch - 1) * in_batch + in_extent) * size);
  const input_buffer in{content, in_side.misalignment};
  output_buffer out{((batch - 1) * out_batch + out_extent) * size, out_side.misalignment, random};
  for (std::size_t b = 0; b < batch; ++b) {
    // As it lies, with rows from the lowest address on; a backward side turns the order of rows.
    byte_vector expected =
        transposed({content.data() + b * in_batch * size, s.ny, s.nx, in_side.stride, size});
    if (in_side.backwards) {  // the input's rows are the output's columns
      byte_vector turned;
      for (std::size_t row = 0; row < s.nx; ++row) {
        const auto first = expected.begin() + static_cast<std::ptrdiff_t>(row * s.ny * size);
        const byte_vector one{first, first + static_cast<std::ptrdiff_t>(s.ny * size)};
        const byte_vector back = reversed_rows(one, size);
        turned.insert(turned.end(), back.begin(), back.end());
      }
      expected = turned;
    }
    if (out_side.backwards) { expected = reversed_rows(expected, s.ny * size); }
    out.expect(b * out_batch * size, out_side.stride, {expected.data(), s.nx, s.ny, s.ny, size});
  }
  const std::size_t in_stride = in_side.stride * size;
  const std::size_t out_stride = out_side.stride * size;
  const tt::detail::batch_problem problem{
      {in.data() + (in_side.backwards ? (s.ny - 1) * in_stride : 0),
       out.data() + (out_side.backwards ? (s.nx - 1) * out_stride : 0),
       in_side.backwards ? 0 - in_stride : in_stride,
       out_side.backwards ? 0 - out_stride : out_stride, in_batch * size, out_batch * size, s.nx,
       s.ny, false},
      batch};
  out.poison();
  REQUIRE(t.launch(problem) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

// Either side backwards, and both; dense, and with `gap` elements between rows.
void check_ways(const backwards_transpose& t, shape s, std::size_t batch, std::size_t gap,
                random_source& random) {
  for (const std::size_t between : {std::size_t{0}, gap}) {
    for (int way = 1; way < 4; ++way) {
      check(t, s, batch, {s.nx + between, (way & 1) != 0, 0}, {s.ny + between, (way & 2) != 0, 0},
            random);
    }
  }
  const std::size_t unit = t.type.alignment;
  check(t, s, batch, {s.nx, true, unit}, {s.ny, true, 3 * unit}, random);
}

}  // namespace

TEST_CASE("backwards: every path at a small size", "[backwards][quick]") {
  for_each_type(transposes, [&](const backwards_transpose& t, random_source& random) {
    check_ways(t, {64, 128}, 1, 64, random);  // whole tiles, where the element has them
    check_ways(t, {71, 90}, 1, 5, random);    // tiles
    check_ways(t, {3, 300}, 1, 2, random);    // few columns
    check_ways(t, {300, 5}, 1, 2, random);    // few rows
    check_ways(t, {7, 9}, 20, 0, random);     // small matrices
  });
}

// Of 3 bytes, in rows of whole accesses: what no small matrix takes.
TEST_CASE("backwards: groups of elements", "[backwards][quick]") {
  require_device();
  random_source random;
  check_ways(make_backwards<3, 1>(), {2768, 160}, 2, 32, random);
}

TEST_CASE("backwards: random shapes and strides", "[backwards]") {
  for_each_type(transposes, [&](const backwards_transpose& t, random_source& random) {
    for (int i = 0; i < 20; ++i) {
      check_ways(t, {random.between(1, 400), random.between(1, 400)}, 1, random.between(1, 40),
                 random);
      check_ways(t, {random.between(1, 20), random.between(1, 5000)}, 1, random.between(1, 9),
                 random);
      check_ways(t, {random.between(1, 5000), random.between(1, 20)}, 1, random.between(1, 9),
                 random);
      check_ways(t, {random.between(1, 60), random.between(1, 60)}, random.between(2, 50), 0,
                 random);
    }
  });
}
