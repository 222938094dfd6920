// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Distributed calls on the CPU: the calls themselves, with their kernels in the emulator, their streams drawn at random
// and an NCCL that reads a message as late as it may. Every rank is a device.

#include "../distributed/random_begins.hpp"
#include "cluster_on_cpu.hpp"

#include <tiletranspose/distributed.cuh>
#include <tiletranspose/peers.cuh>

#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using tt::partition;
using tt::size_type;

struct triple {
  unsigned char bytes[3];
};

/// An element that no other place has, but by chance.
template <class T>
T element_of(size_type place) {
  T value{};
  const auto mixed = static_cast<unsigned long long>(place + 1) * 0x9E3779B97F4A7C15u;
  std::memcpy(&value, reinterpret_cast<const char*>(&mixed) + 2, sizeof(T));
  return value;
}

constexpr unsigned char guard = 0xA5;

/// Memory of one rank, with guards round it.
template <class T>
struct memory {
  static constexpr size_type margin = 64;
  size_type count;
  tt::emulated_buffer<unsigned char> bytes;
  explicit memory(size_type elements) : count(elements), bytes(elements * sizeof(T) + 2 * margin) {
    std::memset(bytes.data(), guard, bytes.size());
  }
  T* data() { return reinterpret_cast<T*>(bytes.data() + margin); }
  bool is_guarded() {
    for (size_type i = 0; i < margin; ++i) {
      if (bytes.data()[i] != guard || bytes.data()[bytes.size() - 1 - i] != guard) { return false; }
    }
    return true;
  }
};

/// A matrix dealt out over ranks, and what is to become of it.
template <class T>
struct spread {
  int ranks;
  partition nx;
  partition ny;
  std::vector<std::unique_ptr<memory<T>>> in;
  std::vector<std::unique_ptr<memory<T>>> out;
  std::vector<std::unique_ptr<memory<unsigned char>>> temp;
  cpu::network network;
  std::vector<communicator_on_cpu> comms;

  spread(int rank_count, partition columns, partition rows, size_type together = 1)
      : ranks(rank_count), nx(columns), ny(rows) {
    network.ranks = ranks;
    for (int r = 0; r < ranks; ++r) {
      comms.push_back({&network, r, r});
      in.push_back(std::make_unique<memory<T>>(ny.count(ranks, r) * nx.total * together));
      out.push_back(std::make_unique<memory<T>>(nx.count(ranks, r) * ny.total * together));
      const size_type first = ny.begin(ranks, r) * nx.total * together;
      for (size_type i = 0; i < in.back()->count; ++i) {
        in.back()->data()[i] = element_of<T>(first + i);
      }
    }
  }
  T* out_of(int r) { return out[static_cast<std::size_t>(r)]->data(); }
  const T* in_of(int r) { return in[static_cast<std::size_t>(r)]->data(); }
  communicator_on_cpu* comm_of(int r) { return &comms[static_cast<std::size_t>(r)]; }

  bool is_transposed() {
    for (int r = 0; r < ranks; ++r) {
      auto& own = *out[static_cast<std::size_t>(r)];
      for (size_type i = 0; i < own.count; ++i) {
        const size_type x = nx.begin(ranks, r) + i / ny.total;
        const size_type y = i % ny.total;
        const T wanted = element_of<T>(y * nx.total + x);
        if (std::memcmp(&own.data()[i], &wanted, sizeof(T)) != 0) { return false; }
      }
      if (!own.is_guarded()) { return false; }
    }
    for (const auto& scratch : temp) {
      if (!scratch->is_guarded()) { return false; }
    }
    return true;
  }

  /// Every rank asks for scratch and calls; then all that was queued runs. `lent`: its own transfer stream.
  template <class Call>
  bool run(Call call) {
    for (int r = 0; r < ranks; ++r) {
      cpu::current_device() = r;
      size_type bytes = 0;
      REQUIRE(call(r, nullptr, bytes) == cudaSuccess);
      REQUIRE(bytes > 0);
      temp.push_back(std::make_unique<memory<unsigned char>>(bytes));
      REQUIRE(call(r, temp.back()->data(), bytes) == cudaSuccess);
    }
    return ends();
  }
  /// Runs all that was queued; true where no message and no signal is left.
  bool ends() {
    cpu::current_device() = 0;
    const bool all_ran = cpu::machines().drain();
    for (const auto& box : network.mail) { CHECK(box.second.empty()); }
    for (const auto& signal : network.signals) { CHECK(signal.second == 0); }
    return all_ran;
  }
  bool transpose(const tt::distributed_options& options) {
    return run([&](int r, void* scratch, size_type& bytes) {
      return tt::distributed_transpose(out_of(r), in_of(r), nx, ny, scratch, bytes, comm_of(r),
                                       cudaStream_t{}, options);
    });
  }
};

cpu::cluster& machines(int devices, unsigned seed) {
  cpu::this_device() = {};
  cpu::machines().start(devices, seed);
  return cpu::machines();
}

template <class T>
void check_transpose(int ranks, partition nx, partition ny, size_type step_bytes, unsigned seed) {
  INFO(ranks << " ranks, " << nx.total << " x " << ny.total << ", steps of " << step_bytes
             << " bytes, seed " << seed << ", elements of " << sizeof(T));
  cpu::cluster& all = machines(ranks, seed);
  spread<T> matrix(ranks, nx, ny);
  REQUIRE(matrix.transpose({step_bytes}));
  REQUIRE(all.faults.empty());
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(matrix.is_transposed());
}

/// Calls check(ranks, nx, ny, step_bytes, seed) for some matrices that are dealt out unevenly.
template <class Check>
void with_uneven_parts(unsigned seed_of_parts, Check check) {
  std::mt19937 random(seed_of_parts);
  for (unsigned seed = 0; seed < 12; ++seed) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    const size_type nx = 1 + random() % 60;
    const size_type ny = 1 + random() % 60;
    const auto columns = random_begins(ranks, nx, random);
    const auto rows = random_begins(ranks, ny, random);
    check(ranks, partition{nx, columns.data()}, partition{ny, rows.data()}, 1 + random() % 2000,
          seed);
  }
}

}  // namespace

TEST_CASE("a distributed transpose is the transpose, however many ranks hold it") {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    check_transpose<float>(ranks, 70, 45, 900, 1);
    check_transpose<float>(ranks, 45, 70, 1, 2);
    check_transpose<float>(ranks, 33, 33, 1 << 20, 3);
  }
  check_transpose<triple>(3, 41, 97, 700, 4);
  check_transpose<float>(4, 3, 50, 64, 5);  // more ranks than columns
  check_transpose<float>(4, 50, 1, 64, 6);
  check_transpose<float>(2, 1, 1, 64, 7);
}

TEST_CASE("parts may be uneven, and some ranks may hold nothing") {
  with_uneven_parts(11, check_transpose<float>);
}

TEST_CASE("no order of what the streams leave open changes the result") {
  for (unsigned seed = 0; seed < 25; ++seed) { check_transpose<float>(3, 64, 30, 300, seed); }
}

TEST_CASE("without the waits between the streams the result is wrong, and this would be seen") {
  int wrong = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    machines(3, seed).ignores_events = true;
    spread<float> matrix(3, 64, 30);
    if (!matrix.transpose({300}) || !matrix.is_transposed()) { ++wrong; }
  }
  REQUIRE(wrong > 0);
}

TEST_CASE("an exchange sends as many messages as its plan has, and one step needs one stream") {
  machines(2, 1);
  spread<float> small(2, 16, 16);
  REQUIRE(small.transpose({1 << 20}));
  REQUIRE(small.network.messages == 2);
  REQUIRE(cpu::machines().streams.size() == 2);  // the null streams
  machines(2, 1);
  spread<float> large(2, 16, 16);
  REQUIRE(large.transpose({64}));
  REQUIRE(large.network.messages == 2 * 4);
  REQUIRE(cpu::machines().streams.size() == 4);
  REQUIRE(large.is_transposed());
}

TEST_CASE("a communicator that does not block is waited for") {
  machines(3, 2).nccl_does_not_block = true;
  spread<float> matrix(3, 50, 40);
  REQUIRE(matrix.transpose({500}));
  REQUIRE(matrix.is_transposed());
  REQUIRE(cpu::machines().asked % 3 == 0);
  REQUIRE(cpu::machines().asked > 9);
}

TEST_CASE("a stream can be lent for transfers") {
  machines(2, 5);
  spread<float> matrix(2, 40, 40);
  const cudaStream_t lent[] = {cpu::new_stream(), cpu::new_stream()};
  REQUIRE(matrix.run([&](int r, void* scratch, size_type& bytes) {
    return tt::distributed_transpose(matrix.out_of(r), matrix.in_of(r), 40, 40, scratch, bytes,
                                     matrix.comm_of(r), cudaStream_t{}, {400, lent[r]});
  }));
  REQUIRE(cpu::machines().streams.size() == 4);
  REQUIRE(matrix.is_transposed());
}

namespace {

/// Two matrices through one window, one after the other; all ranks have their scratch before the first one calls.
void check_put(int ranks, partition nx, partition ny, size_type step_bytes, unsigned seed) {
  INFO(ranks << " ranks, " << nx.total << " x " << ny.total << ", steps of " << step_bytes
             << " bytes, seed " << seed);
  machines(ranks, seed);
  spread<float> first(ranks, nx, ny);
  spread<float> second(ranks, ny, nx);
  cpu::window window;
  const auto call = [&](spread<float>& matrix, int r, void* temp, size_type& bytes) {
    cpu::current_device() = r;
    return tt::distributed_transpose(matrix.out_of(r), matrix.in_of(r), matrix.nx, matrix.ny, temp,
                                     bytes, first.comm_of(r), cudaStream_t{},
                                     {step_bytes, nullptr, &window});
  };
  size_type bytes = 0;
  for (int r = 0; r < ranks; ++r) {
    size_type asked[2] = {};
    REQUIRE(call(first, r, nullptr, asked[0]) == cudaSuccess);
    REQUIRE(call(second, r, nullptr, asked[1]) == cudaSuccess);
    const size_type most = std::max(asked[0], asked[1]);
    REQUIRE((r == 0 || most == bytes));
    bytes = most;
    first.temp.push_back(std::make_unique<memory<unsigned char>>(bytes));
    window.memory.push_back(first.temp.back()->data());
  }
  window.bytes.assign(window.memory.size(), bytes);
  for (spread<float>* matrix : {&first, &second, &first}) {
    for (int r = 0; r < ranks; ++r) {
      REQUIRE(call(*matrix, r, first.temp[static_cast<std::size_t>(r)]->data(), bytes) ==
              cudaSuccess);
    }
  }
  REQUIRE(first.ends());
  REQUIRE(cpu::machines().faults.empty());
  REQUIRE(first.is_transposed());
  REQUIRE(second.is_transposed());
}

}  // namespace

TEST_CASE("messages are put into windows, in any order that the streams leave open") {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const size_type step_bytes : {1, 300, 900, 1 << 20}) {
      check_put(ranks, 70, 45, step_bytes, 1);
    }
  }
  for (unsigned seed = 0; seed < 40; ++seed) { check_put(3, 64, 30, 300, seed); }
  with_uneven_parts(12, check_put);
}

TEST_CASE("no message is put into a window while a graph is captured") {
  machines(2, 1).captures = true;
  spread<float> matrix(2, 20, 20);
  size_type bytes = 0;
  REQUIRE(tt::distributed_transpose(matrix.out_of(0), matrix.in_of(0), 20, 20, nullptr, bytes,
                                    matrix.comm_of(0), cudaStream_t{}) == cudaSuccess);
  memory<unsigned char> scratch(bytes);
  cpu::window window;
  REQUIRE(tt::distributed_transpose(matrix.out_of(0), matrix.in_of(0), 20, 20, scratch.data(),
                                    bytes, matrix.comm_of(0), cudaStream_t{},
                                    {0, nullptr, &window}) == cudaErrorStreamCaptureUnsupported);
  for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
}

namespace {

template <std::size_t Rank>
void check_permute(int ranks, const size_type (&extents)[Rank], const int (&axes)[Rank],
                   size_type step_bytes) {
  std::string said = std::to_string(ranks) + " ranks:";
  for (std::size_t k = 0; k < Rank; ++k) {
    said += ' ' + std::to_string(extents[k]) + '/' + std::to_string(axes[k]);
  }
  INFO(said);
  machines(ranks, 9);
  const auto first = static_cast<std::size_t>(axes[0]);
  size_type all = 1;
  for (const size_type extent : extents) { all *= extent; }
  // The input is a matrix of extents[0] rows, and so is what the ranks hold of the output.
  spread<float> array(ranks, all / extents[0], extents[0]);
  for (int r = 0; r < ranks; ++r) {
    array.out[static_cast<std::size_t>(r)] = std::make_unique<memory<float>>(
        partition(extents[first]).count(ranks, r) * (all / extents[first]));
  }
  REQUIRE(array.run([&](int r, void* scratch, size_type& bytes) {
    return tt::distributed_permute(array.out_of(r), array.in_of(r), extents, axes, scratch, bytes,
                                   array.comm_of(r), cudaStream_t{}, {step_bytes});
  }));
  REQUIRE(cpu::machines().faults.empty());
  REQUIRE(cpu::this_device().faults == 0);
  size_type strides[Rank];
  size_type stride = 1;
  for (std::size_t k = Rank; k-- > 0; stride *= extents[k]) { strides[k] = stride; }
  for (int r = 0; r < ranks; ++r) {
    auto& own = *array.out[static_cast<std::size_t>(r)];
    const size_type begin = partition(extents[first]).begin(ranks, r) * (all / extents[first]);
    for (size_type i = 0; i < own.count; ++i) {
      size_type left = begin + i;
      size_type place = 0;
      for (std::size_t j = Rank; j-- > 0;) {
        const auto axis = static_cast<std::size_t>(axes[j]);
        place += left % extents[axis] * strides[axis];
        left /= extents[axis];
      }
      const float wanted = element_of<float>(place);
      REQUIRE(std::memcmp(&own.data()[i], &wanted, sizeof(float)) == 0);
    }
    REQUIRE(own.is_guarded());
  }
}

}  // namespace

TEST_CASE("a distributed permute is the permute") {
  check_permute(3, {7, 6, 5}, {1, 0, 2}, 200);
  check_permute(2, {7, 6, 5}, {2, 0, 1}, 200);
  check_permute(4, {5, 6, 9}, {2, 1, 0}, 300);
  check_permute(3, {5, 6, 9}, {1, 2, 0}, 1 << 20);
  check_permute(2, {4, 3, 5, 6}, {2, 0, 3, 1}, 100);
  check_permute(3, {8, 5, 4}, {0, 2, 1}, 100);  // every rank for itself
  check_permute(2, {9, 11}, {1, 0}, 60);
  // Eight axes are left of nine: one of a single element does not count, and two that stay together are one.
  check_permute(2, {3, 2, 2, 1, 2, 2, 2, 2, 4}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, 300);
  check_permute(2, {3, 2, 2, 2, 2, 2, 2, 2, 3}, {8, 7, 6, 5, 4, 2, 3, 1, 0}, 1 << 20);
}

TEST_CASE("a permute of more than eight axes is refused on every rank") {
  // Rank 1 holds one element along the first axis: its own slices have eight axes, those of rank 0 nine.
  constexpr size_type extents[] = {3, 2, 2, 2, 2, 2, 2, 2, 4};
  constexpr int orders[][9] = {{8, 7, 6, 5, 4, 3, 2, 1, 0}, {0, 8, 7, 6, 5, 4, 3, 2, 1}};
  for (const auto& axes : orders) {
    machines(2, 1);
    spread<float> array(2, 512, 3);
    memory<unsigned char> scratch(1 << 16);
    for (int r = 0; r < 2; ++r) {
      cpu::current_device() = r;
      const auto call = [&](void* temp, size_type& bytes) {
        return tt::distributed_permute(array.out_of(r), array.in_of(r), extents, axes, temp, bytes,
                                       array.comm_of(r));
      };
      size_type asked = 7;
      CHECK(call(nullptr, asked) == cudaErrorInvalidValue);
      CHECK(asked == 7);
      size_type bytes = 1 << 16;
      CHECK(call(scratch.data(), bytes) == cudaErrorInvalidValue);
    }
    for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
  }
  // Where an extent is 0 there is nothing to do, and axes are not counted.
  machines(2, 1);
  cpu::current_device() = 0;
  spread<float> array(2, 16, 16);
  size_type bytes = 0;
  REQUIRE(tt::distributed_permute(array.out_of(0), array.in_of(0), {3, 2, 2, 2, 0, 2, 2, 2, 4},
                                  orders[0], nullptr, bytes, array.comm_of(0)) == cudaSuccess);
  REQUIRE(bytes > 0);
}

TEST_CASE("axes that are not dealt out are never cut") {
  // One index of an outer axis is all that a rank sends and receives, 4 GiB each: no step sends less.
  machines(2, 1);
  spread<float> array(2, 16, 16);
  for (const size_type step_bytes : {size_type{0}, size_type{1} << 20}) {
    size_type bytes = 0;
    REQUIRE(tt::distributed_permute(array.out_of(0), array.in_of(0), {2, 2, size_type{1} << 30},
                                    {1, 0, 2}, nullptr, bytes, array.comm_of(0), cudaStream_t{},
                                    {step_bytes}) == cudaSuccess);
    REQUIRE(bytes == size_type{8} << 30);
  }
}

TEST_CASE("bad arguments are refused before anything is queued") {
  machines(2, 1);
  spread<float> matrix(2, 16, 16);
  memory<unsigned char> scratch(1 << 14);
  size_type bytes = 1 << 14;
  const auto call = [&](float* out, const float* in, partition nx, partition ny, void* temp,
                        size_type temp_bytes, ncclComm_t comm) {
    cpu::current_device() = 0;
    const cudaError_t status = tt::distributed_transpose(out, in, nx, ny, temp, temp_bytes, comm);
    for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
    return status;
  };
  float* const out = matrix.out_of(0);
  const float* const in = matrix.in_of(0);
  ncclComm_t comm = matrix.comm_of(0);
  void* const temp = scratch.data();
  const size_type falls[] = {0, 9, 8};
  const size_type short_of[] = {0, 8, 15};
  const size_type late[] = {1, 8, 16};
  const auto refused = cudaErrorInvalidValue;
  REQUIRE(call(out, in, 16, 16, temp, bytes, nullptr) == refused);
  REQUIRE(call(nullptr, in, 16, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, nullptr, 16, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, in, 16, 16, temp, 255, comm) == refused);
  REQUIRE(call(out, in, 16, {16, falls}, temp, bytes, comm) == refused);
  REQUIRE(call(out, in, {16, short_of}, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, in, {16, late}, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, in, ~size_type{0} / 2, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, out, 16, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, out + 1, 16, 16, temp, bytes, comm) == refused);
  REQUIRE(call(out, in, 16, 16, out, bytes, comm) == refused);
  REQUIRE(call(out, in, 16, 16, scratch.data() + 1, bytes - 1, comm) == refused);
  REQUIRE(call(out, in, 16, 16, temp, bytes, matrix.comm_of(1)) == cudaErrorInvalidDevice);
  REQUIRE(call(nullptr, nullptr, 0, 16, temp, bytes, comm) == cudaSuccess);
  size_type asked = 7;
  REQUIRE(tt::distributed_permute(out, in, {4, 4, 16}, {1, 1, 0}, nullptr, asked, comm) == refused);
  REQUIRE(asked == 7);
}

TEST_CASE("a permute of which nothing travels is checked like others") {
  machines(2, 1);
  spread<float> array(2, 64, 4);
  memory<unsigned char> scratch(1 << 16);
  float* const out = array.out_of(0);
  const float* const in = array.in_of(0);
  const ncclComm_t comm = array.comm_of(0);
  const auto call = [&](float* to, const float* from, void* temp, size_type bytes,
                        ncclComm_t with) {
    return tt::distributed_permute(to, from, {4, 8, 8}, {0, 2, 1}, temp, bytes, with);
  };
  const auto refused = cudaErrorInvalidValue;
  size_type bytes = 0;
  REQUIRE(tt::distributed_permute(out, in, {4, 8, 8}, {0, 2, 1}, nullptr, bytes, comm) ==
          cudaSuccess);
  REQUIRE(bytes > 0);
  REQUIRE(call(out, in, nullptr, 0, nullptr) == refused);
  REQUIRE(call(out, in, scratch.data(), bytes - 1, comm) == refused);
  REQUIRE(call(out, in, out, bytes, comm) == refused);
  REQUIRE(call(out, out, scratch.data(), bytes, comm) == refused);
  REQUIRE(call(nullptr, in, scratch.data(), bytes, comm) == refused);
  constexpr size_type large = size_type{1} << 40;
  REQUIRE(tt::distributed_permute(out, in, {4, large, large, 0}, {0, 1, 2, 3}, scratch.data(),
                                  bytes, comm) == cudaSuccess);
  REQUIRE(tt::distributed_permute(out, in, {4, large, large, 0}, {1, 0, 2, 3}, scratch.data(),
                                  bytes, comm) == cudaSuccess);
  REQUIRE(tt::distributed_permute(out, in, {4, large, large, 2}, {0, 1, 2, 3}, scratch.data(),
                                  bytes, comm) == refused);
  for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
  REQUIRE(call(out, in, scratch.data(), bytes, comm) == cudaSuccess);
}

TEST_CASE("what NCCL says becomes a status, and nothing more is queued") {
  machines(2, 1).nccl_fails = true;
  spread<float> matrix(2, 16, 16);
  memory<unsigned char> scratch(1 << 14);
  size_type bytes = 1 << 14;
  REQUIRE(tt::distributed_transpose(matrix.out_of(0), matrix.in_of(0), 16, 16, scratch.data(),
                                    bytes, matrix.comm_of(0), cudaStream_t{},
                                    {64}) == cudaErrorOperatingSystem);
  REQUIRE(cpu::machines().drain());
  REQUIRE(matrix.network.messages == 0);
}

namespace {

/// Carries nothing: writes down how much waits in the caller's stream when a step is to travel, and fails at one.
struct counting_transport {
  static constexpr bool lands = false;
  static constexpr size_type ahead = 2;
  std::vector<std::size_t>* queued;
  size_type fails_at;

  cudaError_t transfer(const tt::detail::exchange_plan&, size_type step, const unsigned char*,
                       unsigned char*, cudaStream_t) const {
    queued->push_back(cpu::machines().streams[0].size());
    return step == fails_at ? cudaErrorUnknown : cudaSuccess;
  }
};

}  // namespace

TEST_CASE("two steps travel or wait while a third is placed, and a failure ends it") {
  const tt::detail::exchange_plan plan(64, 64, 2, 0, sizeof(float), 1024);
  REQUIRE(plan.steps == 4);
  for (const size_type fails_at : {size_type{4}, size_type{1}}) {
    machines(2, 1);
    spread<float> matrix(2, 64, 64);
    memory<unsigned char> scratch(1 << 16);
    std::vector<std::size_t> queued;
    tt::detail::device_exchange<tt::detail::matrix_mover<float>, counting_transport> exchange{
        plan,
        {matrix.out_of(0), matrix.in_of(0)},
        {&queued, fails_at},
        scratch.data(),
        cudaStream_t{}};
    REQUIRE(exchange.prepare(nullptr) == cudaSuccess);
    if (fails_at < plan.steps) {
      REQUIRE(exchange.run() == cudaErrorUnknown);
      REQUIRE(queued.size() == fails_at + 1);
      // The caller's stream waits for what travels, and gets no more work.
      REQUIRE(cpu::machines().streams[0].size() <= queued.back() + 1);
      continue;
    }
    REQUIRE(exchange.run() == cudaSuccess);
    REQUIRE(queued.size() == 4);
    REQUIRE(queued[0] == 2);  // packed and marked, and nothing is kept before
    const std::size_t step = queued[1] - queued[0];  // what is kept, and the next step packed
    REQUIRE(queued[2] - queued[1] == step);
    REQUIRE(queued[3] - queued[2] > step);  // the first step is placed, too
    REQUIRE(cpu::machines().drain());
  }
}

TEST_CASE("ranks that differ all learn of it") {
  const size_type begins[] = {0, 5, 16};
  struct arguments {
    partition nx;
    partition ny;
    size_type step_bytes;
    bool has_input;
    cudaError_t wanted;
    void* window = nullptr;
  };
  cpu::window window;
  const arguments second[] = {
      {16, 16, 64, true, cudaSuccess},
      {17, 16, 64, true, cudaErrorInvalidValue},
      {16, 15, 64, true, cudaErrorInvalidValue},
      {16, {16, begins}, 64, true, cudaErrorInvalidValue},
      {16, 16, 128, true, cudaErrorInvalidValue},
      {16, 16, 64, false, cudaErrorInvalidValue},
      {16, 16, 64, true, cudaErrorInvalidValue, &window},
  };
  for (const arguments& other : second) {
    machines(2, 3);
    spread<float> matrix(2, 20, 20);
    cudaError_t answers[2] = {cudaErrorUnknown, cudaErrorUnknown};
    std::vector<std::thread> ranks;
    for (int r = 0; r < 2; ++r) {
      ranks.emplace_back([&, r] {
        const arguments own = r == 0 ? second[0] : other;
        cpu::current_device() = r;
        memory<unsigned char> scratch(1 << 14);
        answers[r] =
            tt::distributed_check(matrix.out_of(r), own.has_input ? matrix.in_of(r) : nullptr,
                                  own.nx, own.ny, scratch.data(), 1 << 14, matrix.comm_of(r),
                                  cudaStream_t{}, {own.step_bytes, nullptr, own.window});
      });
    }
    for (std::thread& rank : ranks) { rank.join(); }
    REQUIRE(cpu::machines().faults.empty());
    REQUIRE(answers[0] == other.wanted);
    REQUIRE(answers[1] == other.wanted);
  }
}

// ---- one process, several devices

namespace {

/// With scratch the copy engines move slices, without it kernels store into the other outputs.
template <class T>
void check_parts(int devices, int count, partition nx, partition ny, size_type step_bytes,
                 bool copies, unsigned seed, bool reach = true) {
  INFO(count << " parts on " << devices << " devices, " << nx.total << " x " << ny.total << ", "
             << (copies ? "copied" : "stored") << ", seed " << seed);
  machines(devices, seed).peers_can_access = reach;
  spread<T> matrix(count, nx, ny);
  std::vector<tt::device_part<T>> parts;
  const tt::distributed_options options{step_bytes};
  const size_type bytes = tt::peer_scratch_bytes<T>(count, nx, ny, options);
  for (int i = 0; i < count; ++i) {
    matrix.temp.push_back(std::make_unique<memory<unsigned char>>(bytes));
    const int device = i % devices;
    cpu::current_device() = device;
    parts.push_back({device, matrix.out_of(i), matrix.in_of(i),
                     copies ? matrix.temp.back()->data() : nullptr,
                     i < devices ? nullptr : cpu::new_stream()});
  }
  cpu::current_device() = devices - 1;
  REQUIRE(tt::distributed_transpose(parts.data(), count, nx, ny, options) == cudaSuccess);
  REQUIRE(cpu::current_device() == devices - 1);
  REQUIRE(cpu::machines().drain());
  REQUIRE(cpu::machines().faults.empty());
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(matrix.is_transposed());
  REQUIRE((cpu::machines().peer_copies > 0) == !reach);
}

}  // namespace

TEST_CASE("copies take the way through the host where devices cannot reach each other") {
  check_parts<float>(3, 3, 40, 50, 300, true, 1, false);
  check_parts<float>(2, 5, 33, 31, 0, true, 2, false);
}

namespace {

/// Two rows that lie further apart than CUDA's copies of rows take: memory of which only what is touched is there.
struct far_rows {
  static constexpr size_type pitch = tt::detail::most_pitch_bytes + 4096;
  void* const first = mmap(nullptr, 2 * pitch, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  far_rows() { REQUIRE(first != MAP_FAILED); }
  far_rows(const far_rows&) = delete;
  ~far_rows() { munmap(first, 2 * pitch); }
  char* row(int number) const { return static_cast<char*>(first) + number * pitch; }
};

}  // namespace

TEST_CASE("rows too far apart for CUDA's copies of rows are copied one by one") {
  for (const bool between : {false, true}) {
    machines(2, 1);
    const far_rows in;
    const far_rows out;
    std::strcpy(in.row(0), "the first");
    std::strcpy(in.row(1), "the second");
    const auto copy = [&](cudaStream_t stream) {
      const tt::detail::devices_apart apart{1, 0};
      return tt::detail::copy_rows(out.first, out.pitch, in.first, in.pitch, 11, 2, stream,
                                   between ? &apart : nullptr);
    };
    cpu::machines().host_failure_after = 1;  // of the second row
    REQUIRE(copy(nullptr) == cudaErrorUnknown);
    cpu::machines().host_failure_after = -1;
    REQUIRE(copy(nullptr) == cudaSuccess);
    REQUIRE(cpu::machines().drain());
    REQUIRE(std::string(out.row(0)) == "the first");
    REQUIRE(std::string(out.row(1)) == "the second");
  }
}

TEST_CASE("after a copy that fails, streams still wait for those that are under way") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    machines(2, seed).host_failure_after = static_cast<int>(seed % 6);
    spread<float> matrix(2, 40, 40);
    memory<unsigned char> scratch[] = {memory<unsigned char>(1 << 14),
                                       memory<unsigned char>(1 << 14)};
    const tt::device_part<float> parts[] = {
        {0, matrix.out_of(0), matrix.in_of(0), scratch[0].data()},
        {1, matrix.out_of(1), matrix.in_of(1), scratch[1].data()}};
    REQUIRE(tt::distributed_transpose(parts, 2, 40, 40, {300}) == cudaErrorUnknown);
    // Each caller goes on to use its scratch for something else, of which no copy may take anything along.
    constexpr int other = 0x3C;
    for (int i = 0; i < 2; ++i) {
      cpu::current_device() = i;
      cpu::enqueue(nullptr, [&, i] { std::memset(scratch[i].data(), other, 1 << 14); });
    }
    REQUIRE(cpu::machines().drain());
    float never = 0;
    std::memset(&never, other, sizeof never);
    for (int i = 0; i < 2; ++i) {
      const float* const out = matrix.out_of(i);
      const float* const end = out + matrix.out[static_cast<size_type>(i)]->count;
      REQUIRE(std::find(out, end, never) == end);
    }
  }
}

TEST_CASE("parts of one process are transposed by stores and by copies") {
  for (const bool copies : {false, true}) {
    for (const int count : {1, 2, 3, 8}) {
      check_parts<float>(count, count, 70, 45, 900, copies, 1);
      check_parts<float>(1, count, 33, 64, 500, copies, 2);  // one device stands for all
    }
    const size_type columns[] = {0, 0, 30, 50};
    const size_type rows[] = {0, 12, 12, 20};
    check_parts<float>(3, 3, {50, columns}, {20, rows}, 200, copies, 3);
    check_parts<triple>(2, 2, 31, 57, 100, copies, 4);
    for (unsigned seed = 0; seed < 10; ++seed) {
      check_parts<float>(3, 3, 40, 40, 300, copies, seed);
    }
  }
}

TEST_CASE("each stream waits for the other devices before its output is written, and after") {
  machines(2, 1);
  spread<float> matrix(2, 32, 32);
  const tt::device_part<float> parts[] = {{0, matrix.out_of(0), matrix.in_of(0)},
                                          {1, matrix.out_of(1), matrix.in_of(1)}};
  // Device 1 clears its output before the call, and copies it away afterwards.
  std::vector<float> copy(matrix.out[1]->count);
  cpu::current_device() = 1;
  float* const cleared = matrix.out_of(1);
  cpu::enqueue(nullptr, [&] { std::memset(cleared, 0, copy.size() * sizeof(float)); });
  REQUIRE(tt::distributed_transpose(parts, 2, 32, 32) == cudaSuccess);
  cpu::enqueue(nullptr, [&] { std::memcpy(copy.data(), cleared, copy.size() * sizeof(float)); });
  REQUIRE(cpu::machines().drain());
  REQUIRE(matrix.is_transposed());
  REQUIRE(std::memcmp(copy.data(), cleared, copy.size() * sizeof(float)) == 0);
}

TEST_CASE("parts that cannot be are refused") {
  machines(2, 1);
  spread<float> matrix(2, 16, 16);
  memory<unsigned char> scratch(1 << 14);
  using part = tt::device_part<float>;
  const part good[] = {{0, matrix.out_of(0), matrix.in_of(0)},
                       {1, matrix.out_of(1), matrix.in_of(1)}};
  const auto call = [&](part first, part second) {
    const part parts[] = {first, second};
    const cudaError_t status = tt::distributed_transpose(parts, 2, 16, 16);
    for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
    return status;
  };
  part other = good[1];
  other.out = good[0].out;
  REQUIRE(call(good[0], other) == cudaErrorInvalidValue);
  other = good[1];
  other.out = const_cast<float*>(good[0].in);
  REQUIRE(call(good[0], other) == cudaErrorInvalidValue);
  other = good[1];
  other.temp = scratch.data();
  REQUIRE(call(good[0], other) == cudaErrorInvalidValue);
  part one = good[0];
  one.temp = scratch.data();
  REQUIRE(call(one, other) == cudaErrorInvalidValue);
  one.in = nullptr;
  REQUIRE(call(one, good[1]) == cudaErrorInvalidValue);
  REQUIRE(tt::distributed_transpose<float>(nullptr, 2, 16, 16) == cudaErrorInvalidValue);
  REQUIRE(tt::distributed_transpose(good, 0, 16, 16) == cudaErrorInvalidValue);
  REQUIRE(tt::peer_scratch_bytes<float>(0, 16, 16) == 0);
  cpu::machines().peers_can_access = false;
  REQUIRE(call(good[0], good[1]) == cudaErrorPeerAccessUnsupported);
  const int devices[] = {0, 1};
  REQUIRE(tt::enable_peer_access(devices, 2) == cudaErrorPeerAccessUnsupported);
  cpu::machines().peers_can_access = true;
  REQUIRE(tt::enable_peer_access(devices, 2) == cudaSuccess);
}

TEST_CASE("ranks that have all outputs mapped store their shares") {
  machines(3, 1);
  spread<float> matrix(3, 25, 31);
  float* const outs[] = {matrix.out_of(0), matrix.out_of(1), matrix.out_of(2)};
  for (int r = 0; r < 3; ++r) {
    REQUIRE(tt::transpose_into_parts(outs, matrix.in_of(r), 25, 31, 3, r) == cudaSuccess);
  }
  REQUIRE(cpu::machines().drain());
  REQUIRE(matrix.is_transposed());
  float* const missing[] = {matrix.out_of(0), nullptr, matrix.out_of(2)};
  REQUIRE(tt::transpose_into_parts(missing, matrix.in_of(0), 25, 31, 3, 0) ==
          cudaErrorInvalidValue);
  REQUIRE(tt::transpose_into_parts(outs, matrix.in_of(0), 25, 31, 3, 3) == cudaErrorInvalidValue);
  float* const same[] = {matrix.out_of(0), matrix.out_of(0), matrix.out_of(2)};
  REQUIRE(tt::transpose_into_parts(same, matrix.in_of(0), 25, 31, 3, 0) == cudaErrorInvalidValue);
  REQUIRE(tt::transpose_into_parts(outs, matrix.out_of(0), 25, 31, 3, 0) == cudaErrorInvalidValue);
  for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
}
