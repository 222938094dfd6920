// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a call returns when it refuses, has nothing to do, fails to launch, or meets the error of an
// earlier call; and that it works on any stream, thread and device and inside stream capture.
//
// Tests tagged [provokes] make a CUDA call fail on purpose, which memcheck reports as an API error.

#include <array>
#include <set>
#include <thread>
#include <tiletranspose/explain.cuh>

#include "calls.cuh"

using namespace tt_test;

namespace {

struct identity {
  __device__ float operator()(float value) const { return value; }
};

struct widen {
  __device__ double operator()(float value) const { return value; }
};

// Leaves nothing of what the output held.
struct replace {
  __device__ float operator()(float value, float) const { return value; }
};

using tt::symmetry;

const form_list forms{
    {"tuned", symmetry::transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose(out, in, nx, ny, s);
     }},
    {"explicit", symmetry::transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose<float, 32, 8>(out, in, nx, ny, s);
     }},
    {"tuned views", symmetry::transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose(tt::matrix_view<float>{out, nx, ny, ny},
                            tt::matrix_view<const float>{in, ny, nx, nx}, s);
     }},
    {"explicit views", symmetry::transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose<float, 32, 8>(tt::matrix_view<float>{out, nx, ny, ny},
                                          tt::matrix_view<const float>{in, ny, nx, nx}, s);
     }},
    {"contiguous batch", symmetry::transpose, matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose_batched(out, in, nx, ny, matrices, s);
     }},
    {"strided batch", symmetry::transpose, matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose_batched(out, nx * ny, in, nx * ny, nx, ny, matrices, s);
     }},
    {"transform", symmetry::transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transform_transpose(out, in, nx, ny, identity{}, s);
     }},
    {"accumulate", symmetry::transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::accumulate_transpose(out, in, nx, ny, replace{}, s);
     }},
};

// Matrices of this shape, and a batch of so many of them that panels hold each as a whole: these ask for more shared memory
// than a kernel has without being allowed more.
constexpr shape large_matrix{115, 116};
const form_list much_shared_memory{
    {"batch of large matrices", symmetry::transpose, 1000,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose_batched(out, in, nx, ny, 1000, s);
     }}};

// Some memory to point into: on the device where there is one, so that a call which goes ahead
// harms nothing.
class any_memory {
 public:
  explicit any_memory(std::size_t size) {
    if (has_device()) {
      device_ = std::make_unique<device_allocation>(size);
      // What the trials read must have been written. (A failure shows in their first launch.)
      (void)cudaMemset(device_->data(), 0, size);
    } else {
      host_.resize(size);
    }
  }
  std::uint8_t* data() {
    return reinterpret_cast<std::uint8_t*>(device_ ? device_->data() : host_.data());
  }

 private:
  std::unique_ptr<device_allocation> device_;
  byte_vector host_;
};

// Which bytes of a memory of this size are in use.
class byte_map {
 public:
  explicit byte_map(std::size_t size) : used_(size) {}

  // Uses `runs` runs of `length` bytes; true if one of those was in use.
  bool use(std::size_t first, std::size_t runs, std::size_t length, std::size_t stride) {
    bool met = false;
    for (std::size_t run = 0; run < runs; ++run) {
      for (std::size_t i = 0; i < length; ++i) {
        char& byte = used_.at(first + run * stride + i);
        met = met || byte != 0;
        byte = 1;
      }
    }
    return met;
  }

 private:
  std::vector<char> used_;
};

// Makes `trials` random calls, and requires each to be refused exactly where it reports that its
// input and output share a byte. Without a device a call that goes ahead fails, but differently.
template <class Trial>
void check_refusals(int trials, Trial trial) {
  random_source random;
  constexpr std::size_t size = 16384;
  any_memory memory{size};
  int refusals = 0;
  for (int i = 0; i < trials; ++i) {
    byte_map map{size};
    std::ostringstream words;
    const auto [status, shared] = trial(random, memory.data(), map, words);
    INFO(words.str() << "; repeat with --rng-seed " << Catch::getSeed());
    REQUIRE((status == cudaErrorInvalidValue) == shared);
    refusals += shared ? 1 : 0;
  }
  // The trials would show nothing if they were all of one kind.
  REQUIRE(refusals > trials / 20);
  REQUIRE(refusals < trials - trials / 20);
  (void)cudaGetLastError();
}

using outcome = std::pair<cudaError_t, bool>;

outcome try_views(random_source& random, std::uint8_t* memory, byte_map& map, std::ostream& words) {
  const shape s{random.between(1, 6), random.between(1, 6)};
  const std::size_t in_stride = s.nx + random.between(0, 20);
  // Half of them in one parent.
  const bool one_parent = in_stride >= s.ny && random.between(0, 1) == 1;
  const std::size_t out_stride = one_parent ? in_stride : s.ny + random.between(0, 20);
  const std::size_t in = random.between(0, 150);
  const std::size_t out = random.between(0, 150);
  words << "nx " << s.nx << ", ny " << s.ny << ", input at " << in << " with stride " << in_stride
        << ", output at " << out << " with stride " << out_stride;
  map.use(in, s.ny, s.nx, in_stride);
  const bool shared = map.use(out, s.nx, s.ny, out_stride);
  const std::uint8_t* const from = memory + in;
  return {
      tt::transpose(view(memory + out, s.nx, s.ny, out_stride), view(from, s.ny, s.nx, in_stride)),
      shared};
}

outcome try_batches(random_source& random, std::uint8_t* memory, byte_map& map,
                    std::ostream& words) {
  const shape s{random.between(1, 4), random.between(1, 4)};
  const std::size_t matrix = s.nx * s.ny;
  const std::size_t batch = random.between(1, 5);
  const std::size_t in_stride = matrix + random.between(0, 30);
  const std::size_t out_stride =
      random.between(0, 1) == 1 ? in_stride : matrix + random.between(0, 30);
  const std::size_t in = random.between(0, 150);
  const std::size_t out = random.between(0, 150);
  words << "nx " << s.nx << ", ny " << s.ny << ", batch " << batch << ", input at " << in
        << " with stride " << in_stride << ", output at " << out << " with stride " << out_stride;
  map.use(in, batch, matrix, in_stride);
  const bool shared = map.use(out, batch, matrix, out_stride);
  const std::uint8_t* const from = memory + in;
  return {tt::transpose_batched(memory + out, out_stride, from, in_stride, s.nx, s.ny, batch),
          shared};
}

// The two forms that take views, as one.
cudaError_t transpose_views(bool tuned, tt::matrix_view<float> out,
                            tt::matrix_view<const float> in) {
  return tuned ? tt::transpose(out, in) : tt::transpose<float, 32, 8>(out, in);
}

}  // namespace

// ---------------------------------------------------- refused, with or without a device

TEST_CASE("errors: a null pointer with work to do is refused", "[errors][quick]") {
  check_null_pointers(forms);
  auto* const outs = reinterpret_cast<float* const*>(fake_out());
  auto* const ins = reinterpret_cast<const float* const*>(fake_in());
  constexpr float* const* no_outs = nullptr;
  constexpr const float* const* no_ins = nullptr;
  CHECK(tt::transpose_batched(no_outs, ins, 5, 7, 2) == cudaErrorInvalidValue);
  CHECK(tt::transpose_batched(outs, no_ins, 5, 7, 2) == cudaErrorInvalidValue);
  CHECK(tt::transpose_batched(no_outs, no_ins, 5, 7, 2) == cudaErrorInvalidValue);
}

TEST_CASE("errors: a pointer that is misaligned for its type is refused", "[errors][quick]") {
  check_misaligned_pointers(forms);
  for (const std::size_t by : misalignments_of_floats) {
    INFO(by << " bytes");
    float* const out = off_by(fake_out(), by);
    const float* const in = off_by(fake_in(), by);
    float* const copy = fake_out() + 1000;
    const auto refused = [](cudaError_t status) { CHECK(status == cudaErrorInvalidValue); };
    const auto from = [](const float* data) { return view(data, 7, 5, 5); };
    const auto to = [](float* data) { return view(data, 5, 7, 7); };
    const auto beside = [](float* data) { return view(data, 7, 5, 5); };
    refused(tt::transform_transpose(to(out), from(fake_in()), identity{}));
    refused(tt::transform_transpose(to(fake_out()), from(in), identity{}));
    refused(tt::accumulate_transpose(to(out), from(fake_in()), replace{}));
    refused(tt::accumulate_transpose(to(fake_out()), from(in), replace{}));
    refused(
        tt::transform_transpose_dual(off_by(copy, by), fake_out(), fake_in(), 5, 7, identity{}));
    refused(tt::transform_transpose_dual(copy, out, fake_in(), 5, 7, identity{}));
    refused(tt::transform_transpose_dual(copy, fake_out(), in, 5, 7, identity{}));
    refused(tt::transform_transpose_dual(beside(off_by(copy, by)), to(fake_out()), from(fake_in()),
                                         identity{}));
    refused(tt::transform_transpose_dual(beside(copy), to(out), from(fake_in()), identity{}));
    refused(tt::transform_transpose_dual(beside(copy), to(fake_out()), from(in), identity{}));
  }

  SECTION("each pointer for its own type") {
    auto* const doubles = reinterpret_cast<double*>(fake_out());
    CHECK(tt::transform_transpose(off_by(doubles, 4), fake_in(), 5, 7, widen{}) ==
          cudaErrorInvalidValue);
    CHECK(tt::transform_transpose_dual(off_by(doubles, 4), doubles + 100, fake_in(), 5, 7,
                                       widen{}) == cudaErrorInvalidValue);
  }
  SECTION("an alignment that the type asks for beyond its elements'") {
    auto* const quads = reinterpret_cast<aligned_quad*>(fake_out());
    const auto* const from = reinterpret_cast<const aligned_quad*>(fake_in());
    for (const std::size_t by : {1, 4, 8, 12}) {
      CHECK(tt::transpose(off_by(quads, by), from, 5, 7) == cudaErrorInvalidValue);
      CHECK(tt::transpose(quads, off_by(from, by), 5, 7) == cudaErrorInvalidValue);
    }
  }
  SECTION("arrays of pointers") {
    auto* const outs = reinterpret_cast<float* const*>(fake_out());
    auto* const ins = reinterpret_cast<const float* const*>(fake_in());
    for (const std::size_t by : {1, 2, 4, 7}) {
      CHECK(tt::transpose_batched(off_by(outs, by), ins, 5, 7, 2) == cudaErrorInvalidValue);
      CHECK(tt::transpose_batched(outs, off_by(ins, by), 5, 7, 2) == cudaErrorInvalidValue);
      CHECK(tt::transpose_batched(off_by(outs, by), off_by(ins, by), 5, 7, 0) == cudaSuccess);
    }
  }
}

// Nothing is refused that a kernel can move.
TEST_CASE("errors: elements without an alignment lie anywhere", "[errors][quick]") {
  require_device();
  random_source random;
  constexpr shape s{37, 41};
  using triple = bytes<12>;
  for (const std::size_t by : {1, 2, 3, 7}) {
    check(make_flat<triple>("12 bytes"), s, random, by, 8 - by);
    check(make_flat<triple, 32, 8>("12 bytes, 32, 8"), s, random, by, 8 - by);
  }
}

TEST_CASE("errors: a stride smaller than the row is refused", "[errors][quick]") {
  for (const bool tuned : {true, false}) {
    INFO((tuned ? "tuned" : "explicit"));
    for (const std::size_t stride : {0, 1, 4}) {
      CHECK(transpose_views(tuned, view(fake_out(), 5, 7, 7), view(fake_in(), 7, 5, stride)) ==
            cudaErrorInvalidValue);
    }
    for (const std::size_t stride : {0, 1, 6}) {
      CHECK(transpose_views(tuned, view(fake_out(), 5, 7, stride), view(fake_in(), 7, 5, 5)) ==
            cudaErrorInvalidValue);
    }
  }
  // Matrices that lie over each other.
  for (const std::size_t stride : {0, 1, 34}) {
    CHECK(tt::transpose_batched(fake_out(), stride, fake_in(), 35, 5, 7, 2) ==
          cudaErrorInvalidValue);
    CHECK(tt::transpose_batched(fake_out(), 35, fake_in(), stride, 5, 7, 2) ==
          cudaErrorInvalidValue);
  }
}

TEST_CASE("errors: views of different shapes are refused", "[errors][quick]") {
  for (const bool tuned : {true, false}) {
    INFO((tuned ? "tuned" : "explicit"));
    const tt::matrix_view<const float> in = view(fake_in(), 7, 5, 9);
    CHECK(transpose_views(tuned, view(fake_out(), 6, 7, 9), in) == cudaErrorInvalidValue);
    CHECK(transpose_views(tuned, view(fake_out(), 4, 7, 9), in) == cudaErrorInvalidValue);
    CHECK(transpose_views(tuned, view(fake_out(), 5, 8, 9), in) == cudaErrorInvalidValue);
    CHECK(transpose_views(tuned, view(fake_out(), 5, 6, 9), in) == cudaErrorInvalidValue);
    // Right for a copy, wrong for a transpose.
    CHECK(transpose_views(tuned, view(fake_out(), 7, 5, 9), in) == cudaErrorInvalidValue);
    CHECK(transpose_views(tuned, view(fake_out(), 1, 35, 35), in) == cudaErrorInvalidValue);
  }
}

TEST_CASE("errors: sizes whose product overflows are refused", "[errors][quick]") {
  constexpr std::size_t root = std::size_t{1} << 32;
  check_overflows(forms);

  SECTION("of a batch, whose one matrix is in bounds") {
    constexpr std::size_t side = std::size_t{1} << 20;
    for (const std::size_t batch : {std::size_t{1} << 22, std::size_t{1} << 24, huge, half_huge}) {
      INFO("batch " << batch);
      CHECK(tt::transpose_batched(fake_out(), fake_in(), side, side, batch) ==
            cudaErrorInvalidValue);
      CHECK(tt::transpose_batched(fake_out(), side * side, fake_in(), side * side, side, side,
                                  batch) == cudaErrorInvalidValue);
    }
  }
  SECTION("of a batch of pointers") {
    auto* const outs = reinterpret_cast<float* const*>(fake_out());
    auto* const ins = reinterpret_cast<const float* const*>(fake_in());
    CHECK(tt::transpose_batched(outs, ins, huge, 2, 1) == cudaErrorInvalidValue);
    CHECK(tt::transpose_batched(outs, ins, root, root / 4, 1) == cudaErrorInvalidValue);
    CHECK(tt::transpose_batched(outs, ins, 2, 2, huge) == cudaErrorInvalidValue);
  }
  SECTION("of a batch stride") {
    for (const std::size_t stride : {huge, half_huge, huge / 4 + 1, huge / 8 + 1}) {
      INFO("stride " << stride);
      CHECK(tt::transpose_batched(fake_out(), stride, fake_in(), 35, 5, 7, 3) ==
            cudaErrorInvalidValue);
      CHECK(tt::transpose_batched(fake_out(), 35, fake_in(), stride, 5, 7, 3) ==
            cudaErrorInvalidValue);
    }
  }
  SECTION("of a row stride") {
    for (const bool tuned : {true, false}) {
      for (const std::size_t stride : {huge, half_huge, huge / 4 + 1, huge / 8 + 1}) {
        INFO((tuned ? "tuned" : "explicit") << ", stride " << stride);
        CHECK(transpose_views(tuned, view(fake_out(), 5, 3, stride), view(fake_in(), 3, 5, 5)) ==
              cudaErrorInvalidValue);
        CHECK(transpose_views(tuned, view(fake_out(), 5, 3, 3), view(fake_in(), 3, 5, stride)) ==
              cudaErrorInvalidValue);
      }
    }
  }
  SECTION("only of the transform's output") {
    auto* const out = reinterpret_cast<double*>(fake_out());
    CHECK(tt::transform_transpose(out, fake_in(), huge / 8 + 1, 1, widen{}) ==
          cudaErrorInvalidValue);
  }
}

TEST_CASE("errors: input and output that overlap are refused", "[errors][quick]") {
  constexpr std::size_t nx = 5;
  constexpr std::size_t ny = 7;
  float* const base = fake_out();
  check_overlaps(forms);

  SECTION("a transform's, counted in its own bytes") {
    auto* const wide = reinterpret_cast<double*>(base);
    // Input behind the output's count of floats, but inside its bytes.
    CHECK(tt::transform_transpose(wide, base + nx * ny, nx, ny, widen{}) == cudaErrorInvalidValue);
    CHECK(tt::transform_transpose(wide, base + 2 * nx * ny - 1, nx, ny, widen{}) ==
          cudaErrorInvalidValue);
    CHECK(tt::transform_transpose(wide, base - nx * ny + 1, nx, ny, widen{}) ==
          cudaErrorInvalidValue);
  }
  SECTION("half an element") {
    using halves = bytes<2>;
    auto* const first = reinterpret_cast<halves*>(base);
    auto* const later = reinterpret_cast<halves*>(reinterpret_cast<std::byte*>(base) + 2 * 35 - 1);
    CHECK(tt::transpose(later, static_cast<const halves*>(first), nx, ny) == cudaErrorInvalidValue);
    CHECK(tt::transpose(first, static_cast<const halves*>(later), nx, ny) == cudaErrorInvalidValue);
  }
  SECTION("an element of the last matrices of a strided batch") {
    // The input's matrices lie in the output's gaps, but for one element.
    CHECK(tt::transpose_batched(base, 100, static_cast<const float*>(base + 34), 100, nx, ny, 4) ==
          cudaErrorInvalidValue);
    CHECK(tt::transpose_batched(base + 34, 100, static_cast<const float*>(base), 100, nx, ny, 4) ==
          cudaErrorInvalidValue);
  }
  SECTION("arrays of pointers that are the same array") {
    auto* const outs = reinterpret_cast<float* const*>(base);
    auto* const ins = reinterpret_cast<const float* const*>(base);
    CHECK(tt::transpose_batched(outs, ins, nx, ny, 2) == cudaErrorInvalidValue);
  }
}

// Interleaved is not overlapping, however it is interleaved.
TEST_CASE("errors: refused exactly where a byte is shared", "[errors][quick]") {
  SECTION("views") { check_refusals(100, try_views); }
  SECTION("batches") { check_refusals(100, try_batches); }
}

TEST_CASE("errors: many calls refused exactly where a byte is shared", "[errors]") {
  SECTION("views") { check_refusals(5000, try_views); }
  SECTION("batches") { check_refusals(5000, try_batches); }
}

TEST_CASE("errors: neighbours in memory are accepted", "[errors][quick]") {
  check_neighbours(forms);
}

TEST_CASE("errors: zero work succeeds whatever the pointers", "[errors][quick]") {
  constexpr float* no_out = nullptr;
  constexpr const float* no_in = nullptr;
  check_zero_work(forms);
  for (const bool tuned : {true, false}) {
    CHECK(transpose_views(tuned, view(no_out, 5, 0, 0), view(no_in, 0, 5, 0)) == cudaSuccess);
    CHECK(transpose_views(tuned, view(no_out, 0, 7, huge), view(no_in, 7, 0, huge)) == cudaSuccess);
  }
  constexpr float* const* no_outs = nullptr;
  constexpr const float* const* no_ins = nullptr;
  CHECK(tt::transpose_batched(no_out, no_in, 5, 7, 0) == cudaSuccess);
  CHECK(tt::transpose_batched(no_out, no_in, huge, huge, 0) == cudaSuccess);
  CHECK(tt::transpose_batched(no_out, 0, no_in, 0, 5, 7, 0) == cudaSuccess);
  CHECK(tt::transpose_batched(no_out, 35, no_in, 35, 5, 0, 3) == cudaSuccess);
  CHECK(tt::transpose_batched(no_outs, no_ins, 5, 7, 0) == cudaSuccess);
  CHECK(tt::transpose_batched(no_outs, no_ins, 0, 7, 3) == cudaSuccess);
  CHECK(tt::transpose_batched(no_outs, no_ins, 5, 0, 3) == cudaSuccess);
}

TEST_CASE("errors: without a device a call says so", "[errors][quick]") {
  check_without_a_device(forms);
}

// ---------------------------------------------------- refused, on a device

TEST_CASE("errors: a refused call writes nothing", "[errors][quick]") {
  require_device();
  check_refusals_write_nothing(forms);

  random_source random;
  constexpr shape s{37, 41};
  const form_case c{forms[0], s, random};
  float* const out = c.out().as<float>();
  const float* const in = c.in().as<float>();
  for (const bool tuned : {true, false}) {
    CHECK(transpose_views(tuned, view(out, 37, 41, 40), view(in, 41, 37, 37)) ==
          cudaErrorInvalidValue);
    CHECK(transpose_views(tuned, view(out, 37, 41, 41), view(in, 41, 37, 36)) ==
          cudaErrorInvalidValue);
    CHECK(transpose_views(tuned, view(out, 41, 37, 41), view(in, 41, 37, 37)) ==
          cudaErrorInvalidValue);
  }
  CHECK(tt::transpose_batched(out, 8, in, 9, 3, 3, 2) == cudaErrorInvalidValue);
  CHECK(tt::transpose_batched(out, 9, in, 9, 3, 3, 0) == cudaSuccess);
  CHECK(c.out().trace_of_a_write() == "");
}

TEST_CASE("errors: neither a refusal nor zero work launches anything", "[errors][quick]") {
  require_device();
  check_refusals_launch_nothing(forms);
}

// ---------------------------------------------------- errors of others, and of launches

TEST_CASE("errors: an earlier error is neither returned nor cleared", "[errors][provokes]") {
  require_device();
  check_an_earlier_error(forms, {37, 41});
  check_an_earlier_error(much_shared_memory, large_matrix);
  // The kernel for small matrices, boxes, and one copy in place of a kernel.
  for (const shape s : {shape{128, 128}, shape{3, 700}, shape{1, 50}}) {
    check_an_earlier_error(forms, s);
  }
}

TEST_CASE("errors: an earlier error does not change which kernel runs", "[errors][provokes]") {
  require_device();
  random_source random;
  std::size_t most = 0;
  const auto check = [&](const form_list& all, shape size) {
    for (const form& f : all) {
      INFO(f.name << ", " << size.nx << " x " << size.ny);
      const form_case c{f, size, random};
      most = std::max(
          most, check_same_kernels_beside_an_error([&](cudaStream_t to) { return c.call(to); }));
    }
  };
  check(forms, {37, 41});
  check(much_shared_memory, large_matrix);
  // The test would show little if none had needed more than every kernel has.
  if (allowable_shared_bytes() > 2 * plain_shared_bytes) { CHECK(most > plain_shared_bytes); }
}

TEST_CASE("errors: a failed launch returns its own status", "[errors][provokes]") {
  require_device();
  check_failed_launches(forms);
}

// ---------------------------------------------------- streams, graphs, threads, devices

TEST_CASE("calls: a stream of the caller's", "[calls][quick]") {
  require_device();
  check_own_stream(forms);
}

TEST_CASE("calls: captured into a graph and replayed", "[calls][quick]") {
  require_device();
  check_graphs(forms, {129, 65});
  check_graphs(much_shared_memory, large_matrix);
}

TEST_CASE("calls: arrays of pointers captured into a graph", "[calls][quick]") {
  require_device();
  random_source random;
  constexpr std::size_t nx = 33;
  constexpr std::size_t ny = 20;
  constexpr std::size_t size = nx * ny * sizeof(float);
  const byte_vector content = random.fill(size);
  const byte_vector expected = transposed({content.data(), ny, nx, nx, sizeof(float)});
  const input_buffer in{content};
  output_buffer out{size, 0, random};
  out.expect(0, ny, {expected.data(), nx, ny, ny, sizeof(float)});
  out.poison();
  const std::array<float*, 1> out_pointers{out.as<float>()};
  const std::array<const float*, 1> in_pointers{in.as<float>()};
  const auto upload = [](const void* array) {
    const auto* first = static_cast<const std::byte*>(array);
    return input_buffer{byte_vector(first, first + sizeof(float*))};
  };
  const input_buffer outs = upload(out_pointers.data());
  const input_buffer ins = upload(in_pointers.data());

  const stream s;
  const replay graph{capture(s, [&](cudaStream_t to) {
    return tt::transpose_batched(reinterpret_cast<float* const*>(outs.data()),
                                 reinterpret_cast<const float* const*>(ins.data()), nx, ny, 1, to);
  })};
  CHECK(out.trace_of_a_write() == "");
  graph.run(s);
  CHECK(out.difference() == "");
}

TEST_CASE("calls: from several threads at once", "[calls]") {
  require_device();
  check_several_threads(forms);
}

TEST_CASE("calls: from threads whose blocks take different amounts of shared memory", "[calls]") {
  require_device();
  // Of bytes, by one kernel.
  constexpr std::array<shape, 4> shapes{{{1048577, 16}, {335545, 50}, {289263, 58}, {262145, 64}}};
  std::set<std::size_t> amounts;
  std::vector<input_buffer> ins;
  std::vector<output_buffer> outs;
  random_source random;
  for (const shape s : shapes) {
    const byte_vector content = random.fill(s.nx * s.ny);
    const byte_vector expected =
        reoriented({content.data(), s.ny, s.nx, s.nx, 1}, tt::symmetry::transpose);
    ins.emplace_back(content);
    outs.emplace_back(content.size(), 0, random);
    outs.back().expect(0, s.ny, {expected.data(), s.nx, s.ny, s.ny, 1});
    outs.back().poison();
    amounts.insert(
        tt::explain(outs.back().as<unsigned char>(), ins.back().as<unsigned char>(), s.nx, s.ny)
            .shared_bytes);
  }
  REQUIRE(amounts.size() == shapes.size());
  REQUIRE(*amounts.begin() > 48 * 1024);  // more than a kernel has without being allowed it

  std::array<cudaError_t, shapes.size()> worst{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    threads.emplace_back([&, i] {
      const stream s;
      for (int round = 0; round < 500 && worst[i] == cudaSuccess; ++round) {
        worst[i] = tt::transpose(outs[i].as<unsigned char>(), ins[i].as<unsigned char>(),
                                 shapes[i].nx, shapes[i].ny, s);
      }
      s.wait();
    });
  }
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    INFO(shapes[i].nx << " x " << shapes[i].ny);
    CHECK(worst[i] == cudaSuccess);
    CHECK(outs[i].difference() == "");
  }
}

TEST_CASE("calls: on every device", "[calls][elsewhere]") {
  require_device();
  check_every_device(forms);
}
