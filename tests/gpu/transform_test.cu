// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transform_transpose: functors with and without state, results of another type and size.

#include <climits>

#include <cuda_fp16.h>

#include "support.cuh"

using namespace tt_test;

namespace {

struct to_half {
  __device__ __half operator()(float value) const { return __float2half_rn(value); }
};

struct to_double {
  __host__ __device__ double operator()(float value) const { return value; }
};

struct plus_one {
  __host__ __device__ int operator()(int value) const { return value + 1; }
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

struct pixel {
  std::uint8_t red, green, blue;
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

struct repeat_16 {
  float value[16];
};

struct repeat {
  __device__ repeat_16 operator()(float value) const {
    repeat_16 result;
    for (float& v : result.value) v = value;
    return result;
  }
};

// out(x, y) = op(in(y, x)), with `reference` as the host's own version of op.
template <class U, class T, class Op, class Reference>
void check_transform(shape s, std::size_t in_misalignment, std::size_t out_misalignment,
                     random_source& random, const std::vector<T>& values, Op op,
                     Reference reference) {
  INFO("nx " << s.nx << ", ny " << s.ny << ", misaligned by " << in_misalignment << " -> "
             << out_misalignment << " bytes; repeat with --rng-seed " << Catch::getSeed());
  byte_vector content(s.nx * s.ny * sizeof(T));
  std::vector<U> expected(s.nx * s.ny);
  for (std::size_t y = 0; y < s.ny; ++y) {
    for (std::size_t x = 0; x < s.nx; ++x) {
      const T& value = values[random.between(0, values.size() - 1)];
      std::memcpy(&content[(y * s.nx + x) * sizeof(T)], &value, sizeof(T));
      expected[x * s.ny + y] = reference(value);
    }
  }
  const input_buffer in{std::move(content), in_misalignment};
  output_buffer out{s.nx * s.ny * sizeof(U), out_misalignment, random};
  const auto* expected_bytes = reinterpret_cast<const std::byte*>(expected.data());
  out.expect(0, s.ny, {expected_bytes, s.nx, s.ny, s.ny, sizeof(U)});
  out.poison();
  REQUIRE(tt::transform_transpose(out.as<U>(), in.as<T>(), s.nx, s.ny, op) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

// `values`: what the input is drawn from.
template <class U, class T, class Op, class Reference>
void check_small(const std::vector<T>& values, Op op, Reference reference) {
  random_source random;
  const shape shapes[] = {{1, 1},   {33, 31}, {64, 64}, {128, 64}, {65, 129},
                          {3, 257}, {257, 3}, {1, 90},  {90, 1},   {131, 259}};
  for (const shape s : shapes) check_transform<U>(s, 0, 0, random, values, op, reference);
  check_transform<U>({64, 128}, sizeof(T), 0, random, values, op, reference);
  check_transform<U>({64, 128}, 0, sizeof(U), random, values, op, reference);
}

template <class U, class T, class Op, class Reference>
void check_many(const std::vector<T>& values, Op op, Reference reference) {
  random_source random;
  const std::size_t sides[] = {1, 2, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};
  for (const std::size_t nx : sides) {
    for (const std::size_t ny : sides) {
      check_transform<U>({nx, ny}, sizeof(T) * random.between(0, 8),
                         sizeof(U) * random.between(0, 8), random, values, op, reference);
    }
  }
  for (const shape s : {shape{2, 70001}, shape{70001, 2}, shape{33, 9001}, shape{9001, 33}}) {
    check_transform<U>(s, 0, 0, random, values, op, reference);
  }
  for (int i = 0; i < 20; ++i) {
    check_transform<U>({random.between(1, 600), random.between(1, 600)},
                       sizeof(T) * random.between(0, 32), sizeof(U) * random.between(0, 32), random,
                       values, op, reference);
  }
}

// Finite floats of all magnitudes, exact multiples of 1/64 among them, and every special rounding
// case of half precision: ties, subnormals, overflow to infinity.
std::vector<float> some_floats() {
  std::vector<float> result{0.0f, -0.0f, 1.0f, 2049.0f, 2051.0f, 65504.0f, 65520.0f, 1e30f, 6e-8f};
  random_source random{7};
  for (int i = 0; i < 5000; ++i) {
    result.push_back(static_cast<float>(random.between(0, 1 << 16)) / 64 - 500);
  }
  return result;
}

std::vector<int> some_ints() {
  std::vector<int> result{-1, 0, INT_MIN, INT_MAX - 1};
  random_source random{7};
  for (int i = 0; i < 5000; ++i) result.push_back(static_cast<int>(random.between(0, INT_MAX - 1)));
  return result;
}

std::vector<std::uint8_t> every_byte() {
  std::vector<std::uint8_t> result;
  for (int i = 0; i < 256; ++i) result.push_back(static_cast<std::uint8_t>(i));
  return result;
}

std::vector<pixel> some_pixels() {
  std::vector<pixel> result;
  random_source random{7};
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t bits = random.next();
    result.push_back({static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
                      static_cast<std::uint8_t>(bits >> 16)});
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
    check_small<__half>(some_floats(), to_half{}, [](float v) { return __float2half_rn(v); });
  }
  SECTION("float to double") {
    check_small<double>(some_floats(), to_double{}, [](float v) { return double{v}; });
  }
  SECTION("int to int") {
    check_small<int>(some_ints(), plus_one{}, [](int v) { return 1 + v; });
  }
  SECTION("byte to float, with state") {
    check_small<float>(every_byte(), scale_by{0.25f},
                       [](std::uint8_t v) { return static_cast<float>(v) / 4; });
  }
  SECTION("float to byte, saturated") {
    check_small<std::uint8_t>(some_floats(), saturate{}, saturated);
  }
  SECTION("pixel to byte") { check_small<std::uint8_t>(some_pixels(), luminance{}, grey); }
  SECTION("byte to pixel") { check_small<pixel>(every_byte(), to_pixel{}, coloured); }
  SECTION("pixel to floats") { check_small<float_triple>(some_pixels(), to_floats{}, in_floats); }
  SECTION("float to 64 bytes") { check_small<repeat_16>(some_floats(), repeat{}, repeated); }
}

TEST_CASE("transform: float to half", "[transform]") {
  require_device();
  check_many<__half>(some_floats(), to_half{}, [](float v) { return __float2half_rn(v); });
}

TEST_CASE("transform: float to double", "[transform]") {
  require_device();
  check_many<double>(some_floats(), to_double{}, [](float v) { return double{v}; });
}

TEST_CASE("transform: int to int", "[transform]") {
  require_device();
  check_many<int>(some_ints(), plus_one{}, [](int v) { return 1 + v; });
}

TEST_CASE("transform: byte to float with state", "[transform]") {
  require_device();
  check_many<float>(every_byte(), scale_by{0.25f},
                    [](std::uint8_t v) { return static_cast<float>(v) / 4; });
}

TEST_CASE("transform: float to byte saturated", "[transform]") {
  require_device();
  check_many<std::uint8_t>(some_floats(), saturate{}, saturated);
}

TEST_CASE("transform: pixel to byte", "[transform]") {
  require_device();
  check_many<std::uint8_t>(some_pixels(), luminance{}, grey);
}

TEST_CASE("transform: byte to pixel", "[transform]") {
  require_device();
  check_many<pixel>(every_byte(), to_pixel{}, coloured);
}

TEST_CASE("transform: pixel to floats", "[transform]") {
  require_device();
  check_many<float_triple>(some_pixels(), to_floats{}, in_floats);
}
