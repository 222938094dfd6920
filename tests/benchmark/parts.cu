// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Speed of the device functions inside kernels of a user's: transposes between lanes beside
// cub::WarpExchange, structures per thread beside plain accesses, and the block primitive beside the
// tuned launch. Every contender's output is compared before it is timed. Names are
// family/type/shape; each counter is a share of the first contender's speed, in percent.
// Google Benchmark's own options work; --rounds=N sets the rounds of a median (15).

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cub/warp/warp_exchange.cuh>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/transpose.cuh>
#include <tiletranspose/warp_exchange.cuh>
#include <tiletranspose/warp_transpose.cuh>
#include <utility>
#include <vector>

#include "program.cuh"

namespace {

using namespace bench;

constexpr int block_threads = 256;

// ---- running ------------------------------------------------------------------------------------

struct runner {
  std::string name;
  std::function<cudaError_t()> call;
  bool same_work = true;  // false for a copy, whose output nobody compares
};

// The output of the last runner is trusted.
struct race_card {
  std::string name;
  std::vector<runner> runners;  // the first is what the others are measured against
  std::size_t out_bytes;
};

__global__ void count_differences(mismatches* bad, const std::uint32_t* a, const std::uint32_t* b,
                                  std::size_t words) {
  const auto step = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step) {
    if (a[i] != b[i]) { atomicAdd(&bad->count, 1ull); }
  }
}

// The output of the trusted runner is kept behind the outputs of the others.
unsigned char* kept_output(const race_card& card) {
  return device().out + (card.out_bytes + 255) / 256 * 256;
}

void verify(const race_card& card) {
  const arena& a = device();
  must(card.runners.back().call(), "call");
  must(cudaMemcpyAsync(kept_output(card), a.out, card.out_bytes, cudaMemcpyDefault, a.stream),
       "keeping the output");
  for (std::size_t i = 0; i + 1 < card.runners.size(); ++i) {
    if (!card.runners[i].same_work) { continue; }
    must(cudaMemsetAsync(a.out, 0xFF, card.out_bytes, a.stream), "poisoning the output");
    must(card.runners[i].call(), "call");
    mismatches found{0, 0};
    must(cudaMemcpyAsync(a.bad, &found, sizeof found, cudaMemcpyDefault, a.stream), "verification");
    count_differences<<<4096, 256, 0, a.stream>>>(
        a.bad, reinterpret_cast<const std::uint32_t*>(a.out),
        reinterpret_cast<const std::uint32_t*>(kept_output(card)), card.out_bytes / 4);
    must(cudaGetLastError(), "verification");
    must(cudaMemcpyAsync(&found, a.bad, sizeof found, cudaMemcpyDefault, a.stream), "verification");
    must(cudaStreamSynchronize(a.stream), "verification");
    if (found.count != 0) {
      throw std::runtime_error(card.runners[i].name + ": " + std::to_string(found.count) +
                               " words are wrong");
    }
  }
}

void run_card(benchmark::State& state, const race_card& card) {
  verify(card);
  std::vector<contender> field;
  for (const runner& r : card.runners) {
    field.push_back({contender::ours, [&r](std::size_t) { return r.call(); }, {}});
  }
  std::vector<std::unique_ptr<timer>> timers;
  for (const contender& c : field) {
    timers.push_back(std::make_unique<timer>(stopwatch::device, c, 1));
  }
  for (int round = 0; round < options().rounds; ++round) {
    for (auto& t : timers) { t->sample(); }
  }
  std::vector<double> seconds;
  for (auto& t : timers) { seconds.push_back(t->median()); }
  for (auto _ : state) { state.SetIterationTime(seconds[1]); }
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    state.counters[card.runners[i].name] = 100 * seconds[0] / seconds[i];
  }
  state.counters[card.runners[0].name + "_us"] = seconds[0] * 1e6;
}

void add(const race_card& card) {
  register_case(card.name, [card](benchmark::State& state) { run_card(state, card); });
}

runner copy_of(std::size_t bytes) {
  return {"memcpy",
          [bytes] {
            const arena& a = device();
            return cudaMemcpyAsync(a.out, a.in, bytes, cudaMemcpyDeviceToDevice, a.stream);
          },
          false};
}

template <class T>
T* out_of_arena() {
  return reinterpret_cast<T*>(device().out);
}
template <class T>
const T* in_of_arena() {
  return reinterpret_cast<const T*>(device().in);
}

// ---- between lanes ------------------------------------------------------------------------------

template <int Lanes>
struct by_shuffles {
  struct storage {};
  template <class T, int N>
  __device__ static void to_striped(storage&, T (&items)[N]) {
    tt::warp_blocked_to_striped(tt::static_lanes<Lanes>{}, items);
  }
  template <class T, int N>
  __device__ static void to_blocked(storage&, T (&items)[N]) {
    tt::warp_striped_to_blocked(tt::static_lanes<Lanes>{}, items);
  }
};

template <class T, int N>
struct by_storage {
  using exchange = tt::warp_exchange<T, N>;
  using storage = typename exchange::storage;
  __device__ static void to_striped(storage& memory, T (&items)[N]) {
    exchange(memory).blocked_to_striped(tt::static_warp{}, items);
    tt::static_warp::sync();
  }
  __device__ static void to_blocked(storage& memory, T (&items)[N]) {
    exchange(memory).striped_to_blocked(tt::static_warp{}, items);
    tt::static_warp::sync();
  }
};

template <class T, int N, int Lanes>
struct by_cub {
  using exchange = cub::WarpExchange<T, N, Lanes>;
  using storage = typename exchange::TempStorage;
  __device__ static void to_striped(storage& memory, T (&items)[N]) {
    exchange(memory).BlockedToStriped(items, items);
    __syncwarp();
  }
  __device__ static void to_blocked(storage& memory, T (&items)[N]) {
    exchange(memory).StripedToBlocked(items, items);
    __syncwarp();
  }
};

// Reads and writes each item once: `Repeat` exchanges between them.
template <class Exchange, class T, int N, int Lanes, int Repeat, bool ToStriped>
__global__ void __launch_bounds__(block_threads) exchange_kernel(T* out, const T* in) {
  __shared__ typename Exchange::storage storage[block_threads / Lanes];
  const std::size_t warp =
      (std::size_t{blockIdx.x} * block_threads + threadIdx.x) / 32 * 32 * N + threadIdx.x % 32;
  T items[N];
#pragma unroll
  for (int i = 0; i < N; ++i) { items[i] = in[warp + i * 32]; }
#pragma unroll 1
  for (int i = 0; i < Repeat; ++i) {
    if constexpr (ToStriped) {
      Exchange::to_striped(storage[threadIdx.x / Lanes], items);
    } else {
      Exchange::to_blocked(storage[threadIdx.x / Lanes], items);
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) { out[warp + i * 32] = items[i]; }
}

// In memory: 256 MB through one exchange. In registers: few data, many exchanges, in both directions.
template <class T, int N, int Lanes, bool ToStriped = true>
void add_exchange(const std::string& type) {
  constexpr std::size_t block_items = std::size_t{block_threads} * N;
  const std::string shape = std::to_string(Lanes) + "x" + std::to_string(N);
  const auto launch = [](auto exchange, auto repeat, unsigned blocks) {
    using exchange_type = decltype(exchange);
    exchange_kernel<exchange_type, T, N, Lanes, decltype(repeat)::value, ToStriped>
        <<<blocks, block_threads, 0, device().stream>>>(out_of_arena<T>(), in_of_arena<T>());
    return cudaGetLastError();
  };
  const auto field = [&](auto repeat, unsigned blocks) {
    std::vector<runner> runners{
        {"tt", [=] { return launch(by_shuffles<Lanes>{}, repeat, blocks); }}};
    if constexpr (Lanes == 32) {
      runners.push_back({"stored", [=] { return launch(by_storage<T, N>{}, repeat, blocks); }});
    }
    runners.push_back({"cub", [=] { return launch(by_cub<T, N, Lanes>{}, repeat, blocks); }});
    return runners;
  };
  if constexpr (ToStriped) {
    const auto blocks = static_cast<unsigned>((std::size_t{256} << 20) / sizeof(T) / block_items);
    const std::size_t bytes = blocks * block_items * sizeof(T);
    race_card card{"warp-in-memory/" + type + "/" + shape, {copy_of(bytes)}, bytes};
    for (runner& r : field(std::integral_constant<int, 1>{}, blocks)) { card.runners.push_back(r); }
    add(card);
  }
  {
    constexpr unsigned blocks = 132 * 8;
    race_card card{
        (ToStriped ? "warp-in-registers/" : "warp-in-registers-to-blocked/") + type + "/" + shape,
        field(std::integral_constant<int, 256>{}, blocks), blocks * block_items * sizeof(T)};
    std::rotate(card.runners.begin(), card.runners.end() - 1,
                card.runners.end());  // CUB is the measure
    card.runners.push_back(card.runners[0]);
    card.runners.back().name = "cub_again";
    add(card);
  }
}

template <class T, int... N>
void add_exchanges(const std::string& type, std::integer_sequence<int, N...>) {
  (add_exchange<T, N, 32>(type), ...);
  (add_exchange<T, N, 32, false>(type), ...);
}

// ---- structures per thread ----------------------------------------------------------------------

template <class T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) vector {
  T value[N];
};

enum class traffic { to_planes, from_planes, both_structs };

// PerThread structures of K members a thread; planes are the members' own arrays. Plain: each thread
// reads and writes its structures where they lie.
template <traffic Way, bool Plain, class T, int K, int PerThread>
__global__ void __launch_bounds__(block_threads)
    struct_kernel(T* out, const T* in, std::size_t count) {
  struct structure {
    T member[K];
  };
  using plane = vector<T, PerThread>;
  const tt::static_block<block_threads> block;
  const std::size_t first = std::size_t{blockIdx.x} * block_threads * PerThread;
  const std::size_t own = first + threadIdx.x * PerThread;
  structure items[PerThread];
  if constexpr (Way == traffic::from_planes) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const plane row = *reinterpret_cast<const plane*>(in + k * count + own);
#pragma unroll
      for (int j = 0; j < PerThread; ++j) { items[j].member[k] = row.value[j]; }
    }
  } else if constexpr (Plain) {
#pragma unroll
    for (int j = 0; j < PerThread; ++j) {
      items[j] = reinterpret_cast<const structure*>(in)[own + j];
    }
  } else {
    tt::load_structs(block, items, reinterpret_cast<const structure*>(in) + first, count - first);
  }
  if constexpr (Way == traffic::to_planes) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      plane row;
#pragma unroll
      for (int j = 0; j < PerThread; ++j) { row.value[j] = items[j].member[k]; }
      *reinterpret_cast<plane*>(out + k * count + own) = row;
    }
  } else if constexpr (Plain) {
#pragma unroll
    for (int j = 0; j < PerThread; ++j) { reinterpret_cast<structure*>(out)[own + j] = items[j]; }
  } else {
    tt::store_structs(block, reinterpret_cast<structure*>(out) + first, count - first, items);
  }
}

template <traffic Way, class T, int K, int PerThread>
runner struct_runner(bool plain, std::size_t count) {
  const auto blocks = static_cast<unsigned>(count / (block_threads * PerThread));
  return {(plain ? "plain_" : "tt_") + std::to_string(PerThread), [=] {
            (plain ? struct_kernel<Way, true, T, K, PerThread>
                   : struct_kernel<Way, false, T, K,
                                   PerThread>)<<<blocks, block_threads, 0, device().stream>>>(
                out_of_arena<T>(), in_of_arena<T>(), count);
            return cudaGetLastError();
          }};
}

template <traffic Way, class T, int K, int Most>
void add_struct(const std::string& way, const std::string& type) {
  constexpr std::size_t step = std::size_t{block_threads} * Most;
  const std::size_t count = (std::size_t{1} << 30) / (sizeof(T) * K) / step * step;
  const std::size_t bytes = count * sizeof(T) * K;
  add({"structs-" + way + "/" + type + "/" + std::to_string(K),
       {copy_of(bytes), struct_runner<Way, T, K, 1>(false, count),
        struct_runner<Way, T, K, Most>(false, count), struct_runner<Way, T, K, Most>(true, count),
        struct_runner<Way, T, K, 1>(true, count)},
       bytes});
}

template <class T, int Most, int... K>
void add_structs(const std::string& type, std::integer_sequence<int, K...>) {
  (add_struct<traffic::to_planes, T, K, Most>("to-planes", type), ...);
  (add_struct<traffic::from_planes, T, K, Most>("from-planes", type), ...);
  (add_struct<traffic::both_structs, T, K, Most>("copy", type), ...);
}

// ---- the block primitive ------------------------------------------------------------------------

template <class T, int TileDim, int BlockRows, bool InRegisters>
__global__ void __launch_bounds__(TileDim* BlockRows)
    block_kernel(tt::matrix_view<T> out, tt::matrix_view<const T> in) {
  using block_transpose = tt::block_transpose<T, TileDim, BlockRows>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  // Blocks go down the columns of the input: neighbours write neighbouring memory.
  const std::size_t row = std::size_t{blockIdx.x} * TileDim;
  const std::size_t col = std::size_t{blockIdx.y} * TileDim;
  if constexpr (InRegisters) {
    T items[block_transpose::items_per_thread];
    transposer.load(block, items, in, row, col);
    transposer.write(block, items);
    block.sync();
    transposer.read(block, items);
    transposer.store(block, out, col, row, items);
  } else {
    transposer.load(block, in, row, col);
    block.sync();
    transposer.store(block, out, col, row);
  }
}

template <class T, int TileDim, int BlockRows, bool InRegisters = false>
runner block_runner(std::size_t n, const std::string& name) {
  const auto tiles = static_cast<unsigned>((n + TileDim - 1) / TileDim);
  return {name, [=] {
            block_kernel<T, TileDim, BlockRows, InRegisters>
                <<<dim3(tiles, tiles), TileDim * BlockRows, 0, device().stream>>>(
                    {out_of_arena<T>(), n, n, n}, {in_of_arena<T>(), n, n, n});
            return cudaGetLastError();
          }};
}

template <class T>
void add_blocks(const std::string& type, std::size_t n) {
  add({"block/" + type + "/" + std::to_string(n) + "x" + std::to_string(n),
       {{"tuned",
         [=] { return tt::transpose(out_of_arena<T>(), in_of_arena<T>(), n, n, device().stream); }},
        block_runner<T, 32, 8>(n, "tile_32x8"),
        block_runner<T, 64, 4>(n, "tile_64x4"),
        block_runner<T, 64, 8>(n, "tile_64x8"),
        block_runner<T, 64, 16>(n, "tile_64x16"),
        block_runner<T, 64, 4, true>(n, "tile_64x4_registers"),
        block_runner<T, 64, 8, true>(n, "tile_64x8_registers"),
        copy_of(n * n * sizeof(T)),
        {"trusted",
         [=] {
           return tt::transpose(out_of_arena<T>(), in_of_arena<T>(), n, n, device().stream);
         }}},
       n * n * sizeof(T)});
}

void register_cases() {
  add_exchanges<float>(
      "4-byte", std::integer_sequence<int, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32>{});
  add_exchanges<unsigned short>("2-byte", std::integer_sequence<int, 2, 3, 4, 7, 8, 16, 31, 32>{});
  add_exchanges<unsigned char>("1-byte", std::integer_sequence<int, 2, 3, 4, 7, 8, 16, 31, 32>{});
  add_exchanges<double>("8-byte", std::integer_sequence<int, 3, 4, 8, 16>{});
  add_exchange<float, 8, 8>("4-byte");
  add_exchange<unsigned short, 8, 8>("2-byte");
  add_structs<float, 2>("4-byte", std::integer_sequence<int, 2, 3, 4, 5, 7, 8, 16>{});
  add_structs<float, 4>("4-byte-by-4", std::integer_sequence<int, 2, 3, 4, 7>{});
  add_structs<unsigned short, 8>("2-byte", std::integer_sequence<int, 3>{});
  add_structs<unsigned char, 16>("1-byte", std::integer_sequence<int, 3, 4>{});
  add_blocks<float>("4-byte", 16384);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_cases); }
