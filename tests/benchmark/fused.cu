// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Speed of the fused calls beside cudaMemcpyAsync of the bytes that each of them moves: conversions,
// accumulation into an output that is read first, two outputs from one read. Float and double
// accumulation also beside cublas<t>geam, which has that form. All of them beside a kernel that reads and writes
// as many bytes of each matrix in their order, because mixes of reads and writes cost other than a copy.

#include <cuda_runtime.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string>
#include <tiletranspose/transpose.cuh>
#include <type_traits>
#include <vector>

#include "fused.cuh"
#include "fused_forms.cuh"
#include "harness.cuh"
#include "peers.cuh"

namespace bench {
namespace {

// ---- the same bytes in order --------------------------------------------------------------------

// What a call of `Form` reads and writes, whose inputs and outputs take In and Out bytes an element: words of 16 bytes
// in that proportion, about eight a thread, whose loads all come first.
template <form Form, int In, int Out>
struct streams {
  static constexpr int divisor = std::gcd(In, Out);
  static constexpr int rounds = std::max(8 * divisor / (In + Out), 1);
  static constexpr int in_words = In / divisor * rounds;
  static constexpr int out_words = Out / divisor * rounds;
  static constexpr int most_words = std::max(in_words, out_words);
  static constexpr int threads = 256;
  static constexpr std::size_t in_bytes = in_words * threads * sizeof(uint4);  // of a block
};

template <form Form, int In, int Out>
__global__ void __launch_bounds__(streams<Form, In, Out>::threads)
    move_in_order(const uint4* in, uint4* out, uint4* copy) {
  using shape = streams<Form, In, Out>;
  const auto place = [](int words, int i) {
    return (std::size_t{blockIdx.x} * words + i) * shape::threads + threadIdx.x;
  };
  uint4 loaded[shape::in_words];
  uint4 results[shape::out_words] = {};
#pragma unroll
  for (int i = 0; i < shape::in_words; ++i) { loaded[i] = in[place(shape::in_words, i)]; }
  if constexpr (Form == form::accumulate) {
#pragma unroll
    for (int i = 0; i < shape::out_words; ++i) { results[i] = out[place(shape::out_words, i)]; }
  }
  const auto add = [](uint4& to, const uint4& from) {
    to.x += from.x, to.y += from.y, to.z += from.z, to.w += from.w;
  };
#pragma unroll
  for (int i = 0; i < shape::most_words; ++i) {
    add(results[i % shape::out_words], loaded[i % shape::in_words]);
  }
#pragma unroll
  for (int i = 0; i < shape::out_words; ++i) {
    const std::size_t at = place(shape::out_words, i);
    out[at] = results[i];
    if constexpr (Form == form::dual) { copy[at] = results[i]; }
  }
}

// Leaves out what is less than a block.
template <form Form, class T, class U>
cudaError_t move_streams(U* out, U* copy, const T* in, std::size_t elements) {
  constexpr int in_bytes = sizeof(T), out_bytes = sizeof(U);
  using shape = streams<Form, in_bytes, out_bytes>;
  move_in_order<Form, in_bytes, out_bytes>
      <<<static_cast<unsigned>(elements * sizeof(T) / shape::in_bytes), shape::threads, 0,
         device().stream>>>(reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out),
                            reinterpret_cast<uint4*>(copy));
  return cudaGetLastError();
}

// ---- cases --------------------------------------------------------------------------------------

// The output starts as random words; the copy lies behind it in the same buffer.
template <form Form, class T, class U, class Op>
void run_case(benchmark::State& state, const goal& row, const std::string& name, const shape& s,
              Op op) {
  const arena& a = device();
  const cudaStream_t stream = a.stream;
  const std::size_t out_bytes = s.elements() * sizeof(U);
  auto* const out = reinterpret_cast<U*>(a.out);
  auto* const copy = reinterpret_cast<U*>(a.out + (out_bytes + 255) / 256 * 256);
  const auto* const in = reinterpret_cast<const T*>(a.in);
  const std::size_t moved =
      s.elements() * (sizeof(T) + (Form == form::transform ? 1 : 2) * sizeof(U));

  const auto ours = [=](std::size_t) {
    if constexpr (Form == form::transform) {
      return tt::transform_transpose(out, in, s.nx, s.ny, op, stream);
    } else if constexpr (Form == form::accumulate) {
      return tt::accumulate_transpose(out, in, s.nx, s.ny, op, stream);
    } else {
      return tt::transform_transpose_dual(copy, out, in, s.nx, s.ny, op, stream);
    }
  };
  const auto verify_once = [&](auto&& call) {
    const auto written =
        reinterpret_cast<unsigned char*>(Form == form::dual ? copy : out) + out_bytes;
    must(cudaMemsetAsync(a.out, 0xFF, static_cast<std::size_t>(written - a.out), stream),
         "poisoning the output");
    if (Form == form::accumulate) {
      fill_random<<<4096, 256, 0, stream>>>(reinterpret_cast<std::uint32_t*>(out),
                                            (out_bytes + 3) / 4);
    }
    must(call(0), "call");
    verify_fused<Form, T>(out, copy, s, op);
  };

  std::vector<contender> field;
  field.push_back({contender::reference,
                   [=](std::size_t) {
                     return cudaMemcpyAsync(a.out, a.in, moved / 2, cudaMemcpyDeviceToDevice,
                                            stream);
                   },
                   {}});
  field.push_back({contender::ours, ours, {}});
  verify_once(ours);
  if constexpr (Form == form::accumulate && std::is_same_v<T, U> && has_geam<T> &&
                !std::is_same_v<T, cuDoubleComplex>) {
    field.push_back({contender::geam,
                     [=](std::size_t) { return geam(out, in, s, update::alpha, update::beta); },
                     {}});
  }
  field.push_back({contender::streams,
                   [=](std::size_t) { return move_streams<Form>(out, copy, in, s.elements()); },
                   {}});
  const result r{row, name, static_cast<double>(moved), race(stopwatch::device, field, 1)};
  publish(state, r);
}

template <form Form, class T, class U, class Op>
void add(const goal& row, const std::string& type, std::initializer_list<shape> shapes, Op op) {
  for (const shape& given : shapes) {
    const shape s = completed(given);
    const std::size_t out_bytes = s.elements() * sizeof(U);
    if (std::max(s.elements() * sizeof(T), Form == form::dual ? 2 * out_bytes + 256 : out_bytes) >
        device().bytes) {
      ++outcome().left_out;
      continue;
    }
    const std::string name = std::string{row.family} + "/" + type + "/" + std::to_string(s.nx) +
                             "x" + std::to_string(s.ny);
    register_case(name,
                  [=](benchmark::State& state) { run_case<Form, T, U>(state, row, name, s, op); });
  }
}

}  // namespace

void register_fused_cases() {
  using byte = unsigned char;
  using fp8 = __nv_fp8_e4m3;
  using bfloat16 = __nv_bfloat16;
  constexpr form transform = form::transform;
  constexpr form accumulate = form::accumulate;
  constexpr form dual = form::dual;
  const shape even{16384, 16384};
  const shape wide{32768, 32768};
  const shape odd{16381, 16411};
  const shape round{16000, 16000};  // rows that are no power of two apart

  const goal op{"transform", "fused conversion or function, bytes moved", 93};
  add<transform, float, __half>(op, "float-to-half", {even, odd}, convert<__half>{});
  add<transform, float, bfloat16>(op, "float-to-bfloat16", {even, odd}, convert<bfloat16>{});
  add<transform, float, fp8>(op, "float-to-fp8", {even, odd}, convert<fp8>{});
  add<transform, __half, fp8>(op, "half-to-fp8", {even, odd}, convert<fp8>{});
  add<transform, __half, float>(op, "half-to-float", {even, odd}, convert<float>{});
  add<transform, double, float>(op, "double-to-float", {even, odd}, convert<float>{});
  add<transform, byte, float>(op, "byte-to-float", {even, odd}, convert<float>{});
  add<transform, float, float>(op, "float-scaled", {even, odd}, triple{});
  add<transform, __half, __half>(op, "half-scaled", {even, wide, odd}, triple{});
  add<transform, byte, byte>(op, "byte-scaled", {even, wide, odd}, triple{});
  add<transform, cuFloatComplex, cuFloatComplex>(op, "complex-float-conjugate", {even, odd},
                                                 conjugate{});
  add<transform, cuDoubleComplex, cuDoubleComplex>(
      op, "complex-double-conjugate", {shape{8192, 16384}, shape{8191, 16381}}, conjugate{});
  add<transform, pixel, byte>(op, "3-byte-to-1-byte", {even, odd}, to_grey{});
  add<transform, pixel, pixel>(op, "3-byte-to-3-byte", {even, odd}, swap_ends{});
  add<transform, pixel, colours>(op, "3-byte-to-12-byte", {even, odd}, to_colours{});
  add<transform, colours, pixel>(op, "12-byte-to-3-byte", {even, odd}, from_colours{});

  const goal sum{"accumulate", "fused accumulation, bytes moved", 93};
  add<accumulate, float, float>(sum, "float", {even, odd}, update{});
  add<accumulate, __half, float>(sum, "half-to-float", {even, odd}, update{});
  add<accumulate, __half, __half>(sum, "half", {even, odd}, update{});
  add<accumulate, double, double>(sum, "double", {even, odd}, update{});
  add<accumulate, byte, byte>(sum, "byte", {even, odd}, update{});
  add<accumulate, cuDoubleComplex, cuDoubleComplex>(
      sum, "complex-double", {shape{8192, 16384}, shape{8191, 16381}}, update{});
  add<accumulate, pixel, pixel>(sum, "3-byte", {even, odd}, average{});

  const goal both{"dual", "fused conversion to copy and transpose, bytes moved", 93};
  add<dual, float, __half>(both, "float-to-half", {even, round, odd}, convert<__half>{});
  add<dual, float, fp8>(both, "float-to-fp8", {even, odd}, convert<fp8>{});
  add<dual, __half, fp8>(both, "half-to-fp8", {even, odd}, convert<fp8>{});
  add<dual, float, float>(both, "float", {even, round, odd}, triple{});
}

}  // namespace bench
