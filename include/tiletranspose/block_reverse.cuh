// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A block-wide reverse of an array that fits shared memory, in the two forms that every introduction to
/// shared memory shows: an array whose size the compiler knows, and one in dynamic shared memory.

#pragma once

#include <tiletranspose/tile_io.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// The size of a `block_reverse` whose shared memory is handed over at run time.
inline constexpr int dynamic_size = -1;

namespace detail {

/// The two halves of a reverse through shared memory. Threads take consecutive accesses of an element, so that
/// both global accesses are coalesced whatever the element's size.
template <class Group, class T>
TILETRANSPOSE_FUNCTION void stage_array(Group group, unsigned char* shared, const T* in,
                                        unsigned count) {
  using accesses = element_accesses<T>;
  const auto* const from = detail::as_bytes(in);
  for (unsigned at = group.thread_rank(); at < count * accesses::parts; at += group.size()) {
    store_shared(shared + at * accesses::bytes,
                 load_global<typename accesses::word>(from + at * accesses::bytes));
  }
}

template <class Group, class T>
TILETRANSPOSE_FUNCTION void unstage_reversed(Group group, T* out, const unsigned char* shared,
                                             unsigned count) {
  using accesses = element_accesses<T>;
  auto* const to = detail::as_bytes(out);
  for (unsigned at = group.thread_rank(); at < count * accesses::parts; at += group.size()) {
    const unsigned mirrored =
        (count - 1 - at / accesses::parts) * accesses::parts + at % accesses::parts;
    store_global(to + at * accesses::bytes,
                 load_shared<typename accesses::word>(shared + mirrored * accesses::bytes));
  }
}

}  // namespace detail

/// Reverses up to `Size` elements with a group of any size.
///
///     out[i] == in[count - 1 - i]    for 0 <= i < count <= Size
///
///     __global__ void reverse_block(float* data) {
///       using block_reverse = tt::block_reverse<float, 1024>;
///       __shared__ typename block_reverse::storage storage;
///       const tt::static_block<256> block;
///       float* const mine = data + blockIdx.x * std::size_t{1024};
///       block_reverse reverser(storage);
///       reverser.load(block, mine, 1024);
///       block.sync();
///       reverser.store(block, mine, 1024);
///     }
///
/// `out` may be `in`: everything is read before the barrier and written after it.
/// Shared memory: Size * sizeof(T) bytes, rounded up to 16.
template <class T, int Size>
class block_reverse {
  static_assert(detail::check_element<T>(), "");
  static_assert(Size > 0 && Size * sizeof(T) <= default_shared_bytes,
                "tt: a block_reverse holds 1 element to 48 KB of them; for more hand over dynamic "
                "shared memory with tt::block_reverse<T, tt::dynamic_size>");

 public:
  struct alignas(alignof(T) > 16 ? alignof(T) : 16) storage {
    unsigned char bytes[Size * sizeof(T)];
  };

  TILETRANSPOSE_FUNCTION explicit block_reverse(storage& memory) : shared_(memory.bytes) {}

  /// Takes in[0 .. count). The caller owes group.sync() before `store`.
  /// Precondition: count <= Size.
  template <class Group>
  TILETRANSPOSE_FUNCTION void load(Group group, const T* in, unsigned count = Size,
                                   detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    check_count(count);
    detail::stage_array(group, shared_, in, count);
  }

  /// Writes out[0 .. count). The caller owes group.sync() before the next `load`.
  template <class Group>
  TILETRANSPOSE_FUNCTION void store(Group group, T* out, unsigned count = Size,
                                    detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    check_count(count);
    detail::unstage_reversed(group, out, shared_, count);
  }

 private:
  TILETRANSPOSE_FUNCTION static void check_count(unsigned count) {
    TILETRANSPOSE_TELL_MACHINE(
        check_array(count > Size ? count - 1 : 0, Size, detail::access_site::at()));
    (void)count;
  }

  unsigned char* shared_;
};

/// The same for shared memory whose size the launch decides: `shared` holds as many elements as the counts
/// that `load` and `store` are called with, and is aligned as T.
///
///     __global__ void reverse_block(float* data, unsigned count) {
///       extern __shared__ float shared[];            // launched with count * sizeof(float) bytes
///       const tt::static_block<256> block;
///       float* const mine = data + blockIdx.x * std::size_t{count};
///       tt::block_reverse<float, tt::dynamic_size> reverser(shared);
///       reverser.load(block, mine, count);
///       block.sync();
///       reverser.store(block, mine, count);
///     }
template <class T>
class block_reverse<T, dynamic_size> {
  static_assert(detail::check_element<T>(), "");

 public:
  TILETRANSPOSE_FUNCTION explicit block_reverse(T* shared) : shared_(detail::as_bytes(shared)) {}

  /// Takes in[0 .. count). The caller owes group.sync() before `store`.
  template <class Group>
  TILETRANSPOSE_FUNCTION void load(Group group, const T* in, unsigned count,
                                   detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    detail::stage_array(group, shared_, in, count);
  }

  /// Writes out[0 .. count). The caller owes group.sync() before the next `load`.
  template <class Group>
  TILETRANSPOSE_FUNCTION void store(Group group, T* out, unsigned count,
                                    detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    detail::unstage_reversed(group, out, shared_, count);
  }

 private:
  unsigned char* shared_;
};

TILETRANSPOSE_NAMESPACE_END
