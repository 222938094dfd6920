// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tile kernel with a function applied on the way: elements are loaded as the input's type, turned
/// into the output's, and packed into the same shared rows that the plain kernel drains.
///
/// What else can ride along, for the bytes it moves and no more:
/// - *accumulate*: the shared rows first take the pieces of the output as they were, read the way they will
///   be written, so that the function finds the old element where it puts the new one;
/// - *dual*: a second set of shared rows takes the elements as the input has them, and is drained to the
///   copy in the same way, by pieces of whole sectors.

#pragma once

#include <tiletranspose/detail/tile_kernel.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a fused kernel does beside out(x, y) = op(in(y, x)).
enum class fusion {
  transform,   ///< nothing
  accumulate,  ///< out(x, y) = op(in(y, x), out(x, y))
  dual         ///< copy(y, x) = out(x, y)
};

/// The matrix beside input and output: ny x nx elements of the output's type. Null but for fusion::dual.
struct row_major_copy {
  void* data;
  size_type stride_bytes;
  unsigned sector_mask;  ///< as the one of tile_arguments
};

/// Objects side by side, of a type that need not be default-constructible: one, read by units, or as many
/// narrow ones as fill a word.
template <class In, bool Alone = false>
struct loaded_run {
  static constexpr int unit = access_width(sizeof(In), alignof(In));
  static constexpr int parts = static_cast<int>(sizeof(In)) / unit;
  static constexpr int count = parts == 1 && unit < 4 && !Alone ? 4 / unit : 1;
  static constexpr int word_bytes = count > 1 ? 4 : unit;
  alignas(alignof(In) > 4 ? alignof(In) : 4) access_word_t<word_bytes> words[parts];

  /// Registers that a load under way takes.
  TILETRANSPOSE_HOST_DEVICE static constexpr int registers(bool shifted) {
    return shifted ? 2 : parts * larger(word_bytes / 4, 1);
  }

  TILETRANSPOSE_FUNCTION void load(const unsigned char* address) {
    TILETRANSPOSE_UNROLL
    for (int part = 0; part < parts; ++part) {
      words[part] = load_constant<access_word_t<word_bytes>>(address + part * word_bytes);
    }
  }
  /// From an address that is no multiple of the word: shifted together from the two words it lies in.
  TILETRANSPOSE_FUNCTION void load_shifted(const unsigned char* address) {
    static_assert(count > 1, "");
    const unsigned low = load_constant<unsigned>(word_below(address));
    const unsigned high = load_constant<unsigned>(word_below(address) + 4);
    words[0] = funnel_shift(low, high, 8 * address_bits(address));
  }
  /// Loads the element `at`, alone.
  TILETRANSPOSE_FUNCTION void load_one(const unsigned char* address, int at) {
    TILETRANSPOSE_UNROLL
    for (int part = 0; part < parts; ++part) {
      const auto word = load_constant<access_word_t<unit>>(address + part * unit);
      __builtin_memcpy(reinterpret_cast<unsigned char*>(words) + at * sizeof(In) + part * unit,
                       &word, unit);
    }
  }
  TILETRANSPOSE_FUNCTION const In& get(int at) const {
    return reinterpret_cast<const In*>(words)[at];
  }
};

/// `Count` elements that are moved together, `Unit` bytes at a time.
template <class Out, int Count, int Unit>
struct packed_elements {
  static constexpr int bytes = Count * static_cast<int>(sizeof(Out));
  alignas(alignof(Out) > 16 ? alignof(Out) : 16) unsigned char memory[bytes];

  TILETRANSPOSE_FUNCTION const Out& get(int at) const {
    return reinterpret_cast<const Out&>(memory[at * sizeof(Out)]);
  }
  TILETRANSPOSE_FUNCTION void put(int at, const Out& value) {
    __builtin_memcpy(memory + at * sizeof(Out), &value, sizeof(Out));
  }
  TILETRANSPOSE_FUNCTION void load(const unsigned char* shared) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      const auto word = load_shared<access_word_t<Unit>>(shared + i);
      __builtin_memcpy(memory + i, &word, Unit);
    }
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* shared) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      access_word_t<Unit> word;
      __builtin_memcpy(&word, memory + i, Unit);
      store_shared(shared + i, word);
    }
  }
  TILETRANSPOSE_FUNCTION void store_apart(unsigned char* address) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      access_word_t<Unit> word;
      __builtin_memcpy(&word, memory + i, Unit);
      store_global(address + i, word);
    }
  }
};

/// A shape whose threads fill `Count` shared rows side by side: each such group is followed by a chunk of
/// padding, which keeps the lanes of a warp in different banks where they are `Count` rows apart.
template <class Shape, int Count>
struct grouped_rows : Shape {
  static constexpr int pitch = round_up(Shape::used_bytes, 2 * Shape::chunk_bytes);
  static constexpr int shared_bytes =
      round_up(Shape::tile_cols * pitch + Shape::tile_cols / Count * Shape::chunk_bytes, 16);
  static_assert(shared_bytes <= default_shared_bytes, "");

  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row_offset(unsigned col) {
    return col * pitch + col / Count * Shape::chunk_bytes;
  }
  struct fill_lanes {
    constexpr long long operator()(int lane) const { return row_offset(lane * Count); }
  };
  static_assert(request_ways(fill_lanes{}, Shape::chunk_bytes) == 1,
                "a shipped tile must not conflict");
  // Quarters of a warp drain from one row each and turn their words, wherever the rows lie.
  static_assert(Shape::piece_bytes % 128 == 0, "a shipped tile must not conflict");
};
template <class Shape>
struct grouped_rows<Shape, 1> : Shape {};

/// The tiles of a fused kernel: words of the output are filled from as many rows as they hold elements.
template <class In, class Out, fusion Kind>
struct fused_shape {
  static constexpr int bytes = static_cast<int>(sizeof(Out));
  static constexpr int unit = access_width(bytes, alignof(Out));
  static constexpr bool split = unit < bytes;
  /// A tile that starts at a sector would share an element with its neighbour where elements do not divide
  /// a sector, and whoever is later would find the new element instead of the old one. Such elements are
  /// stored in parts, so that tiles may start anywhere.
  static constexpr bool keeps_elements = Kind == fusion::accumulate && split;
  /// Large elements cover sectors of their own and are copied by the threads that have them.
  static constexpr bool stages_copy = Kind == fusion::dual && bytes <= 16;

  using run = loaded_run<In, split>;
  /// Narrow elements are loaded by words, and more of them make a tile. H200, 2026-11-21, 16384 x 16384, % of
  /// cudaMemcpyAsync: half to fp8 97, half to float 94, byte to float 91; one element a load: 79, 83 and 73.
  static constexpr bool narrow = run::count > 1;
  /// Four rows of four columns each are in registers at a time.
  static constexpr bool turns_bytes = narrow && bytes == 1 && Kind == fusion::transform;
  static constexpr int fewest_rows = keeps_elements ? 32 : bytes <= 2 ? 128 : bytes <= 8 ? 64 : 32;
  static constexpr int rows =
      Kind == fusion::transform && bytes == 1 && sizeof(In) == 1                 ? 256
      : Kind == fusion::transform && bytes < 8 && fewest_rows * bytes % 128 != 0 ? 128
                                                                                 : fewest_rows;
  static constexpr int most_cols = Kind == fusion::dual && (split || bytes == 8)             ? 32
                                   : bytes == 1 || (Kind == fusion::transform && bytes <= 4) ? 128
                                                                                             : 64;
  static constexpr int cols = bytes > 32 && keeps_elements            ? 8
                              : bytes > 16                            ? 16
                              : bytes > 8 || (bytes > 4 && bytes < 8) ? 32
                              : narrow || most_cols < 64              ? most_cols
                                                                      : 64;
  static constexpr int word = split || unit >= 4 ? unit : 4;
  using type = grouped_rows<
      tile_shape<bytes, unit, rows, cols, 256, unit, word, keeps_elements ? unit : 16, false>,
      run::count>;
  /// The copy's pieces: of the input's rows.
  template <bool Stages, class = void>
  struct copied {
    using type = void;
    static constexpr int shared_bytes = 0;
  };
  template <class Dummy>
  struct copied<true, Dummy> {
    using type = tile_shape<bytes, unit, cols, rows, 256, unit, word, 16, false>;
    static constexpr int shared_bytes = type::shared_bytes;
  };
  using copy_type = typename copied<stages_copy>::type;
  /// Bytes of an access to `Count` elements of the copy.
  template <int Count>
  TILETRANSPOSE_HOST_DEVICE static constexpr int copied_unit() {
    if constexpr (stages_copy && Count > 1) {
      return access_width(Count * bytes,
                          copy_type::pitch | copy_type::lead_bytes | copy_type::group_padding);
    } else {
      return unit;
    }
  }
  static constexpr int shared_bytes = type::shared_bytes + copied<stages_copy>::shared_bytes;
  static_assert(shared_bytes <= default_shared_bytes, "");
};

/// Reads the bytes that `drain_pieces` will overwrite into the places that it will read them from. No byte
/// of another tile's pieces is touched, because that tile may have written it already.
template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void recall_pieces(Group group, unsigned char* shared,
                                          const tile_target& target) {
  constexpr int bytes = Shape::word_bytes;
  constexpr int unit = Shape::unit;
  using word = access_word_t<bytes>;
  constexpr unsigned row_words = Shape::piece_bytes / bytes;
  constexpr unsigned steps = Shape::tile_cols * row_words;
  constexpr unsigned rounds = (steps + Shape::threads - 1) / Shape::threads;
  constexpr unsigned batch =  // up to 16 registers' worth, or 4 beside as many questions
      smaller<unsigned>(rounds, larger((Interior ? 16 : 4) / larger(bytes / 4, 1), 1));
  constexpr bool straight = Shape::threads % row_words == 0;
  const unsigned rank = group.thread_rank();

  struct place {
    unsigned char* out;
    unsigned row;
    int byte;
  };
  const auto find = [&](unsigned round) -> place {
    const unsigned step = rank + round * Shape::threads;
    const unsigned row =
        straight ? rank / row_words + round * (Shape::threads / row_words) : step / row_words;
    unsigned char* const out = target.first + row * target.stride_bytes;
    const int skew = static_cast<int>(address_bits(out) & target.sector_mask);
    return {out, row, static_cast<int>((straight ? rank : step) % row_words * bytes) - skew};
  };
  const auto exists = [&](unsigned round, const place& at) {
    return (rounds % batch == 0 || round < rounds) &&
           (steps % Shape::threads == 0 || rank + round * Shape::threads < steps) &&
           (Interior || at.row < static_cast<unsigned>(target.rows));
  };
  const auto is_whole = [&](const place& at) {
    return Interior || (at.byte >= target.first_byte && at.byte + bytes <= target.end_byte);
  };
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned first = 0; first < rounds; first += batch) {
    word loaded[batch];
    TILETRANSPOSE_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      const place at = find(first + b);
      if (exists(first + b, at) && is_whole(at)) {
        loaded[b] = load_global<word>(at.out + at.byte);
      }
    }
    TILETRANSPOSE_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      const place at = find(first + b);
      if (!exists(first + b, at)) { continue; }
      unsigned char* const to = shared + Shape::row_offset(at.row) + Shape::lead_bytes + at.byte;
      if (is_whole(at) && (unit >= bytes || at.byte % bytes == 0)) {
        store_shared(to, loaded[b]);
      } else {
        // A word across an end of the row, or one that is no word of shared memory.
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < bytes; i += unit) {
          access_word_t<unit> part;
          if (is_whole(at)) {
            __builtin_memcpy(&part, reinterpret_cast<const unsigned char*>(&loaded[b]) + i, unit);
          } else if (at.byte + i >= target.first_byte && at.byte + i < target.end_byte) {
            part = load_global<access_word_t<unit>>(at.out + at.byte + i);
          } else {
            continue;
          }
          store_shared(to + i, part);
        }
      }
    }
  }
}

/// Where a block puts what it has computed: the pieces of the output, the pieces of the copy or, where they
/// are not staged, element (0, 0) of the tile in the copy itself.
struct fused_memory {
  unsigned char* shared;
  unsigned char* copied;
  size_type copy_stride_bytes;
};

/// Which of the pieces a part of the input goes to: rows and columns that only a skewed neighbour's piece
/// leaves to this tile go to one of them.
enum class fill_to { out, copy, both };

/// What is known of the loads of a tile.
enum class fill_from {
  words,    ///< all of its elements exist, in words that can be loaded as they are
  between,  ///< all exist, and the words on both sides of each run of them
  edges     ///< some do
};

template <fill_from From>
struct fill_from_constant {
  static constexpr fill_from value = From;
};

/// Fills rows [from_row, from_row + Rows) and columns [from_col, from_col + Cols) of a tile with
/// op(element), or op(element, old element).
/// Barriers: group.sync() between recall_pieces and this call.
template <class Fused, fill_from From, int Rows, int Cols, fill_to To, fusion Kind, class In,
          class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void fill_converted(Group group, const fused_memory& memory,
                                           const tile_source& source, int from_row, int from_col,
                                           const Op& op) {
  using shape = typename Fused::type;
  using run = typename Fused::run;
  constexpr bool Interior = From != fill_from::edges;
  constexpr int micro_rows = shape::micro_rows;
  constexpr int count = run::count;
  constexpr int threads = shape::threads;
  constexpr int runs = Cols / count;  // of a row
  constexpr int row_threads = [] {
    int power = 1;
    while (power < runs) { power *= 2; }
    return power;
  }();
  constexpr int round_rows = threads / row_threads * micro_rows;
  constexpr unsigned rounds = (Rows + round_rows - 1) / round_rows;
  constexpr bool all_busy = Rows % round_rows == 0 && runs == row_threads;
  // Rounds whose loads are under way together: 16 registers' worth, more where those are not full, fewer
  // where old elements, two outputs or many questions need registers too.
  constexpr bool crowded = Kind == fusion::accumulate ? count > 1
                           : Kind == fusion::dual     ? micro_rows > 1
                                                      : false;
  constexpr int most_registers =
      !Interior || crowded                                                    ? 8
      : From == fill_from::between && (micro_rows <= 2 || Fused::turns_bytes) ? 32
      : run::unit < 4 && count == 1                                           ? 24
                                                                              : 16;
  constexpr unsigned batch =
      larger(most_registers / (micro_rows * run::registers(From == fill_from::between)), 1);
  static_assert(Cols % count == 0 && Rows % micro_rows == 0 && threads % row_threads == 0, "");

  const unsigned rank = group.thread_rank();
  const int col = from_col + static_cast<int>(rank % row_threads) * count;
  const int byte = col * static_cast<int>(sizeof(In));
  const int first_row = from_row + static_cast<int>(rank / row_threads) * micro_rows;
  const unsigned char* address = source.row(first_row) + byte;
  unsigned char* const to = memory.shared + shape::row_offset(col) + shape::lead_bytes;
  const auto is_mine = [&](unsigned round) {
    return all_busy || (col < from_col + Cols &&
                        first_row + static_cast<int>(round) * round_rows < from_row + Rows);
  };
  const auto row_exists = [&](int row) {
    return Interior || (row >= source.first_row && row < source.end_row);
  };
  const auto col_exists = [&](int at) {
    const int first = byte + at * static_cast<int>(sizeof(In));
    return Interior || (first >= source.first_byte && first < source.end_byte);
  };
  constexpr bool unrolls =
      From == fill_from::words && sizeof(In) <= 16 && !(Kind == fusion::accumulate && crowded);
  [[maybe_unused]] constexpr int unrolled = unrolls ? static_cast<int>(rounds) : 1;
  TILETRANSPOSE_UNROLL_BY(unrolled)
  for (unsigned first = 0; first < rounds; first += batch) {
    run loaded[batch][micro_rows];
    TILETRANSPOSE_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < micro_rows; ++r, address += source.stride_bytes) {
        const int row = first_row + static_cast<int>(first + b) * round_rows + r;
        if (first + b >= rounds || !is_mine(first + b) || !row_exists(row)) { continue; }
        if constexpr (From == fill_from::words) {
          loaded[b][r].load(address);
        } else if constexpr (From == fill_from::between) {
          loaded[b][r].load_shifted(address);
        } else {
          TILETRANSPOSE_UNROLL
          for (int at = 0; at < count; ++at) {
            if (col_exists(at)) { loaded[b][r].load_one(address + at * sizeof(In), at); }
          }
        }
      }
      address += (round_rows - micro_rows) * source.stride_bytes;
    }
    TILETRANSPOSE_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      if (first + b >= rounds || !is_mine(first + b)) { continue; }
      const int row = first_row + static_cast<int>(first + b) * round_rows;
      unsigned char* const chunk_at = to + row * shape::element_bytes;
      packed_elements<Out, micro_rows, shape::chunk_bytes> chunks[count] = {};
      constexpr int copied_unit = Fused::template copied_unit<count>();
      packed_elements<Out, count, copied_unit> copied[micro_rows] = {};
      TILETRANSPOSE_UNROLL
      for (int at = 0; at < count; ++at) {
        if constexpr (Kind == fusion::accumulate) { chunks[at].load(chunk_at + at * shape::pitch); }
        TILETRANSPOSE_UNROLL
        for (int r = 0; r < micro_rows; ++r) {
          if (!row_exists(row + r) || !col_exists(at)) { continue; }
          if constexpr (Kind == fusion::accumulate) {
            const Out value = op(loaded[b][r].get(at), chunks[at].get(r));
            chunks[at].put(r, value);
          } else {
            const Out value = op(loaded[b][r].get(at));
            if constexpr (To != fill_to::copy) { chunks[at].put(r, value); }
            if constexpr (To != fill_to::out) { copied[r].put(at, value); }
          }
        }
        if constexpr (To != fill_to::copy) { chunks[at].store(chunk_at + at * shape::pitch); }
      }
      if constexpr (To != fill_to::out) {
        TILETRANSPOSE_UNROLL
        for (int r = 0; r < micro_rows; ++r) {
          if constexpr (Fused::stages_copy) {
            using copy_shape = typename Fused::copy_type;
            copied[r].store(memory.copied + copy_shape::row_offset(row + r) +
                            copy_shape::lead_bytes + col * shape::element_bytes);
          } else if (row_exists(row + r) && col_exists(0)) {
            copied[r].store_apart(memory.copied + (row + r) * memory.copy_stride_bytes +
                                  col * shape::element_bytes);
          }
        }
      }
    }
  }
}

template <class Fused, fill_from From, fusion Kind, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile_between(Group group, const fused_memory& memory,
                                                 const tile_source& source,
                                                 const tile_target& target,
                                                 const tile_target& copy_target, const Op& op) {
  using shape = typename Fused::type;
  constexpr int rows = shape::tile_rows;
  constexpr int cols = shape::tile_cols;
  constexpr int skew = shape::skew_rows;
  constexpr bool interior = From != fill_from::edges;
  constexpr fill_to everywhere = Kind == fusion::dual ? fill_to::both : fill_to::out;
  if constexpr (Kind == fusion::accumulate) {
    recall_pieces<shape, interior>(group, memory.shared, target);
    group.sync();
  }
  fill_converted<Fused, From, rows, cols, everywhere, Kind, In, Out>(group, memory, source, 0, 0,
                                                                     op);
  if (target.sector_mask != 0) {
    fill_converted<Fused, From, skew, cols, fill_to::out, Kind, In, Out>(group, memory, source,
                                                                         -skew, 0, op);
  }
  if constexpr (Fused::stages_copy) {
    using copy_shape = typename Fused::copy_type;
    constexpr int copy_skew = round_up(copy_shape::skew_rows, Fused::run::count);
    static_assert(copy_skew * shape::element_bytes <= copy_shape::lead_bytes, "");
    if (copy_target.sector_mask != 0) {
      fill_converted<Fused, From, rows, copy_skew, fill_to::copy, Kind, In, Out>(
          group, memory, source, 0, -copy_skew, op);
    }
    group.sync();
    drain_pieces<shape, interior>(group, memory.shared, target);
    drain_pieces<copy_shape, interior>(group, memory.copied, copy_target);
  } else {
    group.sync();
    drain_pieces<shape, interior>(group, memory.shared, target);
  }
}

/// The copy's side of a tile.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_target make_copy_target(const tile_arguments& arguments,
                                                    const tile_order::place& at,
                                                    const row_major_copy& copy) {
  const size_type first_row = at.row_tile * Shape::tile_rows;
  const size_type first_byte = at.col_tile * Shape::tile_cols * Shape::element_bytes;
  const int rows = clipped_distance(first_row, arguments.problem.ny);
  return {static_cast<unsigned char*>(copy.data) + first_row * copy.stride_bytes + first_byte,
          copy.stride_bytes,
          larger(smaller(rows, Shape::tile_rows), 0),
          clipped_distance(first_byte, 0),
          clipped_distance(first_byte, arguments.problem.nx * Shape::element_bytes),
          copy.sector_mask};
}

/// The kernel's body: one block converts and moves the tile that `block` names.
/// Shared memory: Fused::shared_bytes, aligned to 16. Barriers: inside.
template <class Fused, fusion Kind, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile(Group group, unsigned char* shared,
                                         const tile_arguments& arguments,
                                         const row_major_copy& copy, const Op& op, unsigned block) {
  using shape = typename Fused::type;
  constexpr int row_bytes = shape::tile_cols * static_cast<int>(sizeof(In));
  const tile_order::place at = arguments.order(block);
  const tile_source source = make_source<sizeof(In), shape>(arguments, at);
  tile_target target = make_target<shape>(arguments, at);
  target.rows =
      larger(target.rows, 0);  // columns of tiles may be there for the end of the copy alone
  fused_memory memory{shared, nullptr, copy.stride_bytes};
  tile_target copy_target{};
  // How far loads reach over the tile's columns: the words on both sides where rows start anywhere, and the
  // columns that the copy's skewed pieces begin with.
  const bool between =
      Fused::run::count > 1 &&
      (address_bits(source.first) | static_cast<unsigned>(source.stride_bytes)) % 4 != 0;
  const int reach_right = between ? 8 : 0;
  int reach_left = between ? 4 : 0;
  if constexpr (Kind == fusion::dual) {
    copy_target = make_copy_target<shape>(arguments, at, copy);
    memory.copied = Fused::stages_copy ? shared + shape::shared_bytes : copy_target.first;
    if (Fused::stages_copy && copy.sector_mask != 0) {
      reach_left += (sector_bytes + Fused::run::count) * static_cast<int>(sizeof(In));
    }
  }
  const bool interior = is_interior<shape>(source, row_bytes, arguments.sector_mask != 0) &&
                        source.first_byte <= -reach_left &&
                        source.end_byte >= row_bytes + reach_right;
  const auto convert = [&](auto from) {
    convert_tile_between<Fused, decltype(from)::value, Kind, In, Out>(group, memory, source, target,
                                                                      copy_target, op);
  };
  if (!interior) {
    convert(fill_from_constant<fill_from::edges>{});
  } else if constexpr (Fused::run::count > 1) {
    if (between) {
      convert(fill_from_constant<fill_from::between>{});
    } else {
      convert(fill_from_constant<fill_from::words>{});
    }
  } else {
    convert(fill_from_constant<fill_from::words>{});
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
