// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// An array of structures and an array for each of their members, which may lie anywhere: *planes*. A lane takes as many
/// structures as make whole words of a member in registers; detail/README.md says how warps load and store them.
///
///     lane holds structures      a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3      12 bytes of 3 members of 1 byte
///     words of planes            a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3

#pragma once

#include <cstddef>

#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The most bytes of structures that a lane holds at a time.
inline constexpr int most_lane_bytes = 192;

/// What of elements and planes is known at compile time. `InRegisters`: a warp moves whole structures, and a lane's bytes lie,
/// on both sides, at multiples of the widest access that they are made of; else structures go one access at a time.
template <int ElementBytes, int Access, int Planes, bool InRegisters>
struct plane_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int access = Access;
  static constexpr int planes = Planes;
  static constexpr bool in_registers = InRegisters;
  /// Structures of a lane, such that their elements of a plane are whole words.
  static constexpr int structures = ElementBytes % 4 == 0 ? 1 : ElementBytes % 2 == 0 ? 2 : 4;
  static constexpr int plane_words = structures * ElementBytes / 4;
  static constexpr int words = Planes * plane_words;
  /// Rounds of a warp: enough bytes are under way.
  static constexpr int rounds = words >= 12 ? 1 : words >= 6 ? 2 : words >= 3 ? 4 : 8;
  static constexpr int threads = 256;
  static constexpr int warp_structures = 32 * structures * rounds;
  static constexpr int struct_bytes = Planes * ElementBytes;
  static constexpr int struct_accesses = struct_bytes / Access;
  /// Accesses that are under way where a thread takes them one by one, and bytes of a block.
  static constexpr int accesses = 4;
  static constexpr size_type block_bytes =
      InRegisters ? size_type{threads / 32} * warp_structures * struct_bytes
                  : size_type{threads} * accesses * Access;
};

template <int Planes>
struct plane_arguments {
  unsigned char* planes[Planes];
  unsigned char* structs;
  size_type count;  ///< structures
};

/// What a lane accesses at a time of a segment of which it holds `Words` words.
template <int Words>
using segment_word = access_word_t<access_width(4 * Words)>;

/// Moves accesses of the structures, number `first` and those `step` further each before `end`: of structures that go
/// so, and of those that a warp does not move whole.
template <class Shape, bool ToPlanes>
TILETRANSPOSE_FUNCTION void move_accesses(const plane_arguments<Shape::planes>& arguments,
                                          size_type first, size_type end, unsigned step) {
  using word = access_word_t<Shape::access>;
  constexpr unsigned of_element = Shape::element_bytes / Shape::access;
  TILETRANSPOSE_UNROLL_BY(1)
  for (; first < end; first += size_type{Shape::accesses} * step) {
    word held[Shape::accesses] = {};
    unsigned char* to[Shape::accesses] = {};
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < Shape::accesses; ++i) {
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
  const size_type first = warp * Shape::warp_structures;
  if (first >= arguments.count) { return; }
  if (arguments.count - first < Shape::warp_structures) {
    move_accesses<Shape, ToPlanes>(arguments, first * Shape::struct_accesses + lane_index(),
                                   arguments.count * Shape::struct_accesses, 32);
    return;
  }
  // One segment of structures, and one of each plane. Of a segment of 32 * n words lane l holds the n words from word l * n on;
  // it is moved by accesses in striped order, between which and those words the warp exchanges.
  constexpr int loads = ToPlanes ? 1 : Shape::planes;
  constexpr int stores = ToPlanes ? Shape::planes : 1;
  constexpr int load_words = Shape::words / loads;
  constexpr int store_words = Shape::words / stores;
  using loaded_word = segment_word<load_words>;
  using stored_word = segment_word<store_words>;
  constexpr unsigned load_count = 4 * load_words / sizeof(loaded_word);
  constexpr unsigned store_count = 4 * store_words / sizeof(stored_word);
  const auto segment = [&](bool of_plane, int k, int r) {
    const size_type at = first + static_cast<size_type>(r) * round_structs;
    return of_plane ? arguments.planes[k] + at * Shape::element_bytes
                    : arguments.structs + at * Shape::struct_bytes;
  };
  loaded_word loaded[rounds][loads][load_count];
  TILETRANSPOSE_UNROLL
  for (int r = 0; r < rounds; ++r) {
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < loads; ++k) {
      const unsigned char* const from = segment(!ToPlanes, k, r);
      const unsigned lane = lane_index();
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < load_count; ++i) {
        const unsigned byte = (32 * i + lane) * sizeof(loaded_word);
        loaded[r][k][i] = load_constant<loaded_word>(from + byte);
      }
    }
  }
  TILETRANSPOSE_UNROLL
  for (int r = 0; r < rounds; ++r) {
    unsigned words[Shape::words];
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < loads; ++k) {
      warp_striped_to_blocked(static_warp{}, loaded[r][k]);
      copy_bytes(words + k * load_words, loaded[r][k], sizeof loaded[r][k]);
    }
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < stores; ++k) {
      unsigned part[store_words];
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < store_words; ++w) {
        part[w] = pick_word(words, [=](int i) {
          const int byte = 4 * w + i;
          const int to = byte / Shape::element_bytes;  // an element
          const int of = ToPlanes ? to * Shape::planes + k
                                  : to % Shape::planes * Shape::structures + to / Shape::planes;
          return of * Shape::element_bytes + byte % Shape::element_bytes;
        });
      }
      stored_word stored[store_count];
      copy_bytes(stored, part, sizeof stored);
      warp_blocked_to_striped(static_warp{}, stored);
      unsigned char* const to = segment(ToPlanes, k, r);
      const unsigned lane = lane_index();
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < store_count; ++i) {
        store_global(to + (32 * i + lane) * sizeof(stored_word), stored[i]);
      }
    }
  }
}

inline constexpr int most_planes = 16;

/// `structures` of `planes` elements each, and as many elements in each plane.
struct plane_request {
  const void* structs;
  const void* plane[most_planes];
  size_type planes;
  size_type structures;
  size_type element;  ///< bytes
  size_type alignment;
  bool to_planes;  ///< the planes are written, else the structures
};

template <bool ToPlanes, class T, class Element, std::size_t Planes>
plane_request make_planes(const void* structs, Element* const (&planes)[Planes], size_type n) {
  plane_request request{structs, {}, Planes, n, sizeof(T), alignof(T), ToPlanes};
  for (std::size_t k = 0; k < Planes; ++k) { request.plane[k] = planes[k]; }
  return request;
}

inline verdict examine(const plane_request& request) {
  if (request.structures == 0) { return nothing_to_move; }
  size_type bytes = 0;  // of a plane
  size_type all = 0;
  const bool fits = multiplies(request.structures, request.element, bytes) &&
                    multiplies(request.planes, bytes, all);
  if (!fits) { all = ~size_type{0}; }
  used_memory memory[most_planes + 1] = {{request.structs, all, !request.to_planes}};
  for (size_type k = 0; k < request.planes; ++k) {
    memory[k + 1] = {request.plane[k], bytes, request.to_planes};
  }
  return examine_memory(memory, request.planes + 1, request.alignment);
}

/// Planes that lie equally far apart, in either direction, are the rows of a matrix, which is the transpose of that of the
/// structures. True, with the matrix, where a request that may go is one.
inline bool is_transpose(const plane_request& request, batch_problem& problem) {
  const auto address = [&](size_type k) { return reinterpret_cast<size_type>(request.plane[k]); };
  const size_type step = address(1) - address(0);
  const size_type distance = address(1) > address(0) ? step : 0 - step;
  if (distance < request.structures * request.element || distance % request.element != 0) {
    return false;
  }
  for (size_type k = 2; k < request.planes; ++k) {
    if (address(k) - address(k - 1) != step) { return false; }
  }
  void* const first = const_cast<void*>(request.plane[0]);
  void* const structs = const_cast<void*>(request.structs);
  const size_type struct_bytes = request.planes * request.element;
  const size_type n = request.structures;
  problem = {{first, structs, step, struct_bytes, 0, 0, n, request.planes, false}, 1};
  if (request.to_planes) {
    problem = {{structs, first, struct_bytes, step, 0, 0, request.planes, n, false}, 1};
  }
  return true;
}

/// Returns use(shape): in registers where these hold the structures of a lane, and all addresses are multiples of its accesses.
template <int ElementBytes, int Alignment, int Planes, class Use>
auto with_plane_shape(const plane_request& request, Use use) {
  const auto struct_bits = reinterpret_cast<size_type>(request.structs);
  size_type plane_bits = 0;
  for (int k = 0; k < Planes; ++k) { plane_bits |= reinterpret_cast<size_type>(request.plane[k]); }
  return with_access<ElementBytes, Alignment>(struct_bits | plane_bits, [&](auto width) {
    constexpr int access = decltype(width)::value;
    using in_registers = plane_shape<ElementBytes, access, Planes, true>;
    using by_accesses = plane_shape<ElementBytes, access, Planes, false>;
    constexpr int struct_access = access_width(4 * in_registers::words);
    constexpr int plane_access = access_width(4 * in_registers::plane_words);
    if constexpr (4 * in_registers::words > most_lane_bytes) {
      return use(by_accesses{});
    } else if constexpr (access >= struct_access && access >= plane_access) {
      return use(in_registers{});
    } else {
      return struct_bits % struct_access == 0 && plane_bits % plane_access == 0
                 ? use(in_registers{})
                 : use(by_accesses{});
    }
  });
}

/// Calls launch(plan) for each launch until one fails; the plan's arguments are its structures.
template <class Shape, class Launch>
auto plan_planes(size_type structures, Launch launch)
    -> decltype(launch(launch_plan<size_type>{})) {
  constexpr size_type most = max_blocks / 4 * Shape::block_bytes / Shape::struct_bytes;
  decltype(launch(launch_plan<size_type>{})) status{};
  for (; structures > 0 && status == decltype(status){}; structures -= smaller(structures, most)) {
    const size_type count = smaller(structures, most);
    status = launch(launch_plan<size_type>{
        count, divide_up(count * Shape::struct_bytes, Shape::block_bytes), Shape::threads, 0});
  }
  return status;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
