// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The emulator's checks: each planted fault is found, with its place and its threads, and the same code
// without the fault is clean. Both ways of running are asked.

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/emulator.cuh>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <stdexcept>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace {

using tt::fault_kind;
using tt::detail::load_global;
using tt::detail::load_shared;
using tt::detail::store_global;
using tt::detail::store_shared;

tt::emulator_options in_mode() {
  tt::emulator_options options;
#if !defined(__SANITIZE_THREAD__)
  options.mode =
      GENERATE(tt::emulator_options::run_mode::fibers, tt::emulator_options::run_mode::threads);
#endif
  return options;
}

const tt::emulation_fault* find(const tt::emulation_report& report, fault_kind kind) {
  for (const tt::emulation_fault& fault : report.faults) {
    if (fault.kind == kind) { return &fault; }
  }
  return nullptr;
}

std::string site(int line) { return "faults_test.cpp:" + std::to_string(line); }

using block_transpose = tt::block_transpose<float, 32, 8>;
using storage = block_transpose::storage;

int load_line = 0;
int store_line = 0;

enum class planted { nothing, missing_barrier, divergent_barrier, early_end, row_off_by_one };

tt::emulation_report run_transpose(planted fault) {
  tt::emulated_buffer<float> in(40 * 50);
  tt::emulated_buffer<float> out(40 * 50);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<float>(i); }
  const tt::matrix_view<const float> in_view{in.data(), 40, 50, 50};
  const tt::matrix_view<float> out_view{out.data(), 50, 40, 40};
  const tt::emulation_report report = tt::emulate(
      in_mode(), tt::emulated_dim(2, 2), 256, sizeof(storage),
      [&](tt::emulated_block block, tt::matrix_view<float> to, tt::matrix_view<const float> from) {
        const block_transpose transposer(block.shared_as<storage>());
        const std::size_t row = block.index().y * 32u;
        const std::size_t col = block.index().x * 32u;
        if (block.thread_rank() == 0) { load_line = __LINE__ + 1; }
        transposer.load(block, from, row, col);
        if (fault == planted::early_end && block.thread_rank() == 77) { return; }
        if (fault == planted::divergent_barrier && block.thread_rank() == 5) {
          block.sync();
        } else if (fault != planted::missing_barrier) {
          block.sync();
        }
        if (fault == planted::row_off_by_one) { ++to.rows; }
        if (block.thread_rank() == 0) { store_line = __LINE__ + 1; }
        transposer.store(block, to, col, row);
      },
      out_view, in_view);
  if (fault == planted::nothing) {
    bool equal = true;
    for (std::size_t y = 0; y < 40; ++y) {
      for (std::size_t x = 0; x < 50; ++x) { equal = equal && out[x * 40 + y] == in[y * 50 + x]; }
    }
    CHECK(equal);
  }
  return report;
}

}  // namespace

TEST_CASE("a transpose without a fault is clean") {
  const tt::emulation_report report = run_transpose(planted::nothing);
  CHECK(report.clean());
  INFO(report.table());
  REQUIRE(report.barriers.size() == 1);
  CHECK(report.barriers[0].passed == 4);
}

TEST_CASE("a missing barrier is a race between two named threads") {
  const tt::emulation_report report = run_transpose(planted::missing_barrier);
  const tt::emulation_fault* race = find(report, fault_kind::race);
  INFO(report.table());
  REQUIRE(race != nullptr);
  CHECK(race->first.thread != race->second.thread);
  const bool forwards =
      race->first.site == site(load_line);  // which is seen first is nobody's promise
  CHECK((forwards ? race->second : race->first).site == site(store_line));
  CHECK((forwards ? race->first : race->second).site == site(load_line));
  CHECK(race->first.inside.find("tile_io.cuh:") == 0);
  CHECK(race->second.inside.find("tile_io.cuh:") == 0);
  CHECK(race->what.find("without a barrier between") != std::string::npos);
  CHECK(report.barriers.empty());
}

TEST_CASE("threads that wait at different barriers are reported and go on") {
  const tt::emulation_report report = run_transpose(planted::divergent_barrier);
  const tt::emulation_fault* missed = find(report, fault_kind::missed_barrier);
  INFO(report.table());
  REQUIRE(missed != nullptr);
  CHECK((missed->first.thread == 5 || missed->second.thread == 5));
  CHECK(missed->first.site != missed->second.site);
  CHECK(missed->count == 4);  // once a block
}

TEST_CASE("a thread that ends before a barrier is reported and does not hang the others") {
  const tt::emulation_report report = run_transpose(planted::early_end);
  const tt::emulation_fault* missed = find(report, fault_kind::missed_barrier);
  INFO(report.table());
  REQUIRE(missed != nullptr);
  CHECK(missed->first.thread == 0);
  CHECK(missed->second.thread == 77);
  CHECK(missed->what.find("has ended") != std::string::npos);
}

TEST_CASE("a matrix that is one row too long is left alone outside of its view") {
  const tt::emulation_report report = run_transpose(planted::row_off_by_one);
  const tt::emulation_fault* outside = find(report, fault_kind::outside_global);
  INFO(report.table());
  REQUIRE(outside != nullptr);
  CHECK(outside->first.site == site(store_line));
  CHECK(outside->first.inside.find("tile_io.cuh:") == 0);
  CHECK(outside->count == 40);
}

TEST_CASE("the gap between the rows of a view is nobody's") {
  tt::emulated_buffer<float> memory(64);
  const tt::matrix_view<float> view{memory.data(), 4, 10, 16};
  const auto run = [&](std::size_t index) {
    return tt::emulate(
        in_mode(), 1, 1, 0,
        [index](tt::emulated_block, tt::matrix_view<float> to) {
          store_global(to.data + index, 1.0f);
        },
        view);
  };
  CHECK(run(9).clean());
  CHECK(run(16 + 9).clean());
  CHECK_FALSE(run(10).clean());
  CHECK_FALSE(run(16 + 15).clean());
  CHECK_FALSE(run(4 * 16).clean());
  // Rows that run backwards.
  const tt::matrix_view<float> back{memory.data() + 48, 4, 10, std::size_t{0} - 16};
  const auto run_back = [&](int index) {
    return tt::emulate(
        1, 1, 0,
        [index](tt::emulated_block, tt::matrix_view<float> to) {
          store_global(to.data + index, 1.0f);
        },
        back);
  };
  CHECK(run_back(9).clean());
  CHECK(run_back(-48).clean());
  CHECK(run_back(-48 + 9).clean());
  CHECK_FALSE(run_back(-48 + 10).clean());
  CHECK_FALSE(run_back(10).clean());
}

TEST_CASE("what is const is not written, and registered buffers end where they end") {
  tt::emulated_buffer<int> memory(8);
  const auto run = [&](bool constant, int index) {
    tt::emulator_options options = in_mode();
    if (constant) {
      options.knows(static_cast<const int*>(memory.data()), 8);
    } else {
      options.knows(memory);
    }
    return tt::emulate(options, 1, 1, 0,
                       [&](tt::emulated_block) { store_global(memory.data() + index, 1); });
  };
  CHECK(run(false, 7).clean());
  CHECK_FALSE(run(false, 8).clean());
  CHECK_FALSE(run(false, -1).clean());
  CHECK_FALSE(run(true, 0).clean());
}

#if defined(__SANITIZE_ADDRESS__)
TEST_CASE("AddressSanitizer sees the ends of buffers and of shared memory") {
  for (const std::size_t size : {1, 7, 16, 100, 256}) {
    for (const std::size_t offset : {0, 3}) {
      const tt::emulated_buffer<unsigned char> buffer(size, offset);
      CHECK(__asan_address_is_poisoned(buffer.data() + size - 1) == 0);
      CHECK(__asan_address_is_poisoned(buffer.data() + size) == 1);
    }
    bool ends = false;
    tt::emulate(1, 1, size, [&](tt::emulated_block block) {
      ends = __asan_address_is_poisoned(block.shared() + size) == 1;
    });
    CHECK(ends);
  }
}
#endif

TEST_CASE("shared memory ends where the launch says") {
  const tt::emulation_report report =
      tt::emulate(in_mode(), 1, 4, 16, [](tt::emulated_block block) {
        store_shared(block.shared() + 4 * (block.thread_rank() + 1), 1u);
      });
  const tt::emulation_fault* outside = find(report, fault_kind::outside_shared);
  REQUIRE(outside != nullptr);
  CHECK(report.faults.size() == 1);
  CHECK(outside->first.thread == 3);
  CHECK(outside->first.site == site(__LINE__ - 6));
}

TEST_CASE("an element that a tile does not have is named, though its address may exist") {
  using tile_type = tt::shared_tile<int, tt::padded_layout<int, 4, 8, 1>>;
  const auto run = [](int row, int col) {
    return tt::emulate(in_mode(), 1, 1, sizeof(tile_type::storage), [=](tt::emulated_block block) {
      const tile_type tile(block.shared_as<tile_type::storage>());
      tile.set(row, col, 1);
    });
  };
  CHECK(run(3, 7).clean());
  for (const tt::emulation_report& report : {run(0, 8), run(4, 0), run(1, -1), run(-1, 3)}) {
    const tt::emulation_fault* outside = find(report, fault_kind::outside_tile);
    REQUIRE(outside != nullptr);
    CHECK(outside->first.site == site(__LINE__ - 7));
    CHECK(outside->what.find("of a tile of 4 x 8") != std::string::npos);
  }
}

TEST_CASE("shared memory that nobody has written is not read") {
  // Block 0 writes what block 1 reads: shared memory does not live on.
  const tt::emulation_report report = tt::emulate(in_mode(), 2, 2, 8, [](tt::emulated_block block) {
    unsigned char* const mine = block.shared() + 4 * block.thread_rank();
    if (block.index().x == 0) { store_shared(mine, 7u); }
    (void)load_shared<unsigned>(mine);
  });
  const tt::emulation_fault* unwritten = find(report, fault_kind::unwritten);
  REQUIRE(unwritten != nullptr);
  CHECK(report.faults.size() == 1);
  CHECK(unwritten->first.block == 1);
  CHECK(unwritten->count == 2);
  CHECK(unwritten->first.site == site(__LINE__ - 7));
}

TEST_CASE("a word may be read for the bytes of it that have been written") {
  const tt::emulation_report report = tt::emulate(in_mode(), 1, 1, 8, [](tt::emulated_block block) {
    store_shared<unsigned char>(block.shared() + 3, 1);
    (void)load_shared<unsigned>(block.shared());
  });
  CHECK(report.clean());
}

TEST_CASE("a misaligned access is reported") {
  tt::emulated_buffer<unsigned char> memory(32);
  const tt::emulation_report report =
      tt::emulate(in_mode(), 1, 2, 0, [&](tt::emulated_block block) {
        (void)load_global<unsigned>(memory.data() + 6 * block.thread_rank());
      });
  const tt::emulation_fault* misaligned = find(report, fault_kind::misaligned);
  REQUIRE(misaligned != nullptr);
  CHECK(misaligned->first.thread == 1);
  CHECK(misaligned->count == 1);
}

TEST_CASE("races in shared memory") {
  enum class pattern { write_write, read_then_write, write_then_read, neighbours, by_barrier };
  const auto run = [](pattern which) {
    return tt::emulate(in_mode(), 1, 64, 256, [which](tt::emulated_block block) {
      const unsigned rank = block.thread_rank();
      unsigned char* const word = block.shared();
      store_shared(word + 4 * rank, rank);
      block.sync();
      switch (which) {
        case pattern::write_write:
          if (rank == 3 || rank == 40) { store_shared(word, rank); }
          break;
        case pattern::read_then_write:
          if (rank < 40) { (void)load_shared<unsigned>(word); }
          if (rank == 63) { store_shared(word, rank); }
          break;
        case pattern::write_then_read:
          if (rank == 3) { store_shared<unsigned char>(word + 1, 0); }
          if (rank == 40) { (void)load_shared<unsigned>(word); }
          break;
        case pattern::neighbours:  // different bytes of one word are no race, nor are reads
          store_shared<unsigned char>(word + rank, 0);
          break;
        case pattern::by_barrier:
          if (rank == 3) { store_shared(word, rank); }
          block.sync();
          (void)load_shared<unsigned>(word);
          break;
      }
    });
  };
  CHECK(find(run(pattern::write_write), fault_kind::race) != nullptr);
  CHECK(find(run(pattern::read_then_write), fault_kind::race) != nullptr);
  const tt::emulation_report later = run(pattern::write_then_read);
  const tt::emulation_fault* race = find(later, fault_kind::race);
  REQUIRE(race != nullptr);
  CHECK(race->first.thread == 3);
  CHECK(race->second.thread == 40);
  CHECK(run(pattern::neighbours).clean());
  CHECK(run(pattern::by_barrier).clean());
}

TEST_CASE("a warp's own barrier orders its threads, and nobody else's") {
  const auto run = [](bool syncs, bool other_warp) {
    return tt::emulate(in_mode(), 1, 64, 256, [=](tt::emulated_block block) {
      const unsigned rank = block.thread_rank();
      store_shared(block.shared() + 4 * rank, rank);
      if (syncs) { tt::static_warp::sync(); }
      (void)load_shared<unsigned>(block.shared() + 4 * (rank ^ (other_warp ? 32 : 1)));
    });
  };
  CHECK(run(true, false).clean());
  CHECK_FALSE(run(false, false).clean());
  CHECK_FALSE(run(true, true).clean());
}

TEST_CASE("a warp that does not meet is reported") {
  const tt::emulation_report report =
      tt::emulate(in_mode(), 1, 64, 0, [](tt::emulated_block block) {
        if (block.thread_rank() != 45) { tt::static_warp::sync(); }
        block.sync();
      });
  const tt::emulation_fault* missed = find(report, fault_kind::missed_barrier);
  INFO(report.table());
  REQUIRE(missed != nullptr);
  CHECK(missed->first.thread == 32);
  CHECK(missed->second.thread == 45);
  CHECK(report.faults.size() == 1);
}

TEST_CASE("no barrier orders blocks: two that write one byte of global memory race") {
  tt::emulated_buffer<int> memory(4);
  const auto run = [&](bool shared_word) {
    return tt::emulate(in_mode(), 2, 2, 0, [&](tt::emulated_block block) {
      const unsigned at = shared_word ? 0 : 2 * block.index().x + block.thread_rank();
      if (!shared_word || block.thread_rank() == 0) { store_global(memory.data() + at, 1); }
    });
  };
  CHECK(run(false).clean());
  const tt::emulation_report report = run(true);
  const tt::emulation_fault* race = find(report, fault_kind::race);
  REQUIRE(race != nullptr);
  CHECK(race->first.block == 0);
  CHECK(race->second.block == 1);
}

TEST_CASE("exchanges between the threads of a warp") {
  tt::emulated_buffer<unsigned> out(3 * 64);
  tt::emulated_buffer<unsigned long long> wide(64);
  const tt::emulation_report report =
      tt::emulate(in_mode(), 1, 64, 0, [&](tt::emulated_block block) {
        const unsigned rank = block.thread_rank();
        const unsigned other = tt::detail::shuffle_xor(100 + rank, 5);
        const unsigned next = tt::detail::shuffle(other, (tt::detail::lane_index() + 1) % 32);
        out[rank] = other;
        out[64 + rank] = next;
        out[128 + rank] = tt::static_warp::thread_rank();
        wide[rank] = tt::detail::shuffle(0x100000000ull * rank, 0);
      });
  CHECK(report.clean());
  bool right = true;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned neighbour = i / 32 * 32 + (i + 1) % 32;
    right = right && out[i] == 100 + (i ^ 5) && out[64 + i] == 100 + (neighbour ^ 5) &&
            out[128 + i] == i % 32 && wide[i] == 0x100000000ull * (i / 32 * 32);
  }
  CHECK(right);
}

TEST_CASE("what a body throws ends the launch") {
  CHECK_THROWS_AS(tt::emulate(in_mode(), 1, 8, 0,
                              [](tt::emulated_block block) {
                                if (block.thread_rank() == 3) { throw std::runtime_error("3"); }
                                block.sync();
                              }),
                  std::runtime_error);
  CHECK_THROWS_AS(tt::emulate(1, 1025, 0, [](tt::emulated_block) {}), std::invalid_argument);
  CHECK_THROWS_AS(tt::emulate(1, 0, 0, [](tt::emulated_block) {}), std::invalid_argument);
  CHECK_THROWS_AS(tt::emulate(1, 1, sizeof(storage) - 1,
                              [](tt::emulated_block block) { block.shared_as<storage>(); }),
                  std::invalid_argument);
  tt::emulator_options options;
  options.bank_width = 16;
  CHECK_THROWS_AS(tt::emulate(options, 1, 1, 0, [](tt::emulated_block) {}), std::invalid_argument);
}

TEST_CASE("positions are CUDA's") {
  tt::emulated_buffer<int> seen(2 * 3 * 4 * 2);
  const tt::emulation_report report = tt::emulate(
      in_mode(), tt::emulated_dim(2, 3), tt::emulated_dim(4, 2), 0, [&](tt::emulated_block block) {
        const tt::emulated_dim at = block.index();
        const tt::emulated_dim thread = block.thread_index();
        seen[((at.y * 2 + at.x) * 2 + thread.y) * 4 + thread.x] += 1;
        if (block.size() != 8 || block.grid().y != 3 || block.dim().x != 4) { seen[0] = -1; }
      });
  bool once = true;
  for (const int count : seen) { once = once && count == 1; }
  CHECK(once);
  CHECK(report.blocks == 6);
  CHECK(report.threads == 8);
}
