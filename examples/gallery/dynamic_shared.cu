// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One allocation of dynamic shared memory for three arrays of three types, with lengths that only the run
/// knows. Each block turns a record of ints, elements and chars backwards, array by array.
#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/smem.cuh>

#include <algorithm>

#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

/// Elements of each array in one record.
struct record_lengths {
  unsigned ints, elements, chars;
};

/// `records` records: all ints, then all elements, then all chars.
template <class T>
struct record_arrays {
  static constexpr std::size_t alignment = 16;

  record_lengths lengths;
  std::size_t records;

  __host__ __device__ static std::size_t aligned(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  __host__ __device__ std::size_t ints() const { return records * lengths.ints; }
  __host__ __device__ std::size_t elements() const { return records * lengths.elements; }
  __host__ __device__ std::size_t chars() const { return records * lengths.chars; }
  __host__ __device__ std::size_t elements_at() const { return aligned(ints() * sizeof(int)); }
  __host__ __device__ std::size_t chars_at() const {
    return elements_at() + aligned(elements() * sizeof(T));
  }
  std::size_t bytes() const { return chars_at() + chars(); }
  std::size_t payload() const { return ints() * sizeof(int) + elements() * sizeof(T) + chars(); }
};

template <class T>
using record_smem = tt::smem_layout<tt::smem_array<int>, tt::smem_array<T>, tt::smem_array<char>>;

template <class T>
struct carving_body {
  static constexpr int threads = 256;

  unsigned char* out;
  const unsigned char* in;
  record_arrays<T> arrays;
  record_smem<T> smem;

  template <class Group, class Memory>
  __host__ __device__ void operator()(Group group, Memory memory, unsigned block) const {
    const auto [ints, elements, chars] = smem.carve(memory);  // int*, T*, char*
    const record_lengths& lengths = arrays.lengths;
    const tt::block_reverse<int, tt::dynamic_size> turn_ints(ints);
    const tt::block_reverse<T, tt::dynamic_size> turn_elements(elements);
    const tt::block_reverse<char, tt::dynamic_size> turn_chars(chars);
    // Not every thread has as many of each array: the steps, which are nothing on the device, tell the
    // emulator which array an access is of.
    {
      const tt::loop_step first(0);
      turn_ints.load(group, part<int>(in, 0, block, lengths.ints), lengths.ints);
    }
    {
      const tt::loop_step second(1);
      turn_elements.load(group, part<T>(in, arrays.elements_at(), block, lengths.elements),
                         lengths.elements);
    }
    {
      const tt::loop_step third(2);
      turn_chars.load(group, part<char>(in, arrays.chars_at(), block, lengths.chars),
                      lengths.chars);
    }
    group.sync();  // all three are full before one is read
    {
      const tt::loop_step first(0);
      turn_ints.store(group, part<int>(out, 0, block, lengths.ints), lengths.ints);
    }
    {
      const tt::loop_step second(1);
      turn_elements.store(group, part<T>(out, arrays.elements_at(), block, lengths.elements),
                          lengths.elements);
    }
    {
      const tt::loop_step third(2);
      turn_chars.store(group, part<char>(out, arrays.chars_at(), block, lengths.chars),
                       lengths.chars);
    }
  }

 private:
  template <class Element>
  __host__ __device__ static const Element* part(const unsigned char* base, std::size_t at,
                                                 unsigned block, unsigned length) {
    return reinterpret_cast<const Element*>(base + at) + std::size_t{block} * length;
  }
  template <class Element>
  __host__ __device__ static Element* part(unsigned char* base, std::size_t at, unsigned block,
                                           unsigned length) {
    return reinterpret_cast<Element*>(base + at) + std::size_t{block} * length;
  }
};

/// Within each record of `length` elements, backwards.
struct mirrored_in_record {
  std::size_t length;
  __host__ __device__ std::size_t operator()(std::size_t i) const {
    return i / length * length + (length - 1 - i % length);
  }
};

template <class Element>
std::size_t count_wrong_in(const workspace& memory, std::size_t at, std::size_t count,
                           unsigned length) {
  return count_different(memory, reinterpret_cast<const Element*>(memory.out + at), count,
                         value_from<Element, mirrored_in_record>{{length}});
}

template <class T>
launch_case carving_case(const problem& asked) {
  // Lengths that leave the arrays behind them at no round place.
  constexpr record_lengths lengths{333, 1021, 517};
  constexpr std::size_t record_bytes =
      lengths.ints * sizeof(int) + lengths.elements * sizeof(T) + lengths.chars;
  const record_arrays<T> arrays{
      lengths, std::max(asked.nx * asked.ny * sizeof(T) / record_bytes, std::size_t{1})};
  const record_smem<T> smem(tt::smem_array<int>(lengths.ints), tt::smem_array<T>(lengths.elements),
                            tt::smem_array<char>(lengths.chars));
  launch_case made;
  made.label = "dynamic-carve";
  made.type = name_of(asked.type);
  made.in_bytes = made.out_bytes = arrays.bytes();
  made.bytes = 2 * arrays.payload();
  made.note = "333 ints, 1021 elements, 517 chars a block";
  made.predicted.threads = carving_body<T>::threads;
  made.predicted.shared_bytes = smem.bytes();
  made.prepare = [arrays](const workspace& memory) {
    fill(memory, reinterpret_cast<int*>(memory.in), arrays.ints(), random_bytes<int>{});
    fill(memory, reinterpret_cast<T*>(memory.in + arrays.elements_at()), arrays.elements(),
         random_bytes<T>{});
    fill(memory, reinterpret_cast<char*>(memory.in + arrays.chars_at()), arrays.chars(),
         random_bytes<char>{});
  };
  made.enqueue = [=](const workspace& memory) {
    return launch_dynamic(carving_body<T>{memory.out, memory.in, arrays, smem}, arrays.records,
                          memory);
  };
  made.count_wrong = [=](const workspace& memory) {
    return count_wrong_in<int>(memory, 0, arrays.ints(), lengths.ints) +
           count_wrong_in<T>(memory, arrays.elements_at(), arrays.elements(), lengths.elements) +
           count_wrong_in<char>(memory, arrays.chars_at(), arrays.chars(), lengths.chars);
  };
  return made;
}

}  // namespace

std::vector<routine> dynamic_shared(const problem& asked) {
  return with_bits(asked.type, [&](auto tag) {
    return std::vector<routine>{{"dynamic-carve",
                                 family::dynamic_shared,
                                 "ints, elements and chars of run-time lengths in one allocation",
                                 {carving_case<typename decltype(tag)::type>(asked)}}};
  });
}

}  // namespace gallery
