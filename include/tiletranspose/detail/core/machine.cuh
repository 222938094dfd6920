// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What device code asks of the machine that runs it where that is not a GPU: the emulator implements `machine`, and the
/// accessors, groups, pipelines and exchanges of the library call it. On the device every function of this file is empty.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A place in the source. As a default argument `access_site here = access_site::at()` it is the place of the call, also
/// through functions that hand it on. On the device it is never read, and NVRTC learnt the compiler's names for it after
/// CUDA 12.4. A list in braces in a call is a value and never a place: no number is bound to the constructor's references.
class access_site {
  TILETRANSPOSE_HOST_DEVICE constexpr access_site(const char*& f, int& l) : file(f), line(l) {}

 public:
  const char* file;
  int line;

#if defined(__CUDACC_RTC__)
  TILETRANSPOSE_HOST_DEVICE static constexpr access_site at(const char* f = nullptr, int l = 0) {
    return {f, l};
  }
#else
  TILETRANSPOSE_HOST_DEVICE static constexpr access_site at(const char* file = __builtin_FILE(),
                                                            int line = __builtin_LINE()) {
    return {file, line};
  }
#endif
};

enum class access_kind : unsigned char { load_global, store_global, load_shared, store_shared };

/// A copy of `bytes` bytes from global to shared memory, of which bytes [first, end) matter.
struct async_copy {
  void* shared;
  const void* global;
  unsigned bytes;
  unsigned first;
  unsigned end;
};

/// A box that the bulk engine copies: rows in global memory, and one behind the other in shared memory.
struct matrix_box {
  unsigned char* shared;
  unsigned char* global;
  size_type stride_bytes;  ///< in global memory, from row to row
  unsigned rows;
  unsigned row_bytes;
};

#if !defined(__CUDACC_RTC__)

/// Moves a box into shared memory or out of it.
inline void copy_box(const matrix_box& box, bool loads) {
  for (unsigned row = 0; row < box.rows; ++row) {
    unsigned char* const shared = box.shared + row * box.row_bytes;
    unsigned char* const global = box.global + row * box.stride_bytes;
    __builtin_memcpy(loads ? shared : global, loads ? global : shared, box.row_bytes);
  }
}

/// What runs one CUDA thread on the CPU.
class machine {
 public:
  /// Before every access of `bytes` bytes, which a GPU makes `part_bytes` bytes at a time; false where it must not be made.
  virtual bool access(access_kind kind, const void* address, unsigned bytes, unsigned part_bytes,
                      access_site site) = 0;
  /// Before the place of element (row, col) of a tile or a matrix, or of one of an array, is worked out.
  virtual void check_tile(int row, int col, int rows, int cols, access_site site) = 0;
  virtual void check_matrix(unsigned long long row, unsigned long long col, unsigned long long rows,
                            unsigned long long cols, access_site site) = 0;
  virtual void check_array(unsigned long long index, unsigned long long length,
                           access_site site) = 0;
  /// The thread takes part in a group of `threads` threads, the whole block or its warp.
  virtual void check_group(unsigned threads, bool of_warp, access_site site) = 0;
  /// A function that takes groups of `wanted` threads alone has been handed one of `size`.
  virtual void check_size(unsigned size, unsigned wanted, access_site site) = 0;
  /// A pipeline of which `count` stages are committed and not released commits one more, or `takes` one.
  virtual void check_stages(int count, int stages, const char* takes, access_site site) = 0;
  /// The thread enters or leaves a public function of the library that was called at `caller`. Only the outermost counts.
  virtual void enter_call(access_site caller) = 0;
  virtual void leave_call() = 0;
  /// Copies of the thread that arrive when it has waited for them: async_copy.cuh.
  virtual void start_copy(const async_copy& copy, access_site site) = 0;
  virtual void commit_copies() = 0;
  virtual void wait_for_copies(unsigned pending) = 0;
  /// Copies of the bulk engine, and the barriers that count them: async_copy.cuh.
  virtual void init_barrier(const void* barrier, unsigned threads, access_site site) = 0;
  virtual void arrive_expecting(const void* barrier, unsigned bytes, access_site site) = 0;
  virtual void wait_for_phase(const void* barrier, unsigned parity, access_site site) = 0;
  virtual void load_box(const matrix_box& box, const void* barrier, access_site site) = 0;
  virtual void store_box(const matrix_box& box, access_site site) = 0;
  virtual void wait_for_bulk_reads() = 0;
  virtual void fence_for_bulk() = 0;
  /// The thread enters or leaves step `number` of a loop.
  virtual void enter_step(unsigned long long number) = 0;
  virtual void leave_step() = 0;
  /// The thread's place in its block, x fastest.
  virtual unsigned thread_rank() const = 0;
  virtual unsigned block_threads() const = 0;
  /// Waits for the block's threads, or for the warp's.
  virtual void sync_block(access_site site) = 0;
  virtual void sync_warp(access_site site) = 0;
  /// Every thread of the warp calls: `result` becomes what `mine` is to lane `lane`.
  virtual void exchange(void* result, const void* mine, unsigned bytes, unsigned lane,
                        access_site site) = 0;

 protected:
  ~machine() = default;
};

/// The CUDA thread that this CPU thread runs at the moment, if any.
inline thread_local machine* running = nullptr;

#endif

/// Calls a function of the machine that runs the thread, if one does: nothing on the device.
#if TILETRANSPOSE_ON_DEVICE
#define TILETRANSPOSE_TELL_MACHINE(...) static_cast<void>(0)
#else
#define TILETRANSPOSE_TELL_MACHINE(...) \
  (::tt::detail::running != nullptr ? ::tt::detail::running->__VA_ARGS__ : static_cast<void>(0))
#endif

/// At the top of a public function that was called at `caller`: what goes wrong inside of it is put down to that place.
class call_scope {
 public:
  TILETRANSPOSE_FUNCTION explicit call_scope(access_site caller) {
    (void)caller;
    TILETRANSPOSE_TELL_MACHINE(enter_call(caller));
  }
  TILETRANSPOSE_FUNCTION ~call_scope() { TILETRANSPOSE_TELL_MACHINE(leave_call()); }
  call_scope& operator=(call_scope&&) = delete;
};

}  // namespace detail

/// Names the step of a loop that the thread is in, until the end of the scope:
///
///     for (unsigned cell = rank; cell < cells; cell += size) {
///       const tt::loop_step here(cell / size);
///       if (exists(cell)) { tile.set(...); }
///     }
///
/// A GPU's lanes make an access together where they are in the same step. On the CPU each lane runs alone, and the emulator
/// finds the accesses that belong together by their place in the source, by the steps that each lane names and, among accesses
/// alike in both, by counting. Only a loop in which a lane may leave out an *early* access and make a later one needs steps;
/// where guards are the same in every step, or lanes stop for good, counting is right. On the device this is nothing.
class [[maybe_unused]] loop_step {
 public:
  template <class Number>
  TILETRANSPOSE_FUNCTION explicit loop_step(Number number) {
    (void)number;
    TILETRANSPOSE_TELL_MACHINE(enter_step(static_cast<unsigned long long>(number)));
  }
  TILETRANSPOSE_FUNCTION ~loop_step() { TILETRANSPOSE_TELL_MACHINE(leave_step()); }
  loop_step& operator=(loop_step&&) = delete;
};

TILETRANSPOSE_NAMESPACE_END
