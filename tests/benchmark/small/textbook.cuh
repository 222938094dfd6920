// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a user would write for a small problem in an afternoon: the tutorials' kernel with a 32 x 32
// tile and 32 x 8 threads, its forms for turns, batches and fused calls, a kernel for rows that stay
// rows and one for squares in place. One element an access, 32-bit indices, no loop over tiles.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "cases.cuh"

namespace bench {

inline constexpr unsigned textbook_tile = 32, textbook_rows = 8;

/// A relocation within 32 bits. A grid has at most 65535 blocks along y, so that the longer side of
/// the output goes along x: rows_along_x says which.
struct textbook_shape {
  int rows, cols;  // of the output
  int in_row, in_col, out_row;
  bool rows_along_x;
};

inline textbook_shape make_textbook_shape(const relocation& r) {
  const auto narrow = [](long long value) { return static_cast<int>(value); };
  return {narrow(r.rows),   narrow(r.cols),    narrow(r.in_row),
          narrow(r.in_col), narrow(r.out_row), r.rows >= r.cols};
}

inline dim3 textbook_grid(const textbook_shape& s, unsigned block_rows, unsigned block_cols,
                          long long batch) {
  const auto blocks = [](int n, unsigned block) {
    return (static_cast<unsigned>(n) + block - 1) / block;
  };
  const unsigned down = blocks(s.rows, block_rows), across = blocks(s.cols, block_cols);
  return {s.rows_along_x ? down : across, s.rows_along_x ? across : down,
          static_cast<unsigned>(batch)};
}

/// Where matrix b of a batch is: at a stride, or wherever an array of pointers says.
template <class T, class U>
struct at_strides {
  const T* in;
  U* out;
  U* copy;  // lies as the input does
  int in_batch, out_batch;
  __device__ const T* input(int b) const { return in + b * in_batch; }
  __device__ U* output(int b) const { return out + b * out_batch; }
};
template <class T, class U>
struct at_pointers {
  const T* const* ins;
  U* const* outs;
  static constexpr U* copy = nullptr;
  __device__ const T* input(int b) const { return ins[b]; }
  __device__ U* output(int b) const { return outs[b]; }
};

struct as_it_is {
  template <class T>
  __device__ T operator()(T value) const {
    return value;
  }
};

/// Output rows lie along the input's rows, which are the fast axis of what a tile loads.
template <class T, bool Accumulates, bool Copies, class Place, class Op>
__global__ void __launch_bounds__(textbook_tile* textbook_rows)
    textbook_transpose(Place place, textbook_shape s, Op op) {
  __shared__ T tile[textbook_tile][textbook_tile + 1];
  const T* const in = place.input(static_cast<int>(blockIdx.z));
  auto* const out = place.output(static_cast<int>(blockIdx.z));
  const unsigned row0 = (s.rows_along_x ? blockIdx.x : blockIdx.y) * textbook_tile;
  const unsigned col0 = (s.rows_along_x ? blockIdx.y : blockIdx.x) * textbook_tile;

  int i = static_cast<int>(row0 + threadIdx.x), j = static_cast<int>(col0 + threadIdx.y);
#pragma unroll
  for (int k = 0; k < static_cast<int>(textbook_tile); k += textbook_rows) {
    if (i < s.rows && j + k < s.cols) {
      const int at = i * s.in_row + (j + k) * s.in_col;
      const T element = in[at];
      tile[threadIdx.y + k][threadIdx.x] = element;
      if constexpr (Copies) { place.copy[at] = op(element); }
    }
  }
  __syncthreads();
  i = static_cast<int>(row0 + threadIdx.y);
  j = static_cast<int>(col0 + threadIdx.x);
#pragma unroll
  for (int k = 0; k < static_cast<int>(textbook_tile); k += textbook_rows) {
    if (i + k < s.rows && j < s.cols) {
      const T element = tile[threadIdx.x][threadIdx.y + k];
      auto& to = out[(i + k) * s.out_row + j];
      if constexpr (Accumulates) {
        to = op(element, to);
      } else {
        to = op(element);
      }
    }
  }
}

template <class T, bool Accumulates = false, bool Copies = false, class Place, class Op = as_it_is>
cudaError_t run_textbook(Place place, const relocation& r, cudaStream_t stream, Op op = {}) {
  const textbook_shape s = make_textbook_shape(r);
  const dim3 grid = textbook_grid(s, textbook_tile, textbook_tile, r.batch);
  const dim3 block(textbook_tile, textbook_rows);
  textbook_transpose<T, Accumulates, Copies, Place, Op><<<grid, block, 0, stream>>>(place, s, op);
  return cudaGetLastError();
}

/// Rows stay rows: one element a thread.
template <class T>
__global__ void textbook_flip(const T* in, T* out, textbook_shape s) {
  const unsigned block_row = s.rows_along_x ? blockIdx.x : blockIdx.y;
  const unsigned block_col = s.rows_along_x ? blockIdx.y : blockIdx.x;
  const int i = static_cast<int>(block_row * blockDim.y + threadIdx.y);
  const int j = static_cast<int>(block_col * blockDim.x + threadIdx.x);
  if (i < s.rows && j < s.cols) { out[i * s.out_row + j] = in[i * s.in_row + j * s.in_col]; }
}

template <class T>
cudaError_t run_textbook_flip(T* out, const T* in, const relocation& r, cudaStream_t stream) {
  const textbook_shape s = make_textbook_shape(r);
  const dim3 block = r.rows == 1 ? dim3(256) : dim3(textbook_tile, textbook_rows);
  const dim3 grid = textbook_grid(s, block.y, block.x, 1);
  textbook_flip<T><<<grid, block, 0, stream>>>(in, out, s);
  return cudaGetLastError();
}

/// A block above the diagonal swaps two tiles, one on it turns one.
template <class T>
__global__ void __launch_bounds__(textbook_tile* textbook_rows) textbook_swap(T* data, int side) {
  __shared__ T upper[textbook_tile][textbook_tile + 1];
  __shared__ T lower[textbook_tile][textbook_tile + 1];
  if (blockIdx.y > blockIdx.x) { return; }
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int near = static_cast<int>(blockIdx.y * textbook_tile);
  const int far = static_cast<int>(blockIdx.x * textbook_tile);
#pragma unroll
  for (int k = 0; k < static_cast<int>(textbook_tile); k += textbook_rows) {
    if (near + y + k < side && far + x < side) {
      upper[y + k][x] = data[(near + y + k) * side + far + x];
    }
    if (far + y + k < side && near + x < side) {
      lower[y + k][x] = data[(far + y + k) * side + near + x];
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < static_cast<int>(textbook_tile); k += textbook_rows) {
    if (near + y + k < side && far + x < side) {
      data[(near + y + k) * side + far + x] = lower[x][y + k];
    }
    if (near != far && far + y + k < side && near + x < side) {
      data[(far + y + k) * side + near + x] = upper[x][y + k];
    }
  }
}

template <class T>
cudaError_t run_textbook_swap(T* data, std::size_t side, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((side + textbook_tile - 1) / textbook_tile);
  textbook_swap<T><<<dim3(tiles, tiles), dim3(textbook_tile, textbook_rows), 0, stream>>>(
      data, static_cast<int>(side));
  return cudaGetLastError();
}

}  // namespace bench
