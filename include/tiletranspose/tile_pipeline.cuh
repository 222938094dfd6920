// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Several tiles under way while others are worked on: a ring of stages in shared memory, and one interface
/// to three ways of filling it.
///
///     using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;
///     using pipeline_type = tt::tile_pipeline<2>;
///     // smem: tt::smem_tiles<tile_type, 2>().aligned<128>(), tt::smem_array<pipeline_type::storage, 1>()
///     auto [tiles, storage] = smem.carve(tt::dynamic_smem());
///     pipeline_type pipeline(block, *storage);
///     block.sync();                                                  // owed once
///     pipeline.load(block, tiles[pipeline.acquire()], in, 0, 0, 0.0f);
///     pipeline.commit();
///     for (std::size_t row = 0; row < in.rows; row += 64) {
///       const unsigned stage = pipeline.wait();
///       block.sync();                                                // owed once a step
///       if (row + 64 < in.rows) {
///         pipeline.load(block, tiles[pipeline.acquire()], in, row + 64, 0, 0.0f);
///         pipeline.commit();
///       }
///       ...                                                          // read tiles[stage]
///       pipeline.release();
///     }
///
/// Here the one barrier of a step tells both that the stage to be read is full and that the stage to be filled
/// was read, one step before. Opt-in, as tile_io_bulk.cuh.

#pragma once

#include <tiletranspose/tile_io_bulk.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Who moves the tiles of a pipeline. Where the architecture lacks an engine, the compiler takes the one before
/// it in this list.
enum class copy_engine {
  threads,  ///< loads and stores of the threads, on any architecture; a stage is full when it is committed
  cp_async,  ///< copies of the threads that run in the background: 8.0 and newer
  bulk  ///< the bulk tensor engine, one copy a tile, of a described bulk_view; what does not suit it
        ///< travels as by cp_async: 9.0 and newer
};

namespace detail {

/// What a pipeline counts arrivals in. The same on every architecture, so that host and device agree on its size.
template <int Stages, copy_engine Engine>
struct pipeline_storage {};
template <int Stages>
struct pipeline_storage<Stages, copy_engine::bulk> {
  bulk_barrier stage[Stages];
};

}  // namespace detail

/// A ring of `Stages` stages that are filled and read one after the other. The object is the thread's own view of it;
/// every thread of the group makes the same calls.
///
///     acquire()   the stage to fill next
///     load(...)   starts to fill a tile of that stage; any number of tiles
///     commit()    ends the loads of that stage
///     wait()      the stage to read next, once what this thread loaded has arrived
///     release()   ends the reading of that stage
///
/// Preconditions: at most Stages stages are committed and not yet released; a stage is committed before it is waited for
/// and released; load() takes the constructor's group, or one with the same first thread; between a thread's release() of a
/// stage and the next acquire() of it by another lies a group.sync(). The emulator reports who breaks them.
/// Barriers: group.sync() after the constructor and before the first commit(); after wait() and before a tile
/// of the stage is read; between release() and acquire() as above. No call contains one.
/// Shared memory: sizeof(storage), 8 bytes a stage for the bulk engine, else 1 byte.
///
/// \tparam Stages  2 or more to overlap loads with work; up to 8
/// \tparam Engine  the newest engine to use
template <int Stages, copy_engine Engine = copy_engine::cp_async>
class tile_pipeline {
  static_assert(Stages >= 1 && Stages <= 8, "tt: a tile_pipeline has 1 to 8 stages");

  static constexpr bool by_bulk = Engine == copy_engine::bulk;

 public:
  static constexpr int stages = Stages;

  using storage = detail::pipeline_storage<Stages, Engine>;

  /// Precondition: nothing else uses `memory` while the pipeline does; with the bulk engine nothing does until the
  /// block ends, not even another pipeline, because barriers can be made only once in the same place.
  template <class Group>
  TILETRANSPOSE_FUNCTION tile_pipeline(Group group, storage& memory,
                                       detail::access_site caller = detail::access_site::at())
      : memory_(&memory) {
    const detail::call_scope here(caller);
    if constexpr (by_bulk) {
      starts_copies_ = group.thread_rank() == 0;
      if (starts_copies_) {
        for (int stage = 0; stage < Stages; ++stage) {
          detail::init_barrier(&memory.stage[stage], 1);
        }
      }
    }
  }

  TILETRANSPOSE_FUNCTION unsigned acquire() const { return filling_; }

  /// tile(i, j) == in(row0 + i, col0 + j) inside of the matrix; elsewhere the tile keeps what it held.
  template <class Group, class T, class Layout, class Element>
  TILETRANSPOSE_FUNCTION void load(Group group, shared_tile<T, Layout> tile,
                                   matrix_view<Element> in, size_type row0, size_type col0,
                                   detail::access_site caller = detail::access_site::at()) {
    const detail::call_scope here(caller);
    if constexpr (Engine == copy_engine::threads) {
      tt::load_tile(group, tile, in, row0, col0);
    } else {
      tt::load_tile_async(group, tile, in, row0, col0);
    }
  }

  /// The same; the bulk engine copies tiles that lie wholly inside of the matrix as one box if in.described, the
  /// tile starts at a multiple of 128 bytes of shared memory and col0 * sizeof(T) is a multiple of 16. All other
  /// tiles, and all other engines, take in.matrix.
  template <class Group, class T, class Layout, class Tile, class Element>
  TILETRANSPOSE_FUNCTION void load(Group group, shared_tile<T, Layout> tile,
                                   const bulk_view<Tile, Element>& in, size_type row0,
                                   size_type col0,
                                   detail::access_site caller = detail::access_site::at()) {
    const detail::call_scope here(caller);
    static_assert(detail::same_type<Tile, shared_tile<T, Layout>>,
                  "tt: a bulk_view moves tiles of the type that it names");
    if constexpr (by_bulk) {
      expected_ += detail::load_tile_box(group, tile, in, row0, col0, &memory_->stage[filling_]);
    } else {
      load(group, tile, in.matrix, row0, col0);
    }
  }

  /// Either of them; outside of the matrix tile(i, j) == fill.
  template <class Group, class T, class Layout, class Source>
  TILETRANSPOSE_FUNCTION void load(Group group, shared_tile<T, Layout> tile, const Source& in,
                                   size_type row0, size_type col0,
                                   const typename shared_tile<T, Layout>::element& fill,
                                   detail::access_site caller = detail::access_site::at()) {
    const detail::call_scope here(caller);
    load(group, tile, in, row0, col0);
    detail::fill_outside(group, tile, detail::matrix_of(in), row0, col0, fill);
  }

  TILETRANSPOSE_FUNCTION void commit(detail::access_site caller = detail::access_site::at()) {
    const detail::call_scope here(caller);
    check_stages(nullptr);
    if constexpr (by_bulk) {
      if (starts_copies_) { detail::arrive_expecting(&memory_->stage[filling_], expected_); }
      expected_ = 0;
    }
    if constexpr (Engine != copy_engine::threads) { detail::commit_copies(); }
    filling_ = next(filling_);
    ++under_way_;
  }

  TILETRANSPOSE_FUNCTION unsigned wait(
      detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    if constexpr (!by_bulk) { check_stages(" waits at "); }  // else its barrier says so
    if constexpr (Engine != copy_engine::threads) {
      // An instruction knows how many groups may stay under way: one of these, and it is the same for all threads.
      TILETRANSPOSE_UNROLL
      for (unsigned younger = 0; younger < Stages; ++younger) {
        if (under_way_ == younger + 1) { detail::wait_for_copies(younger); }
      }
    }
    if constexpr (by_bulk) { detail::wait_for_phase(&memory_->stage[reading_], parity_); }
    return reading_;
  }

  TILETRANSPOSE_FUNCTION void release(detail::access_site caller = detail::access_site::at()) {
    const detail::call_scope here(caller);
    check_stages(" releases at ");
    // What threads wrote to the stage themselves comes before what the engine will write there.
    if constexpr (by_bulk) { detail::fence_for_bulk(); }
    reading_ = next(reading_);
    if (reading_ == 0) { parity_ ^= 1; }
    --under_way_;
  }

 private:
  TILETRANSPOSE_FUNCTION void check_stages(const char* takes) const {
    TILETRANSPOSE_TELL_MACHINE(
        check_stages(static_cast<int>(under_way_), Stages, takes, detail::access_site::at()));
    (void)takes;
  }
  TILETRANSPOSE_FUNCTION static unsigned next(unsigned stage) {
    return stage + 1 == Stages ? 0 : stage + 1;
  }

  storage* memory_;
  unsigned filling_ = 0;    // the stage that loads go to
  unsigned reading_ = 0;    // the stage that is read
  unsigned under_way_ = 0;  // stages committed and not released
  unsigned parity_ = 0;     // of the phase that reading_ waits for
  unsigned expected_ =
      0;  // bytes that the engine copies for this thread into the stage being filled
  bool starts_copies_ = false;  // whether this is the thread that the barriers count
};

TILETRANSPOSE_NAMESPACE_END
