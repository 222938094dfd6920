// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fused calls whose function takes an element's row and column, run on the CPU: as little work, and by the tiles of
// large matrices.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/transpose.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using tt::size_type;

// Each byte of the result shows where it came from: the element, and all bytes of its row and column.
template <class In, class Out>
struct placed {
  Out operator()(const In& value, size_type row, size_type col) const {
    Out result;
    const size_type place = row * 0x9e3779b97f4a7c15 + col * 0xc2b2ae3d27d4eb4f;
    for (size_type i = 0; i < sizeof(Out); ++i) {
      result.bytes[i] =
          static_cast<unsigned char>(3 * value.bytes[i % sizeof(In)] + (place >> (8 * (i % 8))));
    }
    return result;
  }
};

struct shape {
  size_type nx, ny;
  size_type in_stride = 0, out_stride = 0, copy_stride = 0;  // 0: dense
  size_type in_offset = 0, out_offset = 0, copy_offset = 0;  // elements
  size_type first_row = 0, first_col = 0;
};

template <class In, class Out, class Call>
void check(shape s, bool copies, Call call) {
  s.in_stride = s.in_stride > 0 ? s.in_stride : s.nx;
  s.out_stride = s.out_stride > 0 ? s.out_stride : s.ny;
  s.copy_stride = s.copy_stride > 0 ? s.copy_stride : s.nx;
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, nx " << s.nx << ", ny " << s.ny
                  << ", strides " << s.in_stride << ", " << s.out_stride << ", " << s.copy_stride
                  << (copies ? ", two outputs" : ""));
  tt::emulated_buffer<In> in((s.ny - 1) * s.in_stride + s.nx, s.in_offset);
  tt::emulated_buffer<Out> out((s.nx - 1) * s.out_stride + s.ny, s.out_offset);
  tt::emulated_buffer<Out> copy((s.ny - 1) * s.copy_stride + s.nx, s.copy_offset);
  fill(in), fill(out), fill(copy);
  std::vector<Out> want(out.data(), out.data() + out.size());
  std::vector<Out> want_copy(copy.data(), copy.data() + copy.size());
  for (size_type y = 0; y < s.ny; ++y) {
    for (size_type x = 0; x < s.nx; ++x) {
      const Out result =
          placed<In, Out>{}(in.data()[y * s.in_stride + x], y + s.first_row, x + s.first_col);
      want[x * s.out_stride + y] = result;
      if (copies) { want_copy[y * s.copy_stride + x] = result; }
    }
  }
  const tt::matrix_view<const In> from{in.data(), s.ny, s.nx, s.in_stride};
  const tt::matrix_view<Out> to{out.data(), s.nx, s.ny, s.out_stride};
  const tt::matrix_view<Out> beside{copy.data(), s.ny, s.nx, s.copy_stride};
  cpu::this_device() = {};
  cpu::this_device().options.knows(from).knows(to).knows(beside);
  CHECK(call(beside, to, from) == cudaSuccess);
  CHECK(std::memcmp(want.data(), out.data(), out.size() * sizeof(Out)) == 0);
  CHECK(std::memcmp(want_copy.data(), copy.data(), copy.size() * sizeof(Out)) == 0);
  CHECK(cpu::this_device().faults == 0);
}

template <class In, class Out>
void check_pair(size_type nx, size_type ny) {
  const shape shapes[] = {{nx, ny},
                          {nx + 1, ny + 3},
                          {nx - 9, ny - 5, (nx + 47) / 32 * 32, (ny + 63) / 32 * 32},
                          {nx + 1, ny + 3, 0, 0, 0, 5, 1, 2},
                          {3, 70},
                          {70, 3}};
  for (const shape& s : shapes) {
    check<In, Out>(s, false, [](auto, auto to, auto from) {
      return tt::transform_transpose(to, from, placed<In, Out>{});
    });
    check<In, Out>(s, true, [](auto beside, auto to, auto from) {
      return tt::transform_transpose_dual(beside, to, from, placed<In, Out>{});
    });
  }
}

}  // namespace

TEST_CASE("places: rows and columns of the input") {
  check_pair<element<1>, element<1>>(384, 256);
  check_pair<element<2>, element<1>>(288, 384);
  check_pair<element<4>, element<4>>(192, 192);
  check_pair<element<4>, element<2>>(192, 192);
  check_pair<element<8>, element<8>>(96, 96);
  check_pair<element<3, 1>, element<3, 1>>(192, 192);
  check_pair<element<1>, element<12, 4>>(96, 96);
}

TEST_CASE("places: a function that takes an element alone does so") {
  struct both {
    element<4> operator()(const element<4>& value) const { return value; }
    element<4> operator()(const element<4>&, size_type, size_type) const { return {}; }
  };
  tt::emulated_buffer<element<4>> in(15), out(15);
  fill(in), fill(out);
  cpu::this_device() = {};
  CHECK(tt::transform_transpose(out.data(), in.data(), 3, 5, both{}) == cudaSuccess);
  CHECK(equal(out.data()[5 + 2], in.data()[2 * 3 + 1]));
}

// Too large to be emulated: a part of a matrix, as launches get it that are split.
TEST_CASE("places: rows and columns beyond 32 bits") {
  using tt::detail::fusion;
  using in = element<4>;
  using out = element<8>;
  shape s{130, 70};
  s.first_row = size_type{5} << 32;
  s.first_col = (size_type{3} << 40) + 1;
  check<in, out>(s, false, [&](auto, auto to, auto from) {
    using tile = tt::detail::fused_shape<in, out, fusion::transform, false>;
    return tt::detail::launch_fused_tiles<tile>(
        {{from.data, to.data, from.stride * sizeof(in), to.stride * sizeof(out), 0, 0, from.cols,
          from.rows, false},
         1},
        {}, placed<in, out>{}, nullptr, {s.first_row, s.first_col});
  });
}

TEST_CASE("places: where the parts of a problem start that is split") {
  const auto at = [](int bit) { return reinterpret_cast<void*>(std::uintptr_t{1} << bit); };
  const tt::detail::batch_problem tall{{at(44), at(45), 12 * 7, 20000 * 4, 0, 0, 5, 20000, false},
                                       1};
  const tt::detail::batch_problem wide{{at(44), at(45), 12 * 20000, 4 * 9, 0, 0, 19999, 9, false},
                                       1};
  for (const auto* problem : {&tall, &wide}) {
    bool second = false;
    CHECK(tt::detail::split(*problem, 12, 4, [&](const tt::detail::matrix_problem& part) {
            const auto place = tt::detail::place_of(part, *problem);
            CHECK(place.row == (second && problem == &tall ? 12288 : 0));
            CHECK(place.col == (second && problem == &wide ? 12288 : 0));
            second = true;
            return 0;
          }) == 0);
    CHECK(second);
  }
}
