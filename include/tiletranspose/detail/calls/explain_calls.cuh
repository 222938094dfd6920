// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What calls would launch: explain_X asks the rules and makes the plans that run_X does, without a launch. Plain C++17, host
/// only.

#pragma once

#include <cstddef>
#include <type_traits>

#include <tiletranspose/detail/axes/word_shifted_tile.cuh>
#include <tiletranspose/detail/calls/explain_movers.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/tile/fused_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline explanation explain_start(const transpose_request& request) {
  explanation result;
  result.element_bytes = request.in_element;
  result.nx = request.nx;
  result.ny = request.ny;
  result.batch = request.batch;
  return result;
}
/// True where nothing is left to say: nothing to do, by the rule `idle`, or a refusal.
inline bool explain_verdict(explanation& result, verdict answer,
                            const char* idle = "nothing to do") {
  if (answer == verdict::go) { return false; }
  const bool refused = answer == verdict::refused;
  result.answer = refused ? explained::refuses : explained::does_nothing;
  say(result, "", refused ? "refused" : idle, answer.why);
  return true;
}

template <int ElementBytes, int Alignment>
void explain_problem(explanation& result, const batch_problem& problem, explained_device device) {
  with_choice<ElementBytes, Alignment>(
      problem, [&] { return device.most_shared_bytes; },
      [&](auto taken, const transpose_facts& facts, const choice& chosen) {
        constexpr int access = decltype(taken)::access_bytes;
        say(result, "", chosen.rule, chosen.why);
        if constexpr (decltype(taken)::by == mover::little) {
          explain_little<ElementBytes, access>(result, facts, chosen);
        } else {
          plan_launches(taken, problem, ElementBytes, chosen,
                        choice_describer<ElementBytes, access>{result, facts, chosen});
        }
      });
}

/// What a call of transpose answers.
template <int ElementBytes, int Alignment>
explanation explain_transpose(const transpose_request& request, explained_device device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine(request))) { return result; }
  if (is_vector(request) && share_words(request.out, request.in)) {
    result.answer = explained::copies;
    say(result, "copy", "vectors", "a vector without gaps is its own transpose");
  } else {
    explain_problem<ElementBytes, Alignment>(result, make_problem(request), device);
  }
  return result;
}

/// Rows that stay rows, in place too.
template <int ElementBytes, int Alignment>
void explain_rows(explanation& result, const row_problem& rows) {
  const size_type bits = row_bits(rows, Alignment);
  const little_rows work = choose_little_rows(rows);
  const row_problem joined = join_rows(rows);
  if (work.access > 0) {
    describe_little(result, work.mover, work.problem, work.access);
    say(result, "rows", "whole accesses",
        "rows are whole accesses on both sides: threads move these one by one");
    return;
  }
  with_access<ElementBytes, Alignment>(bits, [&](auto access_bytes) {
    constexpr int access = decltype(access_bytes)::value;
    if (work.mover != small_mover::none && fits_registers(ElementBytes, access)) {
      say(result, "", "little work",
          "so few elements that latency decides, or short segments with gaps between them: one "
          "element an access");
      describe_little(result, work.mover, work.problem, access);
    } else if (reverses_in_panels(ElementBytes) && !rows.in_place() &&
               goes_in_panels(joined, access)) {
      describe_panels(
          result, relocation_of(joined), access, "reversed short rows",
          "short rows of elements that are no words: a panel's segments run along many rows");
    } else {
      say(result, "rows", joined.reverses ? "reversed rows" : "copied rows",
          "rows stay rows: they are moved 16 bytes at a time, as whole lines of the output");
      result.load_bytes = result.store_bytes = max_access_bytes;
      plan_rows(joined, bits, known_element(ElementBytes), launch_counter{result});
    }
  });
}

/// What a call of reorient answers.
template <int ElementBytes, int Alignment>
explanation explain_reorient(transpose_request request, symmetry s, explained_device device) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine(request, s))) { return result; }
  if (!transposes(s) || is_vector(request)) {
    explain_rows<ElementBytes, Alignment>(result, make_rows(request, s));
  } else {
    explain_problem<ElementBytes, Alignment>(
        result, run_backwards(make_problem(request), reverses_rows(s), reverses_cols(s)), device);
  }
  return result;
}

/// What a call with planes answers. Lanes load one side as segments of memory, and store the other.
template <bool ToPlanes, class T, class Element, std::size_t Planes>
explanation explain_planes(const void* structs, Element* const (&planes)[Planes], size_type n,
                           explained_device device) {
  const plane_request request = make_planes<ToPlanes, T>(structs, planes, n);
  explanation result;
  result.element_bytes = sizeof(T);
  result.nx = ToPlanes ? Planes : n;
  result.ny = ToPlanes ? n : Planes;
  result.batch = 1;
  if (explain_verdict(result, examine(request))) { return result; }
  batch_problem problem{};
  if (is_transpose(request, problem)) {
    explain_problem<sizeof(T), alignof(T)>(result, problem, device);
  } else {
    with_plane_shape<sizeof(T), alignof(T), static_cast<int>(Planes)>(request, [&](auto tuned) {
      using shape = decltype(tuned);
      const auto access = [](size_type words) {
        return shape::in_registers ? access_width(4 * words) : shape::access;
      };
      say(result, "planes", shape::in_registers ? "planes apart" : "large structures",
          shape::in_registers
              ? "planes do not lie equally far apart: warps move them and the structures as "
                "segments, and lanes exchange elements"
              : "planes do not lie equally far apart, and registers hold no structures of a warp, "
                "or some address is no multiple of its accesses: one access is moved at a time");
      result.load_bytes = access(ToPlanes ? shape::words : shape::plane_words);
      result.store_bytes = access(ToPlanes ? shape::plane_words : shape::words);
      plan_planes<shape>(request.structures, launch_counter{result});
    });
  }
  return result;
}

/// What a fused transpose that may go would launch.
template <fusion Kind, class In, class Out>
void explain_fused_problem(explanation& result, const batch_problem& problem,
                           const row_major_copy& copy, explained_device device) {
  const little_operation work = choose_little_operation<Kind, In, Out>(problem);
  const bool converts = Kind == fusion::transform;
  if (const int side = converts ? fused_micro_side(problem, sizeof(In), sizeof(Out)) : 0) {
    const micro_transpose cut = cut_micro_tiles(problem, sizeof(In), sizeof(Out), side);
    say(result, "tile", "fused micro-blocks",
        "elements of 1 to 4 bytes in rows of whole groups of four, neither few nor, of one matrix, "
        "many: a thread converts 4 x 4 of them and transposes them in registers");
    result.tile_rows = result.tile_cols = static_cast<size_type>(side);
    result.load_bytes = access_width(micro_elements * sizeof(In));
    result.store_bytes = access_width(micro_elements * sizeof(Out));
    plan_axes_tiles<long long>(cut.tiles, cut.move, 1, launch_counter{result});
  } else if (work.mover != small_mover::none) {
    using kept = std::conditional_t<calls_as_stored(Kind, sizeof(In), sizeof(Out)), In, Out>;
    say(result, "", "little work", "few elements, or a batch that large tiles do not suit");
    describe_little(result, work.mover, work.problem, access_width(sizeof(kept), alignof(kept)));
    result.load_bytes = access_width(sizeof(In), alignof(In));
    result.store_bytes = access_width(sizeof(Out), alignof(Out));
  } else {
    const auto most_shared = [&] { return device.most_shared_bytes; };
    with_fused_shape<Kind, In, Out>(problem, copy, most_shared, [&](auto shape) {
      using tile = decltype(shape);
      say(result, "fused tile", "fused tiles",
          tile::loads == fused_loads::vectors
              ? "rows of the input start at multiples of 16 bytes: a lane loads several elements"
          : tile::loads == fused_loads::shifted
              ? "rows start anywhere: a lane loads several elements, and has the next one's for "
                "those that it lacks"
          : tile::loads == fused_loads::dealt
              ? "rows start anywhere: a lane loads what one store of the second output takes"
          : tile::loads == fused_loads::elements
              ? "a lane loads one element, or a part of one"
              : "elements that start inside of words are loaded as the words that they lie in");
      result.tile_rows = tile::tile_rows;
      result.tile_cols = tile::tile_cols;
      result.load_bytes = tile::loads == fused_loads::elements ? tile::in_access
                          : tile::loads_unaligned              ? 4
                                                               : tile::load_bytes;
      result.store_bytes =
          tile::combines ? tile::combined * tile::out_bytes : static_cast<int>(tile::read_bytes);
      plan_fused<tile>(problem, copy, {0, 0}, launch_counter{result});
    });
  }
}

/// What a fused call answers; `copy` is the second output of a call with two, its stride in elements.
template <fusion Kind, class In, class Out>
explanation explain_fused(const transpose_request& request, explained_device device,
                          void* copy = nullptr, size_type copy_stride = 0) {
  explanation result = explain_start(request);
  const verdict answer =
      Kind == fusion::dual ? examine_copy(request, copy, copy_stride) : examine(request);
  if (explain_verdict(result, answer)) { return result; }
  explain_fused_problem<Kind, In, Out>(result, make_problem(request),
                                       {copy, copy_stride * sizeof(Out)}, device);
  return result;
}

/// A square in its own memory.
template <int ElementBytes, int Alignment>
void explain_square(explanation& result, const transpose_request& request) {
  const size_type side = request.nx;
  const size_type stride_bytes = request.in_stride * ElementBytes;
  const size_type bits = reinterpret_cast<size_type>(request.in) | stride_bytes;
  const bool aligned = (bits | side * ElementBytes) % max_access_bytes == 0;
  if (is_little_square(side, stride_bytes, ElementBytes, aligned) &&
      fits_registers(ElementBytes, access_width(ElementBytes, Alignment))) {
    result.tile_rows = result.tile_cols = square_tile_side(side, ElementBytes);
    return say(result, "little square", "little work",
               "so few elements that latency decides: tiles trade places element by element");
  }
  const bool whole = with_access<ElementBytes, Alignment>(bits, [&](auto width) {
    return with_swap_shape<ElementBytes, decltype(width)::value>(
        side * side, side, bits, explained_device{}.most_shared_bytes,
        [](auto tile) { return decltype(tile)::whole; });
  });
  say(result, "tiles that trade places", whole ? "whole squares" : "any squares",
      whole ? "rows of whole accesses of 16 bytes: tiles trade places, in one pass"
            : "rows start anywhere, or many long ones off lines, or elements are no accesses: "
              "tiles of bytes trade places, in one pass");
}

/// What a call in place answers that has no scratch.
template <int ElementBytes, int Alignment>
explanation explain_reorient_inplace(const transpose_request& request, symmetry s) {
  explanation result = explain_start(request);
  if (explain_verdict(result, examine_inplace(request, s))) { return result; }
  const symmetry flip = transposes(s) ? compose(s, symmetry::transpose) : s;
  const row_problem rows = make_rows(request, flip);
  if (request.nx * request.ny == 1 || (!transposes(s) && rows.stay())) {
    explain_verdict(result, {verdict::nothing_to_do, "the matrix stays as it is"});
  } else if (transposes(s)) {
    explain_square<ElementBytes, Alignment>(result, request);
    if (flip != symmetry::identity) { result.why = "a square is transposed, and then flipped"; }
  } else {
    explain_rows<ElementBytes, Alignment>(result, rows);
  }
  return result;
}

/// What transpose_inplace with scratch answers.
template <int ElementBytes, int Alignment>
explanation explain_with_scratch(const transpose_request& request, const void* temp,
                                 size_type temp_bytes) {
  explanation result = explain_start(request);
  const size_type least = least_scratch(request.nx, request.ny, ElementBytes);
  const verdict answer = temp == nullptr ? examine_inplace(request, symmetry::identity)
                                         : examine_scratch(request, temp, temp_bytes, least);
  if (explain_verdict(result, answer)) { return result; }
  constexpr auto idle = verdict::nothing_to_do;
  if (temp == nullptr) {
    explain_verdict(result, {idle, "without scratch the call says how many bytes it needs"},
                    "no scratch");
  } else if (request.nx == 1 || request.ny == 1) {
    explain_verdict(result, {idle, "a vector without gaps is its own transpose"}, "vectors");
  } else if (request.nx == request.ny) {
    explain_square<ElementBytes, Alignment>(result, request);
  } else if (temp_bytes >= request.nx * request.ny * ElementBytes) {
    say(result, "out of place and back", "scratch for the whole matrix",
        "it is transposed into the scratch, as out of place, and copied back");
  } else {
    say(result, "rectangle in place", "less scratch than the matrix",
        "rows or slabs of rows are permuted, then columns; the device decides how");
  }
  return result;
}

/// The axes that the sides of tiles run along.
inline void describe_sides(explanation& result, const side_axes (&sides)[2]) {
  for (int s = 0; s < 2; ++s) {
    const side_axes& from = sides[1 - s];
    result.tile_sides[s].count = from.count;
    for (int k = 0; k < from.count; ++k) {
      result.tile_sides[s].axes[k] = result.order[from.axes[from.count - 1 - k]];
    }
  }
}

/// Tiles along several axes, or elements one by one, those of `moved`. A thread keeps an element as `accesses` accesses.
inline void explain_axes(explanation& result, const axes_choice& choice, const relocation& moved,
                         int accesses) {
  if (choice.mover == axes_mover::tiles && accesses <= most_tile_accesses) {
    const bool micro = choice.together > 1;
    say(result, "tiles along several axes", micro ? "micro-blocks of axes" : "tiles of axes",
        micro ? "rows of four elements are whole and aligned on both sides: a thread transposes "
                "4 x 4 of them in registers, and a side of a tile that is short takes the next "
                "axes, too"
              : "two fastest axes, and more around them than a batch: a side of a tile that is "
                "short takes the next axes, too");
    result.tile_rows = result.tile_cols = static_cast<size_type>(choice.tile_side);
    describe_sides(result, choice.sides);
    plan_axes_tiles<long long>(choice, moved, accesses, launch_counter{result});
    return;
  }
  const char* const mover = "elements along several axes";
  if (choice.mover == axes_mover::tiles) {
    say(result, mover, "many accesses",
        "registers do not hold elements of so many accesses in tiles: they are moved one by one, "
        "along the fastest axes of both sides first");
  } else if (choice.mover == axes_mover::copy || choice.x == result.rank - 1) {
    say(result, mover, "one fastest axis",
        "input and output have the same fastest axis: no tiles, elements are moved one by one, "
        "along it first");
  } else {
    say(result, mover, "short axes",
        "an axis or the array is too short for tiles, or short rows lie between those of others: "
        "elements are moved one by one, along the fastest axes of both sides first");
  }
  const size_type bytes = larger(moved.in_element, moved.out_element);
  plan_axes_elements<long long>(moved,
                                choice.mover == axes_mover::gathered
                                    ? gathered_rounds
                                    : axes_element_rounds(accesses, static_cast<int>(bytes)),
                                launch_counter{result});
}

/// Tiles, panels or elements of a copy, by accesses of a width.
inline void explain_axes_copy(explanation& result, const axes_choice& choice,
                              const relocation& move, int access) {
  const axes_copy copy = choose_axes_copy(choice, move, access);
  if (copy.mover == axes_mover::panels) {
    return describe_panels(
        result, move, access, "panels of axes",
        "a panel takes several axes together, so that what it reads and writes are segments so "
        "long that the sectors at their ends cost less than what tiles or single elements would");
  }
  if (copy.mover == axes_mover::word_shifted_tiles) {
    say(result, "word-shifted tiles along several axes", "word-shifted tiles of axes",
        "elements of 1 to 3 bytes whose rows and columns start anywhere, along sides that fill "
        "tiles: words are shifted to where columns of the input and sectors of the output start");
    const word_shifted_tiles tiles = cut_word_shifted_tiles(copy, copy.move);
    describe_sides(result, tiles.sides);
    result.tile_rows = tiles.rows;
    result.tile_cols = static_cast<size_type>(tiles.shape.cols());
    result.load_bytes = 4;
    result.store_bytes = max_access_bytes;
    launch_counter{result}(plan_word_shifted_tiles(copy, copy.move));
    return;
  }
  const size_type element = copy.move.in_element;
  const bool is_wide = copy.mover == axes_mover::wide_elements || element > move.in_element;
  const int width = is_wide ? access_width(element) : access;
  result.load_bytes =
      copy.together > 1 ? access_width(static_cast<size_type>(copy.together) * element) : width;
  result.store_bytes = copy.mover == axes_mover::gathered ? max_access_bytes : result.load_bytes;
  explain_axes(result, copy, copy.move, static_cast<int>(element) / width);
}

/// True where nothing is left to say of a permute: nothing to do, or a refusal. Else the relocation is normalized, and its
/// axes, which are in the order of the output, are named in that of the input.
inline bool explain_relocation(explanation& result, relocation& move) {
  result.element_bytes = move.in_element;
  result.rank = move.rank;
  for (int k = 0; k < move.rank; ++k) { result.axes[k] = move.axes[k]; }
  if (explain_verdict(result, examine(move))) { return true; }
  result.rank = larger(move.rank, 1);  // an array of one element has no axes left
  result.axes[0] = {1, 1, 1};
  const side_order order = order_of(move, true);
  for (int k = 0; k < move.rank; ++k) {
    result.order[order.axes[k]] = move.rank - 1 - k;
    result.axes[move.rank - 1 - k] = move.axes[order.axes[k]];
  }
  return false;
}

/// What a permute without a function answers.
template <int ElementBytes, int Alignment>
explanation explain_permute(relocation move, explained_device device) {
  explanation result;
  if (explain_relocation(result, move)) { return result; }
  const axes_choice choice = choose_copy(move);
  if (choice.mover == axes_mover::copy) {
    result.answer = explained::copies;
    say(result, "copy", "nothing changes places",
        "the elements lie in the same order on both sides, without gaps");
  } else if (choice.mover == axes_mover::rows) {
    explain_rows<ElementBytes, Alignment>(result, make_rows(move));
  } else if (choice.mover == axes_mover::transpose) {
    explain_problem<ElementBytes, Alignment>(result, make_problem(move, choice.x), device);
  } else {
    const int access = with_access<ElementBytes, Alignment>(
        address_bits_of(move), [](auto width) { return static_cast<int>(width); });
    explain_axes_copy(result, choice, move, access);
  }
  return result;
}

/// What a permute with a function on the way answers.
template <class In, class Out>
explanation explain_transform_permute(relocation move, explained_device device) {
  explanation result;
  if (explain_relocation(result, move)) { return result; }
  axes_choice choice = choose_axes(move);
  if (choice.mover == axes_mover::transpose) {
    explain_fused_problem<fusion::transform, In, Out>(result, make_problem(move, choice.x), {},
                                                      device);
    return result;
  }
  if (has_fused_micro_blocks(sizeof(In), sizeof(Out))) { take_micro_blocks(choice, move); }
  const bool in_blocks = choice.together > 1;
  result.load_bytes =
      in_blocks ? access_width(micro_elements * sizeof(In)) : access_width(sizeof(In), alignof(In));
  result.store_bytes = in_blocks ? access_width(micro_elements * sizeof(Out))
                                 : access_width(sizeof(Out), alignof(Out));
  constexpr bool waits = calls_as_stored(fusion::transform, sizeof(In), sizeof(Out));
  explain_axes(result, choice, move,
               in_blocks ? 1
               : waits   ? static_cast<int>(sizeof(In)) / result.load_bytes
                         : static_cast<int>(sizeof(Out)) / result.store_bytes);
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
