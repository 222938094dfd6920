// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Runs the threads of a block as fibers of one thread: each goes on until it waits, then the next. Fast,
/// and the same in every run. POSIX contexts (`ucontext.h`) need no library and no assembly. A switch costs
/// 0.2 us, as much as ten accesses; a library such as Boost.Context would be faster there, but a dependency of
/// everybody who tests a kernel. AddressSanitizer is told of every switch.

#pragma once

#include <tiletranspose/emulator/block.cuh>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILETRANSPOSE_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TILETRANSPOSE_ADDRESS_SANITIZER 1
#endif
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Stacks with a page in front of each that stops who runs out of it. Pages are taken as they are touched.
class fiber_stacks {
 public:
  explicit fiber_stacks(std::size_t count) : count_(count), bytes_(count * stride()) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) { throw std::bad_alloc(); }
    for (std::size_t i = 0; i < count; ++i) {
      mprotect(static_cast<unsigned char*>(memory_) + i * stride(), page(), PROT_NONE);
    }
  }
  fiber_stacks(const fiber_stacks&) = delete;
  fiber_stacks& operator=(const fiber_stacks&) = delete;
  ~fiber_stacks() { munmap(memory_, bytes_); }

  /// Those of this thread's last launch, where there are enough: their pages are already there.
  static std::unique_ptr<fiber_stacks> take(std::size_t count) {
    std::unique_ptr<fiber_stacks> stacks = std::move(kept());
    if (stacks == nullptr || stacks->count_ < count) { stacks.reset(new fiber_stacks(count)); }
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(stacks->memory_, count * stride());
#endif
    return stacks;
  }
  static void keep(std::unique_ptr<fiber_stacks> stacks) { kept() = std::move(stacks); }

  void* stack(std::size_t index) const {
    return static_cast<unsigned char*>(memory_) + index * stride() + page();
  }
  static std::size_t stack_bytes() {
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    return 256 * 1024;  // its frames are larger
#else
    return 128 * 1024;
#endif
  }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t stride() { return stack_bytes() + page(); }

  static std::unique_ptr<fiber_stacks>& kept() {
    static thread_local std::unique_ptr<fiber_stacks> stacks;
    return stacks;
  }

  std::size_t count_;
  std::size_t bytes_;
  void* memory_;
};

class fiber_switcher final : public switcher {
 public:
  explicit fiber_switcher(emulated_block_run& run)
      : run_(run), stacks_(fiber_stacks::take(run.thread_count())), fibers_(run.thread_count()) {
    for (unsigned rank = 0; rank < run.thread_count(); ++rank) {
      fiber& made = fibers_[rank];
      made.owner = this;
      made.rank = rank;
      made.stack = stacks_->stack(rank);
      made.stack_bytes = fiber_stacks::stack_bytes();
      getcontext(&made.context);
      made.context.uc_stack.ss_sp = made.stack;
      made.context.uc_stack.ss_size = made.stack_bytes;
      made.context.uc_link = nullptr;
      const auto address = reinterpret_cast<std::uintptr_t>(&made);
      // makecontext hands on ints: a pointer travels as two.
      makecontext(&made.context, reinterpret_cast<void (*)()>(&fiber_switcher::enter), 2,
                  static_cast<unsigned>(address),
                  static_cast<unsigned>(static_cast<std::uint64_t>(address) >> 32));
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
      // AddressSanitizer would forget what it guards on a stack of known size at every switch to it, which
      // takes longer than the switch; take() forgets what the last launch left.
      made.context.uc_stack.ss_size = 0;
#endif
    }
  }

  ~fiber_switcher() override { fiber_stacks::keep(std::move(stacks_)); }
  fiber_switcher(const fiber_switcher&) = delete;
  fiber_switcher& operator=(const fiber_switcher&) = delete;

  void run_block() override {
    machine* const outer = running;  // an emulation inside of another's body
    switch_to(main_, fibers_[0]);
    running = outer;
  }

  void stop(unsigned rank, thread_state state, access_site site) override {
    run_.set_state(rank, state, site);
    const unsigned count = run_.thread_count();
    unsigned next = rank + 1;
    while (next < count && !run_.is_ready(next)) { ++next; }
    if (next == count) {
      next = 0;
      while (next < count && !run_.is_ready(next)) { ++next; }
    }
    if (next == count) {
      if (!run_.resolve()) {
        switch_to(fibers_[rank], main_);
        run_.set_running(rank);
        return;  // into the next block
      }
      for (next = 0; !run_.is_ready(next);) { ++next; }
    }
    if (next != rank) { switch_to(fibers_[rank], fibers_[next]); }
    run_.set_running(rank);
  }

 private:
  struct fiber {
    fiber_switcher* owner = nullptr;
    unsigned rank = 0;
    ucontext_t context;
    void* stack = nullptr;
    std::size_t stack_bytes = 0;
    void* fake_stack = nullptr;
  };

  static void enter(unsigned low, unsigned high) {
    auto* const self = reinterpret_cast<fiber*>(
        static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low));
    self->owner->arrived(*self);
    for (;;) { self->owner->run_.run_thread(self->rank); }
  }

  void switch_to(fiber& from, fiber& to) {
    came_from_ = &from;
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
    swapcontext(&from.context, &to.context);
    arrived(from);
  }

  void arrived(fiber& at) {
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    const void* stack = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(at.fake_stack, &stack, &bytes);
    if (came_from_ == &main_) {
      main_.stack = const_cast<void*>(stack);
      main_.stack_bytes = bytes;
    }
#endif
    (void)at;
  }

  emulated_block_run& run_;
  std::unique_ptr<fiber_stacks> stacks_;
  std::vector<fiber> fibers_;
  fiber main_;
  fiber* came_from_ = nullptr;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
