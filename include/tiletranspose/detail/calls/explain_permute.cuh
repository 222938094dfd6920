// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What permutes would launch. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/axes/word_shifted_tile.cuh>
#include <tiletranspose/detail/calls/explain_calls.cuh>
#include <tiletranspose/detail/choose/choose_axes_copy.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

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
    if (choice.together > 1) {
      say(result, "tiles along several axes", "micro-blocks of axes",
          "rows of four elements are whole and aligned on both sides: a thread transposes 4 x 4 of "
          "them in registers, and a side of a tile that is short takes the next axes, too");
    } else {
      say(result, "tiles along several axes", "tiles of axes",
          "two fastest axes, and more around them than a batch: a side of a tile that is short "
          "takes the next axes, too");
    }
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

/// Word-shifted tiles.
inline void explain_word_shifted_tiles(explanation& result, const axes_choice& choice,
                                       const relocation& move) {
  say(result, "word-shifted tiles along several axes", "word-shifted tiles of axes",
      "elements of 1 to 3 bytes whose rows and columns start anywhere, along sides that fill "
      "tiles: words are shifted to where columns of the input and sectors of the output start");
  const word_shifted_tiles tiles = cut_word_shifted_tiles(choice, move);
  describe_sides(result, tiles.sides);
  result.tile_rows = tiles.rows;
  result.tile_cols = static_cast<size_type>(tiles.shape.cols());
  result.load_bytes = 4;
  result.store_bytes = max_access_bytes;
  launch_counter{result}(plan_word_shifted_tiles(choice, move));
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
    return explain_word_shifted_tiles(result, copy, copy.move);
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
  const axes_choice choice = choose_axes(move);
  if (choice.mover == axes_mover::transpose) {
    explain_fused_problem<fusion::transform, In, Out>(result, make_problem(move, choice.x), {},
                                                      device);
    return result;
  }
  result.load_bytes = access_width(sizeof(In), alignof(In));
  result.store_bytes = access_width(sizeof(Out), alignof(Out));
  constexpr bool waits = calls_as_stored(fusion::transform, sizeof(In), sizeof(Out));
  explain_axes(result, choice, move,
               waits ? static_cast<int>(sizeof(In)) / result.load_bytes
                     : static_cast<int>(sizeof(Out)) / result.store_bytes);
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
