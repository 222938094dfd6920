// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Dynamic shared memory carved inside of kernels, and the launches that ask for it.
//
// Tests tagged [provokes] make a CUDA call or a kernel fail on purpose.

#undef NDEBUG  // a carve that does not fit is stopped in debug builds

#include <sys/wait.h>

#include <cuda/barrier>

#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile_io.cuh>

#include <array>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "support.cuh"

using namespace tt_test;

namespace {

constexpr unsigned threads = 96;

// Where a part lies, what it holds, as the device sees it.
struct part_report {
  unsigned long long address;
  unsigned long long bytes;
  unsigned long long wrong;  // bytes that another part's writes changed
};

__device__ unsigned char pattern(unsigned part, unsigned long long i) {
  return static_cast<unsigned char>(37 * (part + 1) + 11 * i);
}

template <class Parts>
__device__ void write_and_read(const Parts& parts, part_report* reports) {
  unsigned index = 0;
  for (const auto& part : parts) {
    for (unsigned long long i = threadIdx.x; i < part.bytes; i += threads) {
      part.first[i] = pattern(index, i);
    }
    ++index;
  }
  __syncthreads();
  index = 0;
  for (const auto& part : parts) {
    unsigned long long wrong = 0;
    for (unsigned long long i = threadIdx.x; i < part.bytes; i += threads) {
      wrong += part.first[i] != pattern(index, i);
    }
    atomicAdd(&reports[index].wrong, wrong);
    if (threadIdx.x == 0) {
      reports[index].address = __cvta_generic_to_shared(part.first);
      reports[index].bytes = part.bytes;
    }
    ++index;
  }
}

struct span {
  unsigned char* first;
  unsigned long long bytes;
};

template <class T>
__device__ span span_of(T* first, unsigned long long length) {
  return {reinterpret_cast<unsigned char*>(first), length * sizeof(T)};
}

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 16, 16, 1>>;
using barrier_type = cuda::barrier<cuda::thread_scope_block>;

template <class Smem>
__global__ void report_parts(Smem smem, part_report* reports, unsigned* launch_bytes) {
  __shared__ unsigned char shift[16];  // keeps dynamic memory off the larger multiples
  shift[threadIdx.x % 16] = 0;
  auto [ints, bytes, triples, aligned, tiles, barrier] = smem.carve(tt::dynamic_smem());
  static_assert(std::is_same_v<decltype(ints), int*>);
  static_assert(std::is_same_v<decltype(barrier), barrier_type*>);
  const span parts[] = {span_of(ints, smem.template part<0>().length()),
                        span_of(bytes, smem.template part<1>().length()),
                        span_of(triples, smem.template part<2>().length()),
                        span_of(aligned, smem.template part<3>().length()),
                        span_of(tiles[0].address(0, 0), sizeof(tile_type::storage)),
                        span_of(tiles[1].address(0, 0), sizeof(tile_type::storage)),
                        span_of(barrier, 2)};
  write_and_read(parts, reports);
  if (threadIdx.x == 0) { *launch_bytes = static_cast<unsigned>(tt::dynamic_smem().bytes); }
}

constexpr unsigned reported = 7;

template <class Smem>
void check_parts(const Smem& smem, const std::array<unsigned long long, reported>& alignments) {
  const device_allocation reports{reported * sizeof(part_report)};
  const device_allocation launch_bytes{sizeof(unsigned)};
  check_cuda(cudaMemset(reports.data(), 0, reported * sizeof(part_report)), "cudaMemset");
  report_parts<<<1, threads, smem.bytes()>>>(smem, reinterpret_cast<part_report*>(reports.data()),
                                             reinterpret_cast<unsigned*>(launch_bytes.data()));
  REQUIRE(cudaGetLastError() == cudaSuccess);
  const byte_vector raw = download(reports.data(), reported * sizeof(part_report));
  std::array<part_report, reported> found;
  std::memcpy(&found, raw.data(), sizeof found);
  unsigned given = 0;
  std::memcpy(&given, download(launch_bytes.data(), sizeof given).data(), sizeof given);
  CHECK(given == smem.bytes());
  for (unsigned i = 0; i < reported; ++i) {
    INFO("part " << i);
    CHECK(found[i].wrong == 0);
    CHECK(found[i].address % alignments[i] == 0);
    if (i > 0) CHECK(found[i].address >= found[i - 1].address + found[i - 1].bytes);
  }
  CHECK(found[reported - 1].address + found[reported - 1].bytes - found[0].address <= smem.bytes());
}

// One name, two types: what `extern __shared__ T memory[]` does not survive.
template <class T>
__global__ void reverse_block(T* data) {
  const tt::smem_layout smem{tt::smem_array<T>(blockDim.x)};
  auto [buffer] = smem.carve(tt::dynamic_smem());
  buffer[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

template <class T>
void check_reverse_block() {
  std::vector<T> values(threads);
  for (unsigned i = 0; i < threads; ++i) values[i] = static_cast<T>(i);
  byte_vector raw(threads * sizeof(T));
  std::memcpy(raw.data(), values.data(), raw.size());
  const device_allocation data{raw.size()};
  upload(data.data(), raw);
  const tt::smem_layout smem{tt::smem_array<T>(threads)};
  reverse_block<<<1, threads, smem.bytes()>>>(reinterpret_cast<T*>(data.data()));
  REQUIRE(cudaGetLastError() == cudaSuccess);
  std::reverse(values.begin(), values.end());
  std::memcpy(raw.data(), values.data(), raw.size());
  CHECK(download(data.data(), raw.size()) == raw);
}

template <int>
__global__ void take_last_byte(tt::smem_layout<tt::smem_array<unsigned char>> smem,
                               unsigned char* out) {
  __shared__ unsigned char fixed[1000];
  auto [bytes] = smem.carve(tt::dynamic_smem());
  const auto last = smem.part<0>().length() - 1;
  fixed[threadIdx.x] = 1;
  bytes[last] = 41;
  __syncthreads();
  *out = static_cast<unsigned char>(bytes[last] + fixed[0]);
}

template <class Kernel>
cudaError_t launch_last_byte(Kernel* kernel, std::size_t bytes, const device_allocation& out) {
  kernel<<<1, 1, bytes>>>(tt::smem_layout{tt::smem_array<unsigned char>(bytes)},
                          reinterpret_cast<unsigned char*>(out.data()));
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

int most_dynamic_bytes() {
  int device = 0;
  int most = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  return most;
}

constexpr std::size_t without_asking = 48 * 1024;

}  // namespace

TEST_CASE("smem: parts are aligned, in order and their own", "[smem][quick]") {
  require_device();
  random_source random;
  for (int round = 0; round < 8; ++round) {
    INFO("--rng-seed " << Catch::getSeed());
    const auto ints = tt::smem_array<int>(random.between(0, 200));
    const auto chars = tt::smem_array<char>(random.between(0, 500));
    const auto triples = tt::smem_array<bytes<3>>(random.between(0, 100));
    const auto doubles = tt::smem_array<double>(random.between(1, 300));
    const auto tiles = tt::smem_tiles<tile_type, 2>();
    const auto barriers = tt::smem_barrier<barrier_type, 2>();
    check_parts(tt::smem_layout{ints, chars, triples, doubles, tiles, barriers},
                {4, 1, 1, 8, 16, 16, 8});
    check_parts(tt::smem_layout{ints.aligned<32>(), chars, triples, doubles.aligned<128>(),
                                tiles.aligned<1024>(), barriers},
                {32, 1, 1, 128, 1024, 1024, 8});
    check_parts(tt::smem_layout{ints.aligned<64>(), chars.aligned<512>(), triples.aligned<2>(),
                                doubles, tiles.aligned<128>(), barriers.aligned<256>()},
                {64, 512, 2, 8, 128, 128, 256});
  }
}

TEST_CASE("smem: kernels of different types share the symbol", "[smem][quick]") {
  require_device();
  check_reverse_block<char>();
  check_reverse_block<float>();
  check_reverse_block<double>();
}

TEST_CASE("smem: more than 48 KB, once allowed", "[smem][quick][elsewhere]") {
  require_device();
  const device_allocation out{1};
  const auto kernel = take_last_byte<0>;
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const auto most = static_cast<std::size_t>(most_dynamic_bytes()) - attributes.sharedSizeBytes;
  if (most <= without_asking) SKIP("the device has no more than 48 KB for a block");
  for (const std::size_t bytes : {std::size_t{1}, without_asking, most}) {
    INFO(bytes << " bytes");
    REQUIRE(tt::allow_dynamic_smem(kernel, bytes) == cudaSuccess);
    REQUIRE(launch_last_byte(kernel, bytes, out) == cudaSuccess);
    CHECK(download(out.data(), 1)[0] == std::byte{42});
  }
  // A smaller wish does not take back what was allowed.
  REQUIRE(tt::allow_dynamic_smem(kernel, 100) == cudaSuccess);
  CHECK(launch_last_byte(kernel, most, out) == cudaSuccess);
}

TEST_CASE("smem: what the device does not have is refused and leaves nothing behind",
          "[smem][quick]") {
  require_device();
  const auto kernel = take_last_byte<1>;
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const auto most = static_cast<std::size_t>(most_dynamic_bytes()) - attributes.sharedSizeBytes;
  CHECK(tt::allow_dynamic_smem(kernel, most + 1) == cudaErrorNotSupported);
  CHECK(tt::allow_dynamic_smem(kernel, std::size_t{1} << 30) == cudaErrorNotSupported);
  const tt::smem_layout overflowing{tt::smem_array<double>((std::size_t{1} << 61) + 1)};
  CHECK(tt::allow_dynamic_smem(kernel, overflowing.bytes()) == cudaErrorInvalidValue);
  CHECK(tt::allow_dynamic_smem(static_cast<void (*)(int)>(nullptr), 1) == cudaErrorInvalidValue);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  CHECK(static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes) <= without_asking);
}

TEST_CASE("smem: an error of an earlier call stays pending", "[smem][provokes][elsewhere]") {
  require_device();
  const auto most = static_cast<std::size_t>(most_dynamic_bytes());
  if (most <= without_asking) { SKIP("the device has no more than every kernel may ask for"); }
  const auto kernel = take_last_byte<4>;
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const std::size_t bytes = most - attributes.sharedSizeBytes;
  const cudaError_t earlier = cudaSetDevice(-1);
  REQUIRE(earlier != cudaSuccess);
  CHECK(tt::allow_dynamic_smem(kernel, bytes) == cudaSuccess);
  CHECK(cudaGetLastError() == earlier);
  const device_allocation out{1};
  CHECK(launch_last_byte(kernel, bytes, out) == cudaSuccess);
}

TEST_CASE("smem: a launch with an overflowing length fails", "[smem][provokes]") {
  require_device();
  const device_allocation out{1};
  const auto kernel = take_last_byte<2>;
  const auto launch = [&](const auto& smem) {
    kernel<<<1, 1, smem.bytes()>>>(tt::smem_layout{tt::smem_array<unsigned char>(1)},
                                   reinterpret_cast<unsigned char*>(out.data()));
    return cudaGetLastError();
  };
  CHECK(launch(tt::smem_layout{tt::smem_array<double>((std::size_t{1} << 61) + 1)}) ==
        cudaErrorInvalidValue);
  CHECK(launch(tt::smem_layout{tt::smem_array<int>((std::size_t{1} << 30) + 1)}) ==
        cudaErrorInvalidValue);
  CHECK(launch(tt::smem_layout{tt::smem_array<int>(static_cast<std::size_t>(-1))}) ==
        cudaErrorInvalidValue);
  CHECK(launch(tt::smem_layout{tt::smem_array<char>(without_asking + 1)}) == cudaErrorInvalidValue);
  CHECK(launch(tt::smem_layout{tt::smem_array<char>(1)}) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// What the next test runs in a process of its own, because a stopped kernel takes the context along.
TEST_CASE("smem: child that carves too much", "[.child]") {
  require_device();
  const device_allocation out{1};
  take_last_byte<3><<<1, 1, 64>>>(tt::smem_layout{tt::smem_array<unsigned char>(65)},
                                  reinterpret_cast<unsigned char*>(out.data()));
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("smem: a carve that does not fit stops a debug build with a message",
          "[smem][provokes]") {
  require_device();
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> child{
      popen("\"$(readlink /proc/$PPID/exe)\" 'smem: child that carves too much' 2>&1", "r"),
      pclose};
  REQUIRE(child != nullptr);
  std::string said;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, child.get()) != nullptr) said += buffer;
  const int status = pclose(child.release());
  INFO(said);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) != 0);
  CHECK(said.find("tt: smem_layout::carve needs more dynamic shared memory") != said.npos);
  CHECK(said.find("cudaErrorAssert") != said.npos);
}
