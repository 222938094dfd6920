// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The bank model of shared memory, evaluated by the compiler: how many cycles does the worst bank need
/// for one phase of a warp's request? 1 is conflict-free. Plain C++17, no CUDA needed.
///
///     using layout = tt::padded_layout<float, 32, 32, 0>;
///     static_assert(tt::conflict_ways(layout{}, tt::along_rows) == 1);
///     static_assert(tt::conflict_ways(layout{}, tt::along_columns) == 32);
///     static_assert(tt::default_padding<float, 32>() == 1);
///
/// The model: consecutive words of `bank_width` bytes lie in consecutive banks. A bank serves one word a
/// cycle; lanes that want the same word are served together (broadcast), for writes to different bytes of
/// a word too. A request of more bytes than all banks hold is split into phases of consecutive lanes:
/// 32 banks of 4 bytes serve 8-byte accesses by half-warps and 16-byte accesses by quarter-warps.
/// Source: CUDA C++ Programming Guide, "Shared Memory" of each compute capability.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// The banks of one kind of GPU.
struct bank_model {
  int banks;          ///< number of banks
  int bank_width;     ///< bytes that a bank serves per cycle
  int request_lanes;  ///< lanes that are served together when each wants one word
};

/// Every GPU since compute capability 5.0.
inline constexpr bank_model banks_32x4{32, 4, 32};
/// Compute capability 3.x in its 8-byte mode. No GPU that CUDA 12 and newer support can switch to it.
inline constexpr bank_model banks_32x8{32, 8, 32};
/// Compute capability 1.x: 16 banks, served by half-warps. The literature of that time speaks of it.
inline constexpr bank_model banks_16x4{16, 4, 16};

/// 32 banks of `bank_width` bytes; GPUs have had 4 and 8.
TILETRANSPOSE_HOST_DEVICE constexpr bank_model banks_of_width(int bank_width) {
  return {32, bank_width, 32};
}

/// One element of a tile; a negative row marks a lane that takes no part in a request.
struct tile_coordinate {
  int row;
  int col;
};

/// The order in which consecutive threads walk over a tile: each takes one access, row by row or column
/// by column. `access_bytes` is the width of an access; 0 stands for the widest that divides the element
/// (`access_width`). Elements wider than an access are walked access by access, so that consecutive lanes
/// hold consecutive bytes of them; an access of several elements takes neighbours of a row.
struct tile_walk {
  bool by_columns;
  int access_bytes;
};
/// How a tile is filled, row by row, and how its transpose is read, column by column, element by element.
inline constexpr tile_walk along_rows{false, 0};
inline constexpr tile_walk along_columns{true, 0};

/// The accesses of a walk over a tile of `rows` x `cols` elements of `element_bytes` bytes, in order: step
/// `s` is taken by lane `s % request_lanes` of request `s / request_lanes`.
///
///     const tt::walk_steps steps(tt::along_columns, 4, 32, 32);
///     steps.count == 32 * 32 && steps(33).row == 1 && steps(33).col == 1
struct walk_steps {
  /// An element, and the byte inside it where the access starts.
  struct place {
    int row, col, byte;
  };

  bool by_columns;
  int access_bytes;
  int parts;       ///< accesses per element
  int elements;    ///< elements per access
  int line_steps;  ///< steps along a row or a column
  int count;       ///< steps of the whole walk

  TILETRANSPOSE_HOST_DEVICE constexpr walk_steps(tile_walk walk, int element_bytes, int rows,
                                                 int cols)
      : by_columns(walk.by_columns),
        access_bytes(walk.access_bytes > 0 ? walk.access_bytes
                                           : access_width(static_cast<size_type>(element_bytes))),
        parts(access_bytes < element_bytes ? element_bytes / access_bytes : 1),
        elements(access_bytes > element_bytes ? access_bytes / element_bytes : 1),
        line_steps(walk.by_columns ? rows * parts : cols / elements * parts),
        count(rows * (cols / elements) * parts) {}

  TILETRANSPOSE_HOST_DEVICE constexpr place operator()(int step) const {
    const int along = step % line_steps / parts;
    const int across = step / line_steps;
    return by_columns ? place{along, across * elements, step % parts * access_bytes}
                      : place{across, along * elements, step % parts * access_bytes};
  }
};

/// Lanes of a request of `access_bytes` bytes a lane that are served together: as many as all banks hold
/// the bytes of, and at most those of a request of single words.
TILETRANSPOSE_HOST_DEVICE constexpr int phase_lanes(int access_bytes, bank_model model) {
  const int wanted = model.banks * model.bank_width / access_bytes;
  return wanted > model.request_lanes ? model.request_lanes : wanted > 0 ? wanted : 1;
}

namespace detail {

/// Conflict ways of one phase, by lanes [first, end), of any model and of accesses of any width. It keeps no list of words,
/// and a compiler takes many times as long for it as for `request_ways`.
TILETRANSPOSE_ANY_CALLEE
template <class ByteOffset>
TILETRANSPOSE_HOST_DEVICE constexpr int phase_ways(ByteOffset byte_offset, int access_bytes,
                                                   bank_model model, int first, int end) {
  int worst = 0;
  for (int bank = 0; bank < model.banks; ++bank) {
    int served = 0;  // words of the bank that no earlier lane wants
    for (int lane = first; lane < end; ++lane) {
      const long long offset = byte_offset(lane);
      if (offset < 0) { continue; }
      const long long last = (offset + access_bytes - 1) / model.bank_width;
      for (long long word = offset / model.bank_width; word <= last; ++word) {
        bool counts = word % model.banks == bank;
        for (int other = first; counts && other < lane; ++other) {
          const long long start = byte_offset(other);
          counts = start < 0 || word < start / model.bank_width ||
                   word > (start + access_bytes - 1) / model.bank_width;
        }
        if (counts && ++served > worst) { worst = served; }
      }
    }
  }
  return worst;
}

}  // namespace detail

/// Conflict ways of one request: lane `l` of `lanes` accesses `access_bytes` bytes at `byte_offset(l)`;
/// a negative offset means that the lane takes no part. `access_bytes` is 1 or more.
/// \returns the largest number of distinct words that one bank serves in one phase; 0 without any lane.
TILETRANSPOSE_ANY_CALLEE
template <class ByteOffset>
TILETRANSPOSE_HOST_DEVICE constexpr int request_ways(ByteOffset byte_offset, int access_bytes,
                                                     bank_model model = banks_32x4,
                                                     int lanes = 32) {
  // Room for every access of a GPU, and for twice its banks; phases of more words are counted without it.
  constexpr int max_banks = 64;
  constexpr int max_words = 128;
  const int together = phase_lanes(access_bytes, model);
  const long long lane_words = (access_bytes + 2LL * model.bank_width - 2) / model.bank_width;
  const bool has_room = model.banks <= max_banks && together * lane_words <= max_words;
  int worst = 0;
  for (int first = 0; first < lanes; first += together) {
    if (!has_room) {
      const int end = lanes - first < together ? lanes : first + together;
      const int ways = detail::phase_ways(byte_offset, access_bytes, model, first, end);
      worst = ways > worst ? ways : worst;
      continue;
    }
    int used[max_banks] = {};          // distinct words per bank
    long long newest[max_banks] = {};  // the last word seen in each bank
    long long words[max_words] = {};   // every distinct word of this phase
    int count = 0;
    for (int lane = first; lane < first + together && lane < lanes; ++lane) {
      const long long offset = byte_offset(lane);
      if (offset < 0) { continue; }
      const long long last = (offset + access_bytes - 1) / model.bank_width;
      for (long long word = offset / model.bank_width; word <= last; ++word) {
        const int bank = static_cast<int>(word % model.banks);
        bool seen = used[bank] > 0 && newest[bank] == word;
        for (int i = 0; !seen && used[bank] > 0 && i < count; ++i) { seen = words[i] == word; }
        if (seen) { continue; }
        words[count++] = word;
        newest[bank] = word;
        if (++used[bank] > worst) { worst = used[bank]; }
      }
    }
  }
  return worst;
}

namespace detail {

/// Lanes to byte offsets, by way of the elements they access. A struct, because a lambda's call operator cannot
/// be told that its callee may be a host function.
template <class Layout, class LaneMap>
struct lane_offset {
  Layout layout;
  LaneMap lane_map;

  TILETRANSPOSE_ANY_CALLEE
  TILETRANSPOSE_HOST_DEVICE constexpr long long operator()(int lane) const {
    const tile_coordinate at = lane_map(lane);
    return at.row < 0 ? -1
                      : static_cast<long long>(layout(at.row, at.col)) *
                            static_cast<long long>(sizeof(typename Layout::element));
  }
};

}  // namespace detail

/// Conflict ways of one request on a tile: lane `l` accesses `access_bytes` bytes at the element
/// `lane_map(l)`, a `tile_coordinate`.
TILETRANSPOSE_ANY_CALLEE
template <class Layout, class LaneMap>
TILETRANSPOSE_HOST_DEVICE constexpr int conflict_ways(Layout layout, LaneMap lane_map,
                                                      int access_bytes,
                                                      bank_model model = banks_32x4,
                                                      int lanes = 32) {
  return request_ways(detail::lane_offset<Layout, LaneMap>{layout, lane_map}, access_bytes, model,
                      lanes);
}

namespace detail {

/// The worst request of a walk over a tile. Stops at the first request above `limit`.
TILETRANSPOSE_ANY_CALLEE
template <class Offset>
TILETRANSPOSE_HOST_DEVICE constexpr int walk_ways(Offset offset, int element_bytes, int rows,
                                                  int cols, tile_walk walk, bank_model model,
                                                  int limit, bool repeats = false) {
  const walk_steps places(walk, element_bytes, rows, cols);
  int steps = places.count;
  if (repeats) {
    // Where all rows have one pitch, requests that start in one place of a row or column differ by a
    // multiple of it; after bank_width of them the words they touch start over.
    int period = places.line_steps;
    while (period % model.request_lanes != 0) { period += places.line_steps; }
    period *= model.bank_width;
    steps = period < steps ? period : steps;
  }
  int worst = 0;
  for (int first = 0; first < steps && worst <= limit; first += model.request_lanes) {
    const auto byte_offset = [&](int lane) -> long long {
      const int step = first + lane;
      if (step >= steps) { return -1; }
      const walk_steps::place at = places(step);
      return static_cast<long long>(offset(at.row, at.col)) * element_bytes + at.byte;
    };
    const int ways = request_ways(byte_offset, places.access_bytes, model, model.request_lanes);
    worst = ways > worst ? ways : worst;
  }
  return worst;
}

constexpr int no_limit = 1 << 30;

}  // namespace detail

/// Conflict ways of the worst request when a whole tile is walked.
/// \code static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 1>{}, tt::along_columns) == 1); \endcode
TILETRANSPOSE_ANY_CALLEE
template <class Layout>
TILETRANSPOSE_HOST_DEVICE constexpr int conflict_ways(Layout layout, tile_walk walk,
                                                      bank_model model = banks_32x4) {
  return detail::walk_ways(layout, static_cast<int>(sizeof(typename Layout::element)), Layout::rows,
                           Layout::cols, walk, model, detail::no_limit);
}

/// The same for 32 banks of `bank_width` bytes.
/// \code static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, tt::along_columns, 8) == 16); \endcode
TILETRANSPOSE_ANY_CALLEE
template <class Layout>
TILETRANSPOSE_HOST_DEVICE constexpr int conflict_ways(Layout layout, tile_walk walk,
                                                      int bank_width) {
  return conflict_ways(layout, walk, banks_of_width(bank_width));
}

/// The same for a `tile_map`, whose numbers only the run knows.
/// \code static_assert(tt::map_ways(tt::padded_map(1, 32, 32, 1), tt::along_columns) == 2); \endcode
TILETRANSPOSE_ANY_CALLEE
template <class Map>
TILETRANSPOSE_HOST_DEVICE constexpr int map_ways(Map map, tile_walk walk,
                                                 bank_model model = banks_32x4) {
  return detail::walk_ways(map, map.element_bytes, map.rows, map.cols, walk, model,
                           detail::no_limit);
}

/// True when both walks of a transpose, writing rows and reading columns, are conflict-free.
TILETRANSPOSE_ANY_CALLEE
template <class Layout>
TILETRANSPOSE_HOST_DEVICE constexpr bool is_conflict_free(Layout layout,
                                                          bank_model model = banks_32x4) {
  constexpr int bytes = static_cast<int>(sizeof(typename Layout::element));
  return detail::walk_ways(layout, bytes, Layout::rows, Layout::cols, along_columns, model, 1) ==
             1 &&
         detail::walk_ways(layout, bytes, Layout::rows, Layout::cols, along_rows, model, 1) == 1;
}

/// Conflict ways of the worst request of a transpose, writing rows and reading columns, on a tile of
/// `rows` x `cols` elements of `element_bytes` bytes with `padding` elements behind each row. Stops at the
/// first request above `limit`.
TILETRANSPOSE_HOST_DEVICE constexpr int padded_ways(int element_bytes, int rows, int cols,
                                                    int padding, bank_model model = banks_32x4,
                                                    int limit = detail::no_limit) {
  const int pitch = cols + padding;
  const auto offset = [pitch](int row, int col) { return row * pitch + col; };
  const int read =
      detail::walk_ways(offset, element_bytes, rows, cols, along_columns, model, limit, true);
  if (read > limit) { return read; }
  const int write =
      detail::walk_ways(offset, element_bytes, rows, cols, along_rows, model, limit, true);
  return read > write ? read : write;
}

/// The fewest elements of padding that make a `rows` x `cols` tile of elements of `element_bytes`
/// conflict-free for both walks of a transpose; where none of 0 to 128 does, the padding with the fewest
/// ways.
TILETRANSPOSE_HOST_DEVICE constexpr int padding_for(int element_bytes, int rows, int cols,
                                                    bank_model model = banks_32x4) {
  // From the fewest ways on: a walk that may stop at its first request above them is short, and compilers limit
  // the steps of one evaluation.
  for (int ways = 1;; ++ways) {
    for (int padding = 0; padding <= 128; ++padding) {
      if (padded_ways(element_bytes, rows, cols, padding, model, ways) <= ways) { return padding; }
    }
  }
}

/// `padding_for` a tile of T. One element is folklore: it is right for 4-byte elements and multiples of
/// them; 1- and 2-byte elements need one *word*, and other sizes what the model finds.
/// \code static_assert(tt::default_padding<unsigned char, 128>() == 4); \endcode
template <class T, int Rows, int Cols = Rows, int BankWidth = 4>
TILETRANSPOSE_HOST_DEVICE constexpr int default_padding() {
  static_assert(BankWidth == 4 || BankWidth == 8, "tt: BankWidth must be 4 or 8 bytes");
  return padding_for(static_cast<int>(sizeof(T)), Rows, Cols, banks_of_width(BankWidth));
}

TILETRANSPOSE_NAMESPACE_END
