// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which mover takes a transpose: an ordered list of rules over facts, of which the first that applies decides. No CUDA
/// call, no launch, no template on the element. Plain C++17, host only. How a rule is added, and where those of other calls
/// stand, is said in detail/README.md.

#pragma once

#include <tiletranspose/detail/choose/choose_axes_copy.cuh>
#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/choose/tuning_tile.cuh>
#include <tiletranspose/detail/choose/vectorised_panel.cuh>
#include <tiletranspose/detail/choose/word_shifted_panel.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The movers of transposes out of place.
enum class mover {
  little,
  vector_tile,
  micro_tile,
  tile,
  gathered_panel,
  vectorised_panel,
  word_shifted_panel
};

/// What decides how a transpose is moved.
struct transpose_facts : batch_problem {
  int element_bytes;
  int access_bytes;             ///< that addresses of elements allow
  size_type address_bits;       ///< every bit that some address or stride has
  size_type most_shared_bytes;  ///< that a block may ask the device for

  constexpr size_type element() const { return static_cast<size_type>(element_bytes); }
  size_type row_bytes() const { return nx * element(); }
  size_type column_bytes() const { return ny * element(); }
  size_type matrix_bytes() const { return nx * column_bytes(); }
  /// Rows of a side follow each other without a gap.
  bool in_dense() const { return is_dense(in_stride_bytes, row_bytes()); }
  bool out_dense() const { return is_dense(out_stride_bytes, column_bytes()); }
  /// Rows of the output start on sectors.
  bool sectors() const { return sector_mask(*this) == 0; }
  /// Rows of a batch on a side, or its matrices, have gaps between them, and are short.
  bool has_short_segments_apart() const {
    const bool are_apart =
        !pointer_arrays && (in_batch_bytes != matrix_bytes() || out_batch_bytes != matrix_bytes());
    return batch > 1 && ((are_apart && nx * ny <= (element() < 4 ? most_apart_matrix_packed
                                                                 : most_apart_matrix_words)) ||
                         (!in_dense() && row_bytes() <= most_apart_bytes) ||
                         (!out_dense() && column_bytes() <= most_apart_bytes));
  }
  /// Every address, stride and length of a row is a multiple of 16 bytes.
  bool whole_rows() const { return (address_bits | (nx | ny) * element()) % max_access_bytes == 0; }
  /// A block holds a matrix of a batch only if the device lets it ask for more than every block may have.
  bool has_large_matrices() const {
    return batch > 1 && matrix_bytes() > (has_word_shifted_panel(element_bytes, access_bytes)
                                              ? shifted_matrices_bytes
                                              : large_matrix_bytes);
  }
  /// What a block asks for at most.
  size_type shared_bytes() const {
    return has_large_matrices() ? most_shared_bytes : size_type{default_shared_bytes};
  }
};

struct choice;
struct transpose_rule {
  const char* rule = "";  ///< its name
  const char* why = "";   ///< what it says
  bool (*applies)(const transpose_facts&, choice&) = nullptr;
  mover by = mover::tile;
  tile_access access = tile_access::any;  ///< of a tile
};

/// How it is moved: by the rule that has decided.
struct choice : transpose_rule {
  size_type shared_bytes = 0;              ///< that a block may ask for
  small_mover little = small_mover::none;  ///< of little work
  bool is_certain = false;                 ///< no matter what a block may ask for
  panel_kind panels = panel_kind::none;    ///< of gathered and word-shifted panels
  vectorised_shape shape{};                ///< of vectorised ones
  int micro_side = 0;                      ///< rows and columns of a tile of micro-blocks
};

/// The compute capability that tiles were measured on, 9.0; policy.cuh.
inline constexpr int tuned_architecture = 90;

/// True where a mover with tiles of these accesses is ever chosen for elements of a size and access.
constexpr bool has_vector_tile(int element_bytes, int access_bytes) {
  return access_bytes == element_bytes && small_limits_of(element_bytes).vectors > 0;
}
constexpr bool has_tile(tile_access access, int element_bytes, int access_bytes) {
  return access == tile_access::whole  ? has_whole_policy(element_bytes, access_bytes)
         : access == tile_access::tall ? has_tall_policy(element_bytes, access_bytes)
                                       : !lacks_tile(element_bytes, access_bytes);
}
inline tile_policy policy_of(const transpose_facts& facts, tile_access access) {
  return tuned_policy(tuned_architecture, facts.element_bytes, facts.access_bytes, access);
}

/// True where matrices fill so many percent of their tiles of some accesses.
inline bool fills_tiles(const transpose_facts& facts, tile_access access, size_type percent) {
  const tile_policy policy = policy_of(facts, access);
  const auto tile_rows = static_cast<size_type>(policy.tile_rows);
  const auto tile_cols = static_cast<size_type>(policy.tile_cols);
  const size_type cols = divide_up(facts.nx, tile_cols) * tile_cols;
  const size_type rows = divide_up(facts.ny, tile_rows) * tile_rows;
  return 100 * facts.nx * facts.ny >= percent * cols * rows;
}

/// True where rows of whole accesses fill their tiles.
inline bool fills_whole_tiles(const transpose_facts& facts) {
  return facts.whole_rows() && fills_tiles(facts, tile_access::whole, least_filled);
}

/// True where columns, or rows, are so few that they are better off in panels than in tiles of some accesses.
/// \param shifts  word-shifted panels take them, if they are of elements of 1 and 2 bytes
inline bool are_few(const transpose_facts& facts, tile_access access, bool columns, bool shifts) {
  const size_type count = columns ? facts.nx : facts.ny;
  const size_type bytes = count * facts.element();
  if (facts.element_bytes <= 2) {
    const tile_policy policy = policy_of(facts, access);
    const auto side = static_cast<size_type>(columns ? policy.tile_cols : policy.tile_rows);
    return 2 * count <= side || count <= most_few_columns ||
           (shifts && count <= (columns ? most_shifted_columns : most_shifted_rows) &&
            bytes <= (columns ? most_shifted_row_bytes : most_shifted_column_bytes));
  }
  const bool are_words = facts.access_bytes >= 4;
  const bool suits_tiles = !columns    ? facts.sectors() && facts.whole_rows()
                           : are_words ? facts.batch == 1
                                       : bytes % sector_bytes == 0;
  const size_type others = are_words ? most_few_words : most_few_packed;
  return count <= (suits_tiles ? most_few_in_tiles : others) && bytes <= most_few_bytes;
}

/// The panels that a problem is better off in than in tiles of some accesses, if any.
inline panel_kind panels_instead_of(const transpose_facts& facts, tile_access access) {
  const size_type element = facts.element();
  const bool whole = access == tile_access::whole;
  const bool takes_columns = facts.in_dense() || goes_in_panels_apart(facts.nx, element, true);
  const bool takes_rows = facts.out_dense() || goes_in_panels_apart(facts.ny, element, false);
  const bool has_shifted = has_word_shifted_panel(facts.element_bytes, facts.access_bytes);
  // Rows by which lanes that gather would get in conflict: panels hold no more than word-shifted ones do.
  const bool conflicts = !whole && has_shifted && facts.row_bytes() % conflicting_row_bytes == 0;
  const size_type largest =  // matrix that a panel holds
      whole && (facts.access_bytes != 2 || fills_whole_tiles(facts)) ? large_matrix_bytes
      : conflicts ? (word_shifted_block_bytes(facts.shared_bytes()) - 1024) /
                        (most_shifted_parts + 1) * most_shifted_parts
                  : largest_whole_matrix(facts.access_bytes, facts.shared_bytes());
  // What word-shifted panels do not take, or whole tiles move faster, has limits of its own.
  const bool shifts = !whole && has_shifted && !facts.pointer_arrays &&
                      facts.in_stride_bytes == facts.row_bytes() &&
                      (facts.batch == 1 || !fills_tiles(facts, access, least_filled_by_panels));
  const bool forwards = facts.out_stride_bytes == facts.column_bytes();
  const bool few_columns = are_few(facts, access, true, shifts);
  const bool few_rows = are_few(facts, access, false, shifts && forwards);
  if (facts.nx <= largest / facts.ny / element && facts.batch > 1 && facts.in_dense() &&
      facts.out_dense() && !facts.pointer_arrays) {  // which are taken one by one
    return panel_kind::small_matrices;
  }
  if (few_rows && takes_rows && (!few_columns || facts.ny <= facts.nx)) {
    return panel_kind::few_rows;
  }
  if (few_columns && takes_columns) { return panel_kind::few_columns; }
  if (element > 2 || facts.batch == 1 || !facts.out_dense() || whole) { return panel_kind::none; }
  if (facts.ny <= short_rows) { return panel_kind::few_rows; }
  const size_type most = shifts ? most_shifted_unfilled_bytes : most_shifted_batch_bytes;
  const bool suits = has_shifted && facts.column_bytes() <= most &&
                     takes_word_shifted(facts, element, panel_kind::few_rows, facts.shared_bytes());
  return suits ? panel_kind::few_rows : panel_kind::none;
}

/// True where matrices of few columns and many rows have rules of their own.
inline bool is_tall(const matrix_problem& problem) {
  return problem.nx <= most_tall_columns && problem.ny > most_column_rows;
}
/// Tiles of whole accesses write parts of sectors where output rows start inside of one.
inline bool pays_whole(const transpose_facts& facts) {
  return has_whole_policy(facts.element_bytes, facts.access_bytes) && facts.whole_rows() &&
         (facts.element() < least_whole_element_off_sectors || facts.sectors());
}

// The rules.

inline bool vector_tiles(const transpose_facts& facts, choice&) {
  if (!has_vector_tile(facts.element_bytes, facts.access_bytes) ||
      facts.address_bits % max_access_bytes != 0 || facts.batch != 1 || facts.pointer_arrays) {
    return false;
  }
  const size_type side = static_cast<size_type>(vector_tile_row_bytes / facts.element_bytes);
  const size_type cols = facts.nx / side;
  const size_type rows = facts.ny / side;
  return cols * side == facts.nx && rows * side == facts.ny && rows <= max_grid_side &&
         cols <= max_grid_side &&
         takes_vectors(rows * cols, facts.nx * facts.ny, facts.element_bytes);
}
/// Those of which micro-blocks take all, up to 2 GiB.
inline bool suits_micro_blocks(const transpose_facts& facts) {
  const bool whole = facts.whole_rows();
  if (facts.element_bytes == 3) { return whole && facts.batch > 1; }
  if (!facts.sectors()) { return false; }
  if (facts.batch == 1) { return facts.element_bytes == 1 && facts.nx >= facts.ny && !whole; }
  return whole ? facts.matrix_bytes() > large_matrix_bytes && lie_together(facts) &&
                     !fills_whole_tiles(facts)
               : lie_together(facts) || facts.nx >= facts.ny;
}
inline bool micro_blocks(const transpose_facts& facts, choice& chosen) {
  if (!has_micro_tile(facts.element_bytes, facts.access_bytes) || facts.pointer_arrays) {
    return false;
  }
  const size_type bytes = facts.matrix_bytes() * facts.batch;
  const bool whole = facts.whole_rows();
  const size_type most = most_micro_matrix_bytes * (whole ? 2 : 1);
  const bool in_panels = facts.element_bytes <= 2 && !whole && facts.batch > 1 &&
                         bytes / facts.batch <= most_lone_panel_bytes;
  const size_type least =
      facts.element_bytes == 1 ? least_micro_matrix_of_bytes : least_micro_matrix_bytes;
  chosen.micro_side = micro_matrix_side(facts.element_bytes, bytes);
  if (bytes < least || in_panels || (bytes > most && !suits_micro_blocks(facts)) ||
      2 * smaller(facts.nx, facts.ny) < static_cast<size_type>(chosen.micro_side)) {
    return false;
  }
  const relocation move = relocation_of(facts, facts.element(), facts.element());
  return has_whole_blocks(move, choose_axes(move).x) && has_short_places(move);
}
inline bool vectorised_panels(const transpose_facts& facts, choice& chosen) {
  if (!has_vectorised_panel(facts.element_bytes, facts.access_bytes)) { return false; }
  chosen.shape = choose_vectorised(facts, facts.element_bytes);
  if (chosen.shape.kind == panel_kind::none) { return false; }
  const launch_plan<vectorised_arguments> plan = plan_vectorised(facts, chosen.shape);
  return plan.blocks <= max_blocks && plan.shared_bytes <= default_shared_bytes;
}
inline bool tiles_of_whole_accesses(const transpose_facts& facts, choice&) {
  if (!pays_whole(facts)) { return false; }
  const auto cols = static_cast<size_type>(policy_of(facts, tile_access::whole).tile_cols);
  const size_type row_bytes = facts.row_bytes();
  const bool narrow = facts.element_bytes <= 2 && row_bytes <= most_ragged_row_bytes;
  const bool ragged = is_tall(facts) && facts.nx % cols != 0 && !narrow;
  return !ragged && panels_instead_of(facts, tile_access::whole) == panel_kind::none;
}
inline bool word_shifted_panels(const transpose_facts& facts, choice& chosen) {
  if (!has_word_shifted_panel(facts.element_bytes, facts.access_bytes)) { return false; }
  chosen.panels = panels_instead_of(facts, tile_access::any);
  if (!takes_word_shifted(facts, facts.element(), chosen.panels, facts.shared_bytes())) {
    return false;
  }
  const auto plan = cut_word_shifted(
      facts, word_shifted_shape_of(facts.element_bytes, chosen.panels), facts.shared_bytes());
  const size_type most = facts.batch == 1
                             ? larger<size_type>(default_shared_bytes, facts.most_shared_bytes)
                             : word_shifted_block_bytes(facts.most_shared_bytes);
  return plan.blocks <= max_blocks && plan.shared_bytes <= most;
}
inline bool gathered_panels(const transpose_facts& facts, choice& chosen) {
  chosen.panels = panels_instead_of(facts, tile_access::any);
  if (lacks_tile(facts.element_bytes, facts.access_bytes)) { return true; }
  if (chosen.panels != panel_kind::few_rows) { return chosen.panels != panel_kind::none; }
  return facts.batch == 1 || facts.ny <= short_rows;  // more of a batch suit tiles
}
inline bool tall_tiles(const transpose_facts& facts, choice&) {
  return has_tall_policy(facts.element_bytes, facts.access_bytes) && is_tall(facts) &&
         (facts.element_bytes > 1 || facts.matrix_bytes() * facts.batch >= least_tall_bytes);
}

inline small_problem little_problem(const transpose_facts& facts) {
  return small_transpose(facts, facts.element_bytes, facts.element_bytes);
}
inline bool small_tiles(const transpose_facts& facts, choice& chosen) {
  const bool suits = facts.pointer_arrays ? facts.element() >= 8 : facts.sectors();
  if (facts.batch == 1 || !suits || facts.element() < 4 ||
      facts.access_bytes != facts.element_bytes || !lie_together(facts) ||
      smaller(facts.nx, facts.ny) < least_small_tiled_side ||
      (facts.element() == 4 && facts.nx > most_few_words && fills_whole_tiles(facts)) ||
      !has_little_work(facts.element_bytes, facts.access_bytes, true)) {
    return false;
  }
  const small_problem little = little_problem(facts);
  chosen.little = choose_small_batch(little);
  chosen.is_certain = true;  // whatever a block may ask for
  return chosen.little == small_mover::tiles &&
         100 * elements_of(little) >= least_small_tiled * work_of(little).places;
}
/// True where it is little work beside the mover that takes it else.
inline bool is_little_beside(const choice& other, const transpose_facts& facts,
                             const small_problem& little, size_type work) {
  const small_limits& limits = small_limits_of(facts.element_bytes);
  const size_type element = facts.element();
  const size_type matrix = facts.nx * facts.ny;
  const size_type elements = matrix * facts.batch;
  const bool few_columns = other.panels == panel_kind::few_columns;
  if (facts.has_short_segments_apart()) { return true; }
  if (other.by == mover::vectorised_panel) { return work <= limits.vectorised; }
  if (other.by == mover::word_shifted_panel) {
    return work <= (few_columns ? limits.shifted_columns : limits.shifted);
  }
  if (other.by == mover::gathered_panel) {
    if (facts.pointer_arrays && matrix <= most_lone_matrix) { return true; }
    if (!(facts.nx <= facts.ny ? facts.in_dense() : facts.out_dense())) {
      return elements * element <= least_apart_matrix_bytes;
    }
    if (other.panels == panel_kind::small_matrices && element <= 2 &&
        matrix * element > large_matrix_bytes) {
      return 2 * work <= times_of_large_panels * limits.gathered;
    }
    const bool in_parts = few_columns && facts.row_bytes() > most_whole_row_bytes;
    return work <= (in_parts ? limits.shifted_columns : limits.gathered);
  }
  if (smaller(facts.nx, facts.ny) <= lone_side(facts.element_bytes)) { return true; }
  if (facts.whole_rows()) { return elements <= limits.whole; }
  const bool follows = facts.in_dense() && facts.out_dense() && little.slow.out_stride > 0;
  const size_type lone = most_lone_tile_elements * (element == 2 || element == 4 ? 3 : 1);
  const bool is_lone =
      facts.batch > 1 && (matrix <= lone || !fills_tiles(facts, other.access, least_filled_alone));
  const size_type times = is_lone ? times_of_lone_matrices : 1;
  return elements <= times * (follows ? limits.tile : limits.pitched);
}
inline choice choose_large(const transpose_facts& facts);
inline bool little_work(const transpose_facts& facts, choice& chosen) {
  if (!has_little_work(facts.element_bytes, facts.access_bytes, true)) { return false; }
  const small_problem little = little_problem(facts);
  const small_work work = work_of(little);
  const small_limits& limits = small_limits_of(facts.element_bytes);
  const size_type certain[] = {limits.tile,           limits.whole,      limits.pitched,
                               limits.gathered,       limits.vectorised, limits.shifted,
                               limits.shifted_columns};
  // Tiles need a grid that counts the matrices by themselves.
  const bool many_pointers = facts.pointer_arrays && facts.batch > max_grid_side;
  chosen.little = choose_small(little, most_counted, work.direct || many_pointers);
  chosen.is_certain = true;  // where it is little whichever mover takes it else
  for (const size_type most : certain) { chosen.is_certain &= work.places <= most; }
  return chosen.little != small_mover::none &&
         (chosen.is_certain || is_little_beside(choose_large(facts), facts, little, work.places));
}

/// The first that applies decides, and the last always does.
inline constexpr transpose_rule transpose_rules[] = {
    {"vector tiles",
     "one matrix that whole tiles of 16-byte accesses fill, and that is not large: these tiles "
     "start soonest",
     vector_tiles, mover::vector_tile},
    {"micro-blocks",
     "elements of 1 to 3 bytes in rows of whole groups of four, neither few nor many, or output "
     "rows of sectors: a thread transposes 4 x 4 of them in registers",
     micro_blocks, mover::micro_tile},
    {"little work",
     "so few elements that latency decides, or sides too short for others: one element an access, "
     "and tiles small enough to give every multiprocessor a block",
     little_work, mover::little},
    {"small tiles",
     "matrices of a batch, of words, whose output rows start on sectors, or of wide words behind "
     "pointers: the tiles of little work, of which many are under way",
     small_tiles, mover::little},
    {"vectorised panels",
     "few columns, few rows or small matrices on 16 bytes, with sides of whole micro-blocks: "
     "panels of which both sides are accesses of 16 bytes",
     vectorised_panels, mover::vectorised_panel},
    {"whole tiles", "rows of whole accesses of 16 bytes: no row begins or ends inside of one",
     tiles_of_whole_accesses, mover::tile, tile_access::whole},
    {"word-shifted panels",
     "few columns, few rows or small matrices of 1- or 2-byte elements that start anywhere: words "
     "of a panel are shifted to where they belong",
     word_shifted_panels, mover::word_shifted_panel},
    {"gathered panels",
     "few columns, few rows, small matrices or large packed elements: a tile would be mostly "
     "empty, or has no room for them",
     gathered_panels, mover::gathered_panel},
    {"tall tiles", "many rows of few columns: tiles of longer segments of output rows", tall_tiles,
     mover::tile, tile_access::tall},
    {"any tiles", "rows that start anywhere: tiles skewed to the sectors of the output",
     [](const transpose_facts&, choice&) { return true; }, mover::tile},
};

/// How a transpose is moved. What it names fits, and can be launched.
inline choice choose(const transpose_facts& facts, size_type first_rule = 0) {
  for (const transpose_rule* rule = transpose_rules + first_rule;; ++rule) {
    choice chosen{*rule, facts.shared_bytes()};
    if (rule->applies(facts, chosen)) { return chosen; }
  }
}
/// By the rules behind little work, which is compared with what they choose.
inline choice choose_large(const transpose_facts& facts) {
  constexpr size_type behind_little = 3;
  static_assert(transpose_rules[behind_little - 1].applies == little_work, "");
  return choose(facts, behind_little);
}

/// True where another choice is possible on a device whose blocks may ask for more shared memory.
inline bool asks_shared_bytes(const choice& chosen, const transpose_facts& facts) {
  return !chosen.is_certain && chosen.by != mover::vector_tile && chosen.by != mover::micro_tile &&
         (has_word_shifted_panel(facts.element_bytes, facts.access_bytes) ||
          facts.has_large_matrices());
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
