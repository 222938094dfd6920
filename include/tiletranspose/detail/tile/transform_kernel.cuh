// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tile kernel with a function applied on the way: elements are loaded as the input's type, converted to
/// the output's, and stored into shared rows whose segments are drained as the plain kernel's are.
///
/// A launch chooses the tile and how rows are loaded (fused_policy.cuh, fused_shape.cuh); fused_rows.cuh loads, converts
/// and stores them. Of *accumulate* the segments of the output as they were are read before anything else, and wait in the
/// shared rows (`operand_words`) or in registers (`operand_vectors`), as `fused_shape::holds_operand` says.
///
/// What a fused call asks of its function object comes first.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/tile/fused_rows.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Whether a const `Op` can be called with these arguments, as lvalues, and yields what converts to `Result`. A pointer to a
/// member is invoked, but not called.
template <class Result, class Op, class... Arguments>
inline constexpr bool yields = !std::is_member_pointer<Op>::value &&
                               std::is_invocable_r<Result, const Op&, const Arguments&...>::value;

/// Whether a class has one call operator, of three parameters: what Clang can say of one that is for the device alone.
template <class Op, class = void>
struct has_three_parameters : std::false_type {};
template <class Op>
struct has_three_parameters<Op, std::void_t<decltype(&Op::operator())>> {
  template <class Result, class Class, class A, class B, class C>
  static std::true_type test(Result (Class::*)(A, B, C) const);
  static std::false_type test(...);
  static constexpr bool value = decltype(test(&Op::operator()))::value;
};

/// Whether a function object is called with an element and its row and column in the input, not with the element alone.
template <class In, class Out, class Op>
inline constexpr bool takes_place =
#if TILETRANSPOSE_CLANG_CUDA
    has_three_parameters<Op>::value;
#else
    !yields<Out, Op, In> && yields<Out, Op, In, size_type, size_type>;
#endif

/// Calls it so. A matrix of a batch counts its rows and columns for itself.
template <class In, class Out, class Op>
TILETRANSPOSE_FUNCTION Out call_at(const Op& op, const In& element, size_type row, size_type col) {
  if constexpr (takes_place<In, Out, Op>) {
    return op(element, row, col);
  } else {
    static_cast<void>(row), static_cast<void>(col);
    return op(element);
  }
}

/// Whether the bytes of a function object may be handed to a kernel. For the host compiler nvcc replaces a __host__
/// __device__ lambda by a type that has a copy constructor; it starts with the lambda's captures, which are all that a
/// kernel reads. Where nvcc compiles for the device it sees the lambda itself.
template <class Op>
constexpr bool is_copied_as_bytes() {
#if defined(__CUDACC_EXTENDED_LAMBDA__) && !TILETRANSPOSE_ON_DEVICE
  if (__nv_is_extended_host_device_lambda_closure_type(Op)) { return true; }
#endif
  return std::is_trivially_copyable<Op>::value;
}

/// Whether a function object can be called as a fused transpose does. Answered where the compiler looks at device code:
/// for the host, nvcc replaces __device__ lambdas by types that cannot be called. Clang takes a __device__ function for
/// one that nobody outside of device code can call.
template <fusion Kind, class In, class Out, class Op>
constexpr bool takes_elements() {
#if TILETRANSPOSE_ON_DEVICE && !TILETRANSPOSE_CLANG_CUDA
  if constexpr (Kind == fusion::accumulate) {
    return yields<Out, Op, In, Out>;
  } else {
    return yields<Out, Op, In> || takes_place<In, Out, Op>;
  }
#else
  return true;
#endif
}

/// Whether its kernels can be instantiated.
template <fusion Kind, class In, class Out, class Op>
constexpr bool is_fusible() {
  if constexpr (is_element<In>() && is_element<Out>()) {
    return takes_elements<Kind, In, Out, Op>();
  }
  return false;
}

/// What a fused transpose asks of its function object.
template <fusion Kind, class In, class Out, class Op>
constexpr bool check_function() {
  constexpr bool is_object = !std::is_function<typename std::remove_pointer<Op>::type>::value &&
                             !std::is_member_pointer<Op>::value;
  static_assert(is_object,
                "tt: a fused transpose takes a function object with a __device__ call operator, no "
                "function and no pointer to one, whose address the GPU does not know");
  static_assert(is_copied_as_bytes<Op>(),
                "tt: the function of a fused transpose must be trivially copyable; it is handed to "
                "the kernel as bytes");
  constexpr bool fits = !is_object || takes_elements<Kind, In, Out, Op>();
  static_assert(fits || Kind == fusion::accumulate,
                "tt: the function of transform_transpose must be callable, as a const object, with "
                "an element of the input, or with one and its row and column there, and yield what "
                "converts to an element of the output");
  static_assert(fits || Kind != fusion::accumulate,
                "tt: the function of accumulate_transpose must be callable, as a const object, "
                "with an element of the input and an old one of the output, and yield what "
                "converts to an element of the output");
  return true;
}

#if defined(__CUDACC__) || defined(__device__)  // where there are kernels
/// Calls a function object as the kernel does. The kernel's parts are functions for host and device, from which nvcc
/// takes a call of a host function with a warning, and in a folder of system headers without one. Here it is an error.
template <fusion Kind, class In, class Out, class Op>
__device__ TILETRANSPOSE_INLINE void call_on_device(const Op& op, const In* element,
                                                    const Out* old) {
  if constexpr (Kind == fusion::accumulate) {
    static_cast<void>(op(*element, *old));
  } else if constexpr (takes_place<In, Out, Op>) {
    static_cast<void>(op(*element, size_type{0}, size_type{0}));
  } else {
    static_cast<void>(op(*element));
  }
}
#endif

/// Fills the shared rows with rows [-skew_rows, rows) of the input, or from row 0 on where nothing is skewed.
/// Calls meanwhile() once the first loads are under way.
template <class Fused, bool Interior, class Convert, class Meanwhile, class Group>
TILETRANSPOSE_FUNCTION void fill_converted(Group group, const fused_tile& tile,
                                           const Convert& convert, Meanwhile meanwhile) {
  using places = tile_loads<Fused, Interior>;
  TILETRANSPOSE_UNROLL
  for (int phase = 0; phase < places::phases; ++phase) {
    const loop_step here(phase);
    const places at(group, tile, phase);
    TILETRANSPOSE_UNROLL_BY(places::unrolled)
    for (int first = 0; first < places::rounds; first += places::batch) {
      typename places::loaded_batch loaded;
      at.load_rows(first, loaded);
      if (phase == 0 && first == 0) { meanwhile(); }
      at.store_rows(first, loaded, convert);
    }
  }
}

/// The old bytes of a tile's segments on their way into the shared rows. Segments may start inside of a word, shared rows
/// do not: words are loaded whole, though neighbours may have written what else is in them, and shifted together.
template <class Fused>
struct operand_words {
  static constexpr int bytes = Fused::store_bytes;
  static constexpr bool shifts = Fused::owns_elements;
  static constexpr unsigned rounds = segment_rounds<Fused, bytes>::rounds;
  using word = access_word_t<bytes>;
  word low[rounds];
  word high[shifts ? rounds : 1];

  /// How far into a word the segment starts of whose words one lies `byte` bytes after its start.
  TILETRANSPOSE_FUNCTION static int past(int byte) {
    return shifts ? static_cast<int>((0u - static_cast<unsigned>(byte)) % 4) : 0;
  }
  /// The word at `address` and, where a part of it is the segment's alone, the one behind it.
  TILETRANSPOSE_FUNCTION void load(unsigned round, const unsigned char* address, int byte) {
    const int first = past(byte);
    if constexpr (!shifts) {
      low[round] = load_near<word, Fused::fetched_old, true>(address);
    } else {
      low[round] = load_global_part<word, Fused::fetched_old>(address, first, bytes);
      high[round] = 0;
      if (first > 0) {
        high[round] = load_global_part<word, Fused::fetched_old>(address + 4, 0, first);
      }
    }
  }
  TILETRANSPOSE_FUNCTION word joined(unsigned round, int byte) const {
    if constexpr (shifts) {
      return funnel_shift(low[round], high[round], static_cast<unsigned>(8 * past(byte)));
    } else {
      return low[round];
    }
  }

  /// Loads the old bytes of a tile's segments. At the ends of a matrix, where words may reach over them, it keeps them, too.
  template <bool Interior, class Group>
  TILETRANSPOSE_FUNCTION void load_all(Group group, const fused_tile& tile) {
    constexpr int access_bytes = Fused::out_access;
    tile.target.visit_vectors<Fused, bytes, Interior>(group, [&](unsigned round,
                                                                 unsigned char* address, int byte,
                                                                 unsigned row, unsigned further) {
      const int first = past(byte);
      const bool whole =
          Interior || !shifts ||
          (byte >= tile.target.first_byte && byte + first + 4 <= tile.target.end_byte - 3);
      if (whole) { load(round, address, byte); }
      if constexpr (!Interior) {
        unsigned char* const to = tile.shared + Fused::row_offset(row) + (byte + first) + further;
        if (whole) {
          store_shared(to, joined(round, byte));
        } else if constexpr (shifts) {
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < bytes; i += access_bytes) {
            const loop_step part(i);
            if (byte + first + i < tile.target.end_byte) {
              store_shared(to + i, load_global<access_word_t<access_bytes>>(address + first + i));
            }
          }
        }
      }
    });
  }
  /// Keeps what has been loaded in the places of the shared rows that it will be drained from.
  template <class Group>
  TILETRANSPOSE_FUNCTION void keep(Group group, const fused_tile& tile) const {
    tile.target.visit_vectors<Fused, bytes, true>(
        group, [&](unsigned round, unsigned char*, int byte, unsigned row, unsigned further) {
          store_shared(tile.shared + Fused::row_offset(row) + (byte + past(byte)) + further,
                       joined(round, byte));
        });
  }
};

/// The old elements of the segments that a thread will write.
template <class Fused>
struct operand_vectors {
  static constexpr int count = Fused::combined;
  static constexpr int bytes = count * Fused::out_bytes;
  static constexpr int rounds = segment_rounds<Fused, bytes>::rounds;
  /// Whether they are read early at the ends of a matrix too, where narrow elements leave no registers for them.
  static constexpr bool always_early = Fused::out_bytes > 8;
  using vector = packed_elements<typename Fused::out, count, bytes>;
  vector vectors[rounds];

  /// Reads what the tile will overwrite and nothing else, because other tiles may have written already.
  template <bool Interior, class Group>
  TILETRANSPOSE_FUNCTION void load(Group group, const tile_target& target) {
    target.visit_vectors<Fused, bytes, Interior>(
        group, [&](unsigned round, unsigned char* address, int byte, unsigned, unsigned) {
          if (Interior || target.is_whole_vector<Fused, bytes>(address, byte)) {
            vectors[round].template load<Fused::fetched_old, true>(address);
          }
        });
  }

  /// Writes op(element, old element). Old elements that were not read early are read just before.
  /// Barriers: group.sync() between filling the tile and this call.
  template <bool Interior, class Op, class Group>
  TILETRANSPOSE_FUNCTION void combine(Group group, const fused_tile& tile, const Op& op) {
    const tile_target& target = tile.target;
    const unsigned rank = group.thread_rank();
    target.visit_vectors<Fused, bytes, Interior>(
        group,
        [&](unsigned round, unsigned char* address, int byte, unsigned row, unsigned further) {
          // Of the row's elements, those of the rows before the tile among them.
          const int first = (byte + Fused::skew_rows * Fused::out_bytes) / Fused::out_bytes;
          const unsigned from = Fused::row_offset(row) + first * Fused::in_bytes;
          if (Interior || target.is_whole_vector<Fused, bytes>(address, byte)) {
            const auto elements = read_elements<typename Fused::in, count, Fused::in_access>(
                tile.shared, from, further, rank);
            if (!Interior && !always_early) { vectors[round].template load<0, true>(address); }
            vector result;
            TILETRANSPOSE_UNROLL
            for (int i = 0; i < count; ++i) {
              result.put(i, op(elements.get(i), vectors[round].get(i)));
            }
            result.store(address);
          } else if constexpr (count > 1) {
            TILETRANSPOSE_UNROLL
            for (int i = 0; i < count; ++i) {
              const loop_step part(i);
              const int at = byte + i * Fused::out_bytes;
              if (at < target.first_byte || at >= target.end_byte) { continue; }
              const auto element = read_elements<typename Fused::in, 1, Fused::in_access>(
                  tile.shared, from + i * Fused::in_bytes, further, rank);
              packed_elements<typename Fused::out, 1, Fused::out_bytes> one;
              one.template load<0, true>(address + i * Fused::out_bytes);
              one.put(0, op(element.get(0), one.get(0)));
              one.store(address + i * Fused::out_bytes);
            }
          }
        });
  }
};

/// The tiles of a launch of which each load and store is inside of the matrices: `rows` rows of tiles from `first_row`
/// on, likewise columns. A launch works them out once; blocks that did so took a fifth of their instructions for it.
struct interior_tiles {
  unsigned first_row;
  unsigned rows;
  unsigned first_col;
  unsigned cols;

  TILETRANSPOSE_FUNCTION bool contain(const tile_order::place& at) const {
    return static_cast<unsigned>(at.row_tile) - first_row < rows &&
           static_cast<unsigned>(at.col_tile) - first_col < cols;
  }
};

struct fused_arguments {
  tile_arguments tiles;
  interior_tiles interior;
  row_major_copy copy;
  matrix_place first;  ///< what the launch moves begins there in the caller's input
};

/// The interior tiles of a problem. `skewed`: segments of the output reach over a tile's first row or its last one.
template <class Fused>
interior_tiles find_interior(const matrix_problem& problem, bool skewed) {
  // How far loads reach over the tile.
  constexpr size_type reach = Fused::shifts            ? Fused::load_bytes
                              : Fused::loads_unaligned ? Fused::unaligned::reach
                                                       : Fused::lead_cols * Fused::in_bytes;
  constexpr size_type row_bytes = Fused::tile_cols * Fused::in_bytes;
  const auto between = [](size_type first, size_type end) {
    return static_cast<unsigned>(end > first ? end - first : 0);
  };
  // Words that hold the first and the last bytes of segments which start anywhere.
  const size_type past_rows =
      skewed && Fused::holds_operand && Fused::out_access < 4 ? divide_up(3, Fused::out_bytes) : 0;
  const size_type first_row =
      skewed ? divide_up(larger<size_type>(Fused::skew_rows, past_rows), Fused::tile_rows) : 0;
  const size_type first_col = divide_up(reach, row_bytes);
  const size_type bytes = problem.nx * Fused::in_bytes;
  return {static_cast<unsigned>(first_row),
          between(first_row, (problem.ny - smaller(past_rows, problem.ny)) / Fused::tile_rows),
          static_cast<unsigned>(first_col),
          between(first_col, bytes > reach ? (bytes - reach) / row_bytes : 0)};
}

template <class Fused, bool Interior, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile_between(Group group, const fused_tile& tile,
                                                 const Op& op) {
  using in = typename Fused::in;
  using out = typename Fused::out;
  if constexpr (Fused::holds_operand) {
    // Both are under way before either is waited for.
    operand_words<Fused> old;
    old.template load_all<Interior>(group, tile);
    fill_converted<Fused, Interior>(
        group, tile,
        [&](const in& element, const out& before) -> out { return op(element, before); },
        [&] {
          if (Interior) { old.keep(group, tile); }
          group.sync();
        });
    group.sync();
    // Addresses are worked out once more: they would be kept from the first time on, two registers each.
    tile_target target = tile.target;
    target.stride_bytes = optimisation_barrier(target.stride_bytes);
    target.first_byte = 0;
    target.end_byte =
        Interior ? Fused::segment_bytes : smaller(target.end_byte, Fused::segment_bytes);
    target.drain_segments<Fused, Interior>(group, tile.shared);
  } else if constexpr (Fused::combines) {
    operand_vectors<Fused> old;
    const auto load_early = [&] {
      if (Interior || operand_vectors<Fused>::always_early) {
        old.template load<Interior>(group, tile.target);
      }
    };
    // Loads that are shifted go first: what has to be done with them takes longer.
    if constexpr (!Fused::shifts) { load_early(); }
    fill_converted<Fused, Interior>(
        group, tile, [](const in& element, int, int) -> const in& { return element; },
        [&] {
          if constexpr (Fused::shifts) { load_early(); }
        });
    group.sync();
    old.template combine<Interior>(group, tile, op);
  } else {
    fill_converted<Fused, Interior>(
        group, tile,
        [&](const in& element, int row, int col) -> out {
          return call_at<in, out>(op, element, tile.first.row + static_cast<size_type>(row),
                                  tile.first.col + static_cast<size_type>(col));
        },
        [] {});
    group.sync();
    tile.target.drain_segments<Fused, Interior>(group, tile.shared);
  }
}

/// The kernel's body: one block converts and moves the tile that `block` names.
/// Shared memory: Fused::shared_bytes, aligned to 16. Barriers: inside.
template <class Fused, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile(Group group, unsigned char* shared,
                                         const fused_arguments& arguments, const Op& op,
                                         unsigned block) {
  const tile_order::place at = arguments.tiles.order(block);
  const row_major_copy& copy = arguments.copy;
  const size_type row = at.row_tile * Fused::tile_rows;
  const size_type col = at.col_tile * Fused::tile_cols;
  // There are no arrays of pointers, and only conversions have batches: nvcc makes fewer loads at a time otherwise.
  constexpr bool has_batches = Fused::kind == fusion::transform;
  const matrix_problem& problem = arguments.tiles.problem;
  const auto* const in = static_cast<const unsigned char*>(problem.in) +
                         (has_batches ? at.batch * problem.in_batch_bytes : 0);
  auto* const out = static_cast<unsigned char*>(problem.out) +
                    (has_batches ? at.batch * problem.out_batch_bytes : 0);
  fused_tile tile{make_source<Fused>(arguments.tiles, at, in),
                  make_target<Fused>(arguments.tiles, at, out),
                  {arguments.first.row + row, arguments.first.col + col},
                  Fused::barrier_on_columns ? optimisation_barrier_shared(shared) : shared,
                  {copy.place(row, col * Fused::out_bytes), copy.stride_bytes, copy.in_step}};
  // Columns of tiles may be there for the end of the copy alone.
  if constexpr (Fused::copies) { tile.target.rows = larger(tile.target.rows, 0); }
  if constexpr (Fused::holds_operand) { tile.target.sector_mask = Fused::skew_bytes - 1; }
  if (arguments.interior.contain(at)) {
    convert_tile_between<Fused, true>(group, tile, op);
  } else {
    convert_tile_between<Fused, false>(group, tile, op);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
