// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// C[m][k] = A[m][n] B[n][k] for any m, n and k. `load_tile` brings the tiles in and fills them with zeros where
/// the matrices end, so that the loop over them has no edges to think of.
#include <tiletranspose/banks.cuh>
#include <tiletranspose/tile_io.cuh>

#include <algorithm>
#include <sstream>
#include <type_traits>

#include "cublas_peer.hpp"
#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

/// What products of T are summed up in, and what C holds.
template <class T>
struct product_types {
  using sum = int;
  using result = int;
};
template <>
struct product_types<__half> {
  using sum = float;
  using result = __half;
};
template <>
struct product_types<float> {
  using sum = float;
  using result = float;
};
template <>
struct product_types<double> {
  using sum = double;
  using result = double;
};

/// A block of 16 x 16 threads makes 64 x 64 elements of C; a thread makes every 16th of its rows and columns.
template <class T>
struct product_body {
  static constexpr int dim = 64;    // rows and columns of C that a block makes
  static constexpr int depth = 32;  // of the tiles along n
  static constexpr int side = 16;   // rows and columns of threads
  static constexpr int each = dim / side;
  static constexpr int threads = side * side;

  using sum_type = typename product_types<T>::sum;
  using result_type = typename product_types<T>::result;
  // Two rows of threads read one column of A's tile at once, which the padding for columns makes
  // conflict-free; all read rows of B's.
  using a_layout =
      tt::padded_layout<T, dim, depth, tt::default_padding<T, dim, depth>()>;  // (dim, depth)
  using b_layout = tt::padded_layout<T, depth, dim, 0>;                        // (depth, dim)
  using a_tile = tt::shared_tile<T, a_layout>;
  using b_tile = tt::shared_tile<T, b_layout>;
  struct storage {
    typename a_tile::storage a;
    typename b_tile::storage b;
  };

  tt::matrix_view<result_type> c;
  tt::matrix_view<const T> a;
  tt::matrix_view<const T> b;
  tile_grid grid;  // of C

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const tile_grid::place at = grid(block);
    const a_tile a_part(memory.a);
    const b_tile b_part(memory.b);
    const int x = static_cast<int>(group.thread_rank()) % side;
    const int y = static_cast<int>(group.thread_rank()) / side;
    sum_type sums[each][each] = {};
    for (std::size_t step = 0; step < a.cols; step += depth) {
      // At an edge some lanes take no part in one call and some in the other: the steps, which are nothing
      // on the device, tell the emulator which call an access is of.
      {
        const tt::loop_step first(0);
        tt::load_tile(group, a_part, a, at.row, step, T(0));
      }
      {
        const tt::loop_step second(1);
        tt::load_tile(group, b_part, b, step, at.col, T(0));
      }
      group.sync();  // both tiles are full before one is read
      for (int i = 0; i < depth; ++i) { add_products(sums, a_part, b_part, x, y, i); }
      group.sync();  // and read before they are filled again
    }
    for (int i = 0; i < each; ++i) {
      for (int j = 0; j < each; ++j) {
        const std::size_t row = at.row + static_cast<std::size_t>(y + i * side);
        const std::size_t col = at.col + static_cast<std::size_t>(x + j * side);
        if (row < c.rows && col < c.cols) { c.set(row, col, static_cast<result_type>(sums[i][j])); }
      }
    }
  }

 private:
  __host__ __device__ static void add_products(sum_type (&sums)[each][each], a_tile a_part,
                                               b_tile b_part, int x, int y, int step) {
    sum_type from_a[each];
    sum_type from_b[each];
    for (int i = 0; i < each; ++i) {
      from_a[i] = static_cast<sum_type>(a_part.get(y + i * side, step));
      from_b[i] = static_cast<sum_type>(b_part.get(step, x + i * side));
    }
    for (int i = 0; i < each; ++i) {
      for (int j = 0; j < each; ++j) { sums[i][j] += from_a[i] * from_b[j]; }
    }
  }
};

/// Half of the numbers of A and B are positive, so that no sum hides a missing part by being zero; their sums
/// are whole numbers below 2048 in all likelihood, which even a half holds exactly.
template <class T>
using factor = small_numbers<T>;
constexpr int least_factor = -1;
constexpr std::uint64_t salt_a = 0x5a17;
constexpr std::uint64_t salt_b = std::uint64_t{0xb0b} << 40;

/// Element i of C, from the numbers that A and B were filled with.
template <class T>
struct expected_product {
  using types = product_types<T>;
  std::size_t inner, cols;

  __host__ __device__ typename types::result operator()(std::size_t i) const {
    const factor<T> a{least_factor, salt_a};
    const factor<T> b{least_factor, salt_b};
    const std::size_t row = i / cols;
    const std::size_t col = i % cols;
    int sum = 0;
    for (std::size_t j = 0; j < inner; ++j) {
      sum += a.number(row * inner + j) * b.number(j * cols + col);
    }
    return static_cast<typename types::result>(static_cast<typename types::sum>(sum));
  }
};

/// Large matrices would keep the GPU busy for seconds; past this, more rows say nothing new.
constexpr std::size_t longest_side = 4096;

product_shape shape_of(const problem& asked) {
  const auto side = [](std::size_t wanted) { return std::min(wanted, longest_side); };
  constexpr std::size_t alignment = 256;
  product_shape shape{};
  shape.rows = side(asked.ny);
  shape.inner = side(asked.nx);
  shape.cols = side((asked.nx + asked.ny) / 2);
  const std::size_t a_bytes = shape.rows * shape.inner * size_of(asked.type);
  shape.b_offset = divide_up(a_bytes, alignment) * alignment;
  return shape;
}

template <class T>
launch_case product_case(const problem& asked, const char* label, const product_shape& shape) {
  using result = typename product_types<T>::result;
  const std::size_t a_count = shape.rows * shape.inner;
  const std::size_t b_count = shape.inner * shape.cols;
  const std::size_t c_count = shape.rows * shape.cols;
  launch_case made;
  made.label = label;
  made.type = name_of(asked.type);
  made.in_bytes = shape.b_offset + b_count * sizeof(T);
  made.out_bytes = c_count * sizeof(result);
  made.bytes = (a_count + b_count) * sizeof(T) + c_count * sizeof(result);
  made.operations = 2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.inner) *
                    static_cast<double>(shape.cols);
  made.plotted = false;
  std::ostringstream note;
  note << "C[" << shape.rows << "][" << shape.cols << "] = A[" << shape.rows << "][" << shape.inner
       << "] B[" << shape.inner << "][" << shape.cols << "]";
  made.note = note.str();
  made.prepare = [=](const workspace& memory) {
    fill(memory, reinterpret_cast<T*>(memory.in), a_count, factor<T>{least_factor, salt_a});
    fill(memory, reinterpret_cast<T*>(memory.in + shape.b_offset), b_count,
         factor<T>{least_factor, salt_b});
  };
  made.count_wrong = [=](const workspace& memory) {
    return count_different(memory, reinterpret_cast<const result*>(memory.out), c_count,
                           expected_product<T>{shape.inner, shape.cols});
  };
  return made;
}

template <class T>
launch_case tiled_case(const problem& asked, const product_shape& shape) {
  using body = product_body<T>;
  const tile_grid grid = tile_grid::of(shape.rows, shape.cols, body::dim, body::dim);
  launch_case made = product_case<T>(asked, "matrix-product", shape);
  predict_block<body>(made.predicted);
  const int bytes = static_cast<int>(sizeof(T));
  made.predicted.write_ways =
      std::max(tt::conflict_ways(typename body::a_layout{}, tt::along_rows, asked.banks),
               tt::conflict_ways(typename body::b_layout{}, tt::along_rows, asked.banks));
  const auto read_a = [](int lane) { return tt::tile_coordinate{lane / body::side, 0}; };
  const auto read_b = [](int lane) { return tt::tile_coordinate{0, lane % body::side}; };
  made.predicted.read_ways =
      std::max(tt::conflict_ways(typename body::a_layout{}, read_a, bytes, asked.banks),
               tt::conflict_ways(typename body::b_layout{}, read_b, bytes, asked.banks));
  made.enqueue = [=](const workspace& memory) {
    const body product{
        {reinterpret_cast<typename body::result_type*>(memory.out), shape.rows, shape.cols,
         shape.cols},
        {reinterpret_cast<const T*>(memory.in), shape.rows, shape.inner, shape.inner},
        {reinterpret_cast<const T*>(memory.in + shape.b_offset), shape.inner, shape.cols,
         shape.cols},
        grid};
    return launch(product, grid.tiles(), memory);
  };
  return made;
}

template <class T>
launch_case cublas_case(const problem& asked, const product_shape& shape) {
  launch_case made = product_case<T>(asked, "matrix-product-cublas", shape);
  peer library = cublas_product(asked.type, shape);
  made.unavailable = std::move(library.unavailable);
  made.foreign = made.needs_gpu = true;
  made.enqueue = std::move(library.enqueue);
  return made;
}

}  // namespace

std::vector<routine> compositions(const problem& asked) {
  const product_shape shape = shape_of(asked);
  return with_type(asked.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::vector<routine>{
        {"matrix-product",
         family::composition,
         "C = A B from tiles that load_tile fills",
         {tiled_case<T>(asked, shape)},
         "matrix-product: GB/s counts A, B and C once each; the work is the arithmetic. Exact: "
         "the\n"
         "matrices hold small whole numbers. At most 4096 rows, columns and inner elements."},
        {"matrix-product-cublas",
         family::composition,
         "cublasGemmEx on the same matrices",
         {cublas_case<T>(asked, shape)}},
    };
  });
}

}  // namespace gallery
