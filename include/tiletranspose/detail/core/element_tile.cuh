// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A tile that is transposed element by element: every thread loads its elements, one access each (or one per part of a
/// structure), before it stores the first. Nothing is faster where a launch has too little work to hide latency, nor
/// where structures would otherwise be moved in parts.

#pragma once

#include <type_traits>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What an operation fetches that needs nothing of the output.
struct no_operand {};

/// An element as the accesses that move it.
template <int ElementBytes, int Access>
struct element_words {
  access_word_t<Access> words[ElementBytes / Access];
};

/// True where an element is kept in whole words, though moved by bytes or halves: one access of shared memory, not several.
TILETRANSPOSE_HOST_DEVICE constexpr bool packs_words(int element_bytes, int access) {
  return access < element_bytes && access < 4 && element_bytes <= 4;
}

/// Moves elements of a size as they are, by accesses of `Access` bytes. What element tiles and the mover for little work
/// call an operation: how an element of the input, of which row and column there, is loaded, what is kept of it meanwhile,
/// and how that is stored; `convert` does to a row of a micro-block what happens to its elements on the way; `write_second`
/// writes an element to a second output, and `fetch`, where it `fetches`, reads what the output holds before. Whoever calls
/// them makes all loads and fetches of a thread before its first store.
template <int ElementBytes, int Access, bool Packs = packs_words(ElementBytes, Access)>
struct copy_operation {
  using moved = element_words<ElementBytes, Access>;
  using stored = typename std::conditional<Packs, element_words<4, 4>, moved>::type;
  using fetched = no_operand;
  static constexpr bool fetches = false;
  static constexpr int in_bytes = ElementBytes;
  static constexpr int out_bytes = ElementBytes;
  static constexpr int kept_bytes = ElementBytes;
  static constexpr int accesses = ElementBytes / Access;
  static TILETRANSPOSE_FUNCTION stored load(const unsigned char* from, unsigned, unsigned) {
    const auto parts = load_global<moved>(from);
    if constexpr (Packs) {
      unsigned word = 0;
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < accesses; ++i) {
        word |= static_cast<unsigned>(parts.words[i]) << (8 * Access * i);
      }
      return {{word}};
    } else {
      return parts;
    }
  }
  static TILETRANSPOSE_FUNCTION void write_second(const stored&, unsigned, unsigned) {}
  template <class Row>
  static TILETRANSPOSE_FUNCTION void convert(unsigned* to, const Row& row, unsigned, unsigned) {
    __builtin_memcpy(to, &row, sizeof row);
  }
  static TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& value, fetched = {},
                                           unsigned = 0, unsigned = 0) {
    if constexpr (Packs) {
      moved parts;
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < accesses; ++i) {
        parts.words[i] = static_cast<access_word_t<Access>>(value.words[0] >> (8 * Access * i));
      }
      store_global(to, parts);
    } else {
      store_global(to, value);
    }
  }
  /// Runs nothing: shows the compiler, in device code alone, what the operation calls.
  static TILETRANSPOSE_FUNCTION void show_compiler() {}
};

/// Unused elements behind each row of a tile that elements of a type pass through: what keeps one access of shared memory
/// free of conflicts, and one for elements of several accesses that are wide, which would ask for half a tile.
template <class Stored, int Side>
TILETRANSPOSE_HOST_DEVICE constexpr int element_padding() {
  return sizeof(Stored) <= max_access_bytes ? default_padding<Stored, Side>() : 1;
}

/// Bytes from what a lane moves to its neighbours. Offset: int where all distances of the matrix fit it, else long long.
template <class Offset>
struct element_steps {
  Offset along_row;
  Offset along_col;
};

/// Transposes a tile of which `rows` x `cols` elements exist, at most all.
///
///     element (c, r) of out becomes element (r, c) of in, by `operation`
///
/// Consecutive threads load consecutive elements of a row of the input, and store consecutive ones of a row of the
/// output. `group` has Tile::cols * BlockRows threads; the tile begins at `in`, which is row `row0` and column `col0` of its
/// matrix, and `out_first` bytes behind `out`: with the offsets added up before it, an address of the output takes fewer
/// instructions (nvcc 13.0). The tile is square, or its rows are several times as long: then an element
/// has so many parts, one a lane, which `operation` moves.
/// Barriers: one, inside; the caller owes another before the tile is used again.
template <int BlockRows, class Tile, class Group, class Operation, class Offset>
TILETRANSPOSE_FUNCTION void transpose_elements(Group group, const Tile& tile, unsigned rows,
                                               unsigned cols, unsigned row0, unsigned col0,
                                               const Operation& operation, const unsigned char* in,
                                               element_steps<Offset> in_steps, unsigned char* out,
                                               Offset out_first, element_steps<Offset> out_steps) {
  static_assert(Tile::cols % Tile::rows == 0 && Tile::rows % BlockRows == 0, "");
  constexpr int parts = Tile::cols / Tile::rows;
  constexpr int rounds = Tile::rows / BlockRows;
  const int lane = static_cast<int>(group.thread_rank() % Tile::cols);
  const int first = static_cast<int>(group.thread_rank() / Tile::cols);
  const int element = lane / parts;
  // Element k * BlockRows of this thread exists while k * BlockRows is below these.
  const int loads = element < static_cast<int>(cols) ? static_cast<int>(rows) - first : 0;
  const int stores = element < static_cast<int>(rows) ? static_cast<int>(cols) - first : 0;

  typename Tile::element held[rounds];
  const unsigned char* const from = in + (static_cast<Offset>(first) * in_steps.along_col +
                                          static_cast<Offset>(lane) * in_steps.along_row);
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    if (k * BlockRows < loads) {
      held[k] = operation.load(from + static_cast<long long>(BlockRows * in_steps.along_col) * k,
                               row0 + static_cast<unsigned>(first + k * BlockRows),
                               col0 + static_cast<unsigned>(lane));
    }
  }
  const auto to = [&](int k) {
    return out +
           (out_first + static_cast<Offset>(first) * out_steps.along_col +
            static_cast<Offset>(lane) * out_steps.along_row) +
           static_cast<long long>(BlockRows * out_steps.along_col) * k;
  };
  typename Operation::fetched old[rounds];
  if constexpr (Operation::fetches) {
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < rounds; ++k) {
      if (k * BlockRows < stores) { old[k] = operation.fetch(to(k)); }
    }
  }
  // All of these words are held at a time; more would not fit registers.
  if constexpr (rounds * Operation::accesses <= 24) { keep_access_order(); }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    if (k * BlockRows < loads) {
      tile.set(first + k * BlockRows, lane, held[k]);
      operation.write_second(held[k], row0 + static_cast<unsigned>(first + k * BlockRows),
                             col0 + static_cast<unsigned>(lane));
    }
  }
  group.sync();
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    if (k * BlockRows < stores) {
      operation.store(to(k), tile.get(element, (first + k * BlockRows) * parts + lane % parts),
                      old[k], row0 + static_cast<unsigned>(lane),
                      col0 + static_cast<unsigned>(first + k * BlockRows));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
