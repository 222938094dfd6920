// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of the fused calls share: values to draw from, and one check for all of them.
#pragma once

#include <climits>
#include <type_traits>

#include "support.cuh"

namespace tt_test {

struct pixel {
  std::uint8_t red, green, blue;
};
struct repeat_16 {
  float value[16];
};

// Finite floats of all magnitudes, exact multiples of 1/64 among them, and every special rounding
// case of half precision: ties, subnormals, overflow to infinity.
inline std::vector<float> some_floats() {
  std::vector<float> result{0.0f, -0.0f, 1.0f, 2049.0f, 2051.0f, 65504.0f, 65520.0f, 1e30f, 6e-8f};
  random_source random{7};
  for (int i = 0; i < 5000; ++i) {
    result.push_back(static_cast<float>(random.between(0, 1 << 16)) / 64 - 500);
  }
  return result;
}

// Multiples of 1/64 below 256, so that sums of a few are exact in every order.
inline std::vector<float> exact_floats() {
  std::vector<float> result;
  for (int i = 0; i < 1 << 14; ++i) result.push_back(static_cast<float>(i) / 64);
  return result;
}

inline std::vector<int> some_ints() {
  std::vector<int> result{-1, 0, INT_MIN, INT_MAX - 1};
  random_source random{7};
  for (int i = 0; i < 5000; ++i) result.push_back(static_cast<int>(random.between(0, INT_MAX - 1)));
  return result;
}

inline std::vector<std::uint8_t> every_byte() {
  std::vector<std::uint8_t> result;
  for (int i = 0; i < 256; ++i) result.push_back(static_cast<std::uint8_t>(i));
  return result;
}

inline std::vector<pixel> some_pixels() {
  std::vector<pixel> result;
  random_source random{7};
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t bits = random.next();
    result.push_back({static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
                      static_cast<std::uint8_t>(bits >> 16)});
  }
  return result;
}

// Elements between rows, where zero means dense, and bytes past a 256-byte boundary.
struct fused_placement {
  std::size_t in_stride = 0, out_stride = 0, copy_stride = 0;
  std::size_t in_misalignment = 0, out_misalignment = 0, copy_misalignment = 0;
};

// Which call: each knows its pointer form, its view form and how the host does the same.
struct transform_call {
  static constexpr bool takes_old = false;
  static constexpr bool copies = false;
};
struct accumulate_call {
  static constexpr bool takes_old = true;
  static constexpr bool copies = false;
};
struct dual_call {
  static constexpr bool takes_old = false;
  static constexpr bool copies = true;
};
// The same by the tiles of large matrices, whatever the size.
struct large_dual_call : dual_call {};

template <class Call, class U, class T, class Op>
cudaError_t call_fused(shape s, const fused_placement& p, U* copy, U* out, const T* in, Op op) {
  const bool dense = p.in_stride == s.nx && p.out_stride == s.ny && p.copy_stride == s.nx;
  const tt::matrix_view<const T> from{in, s.ny, s.nx, p.in_stride};
  const tt::matrix_view<U> to{out, s.nx, s.ny, p.out_stride};
  const tt::matrix_view<U> beside{copy, s.ny, s.nx, p.copy_stride};
  if constexpr (std::is_same_v<Call, large_dual_call>) {
    using tt::detail::fusion;
    using tile = tt::detail::fused_shape<T, U, fusion::dual, true, true>;
    return tt::detail::launch_fused_tiles<tile>(
        {{in, out, p.in_stride * sizeof(T), p.out_stride * sizeof(U), 0, 0, s.nx, s.ny, false}, 1},
        {copy, p.copy_stride * sizeof(U)}, op, nullptr);
  } else if constexpr (Call::takes_old) {
    return dense ? tt::accumulate_transpose(out, in, s.nx, s.ny, op)
                 : tt::accumulate_transpose(to, from, op);
  } else if constexpr (Call::copies) {
    return dense ? tt::transform_transpose_dual(copy, out, in, s.nx, s.ny, op)
                 : tt::transform_transpose_dual(beside, to, from, op);
  } else {
    return dense ? tt::transform_transpose(out, in, s.nx, s.ny, op)
                 : tt::transform_transpose(to, from, op);
  }
}

// What the host's version of an operation says of an element, which it may ask for its place.
template <class U, class Reference, class T>
U result_at(const Reference& reference, const T& value, std::size_t row, std::size_t col) {
  if constexpr (std::is_invocable_v<const Reference&, const T&>) {
    return reference(value);
  } else {
    return reference(value, row, col);
  }
}

// Elements are drawn from `values`, old elements of the output from `olds`; `reference` is the
// host's own version of `op`.
template <class Call, class U, class T, class Op, class Reference>
void check_fused(shape s, fused_placement p, random_source& random, const std::vector<T>& values,
                 const std::vector<U>& olds, Op op, Reference reference) {
  p.in_stride = p.in_stride > 0 ? p.in_stride : s.nx;
  p.out_stride = p.out_stride > 0 ? p.out_stride : s.ny;
  p.copy_stride = p.copy_stride > 0 ? p.copy_stride : s.nx;
  INFO("nx " << s.nx << ", ny " << s.ny << ", strides " << p.in_stride << " -> " << p.out_stride
             << " and " << p.copy_stride << ", misaligned by " << p.in_misalignment << " -> "
             << p.out_misalignment << " and " << p.copy_misalignment
             << " bytes; repeat with --rng-seed " << Catch::getSeed());
  byte_vector content(((s.ny - 1) * p.in_stride + s.nx) * sizeof(T));
  std::vector<U> transposed(s.nx * s.ny), copied(s.nx * s.ny), before(s.nx * s.ny);
  for (std::size_t y = 0; y < s.ny; ++y) {
    for (std::size_t x = 0; x < s.nx; ++x) {
      const T& value = values[random.between(0, values.size() - 1)];
      std::memcpy(&content[(y * p.in_stride + x) * sizeof(T)], &value, sizeof(T));
      U& result = transposed[x * s.ny + y];
      if constexpr (Call::takes_old) {
        const U& old = olds[random.between(0, olds.size() - 1)];
        before[x * s.ny + y] = old;
        result = reference(value, old);
      } else {
        result = result_at<U>(reference, value, y, x);
      }
      copied[y * s.nx + x] = result;
    }
  }
  const input_buffer in{std::move(content), p.in_misalignment};
  output_buffer out{((s.nx - 1) * p.out_stride + s.ny) * sizeof(U), p.out_misalignment, random};
  output_buffer copy{((s.ny - 1) * p.copy_stride + s.nx) * sizeof(U), p.copy_misalignment, random};
  out.expect(0, p.out_stride,
             {reinterpret_cast<const std::byte*>(transposed.data()), s.nx, s.ny, s.ny, sizeof(U)});
  out.poison();
  if (Call::copies) {
    copy.expect(0, p.copy_stride,
                {reinterpret_cast<const std::byte*>(copied.data()), s.ny, s.nx, s.nx, sizeof(U)});
  }
  copy.poison();
  if (Call::takes_old) {
    check_cuda(cudaMemcpy2D(out.data(), p.out_stride * sizeof(U), before.data(), s.ny * sizeof(U),
                            s.ny * sizeof(U), s.nx, cudaMemcpyHostToDevice),
               "the old output");
    check_cuda(cudaStreamSynchronize(nullptr), "the old output");
  }
  REQUIRE(call_fused<Call>(s, p, copy.as<U>(), out.as<U>(), in.as<T>(), op) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(copy.difference() == "");
  REQUIRE(in.unchanged());
}

// Every path of the kernel, in few elements.
template <class Call, class U, class T, class Op, class Reference>
void check_small(const std::vector<T>& values, const std::vector<U>& olds, Op op,
                 Reference reference) {
  random_source random;
  const shape shapes[] = {{1, 1},   {33, 31}, {64, 64}, {128, 64},  {65, 129}, {3, 257},
                          {257, 3}, {1, 90},  {90, 1},  {131, 259}, {601, 649}};
  for (const shape s : shapes) check_fused<Call>(s, {}, random, values, olds, op, reference);
  fused_placement p;
  p.in_misalignment = alignof(T);
  p.copy_misalignment = alignof(U);
  check_fused<Call>({64, 128}, p, random, values, olds, op, reference);
  p = {};
  p.out_misalignment = alignof(U);
  check_fused<Call>({64, 128}, p, random, values, olds, op, reference);
  // A copy whose rows start elsewhere than those of the input, in tiles inside of the matrices too.
  p = {};
  p.copy_misalignment = alignof(U);
  check_fused<Call>({521, 649}, p, random, values, olds, op, reference);
  // Everything as little off as may be, where rows of the input start alike, and otherwise.
  p.in_misalignment = alignof(T);
  p.out_misalignment = alignof(U);
  check_fused<Call>({520, 649}, p, random, values, olds, op, reference);
  check_fused<Call>({523, 649}, p, random, values, olds, op, reference);
  p = {};
  p.copy_misalignment = alignof(U);
  if (Call::copies) check_fused<Call>({512, 768}, p, random, values, olds, op, reference);
  p = {75, 201, 74, 0, 0, 0};
  check_fused<Call>({70, 197}, p, random, values, olds, op, reference);
  p = {128, 256, 160, 0, 0, 0};
  check_fused<Call>({128, 192}, p, random, values, olds, op, reference);
  // Whole tiles of rows that are aligned on both sides, and of an output that is not.
  check_fused<Call>({512, 768}, {}, random, values, olds, op, reference);
  check_fused<Call>({512, 777}, {}, random, values, olds, op, reference);
}

template <class Call, class U, class T, class Op, class Reference>
void check_many(const std::vector<T>& values, const std::vector<U>& olds, Op op,
                Reference reference) {
  random_source random;
  const auto misaligned = [&](std::size_t most) {
    fused_placement p;
    p.in_misalignment = alignof(T) * random.between(0, most);
    p.out_misalignment = alignof(U) * random.between(0, most);
    p.copy_misalignment = alignof(U) * random.between(0, most);
    return p;
  };
  const std::size_t sides[] = {1, 2, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};
  for (const std::size_t nx : sides) {
    for (const std::size_t ny : sides) {
      check_fused<Call>({nx, ny}, misaligned(8), random, values, olds, op, reference);
    }
  }
  for (const shape s : {shape{2, 70001}, shape{70001, 2}, shape{33, 9001}, shape{9001, 33}}) {
    check_fused<Call>(s, {}, random, values, olds, op, reference);
  }
  for (int i = 0; i < 20; ++i) {
    const shape s{random.between(1, 600), random.between(1, 600)};
    fused_placement p = misaligned(32);
    if (i % 2 == 1) {
      p.in_stride = s.nx + random.between(0, 40);
      p.out_stride = s.ny + random.between(0, 40);
      p.copy_stride = s.nx + random.between(0, 40);
    }
    check_fused<Call>(s, p, random, values, olds, op, reference);
  }
}

// For calls that do not look at what the output was.
template <class Call, class U, class T, class Op, class Reference>
void check_small(const std::vector<T>& values, Op op, Reference reference) {
  static_assert(!Call::takes_old, "olds are missing");
  check_small<Call>(values, std::vector<U>(1), op, reference);
}
template <class Call, class U, class T, class Op, class Reference>
void check_many(const std::vector<T>& values, Op op, Reference reference) {
  static_assert(!Call::takes_old, "olds are missing");
  check_many<Call>(values, std::vector<U>(1), op, reference);
}

}  // namespace tt_test
