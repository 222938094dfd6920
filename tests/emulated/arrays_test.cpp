// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arrays carved out of shared memory that the emulator watches.

#include <tiletranspose/emulator.cuh>
#include <tiletranspose/smem.cuh>

#include <catch2/catch_test_macros.hpp>
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

enum class planted { nothing, missing_barrier, overrun_write, overrun_read, negative, unwritten };

int sum_line = 0;

// Each thread adds its neighbour's number to its own; `counts` lies behind `sums`. No view of memory is known, so that
// nothing but the array's own length can be broken.
template <class Layout>
tt::emulation_report add_neighbours(const Layout& smem, planted fault) {
  return tt::emulate(1, 64, smem.bytes(), [&](tt::emulated_block block) {
    const auto [sums, counts] = smem.carve(block.shared());
    const unsigned rank = block.thread_rank();
    if (fault != planted::unwritten || rank > 5) { sums.set(rank, 2 * rank); }
    if (rank < 8) { counts.set(rank, static_cast<short>(rank)); }
    if (fault != planted::missing_barrier) { block.sync(); }
    unsigned next = (rank + 1) % 64;
    if (fault == planted::overrun_read) { next = rank + 1; }
    if (fault == planted::negative) { next = rank - 1; }
    sum_line = __LINE__ + 1;
    const unsigned neighbour = sums.get(next);
    block.sync();
    sums.set(fault == planted::overrun_write ? rank + 8 : rank, neighbour);
  });
}

tt::emulation_report add_neighbours(planted fault) {
  const tt::smem_layout smem{tt::smem_array<unsigned>(64).checked(),
                             tt::smem_array<short, 8>().aligned<16>().checked()};
  return add_neighbours(smem, fault);
}

}  // namespace

TEST_CASE("what is carved: pointers, or arrays that are watched") {
  const tt::smem_layout smem{tt::smem_array<int>(5), tt::smem_array<float>(3).checked(),
                             tt::smem_array<char, 7>().checked().aligned<64>()};
  alignas(64) static unsigned char memory[256];
  const auto [ints, floats, chars] = smem.carve(memory);
  CHECK(std::is_same<decltype(ints), int* const>::value);
  CHECK(std::is_same<decltype(floats), const tt::shared_array<float>>::value);
  CHECK(std::is_same<decltype(chars), const tt::shared_array<char, 7>>::value);
  CHECK(sizeof(chars) == sizeof(char*));
  CHECK(static_cast<void*>(floats.data()) == memory + 20);
  CHECK(floats.length() == 3);
  CHECK(static_cast<void*>(chars.data()) == memory + 64);
  CHECK(chars.length() == 7);
  CHECK(smem.bytes() == 64 + 7 + 48);
  floats.set(2, 1.5f);
  CHECK(floats.get(2) == 1.5f);
  CHECK(floats.data()[2] == 1.5f);
  static_assert(tt::smem_layout{tt::smem_array<int, 4>().checked()}.bytes() == 16, "");
}

TEST_CASE("arrays used as they should be are clean") {
  CHECK(add_neighbours(planted::nothing).clean());
  const tt::smem_layout fixed{tt::smem_array<unsigned, 64>().checked(),
                              tt::smem_array<short>(8).checked()};
  CHECK(add_neighbours(fixed, planted::nothing).clean());
}

TEST_CASE("a missing barrier between two uses of an array is a race") {
  const tt::emulation_report report = add_neighbours(planted::missing_barrier);
  const tt::emulation_fault* race = find(report, fault_kind::race);
  INFO(report.table());
  REQUIRE(race != nullptr);
  const std::string here = "arrays_test.cpp:" + std::to_string(sum_line);
  CHECK((race->first.site == here || race->second.site == here));
}

TEST_CASE("an index beyond an array is named, though another array lies there") {
  struct expected {
    planted fault;
    unsigned thread;
    const char* element;
    int line;
  };
  for (const expected& wanted :
       {expected{planted::overrun_read, 63, "element 64 of an array of 64", 0},
        expected{planted::negative, 0, "element 4294967295 of an array of 64", 0},
        expected{planted::overrun_write, 56, "element 64 of an array of 64", 2}}) {
    const tt::emulation_report report = add_neighbours(wanted.fault);
    const tt::emulation_fault* outside = find(report, fault_kind::outside_array);
    INFO(report.table());
    REQUIRE(outside != nullptr);
    CHECK(outside->first.thread == wanted.thread);
    CHECK(outside->what.find(wanted.element) != std::string::npos);
    CHECK(outside->first.site == "arrays_test.cpp:" + std::to_string(sum_line + wanted.line));
  }
}

TEST_CASE("an element that nobody has written is not read") {
  const tt::emulation_report report = add_neighbours(planted::unwritten);
  const tt::emulation_fault* unwritten = find(report, fault_kind::unwritten);
  INFO(report.table());
  REQUIRE(unwritten != nullptr);
  CHECK(report.faults.size() == 1);
  CHECK(unwritten->count == 6);
  CHECK(unwritten->first.site == "arrays_test.cpp:" + std::to_string(sum_line));
}
