// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Speed of reverse, flips, turns and of everything in place beside cudaMemcpyAsync of the same bytes,
// and beside thrust::reverse_copy and thrust::reverse where those do the same. Cases are named
// family/type/shape; shapes are columns x rows of the input, `off-i-o` says how many elements after
// an aligned address input and output start, `shift-i-o` how many bytes. program.cuh says which options there are.

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/reverse.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>
#include <utility>
#include <vector>

#include "harness.cuh"
#include "program.cuh"

namespace {

using namespace bench;
using tt::symmetry;

// ---- what is measured ---------------------------------------------------------------------------

// A matrix, and where it starts in its buffer: so many elements, and so many bytes.
struct place {
  std::size_t nx, ny;
  std::size_t in_offset = 0, out_offset = 0;
  std::size_t in_shift = 0, out_shift = 0;

  __host__ __device__ std::size_t elements() const { return nx * ny; }
};

std::string label(const place& p) {
  std::string text = std::to_string(p.nx);
  if (p.ny > 1) { text += "x" + std::to_string(p.ny); }
  if (p.in_offset + p.out_offset > 0) {
    text += "-off-" + std::to_string(p.in_offset) + "-" + std::to_string(p.out_offset);
  }
  if (p.in_shift + p.out_shift > 0) {
    text += "-shift-" + std::to_string(p.in_shift) + "-" + std::to_string(p.out_shift);
  }
  return text;
}

// What is left of a dense matrix, and whether in its own memory.
struct work {
  symmetry how;
  bool in_place;
};

// ---- verification -------------------------------------------------------------------------------

// The byte that a buffer was filled with.
__device__ unsigned char random_byte(std::size_t at) {
  return static_cast<unsigned char>(random_word(at / 4) >> (at % 4 * 8));
}

// Recomputes every element from its position alone and compares all its bytes.
template <class T>
__global__ void compare_symmetry(mismatches* bad, const T* out, place p, symmetry how) {
  const auto step = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t cols = tt::transposes(how) ? p.ny : p.nx;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < p.elements(); i += step) {
    std::size_t row = tt::transposes(how) ? i % cols : i / cols;
    std::size_t col = tt::transposes(how) ? i / cols : i % cols;
    if (tt::reverses_rows(how)) { row = p.ny - 1 - row; }
    if (tt::reverses_cols(how)) { col = p.nx - 1 - col; }
    const std::size_t from = p.in_shift + (p.in_offset + row * p.nx + col) * sizeof(T);
    const T got = out[i];
    unsigned char got_bytes[sizeof(T)];
    memcpy(got_bytes, &got, sizeof(T));
    bool same = true;
    for (std::size_t k = 0; k < sizeof(T); ++k) {
      same = same && random_byte(from + k) == got_bytes[k];
    }
    if (!same) {
      atomicAdd(&bad->count, 1ull);
      atomicMin(&bad->first, static_cast<unsigned long long>(i));
    }
  }
}

template <class T>
void verify_symmetry(const place& p, symmetry how) {
  const arena& a = device();
  const mismatches none{0, std::numeric_limits<unsigned long long>::max()};
  mismatches found = none;
  must(cudaMemcpyAsync(a.bad, &none, sizeof none, cudaMemcpyDefault, a.stream), "verification");
  compare_symmetry<T><<<4096, 256, 0, a.stream>>>(
      a.bad, reinterpret_cast<const T*>(a.out + p.out_shift) + p.out_offset, p, how);
  must(cudaGetLastError(), "verification");
  must(cudaMemcpyAsync(&found, a.bad, sizeof found, cudaMemcpyDefault, a.stream), "verification");
  must(cudaStreamSynchronize(a.stream), "verification");
  if (found.count != 0) {
    throw std::runtime_error(std::to_string(found.count) + " of " + std::to_string(p.elements()) +
                             " elements are wrong, first number " + std::to_string(found.first));
  }
}

// ---- one case -----------------------------------------------------------------------------------

template <class T>
using call = std::function<cudaError_t(T* out, const T* in, const place& p, cudaStream_t stream)>;

// Verifies, races and publishes. In place, `out` starts as a copy of the input and `in` is unused.
template <class T>
void run_case(benchmark::State& state, const goal& row, const std::string& name, const place& p,
              const work& w, const call<T>& ours, const call<T>& peer) {
  const arena& a = device();
  T* const out = reinterpret_cast<T*>(a.out + p.out_shift) + p.out_offset;
  const T* const in = reinterpret_cast<const T*>(a.in + p.in_shift) + p.in_offset;
  const std::size_t bytes = p.elements() * sizeof(T);
  const auto check = [=](std::size_t) { verify_symmetry<T>(p, w.how); };
  std::vector<contender> field;
  field.push_back({contender::reference,
                   [=](std::size_t) {
                     return cudaMemcpyAsync(a.out, a.in, bytes, cudaMemcpyDeviceToDevice, a.stream);
                   },
                   {}});
  field.push_back(
      {contender::ours, [=](std::size_t) { return ours(out, in, p, a.stream); }, check});
  if (peer) {
    field.push_back(
        {contender::thrust, [=](std::size_t) { return peer(out, in, p, a.stream); }, check});
  }
  verify_all(field, 1, name, [&] {
    must(w.in_place ? cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, a.stream)
                    : cudaMemsetAsync(out, 0xFF, bytes, a.stream),
         "preparing the output");
  });
  const result r{row, name, 2.0 * static_cast<double>(bytes), race(row.watch, field, 1)};
  publish(state, r);
}

bool fits(const place& p, std::size_t element) {
  const std::size_t extent = p.elements() + std::max(p.in_offset, p.out_offset);
  return extent * element + std::max(p.in_shift, p.out_shift) <= device().bytes;
}

template <class T>
void add(const goal& row, const std::string& type, const std::vector<place>& places, work w,
         call<T> ours, call<T> peer = {}) {
  for (const place& p : places) {
    if (!fits(p, sizeof(T))) {
      ++outcome().left_out;
      continue;
    }
    const std::string name = std::string{row.family} + "/" + type + "/" + label(p);
    register_case(
        name, [=](benchmark::State& state) { run_case<T>(state, row, name, p, w, ours, peer); });
  }
}

// ---- arrays -------------------------------------------------------------------------------------

// Thrust throws where this library returns a status.
template <class Algorithm>
cudaError_t status_of(Algorithm algorithm) {
  try {
    algorithm();
    return cudaSuccess;
  } catch (const std::exception&) { return cudaErrorUnknown; }
}

template <class T>
cudaError_t thrust_reverse_copy(T* out, const T* in, const place& p, cudaStream_t stream) {
  return status_of([&] {
    thrust::reverse_copy(thrust::cuda::par_nosync.on(stream), in, in + p.elements(), out);
  });
}

template <class T>
cudaError_t thrust_reverse(T* out, const T*, const place& p, cudaStream_t stream) {
  return status_of(
      [&] { thrust::reverse(thrust::cuda::par_nosync.on(stream), out, out + p.elements()); });
}

template <class T>
void add_reverses(const std::string& type) {
  const goal out_of_place{"reverse", "reverse, any element, length and offset", 95};
  const goal in_place{"reverse-inplace", "reverse in place", 93};
  const std::size_t n = gibibyte / sizeof(T);
  add<T>(
      out_of_place, type, {{n, 1}, {n - 13, 1, 1, 0}, {n - 13, 1, 0, 1}, {n - 13, 1, 1, 3}},
      {symmetry::flip_lr, false},
      [](T* out, const T* in, const place& p, cudaStream_t stream) {
        return tt::reverse(out, in, p.nx, stream);
      },
      thrust_reverse_copy<T>);
  add<T>(
      in_place, type, {{n, 1}, {n - 13, 1, 1, 1}}, {symmetry::flip_lr, true},
      [](T* out, const T*, const place& p, cudaStream_t stream) {
        return tt::reverse_inplace(out, p.nx, stream);
      },
      thrust_reverse<T>);
}

template <int Bytes>
void add_packed_reverses(const std::string& type) {
  using T = packed<Bytes>;
  const std::size_t n = gibibyte / sizeof(T);
  add<T>({"reverse", "reverse, any element, length and offset", 95}, type,
         {{n, 1}, {n - 13, 1, 0, 0, 1, 1}, {n - 13, 1, 0, 0, 2, 0}}, {symmetry::flip_lr, false},
         [](T* out, const T* in, const place& p, cudaStream_t stream) {
           return tt::reverse(out, in, p.nx, stream);
         });
  add<T>({"reverse-inplace", "reverse in place", 93}, type, {{n - 13, 1, 0, 0, 1, 1}},
         {symmetry::flip_lr, true}, [](T* out, const T*, const place& p, cudaStream_t stream) {
           return tt::reverse_inplace(out, p.nx, stream);
         });
}

// ---- matrices -----------------------------------------------------------------------------------

template <class T, symmetry How>
void add_symmetry(const goal& row, const std::string& type, const std::vector<place>& places) {
  const call<T> ours = [](T* out, const T* in, const place& p, cudaStream_t stream) {
    const bool turned = tt::transposes(How);
    const std::size_t rows = turned ? p.nx : p.ny;
    const std::size_t cols = turned ? p.ny : p.nx;
    return tt::reorient(tt::matrix_view<T>{out, rows, cols, cols},
                        tt::matrix_view<const T>{in, p.ny, p.nx, p.nx}, How, stream);
  };
  // A half turn of a dense matrix reverses its elements.
  const call<T> peer = How == symmetry::rotate_180 ? call<T>{thrust_reverse_copy<T>} : call<T>{};
  add<T>(row, type, places, {How, false}, ours, peer);
}

template <class T>
void add_flips(const std::string& type, const std::vector<place>& places) {
  const char* const summary = "flips and half turns";
  add_symmetry<T, symmetry::flip_lr>({"flip_lr", summary, 95}, type, places);
  add_symmetry<T, symmetry::flip_ud>({"flip_ud", summary, 95}, type, places);
  add_symmetry<T, symmetry::rotate_180>({"rotate_180", summary, 95}, type, places);
}

// The goals are those of the transpose, which runs beside them.
template <class T>
void add_turns(const std::string& type, const char* summary, double floor,
               const std::vector<place>& places) {
  add_symmetry<T, symmetry::transpose>({"transpose", "the same matrices transposed", 0}, type,
                                       places);
  add_symmetry<T, symmetry::rotate_90>({"rotate_90", summary, floor}, type, places);
  add_symmetry<T, symmetry::rotate_270>({"rotate_270", summary, floor}, type, places);
  add_symmetry<T, symmetry::anti_transpose>({"anti_transpose", summary, floor}, type, places);
}

template <class T, symmetry How>
void add_inplace(const goal& row, const std::string& type, const std::vector<place>& places) {
  add<T>(row, type, places, {How, true}, [](T* out, const T*, const place& p, cudaStream_t stream) {
    return tt::reorient_inplace(tt::matrix_view<T>{out, p.ny, p.nx, p.nx}, How, stream);
  });
}

template <class T>
void add_inplace_flips(const std::string& type, const std::vector<place>& places) {
  const char* const summary = "flips and half turns in place";
  add_inplace<T, symmetry::flip_lr>({"flip_lr-inplace", summary, 93}, type, places);
  add_inplace<T, symmetry::flip_ud>({"flip_ud-inplace", summary, 93}, type, places);
  add_inplace<T, symmetry::rotate_180>({"rotate_180-inplace", summary, 93}, type, places);
}

template <class T>
void add_squares(const std::string& type, const std::vector<place>& places) {
  add<T>({"transpose-inplace", "square transpose in place", 90}, type, places,
         {symmetry::transpose, true}, [](T* out, const T*, const place& p, cudaStream_t stream) {
           return tt::transpose_inplace(out, p.nx, p.ny, stream);
         });
}

// ---- rectangles in place ------------------------------------------------------------------------

struct device_deleter {
  void operator()(void* memory) const { cudaFree(memory); }
};

// Scratch that a caller might have; the least and all of it are known when a shape is.
struct amount {
  const char* name;
  std::size_t bytes;
};
constexpr amount least{"least", 0};
constexpr amount megabytes_32{"32-MB", std::size_t{32} << 20};
constexpr amount full{"full", std::numeric_limits<std::size_t>::max()};

template <class T>
void add_rectangles(const std::string& type, const std::vector<place>& places) {
  const goal row{"transpose-scratch", "rectangular transpose in place", 25};
  for (const place& p : places) {
    std::size_t least_bytes = 0;
    must(tt::transpose_inplace(nullptr, least_bytes, static_cast<T*>(nullptr), p.nx, p.ny),
         "asking for the least scratch");
    for (const amount& offered : {least, megabytes_32, full}) {
      const std::size_t bytes =
          std::min(std::max(offered.bytes, least_bytes), p.elements() * sizeof(T));
      if (offered.bytes == megabytes_32.bytes && bytes != offered.bytes) { continue; }
      if (!fits(p, sizeof(T))) {
        ++outcome().left_out;
        continue;
      }
      const std::string name =
          std::string{row.family} + "/" + type + "/" + label(p) + "-" + offered.name;
      register_case(name, [=](benchmark::State& state) {
        void* memory = nullptr;
        must(cudaMalloc(&memory, bytes), "cudaMalloc of the scratch");
        const std::unique_ptr<void, device_deleter> scratch{memory};
        const call<T> ours = [=](T* out, const T*, const place& at, cudaStream_t stream) {
          std::size_t size = bytes;
          return tt::transpose_inplace(memory, size, out, at.nx, at.ny, stream);
        };
        run_case<T>(state, row, name, p, {symmetry::transpose, true}, ours, {});
      });
    }
  }
}

void register_cases() {
  using byte = unsigned char;
  using two_bytes = unsigned short;
  using pixel = uchar3;
  using triplet = float3;
  using complex = double2;

  add_reverses<byte>("1-byte");
  add_reverses<two_bytes>("2-byte");
  add_reverses<pixel>("3-byte");
  add_reverses<float>("4-byte");
  add_reverses<double>("8-byte");
  add_reverses<triplet>("12-byte");
  add_reverses<complex>("16-byte");
  add_packed_reverses<4>("packed-4-byte");
  add_packed_reverses<7>("packed-7-byte");
  add_packed_reverses<12>("packed-12-byte");
  add_packed_reverses<31>("packed-31-byte");
  add_packed_reverses<64>("packed-64-byte");

  add_flips<float>("4-byte", {{16384, 16384}, {16381, 16411}});
  add_flips<byte>("1-byte", {{32768, 32768}, {32749, 32771}});
  add_flips<pixel>("3-byte", {{16384, 16384}, {16381, 16411}});
  add_flips<two_bytes>("2-byte", {{32768, 16384}, {32749, 16411}});
  add_flips<double>("8-byte", {{16384, 8192}, {16381, 8209}});
  add_flips<triplet>("12-byte", {{9216, 9216}, {9215, 9221}});
  add_flips<complex>("16-byte", {{8192, 8192}, {8191, 8193}});
  add_inplace_flips<float>("4-byte", {{16384, 16384}, {16381, 16411}});
  add_inplace_flips<byte>("1-byte", {{32749, 32771}});
  add_inplace_flips<triplet>("12-byte", {{9215, 9221}});

  add_turns<float>("4-byte", "quarter turns and anti-transpose, aligned", 95, {{16384, 16384}});
  add_turns<float>("4-byte", "quarter turns and anti-transpose, odd, 4 bytes", 91,
                   {{16381, 16411}});
  add_turns<byte>("1-byte", "quarter turns and anti-transpose, aligned", 95, {{32768, 32768}});
  add_turns<byte>("1-byte", "quarter turns and anti-transpose, odd, 1 byte", 82, {{32749, 32771}});
  add_turns<two_bytes>("2-byte", "quarter turns and anti-transpose, aligned", 95, {{32768, 32768}});
  add_turns<two_bytes>("2-byte", "quarter turns and anti-transpose, odd, 2 bytes", 87,
                       {{32749, 32771}});
  add_turns<double>("8-byte", "quarter turns and anti-transpose, aligned", 95, {{16384, 16384}});
  add_turns<double>("8-byte", "quarter turns and anti-transpose, odd, 8 bytes", 91,
                    {{11587, 11597}});
  add_turns<triplet>("12-byte", "quarter turns and anti-transpose, 12 bytes", 85,
                     {{9216, 9216}, {9215, 9221}});
  add_turns<complex>("16-byte", "quarter turns and anti-transpose, 16 bytes", 93, {{8192, 8192}});

  add_squares<float>("4-byte", {{16384, 16384}, {16381, 16381}, {16384, 16384, 1, 1}});
  add_squares<double>("8-byte", {{16384, 16384}, {11587, 11587}});
  add_squares<byte>("1-byte", {{16384, 16384}, {32768, 32768}, {32749, 32749}});
  add_squares<two_bytes>("2-byte", {{32768, 32768}, {32749, 32749}});
  add_squares<pixel>("3-byte", {{16384, 16384}, {16381, 16381}});
  add_squares<triplet>("12-byte", {{9216, 9216}, {9215, 9215}});
  add_squares<complex>("16-byte", {{8192, 8192}, {8191, 8191}});
  add_squares<packed<5>>("packed-5-byte", {{14653, 14653}});
  add_squares<packed<7>>("packed-7-byte", {{12379, 12379}});
  add_squares<packed<31>>("packed-31-byte", {{5885, 5885}});

  add_rectangles<float>("4-byte", {{16381, 16411},
                                   {1000, 268435},
                                   {268435, 1000},
                                   {2097143, 127},
                                   {16384, 8192},
                                   {24576, 16384},
                                   {3, 89478485}});
  add_rectangles<double>(
      "8-byte", {{16381, 16411}, {1000, 268435}, {16384, 8192}, {12288, 8192}, {3, 44739242}});
  add_rectangles<byte>("1-byte", {{32749, 32771},
                                  {1000, 1073741},
                                  {1073741, 1000},
                                  {10000, 100100},
                                  {32768, 16384},
                                  {24576, 16384},
                                  {30000, 20000}});
  add_rectangles<two_bytes>("2-byte",
                            {{32749, 32771}, {1000, 536871}, {32768, 16384}, {24576, 16384}});
  add_rectangles<triplet>("12-byte", {{9215, 9221}, {9216, 6144}});
  add_rectangles<pixel>("3-byte", {{16381, 16411}, {18000, 12000}});
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_cases); }
