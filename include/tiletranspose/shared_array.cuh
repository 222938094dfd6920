// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// An array in shared memory whose accesses the emulator sees. On the GPU it is a pointer.

#pragma once

#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// The Length of an array whose length its constructor is told.
inline constexpr size_type run_time_length = ~size_type{0};

namespace detail {

template <size_type Length>
class smem_length {
 public:
  TILETRANSPOSE_HOST_DEVICE constexpr size_type length() const { return Length; }
};

template <>
class smem_length<run_time_length> {
 public:
  TILETRANSPOSE_HOST_DEVICE constexpr explicit smem_length(size_type length) : length_(length) {}
  TILETRANSPOSE_HOST_DEVICE constexpr size_type length() const { return length_; }

 private:
  size_type length_;
};

}  // namespace detail

/// An array of T in shared memory that somebody else owns. Its elements are memory, not objects: nothing is
/// constructed and nothing is zero.
///
///     __shared__ float memory[256];
///     const tt::shared_array<float, 256> sums(memory);
///     sums.set(threadIdx.x, value);
///     block.sync();  // owed
///     float other = sums.get(255 - threadIdx.x);
///
/// The emulator reports indices that the array does not have, races, and elements that are read before they are
/// written; `data()` goes past it. `smem_array::checked()` carves such arrays. The object is a handle: copying it
/// copies a pointer.
/// \tparam T       trivially copyable, of 1 to 64 bytes
/// \tparam Length  elements, or run_time_length
template <class T, size_type Length = run_time_length>
class shared_array : public detail::smem_length<Length> {
  static_assert(detail::check_element<T>(), "");

 public:
  using element = T;

  /// Of a length that the compiler knows.
  TILETRANSPOSE_FUNCTION explicit shared_array(T* data) : data_(data) {}
  /// Of run_time_length.
  TILETRANSPOSE_FUNCTION shared_array(T* data, size_type length)
      : detail::smem_length<Length>(length), data_(data) {}

  TILETRANSPOSE_FUNCTION T* data() const { return data_; }

  /// Element `index`. Precondition: index < length(). The caller owes a barrier after another thread's `set`.
  TILETRANSPOSE_FUNCTION typename detail::returned<T>::type get(
      size_type index, detail::access_site site = detail::access_site::at()) const {
    TILETRANSPOSE_TELL_MACHINE(check_array(index, this->length(), site));
    if constexpr (detail::check_returned<T>()) {
      return detail::load_shared<T>(data_ + index, site);
    }
  }
  /// Makes element `index` `value`. The caller owes a barrier before another thread's `get`, and after it.
  TILETRANSPOSE_FUNCTION void set(size_type index, const T& value,
                                  detail::access_site site = detail::access_site::at()) const {
    TILETRANSPOSE_TELL_MACHINE(check_array(index, this->length(), site));
    detail::store_shared<T>(data_ + index, value, site);
  }

 private:
  T* data_;
};

TILETRANSPOSE_NAMESPACE_END
