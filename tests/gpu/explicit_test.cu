// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose with TileDim, BlockRows, Padding and BankWidth given.

#include "support.cuh"

using namespace tt_test;

namespace {

struct explicit_transpose {
  std::size_t tile;
  flat_transpose flat;
  view_transpose view;
};

// Tile: TileDim, BlockRows and, if given, Padding and BankWidth.
template <class T, int TileDim, int... Tile>
explicit_transpose make_explicit(const char* name) {
  return {TileDim, make_flat<T, TileDim, Tile...>(name), make_view<T, TileDim, Tile...>(name)};
}

const std::vector<explicit_transpose> transposes{
    make_explicit<float, 32, 8>("float, 32, 8"),
    make_explicit<float, 32, 8, 1>("float, 32, 8, 1"),
    make_explicit<float, 32, 8, 3>("float, 32, 8, 3"),
    make_explicit<float, 32, 32>("float, 32, 32"),
    make_explicit<float, 32, 1>("float, 32, 1"),
    make_explicit<float, 16, 16>("float, 16, 16"),
    make_explicit<float, 8, 2>("float, 8, 2"),
    make_explicit<float, 64, 8>("float, 64, 8"),
    make_explicit<double, 32, 8>("double, 32, 8"),
    make_explicit<double, 32, 8, 1, 8>("double, 32, 8, 1, 8"),
    make_explicit<std::uint8_t, 32, 8>("std::uint8_t, 32, 8"),
    make_explicit<std::uint8_t, 64, 4>("std::uint8_t, 64, 4"),
    make_explicit<std::uint16_t, 64, 8>("std::uint16_t, 64, 8"),
    make_explicit<bytes<3>, 32, 8>("3 bytes, 32, 8"),
    make_explicit<float_triple, 32, 8>("float_triple, 32, 8"),
    make_explicit<aligned_quad, 32, 8>("aligned_quad, 32, 8"),
};

}  // namespace

TEST_CASE("explicit: every instantiation at a small size", "[explicit][quick]") {
  require_device();
  random_source random;
  for (const explicit_transpose& t : transposes) {
    DYNAMIC_SECTION(t.flat.type.name) {
      const std::size_t step = t.flat.type.alignment;
      check(t.flat, {1, 1}, random);
      check(t.flat, {64, 64}, random);
      check(t.flat, {67, 35}, random, step, 3 * step);
      check(t.view, {35, 67}, {40, 70, 3 * step, step}, random);
    }
  }
}

TEST_CASE("explicit: shapes on both sides of the tile's edges", "[explicit]") {
  require_device();
  random_source random;
  for (const explicit_transpose& t : transposes) {
    DYNAMIC_SECTION(t.flat.type.name) {
      const std::size_t sides[] = {
          1, 2, 3, t.tile - 1, t.tile, t.tile + 1, 2 * t.tile, 3 * t.tile - 1, 4 * t.tile, 263};
      for (const std::size_t nx : sides) {
        for (const std::size_t ny : sides) check(t.flat, {nx, ny}, random);
      }
    }
  }
}

TEST_CASE("explicit: random views", "[explicit][view]") {
  require_device();
  random_source random;
  for (const explicit_transpose& t : transposes) {
    DYNAMIC_SECTION(t.flat.type.name) {
      const std::size_t most = 64 / t.flat.type.alignment;
      for (int i = 0; i < 25; ++i) {
        const shape s{random.between(1, 300), random.between(1, 300)};
        check(t.view, s,
              {s.nx + random.between(0, 40), s.ny + random.between(0, 40),
               t.flat.type.alignment * random.between(0, most),
               t.flat.type.alignment * random.between(0, most)},
              random);
      }
    }
  }
}

// A grid that counts tiles in y would end at 65535 of them.
TEST_CASE("explicit: taller and wider than 65535 tiles", "[explicit]") {
  require_device();
  random_source random;
  for (const explicit_transpose& t : transposes) {
    if (t.flat.type.size > 4) continue;
    DYNAMIC_SECTION(t.flat.type.name) {
      const std::size_t length = 65537 * t.tile + 1;
      check(t.flat, {2, length}, random);
      check(t.flat, {length, 2}, random);
    }
  }
}
