// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What works in its own memory: reverse, flips, half turns and squares without scratch, any matrix
// with scratch.

#include <initializer_list>
#include <string>

#include "symmetries.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

void check_reverse_inplace(const symmetry_calls& c, std::size_t n, random_source& random,
                           std::size_t misalignment = 0) {
  check_inplace(c.type, symmetry::flip_lr, {n, 1}, n, misalignment, random,
                [&](std::byte* data) { return c.reverse_inplace(data, n); });
}

void check_square(const symmetry_calls& c, std::size_t n, std::size_t gap, random_source& random,
                  std::size_t misalignment = 0) {
  check_inplace(c.type, symmetry::transpose, {n, n}, n + gap, misalignment, random,
                [&](std::byte* data) {
                  return gap == 0 ? c.transpose_inplace(data, {n, n})
                                  : c.transpose_inplace_view(data, {n, n}, n + gap);
                });
}

void check_quick(std::size_t lowest, std::size_t highest) {
  for_each_type(calls_between(lowest, highest),
                [&](const symmetry_calls& c, random_source& random) {
                  const std::size_t step = c.type.alignment;
                  check_reverse_inplace(c, 97, random, step);
                  check_reverse_inplace(c, 16128 / c.type.size + 4, random);
                  check_reverse_inplace(c, 40001 / c.type.size, random, 3 * step);
                  for (const symmetry s : row_symmetries) {
                    check_inplace(c, s, {21, 46}, 0, random, step);
                    check_inplace(c, s, {17000 / c.type.size, 3}, 1, random);
                    check_inplace(c, s, {17001 / c.type.size, 4}, 0, random);
                  }
                  for (const symmetry s : every_symmetry) {
                    if (swaps_sides(s)) check_inplace(c, s, {67, 67}, 2, random);
                  }
                  check_square(c, 128, 0, random);
                  check_square(c, 75, 0, random, step);
                });
}

}  // namespace

TEST_CASE("in place: every path, 1 and 2 bytes", "[inplace][quick]") { check_quick(1, 2); }
TEST_CASE("in place: every path, 3 bytes", "[inplace][quick]") { check_quick(3, 3); }
TEST_CASE("in place: every path, 4 bytes", "[inplace][quick]") { check_quick(4, 4); }
TEST_CASE("in place: every path, 5 to 7 bytes", "[inplace][quick]") { check_quick(5, 7); }
TEST_CASE("in place: every path, 8 bytes", "[inplace][quick]") { check_quick(8, 8); }
TEST_CASE("in place: every path, 12 to 15 bytes", "[inplace][quick]") { check_quick(12, 15); }
TEST_CASE("in place: every path, 16 bytes", "[inplace][quick]") { check_quick(16, 16); }
TEST_CASE("in place: every path, 31 to 33 bytes", "[inplace][quick]") { check_quick(31, 33); }
TEST_CASE("in place: every path, 48 to 64 bytes", "[inplace][quick]") { check_quick(48, 64); }

// The side from which on squares take large tiles: 32 of them.
template <std::size_t Size>
constexpr std::size_t large_side =
    32 * tt::detail::byte_tile_shape<Size, tt::access_width(Size)>::side;

// Squares of which tiles in the middle are loaded without a question, and those at the edges are not; `gap` elements
// between rows, of large ones with a gap of one alone.
template <std::size_t Size, std::size_t Alignment>
void check_squares_of(std::initializer_list<std::size_t> sides) {
  require_device();
  random_source random;
  using T = block<Size, Alignment>;
  const element_type type = describe<T>(std::to_string(Size) + " bytes");
  for (const std::size_t n : sides) {
    for (const std::size_t gap : {0, 1, 3}) {
      if (n > large_side<Size> && gap != 1) continue;
      check_inplace(type, symmetry::transpose, {n, n}, n + gap, gap * Alignment, random,
                    [&](std::byte* data) {
                      auto* const first = reinterpret_cast<T*>(data);
                      return gap == 0
                                 ? tt::transpose_inplace(first, n, n)
                                 : tt::transpose_inplace(tt::matrix_view<T>{first, n, n, n + gap});
                    });
    }
  }
}

TEST_CASE("in place: large tiles of squares", "[inplace][quick]") {
  check_squares_of<1, 1>({large_side<1> + 1});
  check_squares_of<2, 2>({large_side<2> + 1});
  check_squares_of<4, 4>({large_side<4> + 1});
  check_squares_of<8, 8>({large_side<8> + 1});
}

TEST_CASE("in place: large tiles of whole accesses", "[inplace][quick]") {
  require_device();
  random_source random;
  check_square(calls_between(1, 1).front(), 32 * 256, 16, random);
}

TEST_CASE("in place: squares of 3 bytes", "[inplace][quick]") {
  check_squares_of<3, 1>({2, 47, 151, 1000, large_side<3> + 1});
}
TEST_CASE("in place: squares of 5 bytes", "[inplace][quick]") {
  check_squares_of<5, 1>({2, 31, 151, 1000, large_side<5> + 1});
}
TEST_CASE("in place: squares of 6 bytes", "[inplace][quick]") {
  check_squares_of<6, 2>({2, 31, 151, 1000, large_side<6> + 1});
}
TEST_CASE("in place: squares of 7 bytes", "[inplace][quick]") {
  check_squares_of<7, 1>({2, 31, 151, 1000, large_side<7> + 1});
}
TEST_CASE("in place: squares of 12 bytes", "[inplace][quick]") {
  check_squares_of<12, 4>({2, 19, 151, 1000, large_side<12> + 1});
}
TEST_CASE("in place: squares of 15 and 16 bytes", "[inplace][quick]") {
  check_squares_of<15, 1>({2, 15, 151, large_side<15> + 1});
  check_squares_of<16, 8>({2, 15, 151, large_side<16> + 1});
}
TEST_CASE("in place: squares of 20 and 24 bytes", "[inplace][quick]") {
  check_squares_of<20, 4>({2, 15, 151, large_side<20> + 1});
  check_squares_of<24, 8>({2, 15, 151, large_side<24> + 1});
}
TEST_CASE("in place: squares of 45 and 64 bytes", "[inplace][quick]") {
  check_squares_of<45, 1>({2, 11, 151, large_side<45> + 1});
  check_squares_of<64, 16>({2, 8, 151, large_side<64> + 1});
}

// Squares whose rows start at multiples of 16 bytes, large enough for tiles of wide accesses, of which the last are cut
// off.
template <std::size_t Size, std::size_t Alignment>
void check_aligned_byte_tiles() {
  using namespace tt::detail;
  require_device();
  random_source random;
  using T = block<Size, Alignment>;
  constexpr int access = tt::access_width(Size);
  static_assert(has_aligned_byte_tiles<Size, access>);
  constexpr std::size_t n = 32 * byte_tile_shape<Size, access, byte_tiles::aligned>::side + 5;
  std::size_t stride = n + 1;
  while (stride * Size % 16 != 0) ++stride;
  check_inplace(
      describe<T>(std::to_string(Size) + " bytes"), symmetry::transpose, {n, n}, stride, 16, random,
      [&](std::byte* data) {
        return tt::transpose_inplace(tt::matrix_view<T>{reinterpret_cast<T*>(data), n, n, stride});
      });
}

TEST_CASE("in place: squares whose rows start on 16 bytes", "[inplace][quick]") {
  check_aligned_byte_tiles<5, 1>();
  check_aligned_byte_tiles<11, 1>();
  check_aligned_byte_tiles<40, 8>();
}
TEST_CASE("in place: more squares whose rows start on 16 bytes", "[inplace]") {
  check_aligned_byte_tiles<3, 1>();
  check_aligned_byte_tiles<6, 2>();
  check_aligned_byte_tiles<12, 4>();
  check_aligned_byte_tiles<20, 1>();
  check_aligned_byte_tiles<48, 16>();
  check_aligned_byte_tiles<63, 1>();
}

// Rows that start on 16 bytes but not on lines, 48 tiles and more.
TEST_CASE("in place: large squares of whole accesses beside lines", "[inplace]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    if (c.type.size != 8 && c.type.size != 16) continue;
    DYNAMIC_SECTION(c.type.name) {
      const std::size_t side = c.type.size == 8 ? 48 * 64 : 48 * 48;
      check_square(c, side, 16 / c.type.size, random);
    }
  }
}

// ---------------------------------------------------- reverse, flips, half turns

TEST_CASE("in place: reverse of few elements", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (std::size_t n = 1; n <= 70; ++n) {
      check_reverse_inplace(c, n, random);
      check_reverse_inplace(c, n, random, some_misalignment(c.type, random));
    }
  });
}

TEST_CASE("in place: reverse at every offset", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (std::size_t offset = 0; offset <= 16; offset += c.type.alignment) {
      // The middle of the array falls on every place within 16 bytes.
      for (std::size_t more = 0; more < 33; ++more) {
        check_reverse_inplace(c, 3000 / c.type.size + more, random, offset);
      }
      check_reverse_inplace(c, 20000 / c.type.size + random.between(0, 40), random, offset);
      check_reverse_inplace(c, 90000 / c.type.size + random.between(0, 40), random, offset);
    }
  });
}

TEST_CASE("in place: reverse of lengths about a block's span", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t chunk : chunk_bytes) {
      for (const std::size_t times : {1, 2, 3, 4, 7}) {
        for (const std::size_t n : counts_near(times * chunk, c.type.size)) {
          check_reverse_inplace(c, n, random);
          check_reverse_inplace(c, n, random, some_misalignment(c.type, random));
        }
      }
    }
  });
}

TEST_CASE("in place: reverse of a few million bytes", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    check_reverse_inplace(c, random.between(3000000, 5000000) / c.type.size, random,
                          some_misalignment(c.type, random));
  });
}

TEST_CASE("in place: many short rows", "[inplace]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (std::size_t nx = 1; nx <= 40; ++nx) {
      for (const symmetry s : row_symmetries) {
        check_inplace(c, s, {nx, 1000 + nx}, 0, random, some_misalignment(c.type, random));
        check_inplace(c, s, {nx, 1001}, random.between(1, 4), random);
      }
    }
  });
}

TEST_CASE("in place: rows about a block's span", "[inplace]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t around : notable_row_bytes) {
      for (const std::size_t nx : counts_near(around, c.type.size)) {
        for (const symmetry s : row_symmetries) {
          check_inplace(c, s, {nx, random.between(1, 9)}, 0, random,
                        some_misalignment(c.type, random));
          check_inplace(c, s, {nx, random.between(1, 9)}, random.between(1, 20), random);
        }
      }
    }
  });
}

// From the last to the first, short rows are moved as elements of their own length.
TEST_CASE("in place: rows of every length up to 600 bytes", "[inplace]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    if (c.type.size > 4) continue;
    DYNAMIC_SECTION(c.type.name) {
      for (std::size_t nx = 1; nx * c.type.size <= 600; ++nx) {
        for (const symmetry s : {symmetry::flip_lr, symmetry::flip_ud}) {
          check_inplace(c, s, {nx, 60000 / (nx * c.type.size) + 2}, 0, random);
          check_inplace(c, s, {nx, 97}, 0, random, some_misalignment(c.type, random));
        }
      }
    }
  }
}

TEST_CASE("in place: random parts of random matrices", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (int i = 0; i < 20; ++i) {
      const shape s{random.between(1, 400), random.between(1, 400)};
      for (const symmetry how : row_symmetries) {
        check_inplace(c, how, s, random.between(0, 70), random, some_misalignment(c.type, random));
      }
    }
  });
}

TEST_CASE("in place: each name is its symmetry", "[inplace][quick]") {
  for_each_type(calls_between(3, 4), [&](const symmetry_calls& c, random_source& random) {
    const auto check_name = [&](symmetry how, auto call, shape s = {37, 21}) {
      check_inplace(c.type, how, s, s.nx, 0, random,
                    [&](std::byte* data) { return call(data, s); });
    };
    check_name(symmetry::flip_lr, c.flip_lr_inplace);
    check_name(symmetry::flip_ud, c.flip_ud_inplace);
    check_name(symmetry::rotate_180, c.rotate_180_inplace);
    for (const long long turns : {-5, -1, 0, 1, 2, 3, 6}) {
      const symmetry how = tt::quarter_turns(turns);
      const shape s = tt::transposes(how) ? shape{37, 37} : shape{37, 21};
      check_name(
          how, [&](std::byte* data, shape t) { return c.rotate_inplace(data, t, turns); }, s);
    }
  });
}

// ---------------------------------------------------- squares

TEST_CASE("in place: squares about the edges of tiles", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t n : {1,  2,  3,  15,  16,  17,  31,  32,  33,  63,  64,  65,
                                95, 96, 97, 127, 128, 129, 191, 255, 256, 257, 383, 513}) {
      check_square(c, n, 0, random);
      check_square(c, n, random.between(1, 40), random, some_misalignment(c.type, random));
    }
  });
}

TEST_CASE("in place: every symmetry of a square", "[inplace]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (const symmetry how : every_symmetry) {
      for (int i = 0; i < 6; ++i) {
        const std::size_t n = random.between(1, 300);
        check_inplace(c, how, {n, n}, i % 2 == 0 ? 0 : random.between(1, 70), random,
                      some_misalignment(c.type, random));
      }
    }
  });
}

TEST_CASE("in place: large squares", "[inplace]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    const std::size_t n = c.type.size == 64 ? 600 : 1600;
    check_square(c, n, 0, random);
    check_square(c, n + 1, 0, random);
    check_square(c, n + 3, 5, random, c.type.alignment);
  });
}

TEST_CASE("in place: what is done is undone", "[inplace][quick]") {
  require_device();
  random_source random;
  const symmetry_calls c = calls_between(4, 4).back();
  const shape s{83, 83};
  const byte_vector content = random.fill(s.nx * s.ny * c.type.size);
  const device_allocation data{content.size()};
  for (const symmetry how : every_symmetry) {
    INFO(name(how) << "; repeat with --rng-seed " << Catch::getSeed());
    upload(data.data(), content);
    REQUIRE(c.reorient_inplace(data.data(), s, s.nx, how) == cudaSuccess);
    REQUIRE((download(data.data(), content.size()) == content) == (how == symmetry::identity));
    REQUIRE(c.reorient_inplace(data.data(), s, s.nx, tt::inverse(how)) == cudaSuccess);
    REQUIRE(download(data.data(), content.size()) == content);
  }
}
