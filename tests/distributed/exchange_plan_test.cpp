// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How distributed matrices are cut, for 1 to 64 ranks: every element is sent once and received once, both sides agree on
// each message, and no two lie at one place.

#include "random_begins.hpp"

#include <tiletranspose/detail/distributed/exchange_plan.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using tt::partition;
using tt::size_type;
using tt::detail::exchange_plan;
using tt::detail::exchange_slice;

static_assert(tt::partition_begin(10, 4, 0) == 0 && tt::partition_begin(10, 4, 4) == 10);
static_assert(tt::partition_count(10, 4, 0) == 3 && tt::partition_count(10, 4, 3) == 2);
static_assert(tt::partition_count(3, 5, 4) == 0);
static_assert(partition(10).is_valid(4) && !partition(10).is_valid(0));
static_assert(partition(~size_type{0}).begin(7, 7) == ~size_type{0});
static_assert(exchange_plan(8, 8, 2, 0, 4, 1 << 20).steps == 1);

std::vector<exchange_plan> plans_of(partition columns, partition rows, int ranks, size_type element,
                                    size_type step_bytes) {
  std::vector<exchange_plan> plans;
  for (int r = 0; r < ranks; ++r) {
    plans.emplace_back(columns, rows, ranks, r, element, step_bytes);
  }
  return plans;
}

/// The slices of one half of a buffer: what is wrong with them.
std::string examine_buffer(const std::vector<exchange_slice>& slices, size_type buffer_bytes,
                           size_type element) {
  size_type end = 0;
  for (const exchange_slice& slice : slices) {
    if (slice.offset < end) { return "two messages share bytes"; }
    if (slice.offset % tt::detail::slice_alignment != 0) { return "a message starts anywhere"; }
    if (slice.bytes != slice.rows * slice.cols * element || slice.bytes == 0) {
      return "a message is not as long as its slice";
    }
    end = slice.offset + slice.bytes;
  }
  return end <= buffer_bytes ? "" : "messages reach behind their buffer";
}

/// All of an exchange: what is wrong with it.
std::string examine(const std::vector<exchange_plan>& plans, partition columns, partition rows,
                    size_type element) {
  const int ranks = static_cast<int>(plans.size());
  std::vector<int> sent(columns.total * rows.total, 0);
  std::vector<int> received(sent.size(), 0);
  const auto count = [&](std::vector<int>& places, const exchange_slice& slice) {
    for (size_type y = slice.y; y < slice.y + slice.rows; ++y) {
      for (size_type x = slice.x; x < slice.x + slice.cols; ++x) {
        ++places[y * columns.total + x];
      }
    }
  };
  const size_type steps = plans[0].steps;
  for (size_type step = 0; step < steps; ++step) {
    std::vector<std::vector<exchange_slice>> out(plans.size());
    for (int r = 0; r < ranks; ++r) {
      const exchange_plan& plan = plans[static_cast<std::size_t>(r)];
      if (plan.steps != steps) { return "ranks take different numbers of steps"; }
      auto& own = out[static_cast<std::size_t>(r)];
      plan.for_each(tt::detail::messages::sent, step, [&](const exchange_slice& slice) {
        own.push_back(slice);
        count(sent, slice);
      });
      const exchange_slice kept = plan.kept(step);
      count(sent, kept);
      count(received, kept);
      const std::string trouble = examine_buffer(own, plan.send_bytes, element);
      if (!trouble.empty()) { return trouble; }
    }
    for (int r = 0; r < ranks; ++r) {
      const exchange_plan& plan = plans[static_cast<std::size_t>(r)];
      std::vector<exchange_slice> own;
      plan.for_each(tt::detail::messages::received, step, [&](const exchange_slice& slice) {
        own.push_back(slice);
        count(received, slice);
      });
      const std::string trouble = examine_buffer(own, plan.receive_bytes, element);
      if (!trouble.empty()) { return trouble; }
      for (const exchange_slice& slice : own) {
        if (slice.x < columns.begin(ranks, r) ||
            slice.x + slice.cols > columns.begin(ranks, r + 1)) {
          return "a rank receives what another one will hold";
        }
        const auto& from = out[static_cast<std::size_t>(slice.peer)];
        const auto match = std::find_if(from.begin(), from.end(), [&](const exchange_slice& other) {
          return other.peer == r && other.x == slice.x && other.cols == slice.cols &&
                 other.y == slice.y && other.rows == slice.rows;
        });
        if (match == from.end()) { return "a message is received as nobody sends it"; }
      }
      size_type messages = 0;
      for (const auto& from : out) {
        for (const exchange_slice& slice : from) { messages += slice.peer == r ? 1 : 0; }
      }
      if (messages != own.size()) { return "a message is sent that nobody receives"; }
    }
  }
  const auto is_one = [](int times) { return times == 1; };
  if (!std::all_of(sent.begin(), sent.end(), is_one)) { return "an element is not sent once"; }
  if (!std::all_of(received.begin(), received.end(), is_one)) {
    return "an element is not received once";
  }
  return "";
}

}  // namespace

TEST_CASE("even parts cover all rows, and differ by one at most") {
  for (size_type total = 0; total < 200; ++total) {
    for (size_type ranks = 1; ranks <= 64; ++ranks) {
      REQUIRE(tt::partition_begin(total, ranks, 0) == 0);
      REQUIRE(tt::partition_begin(total, ranks, ranks) == total);
      for (size_type r = 0; r < ranks; ++r) {
        const size_type count = tt::partition_count(total, ranks, r);
        REQUIRE((count == total / ranks || count == total / ranks + 1));
        REQUIRE(count <= tt::partition_count(total, ranks, 0));
      }
    }
  }
}

TEST_CASE("every element is sent once and received once, for 1 to 64 ranks") {
  std::mt19937 random(3);
  for (int ranks = 1; ranks <= 64; ++ranks) {
    const size_type nx = 1 + random() % 90;
    const size_type ny = 1 + random() % 90;
    const size_type step_bytes = 1 + random() % 4000;
    INFO(ranks << " ranks, " << nx << " x " << ny << ", steps of " << step_bytes << " bytes");
    REQUIRE(examine(plans_of(nx, ny, ranks, 8, step_bytes), nx, ny, 8).empty());
    const auto columns = random_begins(ranks, nx, random);
    const auto rows = random_begins(ranks, ny, random);
    const partition uneven_x{nx, columns.data()};
    const partition uneven_y{ny, rows.data()};
    REQUIRE(uneven_x.is_valid(ranks));
    REQUIRE(
        examine(plans_of(uneven_x, uneven_y, ranks, 3, step_bytes), uneven_x, uneven_y, 3).empty());
  }
}

TEST_CASE("messages that go one after the other reach every rank in its own time") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto plans = plans_of(90, 90, ranks, 4, 1 << 20);
    for (std::size_t number = 0; number + 1 < plans.size(); ++number) {
      std::vector<int> targets;
      for (const exchange_plan& plan : plans) {
        std::vector<int> peers;
        plan.for_each(tt::detail::messages::sent, 0,
                      [&](const exchange_slice& slice) { peers.push_back(slice.peer); });
        targets.push_back(peers[number]);
      }
      std::sort(targets.begin(), targets.end());
      REQUIRE(std::adjacent_find(targets.begin(), targets.end()) == targets.end());
    }
  }
}

TEST_CASE("a plan that is wrong is seen") {
  const auto right = plans_of(20, 30, 3, 4, 100);
  REQUIRE(examine(right, 20, 30, 4).empty());
  auto wrong = right;
  wrong[1] = exchange_plan(20, 30, 3, 1, 4, 200);  // other steps than the others
  REQUIRE(!examine(wrong, 20, 30, 4).empty());
  wrong[1] = right[2];  // a rank that takes another one's place
  REQUIRE(!examine(wrong, 20, 30, 4).empty());
  const size_type begins[] = {0, 3, 11, 20};
  wrong[1] = exchange_plan({20, begins}, 30, 3, 1, 4, 100);  // other parts
  REQUIRE(!examine(wrong, 20, 30, 4).empty());
}

TEST_CASE("partitions that leave rows out or hold them twice are none") {
  const size_type right[] = {0, 0, 5, 9};
  const size_type late[] = {1, 2, 5, 9};
  const size_type falling[] = {0, 6, 5, 9};
  const size_type short_of[] = {0, 2, 5, 8};
  REQUIRE(partition(9, right).is_valid(3));
  REQUIRE(partition(9, right).longest(3) == 5);
  REQUIRE(!partition(9, late).is_valid(3));
  REQUIRE(!partition(9, falling).is_valid(3));
  REQUIRE(!partition(9, short_of).is_valid(3));
}

TEST_CASE("scratch depends on the step, not on the matrix") {
  constexpr size_type step = size_type{64} << 20;
  for (const int ranks : {2, 3, 8, 64}) {
    for (const size_type side : {65536, 100000, 131072, 300007}) {
      const exchange_plan plan(side, side, ranks, 0, 4, step);
      INFO(ranks << " ranks, " << side);
      REQUIRE(plan.buffers() == 3);
      REQUIRE(plan.send_bytes >= step / 2);
      REQUIRE(plan.send_bytes <= step + step / 4 + static_cast<size_type>(ranks) * 256);
      REQUIRE(plan.receive_bytes <= step + step / 4 + static_cast<size_type>(ranks) * 256);
    }
  }
  // Where the caller says nothing: about eight steps, of no less than 16 and no more than 88 MiB.
  REQUIRE(exchange_plan(32768, 32768, 2, 0, 4, 0).steps == 12);
  REQUIRE(exchange_plan(32768, 32768, 2, 0, 4, 0, tt::detail::most_nccl_bytes).steps == 9);
  REQUIRE(exchange_plan(16384, 16384, 2, 0, 4, 0).steps == 8);
  REQUIRE(exchange_plan(4096, 4096, 2, 0, 4, 0).steps == 1);
  // Of more than two ranks four, of up to twice as much.
  REQUIRE(exchange_plan(32768, 32768, 4, 0, 4, 0).steps == 5);
  REQUIRE(exchange_plan(32768, 32768, 4, 0, 4, 0, tt::detail::most_nccl_bytes).steps == 4);
  REQUIRE(exchange_plan(262144, 262144, 4, 0, 4, 0, tt::detail::most_nccl_bytes).steps == 205);
  REQUIRE(exchange_plan(32768, 32768, 256, 0, 4, 0).steps == 1);
  // One row cannot be cut along its columns, so that rows are.
  REQUIRE(exchange_plan(2, size_type{1} << 30, 2, 0, 4, step).steps == 32);
  REQUIRE(exchange_plan(size_type{1} << 30, 2, 2, 0, 4, step).steps == 32);
}
