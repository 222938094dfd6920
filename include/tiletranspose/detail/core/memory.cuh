// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Every access of a device function to memory goes through the functions of this file, on the GPU
/// as one instruction of the width asked for, on the CPU as a copy of that many bytes. That is what lets
/// a CPU run the same code and count what it costs: there the emulator hears of each access first, with its
/// place in the source. And what is done to the words: shifts, permutes, and values that the compiler must not work out anew.

#pragma once

#include <tiletranspose/config.cuh>
#include <tiletranspose/detail/core/machine.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

struct alignas(16) word16 {
  unsigned x, y, z, w;
};

/// Zero in the type that one access of `Bytes` bytes moves.
template <int Bytes>
TILETRANSPOSE_HOST_DEVICE constexpr auto zero_word() {
  if constexpr (Bytes == 1) { return static_cast<unsigned char>(0); }
  if constexpr (Bytes == 2) { return static_cast<unsigned short>(0); }
  if constexpr (Bytes == 4) { return 0u; }
  if constexpr (Bytes == 8) { return 0ull; }
  if constexpr (Bytes == 16) { return word16{}; }
}
template <int Bytes>
using access_word_t = decltype(zero_word<Bytes>());

/// Copies bytes between variables of a thread, such as the parts of an element and registers. NVRTC knows memcpy by
/// that name alone; elsewhere it would take a header.
TILETRANSPOSE_FUNCTION void copy_bytes(void* to, const void* from, size_type bytes) {
#if defined(__CUDACC_RTC__)
  memcpy(to, from, bytes);
#else
  __builtin_memcpy(to, from, bytes);
#endif
}

/// Bytes of a thread's variables, such as the parts of an element, as one access.
template <int Bytes>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> as_word(const void* bytes) {
  access_word_t<Bytes> word;
  copy_bytes(&word, bytes, Bytes);
  return word;
}

template <class Word>
TILETRANSPOSE_FUNCTION Word load(const void* address) {
#if TILETRANSPOSE_ON_DEVICE
  return *static_cast<const Word*>(address);
#else
  union room {  // for types without a default constructor
    room() {}
    Word word;
  } result;
  __builtin_memcpy(static_cast<void*>(&result), address, sizeof(Word));
  return result.word;
#endif
}

/// As many bytes as Word has, for types that cannot be assigned: of const members, say.
template <class Word>
struct alignas(Word) bytes_of {
  unsigned char bytes[sizeof(Word)];
};

template <class Word>
TILETRANSPOSE_FUNCTION void store(void* address, const Word& word) {
#if TILETRANSPOSE_ON_DEVICE
  if constexpr (__is_assignable(Word&, const Word&)) {
    *static_cast<Word*>(address) = word;
  } else {
    *static_cast<bytes_of<Word>*>(address) = reinterpret_cast<const bytes_of<Word>&>(word);
  }
#else
  __builtin_memcpy(address, __builtin_addressof(word), sizeof(Word));
#endif
}

/// Prepares an access of `Kind`. On the device the compiler is told the address space, which it cannot see through a pointer
/// that was itself loaded (batches of pointers); a generic access costs up to a third of the bandwidth. On the CPU the access
/// is announced to a machine that watches, with the width of those that a GPU makes it of: false where it must not be made.
template <access_kind Kind, class Word>
TILETRANSPOSE_FUNCTION bool announce(const void* address, access_site site) {
#if TILETRANSPOSE_ON_DEVICE
  (void)site;
  if constexpr (Kind == access_kind::load_global || Kind == access_kind::store_global) {
    __builtin_assume(__isGlobal(address));
  } else {
    __builtin_assume(__isShared(address));
  }
  return true;
#else
  return running == nullptr || running->access(Kind, address, sizeof(Word),
                                               access_width(sizeof(Word), alignof(Word)), site);
#endif
}

/// Loads zeros in place of what must not be read.
template <access_kind Kind, class Word>
TILETRANSPOSE_FUNCTION Word load_announced(const void* address, access_site site) {
#if TILETRANSPOSE_ON_DEVICE
  announce<Kind, Word>(address, site);
#else
  static_assert(sizeof(Word) <= max_element_bytes, "");
  alignas(max_element_bytes) static constexpr unsigned char zeros[max_element_bytes] = {};
  if (!announce<Kind, Word>(address, site)) { address = zeros; }
#endif
  return load<Word>(address);
}

/// The four accesses. Precondition of all: `address` is a multiple of sizeof(Word).
template <class Word>
TILETRANSPOSE_FUNCTION Word load_global(const void* address, access_site site = access_site::at()) {
  return load_announced<access_kind::load_global, Word>(address, site);
}
template <class Word>
TILETRANSPOSE_FUNCTION void store_global(void* address, const Word& word,
                                         access_site site = access_site::at()) {
  if (announce<access_kind::store_global, Word>(address, site)) { detail::store(address, word); }
}
template <class Word>
TILETRANSPOSE_FUNCTION Word load_shared(const void* address, access_site site = access_site::at()) {
  return load_announced<access_kind::load_shared, Word>(address, site);
}
template <class Word>
TILETRANSPOSE_FUNCTION void store_shared(void* address, const Word& word,
                                         access_site site = access_site::at()) {
  if (announce<access_kind::store_shared, Word>(address, site)) { detail::store(address, word); }
}

/// Reads memory that nobody writes while the kernel runs, by the instruction for it. Needs no address
/// space to be known, so addresses may come out of integer arithmetic.
template <class Word>
TILETRANSPOSE_FUNCTION Word load_constant(const void* address,
                                          access_site site = access_site::at()) {
#if TILETRANSPOSE_ON_DEVICE
  (void)site;
  if constexpr (sizeof(Word) == 16) {
    const uint4 word = __ldg(static_cast<const uint4*>(address));
    return {word.x, word.y, word.z, word.w};
  } else {
    return __ldg(static_cast<const Word*>(address));
  }
#else
  return load_global<Word>(address, site);
#endif
}

/// Loads `word`, of 4, 8 or 16 bytes, from `address` by an instruction that is given without what it fetches and its type.
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 800
inline constexpr bool fetches_near = true;
#define TILETRANSPOSE_LOAD_NEAR(assembly, instruction, ...)               \
  if constexpr (Fetched == 256) {                                         \
    TILETRANSPOSE_LOAD_BY(assembly, instruction ".L2::256B", __VA_ARGS__) \
  } else {                                                                \
    TILETRANSPOSE_LOAD_BY(assembly, instruction ".L2::128B", __VA_ARGS__) \
  }
#define TILETRANSPOSE_LOAD_BY(assembly, instruction, ...)                          \
  if constexpr (sizeof(word) == 16) {                                              \
    assembly(instruction ".v4.u32 {%0, %1, %2, %3}, [%4];"                         \
             : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)              \
             : "l"(address)__VA_ARGS__);                                           \
  } else if constexpr (sizeof(word) == 8) {                                        \
    assembly(instruction ".u64 %0, [%1];" : "=l"(word) : "l"(address)__VA_ARGS__); \
  } else {                                                                         \
    assembly(instruction ".u32 %0, [%1];" : "=r"(word) : "l"(address)__VA_ARGS__); \
  }
#else
inline constexpr bool fetches_near = false;
#define TILETRANSPOSE_LOAD_NEAR(assembly, instruction, ...) (void)word;
#endif

/// As load_constant, or, where the kernel writes the memory, load_global, of words whose neighbours other blocks load at some
/// other time: the L2 cache fetches all of the `Fetched` bytes, 128 or 256, that they lie in, so that these are read from
/// memory at once. 0: just the words.
template <class Word, int Fetched, bool Written = false>
TILETRANSPOSE_FUNCTION Word load_near(const void* address, access_site site = access_site::at()) {
  static_assert(Fetched % 128 == 0 && Fetched <= (Written && sizeof(Word) < 16 ? 128 : 256), "");
  if constexpr (fetches_near && sizeof(Word) >= 4 && Fetched > 0) {
    Word word;
    if constexpr (Written) {
      TILETRANSPOSE_LOAD_NEAR(asm volatile, "ld.global", : "memory")
    } else {
      TILETRANSPOSE_LOAD_NEAR(asm, "ld.global.nc", :)
    }
    return word;
  } else if constexpr (Written) {
    return load_global<Word>(address, site);
  } else {
    return load_constant<Word>(address, site);
  }
}
#undef TILETRANSPOSE_LOAD_NEAR
#undef TILETRANSPOSE_LOAD_BY

/// As load_global, of a word of which the caller uses bytes [first, end) alone: others may write the other ones
/// meanwhile. Fetched: load_near. On the CPU only these bytes are read.
template <class Word, int Fetched = 0>
TILETRANSPOSE_FUNCTION Word load_global_part(const void* address, int first, int end,
                                             access_site site = access_site::at()) {
#if TILETRANSPOSE_ON_DEVICE
  (void)first, (void)end;
  return load_near<Word, Fetched, true>(address, site);
#else
  Word word{};
  const auto* const from = static_cast<const unsigned char*>(address) + first;
  if (running == nullptr || running->access(access_kind::load_global, from,
                                            static_cast<unsigned>(end - first), 1, site)) {
    __builtin_memcpy(reinterpret_cast<unsigned char*>(&word) + first, from,
                     static_cast<size_type>(end - first));
  }
  return word;
#endif
}

/// The word boundary at or below an address.
TILETRANSPOSE_FUNCTION const unsigned char* word_below(const unsigned char* address) {
  return reinterpret_cast<const unsigned char*>(reinterpret_cast<size_type>(address) &
                                                ~size_type{3});
}

/// The low bits of an address, enough to tell its place in a sector.
TILETRANSPOSE_FUNCTION unsigned address_bits(const void* address) {
  return static_cast<unsigned>(reinterpret_cast<size_type>(address));
}

/// A value of 4 or 8 bytes that the compiler takes as it is: what is worked out from it is not worked out from its terms
/// instead, each time anew and in between of loads that should be under way together (nvcc 13.0).
template <class Value>
TILETRANSPOSE_FUNCTION Value optimisation_barrier(Value value) {
#if TILETRANSPOSE_ON_DEVICE
  if constexpr (sizeof(Value) == 4) {
    asm("" : "+r"(value));
  } else {
    asm("" : "+l"(value));
  }
#endif
  return value;
}

/// The same of an address in global memory. Else nvcc loads a kernel's parameter anew for each access to what it points to.
/// T: unsigned char, which may be const.
template <class T>
TILETRANSPOSE_FUNCTION T* optimisation_barrier_global(T* address) {
#if TILETRANSPOSE_ON_DEVICE && !TILETRANSPOSE_CLANG_CUDA
  asm("" : "+l"(address));
  __builtin_assume(__isGlobal(address));
#endif
  return address;
}

/// The same of a place in shared memory.
TILETRANSPOSE_FUNCTION unsigned char* optimisation_barrier_shared(unsigned char* shared) {
#if TILETRANSPOSE_ON_DEVICE
  return static_cast<unsigned char*>(__cvta_shared_to_generic(
      optimisation_barrier(static_cast<int>(__cvta_generic_to_shared(shared)))));
#else
  return shared;
#endif
}

/// What a warp asks of memory above is asked for before what it asks below. Else ptxas (CUDA 13.0) stores what the first
/// loads bring before it issues the last ones, and the warp waits twice. No instruction comes of it where the warp is together.
TILETRANSPOSE_FUNCTION void keep_access_order() {
#if TILETRANSPOSE_ON_DEVICE
  __syncwarp();
#endif
}

/// Four bytes picked out of the eight of (low, high): byte i of the result is byte (selector >> 4 i) & 7.
TILETRANSPOSE_FUNCTION unsigned pick_bytes(unsigned low, unsigned high, unsigned selector) {
#if TILETRANSPOSE_ON_DEVICE
  return __byte_perm(low, high, selector);
#else
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= static_cast<unsigned>((both >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
  }
  return result;
#endif
}

/// A word whose byte i is byte source(i) of `words`; all of that is known to the compiler. Bytes of n words take n - 1 byte
/// permutes, those of one word one where they move; a word whose bytes keep their places only changes its name.
template <class Source>
TILETRANSPOSE_FUNCTION unsigned pick_word(const unsigned* words, Source source) {
  unsigned result = words[source(0) / 4];
  bool keeps_places = true;
  bool is_untouched = true;
  TILETRANSPOSE_UNROLL
  for (int i = 1; i < 4; ++i) {
    bool is_new = true;
    unsigned selector = 0;
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < 4; ++k) {
      const int word = source(k) / 4;
      const int byte = source(k) % 4;
      is_new = is_new && (k >= i || word != source(i) / 4);
      keeps_places = keeps_places && byte == k;
      // The first permute takes the bytes of two words; the next ones find those before where they belong.
      const bool is_second = is_untouched ? word != source(0) / 4 : word == source(i) / 4;
      selector |= static_cast<unsigned>(is_second ? 4 + byte : is_untouched ? byte : k) << (4 * k);
    }
    if (is_new) {
      result = pick_bytes(result, words[source(i) / 4], selector);
      is_untouched = false;
    } else if (is_untouched && i == 3 && !keeps_places) {
      result = pick_bytes(result, 0, selector);
    }
  }
  return result;
}

/// The 32 bits of (low, high) that start at bit `shift` % 32 of low.
TILETRANSPOSE_FUNCTION unsigned funnel_shift(unsigned low, unsigned high, unsigned shift) {
#if TILETRANSPOSE_ON_DEVICE
  return __funnelshift_r(low, high, shift);
#else
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >>
                               (shift % 32));
#endif
}

/// The `Bytes` bytes that start `shift` % Bytes bytes into two accesses of as many, 4, 8 or 16.
template <int Bytes>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> shift_together(const access_word_t<Bytes>& low,
                                                           const access_word_t<Bytes>& high,
                                                           unsigned shift) {
  constexpr int count = Bytes / 4;
  unsigned words[2 * count];
  copy_bytes(words, &low, Bytes);
  copy_bytes(words + count, &high, Bytes);
  // Moved down by whole words first, by half an access at most.
  TILETRANSPOSE_UNROLL
  for (int by = count / 2; by > 0; by /= 2) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i + by < 2 * count; ++i) {
      words[i] = (shift & static_cast<unsigned>(4 * by)) == 0 ? words[i] : words[i + by];
    }
  }
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < count; ++i) { words[i] = funnel_shift(words[i], words[i + 1], 8 * shift); }
  return as_word<Bytes>(words);
}

/// The bits of `before` below bit `bit` and those of `after` from there on; `bit` may lie outside of the word.
TILETRANSPOSE_FUNCTION unsigned merge_words(unsigned before, unsigned after, int bit) {
  const auto bits = static_cast<unsigned>(bit < 0 ? 0 : bit);
#if TILETRANSPOSE_ON_DEVICE
  const unsigned mask = __funnelshift_lc(0u, ~0u, bits);
#else
  const unsigned mask = bits < 32 ? ~0u << bits : 0;
#endif
  return (before & ~mask) | (after & mask);
}

/// Puts words in order of which read[i] is number (i + rotation) % Count, 1, 2 or 4. Lanes read their words by such
/// a bank rotation where they would use the same banks if all of them began with the first.
template <class Word, unsigned Count>
TILETRANSPOSE_FUNCTION void rotate_back(const Word (&read)[Count], unsigned rotation,
                                        Word (&words)[Count]) {
  static_assert(Count == 1 || Count == 2 || Count == 4, "");
  Word half[Count];
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < Count; ++i) {
    half[i] = rotation % 2 == 0 ? read[i] : read[(i + Count - 1) % Count];
  }
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < Count; ++i) {
    words[i] = Count <= 2 || rotation / 2 % 2 == 0 ? half[i] : half[(i + Count - 2) % Count];
  }
}

/// A word with its elements of 1 or 2 bytes reversed, as it is where they have more.
template <int Element>
TILETRANSPOSE_FUNCTION unsigned reverse_word(unsigned word) {
  return Element == 1 || Element == 2 ? pick_bytes(word, 0, Element == 1 ? 0x0123 : 0x1032) : word;
}

/// An access of whole words with its elements reversed; as it is where `Element` is 0 or as large.
template <int Element, class Word>
TILETRANSPOSE_FUNCTION Word reverse_elements(const Word& value) {
  constexpr int count = sizeof(Word) / 4;
  // Words that keep their order.
  constexpr int together = Element == 0 ? count : Element < 4 ? 1 : Element / 4;
  unsigned words[count];
  unsigned reversed[count];
  copy_bytes(words, &value, sizeof value);
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < count; ++i) {
    const int from = count - together - i / together * together + i % together;
    reversed[i] = reverse_word<Element>(words[from]);
  }
  Word result;
  copy_bytes(&result, reversed, sizeof result);
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
