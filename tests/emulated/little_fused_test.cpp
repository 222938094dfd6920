// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fused calls of little work: conversion, accumulation and two outputs, of elements of any two sizes and alignments, also
// of types that cannot be made without arguments nor assigned. Most are launched without the movers for large matrices,
// which would take a compiler minutes.

#include "little.hpp"

#include <new>

namespace {

using tt::detail::fusion;

// Each byte of the result shows where it came from.
unsigned char mixed(const unsigned char* from, std::size_t size, std::size_t i) {
  return static_cast<unsigned char>(3 * from[i % size] + i);
}
template <class Out, class In>
Out converted(const In& value) {
  Out result;
  for (std::size_t i = 0; i < sizeof(Out); ++i) {
    result.bytes[i] = mixed(value.bytes, sizeof(In), i);
  }
  return result;
}
template <class Out, class In>
Out combined(const In& value, const Out& old) {
  Out result = converted<Out>(value);
  for (std::size_t i = 0; i < sizeof(Out); ++i) {
    result.bytes[i] = static_cast<unsigned char>(result.bytes[i] + 5 * old.bytes[i]);
  }
  return result;
}

std::size_t calls = 0;  // of the function; fibers take turns

template <class Out>
struct convert {
  template <class In>
  Out operator()(const In& value) const {
    ++calls;
    return converted<Out>(value);
  }
  template <class In>
  Out operator()(const In& value, const Out& old) const {
    ++calls;
    return combined(value, old);
  }
};

// A matrix of T between guards, rows `gap` elements apart, `shift` elements past a multiple of 256 bytes.
template <class T>
struct matrix {
  matrix(std::size_t rows_, std::size_t cols_, std::size_t gap, std::size_t shift)
      : rows(rows_),
        cols(cols_),
        stride(cols_ + gap),
        bytes(sizeof(T) * rows_ * (cols_ + gap), sizeof(T) * shift) {}

  T* data() { return reinterpret_cast<T*>(bytes.data()); }
  T* in(std::vector<unsigned char>& copy, std::size_t row, std::size_t col) const {
    return reinterpret_cast<T*>(&copy[bytes.first()]) + row * stride + col;
  }
  tt::matrix_view<T> view() { return {data(), rows, cols, stride}; }
  tt::matrix_view<const T> const_view() { return {data(), rows, cols, stride}; }

  std::size_t rows, cols, stride;
  guarded_bytes bytes;
};

template <fusion Kind, bool Public, class In, class Out>
cudaError_t launch(matrix<In>& in, matrix<Out>& out, matrix<Out>& copy) {
  const convert<Out> op{};
  if constexpr (!Public) {
    const tt::detail::tile_problem problem{in.data(), out.data(), in.stride * sizeof(In),
                                           out.stride * sizeof(Out), 0, 0, in.cols, in.rows,
                                           false};
    const tt::detail::second_output second{copy.bytes.data(), copy.stride * sizeof(Out)};
    cudaError_t status = cudaSuccess;
    return tt::detail::transform_little<Kind, In, Out>(problem, second, op, nullptr, status)
               ? status
               : cudaErrorUnknown;
  } else if constexpr (Kind == fusion::transform) {
    return tt::transform_transpose(out.view(), in.const_view(), op);
  } else if constexpr (Kind == fusion::accumulate) {
    return tt::accumulate_transpose(out.view(), in.const_view(), op);
  } else {
    return tt::transform_transpose_dual(copy.view(), out.view(), in.const_view(), op);
  }
}

// Requests to shared memory of elements of up to 16 bytes meet two ways at most.
template <fusion Kind, bool Public, class In, class Out>
void check(std::size_t nx, std::size_t ny, random_numbers& random) {
  const auto gap = [&] { return random.coin() ? 0 : random.between(1, 9); };
  matrix<In> in(ny, nx, gap(), random.between(0, 5));
  matrix<Out> out(nx, ny, gap(), random.between(0, 5));
  matrix<Out> copy(ny, nx, gap(), random.between(0, 5));
  std::vector<unsigned char> from = in.bytes.copy();
  std::vector<unsigned char> want = out.bytes.copy();
  std::vector<unsigned char> want_copy = copy.bytes.copy();
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      const In& value = *in.in(from, y, x);
      Out* const result = out.in(want, x, y);
      const Out answer =
          Kind == fusion::accumulate ? combined(value, *result) : converted<Out>(value);
      std::memcpy(static_cast<void*>(result), &answer, sizeof(Out));
      if (Kind == fusion::dual) {
        std::memcpy(static_cast<void*>(copy.in(want_copy, y, x)), &answer, sizeof(Out));
      }
    }
  }
  cpu::this_device() = {};
  cpu::this_device().options.knows(in.const_view()).knows(out.view());
  if (Kind == fusion::dual) { cpu::this_device().options.knows(copy.view()); }
  calls = 0;
  const cudaError_t status = launch<Kind, Public>(in, out, copy);
  const cpu::device& device = cpu::this_device();
  INFO("kind " << static_cast<int>(Kind) << ", " << sizeof(In) << " to " << sizeof(Out)
               << " bytes, nx " << nx << ", ny " << ny << ", strides " << in.stride << ", "
               << out.stride << ", " << copy.stride << "; repeat with --rng-seed "
               << Catch::getSeed() << '\n'
               << device.last.table());
  CHECK(status == cudaSuccess);
  CHECK(calls == nx * ny);
  CHECK(out.bytes.is(want));
  CHECK(copy.bytes.is(want_copy));
  CHECK(in.bytes.is(from));
  CHECK(device.faults == 0);
  CHECK(device.launches == 1);
  CHECK(device.stored == (Kind == fusion::dual ? 2 : 1) * sizeof(Out) * nx * ny);
  if (sizeof(In) <= 16 && sizeof(Out) <= 16) { CHECK(device.last.worst_ways() <= 4); }
  CHECK(took_little_mover());
}

// Tiles, and the few rows and columns that are moved without one.
template <bool Public, class In, class Out>
void check_pair() {
  random_numbers random;
  const auto check_shape = [&](std::size_t nx, std::size_t ny) {
    check<fusion::transform, Public, In, Out>(nx, ny, random);
    check<fusion::accumulate, Public, In, Out>(nx, ny, random);
    check<fusion::dual, Public, In, Out>(nx, ny, random);
  };
  check_shape(pick_side(random), pick_side(random));
  check_shape(pick_side(random), pick_side(random));
  check_shape(random.between(2, 4), pick_side(random));
  check_shape(pick_side(random), random.between(2, 4));
  check_shape(1, 1);
}

// Neither made without arguments nor assigned, and aligned to more than any access.
struct alignas(32) sealed {
  const unsigned char bytes[32];

  explicit sealed(const unsigned char (&all)[32])
      : bytes{all[0],  all[1],  all[2],  all[3],  all[4],  all[5],  all[6],  all[7],
              all[8],  all[9],  all[10], all[11], all[12], all[13], all[14], all[15],
              all[16], all[17], all[18], all[19], all[20], all[21], all[22], all[23],
              all[24], all[25], all[26], all[27], all[28], all[29], all[30], all[31]} {}
};
static_assert(!std::is_default_constructible<sealed>::value &&
                  !std::is_copy_assignable<sealed>::value,
              "");

template <>
sealed converted<sealed>(const sealed& value) {
  unsigned char all[32];
  for (std::size_t i = 0; i < 32; ++i) { all[i] = mixed(value.bytes, 32, i); }
  return sealed(all);
}
template <>
sealed converted<sealed>(const element<4>& value) {
  unsigned char all[32];
  for (std::size_t i = 0; i < 32; ++i) { all[i] = mixed(value.bytes, 4, i); }
  return sealed(all);
}
template <class In>
sealed combined(const In& value, const sealed& old) {
  const sealed fresh = converted<sealed>(value);
  unsigned char all[32];
  for (std::size_t i = 0; i < 32; ++i) {
    all[i] = static_cast<unsigned char>(fresh.bytes[i] + 5 * old.bytes[i]);
  }
  return sealed(all);
}

}  // namespace
