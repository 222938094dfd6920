// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose of matrix_views: pitched matrices, and parts of one parent.

#include "support.cuh"

using namespace tt_test;

namespace {

const std::vector<view_transpose> transposes{
    make_view<bytes<1>>("1 byte"),
    make_view<std::uint16_t>("std::uint16_t"),
    make_view<bytes<3>>("3 bytes"),
    make_view<float>("float"),
    make_view<double>("double"),
    make_view<float_triple>("float_triple"),
    make_view<aligned_quad>("aligned_quad"),
    make_view<bytes<64>>("64 bytes"),
};

// Where a view starts in its parent.
struct part {
  std::size_t row, col;
};

// Input and output are views of one parent of `stride` columns, and no element belongs to both.
void check_in_one_parent(const view_transpose& t, shape s, std::size_t stride, part in, part out,
                         random_source& random) {
  INFO(t.type.name << ", nx " << s.nx << ", ny " << s.ny << ", stride " << stride << ", input at ("
                   << in.row << ", " << in.col << "), output at (" << out.row << ", " << out.col
                   << "); repeat with --rng-seed " << Catch::getSeed());
  const std::size_t size = t.type.size;
  const std::size_t in_first = (in.row * stride + in.col) * size;
  const std::size_t out_first = (out.row * stride + out.col) * size;
  const std::size_t rows = std::max(in.row + s.ny, out.row + s.nx);
  const byte_vector content = random.fill(s.nx * s.ny * size);
  const host_matrix source{content.data(), s.ny, s.nx, s.nx, size};
  const byte_vector expected = transposed(source);

  output_buffer parent{rows * stride * size, 0, random};
  parent.hold(in_first, stride, source);
  parent.expect(out_first, stride, {expected.data(), s.nx, s.ny, s.ny, size});
  parent.poison();
  REQUIRE(t.launch(parent.data() + out_first, stride, parent.data() + in_first, stride, s.nx,
                   s.ny) == cudaSuccess);
  REQUIRE(parent.difference() == "");
}

void check_parts(const view_transpose& t, random_source& random) {
  const std::size_t gap = random.between(0, 9);
  const shape s{random.between(1, 150), random.between(1, 150)};
  // Side by side, either first; with no gap the rows of one end where the other's start.
  check_in_one_parent(t, s, s.nx + gap + s.ny, {0, 0}, {0, s.nx + gap}, random);
  check_in_one_parent(t, s, s.nx + gap + s.ny, {0, s.ny + gap}, {0, 0}, random);
  // One above the other, either first.
  const std::size_t widest = std::max(s.nx, s.ny);
  check_in_one_parent(t, s, widest + gap, {0, 0}, {s.ny, 0}, random);
  check_in_one_parent(t, s, widest + gap, {s.nx, 0}, {0, gap}, random);
  // Side by side at different heights: each reaches into rows of the other.
  check_in_one_parent(t, s, s.nx + gap + s.ny, {s.nx / 2, 0}, {s.ny / 3, s.nx + gap}, random);
  // Row by row in turn: a view of every second row each.
  check_in_one_parent(t, s, 2 * widest + gap, {0, 0}, {0, widest}, random);
}

}  // namespace

TEST_CASE("views: every path at a small size", "[view][quick]") {
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    const std::size_t step = t.type.alignment;
    check(t, {33, 31}, {33, 31, 0, 0}, random);
    check(t, {64, 128}, {128, 192, 0, 0}, random);
    check(t, {64, 128}, {65, 129, 0, 0}, random);
    check(t, {256, 256}, {272, 256, 0, step}, random);
    check(t, {3, 300}, {5, 300, step, 0}, random);
    check(t, {300, 3}, {301, 7, 0, 0}, random);
    check(t, {7, 258}, {7, 260, 0, step}, random);
    check(t, {1, 100}, {3, 100, 0, 0}, random);
    check(t, {100, 1}, {100, 2, 0, 0}, random);
    check_in_one_parent(t, {40, 30}, 70, {0, 0}, {0, 40}, random);
  });
}

TEST_CASE("views: pitch x shape", "[view]") {
  const std::size_t sides[] = {1, 2, 7, 31, 32, 33, 64, 65, 127, 128, 129, 257};
  const std::size_t pitches[] = {0, 1, 3, 8, 16, 31, 64};
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    for (const std::size_t nx : sides) {
      for (const std::size_t ny : sides) {
        const std::size_t in_pitch = pitches[random.between(0, 6)];
        const std::size_t out_pitch = pitches[random.between(0, 6)];
        check(t, {nx, ny}, {nx + in_pitch, ny + out_pitch, 0, 0}, random);
        // Rows that all start on a 128-byte boundary, as cudaMallocPitch makes them.
        check(t, {nx, ny}, {(nx + 127) / 128 * 128, (ny + 127) / 128 * 128, 0, 0}, random);
      }
    }
  });
}

TEST_CASE("views: random sub-matrices of random parents", "[view]") {
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    for (int i = 0; i < 60; ++i) {
      const bool skinny = i % 3 == 0;
      shape s{random.between(1, skinny ? 64 : 400), random.between(1, skinny ? 5000 : 400)};
      if (random.between(0, 1) == 1) std::swap(s.nx, s.ny);
      const std::size_t most = 128 / t.type.alignment;
      check(
          t, s,
          {s.nx + random.between(0, 70), s.ny + random.between(0, 70),
           t.type.alignment * random.between(0, most), t.type.alignment * random.between(0, most)},
          random);
    }
  });
}

TEST_CASE("views: strides much longer than the rows", "[view]") {
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    check(t, {3, 70}, {4099, 8192, 0, 0}, random);
    check(t, {70, 3}, {8192, 4099, 0, 0}, random);
    check(t, {100, 90}, {5003, 5009, 0, 0}, random);
  });
}

// Such walks jump between strips of tiles.
TEST_CASE("views: rows 128 KB apart", "[view]") {
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    const std::size_t stride = 128 * 1024 / t.type.size;
    if (stride * t.type.size != 128 * 1024) return;
    const std::size_t cols = 2048 / t.type.size;
    check(t, {cols, 2048}, {stride, 2048, 0, 0}, random);
    check(t, {cols + 1, 2051}, {stride, 2053, 0, 0}, random);
  });
}

TEST_CASE("views: input and output in one parent", "[view]") {
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    for (int i = 0; i < 6; ++i) check_parts(t, random);
  });
}

TEST_CASE("views: a view of mutable elements is an input too", "[view][quick]") {
  require_device();
  random_source random;
  const std::vector<view_transpose> mutable_inputs{
      {describe<float>("tuned"),
       [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
          std::size_t nx, std::size_t ny) {
         auto* from = reinterpret_cast<float*>(const_cast<std::byte*>(in));
         return tt::transpose(
             tt::matrix_view<float>{reinterpret_cast<float*>(out), nx, ny, out_stride},
             tt::matrix_view<float>{from, ny, nx, in_stride});
       }},
      {describe<float>("float, 32, 8"),
       [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
          std::size_t nx, std::size_t ny) {
         auto* from = reinterpret_cast<float*>(const_cast<std::byte*>(in));
         return tt::transpose<float, 32, 8>(
             tt::matrix_view<float>{reinterpret_cast<float*>(out), nx, ny, out_stride},
             tt::matrix_view<float>{from, ny, nx, in_stride});
       }},
  };
  for (const view_transpose& t : mutable_inputs) {
    DYNAMIC_SECTION(t.type.name) { check(t, {50, 70}, {55, 70, 0, 0}, random); }
  }
}
