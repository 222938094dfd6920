// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Dynamic shared memory from one description: `smem_layout` counts the bytes of a launch on the host and
/// hands out aligned, typed, disjoint parts on the device.
///
///     template <class Smem>
///     __global__ void kernel(Smem smem) {
///       auto [i, f, c] = smem.carve(tt::dynamic_smem());    // int*, float*, char*
///       ...
///     }
///
///     const tt::smem_layout smem{tt::smem_array<int>(ni), tt::smem_array<float>(nf),
///                                tt::smem_array<char>(nc)};
///     cudaError_t status = tt::allow_dynamic_smem(kernel<decltype(smem)>, smem.bytes());
///     kernel<<<grid, block, smem.bytes(), stream>>>(smem);
///
/// Parts come in the order written, each at the next multiple of its alignment; from the largest alignment to
/// the smallest they leave no gaps. CUDA promises only that dynamic shared memory starts at a multiple of 16
/// bytes, whatever a declaration asks for; where a part needs more, `bytes()` has room to spare and `carve()`
/// aligns.
///
/// A part is any trivially copyable type with
///
///     alignment        static constexpr, in bytes
///     bytes()          what it takes, constexpr; detail::too_many_bytes where that cannot be counted
///     at(memory)       what `carve` hands out for it, given its first byte
///
/// A part without data members is taken to have a size that the compiler knows.

#pragma once

#include <tiletranspose/shared_array.cuh>

#if !defined(__CUDACC_RTC__)
#include <cassert>  // NVRTC has the macro built in
#endif
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <tiletranspose/detail/core/start_kernel.cuh>
#endif

TILETRANSPOSE_NAMESPACE_BEGIN

/// What can be counted on for the start of dynamic shared memory, in bytes.
inline constexpr size_type dynamic_smem_alignment = 16;

/// The largest alignment that a part may ask for, in bytes: what the widest swizzle of the bulk tensor
/// engine needs.
inline constexpr size_type max_smem_alignment = 1024;

namespace detail {

/// The number of bytes that no launch can have: whoever counts beyond `most_smem_bytes` gets it, and adding
/// to it changes nothing. All of its bits are set, so that no narrowing makes a small number of it.
inline constexpr size_type too_many_bytes = ~size_type{0};
inline constexpr size_type most_smem_bytes = (size_type{1} << 31) - 1;

TILETRANSPOSE_HOST_DEVICE constexpr size_type smem_product(size_type count, size_type bytes) {
  return count > most_smem_bytes / bytes ? too_many_bytes : count * bytes;
}
TILETRANSPOSE_HOST_DEVICE constexpr size_type smem_sum(size_type a, size_type b) {
  return a > most_smem_bytes || b > most_smem_bytes - a ? too_many_bytes : a + b;
}
TILETRANSPOSE_HOST_DEVICE constexpr size_type smem_aligned(size_type bytes, size_type alignment) {
  const size_type padded = smem_sum(bytes, alignment - 1);
  return padded == too_many_bytes ? too_many_bytes : padded / alignment * alignment;
}

template <size_type Alignment, size_type Least>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_smem_alignment() {
  static_assert(
      Alignment >= Least && Alignment <= max_smem_alignment && (Alignment & (Alignment - 1)) == 0,
      "tt: the alignment of a part of shared memory must be a power of two, at least its "
      "type's own and at most 1024");
  return true;
}

}  // namespace detail

template <class T, size_type Length, size_type Alignment>
class checked_smem_array;

/// A part of shared memory: an array of T, handed out as T*. Its elements are memory, not objects: nothing
/// is constructed and nothing is zero.
///
///     tt::smem_array<float>(n)                    // n floats, known when the program runs
///     tt::smem_array<float, 256>()                // 256 floats, known to the compiler
///     tt::smem_array<float>(n).aligned<128>()     // n floats, the first at a multiple of 128 bytes
///     tt::smem_array<float>(n).checked()          // handed out as tt::shared_array<float>, which the emulator watches
///
/// \tparam T          any type: elements, cub's TempStorage, barriers, a union of what is never needed at once
/// \tparam Length     elements, or run_time_length
/// \tparam Alignment  of the first element, in bytes: a power of two from alignof(T) to 1024
template <class T, size_type Length = run_time_length, size_type Alignment = alignof(T)>
class smem_array : public detail::smem_length<Length> {
  static_assert(detail::check_smem_alignment<Alignment, alignof(T)>(), "");

 public:
  static constexpr size_type alignment = Alignment;

  using detail::smem_length<Length>::smem_length;

  /// The same array, its start at a multiple of `Bytes` bytes.
  template <size_type Bytes>
  TILETRANSPOSE_HOST_DEVICE constexpr smem_array<T, Length, Bytes> aligned() const {
    if constexpr (Length == run_time_length) {
      return smem_array<T, Length, Bytes>(this->length());
    } else {
      return smem_array<T, Length, Bytes>();
    }
  }

  /// The same array, handed out as a `shared_array`.
  TILETRANSPOSE_HOST_DEVICE constexpr checked_smem_array<T, Length, Alignment> checked() const {
    if constexpr (Length == run_time_length) {
      return checked_smem_array<T, Length, Alignment>(this->length());
    } else {
      return checked_smem_array<T, Length, Alignment>();
    }
  }

  TILETRANSPOSE_HOST_DEVICE constexpr size_type bytes() const {
    return detail::smem_product(this->length(), sizeof(T));
  }
  TILETRANSPOSE_FUNCTION T* at(unsigned char* memory) const { return reinterpret_cast<T*>(memory); }
};

/// A part of shared memory: an array of T, handed out as a `shared_array`. What `smem_array::checked` returns.
template <class T, size_type Length, size_type Alignment>
class checked_smem_array : public smem_array<T, Length, Alignment> {
 public:
  using smem_array<T, Length, Alignment>::smem_array;

  template <size_type Bytes>
  TILETRANSPOSE_HOST_DEVICE constexpr checked_smem_array<T, Length, Bytes> aligned() const {
    return smem_array<T, Length, Alignment>::template aligned<Bytes>().checked();
  }

  TILETRANSPOSE_FUNCTION shared_array<T, Length> at(unsigned char* memory) const {
    auto* const data = reinterpret_cast<T*>(memory);
    if constexpr (Length == run_time_length) {
      return shared_array<T, Length>(data, this->length());
    } else {
      return shared_array<T, Length>(data);
    }
  }
};

/// A part of shared memory: `Length` barriers, handed out as Barrier*. Whoever uses them initialises them
/// first, and the block synchronises.
///
///     tt::smem_barrier<cuda::barrier<cuda::thread_scope_block>>()
///     tt::smem_barrier<std::uint64_t, 4>()         // for cuda::ptx::mbarrier_init and its kin
template <class Barrier, size_type Length = 1>
using smem_barrier = smem_array<Barrier, Length, (alignof(Barrier) < 8 ? 8 : alignof(Barrier))>;

/// A part of shared memory: the storage of one `shared_tile`, handed out as the tile.
///
///     tt::smem_tile<tile_type>()                   // at a multiple of 16 bytes, or of the element's alignment
///     tt::smem_tile<tile_type>().aligned<128>()
template <class Tile, size_type Alignment = alignof(typename Tile::storage)>
class smem_tile {
  static_assert(detail::check_smem_alignment<Alignment, alignof(typename Tile::storage)>(), "");

 public:
  static constexpr size_type alignment = Alignment;

  template <size_type Bytes>
  TILETRANSPOSE_HOST_DEVICE constexpr smem_tile<Tile, Bytes> aligned() const {
    return {};
  }

  TILETRANSPOSE_HOST_DEVICE constexpr size_type bytes() const {
    return sizeof(typename Tile::storage);
  }
  TILETRANSPOSE_FUNCTION Tile at(unsigned char* memory) const {
    return Tile(*reinterpret_cast<typename Tile::storage*>(memory));
  }
};

namespace detail {

/// An index in brackets, which have no room for the place of their use.
struct placed_index {
  unsigned value;
  access_site site;

  template <class Index>
  TILETRANSPOSE_FUNCTION placed_index(Index index, access_site here = access_site::at())
      : value(static_cast<unsigned>(index)), site(here) {}
};

}  // namespace detail

/// `Count` tiles of one kind, such as the stages of a pipeline: `tiles[i]` is tile i.
template <class Tile, int Count, size_type PitchBytes = sizeof(typename Tile::storage)>
class tile_array {
 public:
  static constexpr int count = Count;

  TILETRANSPOSE_FUNCTION explicit tile_array(unsigned char* memory) : memory_(memory) {}

  /// Precondition: i < Count, which the emulator checks.
  TILETRANSPOSE_FUNCTION Tile operator[](detail::placed_index i) const {
    TILETRANSPOSE_TELL_MACHINE(check_array(i.value, Count, i.site));
    return Tile(
        *reinterpret_cast<typename Tile::storage*>(memory_ + i.value * unsigned{PitchBytes}));
  }

 private:
  unsigned char* memory_;
};

/// A part of shared memory: the storage of `Count` tiles, handed out as a `tile_array`. Every tile starts at
/// a multiple of the alignment.
template <class Tile, int Count, size_type Alignment = alignof(typename Tile::storage)>
class smem_tiles {
  static_assert(detail::check_smem_alignment<Alignment, alignof(typename Tile::storage)>(), "");
  static_assert(Count > 0, "tt: smem_tiles needs at least one tile");
  static constexpr size_type pitch_bytes =
      detail::smem_aligned(sizeof(typename Tile::storage), Alignment);

 public:
  static constexpr size_type alignment = Alignment;

  template <size_type Bytes>
  TILETRANSPOSE_HOST_DEVICE constexpr smem_tiles<Tile, Count, Bytes> aligned() const {
    return {};
  }

  TILETRANSPOSE_HOST_DEVICE constexpr size_type bytes() const {
    return detail::smem_product(Count, pitch_bytes);
  }
  TILETRANSPOSE_FUNCTION tile_array<Tile, Count, pitch_bytes> at(unsigned char* memory) const {
    return tile_array<Tile, Count, pitch_bytes>(memory);
  }
};

/// Shared memory and how much of it there is.
struct smem_region {
  unsigned char* data;
  size_type bytes;
};

namespace detail {

template <size_type... Is>
struct indices {};
template <size_type Count, size_type... Is>
struct make_indices : make_indices<Count - 1, Count - 1, Is...> {};
template <size_type... Is>
struct make_indices<0, Is...> {
  using type = indices<Is...>;
};

/// One of a row of values: the index tells values of one type apart.
template <size_type Index, class Value>
struct indexed {
  Value value;
};

/// A row of values: what std::tuple would be, which NVRTC does not have. An aggregate of trivially copyable
/// values is trivially copyable, so it may be an argument of a kernel.
template <class Indices, class... Values>
struct row_of_indexed;
template <size_type... Is, class... Values>
struct row_of_indexed<indices<Is...>, Values...> : indexed<Is, Values>... {};
template <class... Values>
using row_of = row_of_indexed<typename make_indices<sizeof...(Values)>::type, Values...>;

template <size_type Index, class Value>
TILETRANSPOSE_HOST_DEVICE constexpr const Value& value_at(const indexed<Index, Value>& one) {
  return one.value;
}

template <class... Parts>
TILETRANSPOSE_HOST_DEVICE constexpr size_type largest_alignment() {
  size_type largest = 1;
  ((largest = Parts::alignment > largest ? Parts::alignment : largest), ...);
  return largest;
}

/// How many of the first parts have lengths that the compiler knows: they carry no data.
template <class... Parts>
TILETRANSPOSE_HOST_DEVICE constexpr size_type fixed_parts() {
  size_type count = 0;
  static_cast<void>(((__is_empty(Parts) && ++count > 0) && ...));
  return count;
}

template <class Part>
TILETRANSPOSE_HOST_DEVICE constexpr size_type fixed_bytes() {
  if constexpr (__is_empty(Part)) {
    return Part{}.bytes();
  } else {
    return 0;
  }
}

/// SFINAE: for layouts that are made without their parts.
template <bool KnowsAll>
struct if_known {};
template <>
struct if_known<true> {
  using type = int;
};

/// Where part `index` starts.
/// Precondition: index <= fixed_parts<Parts...>().
template <class... Parts>
TILETRANSPOSE_HOST_DEVICE constexpr size_type fixed_offset(size_type index) {
  const size_type alignments[] = {Parts::alignment...};
  const size_type bytes[] = {fixed_bytes<Parts>()...};
  size_type end = 0;
  for (size_type i = 0; i < index; ++i) {
    end = smem_sum(smem_aligned(end, alignments[i]), bytes[i]);
  }
  return smem_aligned(end, alignments[index]);
}

/// Stops whoever carves more than there is, by the assertion that host and device both have: what printf
/// wrote may be lost when a kernel is stopped.
TILETRANSPOSE_FUNCTION void check_carve(size_type needed, size_type given) {
  assert(needed <= given &&
         "tt: smem_layout::carve needs more dynamic shared memory than the launch gave; make "
         "smem.bytes() the launch's third argument");
  (void)needed;
  (void)given;
}

}  // namespace detail

/// What `smem_layout::carve` returns: the handles of the parts, for structured bindings to take apart.
/// Members instead of the protocol of std::tuple: that one needs declarations in namespace std, which NVRTC
/// has not got and each version of CUDA's own library makes differently.
template <class... Handles>
struct carved_smem;
// clang-format off
template <class A>
struct carved_smem<A> { A a; };
template <class A, class B>
struct carved_smem<A, B> { A a; B b; };
template <class A, class B, class C>
struct carved_smem<A, B, C> { A a; B b; C c; };
template <class A, class B, class C, class D>
struct carved_smem<A, B, C, D> { A a; B b; C c; D d; };
template <class A, class B, class C, class D, class E>
struct carved_smem<A, B, C, D, E> { A a; B b; C c; D d; E e; };
template <class A, class B, class C, class D, class E, class F>
struct carved_smem<A, B, C, D, E, F> { A a; B b; C c; D d; E e; F f; };
template <class A, class B, class C, class D, class E, class F, class G>
struct carved_smem<A, B, C, D, E, F, G> { A a; B b; C c; D d; E e; F f; G g; };
template <class A, class B, class C, class D, class E, class F, class G, class H>
struct carved_smem<A, B, C, D, E, F, G, H> { A a; B b; C c; D d; E e; F f; G g; H h; };
// clang-format on

/// The description of a block's shared memory: a row of parts. Trivially copyable; an argument of the kernel.
///
///     offset<0>() == 0
///     offset<i>() == offset<i - 1>() + bytes of part i - 1, rounded up to a multiple of part i's alignment
///     bytes() == the end of the last part + (alignment > 16 ? alignment - 16 : 0)
///
/// constexpr where the lengths are: `static_assert(smem_layout{smem_array<int, 4>()}.bytes() == 16)`. Where the compiler
/// knows all of them the type says everything, so that a kernel needs no argument:
///
///     using fixed_smem = tt::smem_layout<tt::smem_array<int, 64>, tt::smem_array<float, 256>>;
///     auto [bins, values] = fixed_smem().carve(tt::dynamic_smem());    // in a kernel
///     histogram<<<grid, block, fixed_smem().bytes(), stream>>>(data);
///
/// Lengths that are too large do not wrap round: above 2 GB (2^31 - 1 bytes) `bytes()` is the largest size_t,
/// with which every launch fails with cudaErrorInvalidValue and `allow_dynamic_smem` does too. A negative
/// int becomes such a length.
/// Barriers: none. Parts: 1 to 8.
template <class... Parts>
class smem_layout {
  static_assert(sizeof...(Parts) > 0, "tt: a smem_layout needs at least one part");
  static_assert(sizeof...(Parts) <= 8,
                "tt: a smem_layout has at most 8 parts; make one of them a struct");
  static_assert(
      (__is_trivially_copyable(Parts) && ...),
      "tt: the parts of a smem_layout must be trivially copyable; it is a kernel's argument");

 public:
  /// The largest alignment of a part, in bytes; at least 1.
  static constexpr size_type alignment = detail::largest_alignment<Parts...>();

  TILETRANSPOSE_HOST_DEVICE constexpr smem_layout(Parts... parts) : parts_{{parts}...}, starts_{} {
    size_type end = 0;
    size_type* start = starts_;
    ((*start = detail::smem_aligned(end, Parts::alignment),
      end = detail::smem_sum(*start++, parts.bytes())),
     ...);
    *start = end;
  }

  /// Of parts whose lengths the compiler knows.
  template <size_type Known = detail::fixed_parts<Parts...>(),
            typename detail::if_known<Known == sizeof...(Parts)>::type = 0>
  TILETRANSPOSE_HOST_DEVICE constexpr smem_layout() : smem_layout(Parts{}...) {}

  /// Part `Index` itself, for its length().
  template <size_type Index>
  TILETRANSPOSE_HOST_DEVICE constexpr const auto& part() const {
    static_assert(Index < sizeof...(Parts), "tt: a smem_layout has no part of that index");
    return detail::value_at<Index>(parts_);
  }

  /// Where part `Index` starts, in bytes from the aligned start of all.
  template <size_type Index>
  TILETRANSPOSE_HOST_DEVICE constexpr size_type offset() const {
    static_assert(Index < sizeof...(Parts), "tt: a smem_layout has no part of that index");
    // The compiler knows where a part starts if it knows what comes before; the others were added up on the host.
    if constexpr (detail::fixed_parts<Parts...>() >= Index) {
      constexpr size_type fixed = detail::fixed_offset<Parts...>(Index);
      return fixed;
    } else {
      return starts_[Index];
    }
  }

  /// What the launch must ask for: its third argument, in bytes.
  TILETRANSPOSE_HOST_DEVICE constexpr size_type bytes() const {
    return detail::smem_sum(starts_[sizeof...(Parts)], slack);
  }

  /// The parts in dynamic shared memory. Every thread calls, or those that need the parts: it is arithmetic.
  /// In debug builds (without NDEBUG) a kernel whose launch gave fewer than bytes() bytes is stopped with a message.
  TILETRANSPOSE_FUNCTION auto carve(smem_region memory) const {
    detail::check_carve(bytes(), memory.bytes);
    return carve(memory.data);
  }

  /// The same in any other shared memory, such as a static array.
  /// Precondition: `memory` is a multiple of 16 bytes, or of `alignment` if that is less, and has bytes() bytes.
  TILETRANSPOSE_FUNCTION auto carve(unsigned char* memory) const {
    if constexpr (alignment > dynamic_smem_alignment) {
      // Pointer arithmetic: a pointer made of an integer would lose its address space.
      const size_type past = reinterpret_cast<size_type>(memory) % alignment;
      memory += past == 0 ? 0 : alignment - past;
    }
    return carve_aligned(memory, typename detail::make_indices<sizeof...(Parts)>::type{});
  }

 private:
  static constexpr size_type slack =
      alignment > dynamic_smem_alignment ? alignment - dynamic_smem_alignment : 0;

  template <size_type... Is>
  TILETRANSPOSE_FUNCTION auto carve_aligned(unsigned char* memory, detail::indices<Is...>) const {
    return carved_smem<decltype(part<Is>().at(memory))...>{part<Is>().at(memory + offset<Is>())...};
  }

  detail::row_of<Parts...> parts_;
  size_type starts_[sizeof...(Parts) + 1];  // of every part, and the end of the last
};

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

/// The dynamic shared memory of the block: its start and the bytes that the launch asked for.
/// One symbol of one type serves every kernel, so that templates which need different types do not clash.
__device__ TILETRANSPOSE_INLINE smem_region dynamic_smem() {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_smem[];
  unsigned bytes = 0;
#if TILETRANSPOSE_ON_DEVICE
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
#endif
  return {tiletranspose_dynamic_smem, bytes};
}

#endif

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)

/// Lets `kernel` be launched on the current device with `bytes` bytes of dynamic shared memory. Launches
/// with more than 48 KB fail without it. Holds for this device and this instantiation of a kernel template,
/// until the context is destroyed; never lowers what another call allowed, of another thread either, and leaves an
/// error pending that an earlier call left behind.
/// \return cudaSuccess           launches with up to `bytes` bytes may follow
///         cudaErrorNotSupported the device has less shared memory for a block than `bytes` and what the kernel
///                               declares itself; take smaller tiles or fewer stages
///         cudaErrorInvalidValue `kernel` is null, or `bytes` is more than a smem_layout can count
///         or what CUDA says of the kernel or the device
template <class... Arguments>
[[nodiscard]] cudaError_t allow_dynamic_smem(void (*kernel)(Arguments...), size_type bytes) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  if (function == nullptr || bytes > detail::most_smem_bytes) { return cudaErrorInvalidValue; }
  cudaFuncAttributes attributes{};
  cudaError_t status = cudaFuncGetAttributes(&attributes, function);
  if (status != cudaSuccess) { return status; }
  if (bytes <= static_cast<size_type>(attributes.maxDynamicSharedSizeBytes)) { return cudaSuccess; }
  int device = 0;
  status = cudaGetDevice(&device);
  if (status != cudaSuccess) { return status; }
  int most = 0;
  status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status != cudaSuccess) { return status; }
  if (bytes + attributes.sharedSizeBytes > static_cast<size_type>(most)) {
    return cudaErrorNotSupported;
  }
  // All that there are: another thread may just have been allowed more than `bytes`.
  return detail::allow_more_shared_bytes(function,
                                         most - static_cast<int>(attributes.sharedSizeBytes));
}

#endif

TILETRANSPOSE_NAMESPACE_END
