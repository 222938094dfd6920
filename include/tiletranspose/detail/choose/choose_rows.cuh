// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// In what order rows that stay rows are read, which of them are joined, and which kernels calls can need, so that others
/// are not compiled for them: pure functions of sizes. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/choose/tuning_rows.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How the output is found in the input.
enum class row_order {
  forward,   ///< together: where it is
  reversed,  ///< together: elements of 1, 2, 4, 8 or 16 bytes reversed
  vectors,   ///< together: of a multiple of 16 bytes
  words,     ///< word by word: elements of 4 bytes at multiples of 4
  elements,  ///< word by word: elements of 3 to 7 bytes; a word holds bytes of one or two of them
  halves,    ///< word by word: elements of 2 bytes at even addresses
  bytes,     ///< word by word: elements of 1 byte, rows of at least 3
  any,       ///< byte by byte
  accesses,  ///< access by access: elements of 8 bytes or more; an access holds bytes of up to three of them
  grouped  ///< grouped: elements of a size that the kernel is made for
};

/// True where the bytes of an access lie together in the input.
TILETRANSPOSE_HOST_DEVICE constexpr bool lie_together(row_order order) {
  return order <= row_order::vectors;
}

/// Accesses that a thread has under way: more where their words are found one by one in a shared segment, as those of joined
/// rows and of elements that no kernel knows.
TILETRANSPOSE_HOST_DEVICE constexpr int shared_rounds(row_order order) {
  return order >= row_order::words && order <= row_order::any ? word_rounds : row_rounds;
}

/// A kernel: how it finds the output in the input, and the size of the elements that it is made for, or 0.
struct row_choice {
  row_order order;
  int element;

  friend constexpr bool operator==(const row_choice& a, const row_choice& b) {
    return a.order == b.order && a.element == b.element;
  }
};

/// The size of elements that a kernel of their own reverses in groups; 0 where there is none.
constexpr int known_element(int element) {
  const bool is_grouped = element % 2 == 0 || element < least_ungrouped_element;
  return element > 2 && 16 % element != 0 && element % 16 != 0 && is_grouped ? element : 0;
}

/// True where short rows of elements of a size are reversed out of place in panels, whose segments run along many rows:
/// elements that are no words. Of 12 bytes they are as fast as rows, and words of 1 to 16 bytes are reversed in registers.
constexpr bool reverses_in_panels(int element) { return element > 2 && element % 4 != 0; }

/// Blocks of a multiprocessor that a kernel's registers are kept low for.
constexpr int row_blocks(row_order order) {
  return lie_together(order)            ? together_row_blocks
         : order == row_order::any      ? byte_row_blocks
         : order == row_order::accesses ? access_row_blocks
         : order == row_order::grouped  ? grouped_row_blocks
                                        : word_row_blocks;
}

/// Rows up to this size are joined that `kernel` would move one by one.
constexpr size_type most_joined_bytes(row_choice kernel, size_type element, size_type row_bytes) {
  const bool is_reversed = kernel.order == row_order::reversed;
  if (is_reversed && kernel.element <= 4) { return most_joined_word_bytes; }
  const bool by_accesses =
      is_reversed ? kernel.element == 16 || row_bytes % 16 != 0
                  : kernel.order == row_order::grouped && element % 4 == 0 && element >= 12;
  return by_accesses ? most_joined_access_bytes : most_joined_other_bytes;
}

/// What the order depends on: rows of `length` elements.
struct row_shape {
  bool reverses;
  size_type element_bytes;
  size_type length;
  size_type alignment;   ///< every address of an element is a multiple of it
  bool of_rows = false;  ///< elements are rows of a matrix: most of 16 bytes go as whole accesses
};

/// Chooses the kernel. `known` is the size of an element that kernels are made for; `joined` where segments hold several rows.
constexpr row_choice choose_rows(const row_shape& rows, int known, bool joined) {
  if (!rows.reverses) { return {row_order::forward, 0}; }
  const size_type element = rows.element_bytes;
  if (!joined) {
    if (16 % element == 0 && (element < 16 || !rows.of_rows)) {
      return {row_order::reversed, static_cast<int>(element)};
    }
    if (element % 16 == 0 && !rows.of_rows) { return {row_order::vectors, 0}; }
    const size_type least = element < least_large_grouped_element ? least_small_grouped_row_bytes
                                                                  : least_grouped_row_bytes;
    if (element == static_cast<size_type>(known) && element * rows.length >= least) {
      return {row_order::grouped, known};
    }
  }
  if (element >= 8) { return {row_order::accesses, 0}; }
  if (element % 4 == 0 && rows.alignment % 4 == 0) { return {row_order::words, 0}; }
  if (element >= 3) { return {row_order::elements, 0}; }
  const bool whole_words = element == 2 ? rows.alignment % 2 == 0 : rows.length >= 3;
  return {!whole_words ? row_order::any : element == 2 ? row_order::halves : row_order::bytes, 0};
}

/// True where some rows of elements of a size are moved by a kernel; rows that count as elements may have any size from
/// that of their own elements on. An element size of 0 stands for rows that are only copied.
constexpr bool moves_rows_by(row_choice kernel, int element) {
  const row_order order = kernel.order;
  if (order == row_order::forward || element == 0) { return order == row_order::forward; }
  if (order == row_order::reversed) {
    return kernel.element % element == 0 && (kernel.element < 16 || element == 16);
  }
  if (order == row_order::vectors) { return element > 16 && element % 16 == 0; }
  if (order == row_order::grouped) { return kernel.element == element; }
  if (order == row_order::words || order == row_order::elements) { return element < 8; }
  if (order == row_order::halves || order == row_order::any) { return element <= 2; }
  return order != row_order::bytes || element == 1;
}

/// True where some array of elements of a type with this size and alignment is reversed by a kernel: the shortest that are
/// no little work, of which a single element is only copied, or a long one. Between these choose_rows changes its mind
/// once at most.
/// \param known  as for choose_rows
constexpr bool reverses_array_by(row_choice kernel, int element, int alignment, int known) {
  const auto bytes = static_cast<size_type>(element);
  const bool has_little =
      has_little_work(element, access_width(bytes, static_cast<size_type>(alignment)), false);
  const size_type little = has_little ? small_limits_of(element).rows : 0;
  const size_type lengths[] = {little + 1, little + 2, size_type{1} << 40};
  for (const size_type length : lengths) {
    const row_shape array{length > 1, bytes, length, bytes};
    if (choose_rows(array, known, false) == kernel) { return true; }
  }
  return false;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
