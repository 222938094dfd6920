// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which mover takes a transpose: an ordered list of rules over facts, of which the first that applies decides. No CUDA
/// call, no launch, no template on the element. Plain C++17, host only.
///
/// A new rule is a function `bool rule(transpose_facts&, choice&)` and a line of `transpose_rules`; the numbers that it
/// compares with are rows of tuning_tile.cuh and tuning_panel.cuh. What a call can never take is not compiled:
/// `reachable` says so, and tests/choice holds the rules to it.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/choose/gathered_panel.cuh>
#include <tiletranspose/detail/choose/tuning_tile.cuh>
#include <tiletranspose/detail/choose/vectorised_panel.cuh>
#include <tiletranspose/detail/choose/word_shifted_panel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The movers of transposes out of place.
enum class mover {
  little,
  vector_tile,
  tile,
  gathered_panel,
  vectorised_panel,
  word_shifted_panel
};

/// What is asked of the device.
struct device_facts {
  size_type most_shared_bytes;  ///< that a block may ask for
};

/// What decides how a transpose is moved.
struct transpose_facts {
  tile_problem problem;
  size_type batch;
  int element_bytes;
  int access_bytes;  ///< that addresses of elements allow
  size_type bits;    ///< every bit that some address or stride has
  device_facts device;

  // What follows from these; find_facts fills it in.
  size_type shared_bytes;  ///< that a block asks for at most
  bool sectors;            ///< rows of the output start on sectors
  bool whole_rows;         ///< every address, stride and length of a row is a multiple of 16 bytes
};

/// How it is moved.
struct choice {
  mover by = mover::tile;
  small_mover little = small_mover::none;                    ///< of little work
  tile_access access = tile_access::any;                     ///< of a tile
  vectorised_kind vectorised = vectorised_kind::none;        ///< of a vectorised one
  vectorised_size size = vectorised_size::kb_16;             ///< likewise
  word_shifted_kind word_shifted = word_shifted_kind::none;  ///< of a word-shifted one
  size_type shared_bytes = 0;                                ///< that a block may ask for
  const char* rule = "";                                     ///< which rule has decided
  const char* why = "";                                      ///< and what it says
};

/// The compute capability that tiles were measured on, 9.0; policy.cuh.
inline constexpr int tuned_architecture = 90;

/// True where a mover with tiles of these accesses is ever chosen for elements of a size and access.
constexpr bool has_vector_tile(int element_bytes, int access_bytes) {
  return access_bytes == element_bytes && small_limits_of(element_bytes).vectors > 0;
}
constexpr bool has_tile(tile_access access, int element_bytes, int access_bytes) {
  switch (access) {
    case tile_access::whole:
      return has_whole_policy(element_bytes, access_bytes) ||
             has_whole_groups(element_bytes, access_bytes);
    case tile_access::tall:
      return has_tall_policy(element_bytes, access_bytes);
    default:
      return !lacks_tile(element_bytes, access_bytes);
  }
}
constexpr bool has_vectorised_size(vectorised_size size, int element_bytes, int access_bytes) {
  return has_vectorised_panel(element_bytes, access_bytes) &&
         (size != vectorised_size::pixels || element_bytes == 1);
}
/// The same of a choice.
constexpr bool reachable(const choice& chosen, int element_bytes, int access_bytes) {
  switch (chosen.by) {
    case mover::little:
      return has_little_work(element_bytes, access_bytes, true);
    case mover::vector_tile:
      return has_vector_tile(element_bytes, access_bytes);
    case mover::tile:
      return has_tile(chosen.access, element_bytes, access_bytes);
    case mover::vectorised_panel:
      return has_vectorised_size(chosen.size, element_bytes, access_bytes);
    case mover::word_shifted_panel:
      return has_word_shifted_panel(element_bytes, access_bytes);
    default:
      return true;
  }
}

/// True where a block holds a matrix of a batch only if the device lets it ask for more than every block may have.
inline bool has_large_matrices(const tile_problem& problem, size_type batch, int element_bytes,
                               int access_bytes) {
  return batch > 1 &&
         problem.nx * problem.ny * static_cast<size_type>(element_bytes) >
             (has_word_shifted_panel(element_bytes, access_bytes) ? shifted_matrices_bytes
                                                                  : large_matrix_bytes);
}

inline transpose_facts find_facts(const tile_problem& problem, size_type batch, int element_bytes,
                                  int access_bytes, size_type bits, device_facts device) {
  const auto element = static_cast<size_type>(element_bytes);
  transpose_facts facts{problem, batch, element_bytes, access_bytes, bits, device, 0, false, false};
  facts.shared_bytes = has_large_matrices(problem, batch, element_bytes, access_bytes)
                           ? device.most_shared_bytes
                           : size_type{default_shared_bytes};
  facts.sectors = sector_mask(problem, batch) == 0;
  facts.whole_rows = (bits | (problem.nx | problem.ny) * element) % max_access_bytes == 0;
  return facts;
}

inline tile_policy policy_of(const transpose_facts& facts, tile_access access) {
  return tuned_policy(tuned_architecture, facts.element_bytes, facts.access_bytes, access);
}
inline panel_kind panels_instead_of(const transpose_facts& facts, tile_access access) {
  const tile_policy policy = policy_of(facts, access);
  return choose_panel(facts.problem, facts.batch, static_cast<size_type>(facts.element_bytes),
                      static_cast<size_type>(policy.tile_rows),
                      static_cast<size_type>(policy.tile_cols), access == tile_access::whole,
                      facts.access_bytes, facts.shared_bytes);
}
/// True where matrices of few columns and many rows have rules of their own.
inline bool is_tall(const tile_problem& problem) {
  return problem.nx <= most_tall_columns && problem.ny > most_column_rows;
}
/// Tiles of whole accesses write parts of sectors where output rows start inside of one.
inline bool pays_whole(const transpose_facts& facts) {
  return has_whole_policy(facts.element_bytes, facts.access_bytes) && facts.whole_rows &&
         (static_cast<size_type>(facts.element_bytes) < least_whole_element_off_sectors ||
          facts.sectors);
}
/// True where matrices waste little of the tiles of whole accesses that they take.
inline bool fills_tiles(const transpose_facts& facts) {
  const tile_policy policy = policy_of(facts, tile_access::whole);
  const auto tile_rows = static_cast<size_type>(policy.tile_rows);
  const auto tile_cols = static_cast<size_type>(policy.tile_cols);
  const size_type cols = divide_up(facts.problem.nx, tile_cols) * tile_cols;
  const size_type rows = divide_up(facts.problem.ny, tile_rows) * tile_rows;
  const size_type elements = facts.problem.nx * facts.problem.ny;
  constexpr size_type small_panel = vectorised_shape_of(1, vectorised_size::kb_16).panel_bytes();
  const size_type filled = facts.element_bytes == 1 && elements >= small_panel
                               ? least_filled_of_large_bytes
                               : least_filled;
  return 10 * elements >= filled * cols * rows;
}
inline bool take_tile(choice& chosen, tile_access access) {
  chosen.by = mover::tile;
  chosen.access = access;
  return true;
}

// The rules.

inline bool vector_tiles(const transpose_facts& facts, choice& chosen) {
  const tile_problem& problem = facts.problem;
  if (!has_vector_tile(facts.element_bytes, facts.access_bytes) ||
      facts.bits % max_access_bytes != 0 || facts.batch != 1 || problem.pointer_arrays) {
    return false;
  }
  const size_type side = static_cast<size_type>(vector_tile_row_bytes / facts.element_bytes);
  const size_type cols = problem.nx / side;
  const size_type rows = problem.ny / side;
  chosen.by = mover::vector_tile;
  return cols * side == problem.nx && rows * side == problem.ny && rows <= max_grid_side &&
         cols <= max_grid_side &&
         takes_vectors(rows * cols, problem.nx * problem.ny, facts.element_bytes);
}
inline bool little_work(const transpose_facts& facts, choice& chosen) {
  chosen.by = mover::little;
  chosen.little = choose_small_transpose(facts.problem, facts.batch, facts.element_bytes,
                                         facts.element_bytes, facts.whole_rows);
  return chosen.little != small_mover::none &&
         fits_registers(facts.element_bytes, facts.access_bytes);
}
inline bool filled_tiles(const transpose_facts& facts, choice& chosen) {
  return pays_whole(facts) && facts.sectors && facts.batch > 1 && fills_tiles(facts) &&
         take_tile(chosen, tile_access::whole);
}
inline bool vectorised_panels(const transpose_facts& facts, choice& chosen) {
  if (!has_vectorised_panel(facts.element_bytes, facts.access_bytes)) { return false; }
  const vectorised_kind kind =
      choose_vectorised(facts.problem, facts.batch, static_cast<size_type>(facts.element_bytes));
  if (kind == vectorised_kind::none) { return false; }
  chosen.by = mover::vectorised_panel;
  chosen.vectorised = kind;
  chosen.size = choose_vectorised_size(facts.problem, kind, facts.element_bytes);
  return cut_vectorised(facts.problem, facts.batch,
                        vectorised_shape_of(facts.element_bytes, chosen.size), kind)
      .fits();
}
inline bool tiles_of_whole_accesses(const transpose_facts& facts, choice& chosen) {
  if (!pays_whole(facts)) { return false; }
  const auto cols = static_cast<size_type>(policy_of(facts, tile_access::whole).tile_cols);
  const bool ragged =
      whole_tiles_need_full_columns != 0 && is_tall(facts.problem) && facts.problem.nx % cols != 0;
  return !ragged && panels_instead_of(facts, tile_access::whole) == panel_kind::none &&
         take_tile(chosen, tile_access::whole);
}
inline bool word_shifted_panels(const transpose_facts& facts, choice& chosen) {
  if (!has_word_shifted_panel(facts.element_bytes, facts.access_bytes)) { return false; }
  chosen.by = mover::word_shifted_panel;
  chosen.word_shifted =
      choose_word_shifted(facts.problem, facts.batch, static_cast<size_type>(facts.element_bytes),
                          panels_instead_of(facts, tile_access::any), facts.shared_bytes);
  return chosen.word_shifted != word_shifted_kind::none &&
         cut_word_shifted(facts.problem, facts.batch,
                          word_shifted_shape_of(facts.element_bytes, chosen.word_shifted),
                          facts.shared_bytes)
             .fits(facts.device.most_shared_bytes);
}
inline bool gathered_panels(const transpose_facts& facts, choice& chosen) {
  chosen.by = mover::gathered_panel;
  return lacks_tile(facts.element_bytes, facts.access_bytes) ||
         panels_instead_of(facts, tile_access::any) != panel_kind::none;
}
inline bool groups_of_whole_words(const transpose_facts& facts, choice& chosen) {
  const bool narrow =
      facts.problem.nx * static_cast<size_type>(facts.element_bytes) <= narrow_row_bytes ||
      facts.problem.ny > most_column_rows;
  return has_whole_groups(facts.element_bytes, facts.access_bytes) && facts.sectors &&
         facts.whole_rows && !narrow && take_tile(chosen, tile_access::whole);
}
inline bool tall_tiles(const transpose_facts& facts, choice& chosen) {
  return has_tall_policy(facts.element_bytes, facts.access_bytes) && is_tall(facts.problem) &&
         take_tile(chosen, tile_access::tall);
}
inline bool any_tiles(const transpose_facts&, choice& chosen) {
  return take_tile(chosen, tile_access::any);
}

struct transpose_rule {
  const char* name;
  const char* why;
  bool (*applies)(const transpose_facts&, choice&);
};

/// The first that applies decides.
inline constexpr transpose_rule transpose_rules[] = {
    {"vector tiles",
     "one matrix that whole tiles of 16-byte accesses fill, and that is not large: these tiles "
     "start soonest",
     vector_tiles},
    {"little work",
     "so few elements that latency decides: one element an access, and tiles small enough to give "
     "every multiprocessor a block",
     little_work},
    {"filled tiles",
     "matrices of a batch on sectors that fill tiles of whole accesses: no tile asks a question",
     filled_tiles},
    {"vectorised panels",
     "few columns, few rows or small matrices on 16 bytes, with sides of whole micro-blocks: "
     "panels of which both sides are accesses of 16 bytes",
     vectorised_panels},
    {"whole tiles", "rows of whole accesses of 16 bytes: no row begins or ends inside of one",
     tiles_of_whole_accesses},
    {"word-shifted panels",
     "few columns, few rows or small matrices of 1- or 2-byte elements that start anywhere: words "
     "of a panel are shifted to where they belong",
     word_shifted_panels},
    {"gathered panels",
     "few columns, few rows, small matrices or large packed elements: a tile would be mostly "
     "empty, "
     "or has no room for them",
     gathered_panels},
    {"groups of whole words",
     "rows of whole accesses of elements that words do not hold one by one: they go in groups of "
     "whole words",
     groups_of_whole_words},
    {"tall tiles", "many rows of few columns: tiles of longer segments of output rows", tall_tiles},
    {"any tiles", "rows that start anywhere: tiles skewed to the sectors of the output", any_tiles},
};

/// How a transpose is moved. What it names fits, and can be launched.
inline choice choose(const transpose_facts& facts) {
  for (const transpose_rule& rule : transpose_rules) {
    choice chosen;
    if (!rule.applies(facts, chosen)) { continue; }
    chosen.shared_bytes = facts.shared_bytes;
    chosen.rule = rule.name;
    chosen.why = rule.why;
    return chosen;
  }
  return {};  // the last rule applies always
}

/// True where another choice is possible on a device whose blocks may ask for more shared memory.
inline bool asks_shared_bytes(const choice& chosen, const transpose_facts& facts) {
  return chosen.by != mover::little && chosen.by != mover::vector_tile &&
         (has_word_shifted_panel(facts.element_bytes, facts.access_bytes) ||
          has_large_matrices(facts.problem, facts.batch, facts.element_bytes, facts.access_bytes));
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
