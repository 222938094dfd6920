// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transform_transpose: functors with and without state, results of another type and size, pitched
// matrices.

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "fused.cuh"

using namespace tt_test;

namespace {

struct to_half {
  __device__ __half operator()(float value) const { return __float2half_rn(value); }
};

struct to_bfloat16 {
  __device__ __nv_bfloat16 operator()(float value) const { return __float2bfloat16_rn(value); }
};

struct to_fp8 {
  __device__ __nv_fp8_e4m3 operator()(float value) const { return __nv_fp8_e4m3(value); }
};

template <class Complex>
struct conjugate {
  __host__ __device__ Complex operator()(Complex z) const {
    z.y = -z.y;
    return z;
  }
};

struct to_double {
  __host__ __device__ double operator()(float value) const { return value; }
};

struct plus_one {
  __host__ __device__ int operator()(int value) const { return value + 1; }
};

struct inverted {
  __host__ __device__ std::uint8_t operator()(std::uint8_t value) const {
    return static_cast<std::uint8_t>(~value);
  }
};

struct saturate {
  __device__ std::uint8_t operator()(float value) const {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
};

// State, and neither a default constructor nor an assignment.
class scale_by {
 public:
  explicit scale_by(float factor) : factor_(factor) {}
  __device__ float operator()(std::uint8_t value) const { return factor_ * value; }

 private:
  const float factor_;
};

struct luminance {
  __device__ std::uint8_t operator()(const pixel& p) const {
    return static_cast<std::uint8_t>((77 * p.red + 150 * p.green + 29 * p.blue) / 256);
  }
};

struct to_pixel {
  __device__ pixel operator()(std::uint8_t value) const {
    return {value, static_cast<std::uint8_t>(255 - value), 7};
  }
};

struct to_floats {
  __device__ float_triple operator()(const pixel& p) const {
    return {static_cast<float>(p.red), static_cast<float>(p.green), static_cast<float>(p.blue)};
  }
};

struct repeat {
  __device__ repeat_16 operator()(float value) const {
    repeat_16 result;
    for (float& v : result.value) v = value;
    return result;
  }
};

// Of an element's place as well: no two neighbours, nor rows or columns a power of two apart, get the same.
struct masked {
  __host__ __device__ float operator()(float value, std::size_t row, std::size_t col) const {
    return col > row ? static_cast<float>(5 * row + 3 * (col % 4093)) : -value;
  }
};

struct numbered {
  __host__ __device__ std::uint8_t operator()(std::uint8_t value, unsigned long long row,
                                              unsigned long long col) const {
    return static_cast<std::uint8_t>(value + 7 * row + 11 * col + row / 256 + 3 * (col / 256));
  }
};

struct pixel_of_place {
  __host__ __device__ pixel operator()(const pixel& p, std::size_t row, std::size_t col) const {
    return {static_cast<std::uint8_t>(p.red + row), static_cast<std::uint8_t>(p.green + col),
            static_cast<std::uint8_t>(p.blue + row / 256 + 5 * (col / 256))};
  }
};

template <class Complex, class Real>
std::vector<Complex> some_complex() {
  std::vector<Complex> result;
  random_source random{7};
  for (const float value : some_floats()) {
    result.push_back({static_cast<Real>(value), static_cast<Real>(random.between(0, 1000))});
  }
  return result;
}

std::uint8_t saturated(float value) {
  return static_cast<std::uint8_t>(std::min(std::max(value, 0.0f), 255.0f));
}

std::uint8_t grey(const pixel& p) {
  return static_cast<std::uint8_t>((p.red * 77 + p.green * 150 + p.blue * 29) >> 8);
}

pixel coloured(std::uint8_t value) { return {value, static_cast<std::uint8_t>(~value), 7}; }

float_triple in_floats(const pixel& p) { return {1.0f * p.red, 1.0f * p.green, 1.0f * p.blue}; }

repeat_16 repeated(float value) {
  repeat_16 result;
  std::fill(std::begin(result.value), std::end(result.value), value);
  return result;
}

}  // namespace

TEST_CASE("transform: every path at a small size", "[transform][quick]") {
  require_device();
  SECTION("float to half") {
    check_small<transform_call, __half>(some_floats(), to_half{},
                                        [](float v) { return __float2half_rn(v); });
  }
  SECTION("float to bfloat16") {
    check_small<transform_call, __nv_bfloat16>(some_floats(), to_bfloat16{},
                                               [](float v) { return __float2bfloat16_rn(v); });
  }
  SECTION("float to fp8") {
    check_small<transform_call, __nv_fp8_e4m3>(some_floats(), to_fp8{},
                                               [](float v) { return __nv_fp8_e4m3(v); });
  }
  SECTION("complex float, conjugated") {
    check_small<transform_call, cuFloatComplex>(some_complex<cuFloatComplex, float>(),
                                                conjugate<cuFloatComplex>{}, cuConjf);
  }
  SECTION("complex double, conjugated") {
    check_small<transform_call, cuDoubleComplex>(some_complex<cuDoubleComplex, double>(),
                                                 conjugate<cuDoubleComplex>{}, cuConj);
  }
  SECTION("float to double") {
    check_small<transform_call, double>(some_floats(), to_double{},
                                        [](float v) { return double{v}; });
  }
  SECTION("int to int") {
    check_small<transform_call, int>(some_ints(), plus_one{}, [](int v) { return 1 + v; });
  }
  SECTION("byte to float, with state") {
    check_small<transform_call, float>(every_byte(), scale_by{0.25f},
                                       [](std::uint8_t v) { return static_cast<float>(v) / 4; });
  }
  SECTION("byte to byte") {
    check_small<transform_call, std::uint8_t>(every_byte(), inverted{}, inverted{});
  }
  SECTION("float to byte, saturated") {
    check_small<transform_call, std::uint8_t>(some_floats(), saturate{}, saturated);
  }
  SECTION("pixel to byte") {
    check_small<transform_call, std::uint8_t>(some_pixels(), luminance{}, grey);
  }
  SECTION("byte to pixel") {
    check_small<transform_call, pixel>(every_byte(), to_pixel{}, coloured);
  }
  SECTION("pixel to floats") {
    check_small<transform_call, float_triple>(some_pixels(), to_floats{}, in_floats);
  }
  SECTION("float to 64 bytes") {
    check_small<transform_call, repeat_16>(some_floats(), repeat{}, repeated);
  }
}

TEST_CASE("transform: elements with their rows and columns", "[transform][quick]") {
  require_device();
  SECTION("floats") { check_small<transform_call, float>(some_floats(), masked{}, masked{}); }
  SECTION("bytes") {
    check_small<transform_call, std::uint8_t>(every_byte(), numbered{}, numbered{});
  }
  SECTION("pixels") {
    check_small<transform_call, pixel>(some_pixels(), pixel_of_place{}, pixel_of_place{});
  }
  SECTION("floats, twice") { check_small<dual_call, float>(some_floats(), masked{}, masked{}); }
  SECTION("bytes, twice") {
    check_small<dual_call, std::uint8_t>(every_byte(), numbered{}, numbered{});
    // Its tiles are for rows that start on 16 bytes, and take more shared memory than every device has.
    if (tt::detail::most_shared_bytes() < 96 * 1024) { return; }
    random_source random;
    for (const std::size_t rows : {64, 300, 513}) {
      check_fused<large_dual_call>({520, rows}, {544, 0, 544, 0, 0, 0}, random, every_byte(),
                                   every_byte(), numbered{}, numbered{});
    }
  }
  SECTION("pixels, twice") {
    check_small<dual_call, pixel>(some_pixels(), pixel_of_place{}, pixel_of_place{});
  }
  // More than the mover for little work takes.
  SECTION("large matrices") {
    random_source random;
    const std::vector<float> none(1);
    check_fused<transform_call>({3001, 1999}, {}, random, some_floats(), none, masked{}, masked{});
    check_fused<dual_call>({2999, 2003}, {}, random, some_floats(), none, masked{}, masked{});
    check_fused<transform_call>({9001, 1003}, {}, random, every_byte(), every_byte(), numbered{},
                                numbered{});
  }
}

TEST_CASE("transform: float to half", "[transform]") {
  require_device();
  check_many<transform_call, __half>(some_floats(), to_half{},
                                     [](float v) { return __float2half_rn(v); });
}

TEST_CASE("transform: float to fp8", "[transform]") {
  require_device();
  check_many<transform_call, __nv_fp8_e4m3>(some_floats(), to_fp8{},
                                            [](float v) { return __nv_fp8_e4m3(v); });
}

TEST_CASE("transform: complex double conjugated", "[transform]") {
  require_device();
  check_many<transform_call, cuDoubleComplex>(some_complex<cuDoubleComplex, double>(),
                                              conjugate<cuDoubleComplex>{}, cuConj);
}

TEST_CASE("transform: float to double", "[transform]") {
  require_device();
  check_many<transform_call, double>(some_floats(), to_double{}, [](float v) { return double{v}; });
}

TEST_CASE("transform: int to int", "[transform]") {
  require_device();
  check_many<transform_call, int>(some_ints(), plus_one{}, [](int v) { return 1 + v; });
}

TEST_CASE("transform: byte to float with state", "[transform]") {
  require_device();
  check_many<transform_call, float>(every_byte(), scale_by{0.25f},
                                    [](std::uint8_t v) { return static_cast<float>(v) / 4; });
}

TEST_CASE("transform: float to byte saturated", "[transform]") {
  require_device();
  check_many<transform_call, std::uint8_t>(some_floats(), saturate{}, saturated);
}

TEST_CASE("transform: pixel to byte", "[transform]") {
  require_device();
  check_many<transform_call, std::uint8_t>(some_pixels(), luminance{}, grey);
}

TEST_CASE("transform: byte to pixel", "[transform]") {
  require_device();
  check_many<transform_call, pixel>(every_byte(), to_pixel{}, coloured);
}

TEST_CASE("transform: pixel to floats", "[transform]") {
  require_device();
  check_many<transform_call, float_triple>(some_pixels(), to_floats{}, in_floats);
}
