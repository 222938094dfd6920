// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the fused calls take as a function: lambdas of nvcc's and the function objects of CUDA's own library.

#include <functional>

#include <cuda/functional>
#include <cuda/std/functional>

#include "fused.cuh"

using namespace tt_test;

namespace {

struct constexpr_half {
  __host__ __device__ constexpr float operator()(float value) const { return value / 2; }
};

constexpr shape size{37, 53};

}  // namespace

TEST_CASE("function objects: lambdas of the device", "[function]") {
  require_device();
  random_source random;
  const float factor = 0.5f;
  const auto scaled = [=](float v) { return factor * v; };
  const auto sum = [=](float v, float old) { return factor * v + old; };
  SECTION("with a capture") {
    check_fused<transform_call, float>(
        size, {}, random, exact_floats(), {}, [=] __device__(float v) { return factor * v; },
        scaled);
  }
  SECTION("with a capture and two outputs") {
    check_fused<dual_call, float>(
        size, {}, random, exact_floats(), {}, [=] __device__(float v) { return factor * v; },
        scaled);
  }
  SECTION("that add") {
    check_fused<accumulate_call, float>(
        size, {}, random, exact_floats(), exact_floats(),
        [=] __device__(float v, float old) { return factor * v + old; }, sum);
  }
  SECTION("that are generic") {
    check_fused<transform_call, float>(
        size, {}, random, exact_floats(), {}, [=] __device__(auto v) { return factor * v; },
        scaled);
  }
  SECTION("whose result is proclaimed") {
    check_fused<transform_call, float>(
        size, {}, random, exact_floats(), {},
        cuda::proclaim_return_type<float>([=] __device__(float v) { return factor * v; }), scaled);
  }
}

TEST_CASE("function objects: lambdas of host and device", "[function]") {
  require_device();
  random_source random;
  SECTION("without captures") {
    const auto twice = [] __host__ __device__(float v) { return 2 * v; };
    check_fused<transform_call, float>(size, {}, random, exact_floats(), {}, twice, twice);
  }
  // nvcc gives the host compiler a type with a pointer of its own behind the captures.
  SECTION("with captures") {
    const float factor = 0.5f;
    const unsigned char shift = 3;
    const double offset = 2;
    const auto line = [=] __host__ __device__(float v) {
      return factor * v + static_cast<float>(offset * shift);
    };
    check_fused<transform_call, float>(size, {}, random, exact_floats(), {}, line, line);
    check_fused<dual_call, float>(size, {}, random, exact_floats(), {}, line, line);
  }
  SECTION("with captures, that add") {
    const float factor = 0.5f;
    const auto sum = [=] __host__ __device__(float v, float old) { return factor * v + old; };
    check_fused<accumulate_call, float>(size, {}, random, exact_floats(), exact_floats(), sum, sum);
  }
}

TEST_CASE("function objects: of CUDA's library", "[function]") {
  require_device();
  random_source random;
  SECTION("cuda::std::negate") {
    check_fused<transform_call, float>(size, {}, random, exact_floats(), {},
                                       cuda::std::negate<float>{}, std::negate<float>{});
  }
  SECTION("cuda::std::plus<>") {
    check_fused<accumulate_call, float>(size, {}, random, exact_floats(), exact_floats(),
                                        cuda::std::plus<>{}, std::plus<float>{});
  }
}

TEST_CASE("function objects: constexpr ones", "[function]") {
  require_device();
  random_source random;
  check_fused<transform_call, float>(size, {}, random, exact_floats(), {}, constexpr_half{},
                                     constexpr_half{});
}
