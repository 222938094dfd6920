// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fibers are ended, or used again: after launches of every kind, many more take no more memory. CTest runs this with
// stacks that AddressSanitizer keeps for each fiber, too.

#include <tiletranspose/emulator.cuh>

#include <sys/resource.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <thread>

namespace {

// Locals whose address is taken, in frames of several sizes: AddressSanitizer keeps a place for each size.
template <int Bytes>
unsigned touch(unsigned rank) {
  volatile unsigned char local[Bytes] = {};
  local[rank % Bytes] = 1;
  return local[(rank + 1) % Bytes];
}

unsigned touch_all(unsigned rank) {
  return touch<16>(rank) + touch<200>(rank) + touch<1000>(rank) + touch<3000>(rank);
}

void launch(unsigned threads, bool fails = false) {
  tt::emulate(2, threads, 0, [=](tt::emulated_block block) {
    touch_all(block.thread_rank());
    block.sync();
    if (fails && block.thread_rank() == threads / 2) { throw std::runtime_error("a fault"); }
    touch_all(block.thread_rank());
  });
}

void launch_all() {
  for (const unsigned threads : {1u, 32u, 1000u, 256u, 100u, 1024u}) {
    launch(threads);
    CHECK_THROWS_AS(launch(threads, true), std::runtime_error);
  }
  tt::emulate(1, 3, 0, [](tt::emulated_block block) {
    launch(40);  // inside of another's body
    block.sync();
    launch(2);
  });
  CHECK_THROWS_AS(tt::emulate(0, 64, 0, [](tt::emulated_block) { FAIL("no GPU takes no blocks"); }),
                  std::invalid_argument);
  std::thread([] { launch(64); }).join();
}

bool has_fake_stack() {
#if defined(__SANITIZE_ADDRESS__)
  return __asan_get_current_fake_stack() != nullptr;
#else
  return false;
#endif
}

long peak_megabytes() {
  rusage usage{};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_maxrss / 1024;
}

}  // namespace

TEST_CASE("launches keep nothing that grows") {
  for (int i = 0; i < 3; ++i) { launch_all(); }
  const long before = peak_megabytes();
  for (int i = 0; i < 10; ++i) { launch_all(); }
  // AddressSanitizer's stacks fill slowly, up to a bound that hard_rss_limit_mb looks at.
  if (!has_fake_stack()) { CHECK(peak_megabytes() < before + 64); }
}
