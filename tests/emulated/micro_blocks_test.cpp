// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permutes whose tiles are moved in micro-blocks, with tuning rows by which no array is too small for them: whole tiles and
// parts of tiles, sides along several axes, both sizes of tiles, what stays together as one element, and elements that become
// others on the way, of transposes, too.

#include "permutes.hpp"

#include <tiletranspose/transpose.cuh>

#include <cstdint>

namespace {

// The rule by which a permute of a dense array, aligned to 16 bytes, would be moved.
template <class T, std::size_t Rank>
tt::explanation explained(const std::array<size_type, Rank>& extents,
                          const std::array<int, Rank>& order) {
  alignas(16) static unsigned char nobody[32];
  size_type given[Rank];
  int places[Rank];
  std::copy(extents.begin(), extents.end(), given);
  std::copy(order.begin(), order.end(), places);
  const auto in = reinterpret_cast<const T*>(size_type{1} << 40);
  return tt::explain_permute(reinterpret_cast<T*>(nobody), in, given, places);
}

template <class T, std::size_t Rank>
void check_micro(const std::array<size_type, Rank>& extents, const std::array<int, Rank>& order,
                 size_type tile_side, std::size_t offset = 0) {
  const tt::explanation e = explained<T>(extents, order);
  INFO(tt::to_string(e));
  REQUIRE(std::string(e.rule) == "micro-blocks of axes");
  REQUIRE(e.tile_rows == tile_side);
  check<T>(extents, order, offset);
}

}  // namespace

TEST_CASE("micro-blocks: elements of each size") {
  check_micro<unsigned char, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 64);
  check_micro<unsigned char, 4>({124, 2, 3, 140}, {3, 2, 1, 0}, 128);
  check_micro<unsigned short, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 64);
  check_micro<unsigned short, 4>({124, 2, 3, 140}, {3, 2, 1, 0}, 128);
  check_micro<element<3>, 4>({28, 3, 5, 72}, {3, 2, 1, 0}, 64);
  check_micro<float, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 64);
  check_micro<float, 5>({68, 2, 3, 2, 72}, {4, 1, 3, 2, 0}, 64);
  // Sides that take up to three axes, and the last tile of each is a part of one.
  check_micro<float, 6>({4, 3, 12, 5, 8, 20}, {5, 2, 3, 0, 1, 4}, 64);
  check_micro<unsigned char, 6>({20, 3, 12, 4, 5, 20}, {2, 5, 3, 4, 1, 0}, 128);
}

TEST_CASE("micro-blocks: what is not whole or aligned goes otherwise") {
  check_micro<float, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 64);
  check<float, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 1);
  check<unsigned char, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 2);
  for (const std::array<size_type, 4> extents :
       {std::array<size_type, 4>{28, 3, 5, 37}, {29, 3, 5, 36}}) {
    REQUIRE(std::string(explained<float>(extents, {3, 2, 1, 0}).rule) != "micro-blocks of axes");
    check<float, 4>(extents, {3, 2, 1, 0});
  }
  // 4 bytes are whole vectors of bytes, not of halves or floats.
  check<unsigned char, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 4);
  check<unsigned short, 4>({28, 3, 5, 36}, {3, 2, 1, 0}, 2);
}

TEST_CASE("micro-blocks: what stays together is an element") {
  check_micro<unsigned char, 3>({68, 72, 4}, {1, 0, 2}, 64);  // pixels of four bytes
  check_micro<unsigned char, 3>({68, 72, 3}, {1, 0, 2}, 64);  // of three
  check_micro<unsigned char, 3>({124, 252, 2}, {1, 0, 2}, 128);
  check_micro<unsigned short, 3>({68, 72, 3}, {1, 0, 2}, 64);  // of three halves
  check_micro<unsigned short, 4>({2, 68, 72, 2}, {0, 2, 1, 3}, 64);
  // Elements that are wider go in tiles as they are, and all do where rows are not whole micro-blocks.
  for (const size_type side : {64u, 67u}) {
    for (const tt::explanation& e : {explained<unsigned char, 3>({side, 33, 8}, {1, 0, 2}),
                                     explained<unsigned char, 3>({side, 33, 4}, {1, 0, 2}),
                                     explained<float, 3>({side, 33, 4}, {1, 0, 2})}) {
      REQUIRE(std::string(e.rule) == "tiles of axes");
    }
    check<unsigned char, 3>({side, 33, 8}, {1, 0, 2});
    check<unsigned char, 3>({side, 33, 4}, {1, 0, 2});
    check<unsigned char, 3>({side, 33, 2}, {1, 0, 2});
    check<unsigned char, 3>({side, 33, 3}, {1, 0, 2});
    check<float, 3>({side, 33, 4}, {1, 0, 2});
    check<float, 3>({side, 33, 2}, {1, 0, 2}, 1);
    check<double, 4>({2, side, 33, 2}, {0, 2, 1, 3});
  }
}

TEST_CASE("micro-blocks: random arrays") {
  std::mt19937 generator(24);
  const auto draw = [&](size_type most) { return static_cast<size_type>(1 + generator() % most); };
  for (int i = 0; i < 40; ++i) {
    const std::array<size_type, 4> extents{4 * draw(12), draw(6), draw(6), 4 * draw(12)};
    std::array<int, 4> order{3, 1, 2, 0};
    if (i % 2 == 1) { std::swap(order[1], order[2]); }
    if (i % 4 > 1) { std::swap(order[0], order[1]); }
    switch (i % 5) {
      case 0:
        check<unsigned char, 4>(extents, order);
        break;
      case 1:
        check<unsigned short, 4>(extents, order);
        break;
      case 2:
        check<element<3>, 4>(extents, order);
        break;
      default:
        check<float, 4>(extents, order);
    }
  }
}

namespace {

// What becomes of an element tells where it was in its matrix, too.
template <class In, class Out>
struct placed {
  Out operator()(In value, std::size_t row, std::size_t col) const {
    return static_cast<Out>(3 * value + 5 * row + 7 * col);
  }
};

constexpr auto transform = tt::detail::fusion::transform;

// A batch of matrices with gaps, in tiles of a side, beside its definition.
template <class In, class Out>
void check_fused(size_type nx, size_type ny, size_type batch, int side) {
  const size_type in_stride = nx + 4;
  const size_type out_stride = ny + 8;
  const size_type in_batch = ny * in_stride + 12;
  const size_type out_batch = nx * out_stride + 4;
  tt::emulated_buffer<In> in(batch * in_batch);
  tt::emulated_buffer<Out> out(batch * out_batch);
  const std::vector<unsigned char> bytes = random_bytes(in.size() * sizeof(In));
  std::memcpy(in.data(), bytes.data(), bytes.size());
  std::memset(out.data(), guard, out.size() * sizeof(Out));
  std::vector<Out> want(out.data(), out.data() + out.size());
  for (size_type b = 0; b < batch; ++b) {
    for (size_type y = 0; y < ny; ++y) {
      for (size_type x = 0; x < nx; ++x) {
        want[b * out_batch + x * out_stride + y] =
            placed<In, Out>{}(in[b * in_batch + y * in_stride + x], y, x);
      }
    }
  }
  const tt::detail::batch_problem problem{
      {in.data(), out.data(), in_stride * sizeof(In), out_stride * sizeof(Out),
       in_batch * sizeof(In), out_batch * sizeof(Out), nx, ny, false},
      batch};
  const auto cut = tt::detail::cut_micro_tiles(problem, sizeof(In), sizeof(Out), side);
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, " << batch << " of " << ny << " x " << nx
                  << ", tiles of " << side);
  REQUIRE(tt::detail::has_whole_blocks(cut.move, cut.tiles.x));
  cpu::this_device() = {};
  const tt::detail::fused_operation<transform, In, Out, placed<In, Out>> operation{{}, {}};
  REQUIRE(tt::detail::launch_micro_tiles(cut.tiles, cut.move, operation, nullptr) == cudaSuccess);
  CHECK(cpu::this_device().faults == 0);
  CHECK(std::equal(want.begin(), want.end(), out.data()));
}
template <class In, class Out>
void check_pair() {
  check_fused<In, Out>(72, 68, 2, 64);
  check_fused<In, Out>(200, 12, 3, 64);
  check_fused<In, Out>(8, 132, 5, 64);  // a side of a tile goes on in the next matrix
  check_fused<In, Out>(12, 8, 40, 64);
  if (sizeof(In) <= 2 && sizeof(Out) <= 2) { check_fused<In, Out>(140, 136, 2, 128); }
}

}  // namespace

TEST_CASE("micro-blocks: transposes whose elements become others") {
  using byte = std::uint8_t;
  using half = std::uint16_t;
  using word = std::uint32_t;
  check_pair<byte, byte>();
  check_pair<byte, half>();
  check_pair<byte, word>();
  check_pair<half, byte>();
  check_pair<half, half>();
  check_pair<half, word>();
  check_pair<word, byte>();
  check_pair<word, half>();
}

TEST_CASE("micro-blocks: permutes whose elements become others") {
  const size_type extents[] = {28, 3, 5, 36};
  const int order[] = {3, 2, 1, 0};
  constexpr size_type count = 28 * 3 * 5 * 36;
  tt::emulated_buffer<std::uint16_t> in(count);
  tt::emulated_buffer<std::uint32_t> out(count);
  for (size_type i = 0; i < count; ++i) { in[i] = static_cast<std::uint16_t>(i); }
  const std::uint16_t* const from = in.data();
  const auto op = [](std::uint16_t value) { return std::uint32_t{7} * value; };
  const tt::explanation e = tt::explain_transform_permute(out.data(), from, extents, order);
  INFO(tt::to_string(e));
  REQUIRE(std::string(e.rule) == "micro-blocks of axes");
  REQUIRE((e.load_bytes == 8 && e.store_bytes == 16));
  cpu::this_device() = {};
  REQUIRE(tt::transform_permute(out.data(), from, extents, order, op) == cudaSuccess);
  REQUIRE(e.launches == static_cast<size_type>(cpu::this_device().launches));
  bool right = true;
  for (size_type i = 0; i < count; ++i) {
    const size_type d = i % 36, c = i / 36 % 5, b = i / 180 % 3, a = i / 540;
    right = right && out[((d * 5 + c) * 3 + b) * 28 + a] == 7 * static_cast<std::uint16_t>(i);
  }
  REQUIRE(right);
}

TEST_CASE("micro-blocks: which transposes with an operation go so") {
  using tt::detail::batch_problem;
  const auto dense = [](size_type nx, size_type ny, size_type batch, size_type in, size_type out) {
    return batch_problem{{reinterpret_cast<const void*>(size_type{1} << 40),
                          reinterpret_cast<void*>(size_type{1} << 41), nx * in, ny * out,
                          nx * ny * in, nx * ny * out, nx, ny, false},
                         batch};
  };
  const auto side = [&](size_type nx, size_type ny, size_type batch, size_type in, size_type out) {
    return tt::detail::fused_micro_side(dense(nx, ny, batch, in, out), in, out);
  };
  CHECK(side(1024, 1024, 4, 1, 1) == 64);
  CHECK(side(1024, 1024, 3, 1, 1) == 0);  // 3 MB
  CHECK(side(1024, 1028, 40, 2, 2) == 128);
  CHECK(side(1024, 60, 40, 2, 2) == 64);  // would fill less than half of larger ones
  CHECK(side(1024, 1028, 4, 2, 4) == 64);
  CHECK(side(1023, 1024, 40, 2, 2) == 0);
  CHECK(side(1024, 1022, 40, 2, 2) == 0);
  CHECK(side(8, 8, 100000, 2, 2) == 64);
  CHECK(side(8, 4, 200000, 2, 2) == 0);
  CHECK(side(4, 8, 200000, 2, 2) == 0);
  // One matrix up to 32 MB, as often as its elements become smaller.
  CHECK(side(4096, 4096, 1, 2, 2) == 64);
  CHECK(side(4096, 4100, 1, 2, 2) == 0);
  CHECK(side(4096, 4112, 1, 1, 2) == 64);
  CHECK(side(4096, 8000, 1, 1, 2) == 0);
  CHECK(side(4096, 4100, 1, 4, 2) == 64);
  CHECK(side(4096, 8000, 1, 4, 2) == 0);
  CHECK(side(4096, 8000, 1, 4, 1) == 64);
  CHECK(side(4096, 16384, 1, 4, 1) == 0);
  CHECK(side(4096, 8000, 2, 1, 2) == 64);
  // Of axes that would be split a part does not know its rows and columns.
  CHECK(side(size_type{1} << 30, 8, 2, 1, 1) == 64);
  CHECK(side((size_type{1} << 30) + 1024, 8, 2, 1, 1) == 0);
  CHECK(side(8, (size_type{1} << 30) + 1024, 2, 1, 1) == 0);
  batch_problem problem = dense(1024, 1024, 4, 1, 1);
  problem.pointer_arrays = true;
  CHECK(tt::detail::fused_micro_side(problem, 1, 1) == 0);
  // Matrices side by side that become one behind the other, as one matrix would: columns are not counted by themselves.
  problem = dense(1024, 1024, 4, 1, 1);
  problem.in_stride_bytes = 4 * 1024;
  problem.in_batch_bytes = 1024;
  CHECK(tt::detail::fused_micro_side(problem, 1, 1) == 0);
  for (const size_type bytes : {1u, 2u}) {
    problem = dense(1024, 1024, 4, 1, 1);
    problem.in = static_cast<const unsigned char*>(problem.in) + bytes;
    CHECK(tt::detail::fused_micro_side(problem, 1, 1) == 0);
    problem = dense(1024, 1024, 4, 1, 1);
    problem.out = static_cast<unsigned char*>(problem.out) + bytes;
    CHECK(tt::detail::fused_micro_side(problem, 1, 1) == 0);
    problem = dense(1024, 1024, 4, 1, 1);
    problem.out_batch_bytes += bytes;
    CHECK(tt::detail::fused_micro_side(problem, 1, 1) == 0);
  }
  static_assert(
      !tt::detail::has_fused_micro_blocks(4, 4) && !tt::detail::has_fused_micro_blocks(8, 1) &&
          !tt::detail::has_fused_micro_blocks(3, 1) && tt::detail::has_fused_micro_blocks(4, 1),
      "");
}

// What is launched is not run: the arrays are large.
TEST_CASE("micro-blocks: calls with an operation launch what is explained") {
  const auto in = reinterpret_cast<const std::uint16_t*>(size_type{1} << 40);
  const auto out = reinterpret_cast<std::uint8_t*>(size_type{1} << 45);
  const auto op = [](std::uint16_t value) { return static_cast<std::uint8_t>(value); };
  for (const size_type batch : {3u, 200u, 3000000u}) {
    cpu::this_device() = {};
    cpu::this_device().runs = false;
    REQUIRE(tt::transform_transpose_batched(out, in, 1024, 1028, batch, op) == cudaSuccess);
    const tt::explanation e = tt::explain_transform(
        tt::matrix_view<std::uint8_t>{out, 1024, 1028, 1028}, 1024 * 1028,
        tt::matrix_view<const std::uint16_t>{in, 1028, 1024, 1024}, 1024 * 1028, batch);
    INFO(tt::to_string(e));
    REQUIRE(std::string(e.rule) == "fused micro-blocks");
    REQUIRE(e.tile_rows == 128);
    REQUIRE(e.launches == cpu::this_device().seen.size());
    size_type blocks = 0;
    for (const cpu::launch_shape& one : cpu::this_device().seen) {
      blocks += one.grid.x;
      REQUIRE(one.block.x == 256);
    }
    REQUIRE(blocks == 8 * 9 * batch);
    REQUIRE(e.blocks == blocks);
  }
}
