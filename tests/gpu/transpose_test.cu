// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose, tuned: element type x shape x alignment of both pointers.

#include "support.cuh"

using namespace tt_test;

namespace {

const std::vector<flat_transpose> transposes{
    make_flat<bytes<1>>("1 byte"),
    make_flat<bytes<2>>("2 bytes"),
    make_flat<bytes<3>>("3 bytes"),
    make_flat<bytes<4>>("4 bytes"),
    make_flat<bytes<5>>("5 bytes"),
    make_flat<bytes<6>>("6 bytes"),
    make_flat<bytes<7>>("7 bytes"),
    make_flat<bytes<8>>("8 bytes"),
    make_flat<bytes<12>>("12 bytes"),
    make_flat<bytes<16>>("16 bytes"),
    make_flat<bytes<24>>("24 bytes"),
    make_flat<bytes<31>>("31 bytes"),
    make_flat<bytes<32>>("32 bytes"),
    make_flat<bytes<48>>("48 bytes"),
    make_flat<bytes<63>>("63 bytes"),
    make_flat<bytes<64>>("64 bytes"),
    make_flat<std::uint8_t>("std::uint8_t"),
    make_flat<std::uint16_t>("std::uint16_t"),
    make_flat<float>("float"),
    make_flat<double>("double"),
    make_flat<float_triple>("float_triple"),
    make_flat<float_quad>("float_quad"),
    make_flat<aligned_quad>("aligned_quad"),
    make_flat<aligned_32>("aligned_32"),
};

// The plain types: enough where a test is about the shape and the type has been covered elsewhere.
const std::vector<flat_transpose> plain_transposes{
    make_flat<std::uint8_t>("std::uint8_t"),
    make_flat<std::uint16_t>("std::uint16_t"),
    make_flat<float>("float"),
    make_flat<double>("double"),
    make_flat<float_triple>("float_triple"),
    make_flat<aligned_quad>("aligned_quad"),
};

// Every offset within a 32-byte sector that the type allows, and one in the next.
std::vector<std::size_t> offsets(const element_type& type) {
  std::vector<std::size_t> result;
  for (std::size_t o = 0; o <= 32; o += type.alignment) result.push_back(o);
  return result;
}

// Large enough for a tile that no edge of the matrix touches.
shape three_tiles(const element_type& type) {
  return type.size == 1 ? shape{389, 777} : type.size == 2 ? shape{389, 389} : shape{131, 259};
}

}  // namespace

TEST_CASE("tuned: every path at a small size", "[transpose][quick]") {
  // Whole tiles of every size in use, ragged ones, one row, one column, skinny both ways.
  const shape shapes[] = {{1, 1},   {33, 31}, {64, 64},  {512, 256}, {256, 129}, {129, 256},
                          {257, 3}, {3, 257}, {8, 1031}, {1031, 8},  {300, 1},   {1, 300}};
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    for (const shape s : shapes) check(t, s, random);
    const std::size_t step = t.type.alignment;
    check(t, {128, 256}, random, step, 0);
    check(t, {128, 256}, random, 0, step);
    check(t, {7, 512}, random, 3 * step, 5 * step);
    check(t, {512, 7}, random, 5 * step, 3 * step);
    check(t, three_tiles(t.type), random);
    check(t, three_tiles(t.type), random, step, 3 * step);
    if (t.type.size <= 2) {
      // Boxes of words that start at every row: the first, the last and one between.
      for (const shape s : {shape{20, 3001}, shape{5, 13001}, shape{3001, 20}, shape{1999, 33}}) {
        check(t, s, random);
        check(t, s, random, 3 * step, 5 * step);
      }
    }
    if (t.type.size <= 4) {
      // Rows of 33 times 16 bytes: open to 16-byte accesses, and every second one off a sector.
      check(t, {528 / t.type.size, 528 / t.type.size}, random);
      check(t, {528 / t.type.size, 528 / t.type.size}, random, 0, 16);
    }
  });
}

TEST_CASE("tuned: tall tiles", "[transpose][quick]") {
  require_device();
  random_source random;
  check(make_flat<std::uint8_t>("std::uint8_t"), {257, 49201}, random, 1, 3);
  check(make_flat<double>("double"), {67, 49157}, random, 8, 24);
}

TEST_CASE("tuned: groups of elements in rows of whole accesses", "[transpose][quick]") {
  const std::vector<flat_transpose> grouped{
      make_flat<bytes<3>>("3 bytes"), make_flat<bytes<5>>("5 bytes"),
      make_flat<bytes<6>>("6 bytes"), make_flat<bytes<7>>("7 bytes"),
      make_flat<bytes<10>>("10 bytes")};
  for_each_type(grouped, [&](const flat_transpose& t, random_source& random) {
    check(t, {2768, 160}, random);
    check(t, {2784, 224}, random, 16, 32);
  });
}

TEST_CASE("tuned: shapes on both sides of every tile edge", "[transpose]") {
  const std::size_t sides[] = {1,  2,  3,  5,  8,   16,  17,  31,  32,  33,
                               63, 64, 65, 97, 127, 128, 129, 255, 256, 257};
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    for (const std::size_t nx : sides) {
      for (const std::size_t ny : sides) check(t, {nx, ny}, random);
    }
  });
}

TEST_CASE("tuned: prime and power of two sides of several tiles", "[transpose]") {
  const shape shapes[] = {{509, 521},  {1021, 257}, {263, 1031}, {512, 1024}, {1024, 521},
                          {521, 1024}, {528, 528},  {264, 264},  {132, 396}};
  for_each_type(plain_transposes, [&](const flat_transpose& t, random_source& random) {
    for (const shape s : shapes) check(t, s, random);
  });
}

TEST_CASE("tuned: one row and one column", "[transpose]") {
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    const std::size_t step = t.type.alignment;
    for (const std::size_t n : {2, 31, 255, 1000, 4099, 100003}) {
      check(t, {n, 1}, random);
      check(t, {1, n}, random);
      check(t, {n, 1}, random, step, 0);
      check(t, {1, n}, random, 0, step);
    }
  });
}

TEST_CASE("tuned: long vectors whose words are shifted", "[transpose][quick]") {
  const std::vector<flat_transpose> packed{make_flat<bytes<1>>("1 byte"),
                                           make_flat<std::uint16_t>("std::uint16_t"),
                                           make_flat<bytes<3>>("3 bytes")};
  for_each_type(packed, [&](const flat_transpose& t, random_source& random) {
    const std::size_t n = 12'000'007;  // no little work
    const std::size_t step = t.type.alignment;
    check(t, {n, 1}, random, 3 * step, 0);
    check(t, {1, n}, random, 0, step);
  });
}

TEST_CASE("tuned: 2 to 64 columns or rows", "[transpose]") {
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    for (std::size_t k = 2; k <= 64; ++k) {
      const std::size_t length = t.type.size <= 16 ? 1031 : 259;
      check(t, {k, length}, random);
      check(t, {length, k}, random);
    }
  });
}

TEST_CASE("tuned: long skinny matrices", "[transpose]") {
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    const std::size_t odd = t.type.alignment;
    for (const std::size_t k : {2, 3, 4, 7, 8, 16, 17, 32, 33, 64}) {
      const std::size_t length = std::min<std::size_t>(100003, 1600000 / (k * t.type.size) | 1);
      check(t, {k, length}, random);
      check(t, {length, k}, random, odd, 3 * odd);
    }
  });
}

// A grid that counts tiles in y would end at 65535 of them.
TEST_CASE("tuned: taller and wider than 65535 tiles", "[transpose]") {
  require_device();
  random_source random;
  const flat_transpose one_byte = make_flat<std::uint8_t>("std::uint8_t");
  const flat_transpose two_bytes = make_flat<std::uint16_t>("std::uint16_t");
  const flat_transpose floats = make_flat<float>("float");
  for (const bool tall : {true, false}) {
    const auto check_long = [&](const flat_transpose& t, std::size_t k, std::size_t length) {
      check(t, tall ? shape{k, length} : shape{length, k}, random);
    };
    check_long(one_byte, 1, 5000011);
    check_long(one_byte, 2, 5000011);
    check_long(one_byte, 40, 3000001);
    check_long(two_bytes, 3, 2200003);
    check_long(floats, 5, 2200003);
  }
}

TEST_CASE("tuned: every alignment of either pointer", "[transpose]") {
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    for (const std::size_t one : offsets(t.type)) {
      const std::size_t other = t.type.alignment * random.between(0, 32 / t.type.alignment);
      for (const shape s : {shape{67, 70}, shape{64, 128}, shape{5, 301}, shape{301, 5}}) {
        check(t, s, random, one, other);
        check(t, s, random, other, one);
      }
    }
  });
}

TEST_CASE("tuned: every pair of alignments", "[transpose]") {
  const shape shapes[] = {{67, 70}, {64, 128}, {130, 259}, {5, 301}, {301, 5}};
  for_each_type(plain_transposes, [&](const flat_transpose& t, random_source& random) {
    for (const std::size_t in : offsets(t.type)) {
      for (const std::size_t out : offsets(t.type)) {
        check(t, shapes[random.between(0, 4)], random, in, out);
      }
    }
  });
}

TEST_CASE("tuned: random shapes and alignments", "[transpose]") {
  for_each_type(transposes, [&](const flat_transpose& t, random_source& random) {
    // Fewer of the large elements: it is the shape that is to vary, not the amount.
    const std::size_t longest = t.type.size <= 4 ? 700 : t.type.size <= 16 ? 350 : 150;
    for (int i = 0; i < 40; ++i) {
      const bool skinny = i % 4 == 0;
      shape s{random.between(1, skinny ? 64 : longest),
              random.between(1, skinny ? 10 * longest : longest)};
      if (random.between(0, 1) == 1) std::swap(s.nx, s.ny);
      const std::size_t most = 128 / t.type.alignment;
      check(t, s, random, t.type.alignment * random.between(0, most),
            t.type.alignment * random.between(0, most));
    }
  });
}

TEST_CASE("tuned: twice is the identity", "[transpose]") {
  for_each_type(plain_transposes, [&](const flat_transpose& t, random_source& random) {
    for (int i = 0; i < 10; ++i) {
      const shape s{random.between(1, 900), random.between(1, 900)};
      INFO(t.type.name << ", nx " << s.nx << ", ny " << s.ny << "; repeat with --rng-seed "
                       << Catch::getSeed());
      const std::size_t size = s.nx * s.ny * t.type.size;
      const byte_vector content = random.fill(size);
      const input_buffer in{content};
      const device_allocation once{size};
      output_buffer twice{size, 0, random};
      twice.expect(0, s.nx, {content.data(), s.ny, s.nx, s.nx, t.type.size});
      twice.poison();
      REQUIRE(t.launch(once.data(), in.data(), s.nx, s.ny) == cudaSuccess);
      REQUIRE(t.launch(twice.data(), once.data(), s.ny, s.nx) == cudaSuccess);
      REQUIRE(twice.difference() == "");
    }
  });
}
