// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Seeded problems of every kind, and what the library launches for each of them, as lines of text. Nothing runs: the
/// launches of the CPU's CUDA are only looked at.

#pragma once

#include "cuda_on_cpu.hpp"

#include <tiletranspose/explain.cuh>
#include <tiletranspose/tiletranspose.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace choice {

/// The same numbers with every compiler and library, which std::uniform_int_distribution does not promise.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed) {}

  std::size_t between(std::size_t low, std::size_t high) { return low + next() % (high - low + 1); }
  bool one_in(std::size_t n) { return between(1, n) == 1; }
  std::size_t any_of(std::initializer_list<std::size_t> values) {
    return values.begin()[between(0, values.size() - 1)];
  }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// Problems of one kind of call and one type of element, a line each: "what -> launches".
struct group {
  std::string name;
  std::vector<std::string> lines;
};

/// What the table holds. Each slice of it is a translation unit of its own.
using groups = std::vector<group>;
void add_slice_0(groups&);
void add_slice_1(groups&);
void add_slice_2(groups&);
void add_slice_3(groups&);
void add_slice_4(groups&);
void add_slice_5(groups&);

/// The launches that this thread's device has seen, as "mover<numbers> blocks x threads, shared bytes; ...".
std::string describe_launches(cudaError_t status);

/// Throws where an explanation is not what this thread's device has seen.
void compare_with_launches(const tt::explanation& explained, cudaError_t status,
                           const std::string& what);

/// A matrix, or a batch of them. Strides and offsets in elements, the latter from a multiple of 4096 bytes.
struct problem {
  std::size_t nx;
  std::size_t ny;
  std::size_t in_stride;
  std::size_t out_stride;
  std::size_t batch = 1;
  std::size_t in_gap = 0;  ///< elements between matrices
  std::size_t out_gap = 0;
  std::size_t in_offset = 0;
  std::size_t out_offset = 0;

  std::string text() const {
    std::string result = std::to_string(nx) + " x " + std::to_string(ny);
    const auto add = [&](const char* what, std::size_t a, std::size_t b) {
      result += std::string(", ") + what + ' ' + std::to_string(a) + ' ' + std::to_string(b);
    };
    if (in_stride != nx || out_stride != ny) { add("strides", in_stride, out_stride); }
    if (batch != 1) { result += ", batch " + std::to_string(batch); }
    if (in_gap != 0 || out_gap != 0) { add("gaps", in_gap, out_gap); }
    if (in_offset != 0 || out_offset != 0) { add("offsets", in_offset, out_offset); }
    return result;
  }
};

/// A side of a matrix: few, many, or a multiple of what tiles and accesses are multiples of.
inline std::size_t pick_side(numbers& random, std::size_t most) {
  const std::size_t step = random.any_of({1, 1, 1, 2, 4, 8, 16, 32, 64, 128});
  const std::size_t high = random.any_of({17, 70, 300, 1100, 5000, 40000, 200000});
  const std::size_t side = random.between(1, high < most ? high : most);
  return (side + step - 1) / step * step;
}

/// What rows are apart: often their length, else more, up to whole accesses, sectors or lines, or to 128 KB.
inline std::size_t pick_stride(numbers& random, std::size_t side, std::size_t element) {
  const std::size_t rounded = [&](std::size_t bytes) {
    std::size_t count = bytes;  // the fewest elements that take a multiple of so many bytes
    while (count % 2 == 0 && count / 2 * element % bytes == 0) { count /= 2; }
    return (side + count - 1) / count * count;
  }(random.any_of({16, 32, 128}));
  const std::size_t far = 128 * 1024 / element;
  switch (random.between(0, 7)) {
    case 0:
      return side + random.between(1, 9);
    case 1:
      return rounded;
    case 2:
      return side <= far ? far : side;
    default:
      return side;
  }
}

inline std::size_t pick_offset(numbers& random) {
  return random.one_in(2) ? 0 : random.any_of({1, 2, 3, 4, 8, 16, 32, 128});
}

inline problem pick_problem(numbers& random, std::size_t element, bool pitched) {
  problem p{};
  p.nx = pick_side(random, 200000);
  p.ny = pick_side(random, 200000);
  if (random.one_in(12)) {  // as large as all multiprocessors want
    p.nx = random.between(1, 40) * 1024 + random.any_of({0, 0, 16, 7});
    p.ny = random.between(8, 40) * 1024 + random.any_of({0, 0, 16, 5});
  }
  if (random.one_in(10)) {  // a small square
    const std::size_t side = 128 / element;
    p.nx = (side > 0 ? side : 1) * random.between(1, 16);
    p.ny = (side > 0 ? side : 1) * random.between(1, 16);
  }
  if (!random.one_in(4)) {  // more than little work
    std::size_t& longer = p.nx > p.ny ? p.nx : p.ny;
    while (p.nx * p.ny < 6'000'000) { longer *= 3; }
  }
  p.in_stride = pitched ? pick_stride(random, p.nx, element) : p.nx;
  p.out_stride = pitched ? pick_stride(random, p.ny, element) : p.ny;
  p.in_offset = pick_offset(random);
  p.out_offset = pick_offset(random);
  return p;
}

/// A batch of matrices that are mostly small.
inline problem pick_batch(numbers& random, std::size_t element, bool gaps) {
  problem p = pick_problem(random, element, false);
  if (!random.one_in(4)) {
    p.nx = pick_side(random, 400);
    p.ny = pick_side(random, 400);
    p.in_stride = p.nx;
    p.out_stride = p.ny;
  }
  p.batch = random.any_of({1, 2, 7, 64, 1000, 4096});
  if (!random.one_in(4)) {
    while (p.nx * p.ny * p.batch < 6'000'000) { p.batch = p.batch * 5 + 1; }
  }
  if (gaps) {
    p.in_gap = random.any_of({0, 1, 4, 16, 32});
    p.out_gap = random.any_of({0, 1, 4, 16, 32});
  }
  return p;
}

template <class T>
T* at(int bit, std::size_t offset) {
  return reinterpret_cast<T*>((std::uintptr_t{1} << bit) + offset * sizeof(T));
}

/// Devices as different as what blocks may ask for.
inline void use_device(numbers& random) {
  cpu::device& device = cpu::this_device();
  device = {};
  device.runs = false;
  device.shared_bytes = static_cast<int>(random.any_of({65, 100, 164, 228, 228, 228})) * 1024;
  device.multiprocessors = static_cast<int>(random.any_of({20, 72, 132}));
  device.starts_together = !random.one_in(4);
}

struct no_explanation {};

/// A line of the table: runs `call` on a device at random, and `explain` for that device.
template <class Call, class Explain = no_explanation>
void add_line(group& to, numbers& random, const std::string& what, Call call,
              [[maybe_unused]] Explain explain = {}) {
  use_device(random);
  const std::string device = std::to_string(cpu::this_device().shared_bytes / 1024) + " KB";
  const cudaError_t status = call();
  if constexpr (!std::is_same<Explain, no_explanation>::value) {
    // Of every block's shared memory 1 KB is the system's.
    const auto most = static_cast<std::size_t>(cpu::this_device().shared_bytes - 1024);
    compare_with_launches(explain(tt::explained_device{most}), status, to.name + ' ' + what);
  }
  to.lines.push_back(what + ", " + device + " -> " + describe_launches(status));
}

template <class T>
std::string group_name(const char* call) {
  return std::string(call) + ' ' + std::to_string(sizeof(T)) + '/' + std::to_string(alignof(T));
}
/// Depends on the name alone, so that new groups change no others.
inline numbers numbers_of(const std::string& name) {
  std::uint64_t seed = 1;
  for (const char c : name) { seed = seed * 1099511628211u + static_cast<unsigned char>(c); }
  return numbers(seed);
}

}  // namespace choice
