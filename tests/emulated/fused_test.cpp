// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fused calls, run on the CPU: every way in which elements are loaded, put into the tile and written, in
// tiles that lie inside of the matrices and in those at their ends. Results are compared byte by byte, no
// access leaves its matrix, no two threads race, and an accumulation calls its function once an element.

#include "fused_checks.hpp"

namespace {

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
