// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Fibers of one thread of the operating system, by POSIX contexts (`ucontext.h`: Linux with glibc, the BSDs;
/// not musl, not Windows), which need no library and no assembly. A switch costs 0.2 us, as much as ten accesses;
/// a library such as Boost.Context would be faster there, but a dependency of everybody who tests a kernel.
/// AddressSanitizer is told of every switch.

#pragma once

#include <tiletranspose/config.cuh>

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
  explicit fiber_stacks(std::size_t count) : bytes_(count * stride()) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) { throw std::bad_alloc(); }
    for (std::size_t i = 0; i < count; ++i) {
      mprotect(static_cast<unsigned char*>(memory_) + i * stride(), page(), PROT_NONE);
    }
  }
  fiber_stacks(const fiber_stacks&) = delete;
  fiber_stacks& operator=(const fiber_stacks&) = delete;
  ~fiber_stacks() {
    forget_guards();  // who gets these addresses next is none of ours
    munmap(memory_, bytes_);
  }

  /// Lets AddressSanitizer forget what it guards on these stacks: what was left by an exception, say.
  void forget_guards() const {
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(memory_, bytes_);
#endif
  }

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

  std::size_t bytes_;
  void* memory_;
};

/// Who has fibers run.
class fiber_owner {
 public:
  static constexpr unsigned caller = ~0u;  ///< whoever called fiber_pool::start

  /// What a fiber does each time that it starts.
  /// \returns the fiber to go on with, or `caller`
  virtual unsigned run_fiber(unsigned rank) = 0;

 protected:
  ~fiber_owner() = default;
};

/// A number of fibers. They may outlive a launch: with `detect_stack_use_after_return`, AddressSanitizer keeps a
/// stack beside each, which takes longer to make than a small launch to run, and gives it back only when the fiber
/// ends.
class fiber_pool {
 public:
  explicit fiber_pool(unsigned count) : stacks_(count), fibers_(count) {
    for (unsigned rank = 0; rank < count; ++rank) {
      fiber& made = fibers_[rank];
      made.pool = this;
      made.rank = rank;
      made.stack = stacks_.stack(rank);
      made.stack_bytes = fiber_stacks::stack_bytes();
      getcontext(&made.context);
      made.context.uc_stack.ss_sp = made.stack;
      made.context.uc_stack.ss_size = made.stack_bytes;
      made.context.uc_link = nullptr;
      const auto address = reinterpret_cast<std::uintptr_t>(&made);
      // makecontext hands on ints: a pointer travels as two.
      makecontext(&made.context, reinterpret_cast<void (*)()>(&fiber_pool::enter), 2,
                  static_cast<unsigned>(address),
                  static_cast<unsigned>(static_cast<std::uint64_t>(address) >> 32));
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
      // AddressSanitizer would forget what it guards on a stack of known size at every switch to it, which
      // takes longer than the switch; take() forgets what the last launch left.
      made.context.uc_stack.ss_size = 0;
#endif
    }
  }
  fiber_pool(const fiber_pool&) = delete;
  fiber_pool& operator=(const fiber_pool&) = delete;
  /// Precondition: no fiber has work left.
  ~fiber_pool() {
    ending_ = true;
    for (fiber& each : fibers_) {
      if (each.entered) { switch_to(caller_, each); }
    }
  }

  /// The pool that this thread kept, if it has `count` fibers, or a new one.
  static std::unique_ptr<fiber_pool> take(unsigned count) {
    std::unique_ptr<fiber_pool> pool;
    if (kept() != nullptr && kept()->fibers_.size() >= count) {
      pool = std::move(kept());
      pool->stacks_.forget_guards();
    } else {
      pool.reset(new fiber_pool(count));
    }
    return pool;
  }
  /// Keeps a pool for the thread's next launch, unless it is large: AddressSanitizer's stacks may have more than 1 MB
  /// each.
  static void keep(std::unique_ptr<fiber_pool> pool) {
    const std::size_t before = kept() == nullptr ? 0 : kept()->fibers_.size();
    const std::size_t now = pool->fibers_.size();
    if (now > before && now <= most_kept) { kept() = std::move(pool); }
  }

  void set_owner(fiber_owner& owner) { owner_ = &owner; }

  /// Goes to a fiber, until one of them comes back.
  void start(unsigned to) { switch_to(caller_, fibers_[to]); }
  /// Goes from a fiber that waits to another, until somebody goes to it again.
  void go_on(unsigned from, unsigned to) { switch_to(fibers_[from], fibers_[to]); }

 private:
  static constexpr std::size_t most_kept = 256;

  struct fiber {
    fiber_pool* pool = nullptr;
    unsigned rank = 0;
    bool entered = false;
    ucontext_t context;
    void* stack = nullptr;
    std::size_t stack_bytes = 0;
    void* fake_stack = nullptr;
  };

  static void enter(unsigned low, unsigned high) {
    auto* const self = reinterpret_cast<fiber*>(
        static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low));
    fiber_pool& pool = *self->pool;
    self->entered = true;
    pool.arrived(*self);
    while (!pool.ending_) {
      const unsigned next = pool.owner_->run_fiber(self->rank);
      pool.switch_to(*self, next == fiber_owner::caller ? pool.caller_ : pool.fibers_[next]);
    }
    pool.end(*self);
  }

  void switch_to(fiber& from, fiber& to) {
    came_from_ = &from;
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
    swapcontext(&from.context, &to.context);
    arrived(from);
  }

  /// Leaves a fiber for good.
  void end(fiber& from) {
    came_from_ = &from;
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(nullptr, caller_.stack, caller_.stack_bytes);
#endif
    setcontext(&caller_.context);
  }

  void arrived(fiber& at) {
#if defined(TILETRANSPOSE_ADDRESS_SANITIZER)
    const void* stack = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(at.fake_stack, &stack, &bytes);
    if (came_from_ == &caller_) {
      caller_.stack = const_cast<void*>(stack);
      caller_.stack_bytes = bytes;
    }
#endif
    (void)at;
  }

  static std::unique_ptr<fiber_pool>& kept() {
    static thread_local std::unique_ptr<fiber_pool> pool;
    return pool;
  }

  fiber_stacks stacks_;
  std::vector<fiber> fibers_;
  fiber caller_;
  fiber* came_from_ = nullptr;
  fiber_owner* owner_ = nullptr;
  bool ending_ = false;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
