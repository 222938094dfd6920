// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Elements that are moved together, and how they are read from shared memory where they lie at no multiples of their size.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// `Count` elements that are moved together, `AccessBytes` bytes at a time.
template <class T, int Count, int AccessBytes>
struct packed_elements {
  static constexpr int bytes = Count * static_cast<int>(sizeof(T));
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char memory[bytes];

  TILETRANSPOSE_FUNCTION const T& get(int at) const {
    return reinterpret_cast<const T&>(memory[at * sizeof(T)]);
  }
  TILETRANSPOSE_FUNCTION void put(int at, const T& value) {
    __builtin_memcpy(memory + at * sizeof(T), __builtin_addressof(value), sizeof(T));
  }
  /// Fetched, Written: load_near.
  template <int Fetched = 0, bool Written = false>
  TILETRANSPOSE_FUNCTION void load(const unsigned char* address) {
    take([&](int i) {
      return load_near<access_word_t<AccessBytes>, Fetched, Written>(address + i);
    });
  }
  TILETRANSPOSE_FUNCTION void load_from_shared(const unsigned char* shared) {
    take([&](int i) { return load_shared<access_word_t<AccessBytes>>(shared + i); });
  }
  TILETRANSPOSE_FUNCTION void store_to_shared(unsigned char* shared) const {
    give([&](int i, access_word_t<AccessBytes> word) { store_shared(shared + i, word); });
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* address) const {
    give([&](int i, access_word_t<AccessBytes> word) { store_global(address + i, word); });
  }

 private:
  /// load(i): the access from byte i on.
  template <class Load>
  TILETRANSPOSE_FUNCTION void take(Load load) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += AccessBytes) {
      const access_word_t<AccessBytes> word = load(i);
      __builtin_memcpy(memory + i, &word, AccessBytes);
    }
  }
  /// put(i, word): stores the access from byte i on.
  template <class Put>
  TILETRANSPOSE_FUNCTION void give(Put put) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += AccessBytes) { put(i, as_word<AccessBytes>(memory + i)); }
  }
};

/// Consecutive threads that read `Bytes` bytes each, which fill all banks once where they follow each other: a *group*.
template <int Bytes>
inline constexpr unsigned bank_group = 128 / Bytes;

/// The word that a thread reads first of the `Bytes` bytes from byte `from` of shared memory on: consecutive lanes,
/// whose bytes follow each other, read the same word of theirs until they have seen every bank, those after them the
/// next one. Threads of other rows find their words in the same order, wherever they start.
template <int Bytes, int WordBytes>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned bank_rotation(unsigned thread, unsigned from) {
  return (thread / bank_group<Bytes> - from / WordBytes) % (Bytes / WordBytes);
}

/// How far from the first word the one lies that a thread reads in round `round`, `first` being its bank_rotation.
template <int Bytes, int WordBytes>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned rotation_offset(unsigned first, unsigned round) {
  return (round + first) % (Bytes / WordBytes) * WordBytes;
}
/// Conflict ways of threads that read `Bytes` bytes each in rounds of a bank rotation, or at once, where as many as
/// `row_threads` of them read a row: groups do not conflict, and neither does what a group reads of one row, so that
/// it is the rows that a group reads which may.
template <int Bytes>
constexpr int rotation_ways(int row_threads) {
  constexpr int group = bank_group<Bytes>;
  return row_threads % group == 0   ? 1
         : group % row_threads == 0 ? group / row_threads
                                    : (group - 2) / row_threads + 2;
}

/// Where the first and the last access lie of those that hold the `Bytes` bytes from byte `from` on.
template <int Bytes>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned first_access(unsigned from) {
  return from / Bytes * Bytes;
}
template <int Bytes>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned last_access(unsigned from) {
  return (from + Bytes - 1) / Bytes * Bytes;
}
/// Conflict ways of the word behind `Bytes` bytes that are read in rounds, which all groups read together.
template <int Bytes>
constexpr int next_word_ways(int row_threads) {
  return Bytes / 4 * rotation_ways<Bytes>(row_threads);
}

/// 4, 8 or 16 bytes of shared memory, `from` + `further` bytes into it. `from` is a multiple of `AccessBytes` and maybe of no
/// more, `further` one of 16. Whole words are read in rounds; what may begin inside of one is shifted together from the two
/// accesses that hold it, which are one, read twice, where it is all in that, or with `InWords` from the words and one more
/// behind them. Precondition: `shared` is aligned to 16 and as many bytes long as are whole accesses.
template <int Bytes, int AccessBytes, bool InWords = (AccessBytes >= 4)>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> read_shared(const unsigned char* shared, unsigned from,
                                                        unsigned further, unsigned thread) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "");
  if constexpr (AccessBytes >= Bytes) {
    return load_shared<access_word_t<Bytes>>(shared + from + further);
  } else if constexpr (!InWords) {
    const auto low =
        load_shared<access_word_t<Bytes>>(shared + first_access<Bytes>(from) + further);
    const auto high =
        load_shared<access_word_t<Bytes>>(shared + last_access<Bytes>(from) + further);
    return shift_together<Bytes>(low, high, from);
  } else {
    constexpr int word_bytes = larger(AccessBytes, 4);
    constexpr unsigned count = Bytes / word_bytes;
    using word = access_word_t<word_bytes>;
    const unsigned char* const first = shared + from / word_bytes * word_bytes;
    const unsigned rotation = bank_rotation<Bytes, word_bytes>(thread, from);
    word read[count], back[count], words[count + 1];
    TILETRANSPOSE_UNROLL
    for (unsigned round = 0; round < count; ++round) {
      read[round] =
          load_shared<word>(first + rotation_offset<Bytes, word_bytes>(rotation, round) + further);
    }
    rotate_back(read, rotation, back);
    copy_bytes(words, back, sizeof back);
    if constexpr (AccessBytes < 4) {
      if (from % 4 != 0) {
        words[count] = load_shared<word>(first + Bytes + further);
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < count; ++i) {
          words[i] = funnel_shift(words[i], words[i + 1], 8 * from);
        }
      }
    }
    return as_word<Bytes>(words);
  }
}

/// `Count` elements, as read_shared reads bytes, or fewer bytes than a word's by their accesses.
template <class T, int Count, int AccessBytes>
TILETRANSPOSE_FUNCTION auto read_elements(const unsigned char* shared, unsigned from,
                                          unsigned further, unsigned thread) {
  constexpr int bytes = Count * static_cast<int>(sizeof(T));
  packed_elements<T, Count, bytes> result;
  if constexpr (AccessBytes >= bytes || bytes < 4) {
    packed_elements<T, Count, AccessBytes> parts;
    parts.load_from_shared(shared + from + further);
    __builtin_memcpy(result.memory, parts.memory, bytes);
  } else {
    const auto all = read_shared<bytes, AccessBytes>(shared, from, further, thread);
    __builtin_memcpy(result.memory, &all, bytes);
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
