// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batches of pitched matrices and fused calls in batches, run on the CPU: as little work, and by the movers for large
// matrices.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using tt::matrix_view;
using tt::size_type;
using tt::symmetry;

// Where the matrices of one side are: rows that are `gap` elements further apart than they are long, one matrix behind
// the other or side by side, `between` elements between them.
struct layout {
  size_type gap = 0;
  size_type between = 0;
  bool side_by_side = false;
  size_type offset = 0;  // elements past a multiple of 256 bytes

  size_type stride(size_type cols, size_type batch) const {
    return gap + (side_by_side ? batch * (cols + between) : cols);
  }
  size_type step(size_type rows, size_type cols, size_type batch) const {
    return side_by_side ? cols + between : (rows - 1) * stride(cols, batch) + cols + between;
  }
};

struct shape {
  size_type nx, ny, batch;
  layout in, out;
};

template <class T>
struct side {
  size_type rows, cols, stride, step;
  tt::emulated_buffer<T> memory;

  side(size_type r, size_type c, size_type batch, const layout& lies)
      : rows(r),
        cols(c),
        stride(lies.stride(c, batch)),
        step(lies.step(r, c, batch)),
        memory((rows - 1) * stride + (batch - 1) * step + cols, lies.offset) {
    fill(memory);
  }
  size_type at(size_type b, size_type row, size_type col) const {
    return b * step + row * stride + col;
  }
};

// The element of the input that a symmetry brings to row `row`, column `col` of the output.
struct place {
  size_type row, col;
};
place source_of(symmetry s, size_type row, size_type col, size_type ny, size_type nx) {
  const bool turns = tt::transposes(s);
  const size_type y = turns ? col : row;
  const size_type x = turns ? row : col;
  return {tt::reverses_rows(s) ? ny - 1 - y : y, tt::reverses_cols(s) ? nx - 1 - x : x};
}

template <class In, class Out, class Convert, class Call>
void check(const shape& s, symmetry how, Convert convert, Call call) {
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, symmetry " << static_cast<int>(how)
                  << ", nx " << s.nx << ", ny " << s.ny << ", batch " << s.batch << ", gaps "
                  << s.in.gap << ", " << s.out.gap << ", between " << s.in.between << ", "
                  << s.out.between << ", side by side " << s.in.side_by_side << ", "
                  << s.out.side_by_side);
  const bool turns = tt::transposes(how);
  const side<In> in(s.ny, s.nx, s.batch, s.in);
  side<Out> out(turns ? s.nx : s.ny, turns ? s.ny : s.nx, s.batch, s.out);
  std::vector<Out> want(out.memory.data(), out.memory.data() + out.memory.size());
  for (size_type b = 0; b < s.batch; ++b) {
    for (size_type row = 0; row < out.rows; ++row) {
      for (size_type col = 0; col < out.cols; ++col) {
        const place from = source_of(how, row, col, s.ny, s.nx);
        want[out.at(b, row, col)] =
            convert(in.memory.data()[in.at(b, from.row, from.col)], from.row, from.col);
      }
    }
  }
  cpu::this_device() = {};
  cpu::this_device().options.knows(static_cast<const In*>(in.memory.data()), in.memory.size());
  cpu::this_device().options.knows(out.memory.data(), out.memory.size());
  CHECK(call(in, out) == cudaSuccess);
  CHECK(std::memcmp(want.data(), out.memory.data(), want.size() * sizeof(Out)) == 0);
  CHECK(cpu::this_device().faults == 0);
  CHECK(cpu::this_device().launches <= 1);  // vectors without gaps are copied
}

template <class T>
void check_moves(const shape& s) {
  const auto as_it_is = [](const T& value, size_type, size_type) { return value; };
  check<T, T>(s, symmetry::transpose, as_it_is, [&](const auto& in, auto& out) {
    return tt::transpose_batched(
        matrix_view<T>{out.memory.data(), out.rows, out.cols, out.stride}, out.step,
        matrix_view<const T>{in.memory.data(), in.rows, in.cols, in.stride}, in.step, s.batch);
  });
  // And one of the other symmetries, each time the next.
  constexpr symmetry others[] = {symmetry::identity,      symmetry::flip_lr,   symmetry::flip_ud,
                                 symmetry::rotate_180,    symmetry::rotate_90, symmetry::rotate_270,
                                 symmetry::anti_transpose};
  static size_type next = 0;
  const symmetry how = others[next++ % 7];
  check<T, T>(s, how, as_it_is, [&](const auto& in, auto& out) {
    return tt::reorient_batched(
        matrix_view<T>{out.memory.data(), out.rows, out.cols, out.stride}, out.step,
        matrix_view<const T>{in.memory.data(), in.rows, in.cols, in.stride}, in.step, s.batch, how);
  });
}

// Each byte of the result shows where it came from: the element, its row and its column in its own matrix.
template <class In, class Out>
struct placed {
  Out operator()(const In& value, size_type row, size_type col) const {
    Out result;
    for (size_type i = 0; i < sizeof(Out); ++i) {
      result.bytes[i] = static_cast<unsigned char>(3 * value.bytes[i % sizeof(In)] + 7 * row +
                                                   11 * col + row / 256 + 5 * (col / 256));
    }
    return result;
  }
};

template <class In, class Out>
void check_fused(const shape& s) {
  const placed<In, Out> op;
  check<In, Out>(s, symmetry::transpose, op, [&](const auto& in, auto& out) {
    return tt::transform_transpose_batched(
        matrix_view<Out>{out.memory.data(), out.rows, out.cols, out.stride}, out.step,
        matrix_view<const In>{in.memory.data(), in.rows, in.cols, in.stride}, in.step, s.batch, op);
  });
  if (s.in.gap > 0 || s.out.gap > 0 || s.in.side_by_side || s.out.side_by_side) { return; }
  check<In, Out>(s, symmetry::transpose, op, [&](const auto& in, auto& out) {
    return tt::transform_transpose_batched(out.memory.data(), out.step, in.memory.data(), in.step,
                                           s.nx, s.ny, s.batch, op);
  });
  if (s.in.between > 0 || s.out.between > 0) { return; }
  check<In, Out>(s, symmetry::transpose, op, [&](const auto& in, auto& out) {
    return tt::transform_transpose_batched(out.memory.data(), in.memory.data(), s.nx, s.ny, s.batch,
                                           op);
  });
}

// Threads of the one block shape of a call, which is counted and not run.
template <class Call>
unsigned block_of(Call call) {
  cpu::this_device() = {};
  cpu::this_device().runs = false;
  CHECK(call(reinterpret_cast<const float*>(std::uintptr_t{3} << 46),
             reinterpret_cast<float*>(std::uintptr_t{1} << 46)) == cudaSuccess);
  REQUIRE(cpu::this_device().seen.size() == 1);
  return cpu::this_device().seen[0].block.x;
}

// Small and large matrices, short rows and columns; rows that lie on 16 bytes and others.
const size_type sides[][3] = {{5, 7, 20},  {64, 64, 3},  {37, 90, 4},  {3, 200, 5}, {200, 3, 5},
                              {32, 48, 9}, {130, 70, 2}, {288, 96, 2}, {1, 60, 4},  {60, 1, 4}};
const layout layouts[] = {{}, {0, 3}, {16}, {3, 1}, {0, 0, true}, {5, 3, true, 1}, {0, 16, true}};

template <class Check>
void check_layouts(Check check_one) {
  for (const auto& s : sides) {
    for (const layout& in : layouts) {
      // Some of the pairs, which the sides take all of together.
      const size_type other = (s[0] + s[1] + 3 * static_cast<size_type>(&in - layouts)) % 7;
      check_one(shape{s[0], s[1], s[2], in, layouts[other]});
    }
  }
}

}  // namespace

TEST_CASE("batches: pitched matrices") {
  check_layouts([](const shape& s) {
    check_moves<element<1>>(s);
    check_moves<element<4>>(s);
    check_moves<element<3, 1>>(s);
  });
}

TEST_CASE("batches: pitched matrices of other elements") {
  check_layouts([](const shape& s) {
    check_moves<element<2>>(s);
    check_moves<element<16>>(s);
    check_moves<element<12, 4>>(s);
  });
}

TEST_CASE("batches: so many words that blocks of their small tiles have fewer threads") {
  check_moves<element<4>>({44, 96, 1000, {}, {}});
  if (!tt::detail::has_little_work(4, 4, true)) { return; }  // as this is compiled once, too
  CHECK(block_of([](const float* in, float* out) {
          return tt::transpose_batched(out, in, 44, 96, 1000);
        }) == 128);
  CHECK(block_of([](const float* in, float* out) {
          return tt::transform_transpose_batched(out, in, 44, 96, 1000,
                                                 [](float value) { return value; });
        }) == 128);
  CHECK(block_of([](const float* in, float* out) {
          return tt::transpose_batched(out, in, 44, 96, 900);  // not so many
        }) == 256);
}

TEST_CASE("batches: fused calls") {
  check_layouts([](const shape& s) {
    check_fused<element<1>, element<1>>(s);
    check_fused<element<4>, element<2>>(s);
    check_fused<element<3, 1>, element<4>>(s);
    check_fused<element<4>, element<4>>(s);
  });
}

// Launches are counted and not run, so that no memory is needed.
TEST_CASE("batches: as few launches as the grid allows") {
  auto* const out = reinterpret_cast<float*>(std::uintptr_t{1} << 46);
  const auto* const in = reinterpret_cast<const float*>(std::uintptr_t{3} << 46);
  const auto launches_of = [&](size_type batch, size_type side) {
    cpu::this_device() = {};
    cpu::this_device().runs = false;
    CHECK(tt::transform_transpose_batched(out, in, side, side, batch,
                                          [](float value) { return value; }) == cudaSuccess);
    for (const cpu::launch_shape& one : cpu::this_device().seen) {
      CHECK(one.grid.x < std::uint32_t{1} << 31);
      CHECK(one.grid.y * one.grid.z <= 65535);
    }
    return cpu::this_device().launches;
  };
  CHECK(launches_of(2, 3000) == 1);
  CHECK(launches_of(200000, 3000) == 1);
  const auto blocks = [] {
    size_type sum = 0;
    for (const cpu::launch_shape& one : cpu::this_device().seen) { sum += one.grid.x; }
    return sum;
  };
  CHECK(launches_of(1, 3000) == 1);
  const size_type of_one = blocks();
  CHECK(launches_of(2000000, 3000) == 2);
  CHECK(blocks() == 2000000 * of_one);
  CHECK(launches_of(3, 5) == 1);
}

// Of three matrices of 4 rows and 5 columns; what overlaps is told from what lies in each other's gaps.
TEST_CASE("batches: what is refused") {
  constexpr size_type nx = 5, ny = 4, batch = 3;
  tt::emulated_buffer<float> memory(1000);
  fill(memory);
  const std::vector<float> before(memory.data(), memory.data() + memory.size());
  float* const in = memory.data();
  float* const out = in + 500;
  const auto call = [&](float* to, size_type out_stride, size_type out_step, const float* from,
                        size_type in_stride, size_type in_step) {
    const matrix_view<float> first_out{to, nx, ny, out_stride};
    const matrix_view<const float> first_in{from, ny, nx, in_stride};
    cpu::this_device() = {};
    cpu::this_device().runs = false;
    const cudaError_t status = tt::transpose_batched(first_out, out_step, first_in, in_step, batch);
    const int launches = cpu::this_device().launches;
    CHECK(tt::transform_transpose_batched(first_out, out_step, first_in, in_step, batch,
                                          [](float value) { return value; }) == status);
    CHECK(launches == (status == cudaSuccess ? 1 : 0));
    CHECK(cpu::this_device().launches == 2 * launches);
    return status == cudaSuccess;
  };
  CHECK(call(out, 4, 20, in, 5, 20));
  // Strides that are too short for a row, a matrix, or a row of matrices.
  CHECK(!call(out, 3, 20, in, 5, 20));
  CHECK(!call(out, 4, 20, in, 4, 20));
  CHECK(!call(out, 4, 19, in, 5, 20));
  CHECK(!call(out, 4, 20, in, 5, 19));
  CHECK(call(out, 4, 20, in, 7, 26));
  CHECK(!call(out, 4, 20, in, 7, 25));
  CHECK(!call(out, 4, 20, in, 7, 7));
  CHECK(call(out, 6, 28, in, 5, 20));
  CHECK(!call(out, 6, 27, in, 5, 20));
  CHECK(call(out, 4, 20, in, 15, 5));
  CHECK(!call(out, 4, 20, in, 14, 5));
  CHECK(!call(out, 4, 20, in, 15, 4));
  CHECK(!call(out, 4, 20, in, 15, 6));
  CHECK(call(out, 12, 4, in, 17, 6));
  CHECK(!call(out, 11, 4, in, 17, 6));
  // Null, misaligned, too much, and no work.
  CHECK(!call(nullptr, 4, 20, in, 5, 20));
  CHECK(!call(out, 4, 20, nullptr, 5, 20));
  CHECK(
      !call(reinterpret_cast<float*>(reinterpret_cast<unsigned char*>(out) + 2), 4, 20, in, 5, 20));
  constexpr size_type huge = ~size_type{0} / 4;
  CHECK(!call(out, 4, 20, in, 5, huge));
  CHECK(!call(out, 4, huge, in, 5, 20));
  CHECK(!call(out, 4, 20, in, huge, 5));
  CHECK(tt::transpose_batched(matrix_view<float>{nullptr, 5, 0, 0}, 1,
                              matrix_view<float>{nullptr, 0, 5, 5}, 1, 3) == cudaSuccess);
  CHECK(tt::transpose_batched(matrix_view<float>{out, 5, 4, 4}, 1, matrix_view<float>{in, 4, 5, 5},
                              1, 0) == cudaSuccess);
  CHECK(tt::transpose_batched(matrix_view<float>{out, 4, 5, 5}, 20, matrix_view<float>{in, 4, 5, 5},
                              20, 3) == cudaErrorInvalidValue);
  // In each other's gaps: every second matrix, the other half of each row, and the matrices beside.
  CHECK(call(in + 20, 4, 40, in, 5, 40));
  CHECK(!call(in + 19, 4, 40, in, 5, 40));
  CHECK(!call(in + 21, 4, 40, in, 5, 40));
  CHECK(call(in + 5, 9, 45, in, 9, 45));
  CHECK(!call(in + 4, 9, 45, in, 9, 45));
  CHECK(!call(in + 6, 9, 45, in, 9, 45));
  CHECK(call(in + 5, 27, 9, in, 27, 9));
  CHECK(!call(in + 6, 27, 9, in, 27, 9));
  CHECK(!call(in, 4, 20, in, 5, 20));
  CHECK(std::memcmp(before.data(), memory.data(), before.size() * sizeof(float)) == 0);
}
