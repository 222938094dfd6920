// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the emulated tests of fused calls share: each call, dense, pitched and at odd places, against its definition.

#pragma once

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/transpose.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace {

static_assert(!tt::detail::has_little_work(1, 1, true),
              "movers for large matrices are tested here");

// Each byte of the result shows where it came from.
template <class In, class Out>
Out converted(const In& value) {
  Out result;
  for (std::size_t i = 0; i < sizeof(Out); ++i) {
    result.bytes[i] = static_cast<unsigned char>(3 * value.bytes[i % sizeof(In)] + i);
  }
  return result;
}
template <class In, class Out>
Out combined(const In& value, const Out& old) {
  Out result = converted<In, Out>(value);
  for (std::size_t i = 0; i < sizeof(Out); ++i) {
    result.bytes[i] = static_cast<unsigned char>(result.bytes[i] + 5 * old.bytes[i]);
  }
  return result;
}

std::size_t calls = 0;  // of the function that combines; fibers take turns

// Zero strides are dense; offsets are elements past a multiple of 256 bytes, and what is `past` bytes more.
struct placement {
  std::size_t nx, ny;
  std::size_t in_stride = 0, out_stride = 0, copy_stride = 0;
  std::size_t in_offset = 0, out_offset = 0, copy_offset = 0;
  std::size_t in_past = 0, copy_past = 0;
};

template <class T>
T* bytes_past(T* first, std::size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(first) + bytes);
}

// The last one is a dual call with the tiles of matrices that are too large to be emulated.
enum class call { transform, accumulate, dual, large_dual };

template <call Call, class In, class Out>
void check(placement p) {
  p.in_stride = p.in_stride > 0 ? p.in_stride : p.nx;
  p.out_stride = p.out_stride > 0 ? p.out_stride : p.ny;
  p.copy_stride = p.copy_stride > 0 ? p.copy_stride : p.nx;
  tt::emulated_buffer<In> in((p.ny - 1) * p.in_stride + p.nx + 1, p.in_offset);
  tt::emulated_buffer<Out> out((p.nx - 1) * p.out_stride + p.ny, p.out_offset);
  const std::size_t copy_size = (p.ny - 1) * p.copy_stride + p.nx;
  tt::emulated_buffer<Out> copy(copy_size + 1, p.copy_offset);
  fill(in), fill(out), fill(copy);
  const In* const first = bytes_past(in.data(), p.in_past);
  Out* const first_copy = bytes_past(copy.data(), p.copy_past);
  std::vector<Out> want_out(out.data(), out.data() + out.size());
  std::vector<Out> want_copy(first_copy, first_copy + copy_size);
  for (std::size_t y = 0; y < p.ny; ++y) {
    for (std::size_t x = 0; x < p.nx; ++x) {
      const In& value = first[y * p.in_stride + x];
      Out& result = want_out[x * p.out_stride + y];
      result = Call == call::accumulate ? combined(value, result) : converted<In, Out>(value);
      if (Call == call::dual || Call == call::large_dual) {
        want_copy[y * p.copy_stride + x] = result;
      }
    }
  }
  const tt::matrix_view<const In> from{first, p.ny, p.nx, p.in_stride};
  const tt::matrix_view<Out> to{out.data(), p.nx, p.ny, p.out_stride};
  const tt::matrix_view<Out> beside{first_copy, p.ny, p.nx, p.copy_stride};
  cpu::this_device() = {};
  cpu::this_device().options.knows(from).knows(to);
  cudaError_t status = cudaSuccess;
  calls = 0;
  if constexpr (Call == call::transform) {
    status = tt::transform_transpose(to, from, [](const In& v) { return converted<In, Out>(v); });
  } else if constexpr (Call == call::accumulate) {
    status = tt::accumulate_transpose(to, from, [](const In& v, const Out& old) {
      ++calls;
      return combined(v, old);
    });
  } else {
    cpu::this_device().options.knows(beside);
    const auto op = [](const In& v) { return converted<In, Out>(v); };
    if constexpr (Call == call::dual) {
      status = tt::transform_transpose_dual(beside, to, from, op);
    } else {
      using tile = tt::detail::fused_shape<In, Out, tt::detail::fusion::dual, true, true>;
      status = tt::detail::launch_fused_tiles<tile>(
          {{from.data, to.data, p.in_stride * sizeof(In), p.out_stride * sizeof(Out), 0, 0, p.nx,
            p.ny, false},
           1},
          {beside.data, p.copy_stride * sizeof(Out)}, op, nullptr);
    }
  }
  INFO("call " << static_cast<int>(Call) << ", " << sizeof(In) << " to " << sizeof(Out)
               << " bytes, nx " << p.nx << ", ny " << p.ny << ", strides " << p.in_stride << ", "
               << p.out_stride << ", " << p.copy_stride << ", offsets " << p.in_offset << ", "
               << p.out_offset << ", " << p.copy_offset << ", bytes past these " << p.in_past
               << ", " << p.copy_past << "; repeat with --rng-seed " << Catch::getSeed() << '\n'
               << cpu::this_device().last.table());
  CHECK(status == cudaSuccess);
  CHECK(std::memcmp(want_out.data(), out.data(), out.size() * sizeof(Out)) == 0);
  CHECK(std::memcmp(want_copy.data(), first_copy, copy_size * sizeof(Out)) == 0);
  CHECK(cpu::this_device().faults == 0);
  if (Call == call::accumulate) { CHECK(calls == p.nx * p.ny); }
}

// True where some tile of rows that start anywhere touches no end of a matrix.
template <class In, class Out, tt::detail::fusion Kind>
bool has_interior(std::size_t cols, std::size_t rows) {
  tt::detail::matrix_problem problem{};
  problem.nx = cols, problem.ny = rows;
  const auto inside =
      tt::detail::find_interior<tt::detail::fused_shape<In, Out, Kind, false>>(problem, true);
  return inside.rows > 0 && inside.cols > 0;
}

// `cols` and `rows` are such that some tiles of the pair touch no end of a matrix.
template <class In, class Out>
void check_calls(std::size_t cols, std::size_t rows) {
  using tt::detail::fusion;
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes");
  CHECK(has_interior<In, Out, fusion::transform>(cols + 1, rows + 3));
  CHECK(has_interior<In, Out, fusion::accumulate>(cols + 1, rows + 3));
  CHECK(has_interior<In, Out, fusion::dual>(cols + 1, rows + 3));
  const placement dense[] = {
      {cols, rows}, {cols, rows + 3}, {cols + 1, rows + 3}, {3, 70}, {70, 3}};
  // Aligned rows without whole tiles; rows of the copy that are not aligned as those of the input.
  const placement pitched{cols - 9, rows - 5, (cols + 47) / 32 * 32, (rows + 63) / 32 * 32,
                          (cols + 47) / 32 * 32};
  placement skewed{cols + 1, rows + 3};
  skewed.in_offset = 5, skewed.out_offset = 1, skewed.copy_offset = 2;
  const auto all = [](const placement& p) {
    check<call::transform, In, Out>(p);
    check<call::accumulate, In, Out>(p);
    check<call::dual, In, Out>(p);
  };
  for (const placement& p : dense) { all(p); }
  all(pitched);
  all(skewed);
  // Rows of the input are aligned, those of the copy are not.
  placement beside{cols, rows};
  beside.copy_offset = 1;
  check<call::dual, In, Out>(beside);
  if constexpr (alignof(Out) < 4 && alignof(Out) < sizeof(Out)) {
    beside = {cols, rows};
    beside.copy_past = alignof(Out);
    check<call::dual, In, Out>(beside);
  }
  // Packed elements of as many bytes as words, which start in the middle of these.
  if constexpr (alignof(In) < 4 && alignof(In) < sizeof(In)) {
    placement inside{cols + 1, rows + 3};
    inside.in_past = alignof(In);
    all(inside);
  }
}

}  // namespace
