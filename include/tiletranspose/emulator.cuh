// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Runs device code on the CPU, checks it and counts what it would cost. Opt-in, host only; takes nvcc's
/// host side and plain host compilers; needs neither a GPU nor a driver, but POSIX contexts (`ucontext.h`), which glibc
/// and the BSDs have and musl and Windows have not. Tried on Linux alone. `emulator/README.md` is the guide.
///
///     const tt::emulation_report report = tt::emulate(
///         tt::emulated_dim(2, 3), 256, sizeof(storage),
///         [](tt::emulated_block block, tt::matrix_view<float> out, tt::matrix_view<const float> in) {
///           my_body(block, block.shared_as<storage>(), out, in, block.index().x, block.index().y);
///         },
///         out, in);
///     std::printf("%s", report.table().c_str());
///     return report.clean() && report.worst_ways() == 1 ? 0 : 1;
///
/// *What runs*: functions declared `__host__ __device__`. Every CUDA thread of a block calls the body; threads
/// wait for each other at `sync()` of the group that the body is handed, or of a `tt::static_block`; blocks run one after
/// the other. Device code follows the path of compute capability 9.0: asynchronous copies move their bytes when they
/// are waited for.
///
/// *What is seen*: accesses through the library's functions, `shared_tile`, `shared_array` and `matrix_view`. Others run,
/// but uncounted and unchecked, but for what sanitizers see.
///
/// *Two ways to run it*: fibers are fast and the same in every run, which is what counting and the checks
/// want; AddressSanitizer and UndefinedBehaviorSanitizer work with them. Threads are for
/// ThreadSanitizer, which sees accesses of every kind. Reports do not depend on the choice,
/// except for which of many threads with one fault is named.
///
/// *Checks*: `fault_kind` lists what is found. Each fault names the places and the threads: the call in the user's
/// source, and the library's own line behind it.

#pragma once

#if defined(__CUDACC_RTC__)
#error "tt: emulator.cuh runs device code on the host; NVRTC has none"
#endif

#include <tiletranspose/emulator/fibers.cuh>
#include <tiletranspose/emulator/threads.cuh>
#include <tiletranspose/group.cuh>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

TILETRANSPOSE_NAMESPACE_BEGIN

/// How to run an emulation and what to look for.
struct emulator_options {
  enum class run_mode {
    fibers,  ///< one after the other, the same in every run
    threads  ///< at the same time, for ThreadSanitizer
  };
#if defined(__SANITIZE_THREAD__)
  run_mode mode = run_mode::threads;
#else
  run_mode mode = run_mode::fibers;
#endif
  int bank_width = 4;  ///< bytes that a bank serves per cycle, 4 or 8
  bool counts = true;  ///< price requests
  bool checks =
      true;  ///< look for races and unwritten memory; other checks cost little and stay on
  /// Says of (address, bytes) whether they are shared memory, where that is not the launch's `smem_bytes`:
  /// arrays of a kernel that was compiled for the host, say.
  std::function<bool(const void*, unsigned)> foreign_shared;
  /// Global memory, besides what `matrix_view` arguments name. Where nothing is known, every address is
  /// allowed.
  detail::memory_map memory;

  /// Makes `count` elements known.
  template <class T>
  emulator_options& knows(T* data, std::size_t count) {
    memory.add(data, count);
    return *this;
  }
  template <class T>
  emulator_options& knows(const matrix_view<T>& view) {
    memory.add(view);
    return *this;
  }
  template <class T>
  emulator_options& knows(emulated_buffer<T>& buffer) {
    return knows(buffer.data(), buffer.size());
  }
  template <class T>
  emulator_options& knows(const emulated_buffer<T>& buffer) {
    return knows(buffer.data(), buffer.size());
  }
};

/// The block that an emulated thread is in: a group, and what CUDA's built-in variables say. A handle.
class emulated_block {
 public:
  explicit emulated_block(detail::emulated_thread& thread) : thread_(&thread) {}

  unsigned thread_rank() const { return thread_->thread_rank(); }
  unsigned size() const { return thread_->block_threads(); }
  void sync(detail::access_site site = detail::access_site::at()) const {
    thread_->sync_block(site);
  }

  emulated_dim thread_index() const { return dim().place(thread_rank()); }          ///< threadIdx
  emulated_dim index() const { return grid().place(thread_->run().block_rank()); }  ///< blockIdx
  emulated_dim dim() const { return thread_->run().block_dim(); }                   ///< blockDim
  emulated_dim grid() const { return thread_->run().grid_dim(); }                   ///< gridDim

  /// The block's shared memory: the `smem_bytes` of the launch, aligned to 1024.
  unsigned char* shared() const { return thread_->run().shared(); }
  std::size_t shared_bytes() const { return thread_->run().shared_bytes(); }
  /// The same as an object, as `__shared__ Storage` would be. All calls name the same memory: make one struct of several
  /// variables.
  template <class Storage>
  Storage& shared_as() const {
    if (sizeof(Storage) > shared_bytes()) {
      throw std::invalid_argument("tt: the launch has less shared memory than its storage needs");
    }
    return *reinterpret_cast<Storage*>(shared());
  }

 private:
  detail::emulated_thread* thread_;
};

/// Runs body(emulated_block, args...) for every thread of a launch, on the CPU.
///
/// \param options     how, and what memory exists
/// \param grid        blocks, as many as a GPU can be given; a number or anything with x, y and z
/// \param block       threads of a block, 1 to 1024; likewise
/// \param smem_bytes  shared memory of a block, up to 227 KB; filled with the byte 0xa5 before each
/// \param body        called at the same time by as many threads as it has, or seems to be; changes nothing
///                    of itself. What it throws ends the launch and is thrown on.
/// \param args        handed to every thread; a `matrix_view` or `bulk_view` among them is checked: no access may leave
///                    its rows, nor store where its element type is const
/// \returns what was done, counted and found
/// \throws std::invalid_argument where no GPU has such a grid, such blocks or so much shared memory
template <class Body, class... Args>
emulation_report emulate(const emulator_options& options, emulated_dim grid, emulated_dim block,
                         std::size_t smem_bytes, const Body& body, const Args&... args) {
  if (block.count() < 1 || block.count() > 1024 || block.z > 64) {
    throw std::invalid_argument("tt: a block has 1 to 1024 threads, at most 64 of them along z");
  }
  if (grid.count() < 1 || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) {
    throw std::invalid_argument(
        "tt: a grid has 1 to 2^31 - 1 blocks along x and 1 to 65535 along y and z");
  }
  if (smem_bytes > 227 * 1024) {
    throw std::invalid_argument("tt: a block has at most 227 KB of shared memory");
  }
  if (options.bank_width != 4 && options.bank_width != 8) {
    throw std::invalid_argument("tt: BankWidth must be 4 or 8 bytes");
  }
  detail::memory_map memory = options.memory;
  static_cast<void>((memory.add_argument(args), ..., 0));
  detail::box_table boxes;
  detail::recorder records(options.bank_width, options.counts, options.checks, boxes);
  detail::emulated_block_run run(grid, block, smem_bytes, options.foreign_shared, memory, boxes,
                                 records);
  run.set_body([&](detail::emulated_thread& thread) { body(emulated_block(thread), args...); });

  std::unique_ptr<detail::switcher> switcher;
  if (options.mode == emulator_options::run_mode::fibers) {
    switcher.reset(new detail::fiber_switcher(run));
  } else {
    switcher.reset(new detail::thread_switcher(run));
  }
  run.set_switcher(*switcher);
  for (std::uint64_t i = 0; i < grid.count(); ++i) {
    run.start_block(i);
    switcher->run_block();
    run.end_block();
  }

  emulation_report report;
  report.blocks = grid.count();
  report.threads = run.thread_count();
  report.bank_width = options.bank_width;
  records.found().write(report);
  return report;
}

/// The same with default options.
template <class Body, class... Args>
emulation_report emulate(emulated_dim grid, emulated_dim block, std::size_t smem_bytes,
                         const Body& body, const Args&... args) {
  return tt::emulate(emulator_options(), grid, block, smem_bytes, body, args...);
}

TILETRANSPOSE_NAMESPACE_END
