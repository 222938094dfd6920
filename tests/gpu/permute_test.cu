// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permutes on the GPU: every order of up to five axes over extents that include 1, 2, primes and the edges of tiles, random
// ranks with a seed that is printed, the inverse, and functions on the way. The GPU compares every byte with the definition,
// guards round the output included.

#include <tiletranspose/permute.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../permutes/numpy.hpp"
#include "support.cuh"

using namespace tt_test;

namespace {

constexpr unsigned char guard = 0xA5;
constexpr std::size_t guard_bytes = 512;

// Element i of the output, counted in C order, is the sum of its indices times `from` of the input.
struct relocated {
  int rank;
  unsigned long long extents[16];  // of the output
  unsigned long long from[16];
};

__global__ void count_wrong_bytes(unsigned* wrong, const unsigned char* out,
                                  const unsigned char* in, std::size_t element, std::size_t count,
                                  relocated r) {
  const std::size_t bytes = count * element;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
       i < bytes + 2 * guard_bytes; i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned char expected = guard;
    if (i >= guard_bytes && i < guard_bytes + bytes) {
      unsigned long long left = (i - guard_bytes) / element;
      unsigned long long at = 0;
      for (int k = r.rank - 1; k >= 0; --k) {
        at += left % r.extents[k] * r.from[k];
        left /= r.extents[k];
      }
      expected = in[at * element + (i - guard_bytes) % element];
    }
    if (out[i] != expected) { atomicAdd(wrong, 1u); }
  }
}

class arrays_on_gpu {
 public:
  explicit arrays_on_gpu(std::size_t most_bytes)
      : in_(most_bytes), out_(most_bytes + 2 * guard_bytes), wrong_(sizeof(unsigned)) {
    random_source random;
    upload(in_.data(), random.fill(most_bytes));
    check_cuda(cudaMemset(wrong_.data(), 0, sizeof(unsigned)), "cudaMemset");
  }

  // Permutes the input and counts the bytes that are wrong.
  template <class T, std::size_t Rank>
  void check(const std::array<std::size_t, Rank>& extents, const std::array<int, Rank>& order) {
    check_by<T>(extents, order, [](T* out, const T* in, const auto& given, const auto& axes) {
      return tt::permute(out, in, given, axes);
    });
  }
  // By the kernels that large arrays with short axes take.
  template <class T, std::size_t Rank>
  void check_panels(const std::array<std::size_t, Rank>& extents,
                    const std::array<int, Rank>& order) {
    check_by<T>(extents, order, [](T* out, const T* in, const auto& given, const auto& axes) {
      tt::detail::relocation move{
          {in, out, sizeof(T), sizeof(T), alignof(T), alignof(T)}, Rank, {}};
      tt::detail::permute_axes(move, given, axes);
      tt::detail::normalize(move);
      return tt::detail::launch_panels<tt::access_width(sizeof(T), alignof(T))>(move, nullptr);
    });
  }
  // And by those of bytes and halves whose rows and columns start anywhere.
  template <class T, std::size_t Rank>
  void check_word_shifted(const std::array<std::size_t, Rank>& extents,
                          const std::array<int, Rank>& order) {
    check_by<T>(extents, order, [](T* out, const T* in, const auto& given, const auto& axes) {
      tt::detail::relocation move{
          {in, out, sizeof(T), sizeof(T), alignof(T), alignof(T)}, Rank, {}};
      tt::detail::permute_axes(move, given, axes);
      tt::detail::normalize(move);
      return tt::detail::launch_word_shifted_tiles<sizeof(T)>(tt::detail::choose_axes(move), move,
                                                              nullptr);
    });
  }
  template <class T, std::size_t Rank, class Permute>
  void check_by(const std::array<std::size_t, Rank>& extents, const std::array<int, Rank>& order,
                Permute permute) {
    std::size_t given[Rank];
    int axes[Rank];
    std::copy(extents.begin(), extents.end(), given);
    std::copy(order.begin(), order.end(), axes);
    std::size_t count = 1;
    std::size_t strides[Rank];
    for (std::size_t k = Rank; k-- > 0;) {
      strides[k] = count;
      count *= extents[k];
    }
    relocated r{};
    r.rank = static_cast<int>(Rank);
    for (std::size_t j = 0; j < Rank; ++j) {
      r.extents[j] = extents[static_cast<std::size_t>(order[j])];
      r.from[j] = strides[order[j]];
    }
    check_cuda(cudaMemsetAsync(out_.data(), guard, count * sizeof(T) + 2 * guard_bytes),
               "cudaMemsetAsync");
    REQUIRE(permute(reinterpret_cast<T*>(out_.data() + guard_bytes),
                    reinterpret_cast<const T*>(in_.data()), given, axes) == cudaSuccess);
    count_wrong_bytes<<<64, 256>>>(reinterpret_cast<unsigned*>(wrong_.data()),
                                   reinterpret_cast<const unsigned char*>(out_.data()),
                                   reinterpret_cast<const unsigned char*>(in_.data()), sizeof(T),
                                   count, r);
  }
  template <class T, std::size_t Rank>
  void check_all_orders(const std::array<std::size_t, Rank>& extents) {
    std::array<int, Rank> order{};
    std::iota(order.begin(), order.end(), 0);
    do { check<T>(extents, order); } while (std::next_permutation(order.begin(), order.end()));
    INFO("elements of " << sizeof(T) << " bytes, rank " << Rank << ", last extent "
                        << extents[Rank - 1]);
    REQUIRE(wrong() == 0);
  }
  unsigned wrong() const {
    unsigned count = 0;
    check_cuda(cudaMemcpy(&count, wrong_.data(), sizeof(count), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return count;
  }

 private:
  device_allocation in_, out_, wrong_;
};

template <class T>
void check_orders() {
  require_device();
  arrays_on_gpu gpu(std::size_t{1} << 22);
  gpu.check_all_orders<T, 1>({1237});
  gpu.check_all_orders<T, 2>({1, 129});
  gpu.check_all_orders<T, 2>({131, 64});
  gpu.check_all_orders<T, 3>({2, 97, 33});
  gpu.check_all_orders<T, 3>({64, 3, 65});
  gpu.check_all_orders<T, 4>({5, 31, 2, 64});
  gpu.check_all_orders<T, 4>({7, 1, 37, 32});
  gpu.check_all_orders<T, 5>({3, 8, 5, 2, 33});
  gpu.check_all_orders<T, 5>({2, 16, 7, 9, 4});
}

// Random arrays of `Rank` axes.
template <class T, std::size_t Rank>
void check_random(arrays_on_gpu& gpu, random_source& random, int cases) {
  for (int i = 0; i < cases; ++i) {
    std::array<std::size_t, Rank> extents{};
    std::array<int, Rank> order{};
    std::size_t left = std::size_t{1} << 17;
    for (std::size_t& extent : extents) {
      extent = random.between(1, std::min<std::size_t>(left, Rank > 6 ? 5 : 90));
      left = std::max<std::size_t>(left / extent, 1);
    }
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t k = Rank; k-- > 1;) {
      std::swap(extents[k], extents[random.between(0, k)]);
      std::swap(order[k], order[random.between(0, k)]);
    }
    gpu.check<T>(extents, order);
  }
  INFO("elements of " << sizeof(T) << " bytes, rank " << Rank);
  REQUIRE(gpu.wrong() == 0);
}

struct doubled {
  __host__ __device__ float operator()(unsigned char value) const { return 2.0f * value; }
};

}  // namespace

TEST_CASE("permute: every order of up to five axes, 1 byte", "[permute]") { check_orders<char>(); }
TEST_CASE("permute: every order of up to five axes, 2 bytes", "[permute]") {
  check_orders<short>();
}
TEST_CASE("permute: every order of up to five axes, 3 bytes", "[permute]") {
  check_orders<bytes<3>>();
}
TEST_CASE("permute: every order of up to five axes, 4 bytes", "[permute]") {
  check_orders<float>();
}
TEST_CASE("permute: every order of up to five axes, 12 bytes", "[permute]") {
  check_orders<float_triple>();
}
TEST_CASE("permute: every order of up to five axes, 16 bytes", "[permute]") {
  check_orders<aligned_quad>();
}

TEST_CASE("permute: in micro-blocks", "[permute]") {
  require_device();
  arrays_on_gpu gpu(std::size_t{1} << 26);
  gpu.check_all_orders<char, 4>({64, 12, 20, 68});
  gpu.check_all_orders<char, 4>({128, 40, 20, 68});
  gpu.check_all_orders<short, 4>({36, 12, 20, 68});
  gpu.check_all_orders<short, 4>({256, 40, 24, 80});
  gpu.check_all_orders<bytes<3>, 4>({64, 12, 40, 68});
  gpu.check_all_orders<float, 5>({4, 64, 12, 28, 68});
  // What stays together is an element.
  for (const std::size_t together : {2, 3, 4, 8, 16}) {
    gpu.check<char, 3>({1204, 1208, together}, {1, 0, 2});
    gpu.check<char, 4>({3, 601, 303, together}, {0, 2, 1, 3});
    gpu.check<short, 4>({40, 104, 204, together}, {2, 1, 0, 3});
    gpu.check<float, 4>({3, 204, 301, together}, {2, 1, 0, 3});
  }
  REQUIRE(gpu.wrong() == 0);
}

TEST_CASE("permute: some arrays in micro-blocks", "[permute][quick]") {
  require_device();
  arrays_on_gpu gpu(std::size_t{1} << 23);
  gpu.check<char, 4>({36, 12, 20, 68}, {3, 2, 1, 0});
  gpu.check<char, 4>({124, 12, 24, 124}, {3, 2, 1, 0});
  gpu.check<short, 4>({36, 12, 20, 68}, {3, 1, 2, 0});
  gpu.check<bytes<3>, 4>({64, 12, 28, 68}, {3, 2, 1, 0});
  gpu.check<float, 4>({64, 12, 20, 68}, {3, 2, 1, 0});
  gpu.check<char, 3>({1204, 1208, 3}, {1, 0, 2});
  gpu.check<short, 3>({804, 908, 3}, {1, 0, 2});
  gpu.check<char, 3>({304, 301, 4}, {1, 0, 2});
  REQUIRE(gpu.wrong() == 0);
}

TEST_CASE("permute: some orders", "[permute][quick]") {
  require_device();
  arrays_on_gpu gpu(std::size_t{1} << 18);
  gpu.check_all_orders<char, 3>({3, 34, 37});
  gpu.check_all_orders<float, 4>({3, 33, 2, 35});
  gpu.check_all_orders<bytes<3>, 4>({3, 5, 9, 17});
  gpu.check_all_orders<aligned_quad, 4>({3, 5, 9, 17});
}

namespace {
// Short axes on both sides, in many blocks: elements that are stored together, and others.
template <class T>
void check_short_axes(arrays_on_gpu& gpu) {
  gpu.check<T, 5>({3, 2, 2, 44, 96}, {0, 3, 1, 4, 2});
  gpu.check<T, 5>({3, 44, 2, 96, 2}, {0, 2, 4, 1, 3});
  gpu.check<T, 5>({2, 3, 3, 45, 97}, {0, 3, 1, 4, 2});
  gpu.check<T, 3>({2, 30000, 2}, {2, 1, 0});
  gpu.check<T, 3>({3, 20001, 3}, {2, 1, 0});
  gpu.check<T, 3>({20, 500, 24}, {2, 1, 0});
  gpu.check<T, 4>({5, 2, 2544, 2}, {0, 3, 2, 1});
}
}  // namespace

TEST_CASE("permute: short axes on both sides", "[permute][quick]") {
  require_device();
  arrays_on_gpu gpu(std::size_t{1} << 22);
  check_short_axes<char>(gpu);
  check_short_axes<short>(gpu);
  check_short_axes<float>(gpu);
  check_short_axes<double>(gpu);
  check_short_axes<bytes<3>>(gpu);
  REQUIRE(gpu.wrong() == 0);
}

template <class T>
void check_small_panels() {
  arrays_on_gpu gpu(std::size_t{1} << 22);
  gpu.check_panels<T, 3>({3, 10001, 3}, {2, 1, 0});
  gpu.check_panels<T, 3>({7, 2000, 7}, {2, 1, 0});
  gpu.check_panels<T, 4>({5, 7, 1003, 3}, {3, 1, 2, 0});
  gpu.check_panels<T, 4>({10, 30, 30, 3}, {2, 1, 0, 3});
  gpu.check_panels<T, 5>({4, 9, 7, 20, 23}, {2, 4, 0, 1, 3});
  gpu.check_panels<T, 6>({3, 5, 8, 2, 9, 11}, {5, 3, 4, 0, 2, 1});
  gpu.check_panels<T, 3>({2, 97, 133}, {0, 2, 1});
  gpu.check_panels<T, 2>({300, 301}, {1, 0});
  INFO("elements of " << sizeof(T) << " bytes");
  REQUIRE(gpu.wrong() == 0);
}

TEST_CASE("permute: panels of several axes", "[permute][quick]") {
  require_device();
  check_small_panels<char>();
  check_small_panels<short>();
  check_small_panels<bytes<3>>();
  check_small_panels<float>();
  check_small_panels<double>();
  check_small_panels<float_triple>();
  check_small_panels<aligned_quad>();
}

template <class T>
void check_word_shifted_tiles() {
  arrays_on_gpu gpu(std::size_t{1} << 25);
  gpu.check_word_shifted<T, 2>({300, 301}, {1, 0});
  gpu.check_word_shifted<T, 3>({3, 1001, 3}, {2, 1, 0});
  gpu.check_word_shifted<T, 3>({97, 133, 111}, {2, 1, 0});
  gpu.check_word_shifted<T, 4>({31, 9, 29, 33}, {3, 2, 1, 0});
  gpu.check_word_shifted<T, 5>({4, 9, 7, 20, 23}, {2, 4, 0, 1, 3});
  for (std::size_t n = 1; n < 70; n += 4) { gpu.check_word_shifted<T, 3>({n, 5, 261}, {2, 1, 0}); }
  for (std::size_t n = 1; n < 70; n += 4) { gpu.check_word_shifted<T, 3>({229, 3, n}, {2, 1, 0}); }
  INFO("elements of " << sizeof(T) << " bytes");
  REQUIRE(gpu.wrong() == 0);
}

TEST_CASE("permute: word-shifted tiles", "[permute][quick]") {
  require_device();
  check_word_shifted_tiles<char>();
  check_word_shifted_tiles<short>();
  check_word_shifted_tiles<bytes<3>>();
}

TEST_CASE("permute: large arrays whose rows and columns start anywhere", "[permute]") {
  require_device();
  arrays_on_gpu gpu(std::size_t{1} << 25);
  gpu.check<char, 4>({97, 75, 31, 81}, {3, 2, 1, 0});
  gpu.check<char, 3>({235, 572, 204}, {2, 1, 0});
  gpu.check<char, 5>({7, 129, 9, 61, 33}, {1, 3, 0, 4, 2});
  gpu.check<char, 3>({2001, 1007, 3}, {1, 0, 2});
  gpu.check<char, 4>({129, 61, 997, 2}, {2, 1, 0, 3});
  gpu.check<short, 4>({97, 75, 31, 41}, {3, 2, 1, 0});
  gpu.check<short, 3>({181, 217, 181}, {2, 1, 0});
  gpu.check<bytes<3>, 4>({49, 75, 31, 81}, {3, 2, 1, 0});
  gpu.check<bytes<3>, 3>({235, 172, 204}, {2, 1, 0});
  REQUIRE(gpu.wrong() == 0);
}

template <class T>
void check_large_panels() {
  arrays_on_gpu gpu(std::size_t{1} << 25);
  gpu.check<T, 3>({3, (std::size_t{3} << 20) / sizeof(T) + 1, 3}, {2, 1, 0});
  gpu.check<T, 4>({5, 7, (std::size_t{1} << 17) / sizeof(T) + 3, 3}, {3, 1, 2, 0});
  gpu.check<T, 4>({203, 101, (std::size_t{1} << 8) / sizeof(T), 3}, {2, 1, 0, 3});
  gpu.check<T, 5>({4, 39, 11, 806 / sizeof(T), 23}, {2, 4, 0, 1, 3});
  INFO("elements of " << sizeof(T) << " bytes");
  REQUIRE(gpu.wrong() == 0);
}

TEST_CASE("permute: large arrays with short axes", "[permute]") {
  require_device();
  check_large_panels<char>();
  check_large_panels<short>();
  check_large_panels<bytes<3>>();
  check_large_panels<float>();
  check_large_panels<double>();
  check_large_panels<float_triple>();
  check_large_panels<aligned_quad>();
}

TEST_CASE("permute: random ranks of 6 to 8", "[permute]") {
  require_device();
  random_source random;
  arrays_on_gpu gpu(std::size_t{1} << 22);
  check_random<char, 6>(gpu, random, 60);
  check_random<float, 6>(gpu, random, 60);
  check_random<short, 7>(gpu, random, 60);
  check_random<double, 8>(gpu, random, 60);
}

TEST_CASE("permute: as NumPy transposes", "[permute][quick]") {
  require_device();
  for (const numpy::permute_case& c : numpy::read_cases(NUMPY_CASES)) {
    INFO(c.line);
    const std::vector<unsigned char> content = numpy::content(c.bytes());
    std::vector<unsigned char> found(content.size());
    device_allocation in(content.size()), out(content.size());
    check_cuda(cudaMemcpy(in.data(), content.data(), content.size(), cudaMemcpyHostToDevice),
               "an upload");
    std::uint64_t sum = numpy::first_sum;
    numpy::run(c, [&](const auto& extents, const auto& axes) {
      constexpr std::size_t rank = std::tuple_size<std::decay_t<decltype(axes)>>::value;
      std::size_t given[rank];
      int order[rank];
      std::copy(extents.begin(), extents.end(), given);
      std::copy(axes.begin(), axes.end(), order);
      const auto permute = [&](auto element) {
        using T = decltype(element);
        return tt::permute(reinterpret_cast<T*>(out.data()), reinterpret_cast<const T*>(in.data()),
                           given, order);
      };
      const cudaError_t status = c.element == 1   ? permute(char{})
                                 : c.element == 4 ? permute(float{})
                                                  : permute(float_triple{});
      REQUIRE((status == cudaErrorInvalidValue) == c.refused);
      if (c.refused) { return; }
      check_cuda(cudaMemcpy(found.data(), out.data(), found.size(), cudaMemcpyDeviceToHost),
                 "a download");
      sum = numpy::add(sum, found.data(), found.size());
    });
    if (!c.refused) { REQUIRE(sum == c.sum); }
  }
}

TEST_CASE("permute: back again is the identity", "[permute][quick]") {
  require_device();
  constexpr std::size_t count = 6 * 35 * 10 * 33;
  random_source random;
  const byte_vector content = random.fill(count * sizeof(float));
  device_allocation in(content.size()), there(content.size()), back(content.size());
  upload(in.data(), content);
  REQUIRE(tt::permute(reinterpret_cast<float*>(there.data()),
                      reinterpret_cast<const float*>(in.data()), {6, 35, 10, 33},
                      {3, 1, 0, 2}) == cudaSuccess);
  REQUIRE(tt::permute(reinterpret_cast<float*>(back.data()),
                      reinterpret_cast<const float*>(there.data()), {33, 35, 6, 10},
                      {2, 1, 3, 0}) == cudaSuccess);
  REQUIRE(download(back.data(), content.size()) == content);
}

TEST_CASE("permute: images to planes, converted on the way", "[permute][quick]") {
  require_device();
  constexpr std::size_t images = 3, height = 41, width = 77, channels = 3;
  constexpr std::size_t count = images * height * width * channels;
  random_source random;
  const byte_vector content = random.fill(count);
  device_allocation in(count), out(count * sizeof(float));
  upload(in.data(), content);
  REQUIRE(tt::transform_permute(reinterpret_cast<float*>(out.data()),
                                reinterpret_cast<const unsigned char*>(in.data()),
                                {images, height, width, channels}, {0, 3, 1, 2},
                                doubled{}) == cudaSuccess);
  const byte_vector found = download(out.data(), count * sizeof(float));
  bool right = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i / (height * width);  // image and channel
    const std::size_t from =
        (at / channels * height * width + i % (height * width)) * channels + at % channels;
    float value = 0;
    std::memcpy(&value, &found[i * sizeof(float)], sizeof(float));
    right = right && value == 2.0f * static_cast<unsigned char>(content[from]);
  }
  CHECK(right);
}
