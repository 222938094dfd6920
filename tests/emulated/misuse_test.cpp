// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whom a report names, and mistakes in how the library's functions are called: groups that the launch does not have,
// elements that a matrix does not have.

#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/emulator.cuh>
#include <tiletranspose/smem.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/tile_pipeline.cuh>
#include <tiletranspose/warp_exchange.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

using tt::fault_kind;

const tt::emulation_fault* find(const tt::emulation_report& report, fault_kind kind) {
  for (const tt::emulation_fault& fault : report.faults) {
    if (fault.kind == kind) { return &fault; }
  }
  return nullptr;
}

std::string here(int line) { return "misuse_test.cpp:" + std::to_string(line); }

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;

// Every access was made inside of the library, by a call in one of the five lines behind `first`.
void check_calls(const tt::emulation_report& report, int first) {
  INFO(report.table());
  CHECK(report.clean());
  REQUIRE_FALSE(report.accesses.empty());
  for (const tt::access_report& access : report.accesses) {
    REQUIRE(starts_with(access.site, "misuse_test.cpp:"));
    const int line = std::stoi(access.site.substr(access.site.find(':') + 1));
    CHECK(line > first);
    CHECK(line <= first + 5);
    CHECK(access.inside.find(".cuh:") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("of two calls of one function, a report names the one") {
  tt::emulated_buffer<float> memory(2 * 32 * 32);
  int first = 0;
  const tt::emulation_report report = tt::emulate(
      1, 256, 2 * sizeof(tile_type::storage),
      [&](tt::emulated_block block, tt::matrix_view<const float> in) {
        auto* const storage = reinterpret_cast<tile_type::storage*>(block.shared());
        first = __LINE__ + 1;
        tt::load_tile(block, tile_type(storage[0]), in, 0, 0);
        tt::load_tile(block, tile_type(storage[1]), in, 32, 0);
        tt::load_tile(block, tile_type(storage[1]), in, 0, 0, 1.0f);  // without a barrier
        (void)tile_type(storage[0]).get(0, static_cast<int>(block.thread_rank()) % 32);
      },
      tt::matrix_view<const float>{memory.data(), 64, 32, 32});
  INFO(report.table());
  REQUIRE(report.accesses.size() == 7);
  for (int call = 0; call < 3; ++call) {
    for (int access = 0; access < 2; ++access) {
      CHECK(report.accesses[2 * call + access].site == here(first + call));
      CHECK(starts_with(report.accesses[2 * call + access].inside, "tile_io.cuh:"));
    }
  }
  CHECK(report.accesses[6].site == here(first + 3));
  CHECK(report.accesses[6].inside.empty());
  // Lane l reads what lane l and its like of other warps store: a race of the first call with the last line.
  const tt::emulation_fault* race = find(report, fault_kind::race);
  REQUIRE(race != nullptr);
  CHECK(race->first.site == here(first));
  CHECK(starts_with(race->first.inside, "tile_io.cuh:"));
  CHECK(race->second.site == here(first + 3));
  CHECK(race->what.find(here(first) + " (tile_io.cuh:") != std::string::npos);
  CHECK(report.faults.size() == 1);
  const std::string json = report.json();
  CHECK(json.find("\"site\": \"" + here(first) + "\", \"inside\": \"tile_io.cuh:") !=
        std::string::npos);
  CHECK(report.table().find(here(first) + " (tile_io.cuh:") != std::string::npos);
}

TEST_CASE("two loads of which lanes leave out the first are two requests") {
  tt::emulated_buffer<float> in(32 * 32);
  const tt::emulation_report report =
      tt::emulate(1, 32, 2 * sizeof(tile_type::storage), [&](tt::emulated_block block) {
        auto* const storage = reinterpret_cast<tile_type::storage*>(block.shared());
        const tt::matrix_view<const float> some{in.data(), 32, 7, 32};
        const tt::matrix_view<const float> all{in.data(), 32, 32, 32};
        tt::load_tile(block, tile_type(storage[0]), some, 0, 0);
        tt::load_tile(block, tile_type(storage[1]), all, 0, 0);
      });
  CHECK(report.clean());
  CHECK(report.global_loads().requests == 64);
  CHECK(report.global_loads().sectors == 32 * (1 + 4));
}

TEST_CASE("each public function names its caller") {
  tt::emulated_buffer<float> in(32 * 32);
  tt::emulated_buffer<float> out(32 * 32);
  const tt::matrix_view<const float> from{in.data(), 32, 32, 32};
  const tt::matrix_view<float> to{out.data(), 32, 32, 32};
  const tt::static_block<256> block;
  int first = 0;
  // The calls of `body` stand in the lines behind `first`.
  const auto check = [&](auto body) {
    const tt::emulation_report report =
        tt::emulate(1, 256, 48 * 1024, [&](tt::emulated_block b) { body(b); });
    check_calls(report, first);
  };
  check([&](tt::emulated_block b) {
    const tile_type tile(b.shared_as<tile_type::storage>());
    first = __LINE__;
    tt::load_tile_async(block, tile, from, 0, 0, 0.0f);
    tt::async_commit();
    tt::async_wait<0>();
    block.sync();
    tt::store_tile(block, to, 0, 0, tile);
  });
  check([&](tt::emulated_block b) {
    using transpose_type = tt::block_transpose<float, 32, 8>;
    const transpose_type transposer(b.shared_as<transpose_type::storage>());
    first = __LINE__;
    transposer.load(block, from, 0, 0);
    block.sync();
    transposer.store(block, to, 0, 0);
  });
  check([&](tt::emulated_block b) {
    using transpose_type = tt::block_transpose<float, 32, 8>;
    const transpose_type transposer(b.shared_as<transpose_type::storage>());
    float items[4] = {};
    first = __LINE__;
    transposer.load(block, items, from, 0, 0);
    transposer.write(block, items);
    block.sync();
    transposer.read(block, items);
    transposer.store(block, to, 0, 0, items);
  });
  check([&](tt::emulated_block b) {
    using reverse_type = tt::block_reverse<float, 1000>;
    const reverse_type reverser(b.shared_as<reverse_type::storage>());
    first = __LINE__;
    reverser.load(block, in.data());
    block.sync();
    reverser.store(block, out.data());
  });
  check([&](tt::emulated_block) {
    struct triple {
      float x, y, z;
    };
    triple mine{};
    auto* const structs = reinterpret_cast<triple*>(out.data());
    first = __LINE__;
    tt::load_structs(block, mine, structs, 250);
    tt::store_structs(block, structs, 250, mine);
  });
  check([&](tt::emulated_block b) {
    using exchange_type = tt::warp_exchange<unsigned char, 16>;
    auto* const storage = reinterpret_cast<exchange_type::storage*>(b.shared());
    const exchange_type exchange(storage[b.thread_rank() / 32]);
    unsigned char items[16] = {};
    first = __LINE__;
    exchange.blocked_to_striped(tt::static_warp{}, items);
  });
}

TEST_CASE("a block of another size than its static_block says is reported as that") {
  tt::emulated_buffer<float> in(32 * 32);
  int line = 0;
  const auto run = [&](tt::emulated_dim block_dim) {
    return tt::emulate(1, block_dim, sizeof(tile_type::storage), [&](tt::emulated_block b) {
      const tt::static_block<256> block;
      const tile_type tile(b.shared_as<tile_type::storage>());
      line = __LINE__ + 1;
      tt::load_tile(block, tile, tt::matrix_view<const float>{in.data(), 32, 32, 32}, 0, 0);
      block.sync();
      (void)tile.get(31, static_cast<int>(b.thread_rank()) % 32);
    });
  };
  CHECK(run(256).clean());
  for (const tt::emulated_dim& dim : {tt::emulated_dim(128), tt::emulated_dim(512),
                                      tt::emulated_dim(16, 16), tt::emulated_dim(1, 256)}) {
    const tt::emulation_report report = run(dim);
    INFO(report.table());
    REQUIRE(report.faults.size() == 1);  // and nothing of what comes of it
    const tt::emulation_fault& fault = report.faults[0];
    CHECK(fault.kind == fault_kind::group_size);
    CHECK(fault.count == dim.count());
    CHECK(fault.first.site == here(line));
    CHECK(fault.what.find("static_block<256>, but the launch's blocks have " +
                          std::to_string(dim.x) + " x " + std::to_string(dim.y) + " x 1 threads") !=
          std::string::npos);
  }
}

TEST_CASE("a warp that the launch does not have whole is reported") {
  int line = 0;
  const auto run = [&](unsigned threads) {
    return tt::emulate(1, threads, 0, [&](tt::emulated_block) {
      int items[4] = {};
      line = __LINE__ + 1;
      tt::warp_transpose(tt::static_lanes<4>{}, items);
    });
  };
  CHECK(run(64).clean());
  const tt::emulation_report report = run(40);
  const tt::emulation_fault* fault = find(report, fault_kind::group_size);
  INFO(report.table());
  REQUIRE(fault != nullptr);
  CHECK(fault->first.thread == 32);
  CHECK(fault->count >= 8);
  CHECK(fault->first.site == here(line));
  CHECK(fault->what.find("whole warp, of which the launch's block of 40 threads has 8") !=
        std::string::npos);
}

TEST_CASE("items in registers take a group of their own size") {
  using transpose_type = tt::block_transpose<float, 32, 8>;
  tt::emulated_buffer<float> in(32 * 32);
  int line = 0;
  const auto run = [&](unsigned threads) {
    return tt::emulate(1, threads, 0, [&](tt::emulated_block block) {
      float items[4] = {};
      line = __LINE__ + 1;
      transpose_type::load(block, items, tt::matrix_view<const float>{in.data(), 32, 32, 32}, 0, 0);
    });
  };
  CHECK(run(256).clean());
  const tt::emulation_report report = run(128);
  const tt::emulation_fault* fault = find(report, fault_kind::group_size);
  REQUIRE(fault != nullptr);
  CHECK(fault->first.site == here(line));
  CHECK(fault->what.find("a group of 128 threads what takes groups of 256") != std::string::npos);
}

TEST_CASE("an element that a dense matrix does not have is named, though its address exists") {
  tt::emulated_buffer<int> memory(8 * 10);
  const tt::matrix_view<int> dense{memory.data(), 8, 10, 10};
  int line = 0;
  const auto run = [&](std::size_t row, std::size_t col, bool writes) {
    return tt::emulate(
        1, 1, 0,
        [&](tt::emulated_block, tt::matrix_view<int> view) {
          line = __LINE__ + (writes ? 2 : 4);
          if (writes) {
            view.set(row, col, 1);
          } else {
            (void)view.get(row, col);
          }
        },
        dense);
  };
  for (const bool writes : {false, true}) {
    CHECK(run(0, 0, writes).clean());
    CHECK(run(7, 9, writes).clean());
    for (const tt::emulation_report& report : {run(3, 10, writes), run(0, 79, writes)}) {
      const tt::emulation_fault* outside = find(report, fault_kind::outside_matrix);
      REQUIRE(outside != nullptr);
      CHECK(report.faults.size() == 1);
      CHECK(outside->first.site == here(line));
      CHECK(outside->what.find("of a matrix of 8 x 10") != std::string::npos);
    }
  }
  CHECK(find(run(8, 0, false), fault_kind::outside_matrix) != nullptr);
}

TEST_CASE("a tile that starts in front of its matrix is named") {
  tt::emulated_buffer<float> memory(64 * 64);
  const tt::matrix_view<float> matrix{memory.data(), 64, 64, 64};
  int line = 0;
  const auto run = [&](std::size_t row, std::size_t col, int which) {
    return tt::emulate(1, 256, sizeof(tile_type::storage), [&](tt::emulated_block b) {
      const tt::static_block<256> block;
      const tile_type tile(b.shared_as<tile_type::storage>());
      float items[4] = {};
      switch (which) {
        case 0:
          line = __LINE__ + 1;
          tt::load_tile(block, tile, matrix, row, col, 0.0f);
          break;
        case 1:
          line = __LINE__ + 1;
          tt::load_tile_async(block, tile, matrix, row, col, 0.0f);
          break;
        case 2:
          line = __LINE__ + 1;
          tt::store_tile(block, matrix, row, col, tile);
          break;
        case 3:
          line = __LINE__ + 1;
          tt::store_tile_transposed(block, matrix, row, col, tile);
          break;
        default:
          line = __LINE__ + 1;
          tt::block_transpose<float, 32, 8>::load(block, items, matrix, row, col);
          break;
      }
    });
  };
  const auto minus_one = ~std::size_t{0};
  for (int which = 0; which < 5; ++which) {
    CHECK(run(64, 96, which).clean());  // behind the matrix
    for (const bool above : {false, true}) {
      const tt::emulation_report report = run(above ? minus_one : 0, above ? 0 : minus_one, which);
      INFO(which << '\n' << report.table());
      REQUIRE(report.faults.size() == 1);
      CHECK(report.faults[0].kind == fault_kind::outside_matrix);
      CHECK(report.faults[0].first.site == here(line));
      CHECK(report.faults[0].what.find(above ? "element (-1, 0) of a matrix of 64 x 64"
                                             : "element (0, -1) of a matrix of 64 x 64") !=
            std::string::npos);
    }
  }
}

TEST_CASE("a tile that its array does not have is named, though other memory is there") {
  using smem_type = tt::smem_layout<tt::smem_tiles<tile_type, 2>, tt::smem_array<float, 2048>>;
  int line = 0;
  const auto run = [&](auto index) {
    return tt::emulate(1, 32, smem_type().bytes(), [&](tt::emulated_block b) {
      const auto [tiles, others] = smem_type().carve(b.shared());
      static_cast<void>(others);
      line = __LINE__ + 1;
      tiles[index].set(0, static_cast<int>(b.thread_rank()), 1.0f);
    });
  };
  CHECK(run(1).clean());
  CHECK(run(std::size_t{0}).clean());
  CHECK(run(std::integral_constant<int, 1>()).clean());
  const tt::emulation_report report = run(2u);
  INFO(report.table());
  REQUIRE(report.faults.size() == 1);
  CHECK(report.faults[0].kind == fault_kind::outside_array);
  CHECK(report.faults[0].count == 32);
  CHECK(report.faults[0].first.site == here(line));
  CHECK(report.faults[0].what.find("element 2 of an array of 2") != std::string::npos);
}

namespace {

// Rows of 33 elements in the memory of rows of 32.
struct short_layout {
  using element = float;
  static constexpr int rows = 8;
  static constexpr int cols = 32;
  static constexpr int size = rows * cols;
  constexpr int operator()(int row, int col) const { return row * 33 + col; }
};

}  // namespace

TEST_CASE("a layout that asks for less memory than it takes is reported") {
  using short_tile = tt::shared_tile<float, short_layout>;
  tt::emulated_buffer<float> in(32 * 32);
  int line = 0;
  const tt::emulation_report report = tt::emulate(1, 64, 2048, [&](tt::emulated_block b) {
    const short_tile tile(b.shared_as<short_tile::storage>());
    line = __LINE__ + 1;
    tt::load_tile(b, tile, tt::matrix_view<const float>{in.data(), 32, 32, 32}, 0, 0);
  });
  INFO(report.table());
  REQUIRE(report.faults.size() == 1);
  CHECK(report.faults[0].kind == fault_kind::outside_array);
  CHECK(report.faults[0].count == 7);
  CHECK(report.faults[0].first.site == here(line));
  CHECK(report.faults[0].what.find("of an array of 256") != std::string::npos);
}

TEST_CASE("more elements than a block_reverse holds are reported, though other memory is there") {
  using reverse_type = tt::block_reverse<float, 100>;
  tt::emulated_buffer<float> in(200);
  tt::emulated_buffer<float> out(200);
  int line = 0;
  const auto run = [&](unsigned count) {
    return tt::emulate(1, 32, 1024, [&](tt::emulated_block b) {
      const reverse_type reverser(b.shared_as<reverse_type::storage>());
      line = __LINE__ + 1;
      reverser.load(b, in.data(), count);
      b.sync();
      reverser.store(b, out.data(), count);
    });
  };
  CHECK(run(0).clean());
  CHECK(run(100).clean());
  const tt::emulation_report report = run(101);
  INFO(report.table());
  REQUIRE(report.faults.size() == 2);
  CHECK(report.faults[0].kind == fault_kind::outside_array);
  CHECK(report.faults[0].first.site == here(line));
  CHECK(report.faults[1].first.site == here(line + 2));
  CHECK(report.faults[0].what.find("element 100 of an array of 100") != std::string::npos);
}

TEST_CASE("shuffles put no access of memory in front of another") {
  const auto run = [](bool waits) {
    return tt::emulate(1, 64, 64 * sizeof(float), [&](tt::emulated_block b) {
      const tt::shared_array<float, 64> shared(reinterpret_cast<float*>(b.shared()));
      const tt::static_warp warp;
      float items[4] = {};
      shared.set(b.thread_rank(), 1.0f);
      if (waits) { warp.sync(); }
      tt::warp_transpose(warp, items);
      (void)shared.get(b.thread_rank() ^ 1);
      tt::warp_transpose(warp, items);
      if (waits) { warp.sync(); }
      shared.set(b.thread_rank() ^ 2, 1.0f);
    });
  };
  CHECK(run(true).clean());
  CHECK(run(true).barriers.size() == 2);
  const tt::emulation_report report = run(false);
  INFO(report.table());
  CHECK(report.barriers.empty());
  CHECK(find(report, fault_kind::race) != nullptr);
  CHECK(report.faults.size() == 2);  // the first store, with the load and with the second store
}

TEST_CASE("rows that overlap are known memory, from the first to the last element") {
  tt::emulated_buffer<float> memory(64);
  const auto run = [&](std::size_t windows, std::size_t step, std::size_t end) {
    return tt::emulate(
        1, 1, 0,
        [&](tt::emulated_block, tt::matrix_view<const float> view) {
          const tt::matrix_view<const float> all{view.data, 1, 64, 64};
          for (std::size_t i = 0; i < end; ++i) { (void)all.get(0, i); }
        },
        tt::matrix_view<const float>{memory.data(), windows, 16, step});
  };
  // Windows of 16 elements, each `step` behind the one before.
  CHECK(run(10, 1, 25).clean());
  CHECK(find(run(10, 1, 26), fault_kind::outside_global) != nullptr);
  CHECK(run(5, 3, 28).clean());
  CHECK(find(run(5, 3, 29), fault_kind::outside_global) != nullptr);
}

TEST_CASE("where a matrix has no elements, none may be touched") {
  tt::emulated_buffer<float> memory(64);
  for (const tt::matrix_view<float>& empty : {tt::matrix_view<float>{memory.data(), 0, 8, 8},
                                              tt::matrix_view<float>{memory.data(), 8, 0, 8}}) {
    const tt::emulation_report report = tt::emulate(
        1, 1, 0,
        [](tt::emulated_block, tt::matrix_view<float> view) {
          tt::matrix_view<float>{view.data, 1, 1, 1}.set(0, 0, 1.0f);
        },
        empty);
    INFO(report.table());
    CHECK(find(report, fault_kind::outside_global) != nullptr);
    CHECK(memory[0] == 0);
  }
}

TEST_CASE("launches that no GPU has are refused") {
  const auto run = [](tt::emulated_dim grid, tt::emulated_dim block, std::size_t bytes) {
    return tt::emulate(grid, block, bytes, [](tt::emulated_block) {}).clean();
  };
  CHECK(run(tt::emulated_dim(1, 2, 3), tt::emulated_dim(1, 1, 64), 227 * 1024));
  CHECK_THROWS_AS(run(0, 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(run(tt::emulated_dim(1, 0), 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(run(tt::emulated_dim(1, 65536), 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(run(tt::emulated_dim(1, 1, 65536), 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(run(0x80000000u, 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(run(1, tt::emulated_dim(1, 1, 65), 0), std::invalid_argument);
  CHECK_THROWS_AS(run(1, 1, 227 * 1024 + 1), std::invalid_argument);
}

TEST_CASE("a buffer that is const may be read and not written") {
  tt::emulated_buffer<float> buffer(4);
  const tt::emulated_buffer<float>& constant = buffer;
  const auto run = [&](bool writes) {
    return tt::emulate(tt::emulator_options().knows(constant), 1, 1, 0, [&](tt::emulated_block) {
      const tt::matrix_view<float> view{buffer.data(), 1, 4, 4};
      if (writes) { view.set(0, 0, 1.0f); }
      (void)view.get(0, 3);
    });
  };
  CHECK(run(false).clean());
  CHECK(find(run(true), fault_kind::outside_global) != nullptr);
}
