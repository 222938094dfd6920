// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks that wait for each other, in transposes in place by segments. The emulator runs one block after the other on a
// copy of what they read, so that it neither hangs where a GPU would nor sees who reads too late. Hence this: what a
// launch waits for runs at once, on devices and at shapes of all kinds, and is all that may read what is written.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/detail/inplace/rectangle_segments.cuh>

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace {

using tt::detail::rectangle_problem;
using tt::detail::slab_arguments;

struct byte_range {
  std::size_t first;
  std::size_t end;

  bool meets(const byte_range& other) const { return first < other.end && other.first < end; }
};

// What tiles of a slab read and write of the data: segments of its own, and the ends of those of the slab before it; its
// rows, some of the next slab's, and what is left of a last access of 16 bytes.
struct slab_ranges {
  const slab_arguments& a;
  bool undo;

  byte_range segments(std::size_t first_slab, std::size_t last_slab) const {
    const auto last = static_cast<unsigned>((last_slab + 1) * a.cols - 1);
    return {a.segments.slot_bytes(static_cast<unsigned>(first_slab * a.cols)),
            a.segments.slot_bytes(last) + a.segments.segment_bytes};
  }
  byte_range rows(std::size_t slab, std::size_t count) const {
    const std::size_t first = slab * a.slab_bytes();
    return {first, first + (count * a.cols * a.segments.element_bytes + 15) / 16 * 16};
  }
  byte_range reads(std::size_t slab) const {
    const std::size_t last = a.segments.tall.divisor - 1;
    return undo ? segments(slab - (slab > 0 && a.slant != 0 ? 1 : 0), std::min(slab, last))
                : rows(slab, a.rows + a.slant);
  }
  byte_range writes(std::size_t slab) const {
    return !undo ? segments(slab, slab)
                 : rows(slab, slab == a.segments.tall.divisor ? a.slant : a.rows);
  }
};

struct some_device {
  int multiprocessors;
  int shared_bytes;
};

// Plans a transpose and launches it where it is moved by segments, without moving anything; true where it is.
template <bool Undo, int Bytes>
bool start_segments(const rectangle_problem& problem, const some_device& on) {
  cpu::this_device() = {};
  cpu::this_device().runs = false;
  cpu::this_device().starts_together = true;
  cpu::this_device().multiprocessors = on.multiprocessors;
  cpu::this_device().shared_bytes = on.shared_bytes;
  tt::detail::segment_plan plan;
  REQUIRE(tt::detail::plan_segments<Undo, Bytes>(problem, plan) == cudaSuccess);
  if (plan.slabs == 0) { return false; }
  // Refused where more blocks wait for each other than the launch has, or it has more than run at once.
  REQUIRE(tt::detail::launch_segments<Undo, Bytes>(plan, nullptr) == cudaSuccess);
  return true;
}

slab_arguments started_slabs() {
  const auto& started = cpu::this_device().cooperative;
  REQUIRE(started.size() == 2);  // slabs and columns
  for (const cpu::cooperative_launch& launch : started) {
    if (const auto* found = std::any_cast<slab_arguments>(&launch.arguments)) { return *found; }
  }
  FAIL("no launch of slabs");
  return {};
}

// True where each slab waits for all that read what it writes.
bool waits_for_readers(const slab_arguments& a, bool undo) {
  const slab_ranges ranges{a, undo};
  const std::size_t slabs = a.slabs;
  for (std::size_t writer = 0; writer < slabs; ++writer) {
    const byte_range written = ranges.writes(writer);
    const std::size_t first = writer - std::min<std::size_t>(writer, a.before);
    const std::size_t last = std::min(writer + a.after, slabs - 1);
    // Ranges follow each other, so that the neighbours of the window stand for all beyond.
    if (first > 0 && written.meets(ranges.reads(first - 1))) { return false; }
    if (last + 1 < slabs && written.meets(ranges.reads(last + 1))) { return false; }
  }
  return true;
}

template <bool Undo, int Bytes>
int check_random_shapes(int count) {
  std::mt19937_64 random(Catch::getSeed());
  const auto between = [&](double least, double most) {
    return static_cast<std::size_t>(
        std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random)));
  };
  // As the GPUs from 7.5 on have, and less.
  const std::initializer_list<some_device> devices = {
      {132, 228 * 1024}, {108, 164 * 1024}, {128, 100 * 1024}, {40, 64 * 1024}, {12, 48 * 1024}};
  auto* const data = reinterpret_cast<unsigned char*>(std::uintptr_t{1} << 40);
  auto* const scratch = reinterpret_cast<unsigned char*>((std::uintptr_t{1} << 45) + 4);
  int by_segments = 0;
  for (int i = 0; i < count; ++i) {
    const some_device on = devices.begin()[random() % devices.size()];
    const std::size_t cols = between(33, 50000);
    const std::size_t rows = std::max(cols + 1, between(1000, 3e6));
    const std::size_t least = std::max<std::size_t>(128, Bytes) * rows;
    const std::size_t scratch_bytes = random() % 2 == 0 ? least : between(1.0 * least, 4.0 * least);
    INFO(Bytes << " bytes, " << rows << " rows, " << cols << " columns, " << scratch_bytes
               << " bytes of scratch, " << on.multiprocessors << " multiprocessors of "
               << on.shared_bytes << (Undo ? " bytes, undone" : " bytes")
               << "; repeat with --rng-seed " << Catch::getSeed());
    if (!start_segments<Undo, Bytes>({data, scratch, scratch_bytes, rows, cols, Bytes, Undo}, on)) {
      continue;
    }
    ++by_segments;
    REQUIRE(waits_for_readers(started_slabs(), Undo));
  }
  return by_segments;
}

template <int Bytes>
void check_random_shapes() {
  constexpr int count = 400;
  CHECK(check_random_shapes<false, Bytes>(count) > count / 10);
  CHECK(check_random_shapes<true, Bytes>(count) > count / 10);
}

// Each tile by itself touches what slab_ranges say, and no more.
template <bool Undo, int Bytes>
void check_ranges(std::size_t rows, std::size_t cols, const some_device& on) {
  INFO(Bytes << " bytes, " << rows << " rows, " << cols << " columns" << (Undo ? ", undone" : ""));
  tt::emulated_buffer<unsigned char> data(rows * cols * Bytes);
  tt::emulated_buffer<unsigned char> scratch(128 * rows);
  fill(data);
  REQUIRE(start_segments<Undo, Bytes>(
      {data.data(), scratch.data(), scratch.size(), rows, cols, Bytes, Undo}, on));
  slab_arguments a = started_slabs();
  const std::size_t shared_bytes = static_cast<std::size_t>(on.shared_bytes);
  a.arrived = nullptr;
  a.blocks = a.tiles;  // each takes one
  for (unsigned tile = 0; tile < a.tiles; ++tile) {
    const slab_ranges ranges{a, Undo};
    const unsigned slab = a.slab_tiles.quotient(tile);
    const byte_range read = ranges.reads(slab);
    const byte_range written = ranges.writes(slab);
    tt::emulator_options options;
    options.knows(static_cast<const unsigned char*>(data.data()) + read.first,
                  std::min(read.end, data.size()) - read.first);
    tt::emulated_buffer<unsigned char> target(data.size());
    options.knows(target.data() + written.first, written.end - written.first);
    a.data = target.data();
    const tt::emulation_report report =
        tt::emulate(options, 1, tt::detail::slab_threads, static_cast<unsigned>(shared_bytes),
                    [&](tt::emulated_block block) {
                      tt::detail::transpose_slabs<Undo, Bytes>(block.shared(), a, tile);
                    });
    INFO("tile " << tile << '\n' << report.table());
    REQUIRE(report.clean());
  }
}

}  // namespace

TEST_CASE("in place by segments: what waits for each other runs at once, and is all that reads") {
  check_random_shapes<1>();
  check_random_shapes<2>();
  check_random_shapes<3>();
  check_random_shapes<4>();
  check_random_shapes<8>();
  check_random_shapes<12>();
}

TEST_CASE("in place by segments: what tiles of a slab read and write") {
  check_ranges<false, 1>(20001, 135, {12, 48 * 1024});
  check_ranges<true, 1>(20001, 135, {12, 48 * 1024});
  check_ranges<false, 4>(5001, 78, {16, 32 * 1024});
  check_ranges<true, 4>(5001, 78, {16, 32 * 1024});
}
