// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Elements that are moved together, and how they are read from shared memory where they need not lie at multiples of
/// their size.

#pragma once

#include <tiletranspose/detail/divide.cuh>
#include <tiletranspose/detail/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// `Count` elements that are moved together, `Unit` bytes at a time.
template <class T, int Count, int Unit>
struct packed_elements {
  static constexpr int bytes = Count * static_cast<int>(sizeof(T));
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char memory[bytes];

  TILETRANSPOSE_FUNCTION const T& get(int at) const {
    return reinterpret_cast<const T&>(memory[at * sizeof(T)]);
  }
  TILETRANSPOSE_FUNCTION void put(int at, const T& value) {
    __builtin_memcpy(memory + at * sizeof(T), &value, sizeof(T));
  }
  TILETRANSPOSE_FUNCTION void load(const unsigned char* address) {
    each([&](unsigned char* part, int i) {
      const auto word = load_constant<access_word_t<Unit>>(address + i);
      __builtin_memcpy(part, &word, Unit);
    });
  }
  /// From memory that the kernel writes.
  TILETRANSPOSE_FUNCTION void load_changing(const unsigned char* address) {
    each([&](unsigned char* part, int i) {
      const auto word = load_global<access_word_t<Unit>>(address + i);
      __builtin_memcpy(part, &word, Unit);
    });
  }
  TILETRANSPOSE_FUNCTION void load_from_shared(const unsigned char* shared) {
    each([&](unsigned char* part, int i) {
      const auto word = load_shared<access_word_t<Unit>>(shared + i);
      __builtin_memcpy(part, &word, Unit);
    });
  }
  TILETRANSPOSE_FUNCTION void store_to_shared(unsigned char* shared) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      access_word_t<Unit> word;
      __builtin_memcpy(&word, memory + i, Unit);
      store_shared(shared + i, word);
    }
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* address) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      access_word_t<Unit> word;
      __builtin_memcpy(&word, memory + i, Unit);
      store_global(address + i, word);
    }
  }

 private:
  template <class Load>
  TILETRANSPOSE_FUNCTION void each(Load load) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) { load(memory + i, i); }
  }
};

/// The word that a thread reads first of the `Bytes` bytes from byte `from` of shared memory on: consecutive lanes,
/// whose bytes follow each other, read the same word of theirs until they have seen every bank, those after them the
/// next one. Threads of other rows find their words in the same order, wherever they start.
template <int Bytes, int WordBytes>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned word_turn(unsigned thread, unsigned from) {
  return (thread / (128 / Bytes) - from / WordBytes) % (Bytes / WordBytes);
}

/// 4, 8 or 16 bytes of shared memory, `from` + `further` bytes into it. `from` is a multiple of `Unit` and maybe of no
/// more, `further` one of 16.
template <int Bytes, int Unit>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> read_shared(const unsigned char* shared, unsigned from,
                                                        unsigned further, unsigned thread) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "");
  if constexpr (Unit >= Bytes) {
    return load_shared<access_word_t<Bytes>>(shared + from + further);
  } else {
    constexpr int word_bytes = larger(Unit, 4);
    constexpr unsigned count = Bytes / word_bytes;
    using word = access_word_t<word_bytes>;
    const unsigned char* const first = shared + from / word_bytes * word_bytes;
    word words[count + 1];
    if constexpr (count == 1) {
      words[0] = load_shared<word>(first + further);
    } else {
      const unsigned turned = word_turn<Bytes, word_bytes>(thread, from);
      word read[count], back[count];
      TILETRANSPOSE_UNROLL
      for (unsigned turn = 0; turn < count; ++turn) {
        read[turn] = load_shared<word>(first + (turn + turned) % count * word_bytes + further);
      }
      turn_back(read, turned, back);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < count; ++i) { words[i] = back[i]; }
    }
    if constexpr (Unit < 4) {
      if (from % 4 != 0) {
        words[count] = load_shared<word>(first + Bytes + further);
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < count; ++i) {
          words[i] = funnel_shift(words[i], words[i + 1], 8 * from);
        }
      }
    }
    access_word_t<Bytes> result;
    __builtin_memcpy(&result, words, Bytes);
    return result;
  }
}

/// `Count` elements that are moved by the widest access that their size allows or, where an element is
/// several accesses, one of those at a time.
template <class T, int Count, int Unit>
using vector_of =
    packed_elements<T, Count,
                    (Unit < static_cast<int>(sizeof(T)) ? Unit : access_width(Count * sizeof(T)))>;

/// `Count` elements, as read_shared reads bytes.
template <class T, int Count, int Unit>
TILETRANSPOSE_FUNCTION vector_of<T, Count, Unit> read_elements(const unsigned char* shared,
                                                               unsigned from, unsigned further,
                                                               unsigned thread) {
  constexpr int bytes = Count * static_cast<int>(sizeof(T));
  vector_of<T, Count, Unit> result;
  if constexpr (Unit >= bytes || bytes < 4 || bytes % 4 != 0 || Count == 1) {
    packed_elements<T, Count, Unit> parts;
    parts.load_from_shared(shared + from + further);
    __builtin_memcpy(result.memory, parts.memory, bytes);
  } else {
    const auto all = read_shared<bytes, Unit>(shared, from, further, thread);
    __builtin_memcpy(result.memory, &all, bytes);
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
