// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::reverse, flip_lr, flip_ud, rotate, anti_transpose and reorient: element type x shape x pitch x
// alignment of both pointers.

#include "symmetries.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

// Every kernel with few elements: rows in all directions, tiles whole and cut, spans of a block and
// just more than one.
void check_quick(std::size_t lowest, std::size_t highest) {
  for_each_type(
      calls_between(lowest, highest), [&](const symmetry_calls& c, random_source& random) {
        const std::size_t step = c.type.alignment;
        check_reverse(c, 1, random);
        check_reverse(c, 97, random, step, 0);
        check_reverse(c, 16128 / c.type.size + 5, random, 0, 3 * step);
        check_reverse(c, 40000 / c.type.size, random, step, step);
        for (const symmetry s : every_symmetry) {
          check_dense(c, s, {33, 47}, random);
          check_views(c, s, {65, 64}, 3, 2, random, step, 0);
        }
        // Rows of more than a block, and of a few elements.
        for (const symmetry s : {symmetry::flip_lr, symmetry::flip_ud, symmetry::rotate_180}) {
          check_views(c, s, {17000 / c.type.size, 3}, 1, 2, random, 0, step);
          check_dense(c, s, {3, 301}, random);
        }
      });
}

// Transposes of whole tiles, few columns and few rows take kernels of their own.
void check_quick_tiles(std::size_t lowest, std::size_t highest) {
  for_each_type(between(plain_calls(), lowest, highest), [&](const symmetry_calls& c,
                                                             random_source& random) {
    for (const symmetry s : {symmetry::rotate_90, symmetry::rotate_270, symmetry::anti_transpose}) {
      check_dense(c, s, {128, 256}, random);
      check_dense(c, s, {3, 257}, random);
      check_dense(c, s, {257, 3}, random);
      check_dense(c, s, {1, 100}, random);
      check_dense(c, s, {100, 1}, random);
      check_views(c, s, {1, 100}, 2, 0, random);
      check_views(c, s, {100, 1}, 0, 2, random);
    }
  });
}

}  // namespace

TEST_CASE("reverse: every path, 1 and 2 bytes", "[reverse][quick]") { check_quick(1, 2); }
TEST_CASE("reverse: every path, 3 bytes", "[reverse][quick]") { check_quick(3, 3); }
TEST_CASE("reverse: every path, 4 bytes", "[reverse][quick]") { check_quick(4, 4); }
TEST_CASE("reverse: every path, 5 to 7 bytes", "[reverse][quick]") { check_quick(5, 7); }
TEST_CASE("reverse: every path, 8 bytes", "[reverse][quick]") { check_quick(8, 8); }
TEST_CASE("reverse: every path, 12 to 15 bytes", "[reverse][quick]") { check_quick(12, 15); }
TEST_CASE("reverse: every path, 16 bytes", "[reverse][quick]") { check_quick(16, 16); }
TEST_CASE("reverse: every path, 31 to 33 bytes", "[reverse][quick]") { check_quick(31, 33); }
TEST_CASE("reverse: every path, 48 to 64 bytes", "[reverse][quick]") { check_quick(48, 64); }

TEST_CASE("reverse: whole tiles and skinny ones, 1 to 3 bytes", "[reverse][quick]") {
  check_quick_tiles(1, 3);
}
TEST_CASE("reverse: whole tiles and skinny ones, 4 and 8 bytes", "[reverse][quick]") {
  check_quick_tiles(4, 8);
}
TEST_CASE("reverse: whole tiles and skinny ones, 12 to 64 bytes", "[reverse][quick]") {
  check_quick_tiles(12, 64);
}

// ---------------------------------------------------- arrays

TEST_CASE("reverse: few elements", "[reverse]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (std::size_t n = 1; n <= 70; ++n) {
      check_reverse(c, n, random);
      check_reverse(c, n, random, some_misalignment(c.type, random),
                    some_misalignment(c.type, random));
    }
  });
}

TEST_CASE("reverse: every offset of either pointer", "[reverse]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (std::size_t in = 0; in <= 16; in += c.type.alignment) {
      for (std::size_t out = 0; out <= 16; out += c.type.alignment) {
        check_reverse(c, 3000 / c.type.size + 1, random, in, out);
      }
      check_reverse(c, 50000 / c.type.size + 1, random, in,
                    c.type.alignment * random.between(0, 16 / c.type.alignment));
    }
  });
}

TEST_CASE("reverse: lengths about a block's span", "[reverse]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t chunk : chunk_bytes) {
      for (const std::size_t times : {1, 2, 3, 7}) {
        for (const std::size_t n : counts_near(times * chunk, c.type.size)) {
          check_reverse(c, n, random);
          check_reverse(c, n, random, some_misalignment(c.type, random),
                        some_misalignment(c.type, random));
        }
      }
    }
  });
}

TEST_CASE("reverse: a few million bytes", "[reverse]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    const std::size_t n = random.between(3000000, 5000000) / c.type.size;
    check_reverse(c, n, random);
    check_reverse(c, n, random, c.type.alignment, some_misalignment(c.type, random));
  });
}

// ---------------------------------------------------- matrices

namespace {
void check_sides(std::size_t lowest, std::size_t highest) {
  const std::size_t sides[] = {1, 2, 3, 7, 16, 31, 32, 33, 64, 65, 127, 128, 129, 257};
  const auto check = [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t nx : sides) {
      for (const std::size_t ny : sides) {
        for (const symmetry s : every_symmetry) {
          if (random.between(0, 1) == 0) {
            check_dense(c, s, {nx, ny}, random, some_misalignment(c.type, random),
                        some_misalignment(c.type, random));
          } else {
            check_views(c, s, {nx, ny}, random.between(0, 9), random.between(0, 9), random);
          }
        }
      }
    }
  };
  for_each_type(between(plain_calls(), lowest, highest), check);
}
}  // namespace

TEST_CASE("reorient: sides about the edges of tiles, up to 4 bytes", "[reorient]") {
  check_sides(1, 4);
}
TEST_CASE("reorient: sides about the edges of tiles, 5 to 64 bytes", "[reorient]") {
  check_sides(5, 64);
}

TEST_CASE("reorient: random parts of random matrices", "[reorient]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    for (int i = 0; i < 12; ++i) {
      const bool skinny = i % 3 == 0;
      shape s{random.between(1, skinny ? 40 : 300), random.between(1, skinny ? 3000 : 300)};
      if (random.between(0, 1) == 1) std::swap(s.nx, s.ny);
      for (const symmetry how : every_symmetry) {
        check_views(c, how, s, random.between(0, 70), random.between(0, 70), random,
                    some_misalignment(c.type, random), some_misalignment(c.type, random));
      }
    }
  });
}

TEST_CASE("reorient: many short rows", "[reorient]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (std::size_t nx = 1; nx <= 40; ++nx) {
      for (const symmetry s : every_symmetry) {
        check_dense(c, s, {nx, 1000 + nx}, random, some_misalignment(c.type, random),
                    some_misalignment(c.type, random));
        check_views(c, s, {nx, 300}, random.between(0, 3), random.between(0, 3), random);
      }
    }
  });
}

TEST_CASE("reorient: one row and one column", "[reorient]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t n : {1, 2, 3, 40, 1000, 20011}) {
      for (const symmetry s : every_symmetry) {
        for (const shape one : {shape{n, 1}, shape{1, n}}) {
          check_dense(c, s, one, random);
          check_views(c, s, one, 1, 0, random, c.type.alignment, 0);
          check_views(c, s, one, 0, 3, random, 0, c.type.alignment);
        }
      }
    }
  });
}

TEST_CASE("reorient: rows about a block's span", "[reorient]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (const std::size_t around : notable_row_bytes) {
      for (const std::size_t nx : counts_near(around, c.type.size)) {
        for (const symmetry s : row_symmetries) {
          check_dense(c, s, {nx, random.between(2, 9)}, random, some_misalignment(c.type, random),
                      some_misalignment(c.type, random));
          check_views(c, s, {nx, random.between(2, 9)}, random.between(0, 20),
                      random.between(0, 20), random);
        }
      }
    }
  });
}

// From the last to the first, short rows are moved as elements of their own length.
TEST_CASE("reorient: rows of every length up to 600 bytes", "[reorient]") {
  require_device();
  random_source random;
  for (const symmetry_calls& c : plain_calls()) {
    if (c.type.size > 4) continue;
    DYNAMIC_SECTION(c.type.name) {
      for (std::size_t nx = 1; nx * c.type.size <= 600; ++nx) {
        for (const symmetry s : {symmetry::flip_lr, symmetry::flip_ud}) {
          check_dense(c, s, {nx, 60000 / (nx * c.type.size) + 2}, random);
          check_dense(c, s, {nx, 97}, random, some_misalignment(c.type, random),
                      some_misalignment(c.type, random));
        }
      }
    }
  }
}

TEST_CASE("reorient: long rows that are transposed", "[reorient]") {
  for_each_type(plain_calls(), [&](const symmetry_calls& c, random_source& random) {
    for (const symmetry s : {symmetry::rotate_90, symmetry::rotate_270, symmetry::anti_transpose}) {
      for (const std::size_t few : {2, 3, 5, 33}) {
        check_dense(c, s, {few, 30011}, random);
        check_dense(c, s, {30011, few}, random);
        check_views(c, s, {few, 5003}, 1, 3, random);
        check_views(c, s, {5003, few}, 3, 1, random);
      }
    }
  });
}

// ---------------------------------------------------- names

TEST_CASE("reorient: each name is its symmetry", "[reorient][quick]") {
  for_each_type(calls_between(3, 4), [&](const symmetry_calls& c, random_source& random) {
    const shape s{37, 21};
    const auto check_name = [&](symmetry how, auto launch) {
      check_reorient(c.type, how, s, {s.nx, reoriented(s, how).nx, 0, 0}, random, launch);
    };
    check_name(symmetry::flip_lr,
               [&](std::byte* out, const std::byte* in) { return c.flip_lr(out, in, s); });
    check_name(symmetry::flip_ud,
               [&](std::byte* out, const std::byte* in) { return c.flip_ud(out, in, s); });
    check_name(symmetry::anti_transpose,
               [&](std::byte* out, const std::byte* in) { return c.anti_transpose(out, in, s); });
    const std::pair<long long, symmetry> turns[] = {
        {0, symmetry::identity},     {1, symmetry::rotate_90},   {2, symmetry::rotate_180},
        {3, symmetry::rotate_270},   {4, symmetry::identity},    {-1, symmetry::rotate_270},
        {-2, symmetry::rotate_180},  {-3, symmetry::rotate_90},  {-4, symmetry::identity},
        {1001, symmetry::rotate_90}, {-999, symmetry::rotate_90}};
    for (const auto& [count, how] : turns) {
      INFO(count << " turns");
      check_name(how, [&, turn = count](std::byte* out, const std::byte* in) {
        return c.rotate(out, in, s, turn);
      });
    }
  });
}

// ---------------------------------------------------- properties

namespace {

// What is left of random content after these symmetries, one after the other, each on the device.
byte_vector after(const symmetry_calls& c, const byte_vector& content, shape s,
                  const std::vector<symmetry>& steps) {
  const device_allocation first{content.size()};
  const device_allocation second{content.size()};
  upload(first.data(), content);
  std::byte* in = first.data();
  std::byte* out = second.data();
  for (const symmetry how : steps) {
    check_cuda(cudaMemset(out, 0xa5, content.size()), "cudaMemset");
    const shape t = reoriented(s, how);
    check_cuda(c.reorient(out, t.nx, in, s.nx, s, how), "reorient");
    check_cuda(cudaDeviceSynchronize(), "reorient");
    s = t;
    std::swap(in, out);
  }
  return download(in, content.size());
}

void check_properties(const symmetry_calls& c, shape s, random_source& random) {
  INFO(c.type.name << ", nx " << s.nx << ", ny " << s.ny << "; repeat with --rng-seed "
                   << Catch::getSeed());
  const byte_vector content = random.fill(s.nx * s.ny * c.type.size);
  for (const symmetry how : every_symmetry) {
    INFO(name(how));
    REQUIRE(after(c, content, s, {how, tt::inverse(how)}) == content);
  }
  for (const symmetry flip : {symmetry::flip_lr, symmetry::flip_ud, symmetry::rotate_180}) {
    INFO(name(flip));
    REQUIRE(after(c, content, s, {flip, flip}) == content);
  }
  for (const symmetry turn : {symmetry::rotate_90, symmetry::rotate_270}) {
    INFO(name(turn));
    REQUIRE(after(c, content, s, {turn, turn, turn, turn}) == content);
  }
}

}  // namespace

TEST_CASE("reorient: what is done is undone, small", "[reorient][quick]") {
  require_device();
  random_source random;
  check_properties(calls_between(4, 4).back(), {45, 70}, random);
}

TEST_CASE("reorient: what is done is undone", "[reorient]") {
  for_each_type(every_call(), [&](const symmetry_calls& c, random_source& random) {
    check_properties(c, {random.between(1, 300), random.between(1, 300)}, random);
    check_properties(c, {random.between(1, 9), random.between(1, 3000)}, random);
  });
}

TEST_CASE("reorient: one after the other is their composition", "[reorient]") {
  require_device();
  random_source random;
  const symmetry_calls c = calls_between(4, 4).back();
  const shape s{67, 35};
  const byte_vector content = random.fill(s.nx * s.ny * c.type.size);
  INFO("repeat with --rng-seed " << Catch::getSeed());
  for (const symmetry first : every_symmetry) {
    for (const symmetry second : every_symmetry) {
      INFO(name(second) << " after " << name(first));
      REQUIRE(after(c, content, s, {first, second}) ==
              after(c, content, s, {tt::compose(second, first)}));
    }
  }
}

// ---------------------------------------------------- one parent

namespace {

// Input and output are parts of one parent of `stride` columns; they start at these columns.
void check_in_one_parent(const symmetry_calls& c, symmetry how, shape s, std::size_t stride,
                         std::size_t in_col, std::size_t out_col, random_source& random) {
  const shape t = reoriented(s, how);
  INFO(describe(c.type, how, s) << ", stride " << stride << ", input at column " << in_col
                                << ", output at column " << out_col << "; repeat with --rng-seed "
                                << Catch::getSeed());
  const std::size_t size = c.type.size;
  const byte_vector content = random.fill(s.nx * s.ny * size);
  const host_matrix source{content.data(), s.ny, s.nx, s.nx, size};
  const byte_vector expected = reoriented(source, how);
  output_buffer parent{std::max(s.ny, t.ny) * stride * size, 0, random};
  parent.hold(in_col * size, stride, source);
  parent.expect(out_col * size, stride, {expected.data(), t.ny, t.nx, t.nx, size});
  parent.poison();
  REQUIRE(c.reorient(parent.data() + out_col * size, stride, parent.data() + in_col * size, stride,
                     s, how) == cudaSuccess);
  REQUIRE(parent.difference() == "");
}

}  // namespace

TEST_CASE("reorient: input and output in one parent", "[reorient][quick]") {
  for_each_type(calls_between(3, 4), [&](const symmetry_calls& c, random_source& random) {
    for (const symmetry how : every_symmetry) {
      const shape s{random.between(1, 90), random.between(1, 90)};
      const shape t = reoriented(s, how);
      const std::size_t gap = random.between(0, 5);
      check_in_one_parent(c, how, s, s.nx + gap + t.nx, 0, s.nx + gap, random);
      check_in_one_parent(c, how, s, s.nx + gap + t.nx, t.nx + gap, 0, random);
    }
  });
}
