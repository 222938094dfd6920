// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fused calls, run on the CPU: every way in which elements are loaded, put into the tile and written, in
// tiles that lie inside of the matrices and in those at their ends. Results are compared byte by byte, no
// access leaves its matrix, no two threads race, and an accumulation calls its function once an element.

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
      status = tt::detail::launch_fused_tiles<tile, tt::detail::fusion::dual, In, Out>(
          {from.data, to.data, p.in_stride * sizeof(In), p.out_stride * sizeof(Out), 0, 0, p.nx,
           p.ny, false},
          1, {beside.data, p.copy_stride * sizeof(Out), 0, false}, op, nullptr);
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
  tt::detail::tile_problem problem{};
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

// Old elements that start in each byte of a word, in rows that start alike and otherwise.
template <class In, class Out>
void check_starts(std::size_t cols, std::size_t rows) {
  for (std::size_t start = 0; start < 4; ++start) {
    placement p{cols + start, rows + 5 - start};
    p.in_offset = 3 - start, p.out_offset = start;
    check<call::accumulate, In, Out>(p);
    p = {cols, rows, 0, rows + start};
    p.out_offset = start;
    check<call::accumulate, In, Out>(p);
  }
}

struct without_default {
  unsigned char byte;
  explicit without_default(int value) : byte(static_cast<unsigned char>(value)) {}
};

}  // namespace

TEST_CASE("fused: elements without a default constructor") {
  constexpr std::size_t nx = 40, ny = 30;
  tt::emulated_buffer<element<4>> in(nx * ny, 0);
  tt::emulated_buffer<element<1>> out(nx * ny, 0);
  fill(in), fill(out);
  std::vector<element<1>> want(out.data(), out.data() + out.size());
  for (std::size_t i = 0; i < nx * ny; ++i) {
    element<1>& sum = want[i % nx * ny + i / nx];
    sum.bytes[0] = static_cast<unsigned char>(sum.bytes[0] + in.data()[i].bytes[0]);
  }
  const tt::matrix_view<const element<4>> from{in.data(), ny, nx, nx};
  const tt::matrix_view<without_default> to{reinterpret_cast<without_default*>(out.data()), nx, ny,
                                            ny};
  cpu::this_device() = {};
  cpu::this_device().options.knows(from).knows(to);
  CHECK(tt::accumulate_transpose(to, from, [](const element<4>& v, const without_default& old) {
          return without_default(v.bytes[0] + old.byte);
        }) == cudaSuccess);
  CHECK(std::memcmp(want.data(), out.data(), nx * ny) == 0);
  CHECK(cpu::this_device().faults == 0);
}

TEST_CASE("fused: 1-byte elements") {
  check_calls<element<1>, element<1>>(768, 384);
  check_calls<element<1>, element<4>>(384, 192);
  check_calls<element<1>, element<16>>(192, 96);
}

TEST_CASE("fused: 2-byte elements") {
  check_calls<element<2>, element<2>>(576, 384);
  check_calls<element<2>, element<1>>(704, 640);
  check_calls<element<2>, element<4>>(384, 192);
}

TEST_CASE("fused: large tiles of halves as bytes") {
  check<call::large_dual, element<2>, element<1>>({520, 800, 544, 0, 544});
  placement skewed{520, 803, 544, 0, 544};
  skewed.out_offset = 1;
  check<call::large_dual, element<2>, element<1>>(skewed);
}

TEST_CASE("fused: 4-byte elements") {
  check_calls<element<4>, element<4>>(288, 384);
  check_calls<element<4>, element<2>>(416, 384);
  check_calls<element<4>, element<1>>(416, 640);
  check_calls<element<4>, element<8>>(192, 192);
}

TEST_CASE("fused: 8- and 16-byte elements") {
  check_calls<element<8>, element<8>>(192, 192);
  check_calls<element<8>, element<4>>(288, 192);
  check_calls<element<8>, element<1>>(256, 384);
  check_calls<element<16>, element<16>>(96, 96);
}

TEST_CASE("fused: elements that are moved in parts") {
  check_calls<element<12, 4>, element<12, 4>>(96, 96);
  check_calls<element<4>, element<12, 4>>(192, 96);
  check_calls<element<3, 1>, element<3, 1>>(288, 384);
  check_calls<element<1>, element<3, 1>>(288, 192);
  check_calls<element<4>, element<3, 1>>(192, 192);
  check_calls<element<3, 1>, element<1>>(288, 384);
  check_calls<element<32, 16>, element<32, 16>>(48, 96);
  check_calls<element<64, 4>, element<64, 4>>(48, 96);
}

// Elements that start at any byte, or any second one, to single bytes, to others that do, and to whole ones.
TEST_CASE("fused: packed elements") {
  check_calls<element<2, 1>, element<1>>(288, 384);
  check_calls<element<3, 1>, element<12, 4>>(192, 192);
  check_calls<element<4, 1>, element<3, 1>>(288, 384);
  check_calls<element<5, 1>, element<11, 1>>(96, 192);
  check_calls<element<6, 2>, element<10, 2>>(96, 192);
  check_calls<element<9, 1>, element<9, 1>>(96, 192);
  check_calls<element<9, 1>, element<12, 4>>(96, 192);
  check_calls<element<4, 1>, element<1>>(288, 384);
  check_calls<element<5, 1>, element<1>>(288, 384);
  check_calls<element<5, 1>, element<5, 1>>(192, 192);
  check_calls<element<6, 2>, element<2>>(192, 384);
  check_calls<element<6, 2>, element<6, 2>>(160, 192);
  check_calls<element<4, 1>, element<4, 1>>(192, 192);
  check_calls<element<7, 1>, element<3, 1>>(288, 192);
  check_calls<element<8, 1>, element<4>>(192, 192);
  check_calls<element<8, 2>, element<8, 2>>(192, 192);
  check_calls<element<16, 1>, element<16, 4>>(96, 192);
  check_calls<element<12, 4>, element<3, 1>>(192, 192);
  check_calls<element<14, 2>, element<6, 2>>(96, 192);
  check_calls<element<33, 1>, element<2>>(48, 384);
  check_calls<element<24, 8>, element<24, 8>>(48, 96);
  check_calls<element<33, 1>, element<63, 1>>(48, 96);
}

TEST_CASE("fused: old elements in each byte of a word") {
  check_starts<element<3, 1>, element<3, 1>>(192, 384);
  check_starts<element<6, 2>, element<10, 2>>(96, 192);
  check_starts<element<7, 1>, element<2, 1>>(192, 192);
  check_starts<element<4>, element<6, 2>>(96, 192);
  check_starts<element<12, 1>, element<11, 1>>(96, 96);
  check_starts<element<10, 2>, element<14, 2>>(48, 96);
  check_starts<element<17, 1>, element<31, 1>>(24, 96);
  check_starts<element<12, 4>, element<1>>(160, 288);
  check_starts<element<8>, element<1>>(96, 288);
}
