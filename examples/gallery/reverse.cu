// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// An array backwards, by way of a shared array whose length the compiler knows, and of one whose length the
/// launch decides.
#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/reverse.cuh>

#include <algorithm>

#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

constexpr int reverse_threads = 256;

/// A piece of the input, and the place of its mirror image in the output.
struct piece {
  std::size_t from, to;
  unsigned length;

  __host__ __device__ static piece of(unsigned block, std::size_t length, std::size_t count) {
    const std::size_t from = block * length;
    const std::size_t rest = count - from;
    const std::size_t taken = rest < length ? rest : length;
    return {from, count - from - taken, static_cast<unsigned>(taken)};
  }
};

/// out[i] == in[count - 1 - i]
template <class T>
struct static_body {
  static constexpr int threads = reverse_threads;
  static constexpr int length = 1024;
  using reverser = tt::block_reverse<T, length>;
  using storage = typename reverser::storage;

  T* out;
  const T* in;
  std::size_t count;

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const piece mine = piece::of(block, length, count);
    const reverser turn(memory);
    turn.load(group, in + mine.from, mine.length);
    group.sync();
    turn.store(group, out + mine.to, mine.length);
  }
};

template <class T>
struct dynamic_body {
  static constexpr int threads = reverse_threads;

  T* out;
  const T* in;
  std::size_t count;
  unsigned length;
  tt::smem_layout<tt::smem_array<T>> smem;

  template <class Group, class Memory>
  __host__ __device__ void operator()(Group group, Memory memory, unsigned block) const {
    const piece mine = piece::of(block, length, count);
    const auto carved = smem.carve(memory);
    const tt::block_reverse<T, tt::dynamic_size> turn(carved.a);
    turn.load(group, in + mine.from, mine.length);
    group.sync();
    turn.store(group, out + mine.to, mine.length);
  }
};

/// Of a shared array that is written forwards and read backwards, by `length` elements a block.
template <class T>
void predict_reverse(prediction& predicted, const problem& asked, std::size_t length) {
  constexpr int bytes = static_cast<int>(sizeof(T));
  const std::size_t count = asked.nx * asked.ny;
  const int last = static_cast<int>(std::min(length, count)) - 1;
  predicted.write_ways =
      tt::request_ways([](int lane) { return lane * bytes; }, bytes, asked.banks);
  predicted.read_ways = tt::request_ways(
      [last](int lane) { return lane > last ? -1 : (last - lane) * bytes; }, bytes, asked.banks);
  predicted.least_sectors = least_sectors(bytes);

  mean_sectors loads;
  mean_sectors stores;
  const std::size_t pieces = std::min(divide_up(count, length), std::size_t{32});
  for (std::size_t block = 0; block < pieces; ++block) {
    const piece mine = piece::of(static_cast<unsigned>(block), length, count);
    for (unsigned first = 0; first < mine.length; first += warp_lanes) {
      const auto at = [&](std::size_t start) {
        return [=](int lane) -> long long {
          const std::size_t i = first + static_cast<unsigned>(lane);
          return i < mine.length ? static_cast<long long>((start + i) * bytes) : -1;
        };
      };
      loads.add(request_sectors(at(mine.from), bytes));
      stores.add(request_sectors(at(mine.to), bytes));
    }
  }
  predicted.load_sectors = loads.value();
  predicted.store_sectors = stores.value();
}

template <class T, class Enqueue>
launch_case reversing_case(const problem& asked, const char* name, Enqueue enqueue) {
  return moving_case<T>(asked, name, mirrored_place{asked.nx * asked.ny}, std::move(enqueue));
}

template <class T>
launch_case static_case(const problem& asked) {
  using body = static_body<T>;
  const std::size_t count = asked.nx * asked.ny;
  launch_case made = reversing_case<T>(asked, "reverse-static", [count](const workspace& memory) {
    return launch(
        body{reinterpret_cast<T*>(memory.out), reinterpret_cast<const T*>(memory.in), count},
        divide_up(count, body::length), memory);
  });
  predict_block<body>(made.predicted);
  predict_reverse<T>(made.predicted, asked, body::length);
  made.note = "1024 elements a block, known to the compiler";
  return made;
}

template <class T>
launch_case dynamic_case(const problem& asked) {
  constexpr unsigned length = 1000;  // no power of two: nothing may depend on one
  using body = dynamic_body<T>;
  const tt::smem_layout smem{tt::smem_array<T>(length)};
  const std::size_t count = asked.nx * asked.ny;
  launch_case made = reversing_case<T>(asked, "reverse-dynamic", [=](const workspace& memory) {
    return launch_dynamic(body{reinterpret_cast<T*>(memory.out),
                               reinterpret_cast<const T*>(memory.in), count, length, smem},
                          divide_up(count, length), memory);
  });
  made.predicted.threads = body::threads;
  made.predicted.shared_bytes = smem.bytes();
  predict_reverse<T>(made.predicted, asked, length);
  made.note = "1000 elements a block, known to the launch";
  return made;
}

template <class T>
launch_case library_case(const problem& asked) {
  const std::size_t count = asked.nx * asked.ny;
  launch_case made = reversing_case<T>(asked, "reverse-library", [count](const workspace& memory) {
    return tt::reverse(reinterpret_cast<T*>(memory.out), reinterpret_cast<const T*>(memory.in),
                       count, memory.stream);
  });
  made.needs_gpu = true;
  return made;
}

}  // namespace

std::vector<routine> reverses(const problem& asked) {
  return with_bits(asked.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::vector<routine>{
        {"reverse-static",
         family::reverse,
         "an array backwards through a static shared array",
         {static_case<T>(asked)}},
        {"reverse-dynamic",
         family::reverse,
         "an array backwards through a dynamic shared array",
         {dynamic_case<T>(asked)}},
        {"reverse-library", family::reverse, "tt::reverse(out, in, n)", {library_case<T>(asked)}},
    };
  });
}

}  // namespace gallery
