// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The two things that tiles travel between: `matrix_view`, a matrix in global memory, and
/// `shared_tile`, a tile in shared memory.

#pragma once

#include <tiletranspose/config.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

namespace detail {

template <class T>
struct remove_const {
  using type = T;
};
template <class T>
struct remove_const<const T> {
  using type = T;
};

template <class T>
inline constexpr bool is_qualified = false;  // const or volatile
template <class T>
inline constexpr bool is_qualified<const T> = true;
template <class T>
inline constexpr bool is_qualified<volatile T> = true;
template <class T>
inline constexpr bool is_qualified<const volatile T> = true;

template <class A, class B>
inline constexpr bool same_type = false;
template <class A>
inline constexpr bool same_type<A, A> = true;

template <class T>
inline constexpr bool has_size = true;
template <>
inline constexpr bool has_size<void> = false;
template <>
inline constexpr bool has_size<const void> = false;

}  // namespace detail

namespace detail {

/// What `get` of an element returns: of arrays, which are elements that no function can return, nothing.
template <class T>
struct returned : remove_const<T> {};
template <class T, size_type N>
struct returned<T[N]> {
  using type = void;
};

template <class T>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_returned() {
  static_assert(has_size<typename returned<T>::type>,
                "tt: no function can return an array; make a struct of it to get and set elements");
  return has_size<typename returned<T>::type>;
}

}  // namespace detail

template <class T>
struct matrix_view;

namespace detail {

/// What a view converts to: one of const elements, unless it is one, and compilers warn of conversions that never happen.
template <class T>
struct view_to_read {
  using type = matrix_view<const T>;
};
template <class T>
struct view_to_read<const T> {
  struct type;
};

}  // namespace detail

/// A row-major matrix in memory that somebody else owns: element (r, c) is data[r * stride + c]. An aggregate:
///
///     tt::matrix_view<const float> part{in, rows, cols, pitch};    // rows start `pitch` elements apart
///     tt::matrix_view<float> dense{out, rows, cols};               // without a stride: one behind the other
///     tt::matrix_view same{in, rows, cols};                        // its element type is that of the pointer
///
/// A default view is empty, and its stride is 0: code that sets the members one by one sets the stride, too, which does not
/// follow `cols`. With a stride of 0 every row is the first; calls from the host refuse several such rows.
/// A view of elements that may be written converts to one of const elements.
template <class T>
struct matrix_view {
  static_assert(detail::has_size<T>,
                "tt: void has no size; cast the pointer to the type of the elements, or to one of "
                "their size and alignment");

  T* data = nullptr;
  size_type rows = 0;
  size_type cols = 0;
  size_type stride = cols;  ///< elements from the start of a row to the start of the next

  TILETRANSPOSE_HOST_DEVICE constexpr operator typename detail::view_to_read<T>::type() const {
    return {data, rows, cols, stride};
  }

  /// Element (row, col), for device code; data is global memory.
  /// Precondition: row < rows, col < cols.
  TILETRANSPOSE_FUNCTION typename detail::returned<T>::type get(
      size_type row, size_type col, detail::access_site site = detail::access_site::at()) const {
    TILETRANSPOSE_TELL_MACHINE(check_matrix(row, col, rows, cols, site));
    if constexpr (detail::check_returned<T>()) {
      return detail::load_global<typename detail::returned<T>::type>(data + row * stride + col,
                                                                     site);
    }
  }
  /// Makes element (row, col) `value`, likewise.
  TILETRANSPOSE_FUNCTION void set(size_type row, size_type col, const T& value,
                                  detail::access_site site = detail::access_site::at()) const {
    static_assert(!detail::is_qualified<T>,
                  "tt: a matrix_view<const T> is read; take a matrix_view<T> to set elements");
    TILETRANSPOSE_TELL_MACHINE(check_matrix(row, col, rows, cols, site));
    detail::store_global<T>(data + row * stride + col, value, site);
  }
};

template <class T>
matrix_view(T*, size_type, size_type) -> matrix_view<T>;
template <class T>
matrix_view(T*, size_type, size_type, size_type) -> matrix_view<T>;

namespace detail {

/// What every function of the library asks of an element type.
template <class T>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_element() {
  static_assert(has_size<T>,
                "tt: void has no size; cast the pointer to the type of the elements, or to one of "
                "their size and alignment");
  static_assert(!has_size<T> || !is_qualified<T>,
                "tt: the element type must not be const or volatile; elements are moved by their "
                "bytes, and written");
  if constexpr (has_size<T>) {
    static_assert(__is_trivially_copyable(T),
                  "tt: the element type must be trivially copyable; the library moves its bytes");
    static_assert(sizeof(T) <= max_element_bytes,
                  "tt: elements may have 1 to 64 bytes; move larger ones by their parts");
  }
  return true;
}

/// Whether it is one: what follows a broken rule is not instantiated, where that would say more.
template <class T>
TILETRANSPOSE_HOST_DEVICE constexpr bool is_element() {
  if constexpr (has_size<T>) {
    return !is_qualified<T> && __is_trivially_copyable(T) && sizeof(T) <= max_element_bytes;
  }
  return false;
}

/// What a tile of T asks of the matrix that it is filled from.
template <class T, class Element>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_source() {
  static_assert(same_type<typename remove_const<Element>::type, T>,
                "tt: a tile is filled from a matrix of its own element type; convert by "
                "matrix_view::get and shared_tile::set");
  return true;
}

/// What it asks of the matrix that it is written to.
template <class T, class Element>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_target() {
  static_assert(same_type<Element, T>,
                "tt: a tile is written to a matrix of its own element type, which is not const; "
                "convert by shared_tile::get and matrix_view::set");
  return true;
}

/// A type without meaning: what is left of T when only its bytes are moved, so that all types of one size
/// and alignment share one kernel.
template <int Bytes, int Alignment>
struct alignas(Alignment) element {
  unsigned char bytes[Bytes];
};

}  // namespace detail

/// A tile of `Layout` in shared memory. The caller owns the storage, which may sit in a union with other
/// storage:
///
///     using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;
///     __shared__ typename tile_type::storage storage;
///     tile_type tile(storage);
///
/// The object is a handle: copying it copies a pointer. Shared memory: sizeof(storage) ==
/// Layout::size * sizeof(T), rounded up to 16 bytes.
template <class T, class Layout>
class shared_tile {
  static_assert(detail::check_element<T>(), "");
  static_assert(sizeof(typename Layout::element) == sizeof(T),
                "tt: the layout of a shared_tile must be a layout of its own element type");

 public:
  using element = T;
  using layout = Layout;
  static constexpr int rows = Layout::rows;
  static constexpr int cols = Layout::cols;

  /// What the kernel declares `__shared__`: bytes, without constructor, at a multiple of 16 or of T's alignment.
  struct alignas(alignof(T) > 16 ? alignof(T) : 16) storage {
    unsigned char bytes[Layout::size * sizeof(T)];
  };

  TILETRANSPOSE_FUNCTION explicit shared_tile(storage& memory) : bytes_(memory.bytes) {}

  /// Where element (row, col) lies.
  /// Precondition: 0 <= row < rows, 0 <= col < cols.
  TILETRANSPOSE_FUNCTION unsigned char* address(
      int row, int col, detail::access_site site = detail::access_site::at()) const {
    (void)site;
    TILETRANSPOSE_TELL_MACHINE(check_tile(row, col, rows, cols, site));
    const int place = Layout{}(row, col);
    if ((place < 0 || place >= static_cast<int>(Layout::size)) && row >= 0 && row < rows &&
        col >= 0 && col < cols) {  // by a layout that asks for too little
      TILETRANSPOSE_TELL_MACHINE(
          check_array(static_cast<unsigned long long>(place), Layout::size, site));
    }
    return bytes_ + place * static_cast<int>(sizeof(T));
  }

  /// Element (row, col). Precondition as above; the caller owes a barrier after another thread's `set`.
  TILETRANSPOSE_FUNCTION typename detail::returned<T>::type get(
      int row, int col, detail::access_site site = detail::access_site::at()) const {
    if constexpr (detail::check_returned<T>()) {
      return detail::load_shared<T>(address(row, col, site), site);
    }
  }
  /// Makes element (row, col) `value`. The caller owes a barrier before another thread's `get`, and after it.
  TILETRANSPOSE_FUNCTION void set(int row, int col, const T& value,
                                  detail::access_site site = detail::access_site::at()) const {
    detail::store_shared<T>(address(row, col, site), value, site);
  }

 private:
  unsigned char* bytes_;
};

TILETRANSPOSE_NAMESPACE_END
