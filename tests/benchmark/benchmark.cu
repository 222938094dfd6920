// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Speed of every 2-D transpose beside cudaMemcpyAsync of the same bytes, the textbook kernel and
// cublas<t>geam, all in one run. Cases are named family/type/shape; shapes are columns x rows of
// the input, with the batch in front. program.cuh says which options there are.

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <tiletranspose/transpose.cuh>
#include <type_traits>
#include <utility>
#include <vector>

#include "fused.cuh"
#include "harness.cuh"
#include "peers.cuh"
#include "program.cuh"

namespace {

using namespace bench;

// ---- what is measured ---------------------------------------------------------------------------

// `factor` is what geam multiplies by to do the same; a change of type is beyond it.
struct identity {
  static constexpr double factor = 1;
  template <class T>
  __device__ T operator()(T value) const {
    return value;
  }
};

// The overload that a user with this shape would call.
struct tuned {
  template <class T>
  cudaError_t operator()(T* out, const T* in, const shape& s, cudaStream_t stream) const {
    if (!s.dense_rows()) {
      return tt::transpose(tt::matrix_view<T>{out, s.nx, s.ny, s.out_stride},
                           tt::matrix_view<const T>{in, s.ny, s.nx, s.in_stride}, stream);
    }
    if (s.batch == 1) { return tt::transpose(out, in, s.nx, s.ny, stream); }
    return s.dense_batch() ? tt::transpose_batched(out, in, s.nx, s.ny, s.batch, stream)
                           : tt::transpose_batched(out, s.out_batch_stride, in, s.in_batch_stride,
                                                   s.nx, s.ny, s.batch, stream);
  }
};
struct explicit_32x8 {
  cudaError_t operator()(float* out, const float* in, const shape& s, cudaStream_t stream) const {
    return tt::transpose<float, 32, 8>(out, in, s.nx, s.ny, stream);
  }
};

// ---- one case -----------------------------------------------------------------------------------

struct tagged_shape {
  shape s;
  std::string tag = "";   // told apart by this where the sizes are the same
  std::size_t slots = 1;  // copies of the problem that calls inside a graph rotate through
};

std::string label(const tagged_shape& c) {
  std::string text = c.s.batch > 1 ? std::to_string(c.s.batch) + "x" : "";
  text += std::to_string(c.s.nx) + "x" + std::to_string(c.s.ny);
  return c.tag.empty() ? text : text + "-" + c.tag;
}

template <class T, class U, class Op, class Form>
std::vector<contender> line_up(stopwatch watch, const shape& s, Op op, Form form) {
  const arena& a = device();
  const cudaStream_t stream = a.stream;
  const auto skip = [s](std::size_t slot) { return slot * s.elements(); };
  const auto in = [=](std::size_t slot) {
    return reinterpret_cast<const T*>(a.in) + s.in_offset + skip(slot);
  };
  const auto out = [=](std::size_t slot) {
    return reinterpret_cast<U*>(a.out) + s.out_offset + skip(slot);
  };
  const auto check = [=](std::size_t slot) { verify<T, U>(s, skip(slot), op); };
  // As many bytes read and as many written as the transpose moves on the average of both sides.
  const std::size_t bytes = s.elements() * (sizeof(T) + sizeof(U)) / 2;

  std::vector<contender> field;
  if (watch == stopwatch::host) {
    field.push_back({contender::reference, [=](std::size_t) { return bare_launch(stream); }, {}});
  } else {
    field.push_back({contender::reference,
                     [=](std::size_t slot) {
                       return cudaMemcpyAsync(a.out + slot * bytes, a.in + slot * bytes, bytes,
                                              cudaMemcpyDeviceToDevice, stream);
                     },
                     {}});
  }
  field.push_back({contender::ours,
                   [=](std::size_t slot) { return form(out(slot), in(slot), s, stream); }, check});
  if (watch == stopwatch::host) { return field; }
  field.push_back({contender::textbook,
                   [=](std::size_t slot) { return textbook(out(slot), in(slot), s, op, stream); },
                   check});
  if constexpr (std::is_same_v<T, U> && has_geam<T>) {
    if (s.batch == 1) {
      field.push_back({contender::geam,
                       [=](std::size_t slot) { return geam(out(slot), in(slot), s, Op::factor); },
                       check});
    }
  }
  return field;
}

template <class T, class U = T, class Op = identity, class Form = tuned>
void add(const goal& row, const std::string& type, std::vector<tagged_shape> cases, Op op = {},
         Form form = {}) {
  for (tagged_shape& c : cases) {
    c.s = completed(c.s);
    const std::string name = std::string{row.family} + "/" + type + "/" + label(c);
    const std::size_t others = (c.slots - 1) * c.s.elements();
    const std::size_t in_bytes = (c.s.in_extent() + others) * sizeof(T);
    const std::size_t out_bytes = (c.s.out_extent() + others) * sizeof(U);
    if (std::max(in_bytes, out_bytes) > device().bytes) {
      ++outcome().left_out;
      continue;
    }
    register_case(name, [=](benchmark::State& state) {
      auto field = line_up<T, U>(row.watch, c.s, op, form);
      verify_all(field, c.slots, name, [&] {
        const arena& a = device();
        must(cudaMemsetAsync(a.out, 0xFF, out_bytes, a.stream), "poisoning the output");
      });
      const double bytes = static_cast<double>(c.s.elements()) * (sizeof(T) + sizeof(U));
      publish(state, {row, name, bytes, race(row.watch, field, c.slots)});
    });
  }
}

// ---- the cases ----------------------------------------------------------------------------------

// k columns, then k rows, of one gibibyte.
template <class T>
std::vector<tagged_shape> skinny(std::initializer_list<std::size_t> widths) {
  constexpr std::size_t elements = gibibyte / sizeof(T);
  std::vector<tagged_shape> cases;
  for (const std::size_t k : widths) { cases.push_back({{k, elements / k}}); }
  for (const std::size_t k : widths) { cases.push_back({{elements / k, k}}); }
  return cases;
}

// A matrix inside a bigger one, on both sides.
tagged_shape inside(std::size_t nx, std::size_t ny, std::size_t in_stride, std::size_t out_stride) {
  shape s{nx, ny};
  s.in_stride = in_stride;
  s.out_stride = out_stride;
  s.in_offset = 7 * in_stride + 5;
  s.out_offset = 3 * out_stride + 9;
  return {s, "inside-" + std::to_string(in_stride) + "-" + std::to_string(out_stride)};
}

// Pointers that many elements after an aligned address.
tagged_shape off(std::size_t nx, std::size_t ny, std::size_t in_offset, std::size_t out_offset) {
  shape s{nx, ny};
  s.in_offset = in_offset;
  s.out_offset = out_offset;
  return {s, "off-" + std::to_string(in_offset) + "-" + std::to_string(out_offset)};
}

tagged_shape batch(std::size_t n, std::size_t nx, std::size_t ny, std::size_t batch_stride = 0) {
  shape s{nx, ny, n};
  s.in_batch_stride = s.out_batch_stride = batch_stride;
  return {s, batch_stride ? "every-" + std::to_string(batch_stride) : ""};
}

tagged_shape square(std::size_t n, std::size_t slots) {
  return {shape{n, n}, slots == 1 ? "one-pair" : "", slots};
}

// About 1 GiB of elements that are aligned to nothing, in rows of an odd number of them.
template <int Bytes>
void add_packed() {
  std::size_t side = 32767;
  while (side * side * Bytes > gibibyte) { side -= 2; }
  add<packed<Bytes>>({"packed", "packed elements of 5 to 45 bytes, odd shape", 0},
                     std::to_string(Bytes) + "-byte", {{{side, side + 8}}});
}

void register_cases() {
  using byte = unsigned char;
  using two_bytes = unsigned short;
  using pixel = uchar3;
  using triplet = float3;
  using complex = double2;

  const goal aligned{"tuned", "tuned 2-D, aligned, 1, 2, 4, 8 bytes", 95};
  add<byte>(aligned, "1-byte", {{{16384, 16384}}, {{32768, 32768}}});
  add<two_bytes>(aligned, "2-byte", {{{16384, 16384}}, {{32768, 32768}}});
  add<float>(aligned, "4-byte", {{{16384, 16384}}, {{32768, 32768}}});
  add<double>(aligned, "8-byte", {{{16384, 16384}}, {{16384, 32768}}});
  const goal aligned_16{"tuned", "tuned 2-D, aligned, 16 bytes", 93};
  add<complex>(aligned_16, "16-byte", {{{8192, 8192}}, {{16384, 16384}}});

  const goal as_written{"explicit", "transpose<float,32,8> as written, aligned", 90};
  add<float>(as_written, "4-byte", {{{16384, 16384}}, {{32768, 32768}}}, identity{},
             explicit_32x8{});
  const goal as_written_odd{"explicit", "transpose<float,32,8> as written, odd", 0};
  add<float>(as_written_odd, "4-byte", {{{16381, 16411}}}, identity{}, explicit_32x8{});

  const goal odd_4_8{"odd", "odd shape, sub-matrix, misaligned: 4 and 8 bytes", 91};
  const goal odd_2{"odd", "odd shape, sub-matrix, misaligned: 2 bytes", 87};
  const goal odd_1{"odd", "odd shape, sub-matrix, misaligned: 1 byte", 82};
  const goal odd_16{"odd", "odd shape: 16 bytes", 0};
  add<float>(odd_4_8, "4-byte",
             {{{16381, 16411}},
              {{16384, 16411}},
              {{16411, 16384}},
              {{1000, 268435}},
              {{268435, 1000}},
              {{8191, 8191}},
              inside(16000, 12000, 16384, 12288),
              inside(15001, 11003, 16387, 12289),
              off(16384, 16384, 1, 1),
              off(16384, 16384, 1, 0),
              off(16384, 16384, 0, 1)});
  add<double>(odd_4_8, "8-byte",
              {{{11587, 11597}}, inside(11001, 9003, 12001, 10001), off(11584, 11584, 1, 1)});
  add<two_bytes>(odd_2, "2-byte",
                 {{{32749, 32771}},
                  {{32768, 32771}},
                  inside(30001, 20003, 32003, 21001),
                  off(32768, 32768, 1, 1)});
  add<byte>(odd_1, "1-byte",
            {{{32749, 32771}},
             {{32768, 32771}},
             inside(30001, 20003, 32003, 21001),
             off(32768, 32768, 1, 1)});
  add<complex>(odd_16, "16-byte", {{{8191, 8193}}});

  // Between "skinny" and square.
  const goal narrow_4_8{"odd", "odd, 65 to 4000 columns or rows: 4 and 8 bytes", 91};
  const goal narrow_2{"odd", "odd, 65 to 4000 columns or rows: 2 bytes", 87};
  const goal narrow_1{"odd", "odd, 65 to 4000 columns or rows: 1 byte", 82};
  add<float>(narrow_4_8, "4-byte",
             {{{65, 4129777}},
              {{68, 3947580}},
              {{127, 2113665}},
              {{300, 894785}},
              {{2000, 134217}},
              {{4000, 67109}},
              {{4129777, 65}},
              {{2113665, 127}}});
  add<double>(narrow_4_8, "8-byte", {{{130, 1032445}}, {{300, 447393}}, {{447393, 300}}});
  add<two_bytes>(
      narrow_2, "2-byte",
      {{{130, 4129777}}, {{264, 2033600}}, {{300, 1789569}}, {{1000, 536871}}, {{536871, 999}}});
  add<byte>(narrow_1, "1-byte",
            {{{130, 8259553}}, {{300, 3579139}}, {{1000, 1073741}}, {{1073741, 999}}});

  const goal struct_12{"struct", "12-byte struct, any shape", 85};
  const goal struct_3{"struct", "3-byte pixels", 0};
  add<triplet>(struct_12, "12-byte",
               {{{9216, 9216}},
                {{9215, 9221}},
                {{3, 29826161}},
                {{17, 5263441}},
                {{33, 2711469}},
                {{2711469, 33}}});
  add<pixel>(struct_3, "3-byte",
             {{{16384, 16384}}, {{16381, 16411}}, {{33, 10845877}}, {{10845877, 33}}});
  add_packed<5>();
  add_packed<8>();
  add_packed<9>();
  add_packed<11>();
  add_packed<17>();
  add_packed<31>();
  add_packed<45>();  // the textbook tile of larger ones is more than 48 KB

  const goal skinny_wide{"skinny", "2 to 64 columns or rows, 4 and 8 bytes", 90};
  const goal skinny_narrow{"skinny", "2 to 64 columns or rows, 1 and 2 bytes", 85};
  add<float>(skinny_wide, "4-byte", skinny<float>({2, 3, 4, 7, 8, 16, 31, 32, 33, 50, 64}));
  add<double>(skinny_wide, "8-byte", skinny<double>({2, 3, 4, 7, 8, 16, 31, 32, 33, 50, 64}));
  add<float>(skinny_wide, "4-byte",  // planes that start anywhere
             {{{4, 67108861}}, {{16, 16777213}}, {{67108861, 4}}, {{16777213, 16}}});
  add<byte>(skinny_narrow, "1-byte", skinny<byte>({3, 4, 7, 16, 20, 33, 48}));
  add<byte>(skinny_narrow, "1-byte", {{{4, 268435453}}, {{268435453, 4}}});
  add<two_bytes>(skinny_narrow, "2-byte", skinny<two_bytes>({3, 4, 16}));

  const goal batches{"batch", "batches of 8 x 8 to 256 x 256", 90};
  add<float>(batches, "4-byte",
             {batch(131072, 32, 32), batch(131072, 33, 33), batch(1048576, 8, 8),
              batch(16384, 100, 100), batch(8192, 128, 128), batch(2048, 256, 256),
              batch(2048, 250, 250), batch(8192, 129, 127), batch(16384, 100, 100, 10016)});
  add<double>(batches, "8-byte", {batch(32768, 50, 50), batch(8192, 100, 100)});
  add<two_bytes>(batches, "2-byte",
                 {batch(131072, 64, 64), batch(131072, 49, 51), batch(8192, 201, 203)});
  add<byte>(batches, "1-byte",
            {batch(262144, 64, 64), batch(65536, 101, 99), batch(8388608, 8, 8),
             batch(1048576, 20, 20), batch(262144, 49, 51), batch(32768, 128, 128),
             batch(16384, 200, 200), batch(8192, 251, 253)});
  const goal images{"batch", "NHWC to NCHW and back, 3 channels, 1 byte", 90};
  add<byte>(images, "1-byte", {batch(4096, 3, 224 * 224), batch(4096, 224 * 224, 3)});

  register_fused_cases();

  // Three pairs of up to 1024 x 1024 stay in a large L2 and three of 2048 x 2048 do not; one pair
  // of those does.
  const goal small{"graph", "64 x 64 to 2048 x 2048 inside a graph, time", 1.2, stopwatch::graph};
  add<float>(small, "4-byte",
             {square(64, 3), square(128, 3), square(256, 3), square(512, 3), square(1024, 3),
              square(2048, 3), square(2048, 1)});

  const goal host{"host", "host cost of a call, time", 1.2, stopwatch::host};
  add<float>(host, "explicit-4-byte", {{{64, 64}}}, identity{}, explicit_32x8{});
  add<float>(host, "4-byte", {{{64, 64}}, {{61, 67}}, {{3, 1000}}, batch(8, 32, 32)});
  add<double>(host, "8-byte", {{{64, 64}}});
  add<byte>(host, "1-byte", {{{256, 256}}, {{255, 257}}});
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_cases); }
