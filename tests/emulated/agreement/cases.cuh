// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels whose cost the bank model, the emulator and a GPU are asked for: the classic transposes and
/// the library's own. The same source runs on a GPU, compiled by nvcc, and in the emulator, compiled by a
/// host compiler behind ../cuda_on_cpu.hpp. Includes neither.

#pragma once

#include "patterns.hpp"

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/layout.cuh>
#include <tiletranspose/tile_io.cuh>
#include <tiletranspose/tiletranspose.cuh>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace agreement {

template <int Bytes>
struct element_of {
  using type = tt::detail::access_word_t<Bytes>;
};
template <int Bytes>
using element = typename element_of<Bytes>::type;

// ---- The classic transposes. One block of 256 threads per 32 x 32 tile; sizes are multiples of 32. ----

constexpr int tile_dim = 32;
constexpr int threads = 256;

/// Consecutive threads read consecutive elements and write a column.
template <class T>
__global__ void naive_read_rows(T* out, const T* in, std::size_t nx, std::size_t ny) {
  for (unsigned cell = tt::static_block<threads>::thread_rank(); cell < tile_dim * tile_dim;
       cell += threads) {
    const tt::loop_step here(cell / threads);
    const std::size_t x = blockIdx.x * std::size_t{tile_dim} + cell % tile_dim;
    const std::size_t y = blockIdx.y * std::size_t{tile_dim} + cell / tile_dim;
    tt::detail::store_global(out + x * ny + y, tt::detail::load_global<T>(in + y * nx + x));
  }
}

/// Consecutive threads read a column and write consecutive elements.
template <class T>
__global__ void naive_write_rows(T* out, const T* in, std::size_t nx, std::size_t ny) {
  for (unsigned cell = tt::static_block<threads>::thread_rank(); cell < tile_dim * tile_dim;
       cell += threads) {
    const tt::loop_step here(cell / threads);
    const std::size_t x = blockIdx.x * std::size_t{tile_dim} + cell / tile_dim;
    const std::size_t y = blockIdx.y * std::size_t{tile_dim} + cell % tile_dim;
    tt::detail::store_global(out + x * ny + y, tt::detail::load_global<T>(in + y * nx + x));
  }
}

/// Through a tile of any layout, so that both sides are coalesced. `Diagonal` renumbers the blocks as the
/// kernels against partition camping did.
template <class T, class Layout, bool Diagonal>
__global__ void through_tile(T* out, const T* in, std::size_t nx, std::size_t ny) {
  using tile_type = tt::shared_tile<T, Layout>;
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const tt::static_block<threads> block;
  const auto columns = static_cast<unsigned>(nx / tile_dim);
  const unsigned block_x = Diagonal ? (blockIdx.x + blockIdx.y) % columns : blockIdx.x;
  const std::size_t row = blockIdx.y * std::size_t{tile_dim};
  const std::size_t col = block_x * std::size_t{tile_dim};
  tt::load_tile(block, tile, tt::matrix_view<const T>{in, ny, nx, nx}, row, col);
  block.sync();
  tt::store_tile_transposed(block, tt::matrix_view<T>{out, nx, ny, ny}, col, row, tile);
}

// ---- Wide requests by some lanes to any addresses. One block of a warp for each pattern. ----

/// Each lane stores or loads `Width` bytes; what it finds there goes to `out`.
template <int Width, bool Stores>
__global__ void wide_requests(unsigned* out) {
  using word = element<Width>;
  __shared__ __align__(16) unsigned char shared[pattern_bytes];
  const unsigned lane = tt::static_warp::thread_rank();
  const int offset = pattern_offset(blockIdx.x, lane, Width);
  if (!Stores) {
    for (unsigned at = lane * 4; at < pattern_bytes; at += 128) {
      tt::detail::store_shared(shared + at, at);
    }
    tt::static_warp::sync();
  }
  unsigned words[Width / 4] = {};
  if (offset >= 0) {
    if (Stores) {
      for (int i = 0; i < Width / 4; ++i) { words[i] = static_cast<unsigned>(offset + 4 * i); }
      tt::detail::store_shared(shared + offset, tt::detail::as_word<Width>(words));
    } else {
      const word loaded = tt::detail::load_shared<word>(shared + offset);
      __builtin_memcpy(words, &loaded, Width);
    }
  }
  tt::static_warp::sync();
  if (Stores && offset >= 0) { words[0] = tt::detail::load_shared<unsigned>(shared + offset); }
  unsigned sum = 0;
  for (int i = 0; i < Width / 4; ++i) { sum += words[i]; }
  tt::detail::store_global(out + blockIdx.x * 32 + lane, sum);
}

// ---- What the constexpr model says. ----

/// Cycles of the worst bank for the worst request: of the stores that fill a tile and the loads that empty
/// it. 0 where the kernel uses no shared memory or the model makes no statement.
struct model_ways {
  int stores;
  int loads;
};

template <class Layout>
constexpr model_ways ways_of(Layout layout) {
  return {tt::conflict_ways(layout, tt::along_rows), tt::conflict_ways(layout, tt::along_columns)};
}

/// Of a tuned kernel's tile: what its static_assert proves.
template <class Shape>
constexpr model_ways ways_of_shape() {
  return {tt::request_ways(typename Shape::fill_lanes{}, Shape::fill_access), Shape::drain_ways};
}

// ---- The cases. ----

struct kernel_case {
  std::string name;
  std::size_t nx;
  std::size_t ny;
  std::size_t element_bytes;
  model_ways model;
  /// Launches once; true where it was launched.
  std::function<bool(void* out, const void* in, std::size_t nx, std::size_t ny)> launch;
  enum class result { transpose, reverse, pattern } expects = result::transpose;
  unsigned width = 0;  ///< of a pattern's access
};

template <int Bytes, class... Parameters>
std::function<bool(void*, const void*, std::size_t, std::size_t)> launch_classic(
    void (*kernel)(Parameters...)) {
  return [kernel](void* out, const void* in, std::size_t nx, std::size_t ny) {
    auto* typed_out = static_cast<element<Bytes>*>(out);
    const auto* typed_in = static_cast<const element<Bytes>*>(in);
    void* arguments[] = {&typed_out, &typed_in, &nx, &ny};
    return cudaLaunchKernel(
               kernel,
               dim3(static_cast<unsigned>(nx / tile_dim), static_cast<unsigned>(ny / tile_dim)),
               dim3(threads), arguments, 0, nullptr) == cudaSuccess;
  };
}

template <int Bytes>
std::function<bool(void*, const void*, std::size_t, std::size_t)> launch_tuned() {
  return [](void* out, const void* in, std::size_t nx, std::size_t ny) {
    return tt::transpose(static_cast<element<Bytes>*>(out), static_cast<const element<Bytes>*>(in),
                         nx, ny) == cudaSuccess;
  };
}

template <int Bytes>
kernel_case tuned_case(std::size_t nx, std::size_t ny) {
  using shape = typename tt::detail::tuned_shape<
      90, Bytes, Bytes, Bytes <= 8 ? tt::tile_access::whole : tt::tile_access::any>::type;
  return {"tuned, " + std::to_string(Bytes) + " bytes",
          nx,
          ny,
          Bytes,
          ways_of_shape<shape>(),
          launch_tuned<Bytes>()};
}

template <int Bytes, class Layout, bool Diagonal = false>
kernel_case tile_case(const std::string& name, std::size_t nx, std::size_t ny) {
  return {name,
          nx,
          ny,
          Bytes,
          ways_of(Layout{}),
          launch_classic<Bytes>(&through_tile<element<Bytes>, Layout, Diagonal>)};
}

template <int Width, bool Stores>
kernel_case pattern_case(const std::string& name) {
  constexpr unsigned patterns = 256;
  return {name,
          32,
          patterns,
          4,
          {0, 0},
          [](void* out, const void*, std::size_t, std::size_t) {
            auto* typed_out = static_cast<unsigned*>(out);
            void* arguments[] = {&typed_out};
            return cudaLaunchKernel(&wide_requests<Width, Stores>, dim3(patterns), dim3(32),
                                    arguments, 0, nullptr) == cudaSuccess;
          },
          kernel_case::result::pattern,
          Width};
}

inline std::vector<kernel_case> cases() {
  using tt::padded_layout;
  using tt::swizzled_layout;
  std::vector<kernel_case> all;
  const auto add = [&](const kernel_case& one) { all.push_back(one); };
  add({"naive, rows read", 512, 256, 4, {0, 0}, launch_classic<4>(&naive_read_rows<element<4>>)});
  add({"naive, rows written",
       512,
       256,
       4,
       {0, 0},
       launch_classic<4>(&naive_write_rows<element<4>>)});
  add(tile_case<4, padded_layout<element<4>, 32, 32, 0>>("tile, no padding", 512, 256));
  add(tile_case<4, padded_layout<element<4>, 32, 32, 1>>("tile, padded", 512, 256));
  add(tile_case<4, swizzled_layout<element<4>, 32, 32>>("tile, swizzled", 512, 256));
  add(tile_case<4, padded_layout<element<4>, 32, 32, 1>, true>("tile, padded, diagonal", 512, 256));
  add(tile_case<1, padded_layout<element<1>, 32, 32, 0>>("1 byte, no padding", 512, 256));
  add(tile_case<1, padded_layout<element<1>, 32, 32, 1>>("1 byte, one element", 512, 256));
  add(tile_case<2, padded_layout<element<2>, 32, 32, 1>>("2 bytes, one element", 512, 256));
  add(tile_case<2, padded_layout<element<2>, 32, 32, 2>>("2 bytes, one word", 512, 256));
  add(tile_case<8, padded_layout<element<8>, 32, 32, 0>>("8 bytes, no padding", 512, 256));
  add(tile_case<8, padded_layout<element<8>, 32, 32, 1>>("8 bytes, padded", 512, 256));
  add(tile_case<16, padded_layout<element<16>, 32, 32, 0>>("16 bytes, no padding", 512, 256));
  add(tile_case<16, padded_layout<element<16>, 32, 32, 1>>("16 bytes, padded", 512, 256));
  // No multiple of a small tile, so that the kernel for large matrices takes them.
  add(tuned_case<1>(528, 272));
  add(tuned_case<2>(528, 264));
  add(tuned_case<4>(516, 260));
  add(tuned_case<8>(514, 258));
  add(tuned_case<16>(513, 257));
  add({"tuned, 4 bytes, small", 512, 256, 4, ways_of_shape<tt::detail::vector_shape<4>>(),
       launch_tuned<4>()});
  add({"tuned, 4 bytes, odd", 517, 259, 4, {0, 0}, launch_tuned<4>()});
  add({"3 columns (gathered panel)", 3, 40000, 4, {0, 0}, launch_tuned<4>()});
  add({"3 rows (gathered panel)", 40000, 3, 4, {0, 0}, launch_tuned<4>()});
  add({"reverse",
       100000,
       1,
       4,
       {0, 0},
       [](void* out, const void* in, std::size_t nx, std::size_t) {
         return tt::reverse(static_cast<float*>(out), static_cast<const float*>(in), nx) ==
                cudaSuccess;
       },
       kernel_case::result::reverse});
  add(pattern_case<8, false>("8-byte loads, any lanes"));
  add(pattern_case<16, false>("16-byte loads, any lanes"));
  add(pattern_case<8, true>("8-byte stores, any lanes"));
  add(pattern_case<16, true>("16-byte stores, any lanes"));
  return all;
}

inline void fill(std::vector<unsigned char>& bytes) {
  unsigned state = 1;
  for (unsigned char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(state >> 24);
  }
}

inline bool is_right(const kernel_case& one, const unsigned char* out, const unsigned char* in) {
  const std::size_t size = one.element_bytes;
  for (std::size_t y = 0; y < one.ny; ++y) {
    for (std::size_t x = 0; x < one.nx; ++x) {
      if (one.expects == kernel_case::result::pattern) {
        const int offset =
            pattern_offset(static_cast<unsigned>(y), static_cast<unsigned>(x), one.width);
        unsigned sum = 0;
        for (unsigned i = 0; offset >= 0 && i < one.width; i += 4) {
          sum += static_cast<unsigned>(offset) + i;
        }
        if (std::memcmp(out + (y * one.nx + x) * 4, &sum, 4) != 0) { return false; }
        continue;
      }
      const bool reverses = one.expects == kernel_case::result::reverse;
      const std::size_t to = reverses ? one.nx - 1 - x : x * one.ny + y;
      if (std::memcmp(out + to * size, in + (y * one.nx + x) * size, size) != 0) { return false; }
    }
  }
  return true;
}

}  // namespace agreement
