// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Asynchronous copies: cp.async, pipelines and the bulk engine. Programs that wait as they should are clean and right;
// of each wait, commit, fence and barrier that is left out, a fault is found, with both of its places.

#include <tiletranspose/emulator.cuh>
#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile_pipeline.cuh>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using tt::fault_kind;

tt::emulator_options in_mode() {
  tt::emulator_options options;
  options.mode =
      GENERATE(tt::emulator_options::run_mode::fibers, tt::emulator_options::run_mode::threads);
  return options;
}

bool found_only(const tt::emulation_report& report, fault_kind kind) {
  bool only = !report.faults.empty();
  for (const tt::emulation_fault& fault : report.faults) { only = only && fault.kind == kind; }
  return only;
}

const tt::emulation_fault* find(const tt::emulation_report& report, fault_kind kind) {
  for (const tt::emulation_fault& fault : report.faults) {
    if (fault.kind == kind) { return &fault; }
  }
  return nullptr;
}

// The fault's two places are the calls in these lines, whichever stands first.
bool is_between(const tt::emulation_fault& fault, int a, int b) {
  const std::string one = "copies_test.cpp:" + std::to_string(a);
  const std::string other = "copies_test.cpp:" + std::to_string(b);
  return (fault.first.site == one && fault.second.site == other) ||
         (fault.first.site == other && fault.second.site == one);
}

constexpr std::size_t side = 32;
constexpr std::size_t length = 8 * side;

// `length` x `side` floats; `out` is the transpose of the first tile, or a copy.
struct matrices {
  tt::emulated_buffer<float> in{length * side};
  tt::emulated_buffer<float> out{length * side};

  matrices() {
    for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<float>(i + 1); }
  }
  tt::matrix_view<float> from() { return {in.data(), length, side, side}; }
  tt::matrix_view<float> to() { return {out.data(), length, side, side}; }
  bool is_transposed() const {
    bool same = true;
    for (std::size_t i = 0; i < side * side; ++i) {
      same = same && out[i % side * side + i / side] == in[i];
    }
    return same;
  }
  bool is_copied() const {
    bool same = true;
    for (std::size_t i = 0; i < length * side; ++i) { same = same && out[i] == in[i]; }
    return same;
  }
};

// cp.async. ---------------------------------------------------------------------------------------------------------

// What stands between load_tile_async and store_tile_transposed, by a block of 256 threads. A thread copies the
// elements of one column in every eighth row.
enum class between {
  right,
  own_read,  // each thread reads what it copied, without a barrier
  no_commit,
  no_wait,
  too_few_waits,
  own_read_without_wait,
  tile_set,
  tile_set_by_others,
  tile_loaded_again,
  matrix_set,
  matrix_set_by_others,
  no_barrier,
  wait_behind_barrier
};

using padded_tile = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;

int load_line = 0;    // of the copy
int store_line = 0;   // of the transposed store
int other_line = 0;   // of what else touches the tile
int others_line = 0;  // and behind a barrier

tt::emulation_report run(between what, matrices& m) {
  return tt::emulate(
      in_mode(), 1, 256, sizeof(padded_tile::storage),
      [&](tt::emulated_block b, tt::matrix_view<float> to, tt::matrix_view<float> from) {
        const auto is = [&](between one) { return what == one; };
        const tt::static_block<256> block;
        const padded_tile tile(b.shared_as<padded_tile::storage>());
        const auto row = static_cast<int>(b.thread_rank() / 32);
        const auto col = static_cast<int>(b.thread_rank() % 32);
        const bool tells = b.thread_rank() == 0;  // of lines, so that threads do not race
        if (tells) { load_line = __LINE__ + 1; }
        tt::load_tile_async(block, tile, from, 0, 0);
        if (tells) { other_line = __LINE__; }
        if (is(between::own_read_without_wait)) { (void)tile.get(row, col); }  // + 1
        if (is(between::tile_set)) { tile.set(row, col, 1.0f); }
        if (is(between::tile_loaded_again)) { tt::load_tile_async(block, tile, from, 0, 0); }
        if (is(between::matrix_set)) { from.set(row, col, 1.0f); }
        const bool by_others = is(between::tile_set_by_others) || is(between::matrix_set_by_others);
        if (by_others) { block.sync(); }
        if (tells) { others_line = __LINE__; }
        if (is(between::tile_set_by_others)) { tile.set(7 - row, col, 1.0f); }  // + 1
        if (is(between::matrix_set_by_others)) { from.set(7 - row, col, 1.0f); }
        if (by_others) { block.sync(); }
        if (!is(between::no_commit)) { tt::async_commit(); }
        if (is(between::too_few_waits)) {
          tt::async_wait<1>();
        } else if (!is(between::no_wait) && !is(between::wait_behind_barrier)) {
          tt::async_wait<0>();
        }
        if (is(between::own_read)) { (void)tile.get(row + 8, col); }
        if (!is(between::no_barrier)) { block.sync(); }
        if (is(between::wait_behind_barrier)) { tt::async_wait<0>(); }
        if (tells) { store_line = __LINE__ + 1; }
        tt::store_tile_transposed(block, to, 0, 0, tile);
      },
      m.to(), m.from());
}

struct expected {
  between what;
  int line;  // behind other_line, or 10 more than behind others_line; 0: store_line
};

}  // namespace

TEST_CASE("a tile copied in the background is there when it has been waited for") {
  for (const between what : {between::right, between::own_read}) {
    matrices m;
    const tt::emulation_report report = run(what, m);
    INFO(report.table());
    CHECK(report.clean());
    CHECK(m.is_transposed());
  }
}

TEST_CASE("what has not been waited for is not read, overwritten or copied to again") {
  for (const expected& wanted :
       {expected{between::no_commit, 0}, expected{between::no_wait, 0},
        expected{between::too_few_waits, 0}, expected{between::own_read_without_wait, 1},
        expected{between::tile_set, 2}, expected{between::tile_loaded_again, 3},
        expected{between::matrix_set, 4}, expected{between::tile_set_by_others, 11},
        expected{between::matrix_set_by_others, 12}}) {
    matrices m;
    const tt::emulation_report report = run(wanted.what, m);
    INFO(static_cast<int>(wanted.what) << '\n' << report.table());
    REQUIRE(found_only(report, fault_kind::under_way));
    const int at = wanted.line;
    const int touched = at == 0 ? store_line : at > 10 ? others_line + at - 10 : other_line + at;
    CHECK(is_between(report.faults[0], load_line, touched));
    CHECK(report.faults[0].second.inside.find("tile_io_async.cuh:") == 0);
    CHECK(report.faults[0].what.find("has not been waited for") != std::string::npos);
    if (at == 0) { CHECK_FALSE(m.is_transposed()); }  // nor does it arrive
  }
}

TEST_CASE("what only its own thread has waited for is not read by others") {
  for (const between what : {between::no_barrier, between::wait_behind_barrier}) {
    matrices m;
    const tt::emulation_report report = run(what, m);
    INFO(static_cast<int>(what) << '\n' << report.table());
    const tt::emulation_fault* race = find(report, fault_kind::race);
    REQUIRE(race != nullptr);
    CHECK(is_between(*race, load_line, store_line));
    CHECK(find(report, fault_kind::under_way) == nullptr);
  }
}

TEST_CASE("copies of fewer than 4 bytes are made at once, as on a GPU") {
  using byte_tile = tt::shared_tile<unsigned char, tt::padded_layout<unsigned char, 16, 16, 1>>;
  tt::emulated_buffer<unsigned char> in(256);
  const tt::emulation_report report =
      tt::emulate(1, 256, sizeof(byte_tile::storage), [&](tt::emulated_block block) {
        const byte_tile tile(block.shared_as<byte_tile::storage>());
        const tt::matrix_view<const unsigned char> from{in.data(), 16, 16, 16};
        tt::load_tile_async(block, tile, from, 0, 0);
        block.sync();
        (void)tile.get(5, 5);
      });
  CHECK(report.clean());
}

TEST_CASE("a block's copies end with it") {
  matrices m;
  // Block 0 starts copies and waits for none; block 1 has a tile of its own, and overwrites what block 0 read, which no
  // barrier orders.
  const auto run = [&](bool overwrites) {
    return tt::emulate(in_mode(), 2, 32, sizeof(padded_tile::storage), [&](tt::emulated_block b) {
      const padded_tile tile(b.shared_as<padded_tile::storage>());
      if (b.index().x == 0) {
        tt::load_tile_async(b, tile, m.from(), 0, 0);
      } else {
        tile.set(0, static_cast<int>(b.thread_rank()), 1.0f);
        if (overwrites) { m.from().set(0, b.thread_rank(), 1.0f); }
      }
    });
  };
  CHECK(run(false).clean());
  CHECK(found_only(run(true), fault_kind::race));
}

// Pipelines. --------------------------------------------------------------------------------------------------------

namespace {

enum class step { right, no_wait, no_barrier, no_commit, no_start_barrier, stage_too_early };

template <class Tile, tt::copy_engine Engine, class Source>
tt::emulation_report walk(step what, matrices& m, const Source& in) {
  using pipeline_type = tt::tile_pipeline<2, Engine>;
  const tt::smem_layout smem{tt::smem_tiles<Tile, 2>().template aligned<128>(),
                             tt::smem_array<typename pipeline_type::storage, 1>()};
  return tt::emulate(in_mode(), 1, 64, smem.bytes(), [&](tt::emulated_block b) {
    const auto is = [&](step one) { return what == one; };
    const auto [tiles, storage] = smem.carve(b.shared());
    const tt::static_block<64> block;
    pipeline_type pipeline(block, *storage);
    if (!is(step::no_start_barrier)) { block.sync(); }
    const auto load = [&, &tiles = tiles](std::size_t row) {
      if (row >= length) { return; }
      if (b.thread_rank() == 0) { load_line = __LINE__ + 1; }
      pipeline.load(block, tiles[pipeline.acquire()], in, row, 0);
      if (!is(step::no_commit)) { pipeline.commit(); }
    };
    load(0);
    for (std::size_t row = 0; row < length; row += side) {
      const unsigned stage =
          is(step::no_wait) ? static_cast<unsigned>(row / side % 2) : pipeline.wait();
      if (is(step::stage_too_early)) { load(row + side); }
      if (!is(step::no_barrier)) { block.sync(); }
      if (!is(step::stage_too_early)) { load(row + side); }
      if (b.thread_rank() == 0) { store_line = __LINE__ + 1; }
      tt::store_tile_transposed(block, m.to(), row, 0, tiles[stage]);
      pipeline.release();
    }
  });
}

using packed_tile = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 0>>;

// By cp.async, and by the engine, which takes tiles of a matrix that it knows.
template <class Check>
void walk_all(step what, Check check) {
  matrices by_threads;
  check(by_threads,
        walk<padded_tile, tt::copy_engine::cp_async>(what, by_threads, by_threads.from()));
  matrices by_engine;
  const tt::bulk_view<packed_tile, float> view{by_engine.from(), {}, true};
  check(by_engine, walk<packed_tile, tt::copy_engine::bulk>(what, by_engine, view));
}

bool is_walked(const matrices& m) {
  bool same = true;
  for (std::size_t row = 0; row < length; ++row) {
    for (std::size_t col = 0; col < side; ++col) {
      same = same && m.out[(row / side * side + col) * side + row % side] == m.in[row * side + col];
    }
  }
  return same;
}

}  // namespace

TEST_CASE("a pipeline that is used as it should be is clean and right") {
  walk_all(step::right, [](const matrices& m, const tt::emulation_report& report) {
    INFO(report.table());
    CHECK(report.clean());
    CHECK(is_walked(m));
  });
}

TEST_CASE("a stage that nobody has waited for is not read") {
  walk_all(step::no_wait, [](const matrices& m, const tt::emulation_report& report) {
    INFO(report.table());
    REQUIRE(found_only(report, fault_kind::under_way));
    CHECK(is_between(report.faults[0], load_line, store_line));
    CHECK_FALSE(is_walked(m));
  });
}

TEST_CASE("a stage without a barrier behind the wait is read or filled too early") {
  walk_all(step::no_barrier, [](const matrices&, const tt::emulation_report& report) {
    INFO(report.table());
    REQUIRE_FALSE(report.clean());
    bool found = false;
    for (const tt::emulation_fault& fault : report.faults) {
      found = found || is_between(fault, load_line, store_line);
    }
    CHECK(found);
  });
}

TEST_CASE("a stage that is filled before the barrier behind its release was perhaps not read") {
  walk_all(step::stage_too_early, [](const matrices&, const tt::emulation_report& report) {
    INFO(report.table());
    REQUIRE(found_only(report, fault_kind::race));
    CHECK(is_between(report.faults[0], load_line, store_line));
  });
}

TEST_CASE("a stage without a commit is not there, or waited for in vain") {
  matrices m;
  CHECK(find(walk<padded_tile, tt::copy_engine::cp_async>(step::no_commit, m, m.from()),
             fault_kind::under_way) != nullptr);
  const tt::bulk_view<packed_tile, float> view{m.from(), {}, true};
  const tt::emulation_report report =
      walk<packed_tile, tt::copy_engine::bulk>(step::no_commit, m, view);
  INFO(report.table());
  REQUIRE_FALSE(report.clean());
  CHECK(report.faults[0].kind == fault_kind::missed_barrier);
  CHECK(report.faults[0].what.find("for a stage that nobody commits") != std::string::npos);
}

TEST_CASE("a bulk pipeline's barriers are made before they are used") {
  matrices m;
  const tt::bulk_view<packed_tile, float> view{m.from(), {}, true};
  const tt::emulation_report report =
      walk<packed_tile, tt::copy_engine::bulk>(step::no_start_barrier, m, view);
  INFO(report.table());
  REQUIRE(found_only(report, fault_kind::race));
  CHECK(report.faults[0].first.inside.find("tile_pipeline.cuh:") == 0);
}

// The bulk engine. --------------------------------------------------------------------------------------------------

namespace {

enum class bulk {
  right,
  no_fence,
  no_barrier,
  no_wait,
  no_last_barrier,
  rewritten,
  rewritten_by_others,
  read_back
};

int set_line = 0;
int again_line = 0;

// Two tiles of the matrix go through one tile of shared memory, which the threads fill.
tt::emulation_report store_two(bulk what, matrices& m, bool described) {
  return tt::emulate(in_mode(), 1, 64, sizeof(packed_tile::storage), [&](tt::emulated_block b) {
    const auto is = [&](bulk one) { return what == one; };
    const tt::static_block<64> block;
    const packed_tile tile(b.shared_as<packed_tile::storage>());
    const tt::bulk_view<packed_tile, float> out{m.to(), {}, described};
    for (std::size_t row = 0; row < 2 * side; row += side) {
      if (b.thread_rank() == 0) { set_line = __LINE__ + 1; }
      tt::load_tile(block, tile, m.from(), row, 0);
      if (!is(bulk::no_fence)) { tt::bulk_fence(); }
      if (!is(bulk::no_barrier)) { block.sync(); }
      if (b.thread_rank() == 0) { store_line = __LINE__ + 1; }
      tt::store_tile_bulk(block, out, row, 0, tile);
      if (b.thread_rank() == 0) { again_line = __LINE__; }
      if (is(bulk::rewritten) && b.thread_rank() == 0) { tile.set(0, 3, 1.0f); }  // + 1
      if (is(bulk::rewritten_by_others)) { block.sync(); }
      if (is(bulk::rewritten_by_others) && b.thread_rank() == 40) { tile.set(0, 3, 1.0f); }
      if (is(bulk::rewritten_by_others)) { block.sync(); }
      if (!is(bulk::no_wait) || row == 0) { tt::bulk_wait(); }
      if (is(bulk::read_back) && b.thread_rank() == 0) { (void)m.to().get(row, 3); }  // + 6
      if (!is(bulk::no_last_barrier)) { block.sync(); }
    }
  });
}

}  // namespace

TEST_CASE("tiles that the bulk engine stores are clean and right") {
  for (const bool described : {false, true}) {
    matrices m;
    const tt::emulation_report report = store_two(bulk::right, m, described);
    INFO(report.table());
    CHECK(report.clean());
    bool same = true;
    for (std::size_t i = 0; i < 2 * side * side; ++i) { same = same && m.out[i] == m.in[i]; }
    CHECK(same);
  }
}

TEST_CASE("what the bulk engine is handed without a fence may be older") {
  matrices m;
  const tt::emulation_report report = store_two(bulk::no_fence, m, true);
  INFO(report.table());
  REQUIRE(found_only(report, fault_kind::unfenced));
  CHECK(is_between(report.faults[0], set_line, store_line));
}

TEST_CASE("what others store is handed to the bulk engine behind a barrier") {
  matrices m;
  const tt::emulation_report report = store_two(bulk::no_barrier, m, true);
  INFO(report.table());
  REQUIRE(found_only(report, fault_kind::race));
  CHECK(is_between(report.faults[0], set_line, store_line));
}

TEST_CASE("a block waits for the bulk engine before it ends") {
  matrices m;
  const tt::emulation_report report = store_two(bulk::no_wait, m, true);
  INFO(report.table());
  REQUIRE(found_only(report, fault_kind::under_way));
  CHECK(report.faults[0].first.site == "copies_test.cpp:" + std::to_string(store_line));
  CHECK(report.faults[0].what.find("before the block ends") != std::string::npos);
  CHECK(m.out[side * side] == 0);
}

TEST_CASE(
    "a tile is not written while the bulk engine may read it, nor what the engine writes read") {
  struct expected {
    bulk what;
    int line;
  };
  for (const expected& wanted :
       {expected{bulk::rewritten, 1}, expected{bulk::rewritten_by_others, 3},
        expected{bulk::read_back, 6}}) {
    matrices m;
    const tt::emulation_report report = store_two(wanted.what, m, true);
    INFO(static_cast<int>(wanted.what) << '\n' << report.table());
    const tt::emulation_fault* early = find(report, fault_kind::under_way);
    REQUIRE(early != nullptr);
    CHECK(is_between(*early, store_line, again_line + wanted.line));
    CHECK(find(report, fault_kind::race) == nullptr);
  }
}

TEST_CASE("a tile is written again behind the barrier that follows bulk_wait") {
  matrices m;
  const tt::emulation_report report = store_two(bulk::no_last_barrier, m, true);
  INFO(report.table());
  const tt::emulation_fault* race = find(report, fault_kind::race);
  REQUIRE(race != nullptr);
  CHECK(is_between(*race, store_line, set_line));
}

TEST_CASE("bytes that a barrier expects and nobody copies are waited for in vain") {
  const tt::emulation_report report = tt::emulate(in_mode(), 1, 2, 8, [](tt::emulated_block b) {
    auto* const barrier = reinterpret_cast<tt::detail::bulk_barrier*>(b.shared());
    if (b.thread_rank() == 0) { tt::detail::init_barrier(barrier, 1); }
    b.sync();
    if (b.thread_rank() == 0) { tt::detail::arrive_expecting(barrier, 64); }
    tt::detail::wait_for_phase(barrier, 0);
  });
  INFO(report.table());
  REQUIRE(found_only(report, fault_kind::missed_barrier));
  CHECK(report.faults[0].count == 2);
  CHECK(report.faults[0].what.find("for 64 bytes that nobody copies") != std::string::npos);
}

TEST_CASE("a box is where the bulk engine can take it, and inside of known memory") {
  matrices m;
  const auto run = [&](tt::matrix_view<const float> matrix) {
    return tt::emulate(
        1, 32, sizeof(packed_tile::storage),
        [&](tt::emulated_block b, tt::matrix_view<const float>) {
          const packed_tile tile(b.shared_as<packed_tile::storage>());
          const tt::bulk_view<packed_tile, float> out{
              {const_cast<float*>(matrix.data), matrix.rows, matrix.cols, matrix.stride}, {}, true};
          for (int row = 0; row < 32; ++row) {
            tile.set(row, static_cast<int>(b.thread_rank()), 1);
          }
          tt::bulk_fence();
          b.sync();
          tt::store_tile_bulk(b, out, 0, 0, tile);
          tt::bulk_wait();
        },
        tt::matrix_view<const float>{m.out.data(), 64, 32, 32});
  };
  CHECK(find(run({m.out.data() + 1, 40, 32, 32}), fault_kind::misaligned) != nullptr);
  CHECK(found_only(run({m.out.data(), 40, 32, 32}), fault_kind::outside_global));  // const
}

// What becomes of a pipeline's stages. ------------------------------------------------------------------------------

namespace {

// Calls `body(pipeline, load)`, where load() starts to fill the stage to be filled, by 64 threads.
template <tt::copy_engine Engine, class Body>
tt::emulation_report with_pipeline(matrices& m, Body body) {
  using pipeline_type = tt::tile_pipeline<2, Engine>;
  const tt::smem_layout smem{tt::smem_tiles<packed_tile, 2>().aligned<128>(),
                             tt::smem_array<typename pipeline_type::storage, 1>()};
  return tt::emulate(
      in_mode(), 1, 64, smem.bytes(),
      [&](tt::emulated_block b, const tt::bulk_view<packed_tile>& in) {
        const auto [tiles, storage] = smem.carve(b.shared());
        pipeline_type pipeline(b, *storage);
        b.sync();
        body(b, pipeline, *storage, [&, &tiles = tiles](pipeline_type& fills) {
          fills.load(b, tiles[fills.acquire()], in, 0, 0);
        });
      },
      tt::bulk_view<packed_tile>{m.from(), {}, true});
}

template <tt::copy_engine Engine>
void check_stage_order() {
  matrices m;
  int line = 0;
  const auto check = [&](const tt::emulation_report& report, const char* says) {
    INFO(static_cast<int>(Engine) << ' ' << says << '\n' << report.table());
    const tt::emulation_fault* fault = find(report, fault_kind::stage_order);
    REQUIRE(fault != nullptr);
    CHECK(fault->count == 64);
    CHECK(fault->first.site == "copies_test.cpp:" + std::to_string(line));
    CHECK(fault->what.find(says) != std::string::npos);
  };
  const auto fill_all = [](auto b, auto& pipeline, auto&, auto load) {
    for (int round = 0; round < 3; ++round) {
      for (int stage = 0; stage < 2; ++stage) {
        load(pipeline);
        pipeline.commit();
      }
      for (int stage = 0; stage < 2; ++stage) {
        pipeline.wait();
        pipeline.release();
      }
      b.sync();
    }
  };
  CHECK(with_pipeline<Engine>(m, fill_all).clean());
  check(with_pipeline<Engine>(m,
                              [&](auto b, auto& pipeline, auto&, auto load) {
                                for (int stage = 0; stage < 2; ++stage) {
                                  load(pipeline);
                                  pipeline.commit();
                                }
                                if (b.thread_rank() == 0) { line = __LINE__ + 1; }
                                pipeline.commit();
                              }),
        " a stage of a pipeline of which all 2 are committed and not released");
  check(with_pipeline<Engine>(m,
                              [&](auto b, auto& pipeline, auto&, auto) {
                                if (b.thread_rank() == 0) { line = __LINE__ + 1; }
                                pipeline.release();
                              }),
        " a stage of a pipeline of which none is committed");
  const tt::emulation_report waits =
      with_pipeline<Engine>(m, [&](auto b, auto& pipeline, auto&, auto load) {
        load(pipeline);
        if (b.thread_rank() == 0) { line = __LINE__ + 1; }
        pipeline.wait();
      });
  if (Engine != tt::copy_engine::bulk) {
    check(waits, " a stage of a pipeline of which none is committed");
  } else {
    INFO(waits.table());
    REQUIRE(found_only(waits, fault_kind::missed_barrier));
    CHECK(waits.faults[0].first.site == "copies_test.cpp:" + std::to_string(line));
  }
}

}  // namespace

TEST_CASE("stages are committed, waited for and released in turn") {
  check_stage_order<tt::copy_engine::threads>();
  check_stage_order<tt::copy_engine::cp_async>();
  check_stage_order<tt::copy_engine::bulk>();
}

TEST_CASE("barriers of the bulk engine are made once in a block") {
  matrices m;
  int line = 0;
  const auto make_two = [&](auto b, auto& pipeline, auto& storage, auto load) {
    load(pipeline);
    pipeline.commit();
    pipeline.wait();
    pipeline.release();
    b.sync();
    if (b.thread_rank() == 0) { line = __LINE__ + 1; }
    std::remove_reference_t<decltype(pipeline)> other(b, storage);
    b.sync();
    load(other);
    other.commit();
    other.wait();
  };
  CHECK(with_pipeline<tt::copy_engine::cp_async>(m, make_two).clean());
  const tt::emulation_report report = with_pipeline<tt::copy_engine::bulk>(m, make_two);
  INFO(report.table());
  REQUIRE(report.faults.size() == 1);  // and nothing of what may come of it
  CHECK(report.faults[0].kind == fault_kind::stage_order);
  CHECK(report.faults[0].count == 2);
  CHECK(report.faults[0].first.site == "copies_test.cpp:" + std::to_string(line));
}
