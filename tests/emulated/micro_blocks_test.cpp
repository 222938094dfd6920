// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permutes whose tiles are moved in micro-blocks, with tuning rows by which no array is too small for them: whole tiles and
// parts of tiles, sides along several axes, both sizes of tiles, and what stays together as one element.

#include "permutes.hpp"

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
