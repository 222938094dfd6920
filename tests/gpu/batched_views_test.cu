// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batches of pitched matrices, one behind the other and side by side, and fused calls in batches.

#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>

#include "symmetries.cuh"

using namespace tt_test;

namespace {

// Rows that are `gap` elements further apart than they are long; `between` elements between two matrices.
struct layout {
  std::size_t gap = 0;
  std::size_t between = 0;
  bool side_by_side = false;
  std::size_t misalignment = 0;  // elements

  std::size_t stride(shape s, std::size_t batch) const {
    return gap + (side_by_side ? batch * (s.nx + between) : s.nx);
  }
  std::size_t step(shape s, std::size_t batch) const {
    return side_by_side ? s.nx + between : (s.ny - 1) * stride(s, batch) + s.nx + between;
  }
  std::size_t size(shape s, std::size_t batch) const {
    return (s.ny - 1) * stride(s, batch) + (batch - 1) * step(s, batch) + s.nx;
  }
};

// Runs call(first output, its batch stride, first input, its batch stride) and compares every byte within reach with
// what expected(matrix) makes of the input's matrices.
template <class U, class T, class Expected, class Call>
void check_batch(shape s, std::size_t batch, tt::symmetry how, const layout& from, const layout& to,
                 random_source& random, Expected expected, Call call) {
  INFO(sizeof(T) << " to " << sizeof(U) << " bytes, symmetry " << static_cast<int>(how) << ", nx "
                 << s.nx << ", ny " << s.ny << ", batch " << batch << ", gaps " << from.gap
                 << " -> " << to.gap << ", between " << from.between << " -> " << to.between
                 << ", side by side " << from.side_by_side << " -> " << to.side_by_side
                 << "; repeat with --rng-seed " << Catch::getSeed());
  const shape t = reoriented(s, how);
  const byte_vector content = random.fill(from.size(s, batch) * sizeof(T));
  const input_buffer in{content, from.misalignment * alignof(T)};
  output_buffer out{to.size(t, batch) * sizeof(U), to.misalignment * alignof(U), random};
  for (std::size_t b = 0; b < batch; ++b) {
    const byte_vector matrix =
        expected(host_matrix{content.data() + b * from.step(s, batch) * sizeof(T), s.ny, s.nx,
                             from.stride(s, batch), sizeof(T)});
    out.expect(b * to.step(t, batch) * sizeof(U), to.stride(t, batch),
               {matrix.data(), t.ny, t.nx, t.nx, sizeof(U)});
  }
  out.poison();
  const tt::matrix_view<const T> first_in{in.as<T>(), s.ny, s.nx, from.stride(s, batch)};
  const tt::matrix_view<U> first_out{out.as<U>(), t.ny, t.nx, to.stride(t, batch)};
  REQUIRE(call(first_out, to.step(t, batch), first_in, from.step(s, batch)) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

template <class T>
void check_moves(shape s, std::size_t batch, const layout& from, const layout& to,
                 random_source& random) {
  using view = tt::matrix_view<T>;
  using const_view = tt::matrix_view<const T>;
  check_batch<T, T>(s, batch, tt::symmetry::transpose, from, to, random, transposed,
                    [&](view out, std::size_t out_step, const_view in, std::size_t in_step) {
                      return tt::transpose_batched(out, out_step, in, in_step, batch);
                    });
  const auto how = static_cast<tt::symmetry>(random.between(0, 7));
  check_batch<T, T>(
      s, batch, how, from, to, random, [&](const host_matrix& m) { return reoriented(m, how); },
      [&](view out, std::size_t out_step, const_view in, std::size_t in_step) {
        return tt::reorient_batched(out, out_step, in, in_step, batch, how);
      });
}

// Of an element and its place in its own matrix.
template <class U, class T>
struct placed {
  __host__ __device__ U operator()(const T& value, std::size_t row, std::size_t col) const {
    T in = value;
    U out{};
    auto* const from = reinterpret_cast<unsigned char*>(&in);
    auto* const to = reinterpret_cast<unsigned char*>(&out);
    for (std::size_t i = 0; i < sizeof(U); ++i) {
      to[i] = static_cast<unsigned char>(3 * from[i % sizeof(T)] + 7 * row + 11 * col + row / 256 +
                                         5 * (col / 256) + i);
    }
    return out;
  }
};

template <class U, class T>
void check_fused(shape s, std::size_t batch, const layout& from, const layout& to,
                 random_source& random) {
  const placed<U, T> op;
  const auto expected = [&](const host_matrix& m) {
    byte_vector result(m.rows * m.cols * sizeof(U));
    for (std::size_t y = 0; y < m.rows; ++y) {
      for (std::size_t x = 0; x < m.cols; ++x) {
        T value;
        std::memcpy(&value, m.data + (y * m.stride + x) * sizeof(T), sizeof(T));
        const U converted = op(value, y, x);
        std::memcpy(&result[(x * m.rows + y) * sizeof(U)], &converted, sizeof(U));
      }
    }
    return result;
  };
  const bool dense = from.gap + to.gap == 0 && !from.side_by_side && !to.side_by_side;
  check_batch<U, T>(
      s, batch, tt::symmetry::transpose, from, to, random, expected,
      [&](tt::matrix_view<U> out, std::size_t out_step, tt::matrix_view<const T> in,
          std::size_t in_step) {
        if (dense && from.between + to.between == 0) {
          return tt::transform_transpose_batched(out.data, in.data, s.nx, s.ny, batch, op);
        }
        return dense ? tt::transform_transpose_batched(out.data, out_step, in.data, in_step, s.nx,
                                                       s.ny, batch, op)
                     : tt::transform_transpose_batched(out, out_step, in, in_step, batch, op);
      });
}

const layout layouts[] = {{},           {0, 3},          {16},          {3, 1, false, 1},
                          {0, 0, true}, {5, 3, true, 1}, {16, 16, true}};

// Little work, panels of every kind, tiles of whole accesses and others.
template <class Check>
void check_every_layout(Check check_one) {
  require_device();
  random_source random;
  struct batch_shape {
    shape s;
    std::size_t batch;
  };
  const batch_shape shapes[] = {{{1, 1}, 3},      {{5, 7}, 9},      {{64, 64}, 5},
                                {{1, 90}, 4},     {{90, 1}, 4},     {{3, 3001}, 4},
                                {{3001, 3}, 4},   {{130, 259}, 3},  {{512, 768}, 4},
                                {{1001, 999}, 4}, {{1024, 2048}, 3}};
  for (const batch_shape& one : shapes) {
    for (const layout& from : layouts) {
      check_one(one.s, one.batch, from, layouts[random.between(0, 6)], random);
    }
  }
}

}  // namespace

TEST_CASE("batched views: words and bytes", "[batched][quick]") {
  check_every_layout([](auto... arguments) {
    check_moves<float>(arguments...);
    check_moves<std::uint8_t>(arguments...);
  });
}

TEST_CASE("batched views: other elements", "[batched]") {
  check_every_layout([](auto... arguments) {
    check_moves<std::uint16_t>(arguments...);
    check_moves<bytes<3>>(arguments...);
    check_moves<double>(arguments...);
    check_moves<float_triple>(arguments...);
  });
}

TEST_CASE("batched views: fused calls", "[batched][transform][quick]") {
  check_every_layout([](auto... arguments) {
    check_fused<std::uint8_t, std::uint8_t>(arguments...);
    check_fused<std::uint16_t, float>(arguments...);
    check_fused<float, float>(arguments...);
    check_fused<bytes<3>, bytes<3>>(arguments...);
  });
}

// So many that micro-blocks take them, but where rows are no whole ones.
TEST_CASE("batched views: many elements of a fused call", "[batched][transform][quick]") {
  require_device();
  random_source random;
  const auto check_all = [&](shape s, std::size_t batch, const layout& from, const layout& to) {
    check_fused<std::uint8_t, std::uint8_t>(s, batch, from, to, random);
    check_fused<std::uint16_t, std::uint16_t>(s, batch, from, to, random);
    check_fused<std::uint16_t, std::uint8_t>(s, batch, from, to, random);
    check_fused<std::uint8_t, std::uint16_t>(s, batch, from, to, random);
    check_fused<float, std::uint16_t>(s, batch, from, to, random);
    check_fused<std::uint8_t, float>(s, batch, from, to, random);
    check_fused<bytes<4>, bytes<2>>(s, batch, from, to, random);
  };
  check_all({512, 768}, 12, {}, {});
  check_all({260, 516}, 32, {4, 12}, {8, 4});  // output rows begin inside of sectors
  check_all({12, 1004}, 360, {}, {});
  check_all({1060, 8}, 500, {}, {0, 4});
  check_all({300, 1024}, 14, {16, 0, true}, {});
  check_all({301, 1024}, 14, {}, {});
}

// The grid counts them in y, up to 65535.
TEST_CASE("batched views: 70000 matrices of a fused call", "[batched][transform]") {
  require_device();
  random_source random;
  check_fused<float, float>({8, 8}, 70000, {}, {}, random);
  check_fused<std::uint8_t, std::uint8_t>({17, 9}, 70000, {1, 2}, {}, random);
}
