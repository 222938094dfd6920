// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fused calls of elements that start at any byte, or at any second one, on the CPU. MORE_PAIRS asks for more pairs of
// the same kinds.

#include "fused_checks.hpp"

namespace {

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

}  // namespace

// Elements that start at any byte, or any second one, to single bytes, to others that do, and to whole ones.
TEST_CASE("fused: packed elements, of 4 bytes at most on one side") {
  check_calls<element<2, 1>, element<1>>(288, 384);
  check_calls<element<3, 1>, element<12, 4>>(192, 192);
  check_calls<element<4, 1>, element<3, 1>>(288, 384);
  check_calls<element<8, 1>, element<4>>(192, 192);
  check_calls<element<12, 4>, element<3, 1>>(192, 192);
}

TEST_CASE("fused: packed elements, of 5 bytes and more on both sides") {
  check_calls<element<5, 1>, element<11, 1>>(96, 192);
  check_calls<element<6, 2>, element<10, 2>>(96, 192);
  check_calls<element<9, 1>, element<9, 1>>(96, 192);
  check_calls<element<24, 8>, element<24, 8>>(48, 96);
  check_calls<element<33, 1>, element<63, 1>>(48, 96);
}

TEST_CASE("fused: old elements in each byte of a word") {
  check_starts<element<3, 1>, element<3, 1>>(192, 384);
  check_starts<element<6, 2>, element<10, 2>>(96, 192);
  check_starts<element<4>, element<6, 2>>(96, 192);
  check_starts<element<12, 1>, element<11, 1>>(96, 96);
  check_starts<element<17, 1>, element<31, 1>>(24, 96);
  check_starts<element<12, 4>, element<1>>(160, 288);
}

#if defined(MORE_PAIRS)
TEST_CASE("fused: more packed elements") {
  check_calls<element<9, 1>, element<12, 4>>(96, 192);
  check_calls<element<4, 1>, element<1>>(288, 384);
  check_calls<element<5, 1>, element<1>>(288, 384);
  check_calls<element<5, 1>, element<5, 1>>(192, 192);
  check_calls<element<6, 2>, element<2>>(192, 384);
  check_calls<element<6, 2>, element<6, 2>>(160, 192);
  check_calls<element<4, 1>, element<4, 1>>(192, 192);
  check_calls<element<7, 1>, element<3, 1>>(288, 192);
  check_calls<element<8, 2>, element<8, 2>>(192, 192);
  check_calls<element<16, 1>, element<16, 4>>(96, 192);
  check_calls<element<14, 2>, element<6, 2>>(96, 192);
  check_calls<element<33, 1>, element<2>>(48, 384);
}

TEST_CASE("fused: more old elements in each byte of a word") {
  check_starts<element<7, 1>, element<2, 1>>(192, 192);
  check_starts<element<10, 2>, element<14, 2>>(48, 96);
  check_starts<element<8>, element<1>>(96, 288);
}
#endif
