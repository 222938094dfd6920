// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Step 1 of a rectangle in place, rectangle_grid.cuh: the elements of a row are permuted in shared memory, together
/// with the squares of step 2 where a block holds a row of those.

#pragma once

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/inplace/rectangle_grid.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Step 1: where the elements of a row come from. A walk visits every `stride`-th of its places.
///
///     place Q * g + s has element s * q + t
///
/// With step 2, place Q * g + i of row s has element s * q + t of row i. So one of s and i is the row's own, the other
/// comes with the place.
struct row_walk {
  struct step {
    unsigned residue;
    unsigned t;

    step() = default;
    step(const rectangle& grid, unsigned stride)
        : residue(stride % grid.common),
          t(static_cast<unsigned>(static_cast<unsigned long long>(stride / grid.common) *
                                  grid.tall_inverse % grid.wide)) {}
  };

  unsigned residue;  ///< s or i
  unsigned t;

  TILETRANSPOSE_FUNCTION row_walk(const rectangle& grid, unsigned row_of_squares, unsigned place) {
    const unsigned quotient = grid.by_common.quotient(place);
    residue = grid.by_common.remainder(place, quotient);
    const unsigned start =
        grid.by_wide.remainder(row_of_squares, grid.by_wide.quotient(row_of_squares));
    t = grid.modulo_wide.remainder(static_cast<unsigned long long>(quotient + grid.wide - start) *
                                   grid.tall_inverse);
  }
  /// `pitch` is what the place's s or i counts: elements of a row, or whole rows.
  TILETRANSPOSE_FUNCTION unsigned element(unsigned pitch) const { return residue * pitch + t; }
  /// True where `count` places from here on have the same Q.
  TILETRANSPOSE_FUNCTION bool stays(const rectangle& grid, unsigned count) const {
    return residue + count <= grid.common;
  }
  TILETRANSPOSE_FUNCTION void advance(const rectangle& grid, const step& by) {
    residue += by.residue;
    t = add_modulo(t, by.t, grid.wide);
    if (residue >= grid.common) {
      residue -= grid.common;
      t = add_modulo(t, grid.tall_inverse, grid.wide);
    }
  }
};

/// Rows whose elements are permuted among themselves.
struct shuffle_arguments {
  unsigned char* data;
  rectangle grid;
  unsigned block_rows;  ///< that a block takes; a multiple of g where squares are transposed
  bool squares;         ///< step 2, too
  unsigned team;  ///< threads that take a row, a power of two, no fewer than accesses of an element
  /// What a thread skips, the accesses or words of the others of its team; one element; and both, its own word too.
  row_walk::step step;
  row_walk::step one;
  row_walk::step word;
};

/// A row of global memory that starts anywhere: accesses up to a word's boundary, words, and accesses.
template <int Access>
struct row_of_words {
  static constexpr unsigned word_accesses = 4 / Access;

  unsigned head;  ///< accesses before the first word
  unsigned words;
  unsigned tail;  ///< accesses behind the last word

  TILETRANSPOSE_FUNCTION row_of_words(const unsigned char* row, unsigned accesses)
      : head(smaller((0u - address_bits(row)) % 4 / Access, accesses)),
        words((accesses - head) / word_accesses),
        tail((accesses - head) % word_accesses) {}

  TILETRANSPOSE_FUNCTION unsigned word(unsigned number) const {
    return head + number * word_accesses;
  }
  /// Threads 0 to 3 take the head, threads 4 to 7 the tail.
  TILETRANSPOSE_FUNCTION bool has_edge(unsigned thread) const {
    return thread < 4 ? thread < head : thread - 4 < tail;
  }
  TILETRANSPOSE_FUNCTION unsigned edge(unsigned thread) const {
    return thread < 4 ? thread : word(words) + thread - 4;
  }
};

/// True where a thread writes words of several elements.
template <int ElementBytes, int Access>
inline constexpr bool gathers_words = ElementBytes <= 2 && Access == ElementBytes;

/// A row of a block, as one of the threads of its team sees it.
template <bool Undo, int ElementBytes, int Access>
struct shuffled_row {
  using word = access_word_t<Access>;
  static constexpr unsigned batch = 4;  // words or accesses under way
  static constexpr unsigned word_elements =
      4 / ElementBytes;  // asked only where words are gathered

  const shuffle_arguments& arguments;
  const rectangle& grid;
  unsigned char*
      elements;  ///< where they come from, in shared memory, from the thread's byte of an element on
  unsigned char* places;  ///< where they belong
  unsigned above;         ///< squares above the row
  unsigned pitch;         ///< what s or i is worth that comes with the place
  unsigned in_team;       ///< the thread

  TILETRANSPOSE_FUNCTION void move_access(unsigned place, unsigned element) const {
    if constexpr (Undo) {
      store_shared(elements + element * ElementBytes,
                   load_global<word>(places + place * ElementBytes));
    } else {
      store_global(places + place * ElementBytes,
                   load_shared<word>(elements + element * ElementBytes));
    }
  }

  /// Calls visit(i, element) for the elements of the next word.
  template <bool Coprime, class Visit>
  TILETRANSPOSE_FUNCTION void next_word(row_walk& walk, Visit visit) const {
    if constexpr (Coprime) {
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < word_elements; ++i) {
        visit(i, walk.t);
        const auto& by = i + 1 < word_elements ? arguments.one : arguments.step;
        walk.t = add_modulo(walk.t, by.t, grid.wide);
      }
    } else {
      row_walk here = walk;
      if (walk.stays(grid, word_elements)) {
        const unsigned first = walk.element(pitch);
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < word_elements; ++i) { visit(i, first + i * pitch); }
      } else {
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < word_elements; ++i) {
          visit(i, here.element(pitch));
          here.advance(grid, arguments.one);
        }
      }
      walk.advance(grid, arguments.word);
    }
  }

  /// Moves the words of the row, element by element.
  template <bool Coprime>
  TILETRANSPOSE_FUNCTION void move_words(const row_of_words<Access>& own_words, unsigned begin,
                                         row_walk& walk) const {
    if constexpr (Undo) {
      for (unsigned number = begin; number < own_words.words; number += batch * arguments.team) {
        unsigned got[batch];
        TILETRANSPOSE_UNROLL
        for (unsigned k = 0; k < batch; ++k) {
          const unsigned at = number + k * arguments.team;
          if (at < own_words.words) {
            got[k] = load_global<unsigned>(places + own_words.word(at) * ElementBytes);
          }
        }
        TILETRANSPOSE_UNROLL
        for (unsigned k = 0; k < batch; ++k) {
          if (number + k * arguments.team >= own_words.words) { break; }
          const loop_step here(k);
          next_word<Coprime>(walk, [&](unsigned i, unsigned element) {
            store_shared(elements + element * ElementBytes,
                         static_cast<word>(got[k] >> 8 * ElementBytes * i));
          });
        }
      }
    } else {
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned number = begin; number < own_words.words; number += arguments.team) {
        unsigned all = 0;
        next_word<Coprime>(walk, [&](unsigned i, unsigned element) {
          all |= static_cast<unsigned>(load_shared<word>(elements + element * ElementBytes))
                 << 8 * ElementBytes * i;
        });
        store_global(places + own_words.word(number) * ElementBytes, all);
      }
    }
  }

  /// The same, and what is left at both ends of the row.
  TILETRANSPOSE_FUNCTION void move_by_words() const {
    const row_of_words<Access> own_words(places, grid.cols);
    // A warp's words start on a line.
    const unsigned skew = address_bits(places + own_words.head * ElementBytes) % 128 / 4;
    const unsigned begin = in_team < skew ? in_team - skew + arguments.team : in_team - skew;
    row_walk walk(grid, above, smaller(own_words.word(begin), grid.cols - 1));
    if (grid.common == 1) {
      move_words<true>(own_words, begin, walk);
    } else {
      move_words<false>(own_words, begin, walk);
    }
    if (in_team < 8 && own_words.has_edge(in_team)) {
      const unsigned place = own_words.edge(in_team);
      move_access(place, row_walk(grid, above, place).element(pitch));
    }
  }

  /// Moves every `stride`-th place of the row from place `start` on.
  TILETRANSPOSE_FUNCTION void move_by_accesses(unsigned start, unsigned stride) const {
    row_walk walk(grid, above, start);
    if constexpr (Undo) {
      for (unsigned place = start; place < grid.cols; place += batch * stride) {
        word got[batch];
        TILETRANSPOSE_UNROLL
        for (unsigned k = 0; k < batch; ++k) {
          if (place + k * stride < grid.cols) {
            got[k] = load_global<word>(places + (place + k * stride) * ElementBytes);
          }
        }
        TILETRANSPOSE_UNROLL
        for (unsigned k = 0; k < batch; ++k) {
          if (place + k * stride < grid.cols) {
            store_shared(elements + walk.element(pitch) * ElementBytes, got[k]);
          }
          walk.advance(grid, arguments.step);
        }
      }
    } else {
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned place = start; place < grid.cols; place += stride) {
        move_access(place, walk.element(pitch));
        walk.advance(grid, arguments.step);
      }
    }
  }
};

/// Step 1 for the rows of a block, or undone: there what follows each other in global memory is scattered.
/// Shared memory: block_rows * n elements and 16 bytes, aligned to 16. Barriers: one, inside.
template <bool Undo, int ElementBytes, int Access, class Group>
TILETRANSPOSE_FUNCTION void shuffle_rows(Group group, unsigned char* shared,
                                         const shuffle_arguments& arguments, unsigned block) {
  using word = access_word_t<Access>;
  constexpr unsigned element_accesses = ElementBytes / Access;
  const rectangle& grid = arguments.grid;
  const unsigned first_row = block * arguments.block_rows;
  const unsigned rows = smaller(grid.rows - first_row, arguments.block_rows);
  const unsigned row_bytes = grid.cols * ElementBytes;
  unsigned char* const data = arguments.data + size_type{first_row} * row_bytes;
  const unsigned rank = group.thread_rank();

  // The rows where elements come from, as far after a multiple of 16 in shared memory as in global memory.
  unsigned char* const copy = shared + address_bits(data) % max_access_bytes;
  const unsigned bytes = rows * row_bytes;
  const unsigned head = smaller((0u - address_bits(data)) % max_access_bytes, bytes);
  const unsigned body = (bytes - head) / max_access_bytes * max_access_bytes;
  const auto each_access = [&](auto whole, auto single) {
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned at = head + rank * max_access_bytes; at < head + body;
         at += group.size() * max_access_bytes) {
      whole(at);
    }
    for (unsigned at = rank * Access; at < bytes - body; at += group.size() * Access) {
      single(at < head ? at : at + body);
    }
  };
  if constexpr (!Undo) {
    each_access([&](unsigned at) { copy_async<max_access_bytes>(copy + at, data + at); },
                [&](unsigned at) { copy_async<Access>(copy + at, data + at); });
    commit_copies();
    wait_for_copies(0);
    group.sync();
  }

  const unsigned stride = arguments.team / element_accesses;
  const unsigned in_team = rank % arguments.team;
  const unsigned start = in_team / element_accesses;
  const unsigned in_element = in_team % element_accesses * Access;
  const unsigned teams = group.size() / arguments.team;
  // What s or i is worth that comes with the place, and the one that is the row's own.
  const unsigned pitch = arguments.squares ? grid.cols : grid.wide;
  for (unsigned row = rank / arguments.team; row < rows && start < stride; row += teams) {
    const unsigned above = grid.by_common.quotient(first_row + row);
    const unsigned in_square = grid.by_common.remainder(first_row + row, above);
    const unsigned own =
        arguments.squares ? (row - in_square) * grid.cols + in_square * grid.wide : row * grid.cols;
    unsigned char* const elements = copy + own * ElementBytes + in_element;
    unsigned char* const places = data + row * row_bytes + in_element;
    const shuffled_row<Undo, ElementBytes, Access> shuffled{arguments, grid,  elements, places,
                                                            above,     pitch, in_team};
    if constexpr (gathers_words<ElementBytes, Access>) {
      shuffled.move_by_words();
    } else {
      shuffled.move_by_accesses(start, stride);
    }
  }
  if constexpr (Undo) {
    group.sync();
    each_access([&](unsigned at) { store_global(data + at, load_shared<word16>(copy + at)); },
                [&](unsigned at) { store_global(data + at, load_shared<word>(copy + at)); });
  }
}

/// Rows that shared memory cannot hold.
struct long_row_arguments {
  unsigned char* data;
  unsigned char* scratch;
  rectangle grid;
  unsigned first_row;
  unsigned rows;  ///< that the launch takes
};

/// The same between memory and scratch memory, for rows of any length: one element of one row a thread.
template <bool Undo, int ElementBytes, int Access>
TILETRANSPOSE_FUNCTION void shuffle_long_row(const long_row_arguments& arguments,
                                             size_type thread) {
  using word = access_word_t<Access>;
  constexpr unsigned element_accesses = ElementBytes / Access;
  const rectangle& grid = arguments.grid;
  const size_type row_accesses = size_type{grid.cols} * element_accesses;
  if (thread >= arguments.rows * row_accesses) { return; }
  const auto row = static_cast<unsigned>(thread / row_accesses);
  const auto at = static_cast<unsigned>(thread % row_accesses);
  const unsigned above = grid.by_common.quotient(arguments.first_row + row);
  const unsigned col = grid.target_col(above, at / element_accesses);
  const size_type plain = at * size_type{Access};
  const size_type moved = (size_type{col} * element_accesses + at % element_accesses) * Access;
  const size_type row_bytes = size_type{grid.cols} * ElementBytes;
  unsigned char* const data = arguments.data + (size_type{arguments.first_row} + row) * row_bytes;
  unsigned char* const scratch = arguments.scratch + row * row_bytes;
  if constexpr (Undo) {
    store_global(data + plain, load_global<word>(scratch + moved));
  } else {
    store_global(scratch + moved, load_global<word>(data + plain));
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
