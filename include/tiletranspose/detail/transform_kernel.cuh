// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tile kernel with a function applied on the way: elements are loaded as the input's type, turned
/// into the output's, and packed into the same shared rows that the plain kernel drains.

#pragma once

#include <tiletranspose/detail/tile_kernel.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// An object of a type that need not be default-constructible, read by units.
template <class In>
struct loaded_element {
  static constexpr int unit = access_width(sizeof(In), alignof(In));
  static constexpr int parts = static_cast<int>(sizeof(In)) / unit;
  alignas(alignof(In) > unit ? alignof(In) : unit) access_word_t<unit> words[parts];

  TILETRANSPOSE_FUNCTION void load(const unsigned char* address) {
    TILETRANSPOSE_UNROLL
    for (int part = 0; part < parts; ++part) {
      words[part] = load_constant<access_word_t<unit>>(address + part * unit);
    }
  }
  TILETRANSPOSE_FUNCTION const In& get() const { return reinterpret_cast<const In&>(words); }
};

/// One word of an output row, assembled from whole elements.
template <class Shape, class Out>
struct packed_chunk {
  static constexpr int bytes = Shape::micro_rows * static_cast<int>(sizeof(Out));
  static constexpr int unit = Shape::splits_element ? Shape::unit : Shape::chunk_bytes;
  alignas(16) unsigned char memory[bytes];

  TILETRANSPOSE_FUNCTION void put(int row, const Out& value) {
    __builtin_memcpy(memory + row * sizeof(Out), &value, sizeof(Out));
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* shared) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += unit) {
      access_word_t<unit> word;
      __builtin_memcpy(&word, memory + i, unit);
      store_shared(shared + i, word);
    }
  }
};

/// Fills rows [from_row, from_row + Rows) of a tile with op(element).
template <class Shape, bool Interior, int Rows, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void fill_rows_converted(Group group, unsigned char* shared,
                                                const tile_source& source, int from_row,
                                                const Op& op) {
  constexpr int micro_rows = Shape::micro_rows;
  constexpr unsigned cols = Shape::tile_cols;
  constexpr unsigned steps = Rows / micro_rows * cols;
  constexpr unsigned rounds = (steps + Shape::threads - 1) / Shape::threads;
  constexpr int round_rows = static_cast<int>(Shape::threads / cols) * micro_rows;
  // Rounds whose loads are under way together: 16 registers' worth.
  constexpr unsigned micro_bytes = sizeof(In) * micro_rows;
  constexpr unsigned batch = micro_bytes >= 64 ? 1 : 64 / micro_bytes;
  static_assert(Shape::threads % cols == 0, "each thread stays in its column");

  const unsigned rank = group.thread_rank();
  const int byte = static_cast<int>(rank % cols * sizeof(In));
  const int first_row = from_row + static_cast<int>(rank / cols) * micro_rows;
  const bool col_exists = Interior || byte < source.end_byte;
  const unsigned char* address = source.row(first_row) + byte;
  unsigned char* const to = shared + Shape::row_offset(rank % cols) + Shape::lead_bytes;
  const auto exists = [&](unsigned round, int row) {
    return (steps % Shape::threads == 0 || rank + round * Shape::threads < steps) &&
           (Interior || (col_exists && row >= source.first_row && row < source.end_row));
  };
  TILETRANSPOSE_UNROLL
  for (unsigned first = 0; first < rounds; first += batch) {
    loaded_element<In> loaded[batch][micro_rows];
    TILETRANSPOSE_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < micro_rows; ++r, address += source.stride_bytes) {
        const int row = first_row + static_cast<int>(first + b) * round_rows + r;
        if (first + b < rounds && exists(first + b, row)) { loaded[b][r].load(address); }
      }
      address += (round_rows - micro_rows) * source.stride_bytes;
    }
    TILETRANSPOSE_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      if (first + b >= rounds) { continue; }
      const int row = first_row + static_cast<int>(first + b) * round_rows;
      packed_chunk<Shape, Out> chunk = {};
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < micro_rows; ++r) {
        if (exists(first + b, row + r)) { chunk.put(r, op(loaded[b][r].get())); }
      }
      if (steps % Shape::threads == 0 || rank + (first + b) * Shape::threads < steps) {
        chunk.store(to + row * Shape::element_bytes);
      }
    }
  }
}

/// The kernel's body: one block converts and moves the tile that `block` names.
/// Shared memory: Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile(Group group, unsigned char* shared,
                                         const tile_arguments& arguments, const Op& op,
                                         unsigned block) {
  constexpr int row_bytes = Shape::tile_cols * static_cast<int>(sizeof(In));
  const tile_order::place at = arguments.order(block);
  const tile_source source = make_source<sizeof(In), Shape>(arguments, at);
  const tile_target target = make_target<Shape>(arguments, at);
  const bool skewed = arguments.sector_mask != 0;
  constexpr int rows = Shape::tile_rows;
  constexpr int skew = Shape::skew_rows;
  if (is_interior<Shape>(source, row_bytes, skewed)) {
    fill_rows_converted<Shape, true, rows, In, Out>(group, shared, source, 0, op);
    if (skewed) {
      fill_rows_converted<Shape, true, skew, In, Out>(group, shared, source, -skew, op);
    }
    group.sync();
    drain_pieces<Shape, true>(group, shared, target);
  } else {
    fill_rows_converted<Shape, false, rows, In, Out>(group, shared, source, 0, op);
    if (skewed) {
      fill_rows_converted<Shape, false, skew, In, Out>(group, shared, source, -skew, op);
    }
    group.sync();
    drain_pieces<Shape, false>(group, shared, target);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
