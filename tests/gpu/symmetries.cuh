// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of tt::symmetry share: every call that lays a matrix down again, its types erased,
// and a CPU reference.
//
// The calls are instantiated in symmetry_calls_*.cu, once for all test programs.
#pragma once

#include <array>
#include <initializer_list>

#include <tiletranspose/symmetry.cuh>

#include "support.cuh"

namespace tt_test {

constexpr std::array<tt::symmetry, 8> every_symmetry{
    tt::symmetry::identity,   tt::symmetry::flip_lr,       tt::symmetry::flip_ud,
    tt::symmetry::rotate_180, tt::symmetry::transpose,     tt::symmetry::rotate_90,
    tt::symmetry::rotate_270, tt::symmetry::anti_transpose};

// Those whose rows stay rows.
constexpr std::array<tt::symmetry, 4> row_symmetries{
    tt::symmetry::identity, tt::symmetry::flip_lr, tt::symmetry::flip_ud, tt::symmetry::rotate_180};

inline const char* name(tt::symmetry s) {
  static constexpr std::array<const char*, 8> names{"identity",   "flip_lr",       "flip_ud",
                                                    "rotate_180", "transpose",     "rotate_90",
                                                    "rotate_270", "anti_transpose"};
  return names[static_cast<std::size_t>(s)];
}

// Told from the values, not by tt::transposes: that is under test too.
inline bool swaps_sides(tt::symmetry s) {
  return s == tt::symmetry::transpose || s == tt::symmetry::rotate_90 ||
         s == tt::symmetry::rotate_270 || s == tt::symmetry::anti_transpose;
}

// The shape of the output.
inline shape reoriented(shape s, tt::symmetry how) {
  return swaps_sides(how) ? shape{s.ny, s.nx} : s;
}

// ---------------------------------------------------- element types

template <std::size_t Size, std::size_t Alignment>
struct alignas(Alignment) block {
  unsigned char value[Size];
};

// ---------------------------------------------------- calls

// Strides in elements, shapes those of the input. `data` is input and output.
struct symmetry_calls {
  element_type type;

  cudaError_t (*reorient)(std::byte* out, std::size_t out_stride, const std::byte* in,
                          std::size_t in_stride, shape s, tt::symmetry how);
  cudaError_t (*reverse)(std::byte* out, const std::byte* in, std::size_t n);
  cudaError_t (*flip_lr)(std::byte* out, const std::byte* in, shape s);
  cudaError_t (*flip_ud)(std::byte* out, const std::byte* in, shape s);
  cudaError_t (*rotate)(std::byte* out, const std::byte* in, shape s, long long turns);
  cudaError_t (*anti_transpose)(std::byte* out, const std::byte* in, shape s);

  cudaError_t (*batch)(std::byte* out, const std::byte* in, shape s, std::size_t count,
                       tt::symmetry how);
  cudaError_t (*strided_batch)(std::byte* out, std::size_t out_stride, const std::byte* in,
                               std::size_t in_stride, shape s, std::size_t count, tt::symmetry how);
  // outs and ins: device arrays of pointers
  cudaError_t (*pointer_batch)(const std::byte* outs, const std::byte* ins, shape s,
                               std::size_t count, tt::symmetry how);

  cudaError_t (*reorient_inplace)(std::byte* data, shape s, std::size_t stride, tt::symmetry how);
  cudaError_t (*reverse_inplace)(std::byte* data, std::size_t n);
  cudaError_t (*flip_lr_inplace)(std::byte* data, shape s);
  cudaError_t (*flip_ud_inplace)(std::byte* data, shape s);
  cudaError_t (*rotate_180_inplace)(std::byte* data, shape s);
  cudaError_t (*rotate_inplace)(std::byte* data, shape s, long long turns);

  cudaError_t (*transpose_inplace)(std::byte* data, shape s);
  cudaError_t (*transpose_inplace_view)(std::byte* data, shape s, std::size_t stride);
};

// Elements without alignment, and elements aligned as their size allows, up to 16 bytes.
std::vector<symmetry_calls> calls_of_1_to_7_bytes();
std::vector<symmetry_calls> calls_of_8_to_15_bytes();
std::vector<symmetry_calls> calls_of_16_to_31_bytes();
std::vector<symmetry_calls> calls_of_32_to_64_bytes();
std::vector<symmetry_calls> aligned_calls_of_2_to_8_bytes();
std::vector<symmetry_calls> aligned_calls_of_10_to_64_bytes();

// Lists of calls, each of which says its `type`.
template <class Call>
std::vector<Call> joined(std::initializer_list<std::vector<Call>> parts) {
  std::vector<Call> result;
  for (const auto& part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

// Those of `lowest` to `highest` bytes.
template <class Call>
std::vector<Call> between(const std::vector<Call>& calls, std::size_t lowest, std::size_t highest) {
  std::vector<Call> result;
  for (const Call& c : calls) {
    if (c.type.size >= lowest && c.type.size <= highest) result.push_back(c);
  }
  REQUIRE(!result.empty());  // a test of no type would pass
  return result;
}

// A type each for the ways in which elements are moved: enough where a test is about the shape.
template <class Call>
std::vector<Call> plain(const std::vector<Call>& calls) {
  std::vector<Call> result;
  for (const Call& c : calls) {
    const auto is = [&](std::size_t size, std::size_t alignment) {
      return c.type.size == size && c.type.alignment == alignment;
    };
    if (is(1, 1) || is(2, 2) || is(3, 1) || is(4, 4) || is(8, 8) || is(12, 4) || is(16, 16) ||
        is(64, 1)) {
      result.push_back(c);
    }
  }
  return result;
}

inline const std::vector<symmetry_calls>& every_call() {
  static const std::vector<symmetry_calls> calls =
      joined({calls_of_1_to_7_bytes(), calls_of_8_to_15_bytes(), calls_of_16_to_31_bytes(),
              calls_of_32_to_64_bytes(), aligned_calls_of_2_to_8_bytes(),
              aligned_calls_of_10_to_64_bytes()});
  return calls;
}

inline std::vector<symmetry_calls> calls_between(std::size_t lowest, std::size_t highest) {
  return between(every_call(), lowest, highest);
}

inline std::vector<symmetry_calls> plain_calls() { return plain(every_call()); }

// ---------------------------------------------------- reference

// Contiguous; the formulas of tt::symmetry's table, element by element.
inline byte_vector reoriented(const host_matrix& in, tt::symmetry how) {
  const std::size_t rows = swaps_sides(how) ? in.cols : in.rows;
  const std::size_t cols = swaps_sides(how) ? in.rows : in.cols;
  const std::size_t last_row = in.rows - 1;
  const std::size_t last_col = in.cols - 1;
  byte_vector result(rows * cols * in.size);
  std::byte* to = result.data();
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      std::size_t row = i;
      std::size_t col = j;
      switch (how) {
        case tt::symmetry::identity:
          break;
        case tt::symmetry::flip_lr:
          col = last_col - j;
          break;
        case tt::symmetry::flip_ud:
          row = last_row - i;
          break;
        case tt::symmetry::rotate_180:
          row = last_row - i;
          col = last_col - j;
          break;
        case tt::symmetry::transpose:
          row = j;
          col = i;
          break;
        case tt::symmetry::rotate_90:
          row = j;
          col = last_col - i;
          break;
        case tt::symmetry::rotate_270:
          row = last_row - j;
          col = i;
          break;
        case tt::symmetry::anti_transpose:
          row = last_row - j;
          col = last_col - i;
          break;
      }
      std::memcpy(to, in.data + (row * in.stride + col) * in.size, in.size);
      to += in.size;
    }
  }
  return result;
}

// ---------------------------------------------------- checks

inline std::string describe(const element_type& type, tt::symmetry how, shape s) {
  std::ostringstream text;
  text << name(how) << ", " << type.name << ", nx " << s.nx << ", ny " << s.ny;
  return text.str();
}

// Lays one random matrix down with `launch(out, in)` and checks every byte within reach.
template <class Launch>
void check_reorient(const element_type& type, tt::symmetry how, shape s, const view_placement& p,
                    random_source& random, Launch launch) {
  INFO(describe(type, how, s) << ", strides " << p.in_stride << " -> " << p.out_stride
                              << ", misaligned by " << p.in_misalignment << " -> "
                              << p.out_misalignment << " bytes; repeat with --rng-seed "
                              << Catch::getSeed());
  const shape t = reoriented(s, how);
  const input_buffer in{random.fill(((s.ny - 1) * p.in_stride + s.nx) * type.size),
                        p.in_misalignment};
  output_buffer out{((t.ny - 1) * p.out_stride + t.nx) * type.size, p.out_misalignment, random};
  const byte_vector expected = reoriented(in.matrix(s.ny, s.nx, p.in_stride, type.size), how);
  out.expect(0, p.out_stride, {expected.data(), t.ny, t.nx, t.nx, type.size});
  out.poison();
  REQUIRE(launch(out.data(), in.data()) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

// A view of rows `in_gap` elements apart into one of rows `out_gap` apart.
inline void check_views(const symmetry_calls& c, tt::symmetry how, shape s, std::size_t in_gap,
                        std::size_t out_gap, random_source& random, std::size_t in_misalignment = 0,
                        std::size_t out_misalignment = 0) {
  const view_placement p{s.nx + in_gap, reoriented(s, how).nx + out_gap, in_misalignment,
                         out_misalignment};
  check_reorient(c.type, how, s, p, random, [&](std::byte* out, const std::byte* in) {
    return c.reorient(out, p.out_stride, in, p.in_stride, s, how);
  });
}

inline void check_dense(const symmetry_calls& c, tt::symmetry how, shape s, random_source& random,
                        std::size_t in_misalignment = 0, std::size_t out_misalignment = 0) {
  check_views(c, how, s, 0, 0, random, in_misalignment, out_misalignment);
}

inline void check_reverse(const symmetry_calls& c, std::size_t n, random_source& random,
                          std::size_t in_misalignment = 0, std::size_t out_misalignment = 0) {
  check_reorient(c.type, tt::symmetry::flip_lr, {n, 1}, {n, n, in_misalignment, out_misalignment},
                 random,
                 [&](std::byte* out, const std::byte* in) { return c.reverse(out, in, n); });
}

// Lays a random matrix down in its own memory with `launch(data)` and checks every byte within
// reach. Symmetries that transpose take squares, or dense matrices.
template <class Launch>
void check_inplace(const element_type& type, tt::symmetry how, shape s, std::size_t stride,
                   std::size_t misalignment, random_source& random, Launch launch) {
  INFO(describe(type, how, s) << " in place, stride " << stride << ", misaligned by "
                              << misalignment << " bytes; repeat with --rng-seed "
                              << Catch::getSeed());
  const byte_vector content = random.fill(s.nx * s.ny * type.size);
  const byte_vector expected = reoriented({content.data(), s.ny, s.nx, s.nx, type.size}, how);
  // A write behind the data shows in one half of the cases, a read in the other.
  output_buffer data{((s.ny - 1) * stride + s.nx) * type.size, misalignment, random,
                     guard_bytes * random.between(0, 1)};
  if (stride == s.nx) {  // the shape may change
    const std::size_t n = s.nx * s.ny;
    data.change(0, n, {content.data(), 1, n, n, type.size}, {expected.data(), 1, n, n, type.size});
  } else {
    data.change(0, stride, {content.data(), s.ny, s.nx, s.nx, type.size},
                {expected.data(), s.ny, s.nx, s.nx, type.size});
  }
  data.poison();
  REQUIRE(launch(data.data()) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(data.difference() == "");
}

inline void check_inplace(const symmetry_calls& c, tt::symmetry how, shape s, std::size_t gap,
                          random_source& random, std::size_t misalignment = 0) {
  const std::size_t stride = s.nx + gap;
  check_inplace(c.type, how, s, stride, misalignment, random,
                [&](std::byte* data) { return c.reorient_inplace(data, s, stride, how); });
}

// ---------------------------------------------------- sizes that matter

// Element counts whose bytes are close to `around`, either side.
inline std::vector<std::size_t> counts_near(std::size_t around, std::size_t element) {
  const std::size_t middle = around / element;
  std::vector<std::size_t> result;
  for (std::size_t n = middle > 2 ? middle - 2 : 1; n <= middle + 2; ++n) result.push_back(n);
  return result;
}

// Bytes of a row that one block takes at a time.
constexpr std::array<std::size_t, 4> chunk_bytes{7936, 8192, 16128, 16384};

// Bytes of rows of two blocks and more, a whole block, half of one and the most that is moved as an element.
constexpr std::array<std::size_t, 13> notable_row_bytes{256,  512,  1024,  2048,  3968,  4096, 7936,
                                                        8064, 8192, 16128, 16384, 32256, 50000};

// Random bytes past a boundary, as many as the type allows, up to a sector and a half.
inline std::size_t some_misalignment(const element_type& type, random_source& random) {
  return type.alignment * random.between(0, 48 / type.alignment);
}

}  // namespace tt_test
