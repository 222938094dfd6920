// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tile kernel with a function applied on the way: elements are loaded as the input's type, turned into
/// the output's, and stored into shared rows whose pieces are drained as the plain kernel's are.
///
/// Two ways of loading, chosen at launch. Rows of the input that are aligned to 16 bytes are read by words,
/// and as many rows at a time as fill a word of the shared row. Narrow elements of rows that start anywhere
/// are read by wide loads from the boundary before the row on, and dealt out element by element.
///
/// What else can ride along, for the bytes it moves and no more:
/// - *accumulate*: the pieces of the output as they were are read into registers, by the accesses that will
///   write them and before anything else. The shared rows take the elements of the input as they are, and
///   the function meets both when it is their turn to be drained;
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

/// `Count` elements that are moved together, `Unit` bytes at a time.
template <class T, int Count, int Unit>
struct packed_elements {
  static constexpr int bytes = Count * static_cast<int>(sizeof(T));
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char memory[bytes];

  TILETRANSPOSE_FUNCTION const T& get(int at) const {
    return reinterpret_cast<const T&>(memory[at * sizeof(T)]);
  }
  TILETRANSPOSE_FUNCTION void put(int at, const T& value) {
    __builtin_memcpy(memory + at * sizeof(T), &value, sizeof(T));
  }
  TILETRANSPOSE_FUNCTION void load(const unsigned char* address) {
    each([&](unsigned char* part, int i) {
      const auto word = load_constant<access_word_t<Unit>>(address + i);
      __builtin_memcpy(part, &word, Unit);
    });
  }
  /// From memory that the kernel writes.
  TILETRANSPOSE_FUNCTION void load_changing(const unsigned char* address) {
    each([&](unsigned char* part, int i) {
      const auto word = load_global<access_word_t<Unit>>(address + i);
      __builtin_memcpy(part, &word, Unit);
    });
  }
  TILETRANSPOSE_FUNCTION void load_from_shared(const unsigned char* shared) {
    each([&](unsigned char* part, int i) {
      const auto word = load_shared<access_word_t<Unit>>(shared + i);
      __builtin_memcpy(part, &word, Unit);
    });
  }
  TILETRANSPOSE_FUNCTION void store_to_shared(unsigned char* shared) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      access_word_t<Unit> word;
      __builtin_memcpy(&word, memory + i, Unit);
      store_shared(shared + i, word);
    }
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* address) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) {
      access_word_t<Unit> word;
      __builtin_memcpy(&word, memory + i, Unit);
      store_global(address + i, word);
    }
  }

 private:
  template <class Load>
  TILETRANSPOSE_FUNCTION void each(Load load) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < bytes; i += Unit) { load(memory + i, i); }
  }
};

/// A where `First`, else B.
template <bool First, class A, class B>
struct either {
  using type = A;
};
template <class A, class B>
struct either<false, A, B> {
  using type = B;
};

/// The largest power of two that is not above `value`.
TILETRANSPOSE_HOST_DEVICE constexpr int power_below(int value) {
  int power = 1;
  while (2 * power <= value) { power *= 2; }
  return power;
}

/// The tile of a fused kernel.
struct fused_policy {
  int rows;   ///< of the input
  int lanes;  ///< threads that share one of them
};

/// `count`: elements of a load; `deals`: loads start before their row.
TILETRANSPOSE_HOST_DEVICE constexpr fused_policy tuned_fused_policy(fusion kind, int in_bytes,
                                                                    int out_bytes, int count,
                                                                    bool deals) {
  const bool combines = kind == fusion::accumulate;
  const int widest = larger(in_bytes, combines ? in_bytes : out_bytes);
  if (!deals) {
    const int rows = kind == fusion::transform && widest == 1 ? 256
                     : out_bytes <= 2                         ? 128
                     : out_bytes <= 8                         ? 64
                                                              : 32;
    const int cols = kind == fusion::dual && out_bytes <= 16                   ? 64
                     : larger(in_bytes, out_bytes) > 16                        ? 16
                     : larger(in_bytes, out_bytes) > 8                         ? 32
                     : (kind == fusion::transform && count > 1) || widest == 1 ? 128
                                                                               : 64;
    return {rows, cols / count};
  }
  const int rows = out_bytes == 1   ? 128
                   : out_bytes == 2 ? (kind == fusion::transform && in_bytes <= 2 ? 128 : 64)
                   : out_bytes > 4 || (combines && in_bytes == 1) ? 32
                                                                  : 64;
  if (kind == fusion::dual) {
    return {rows, widest == 1 ? 8 : in_bytes == 4 && out_bytes <= 2 ? 32 : 16};
  }
  if (combines) { return {rows, widest == 4 || (in_bytes == 2 && out_bytes == 2) ? 16 : 8}; }
  return {rows, widest == 1 || widest == 2 || out_bytes == 1 || widest == 8 ? 16 : 32};
}

/// The tiles of a fused kernel. `Aligned`: rows of the input start at multiples of 16 bytes, and those of a
/// copy at sectors.
///
/// Shared memory has a row for each column of the input, with the tile's elements from `skew_rows` rows
/// before it on. Loads of aligned rows are words, as many below each other as their elements fill words of
/// the shared rows. Where rows start anywhere, loads are wider, start at the boundary before and are dealt
/// out element by element; shared rows before the first and behind the last take what lies beside the tile.
template <class In, class Out, fusion Kind, bool Aligned>
struct fused_shape {
  static constexpr bool combines = Kind == fusion::accumulate;
  static constexpr bool copies = Kind == fusion::dual;
  static constexpr int threads = 256;
  static constexpr int in_bytes = static_cast<int>(sizeof(In));
  static constexpr int in_unit = access_width(in_bytes, alignof(In));
  static constexpr int out_bytes = static_cast<int>(sizeof(Out));
  static constexpr int out_unit = access_width(out_bytes, alignof(Out));
  static constexpr bool splits_out = out_unit < out_bytes;
  /// A tile that starts at a sector would share an element with its neighbour where elements do not divide
  /// a sector, and whoever is later would find the new element instead of the old one.
  static constexpr bool keeps_elements = combines && splits_out;
  /// Large elements cover sectors of their own and are copied by the threads that have them.
  static constexpr bool stages_copy = copies && out_bytes <= 16;
  /// What shared memory holds: old elements are combined with those of the input.
  using stored = typename either<combines, In, Out>::type;
  static constexpr int bytes = static_cast<int>(sizeof(stored));
  static constexpr int unit = access_width(bytes, alignof(stored));

  /// Elements of a load, beside and below each other.
  static constexpr bool whole_in = in_unit == in_bytes;
  static constexpr bool deals =
      !Aligned && whole_in && in_bytes <= (copies ? 4 : 2) && out_bytes <= 4;
  static constexpr int count = deals ? power_below(16 / larger(in_bytes, bytes))
                               : Aligned && whole_in && in_bytes < 4 ? 4 / in_bytes
                                                                     : 1;
  static constexpr int micro_rows = !deals && unit == bytes ? larger(4 / bytes, 1) : 1;
  static constexpr int load_bytes = count * in_bytes;
  static constexpr int chunk_unit = micro_rows > 1 ? 4 : unit;
  static constexpr int skew_rows =
      keeps_elements ? 0 : round_up((sector_bytes + out_bytes - 1) / out_bytes, micro_rows);
  static constexpr int lead_bytes = skew_rows * bytes;  // before the tile's first row
  /// Loads before the tile's first column, for the pieces of the copy that begin there.
  static constexpr int lead_lanes =
      stages_copy && !Aligned ? ((sector_bytes + out_bytes - 1) / out_bytes + count - 1) / count
                              : 0;
  static constexpr int lead_cols = lead_lanes * count;

  /// Registers that an old element takes; parts of a word take one each until they are put together.
  static constexpr int old_registers = larger(splits_out ? out_bytes / out_unit : 0, out_bytes / 4);

  /// What follows from a policy.
  struct plan {
    fused_policy policy;

    TILETRANSPOSE_HOST_DEVICE constexpr int cols() const {
      return (policy.lanes - lead_lanes - (deals ? 1 : 0)) * count;
    }
    TILETRANSPOSE_HOST_DEVICE constexpr int pitch() const {
      const int used = lead_bytes + policy.rows * bytes;
      const int banks = unit < 4 ? (bytes + 6) / 4 * 4 : bytes;
      return deals          ? ((used + unit - 1) / unit | 1) * unit  // odd
             : unit < bytes ? round_up(used - banks, 128) + banks
             : count > 1    ? round_up(used, 2 * spread())
                            : round_up(used - spread(), 2 * spread()) + spread();
    }
    /// The words that a request writes into one shared row.
    TILETRANSPOSE_HOST_DEVICE constexpr int spread() const {
      const int word = larger(unit, 4);
      return word * larger(128 / word / policy.lanes, 1);
    }
    /// Lanes that fill several rows side by side leave a chunk between their groups.
    TILETRANSPOSE_HOST_DEVICE constexpr int padding() const {
      return !deals && count > 1 ? spread() : 0;
    }
    TILETRANSPOSE_HOST_DEVICE constexpr int tile_bytes() const {
      const int shared_rows = cols() + (deals ? 2 * count : 0);
      return round_up(shared_rows * pitch() + shared_rows / count * padding(), 16);
    }
    /// The copy's rows: as the lanes have them.
    TILETRANSPOSE_HOST_DEVICE constexpr int copy_pitch() const {
      return round_up(policy.lanes * count * out_bytes, 128) +
             (deals ? 8 * count * out_bytes % 128 : 0);
    }
    TILETRANSPOSE_HOST_DEVICE constexpr int copy_bytes() const {
      return stages_copy ? policy.rows * copy_pitch() + 16 : 0;
    }
  };
  /// Narrower where shared memory or, for old elements, registers are short.
  static constexpr plan tile = [] {
    plan result{tuned_fused_policy(Kind, in_bytes, out_bytes, count, deals)};
    while (result.tile_bytes() + result.copy_bytes() > default_shared_bytes ||
           (combines && result.policy.rows * result.cols() / threads * old_registers > 32)) {
      result.policy.lanes /= 2;
    }
    return result;
  }();
  static constexpr int rows = tile.policy.rows;
  static constexpr int lanes = tile.policy.lanes;
  static constexpr int cols = tile.cols();
  static constexpr int pitch = tile.pitch();
  static constexpr int padding = tile.padding();
  static constexpr int copy_pitch = tile.copy_pitch();
  static constexpr int tile_bytes = tile.tile_bytes();
  static constexpr int shared_bytes = tile_bytes + tile.copy_bytes();
  static_assert(cols > 0 && threads % lanes == 0 && rows % micro_rows == 0, "");
  static_assert(rows * out_bytes % sector_bytes == 0, "pieces are whole sectors");

  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row_offset(unsigned col) {
    return deals ? (col + count) * pitch : col * pitch + col / count * padding;
  }
  struct fill_lanes {
    constexpr long long operator()(int lane) const {
      return deals ? row_offset(lane % 8 * count) + lane / 8 * bytes
                   : row_offset(lane % lanes * count) + lane / lanes * bytes * micro_rows;
    }
  };
  static_assert(unit < bytes || unit > 4 || request_ways(fill_lanes{}, chunk_unit) == 1,
                "a shipped tile must not conflict");

  using vector = packed_elements<In, count, (count > 1 ? load_bytes : in_unit)>;
  static constexpr int copy_unit = access_width(count * out_bytes, splits_out ? out_unit : 16);

  /// What the tile's place needs to know.
  static constexpr int tile_rows = rows;
  static constexpr int element_bytes = out_bytes;
  static constexpr int piece_bytes = rows * out_bytes;
  /// Elements that are combined at a time: up to 16 bytes of both.
  static constexpr int combined =
      splits_out || in_unit < in_bytes ? 1 : larger(16 / larger(out_bytes, in_bytes), 1);
  /// Bytes of a store.
  static constexpr int store_bytes = 16;
};

/// Calls visit(round, row, out, byte) for each vector of the pieces of a tile that is the thread's: `byte` is
/// counted from the unskewed piece's start. Some of its bytes exist.
template <int Rows, int RowVectors, int VectorBytes, int Threads, bool Interior, class Group,
          class Visit>
TILETRANSPOSE_FUNCTION void visit_vectors(Group group, const tile_target& target, Visit visit) {
  constexpr unsigned steps = Rows * RowVectors;
  constexpr unsigned rounds = (steps + Threads - 1) / Threads;
  constexpr bool straight = Threads % RowVectors == 0;
  const unsigned rank = group.thread_rank();
  unsigned char* out = target.first + rank / RowVectors * target.stride_bytes;
  TILETRANSPOSE_UNROLL
  for (unsigned round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const unsigned step = rank + round * Threads;
    const unsigned row =
        straight ? rank / RowVectors + round * (Threads / RowVectors) : step / RowVectors;
    if ((Interior && steps % Threads != 0 && (round + 1) * Threads > steps && row >= Rows) ||
        (!Interior && row >= static_cast<unsigned>(target.rows))) {
      break;
    }
    if constexpr (!straight) { out = target.first + row * target.stride_bytes; }
    if (straight && round > 0) { out += Threads / RowVectors * target.stride_bytes; }
    const int skew = static_cast<int>(address_bits(out) & target.sector_mask);
    const int byte = static_cast<int>((straight ? rank : step) % RowVectors) * VectorBytes - skew;
    if (Interior || (byte > target.first_byte - VectorBytes && byte < target.end_byte)) {
      visit(round, row, out, byte);
    }
  }
}

/// `Count` elements that are moved by the widest access that their size allows or, where an element is
/// several accesses, one of those at a time.
template <class T, int Count, int Unit>
using vector_of =
    packed_elements<T, Count,
                    (Unit < static_cast<int>(sizeof(T)) ? Unit : access_width(Count * sizeof(T)))>;

/// `Count` elements, `from` bytes into shared memory, a multiple of `Unit` and maybe of no more.
template <class T, int Count, int Unit>
TILETRANSPOSE_FUNCTION vector_of<T, Count, Unit> read_elements(const unsigned char* shared,
                                                               unsigned from, unsigned thread) {
  constexpr int bytes = Count * static_cast<int>(sizeof(T));
  vector_of<T, Count, Unit> result;
  if constexpr (Unit >= bytes || bytes < 4 || bytes % 4 != 0 || Count == 1) {
    packed_elements<T, Count, Unit> parts;
    parts.load_from_shared(shared + from);
    __builtin_memcpy(result.memory, parts.memory, bytes);
  } else {
    constexpr int word_bytes = larger(Unit, 4);
    constexpr unsigned count = bytes / word_bytes;
    using word = access_word_t<word_bytes>;
    const unsigned char* const first = shared + from / word_bytes * word_bytes;
    word words[count + 1];
    if constexpr (count == 1) {
      words[0] = load_shared<word>(first);
    } else {
      // Lanes that would meet in the same banks begin with different words.
      const unsigned turned = (thread / (32 / count) - from / word_bytes) % count;
      word read[count], back[count];
      TILETRANSPOSE_UNROLL
      for (unsigned turn = 0; turn < count; ++turn) {
        read[turn] = load_shared<word>(first + (turn + turned) % count * word_bytes);
      }
      turn_back(read, turned, back);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < count; ++i) { words[i] = back[i]; }
    }
    if constexpr (Unit < 4) {
      if (from % 4 != 0) {
        words[count] = load_shared<word>(first + bytes);
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < count; ++i) {
          words[i] = funnel_shift(words[i], words[i + 1], 8 * from);
        }
      }
    }
    __builtin_memcpy(result.memory, words, bytes);
  }
  return result;
}

/// Where a block puts what it has computed.
struct fused_memory {
  unsigned char* shared;
  /// The copy's rows in shared memory or, where they are not staged, the tile's place in the copy itself.
  unsigned char* copied;
  size_type copy_stride_bytes;
};

/// Elements of a row before the tile's first column that its first load takes.
template <class Fused>
TILETRANSPOSE_FUNCTION int load_shift(const unsigned char* row) {
  return Fused::deals ? static_cast<int>(address_bits(row) % Fused::load_bytes) / Fused::in_bytes
                      : 0;
}

/// Which rows of a tile a thread loads, round by round, and which of their elements. The rows before the
/// tile, of which skewed pieces begin, are loaded with the others.
template <class Fused, bool Interior>
struct tile_loads {
  static constexpr int count = Fused::count;
  static constexpr int in_bytes = Fused::in_bytes;
  static constexpr int skew_rows = Fused::skew_rows;
  static constexpr int micro_rows = Fused::micro_rows;
  static constexpr int together = Fused::threads / Fused::lanes * micro_rows;
  static constexpr int rounds = (skew_rows + Fused::rows + together - 1) / together;
  /// Registers that old elements or a second output take.
  static constexpr int taken =
      Fused::combines ? Fused::rows * Fused::cols * Fused::out_bytes / Fused::threads / 4
      : Fused::copies ? 16
                      : 0;
  static constexpr int wanted = Fused::deals                                       ? 40
                                : micro_rows * in_bytes > (Fused::copies ? 16 : 8) ? 16
                                                                                   : 32;
  /// Rounds whose loads are under way at a time.
  static constexpr int most =
      larger(larger(wanted - taken, 8) / (micro_rows * larger(count * in_bytes / 4, 1)), 1);
  static constexpr int batches = (rounds + most - 1) / most;
  static constexpr int batch = (rounds + batches - 1) / batches;

  const tile_source& source;
  int lane;
  int first_row;
  int first_col;  ///< of the load of a row that starts at a boundary
  int from_row;
  int end_row;

  template <class Group>
  TILETRANSPOSE_FUNCTION tile_loads(Group group, const tile_source& from, bool skewed)
      : source(from) {
    // Where lanes start anywhere, a warp takes eight of each of four rows: those lie in different banks.
    const unsigned rank = group.thread_rank();
    constexpr unsigned lanes = Fused::lanes;
    constexpr bool fours = Fused::deals && lanes > 8;
    lane = static_cast<int>(fours ? rank % 8 + rank / 32 * 8 % lanes : rank % lanes);
    first_row = static_cast<int>(fours ? rank % 32 / 8 + rank / (4 * lanes) * 4 : rank / lanes) *
                    micro_rows -
                skew_rows;
    first_col = lane * count - Fused::lead_cols;
    from_row = skewed ? -skew_rows : 0;
    end_row = Fused::rows;
    if (!Interior) {
      from_row = larger(from_row, source.first_row);
      end_row = smaller(end_row, source.end_row);
    }
  }

  TILETRANSPOSE_FUNCTION int row(int round) const { return first_row + round * together; }
  TILETRANSPOSE_FUNCTION bool row_exists(int round, int micro_row) const {
    return round < rounds &&
           ((Interior && round * together >= skew_rows) || row(round) + micro_row >= from_row) &&
           ((Interior && (round + 1) * together <= skew_rows + Fused::rows) ||
            row(round) + micro_row < end_row);
  }
  TILETRANSPOSE_FUNCTION bool any_exists(int round) const {
    return row_exists(round, 0) || (!Interior && micro_rows > 1 && row(round) < end_row &&
                                    row(round) + micro_rows > from_row && round < rounds);
  }
  TILETRANSPOSE_FUNCTION bool byte_exists(int byte) const {
    return Interior || (byte >= source.first_byte && byte < source.end_byte);
  }
};

/// What a thread has loaded of as many rounds as are under way at a time.
template <class Fused>
struct loaded_batch {
  typename Fused::vector rows[tile_loads<Fused, true>::batch][Fused::micro_rows];
};

/// Starts the loads of a batch.
template <class Fused, bool Interior, class In, class Group>
TILETRANSPOSE_FUNCTION void load_rows(Group group, const tile_source& source, bool skewed,
                                      int first, loaded_batch<Fused>& loaded) {
  using places = tile_loads<Fused, Interior>;
  constexpr int in_bytes = Fused::in_bytes;
  const places at(group, source, skewed);
  const unsigned char* row = source.row(at.row(first));
  TILETRANSPOSE_UNROLL
  for (int b = 0; b < places::batch; ++b) {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < places::micro_rows; ++r, row += source.stride_bytes) {
      const loop_step here((first + b) * places::micro_rows + r);
      if (!at.row_exists(first + b, r)) { continue; }
      const int byte = (at.first_col - load_shift<Fused>(row)) * in_bytes;
      if (Interior || (byte >= source.first_byte && byte + Fused::load_bytes <= source.end_byte)) {
        loaded.rows[b][r].load(row + byte);
      } else if constexpr (Fused::count > 1) {
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < Fused::count; ++i) {
          const loop_step part(i);
          if (at.byte_exists(byte + i * in_bytes)) {
            const auto word =
                load_constant<access_word_t<Fused::in_unit>>(row + byte + i * in_bytes);
            __builtin_memcpy(loaded.rows[b][r].memory + i * in_bytes, &word, Fused::in_unit);
          }
        }
      }
    }
    row += (places::together - places::micro_rows) * source.stride_bytes;
  }
}

/// Stores a batch of loads into the shared rows, and into those of the copy.
template <class Fused, bool Interior, class In, class Out, class Convert, class Group>
TILETRANSPOSE_FUNCTION void store_rows(Group group, const fused_memory& memory,
                                       const tile_source& source, bool skewed, int first,
                                       const loaded_batch<Fused>& loaded, const Convert& convert) {
  using places = tile_loads<Fused, Interior>;
  using stored = typename Fused::stored;
  constexpr int count = Fused::count;
  constexpr int in_bytes = Fused::in_bytes;
  const places at(group, source, skewed);
  const unsigned char* row = source.row(at.row(first));
  TILETRANSPOSE_UNROLL
  for (int b = 0; b < places::batch; ++b, row += places::together * source.stride_bytes) {
    const loop_step here(first + b);
    if (!at.any_exists(first + b)) { continue; }
    const int col = at.first_col - load_shift<Fused>(row);
    unsigned char* const to = memory.shared + Fused::row_offset(0) + Fused::lead_bytes +
                              at.row(first + b) * Fused::bytes + col * Fused::pitch +
                              (Fused::padding > 0 ? at.lane * Fused::padding : 0);
    packed_elements<Out, count, Fused::copy_unit> copied[places::micro_rows] = {};
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < count; ++i) {
      const loop_step part(i);
      if (!at.byte_exists((col + i) * in_bytes)) { continue; }
      packed_elements<stored, places::micro_rows, Fused::chunk_unit> chunk;
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        if (!Interior && places::micro_rows > 1 && !at.row_exists(first + b, r)) { continue; }
        chunk.put(r, convert(loaded.rows[b][r].get(i)));
        if constexpr (Fused::copies) { copied[r].put(i, chunk.get(r)); }
      }
      if (!Fused::stages_copy || at.lane >= Fused::lead_lanes) {
        chunk.store_to_shared(to + i * Fused::pitch);
      }
    }
    if constexpr (Fused::copies) {
      if ((first + b + 1) * places::together <= Fused::skew_rows || at.row(first + b) < 0) {
        continue;
      }
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        const int copy_row = at.row(first + b) + r;
        if constexpr (Fused::stages_copy) {
          copied[r].store_to_shared(memory.copied + copy_row * Fused::copy_pitch +
                                    at.lane * count * Fused::out_bytes);
        } else if (at.row_exists(first + b, r) && at.byte_exists(col * in_bytes)) {
          copied[r].store(memory.copied + copy_row * memory.copy_stride_bytes +
                          col * Fused::out_bytes);
        }
      }
    }
  }
}

/// Fills the shared rows with rows [-skew_rows, rows) of the input, or from row 0 on where nothing is skewed.
/// Calls meanwhile() once the first loads are under way.
template <class Fused, bool Interior, class In, class Out, class Convert, class Meanwhile,
          class Group>
TILETRANSPOSE_FUNCTION void fill_converted(Group group, const fused_memory& memory,
                                           const tile_source& source, bool skewed,
                                           const Convert& convert, Meanwhile meanwhile) {
  using places = tile_loads<Fused, Interior>;
  TILETRANSPOSE_UNROLL
  for (int first = 0; first < places::rounds; first += places::batch) {
    loaded_batch<Fused> loaded;
    load_rows<Fused, Interior, In>(group, source, skewed, first, loaded);
    if (first == 0) { meanwhile(); }
    store_rows<Fused, Interior, In, Out>(group, memory, source, skewed, first, loaded, convert);
  }
}

/// The old elements of the pieces that a thread will write.
template <class Fused, class Out>
struct recalled {
  static constexpr int count = Fused::combined;
  static constexpr int vector_bytes = count * Fused::out_bytes;
  static constexpr int row_vectors = Fused::rows / count;
  static constexpr int rounds = (Fused::cols * row_vectors + Fused::threads - 1) / Fused::threads;
  using vector = packed_elements<Out, count, (Fused::splits_out ? Fused::out_unit : vector_bytes)>;
  vector vectors[rounds];
};

/// Reads what the tile will overwrite and nothing else, because other tiles may have written already.
template <class Fused, bool Interior, class Out, class Group>
TILETRANSPOSE_FUNCTION void recall_pieces(Group group, recalled<Fused, Out>& old,
                                          const tile_target& target) {
  using recall = recalled<Fused, Out>;
  constexpr int bytes = recall::vector_bytes;
  visit_vectors<Fused::cols, recall::row_vectors, bytes, Fused::threads, Interior>(
      group, target, [&](unsigned round, unsigned, unsigned char* out, int byte) {
        if (Interior || (byte >= target.first_byte && byte + bytes <= target.end_byte)) {
          old.vectors[round].load_changing(out + byte);
        }
      });
}

/// Writes op(element, old element). Barriers: group.sync() between filling the tile and this call.
template <class Fused, bool Interior, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void combine_pieces(Group group, const unsigned char* shared,
                                           recalled<Fused, Out>& old, const tile_target& target,
                                           const Op& op) {
  using recall = recalled<Fused, Out>;
  constexpr int count = recall::count;
  constexpr int bytes = recall::vector_bytes;
  const unsigned rank = group.thread_rank();
  visit_vectors<Fused::cols, recall::row_vectors, bytes, Fused::threads, Interior>(
      group, target, [&](unsigned round, unsigned row, unsigned char* out, int byte) {
        // Of the row's elements, those of the rows before the tile among them.
        const int first = (byte + Fused::skew_rows * Fused::out_bytes) / Fused::out_bytes;
        const unsigned from = Fused::row_offset(row) + first * Fused::in_bytes;
        if (Interior || (byte >= target.first_byte && byte + bytes <= target.end_byte)) {
          const auto elements = read_elements<In, count, Fused::in_unit>(shared, from, rank);
          typename recall::vector result;
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            result.put(i, op(elements.get(i), old.vectors[round].get(i)));
          }
          result.store(out + byte);
        } else if constexpr (count > 1) {
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            const loop_step part(i);
            const int at = byte + i * Fused::out_bytes;
            if (at < target.first_byte || at >= target.end_byte) { continue; }
            const auto element =
                read_elements<In, 1, Fused::in_unit>(shared, from + i * Fused::in_bytes, rank);
            packed_elements<Out, 1, Fused::out_unit> one;
            one.load_changing(out + at);
            one.put(0, op(element.get(0), one.get(0)));
            one.store(out + at);
          }
        }
      });
}

/// Writes the bytes of pieces: find(row) says where in shared memory the row's byte 0 is, reaches(out, byte)
/// whether a vector is the tile's. Barriers: group.sync() between filling the tile and this call.
template <class Fused, int Rows, int RowVectors, bool Interior, class Group, class Find,
          class Reaches>
TILETRANSPOSE_FUNCTION void drain_spans(Group group, const unsigned char* shared,
                                        const tile_target& target, Find find, Reaches reaches) {
  constexpr int unit = Fused::out_unit;
  constexpr int bytes = Fused::store_bytes;
  const unsigned rank = group.thread_rank();
  visit_vectors<Rows, RowVectors, bytes, Fused::threads, Interior>(
      group, target, [&](unsigned, unsigned row, unsigned char* out, int byte) {
        if (!reaches(out, byte)) { return; }
        const unsigned from = find(row) + byte;
        if (Interior || (byte >= target.first_byte && byte + bytes <= target.end_byte)) {
          read_elements<access_word_t<unit>, bytes / unit, unit>(shared, from, rank)
              .store(out + byte);
        } else {
          TILETRANSPOSE_UNROLL_BY(1)
          for (int i = 0; i < bytes; i += unit) {
            const loop_step part(i);
            if (byte + i >= target.first_byte && byte + i < target.end_byte) {
              store_global(out + byte + i, load_shared<access_word_t<unit>>(shared + from + i));
            }
          }
        }
      });
}

/// The copy's side of a tile.
template <class Fused>
TILETRANSPOSE_FUNCTION tile_target make_copy_target(const tile_arguments& arguments,
                                                    const tile_order::place& at,
                                                    const row_major_copy& copy) {
  const size_type first_row = at.row_tile * Fused::rows;
  const size_type first_byte = at.col_tile * Fused::cols * Fused::out_bytes;
  const int rows = clipped_distance(first_row, arguments.problem.ny);
  return {static_cast<unsigned char*>(copy.data) + first_row * copy.stride_bytes + first_byte,
          copy.stride_bytes,
          larger(smaller(rows, Fused::rows), 0),
          clipped_distance(first_byte, 0),
          clipped_distance(first_byte, arguments.problem.nx * Fused::out_bytes),
          copy.sector_mask};
}

/// A block's tile; `interior` where each of its loads and stores is inside of the matrices.
struct fused_tile {
  tile_source source;
  tile_target target;
  tile_target copy_target;
  bool interior;
};

template <class Fused, fusion Kind>
TILETRANSPOSE_FUNCTION fused_tile place_tile(const tile_arguments& arguments,
                                             const row_major_copy& copy, unsigned tile) {
  const tile_order::place at = arguments.order(tile);
  fused_tile result{make_source<Fused::in_bytes, Fused>(arguments, at),
                    make_target<Fused>(arguments, at),
                    {},
                    false};
  // Columns of tiles may be there for the end of the copy alone.
  result.target.rows = larger(result.target.rows, 0);
  if constexpr (Kind == fusion::dual) {
    result.copy_target = make_copy_target<Fused>(arguments, at, copy);
  }
  // How far loads reach over the tile.
  constexpr int row_bytes = Fused::cols * Fused::in_bytes;
  constexpr int reach = Fused::deals ? Fused::load_bytes : 0;
  constexpr int lead = Fused::lead_cols * Fused::in_bytes;
  const tile_source& source = result.source;
  result.interior = source.first_row <= (arguments.sector_mask != 0 ? -Fused::skew_rows : 0) &&
                    source.end_row >= Fused::rows && source.first_byte <= -reach - lead &&
                    source.end_byte >= row_bytes + reach;
  return result;
}

/// Writes the pieces of the output and of the copy. Barriers: as `drain_spans`.
template <class Fused, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void drain_tile_and_copy(Group group, const fused_memory& memory,
                                                const fused_tile& tile) {
  drain_spans<Fused, Fused::cols, Fused::piece_bytes / Fused::store_bytes, Interior>(
      group, memory.shared, tile.target,
      [](unsigned row) { return Fused::row_offset(row) + Fused::lead_bytes; },
      [](const unsigned char*, int) { return true; });
  if constexpr (Fused::stages_copy) {
    // Each up to where its right neighbour's begins.
    constexpr int row_bytes = Fused::cols * Fused::out_bytes;
    constexpr int most =
        (row_bytes + sector_bytes - Fused::out_unit + Fused::store_bytes - 1) / Fused::store_bytes;
    drain_spans<Fused, Fused::rows, most, Interior>(
        group, memory.copied, tile.copy_target,
        [&](unsigned row) {
          const int shift = load_shift<Fused>(tile.source.row(static_cast<int>(row)));
          return row * Fused::copy_pitch + (Fused::lead_cols + shift) * Fused::out_bytes;
        },
        [&](const unsigned char* out, int byte) {
          return byte < row_bytes - static_cast<int>(address_bits(out + row_bytes) &
                                                     tile.copy_target.sector_mask);
        });
  }
}

template <class Fused, bool Interior, fusion Kind, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile_between(Group group, const fused_memory& memory,
                                                 const fused_tile& tile, const Op& op) {
  const bool skewed = tile.target.sector_mask != 0;
  if constexpr (Kind == fusion::accumulate) {
    recalled<Fused, Out> old;
    const auto recall = [&] { recall_pieces<Fused, Interior>(group, old, tile.target); };
    // Loads that are dealt out go first: what has to be done with them takes longer. H200, 2026-11-21, odd
    // rows of halves: 80 % of cudaMemcpyAsync, and 76 the other way round.
    if constexpr (!Fused::deals) { recall(); }
    fill_converted<Fused, Interior, In, Out>(
        group, memory, tile.source, skewed, [](const In& element) -> const In& { return element; },
        [&] {
          if constexpr (Fused::deals) { recall(); }
        });
    group.sync();
    combine_pieces<Fused, Interior, In>(group, memory.shared, old, tile.target, op);
  } else {
    fill_converted<Fused, Interior, In, Out>(
        group, memory, tile.source, skewed, [&](const In& element) -> Out { return op(element); },
        [] {});
    group.sync();
    drain_tile_and_copy<Fused, Interior>(group, memory, tile);
  }
}

/// The kernel's body: one block converts and moves the tile that `block` names.
/// Shared memory: Fused::shared_bytes, aligned to 16. Barriers: inside.
template <class Fused, fusion Kind, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile(Group group, unsigned char* shared,
                                         const tile_arguments& arguments,
                                         const row_major_copy& copy, const Op& op, unsigned block) {
  const fused_tile tile = place_tile<Fused, Kind>(arguments, copy, block);
  const fused_memory memory{
      shared, Fused::stages_copy ? shared + Fused::tile_bytes : tile.copy_target.first,
      copy.stride_bytes};
  if (tile.interior) {
    convert_tile_between<Fused, true, Kind, In, Out>(group, memory, tile, op);
  } else {
    convert_tile_between<Fused, false, Kind, In, Out>(group, memory, tile, op);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
