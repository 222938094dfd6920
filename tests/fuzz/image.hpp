// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The reference: what every byte of the memory of a case is before its call, and must be after it, computed byte by byte
// from the definition of the call. It knows nothing of the library, and host and GPU run the same functions.

#pragma once

#include "array.hpp"

#include <cstdint>

namespace fuzz {

// A number without a pattern, of any other.
FUZZ_FUNCTION std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Where the matrices of one side of a call lie, in bytes from the start of the memory. Matrix b has slot
// (b * factor + shift) % batch, which is b itself but for arrays of pointers.
struct place {
  unsigned at = 0;  // slot 0
  unsigned rows = 0;
  unsigned row_bytes = 0;
  unsigned stride = 0;  // from row to row
  unsigned step = 0;    // from slot to slot
  unsigned batch = 0;   // 0: there is no such side
  unsigned factor = 1;
  unsigned shift = 0;
  unsigned inverse = 1;  // of the factor, modulo batch
};

FUZZ_FUNCTION unsigned slot_of(const place& side, unsigned matrix) {
  return (matrix * side.factor + side.shift) % side.batch;
}

// From the first byte of a slot to behind the last.
FUZZ_FUNCTION unsigned slot_bytes(const place& side) {
  return (side.rows - 1) * side.stride + side.row_bytes;
}
FUZZ_FUNCTION unsigned end_of(const place& side) {
  return side.at + (side.batch - 1) * side.step + slot_bytes(side);
}

// A byte of a matrix.
struct spot {
  unsigned matrix;
  unsigned row;
  unsigned byte;  // of the row
};

// False for bytes that no matrix of the side has: before it, behind it, and in its gaps.
FUZZ_FUNCTION bool find(const place& side, unsigned at, spot& found) {
  if (side.batch == 0 || side.rows == 0 || at < side.at || at >= end_of(side)) { return false; }
  unsigned rest = at - side.at;
  unsigned slot = 0;
  if (side.batch > 1) {
    slot = rest / side.step;
    rest %= side.step;
  }
  found.row = side.rows > 1 ? rest / side.stride : 0;
  found.byte = side.rows > 1 ? rest % side.stride : rest;
  if (found.row >= side.rows || found.byte >= side.row_bytes) { return false; }
  found.matrix = (slot + side.batch - side.shift) % side.batch * side.inverse % side.batch;
  return true;
}

enum class change : unsigned char { none, move, transform, accumulate };

// All memory of a case.
struct image {
  std::uint64_t key = 0;   // of the random content
  std::uint64_t base = 0;  // address of the first byte
  unsigned bytes = 0;      // a multiple of 256, guards included
  place in;
  place out;
  place copy;           // the second output of calls that have one
  array_side array_in;  // instead of `in` and `out`, of permutes and planes
  array_side array_out;
  unsigned temp_at =
      0;  // scratch memory: what it holds after a call that goes is nobody's business
  unsigned temp_bytes = 0;
  unsigned ins_at = 0;  // arrays of pointers to the matrices
  unsigned outs_at = 0;
  bool has_pointers = false;
  unsigned in_element = 1;  // bytes
  unsigned out_element = 1;
  unsigned symmetry = 0;    // tt::symmetry, as its description numbers them
  bool in_columns = false;  // the input is an mdspan whose columns lie one behind the other
  bool out_columns = false;
  change what = change::none;
  unsigned salt = 0;  // of the function of a fused call
};

// What lies there before the call.
FUZZ_FUNCTION std::uint64_t initial_word(const image& memory, unsigned word) {
  const unsigned at = 8 * word;
  if (memory.has_pointers) {
    const unsigned bytes = 8 * memory.in.batch;
    if (at - memory.ins_at < bytes) {
      const place& side = memory.in;
      return memory.base + side.at + slot_of(side, (at - memory.ins_at) / 8) * side.step;
    }
    if (at - memory.outs_at < bytes) {
      const place& side = memory.out;
      return memory.base + side.at + slot_of(side, (at - memory.outs_at) / 8) * side.step;
    }
  }
  return mix(memory.key + word);
}
FUZZ_FUNCTION unsigned initial_byte(const image& memory, unsigned at) {
  return static_cast<unsigned>(initial_word(memory, at / 8) >> at % 8 * 8) & 255u;
}

// Byte `b` of what the function of fused calls makes of an element of `count` bytes, of which `input(i)` are two.
template <class Input>
FUZZ_FUNCTION unsigned blended_byte(unsigned b, unsigned count, unsigned salt, Input input) {
  return (3 * input(b % count) + input((b + 1 + salt) % count) + 17 * b + salt) & 255u;
}
// And what it makes of an old byte beside that.
FUZZ_FUNCTION unsigned accumulated_byte(unsigned blended, unsigned old) {
  return (blended + 5 * old) & 255u;
}

// The element of an input of `rows` x `cols` that element (i, j) of the output is.
FUZZ_FUNCTION void find_source(unsigned symmetry, unsigned rows, unsigned cols, unsigned i,
                               unsigned j, unsigned& row, unsigned& col) {
  switch (symmetry) {
    case 0:  // identity
      row = i, col = j;
      break;
    case 1:  // flip_lr
      row = i, col = cols - 1 - j;
      break;
    case 2:  // flip_ud
      row = rows - 1 - i, col = j;
      break;
    case 3:  // rotate_180
      row = rows - 1 - i, col = cols - 1 - j;
      break;
    case 4:  // transpose
      row = j, col = i;
      break;
    case 5:  // rotate_90
      row = j, col = cols - 1 - i;
      break;
    case 6:  // rotate_270
      row = rows - 1 - j, col = i;
      break;
    default:  // anti_transpose
      row = rows - 1 - j, col = cols - 1 - i;
      break;
  }
}

// Byte `byte` of an element of the output that is made of the one at `element`.
FUZZ_FUNCTION unsigned changed_byte(const image& memory, unsigned element, unsigned byte) {
  if (memory.what == change::move) { return initial_byte(memory, element + byte); }
  return blended_byte(byte, memory.in_element, memory.salt,
                      [&](unsigned i_byte) { return initial_byte(memory, element + i_byte); });
}

// Byte `byte` of element (row, col) of an output as wide as its memory, of a matrix of the batch.
FUZZ_FUNCTION unsigned moved_byte(const image& memory, unsigned symmetry, unsigned matrix,
                                  unsigned i, unsigned j, unsigned byte) {
  const place& in = memory.in;
  unsigned rows = in.rows;
  unsigned cols = in.row_bytes / memory.in_element;
  if (memory.in_columns) {
    const unsigned swapped = rows;
    rows = cols, cols = swapped;
  }
  if (memory.out_columns) {
    const unsigned swapped = i;
    i = j, j = swapped;
  }
  unsigned row = 0;
  unsigned col = 0;
  find_source(symmetry, rows, cols, i, j, row, col);
  if (memory.in_columns) {
    const unsigned swapped = row;
    row = col, col = swapped;
  }
  const unsigned element =
      in.at + slot_of(in, matrix) * in.step + row * in.stride + col * memory.in_element;
  return changed_byte(memory, element, byte);
}

constexpr int anything = -1;

// What must lie there after the call.
FUZZ_FUNCTION int final_byte(const image& memory, unsigned at) {
  const unsigned before = initial_byte(memory, at);
  if (memory.what == change::none) { return static_cast<int>(before); }
  const unsigned element = memory.out_element;
  spot found{};
  if (find(memory.out, at, found)) {
    const unsigned moved = moved_byte(memory, memory.symmetry, found.matrix, found.row,
                                      found.byte / element, found.byte % element);
    return static_cast<int>(memory.what == change::accumulate ? accumulated_byte(moved, before)
                                                              : moved);
  }
  if (find(memory.copy, at, found)) {
    return static_cast<int>(
        moved_byte(memory, 0, found.matrix, found.row, found.byte / element, found.byte % element));
  }
  array_spot in_array{};
  if (find(memory.array_out, element, at, in_array)) {
    return static_cast<int>(
        changed_byte(memory, place_of(memory.array_in, in_array.index), in_array.byte));
  }
  if (at - memory.temp_at < memory.temp_bytes) { return anything; }
  return static_cast<int>(before);
}

}  // namespace fuzz
