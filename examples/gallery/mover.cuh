// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the routines share that move a matrix, or an array, from `in` to `out`.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/tile.cuh>

#include "bank_requests.hpp"
#include "block_body.cuh"
#include "pattern.cuh"
#include "routine.hpp"
#include "sectors.hpp"

namespace gallery {

inline std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// The tiles of a matrix, numbered.
struct tile_grid {
  enum class order {
    rows,     // along the rows of tiles
    diagonal  // along the diagonals, wrapped around
  };
  struct place {
    std::size_t row, col;  // of the tile's first element
  };

  unsigned across, down;  // tiles
  unsigned tile_rows, tile_cols;
  order walk;

  static tile_grid of(std::size_t rows, std::size_t cols, unsigned tile_rows, unsigned tile_cols,
                      order walk = order::rows) {
    return {static_cast<unsigned>(divide_up(cols, tile_cols)),
            static_cast<unsigned>(divide_up(rows, tile_rows)), tile_rows, tile_cols, walk};
  }
  std::size_t tiles() const { return std::size_t{across} * down; }

  __host__ __device__ place operator()(unsigned tile) const {
    unsigned row = tile / across;
    unsigned col = tile % across;
    if (walk == order::diagonal) {
      row = tile % down;
      col = (tile / down + row) % across;
    }
    return {std::size_t{row} * tile_rows, std::size_t{col} * tile_cols};
  }
};

/// ny rows of nx elements, and nx rows of ny.
template <class T>
tt::matrix_view<const T> input_of(const problem& asked, const workspace& memory) {
  return {reinterpret_cast<const T*>(memory.in), asked.ny, asked.nx, asked.nx};
}
template <class T>
tt::matrix_view<T> transposed_output_of(const problem& asked, const workspace& memory) {
  return {reinterpret_cast<T*>(memory.out), asked.nx, asked.ny, asked.ny};
}

/// Where the elements of the output come from.
struct same_place {
  __host__ __device__ std::size_t operator()(std::size_t i) const { return i; }
};
struct transposed_place {
  std::size_t nx, ny;
  __host__ __device__ std::size_t operator()(std::size_t i) const { return i % ny * nx + i / ny; }
};
struct mirrored_place {
  std::size_t count;
  __host__ __device__ std::size_t operator()(std::size_t i) const { return count - 1 - i; }
};

template <class T, class Place>
struct value_from {
  Place place;
  __host__ __device__ T operator()(std::size_t i) const { return random_bytes<T>{}(place(i)); }
};

/// A case that moves nx * ny elements so that out[i] == in[place(i)]. T: unsigned bits of the element's size.
template <class T, class Place, class Enqueue>
launch_case moving_case(const problem& asked, std::string label, Place place, Enqueue enqueue) {
  launch_case made;
  const std::size_t count = asked.nx * asked.ny;
  made.label = std::move(label);
  made.type = name_of(asked.type);
  made.in_bytes = made.out_bytes = count * sizeof(T);
  made.bytes = made.in_bytes + made.out_bytes;
  made.prepare = [count](const workspace& memory) {
    fill(memory, reinterpret_cast<T*>(memory.in), count, random_bytes<T>{});
  };
  made.enqueue = std::move(enqueue);
  made.count_wrong = [count, place](const workspace& memory) {
    return count_different(memory, reinterpret_cast<const T*>(memory.out), count,
                           value_from<T, Place>{place});
  };
  return made;
}

// ---- predictions -------------------------------------------------------------------------------

template <class Body>
void predict_block(prediction& predicted) {
  predicted.threads = Body::threads;
  predicted.shared_bytes = storage_bytes<Body>();
}

/// A tile that is written row by row and read column by column.
template <class Layout>
void predict_transposing_tile(prediction& predicted, tt::bank_model banks) {
  predicted.write_ways = tt::conflict_ways(Layout{}, tt::along_rows, banks);
  predicted.read_ways = tt::conflict_ways(Layout{}, tt::along_columns, banks);
  predicted.write_wavefronts = mean_wavefronts(Layout{}, tt::along_rows, banks);
  predicted.read_wavefronts = mean_wavefronts(Layout{}, tt::along_columns, banks);
}

}  // namespace gallery
