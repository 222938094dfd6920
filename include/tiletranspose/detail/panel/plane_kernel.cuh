// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// An array of structures and an array for each of their members, which may lie anywhere: *planes*. A warp takes
/// consecutive structures, each lane as many as make whole words of a member, in registers: it moves the structures as
/// one segment of memory and each plane as another, and its lanes exchange what they loaded or will store.
///
///     lane holds structures      a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3      12 bytes of 3 members of 1 byte
///     words of planes            a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3
///
/// Structures that would not fit registers go one access at a time.

#pragma once

#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The most bytes of structures that a lane holds at a time.
inline constexpr int most_lane_bytes = 192;

/// What of elements and planes is known at compile time. `Wide`: a lane's bytes lie, on both sides, at multiples of the
/// widest access that they are made of; else of `Access` bytes, which an element is made of.
template <int ElementBytes, int Access, int Planes, bool Wide>
struct plane_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int access = Access;
  static constexpr int planes = Planes;
  static constexpr bool wide = Wide;
  /// Structures of a lane, such that their elements of a plane are whole words.
  static constexpr int structures = ElementBytes % 4 == 0 ? 1 : ElementBytes % 2 == 0 ? 2 : 4;
  static constexpr int plane_words = structures * ElementBytes / 4;
  static constexpr int words = Planes * plane_words;
  static constexpr bool fits_registers = 4 * words <= most_lane_bytes;
  /// Rounds of a warp: enough bytes are under way.
  static constexpr int rounds = words >= 12 ? 1 : words >= 6 ? 2 : words >= 3 ? 4 : 8;
  static constexpr int threads = 256;
  static constexpr int warp_structures = 32 * structures * rounds;
  static constexpr int struct_bytes = Planes * ElementBytes;
  static constexpr int struct_accesses = struct_bytes / Access;
  /// Words that start inside of a word of memory are shifted.
  static constexpr bool shifts = !Wide && Access < 4;
  /// Accesses that are under way where a thread takes them one by one, and bytes of a block.
  static constexpr int accesses = 4;
  static constexpr size_type block_bytes =
      fits_registers ? size_type{threads / 32} * warp_structures * struct_bytes
                     : size_type{threads} * accesses * Access;
};

template <int Planes>
struct plane_arguments {
  unsigned char* planes[Planes];
  unsigned char* structs;
  size_type count;  ///< structures
};

/// How a warp moves a segment of 32 * Words words, of which lane l holds the Words words from word l * Words on.
template <int Words, int Access, bool Wide>
struct segment_accesses {
  static constexpr int bytes = Wide ? access_width(4 * Words) : Access < 4 ? 4 : Access;
  static constexpr int count = 4 * Words / bytes;
  using word = access_word_t<bytes>;
  static constexpr bool shifts = !Wide && Access < 4;
};

/// Loads the accesses of a segment in striped order. Words that are shifted reach up to three bytes beyond both of its ends.
template <class Accesses>
TILETRANSPOSE_FUNCTION void load_segment(typename Accesses::word (&held)[Accesses::count],
                                         const unsigned char* first) {
  using word = typename Accesses::word;
  const unsigned lane = lane_index();
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < Accesses::count; ++i) {
    const loop_step here(i);
    const unsigned byte = (32 * i + lane) * sizeof(word);
    if constexpr (Accesses::shifts) {
      const unsigned char* const from = word_below(first) + byte;
      const word low = load_constant<word>(from);
      held[i] = address_bits(first) % 4 == 0
                    ? low
                    : funnel_shift(low, load_constant<word>(from + 4), 8 * address_bits(first));
    } else {
      held[i] = load_constant<word>(first + byte);
    }
  }
}

/// The inverse. Words that are shifted are joined from those of two lanes; the ends of every 128 bytes are stored by
/// accesses of `Access` bytes.
template <class Accesses, int Access>
TILETRANSPOSE_FUNCTION void store_segment(unsigned char* first,
                                          const typename Accesses::word (&held)[Accesses::count]) {
  using word = typename Accesses::word;
  const unsigned lane = lane_index();
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < Accesses::count; ++i) {
    const loop_step here(i);
    unsigned char* const to = first + (32 * i + lane) * sizeof(word);
    if constexpr (Accesses::shifts) {
      const unsigned off = address_bits(first) % 4;
      if (off == 0) {
        store_global(to, held[i]);
        continue;
      }
      const unsigned before = shuffle(held[i], lane - 1);
      if (lane > 0) { store_global(to - off, funnel_shift(before, held[i], 32 - 8 * off)); }
      const unsigned begin = lane == 0 ? 0 : 4 - off;
      const unsigned end = lane == 0 ? 4 - off : lane == 31 ? 4 : begin;
      TILETRANSPOSE_UNROLL
      for (unsigned byte = 0; byte < 4; byte += Access) {
        if (byte >= begin && byte < end) {
          store_global(to + byte, static_cast<access_word_t<Access>>(held[i] >> (8 * byte)));
        }
      }
    } else {
      store_global(to, held[i]);
    }
  }
}

/// From striped accesses to the words that a lane holds.
template <class Accesses, int Words>
TILETRANSPOSE_FUNCTION void take_words(unsigned (&words)[Words],
                                       typename Accesses::word (&held)[Accesses::count]) {
  warp_striped_to_blocked(static_warp{}, held);
  copy_bytes(words, held, sizeof(words));
}
template <class Accesses, int Words>
TILETRANSPOSE_FUNCTION void give_words(typename Accesses::word (&held)[Accesses::count],
                                       const unsigned (&words)[Words]) {
  copy_bytes(held, words, sizeof(words));
  warp_blocked_to_striped(static_warp{}, held);
}

/// A word whose bytes are bytes from[0] .. from[3] of `words`; all of it is known to the compiler.
template <int Words>
TILETRANSPOSE_FUNCTION unsigned pick_word(const unsigned (&words)[Words], const int (&from)[4]) {
  const auto pair = [&](int i) {
    const int low = from[i];
    const int high = from[i + 1];
    return low / 4 == high / 4 && low % 4 == 0 && high % 4 == 1
               ? words[low / 4]
               : pick_bytes(words[low / 4], words[high / 4],
                            static_cast<unsigned>(low % 4 | (4 + high % 4) << 4));
  };
  const bool is_word = from[0] % 4 == 0 && from[1] == from[0] + 1 && from[2] == from[0] + 2 &&
                       from[3] == from[0] + 3;
  return is_word ? words[from[0] / 4] : pick_bytes(pair(0), pair(2), 0x5410);
}

/// Words of plane `plane` out of a lane's structures.
template <class Shape>
TILETRANSPOSE_FUNCTION void pick_plane(unsigned (&words)[Shape::plane_words],
                                       const unsigned (&structs)[Shape::words], int plane) {
  constexpr int element = Shape::element_bytes;
  TILETRANSPOSE_UNROLL
  for (int w = 0; w < Shape::plane_words; ++w) {
    int from[4] = {};
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int byte = 4 * w + i;
      from[i] = (byte / element * Shape::planes + plane) * element + byte % element;
    }
    words[w] = pick_word(structs, from);
  }
}

/// A lane's structures out of its words of all planes, one plane behind the other.
template <class Shape>
TILETRANSPOSE_FUNCTION void pick_structs(unsigned (&structs)[Shape::words],
                                         const unsigned (&planes)[Shape::words]) {
  constexpr int element = Shape::element_bytes;
  TILETRANSPOSE_UNROLL
  for (int w = 0; w < Shape::words; ++w) {
    int from[4] = {};
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int at = (4 * w + i) / element;  // elements before this byte
      from[i] = (at % Shape::planes * Shape::structures + at / Shape::planes) * element +
                (4 * w + i) % element;
    }
    structs[w] = pick_word(planes, from);
  }
}

/// Moves accesses of the structures, number `first` and those `step` further each before `end`: of structures that registers
/// do not hold, and of those that a warp does not move whole.
template <class Shape, bool ToPlanes>
TILETRANSPOSE_FUNCTION void move_accesses(const plane_arguments<Shape::planes>& arguments,
                                          size_type first, size_type end, unsigned step) {
  using word = access_word_t<Shape::access>;
  constexpr unsigned of_element = Shape::element_bytes / Shape::access;
  TILETRANSPOSE_UNROLL_BY(1)
  for (; first < end; first += size_type{Shape::accesses} * step) {
    const loop_step round(first / step);
    word held[Shape::accesses] = {};
    unsigned char* to[Shape::accesses] = {};
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < Shape::accesses; ++i) {
      const loop_step here(i);
      const size_type at = first + i * step;
      if (at >= end) { continue; }
      const auto part = static_cast<unsigned>(at % Shape::struct_accesses);
      unsigned char* const in_struct = arguments.structs + at * Shape::access;
      unsigned char* const in_plane = arguments.planes[part / of_element] +
                                      at / Shape::struct_accesses * Shape::element_bytes +
                                      part % of_element * Shape::access;
      held[i] = load_constant<word>(ToPlanes ? in_struct : in_plane);
      to[i] = ToPlanes ? in_plane : in_struct;
    }
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < Shape::accesses; ++i) {
      const loop_step here(i);
      if (to[i] != nullptr) { store_global(to[i], held[i]); }
    }
  }
}

/// The kernel's body: warp w moves structures from w * Shape::warp_structures on, as many.
/// Shared memory: none. Barriers: none.
template <class Shape, bool ToPlanes>
TILETRANSPOSE_FUNCTION void move_planes(const plane_arguments<Shape::planes>& arguments,
                                        size_type warp) {
  constexpr int rounds = Shape::rounds;
  constexpr size_type round_structs = 32 * Shape::structures;
  using of_structs = segment_accesses<Shape::words, Shape::access, Shape::wide>;
  using of_plane = segment_accesses<Shape::plane_words, Shape::access, Shape::wide>;
  const size_type first = warp * Shape::warp_structures;
  if (first >= arguments.count) { return; }
  const size_type left = arguments.count - first;
  // Shifted words reach into what lies before and behind.
  const bool whole = Shape::shifts ? first > 0 && left >= Shape::warp_structures + Shape::structures
                                   : left >= Shape::warp_structures;
  if (!whole) {
    const size_type end = first + smaller<size_type>(left, Shape::warp_structures);
    move_accesses<Shape, ToPlanes>(arguments, first * Shape::struct_accesses + lane_index(),
                                   end * Shape::struct_accesses, 32);
    return;
  }
  const auto struct_segment = [&](int r) {
    return arguments.structs +
           (first + static_cast<size_type>(r) * round_structs) * Shape::struct_bytes;
  };
  const auto plane_segment = [&](int k, int r) {
    return arguments.planes[k] +
           (first + static_cast<size_type>(r) * round_structs) * Shape::element_bytes;
  };
  if constexpr (ToPlanes) {
    typename of_structs::word held[rounds][of_structs::count];
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const loop_step here(r);
      load_segment<of_structs>(held[r], struct_segment(r));
    }
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const loop_step here(r);
      unsigned words[Shape::words];
      take_words<of_structs>(words, held[r]);
      TILETRANSPOSE_UNROLL
      for (int k = 0; k < Shape::planes; ++k) {
        const loop_step of(k);
        unsigned plane[Shape::plane_words];
        pick_plane<Shape>(plane, words, k);
        typename of_plane::word stored[of_plane::count];
        give_words<of_plane>(stored, plane);
        store_segment<of_plane, Shape::access>(plane_segment(k, r), stored);
      }
    }
  } else {
    typename of_plane::word held[rounds][Shape::planes][of_plane::count];
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const loop_step here(r);
      TILETRANSPOSE_UNROLL
      for (int k = 0; k < Shape::planes; ++k) {
        const loop_step of(k);
        load_segment<of_plane>(held[r][k], plane_segment(k, r));
      }
    }
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const loop_step here(r);
      unsigned planes[Shape::words];
      TILETRANSPOSE_UNROLL
      for (int k = 0; k < Shape::planes; ++k) {
        unsigned plane[Shape::plane_words];
        take_words<of_plane>(plane, held[r][k]);
        copy_bytes(planes + k * Shape::plane_words, plane, sizeof(plane));
      }
      unsigned words[Shape::words];
      pick_structs<Shape>(words, planes);
      typename of_structs::word stored[of_structs::count];
      give_words<of_structs>(stored, words);
      store_segment<of_structs, Shape::access>(struct_segment(r), stored);
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
