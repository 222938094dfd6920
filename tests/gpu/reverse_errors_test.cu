// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the calls of reverse.cuh and those in place return when they refuse, have nothing to do, fail
// to launch, or meet the error of an earlier call; and that they work on any stream, thread and device
// and inside stream capture.
//
// Tests tagged [provokes] make a CUDA call fail on purpose, which memcheck reports as an API error.

#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>

#include "calls.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

template <symmetry How>
cudaError_t reorient_dense(float* out, const float* in, std::size_t nx, std::size_t ny,
                           cudaStream_t s) {
  const shape t = reoriented({nx, ny}, How);
  return tt::reorient(view(out, t.ny, t.nx, t.nx), view(in, ny, nx, nx), How, s);
}

const form_list forms{
    {"reorient: identity", symmetry::identity, 1, reorient_dense<symmetry::identity>},
    {"reorient: flip_lr", symmetry::flip_lr, 1, reorient_dense<symmetry::flip_lr>},
    {"reorient: rotate_180", symmetry::rotate_180, 1, reorient_dense<symmetry::rotate_180>},
    {"reorient: transpose", symmetry::transpose, 1, reorient_dense<symmetry::transpose>},
    {"reorient: rotate_270", symmetry::rotate_270, 1, reorient_dense<symmetry::rotate_270>},
    {"flip_lr", symmetry::flip_lr, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::flip_lr(out, in, nx, ny, s);
     }},
    {"flip_ud", symmetry::flip_ud, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::flip_ud(out, in, nx, ny, s);
     }},
    {"rotate by 1", symmetry::rotate_90, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::rotate(out, in, nx, ny, 1, s);
     }},
    {"rotate by -2", symmetry::rotate_180, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::rotate(out, in, nx, ny, -2, s);
     }},
    {"rotate by 0", symmetry::identity, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::rotate(out, in, nx, ny, 0, s);
     }},
    {"anti_transpose", symmetry::anti_transpose, 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::anti_transpose(out, in, nx, ny, s);
     }},
    {"contiguous batch, flip_ud", symmetry::flip_ud, matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::reorient_batched(out, in, nx, ny, matrices, symmetry::flip_ud, s);
     }},
    {"strided batch, rotate_90", symmetry::rotate_90, matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::reorient_batched(out, nx * ny, in, nx * ny, nx, ny, matrices, symmetry::rotate_90,
                                   s);
     }},
};

// A call in its own memory. `how` is what is left; those that ask for squares get them.
struct inplace_form {
  const char* name;
  symmetry how;
  bool any_shape;
  cudaError_t (*call)(float* data, std::size_t nx, std::size_t ny, cudaStream_t s);
};

template <symmetry How>
cudaError_t reorient_inplace(float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
  return tt::reorient_inplace(view(data, ny, nx, nx), How, s);
}

const inplace_form inplace_forms[] = {
    {"reorient_inplace: flip_ud", symmetry::flip_ud, true, reorient_inplace<symmetry::flip_ud>},
    {"reorient_inplace: rotate_180", symmetry::rotate_180, true,
     reorient_inplace<symmetry::rotate_180>},
    {"reorient_inplace: transpose", symmetry::transpose, false,
     reorient_inplace<symmetry::transpose>},
    {"reorient_inplace: rotate_90", symmetry::rotate_90, false,
     reorient_inplace<symmetry::rotate_90>},
    {"reorient_inplace: rotate_270", symmetry::rotate_270, false,
     reorient_inplace<symmetry::rotate_270>},
    {"reorient_inplace: anti_transpose", symmetry::anti_transpose, false,
     reorient_inplace<symmetry::anti_transpose>},
    {"flip_lr_inplace", symmetry::flip_lr, true,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::flip_lr_inplace(data, nx, ny, s);
     }},
    {"flip_ud_inplace", symmetry::flip_ud, true,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::flip_ud_inplace(data, nx, ny, s);
     }},
    {"rotate_inplace: by half", symmetry::rotate_180, true,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::rotate_inplace(data, nx, ny, -2, s);
     }},
    {"rotate_inplace: by a quarter", symmetry::rotate_270, false,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::rotate_inplace(data, nx, ny, -1, s);
     }},
    {"rotate_180_inplace", symmetry::rotate_180, true,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::rotate_180_inplace(data, nx, ny, s);
     }},
    {"transpose_inplace", symmetry::transpose, false,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose_inplace(data, nx, ny, s);
     }},
    {"transpose_inplace of a view", symmetry::transpose, false,
     [](float* data, std::size_t nx, std::size_t ny, cudaStream_t s) {
       return tt::transpose_inplace(view(data, ny, nx, nx), s);
     }},
};

// A square for a call in place, and what it must become.
class inplace_case {
 public:
  inplace_case(const inplace_form& f, std::size_t side, random_source& random)
      : form_(f), side_(side), data_(side * side * sizeof(float), 0, random) {
    const std::size_t size = side * side * sizeof(float);
    const byte_vector before = random.fill(size);
    const byte_vector after =
        reoriented({before.data(), side, side, side, sizeof(float)}, form_.how);
    data_.change(0, size, {before.data(), 1, size, size, 1}, {after.data(), 1, size, size, 1});
    data_.poison();
  }

  cudaError_t call(cudaStream_t s = nullptr) const {
    return form_.call(data_.as<float>(), side_, side_, s);
  }
  const output_buffer& data() const { return data_; }

 private:
  const inplace_form& form_;
  std::size_t side_;
  output_buffer data_;
};

}  // namespace

// ---------------------------------------------------- refused, with or without a device

TEST_CASE("reverse errors: a null pointer with work to do is refused", "[errors][quick]") {
  check_null_pointers(forms);
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    CHECK(f.call(nullptr, 5, 5, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(nullptr, 1, 1, nullptr) == cudaErrorInvalidValue);
  }
  constexpr float* no_out = nullptr;
  CHECK(tt::reverse(no_out, fake_in(), 5) == cudaErrorInvalidValue);
  CHECK(tt::reverse(fake_out(), static_cast<const float*>(nullptr), 5) == cudaErrorInvalidValue);
  CHECK(tt::reverse_inplace(no_out, 5) == cudaErrorInvalidValue);
  auto* const outs = reinterpret_cast<float* const*>(fake_out());
  auto* const ins = reinterpret_cast<const float* const*>(fake_in());
  constexpr float* const* no_outs = nullptr;
  constexpr const float* const* no_ins = nullptr;
  for (const symmetry how : every_symmetry) {
    INFO(name(how));
    CHECK(tt::reorient_batched(no_outs, ins, 5, 7, 2, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient_batched(outs, no_ins, 5, 7, 2, how) == cudaErrorInvalidValue);
  }
}

TEST_CASE("reverse errors: a pointer that is misaligned for its type is refused",
          "[errors][quick]") {
  check_misaligned_pointers(forms);
  for (const std::size_t by : misalignments_of_floats) {
    INFO(by << " bytes");
    float* const out = off_by(fake_out(), by);
    const float* const in = off_by(fake_in(), by);
    for (const inplace_form& f : inplace_forms) {
      INFO(f.name);
      CHECK(f.call(out, 5, 5, nullptr) == cudaErrorInvalidValue);
      CHECK(f.call(out, 1, 1, nullptr) == cudaErrorInvalidValue);
      CHECK(f.call(out, 5, 0, nullptr) == cudaSuccess);
    }
    CHECK(tt::reverse(out, fake_in(), 5) == cudaErrorInvalidValue);
    CHECK(tt::reverse(fake_out(), in, 5) == cudaErrorInvalidValue);
    CHECK(tt::reverse(out, in, 0) == cudaSuccess);
    CHECK(tt::reverse_inplace(out, 5) == cudaErrorInvalidValue);
    CHECK(tt::reverse_inplace(out, 0) == cudaSuccess);
    for (const symmetry how : every_symmetry) {
      INFO(name(how));
      const shape t = reoriented({5, 7}, how);
      CHECK(tt::reorient(view(out, t.ny, t.nx, t.nx), view(fake_in(), 7, 5, 5), how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient(view(fake_out(), t.ny, t.nx, t.nx), view(in, 7, 5, 5), how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(out, fake_in(), 5, 7, 2, how) == cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(fake_out(), 40, in, 35, 5, 7, 2, how) == cudaErrorInvalidValue);
    }
  }
  auto* const outs = reinterpret_cast<float* const*>(fake_out());
  auto* const ins = reinterpret_cast<const float* const*>(fake_in());
  for (const std::size_t by : {1, 2, 4, 7}) {
    for (const symmetry how : every_symmetry) {
      INFO(by << " bytes, " << name(how));
      CHECK(tt::reorient_batched(off_by(outs, by), ins, 5, 7, 2, how) == cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(outs, off_by(ins, by), 5, 7, 2, how) == cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(off_by(outs, by), ins, 5, 0, 2, how) == cudaSuccess);
    }
  }
}

TEST_CASE("reverse errors: a stride smaller than the row is refused", "[errors][quick]") {
  for (const symmetry how : every_symmetry) {
    INFO(name(how));
    const shape t = reoriented({5, 7}, how);
    for (const std::size_t stride : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
      CHECK(tt::reorient(view(fake_out(), t.ny, t.nx, t.nx), view(fake_in(), 7, 5, stride), how) ==
            cudaErrorInvalidValue);
    }
    for (const std::size_t stride : {std::size_t{0}, std::size_t{1}, t.nx - 1}) {
      CHECK(tt::reorient(view(fake_out(), t.ny, t.nx, stride), view(fake_in(), 7, 5, 5), how) ==
            cudaErrorInvalidValue);
    }
    for (const std::size_t stride : {0, 1, 6}) {
      CHECK(tt::reorient_inplace(view(fake_out(), 7, 7, stride), how) == cudaErrorInvalidValue);
    }
    for (const std::size_t stride : {0, 1, 34}) {
      CHECK(tt::reorient_batched(fake_out(), stride, fake_in(), 35, 5, 7, 2, how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(fake_out(), 35, fake_in(), stride, 5, 7, 2, how) ==
            cudaErrorInvalidValue);
    }
  }
  CHECK(tt::transpose_inplace(view(fake_out(), 7, 7, 6)) == cudaErrorInvalidValue);
}

TEST_CASE("reverse errors: views of shapes that do not match are refused", "[errors][quick]") {
  const tt::matrix_view<const float> in = view(fake_in(), 7, 5, 9);
  for (const symmetry how : every_symmetry) {
    INFO(name(how));
    const shape t = reoriented({5, 7}, how);
    // Right for the other four symmetries.
    CHECK(tt::reorient(view(fake_out(), t.nx, t.ny, 9), in, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient(view(fake_out(), t.ny + 1, t.nx, 9), in, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient(view(fake_out(), t.ny - 1, t.nx, 9), in, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient(view(fake_out(), t.ny, t.nx + 1, 9), in, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient(view(fake_out(), t.ny, t.nx - 1, 9), in, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient(view(fake_out(), 1, 35, 35), in, how) == cudaErrorInvalidValue);
    CHECK(tt::reorient(view(fake_out(), 0, 0, 9), in, how) == cudaErrorInvalidValue);
  }
}

TEST_CASE("reverse errors: only squares are transposed without scratch", "[errors][quick]") {
  for (const inplace_form& f : inplace_forms) {
    if (f.any_shape) continue;
    INFO(f.name);
    CHECK(f.call(fake_out(), 5, 7, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(fake_out(), 7, 5, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(fake_out(), 2, 1, nullptr) == cudaErrorInvalidValue);
  }
}

TEST_CASE("reverse errors: sizes whose product overflows are refused", "[errors][quick]") {
  check_overflows(forms);
  for (const shape s : overflowing_shapes()) {
    INFO("nx " << s.nx << ", ny " << s.ny);
    for (const inplace_form& f : inplace_forms) {
      INFO(f.name);
      CHECK(f.call(fake_out(), s.nx, s.ny, nullptr) == cudaErrorInvalidValue);
    }
  }
  for (const std::size_t n : {huge, half_huge, huge / 4 + 1, huge / 8 + 1}) {
    INFO("n " << n);
    CHECK(tt::reverse(fake_out(), fake_in(), n) == cudaErrorInvalidValue);
    CHECK(tt::reverse_inplace(fake_out(), n) == cudaErrorInvalidValue);
    CHECK(tt::reorient_inplace(view(fake_out(), 3, 3, n), symmetry::flip_ud) ==
          cudaErrorInvalidValue);
    CHECK(tt::transpose_inplace(view(fake_out(), 3, 3, n)) == cudaErrorInvalidValue);
    for (const symmetry how : every_symmetry) {
      INFO(name(how));
      const shape t = reoriented({5, 3}, how);
      CHECK(tt::reorient(view(fake_out(), t.ny, t.nx, n), view(fake_in(), 3, 5, 5), how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient(view(fake_out(), t.ny, t.nx, t.nx), view(fake_in(), 3, 5, n), how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(fake_out(), n, fake_in(), 35, 5, 7, 3, how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(fake_out(), 35, fake_in(), n, 5, 7, 3, how) ==
            cudaErrorInvalidValue);
      CHECK(tt::reorient_batched(fake_out(), fake_in(), 5, 7, n, how) == cudaErrorInvalidValue);
    }
  }
}

TEST_CASE("reverse errors: input and output that overlap are refused", "[errors][quick]") {
  check_overlaps(forms);
  constexpr std::size_t nx = 5;
  constexpr std::size_t ny = 7;
  float* const base = fake_out();
  CHECK(tt::reverse(base, static_cast<const float*>(base), 9) == cudaErrorInvalidValue);
  CHECK(tt::reverse(base + 8, static_cast<const float*>(base), 9) == cudaErrorInvalidValue);
  CHECK(tt::reverse(base, static_cast<const float*>(base + 8), 9) == cudaErrorInvalidValue);
  auto* const outs = reinterpret_cast<float* const*>(base);
  auto* const ins = reinterpret_cast<const float* const*>(base);
  CHECK(tt::reorient_batched(outs, ins, nx, ny, 2, symmetry::flip_lr) == cudaErrorInvalidValue);

  SECTION("an element of the last matrices of a strided batch") {
    // The input's matrices lie in the output's gaps, but for one element.
    const float* const in = base + 34;
    CHECK(tt::reorient_batched(base, 100, in, 100, nx, ny, 4, symmetry::flip_ud) ==
          cudaErrorInvalidValue);
  }
}

TEST_CASE("reverse errors: neighbours in memory are accepted", "[errors][quick]") {
  check_neighbours(forms);
}

TEST_CASE("reverse errors: zero work succeeds whatever the pointers", "[errors][quick]") {
  constexpr float* no_out = nullptr;
  constexpr const float* no_in = nullptr;
  check_zero_work(forms);
  for (const shape s : empty_shapes) {
    INFO("nx " << s.nx << ", ny " << s.ny);
    for (const inplace_form& f : inplace_forms) {
      INFO(f.name);
      CHECK(f.call(nullptr, s.nx, s.ny, nullptr) == cudaSuccess);
      CHECK(f.call(fake_out(), s.nx, s.ny, nullptr) == cudaSuccess);
    }
  }
  CHECK(tt::reverse(no_out, no_in, 0) == cudaSuccess);
  CHECK(tt::reverse(fake_out(), static_cast<const float*>(fake_out()), 0) == cudaSuccess);
  CHECK(tt::reverse_inplace(no_out, 0) == cudaSuccess);
  constexpr float* const* no_outs = nullptr;
  constexpr const float* const* no_ins = nullptr;
  for (const symmetry how : every_symmetry) {
    INFO(name(how));
    CHECK(tt::reorient_batched(no_out, no_in, 5, 7, 0, how) == cudaSuccess);
    CHECK(tt::reorient_batched(no_out, no_in, huge, huge, 0, how) == cudaSuccess);
    CHECK(tt::reorient_batched(no_out, 0, no_in, 0, 5, 7, 0, how) == cudaSuccess);
    CHECK(tt::reorient_batched(no_outs, no_ins, 5, 7, 0, how) == cudaSuccess);
    CHECK(tt::reorient_batched(no_outs, no_ins, 0, 7, 3, how) == cudaSuccess);
  }
}

TEST_CASE("reverse errors: without a device a call says so", "[errors][quick][elsewhere]") {
  check_without_a_device(forms);
  const cudaError_t none = status_without_a_device();
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    CHECK(f.call(fake_out(), 7, 7, nullptr) == none);
  }
  (void)cudaGetLastError();
}

// ---------------------------------------------------- refused, on a device

TEST_CASE("reverse errors: a refused call writes nothing", "[errors][quick]") {
  require_device();
  check_refusals_write_nothing(forms);
  random_source random;
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    const inplace_case c{f, 41, random};
    float* const data = c.data().as<float>();
    CHECK(f.call(data, huge, 2, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(data, huge / 4 + 1, 1, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(off_by(data, 2), 40, 40, nullptr) == cudaErrorInvalidValue);
    CHECK(f.call(data, 0, 41, nullptr) == cudaSuccess);
    CHECK(f.call(data, 41, 0, nullptr) == cudaSuccess);
    if (!f.any_shape) CHECK(f.call(data, 40, 41, nullptr) == cudaErrorInvalidValue);
    CHECK(tt::reorient_inplace(view(data, 41, 41, 40), f.how) == cudaErrorInvalidValue);
    CHECK(c.data().trace_of_a_write() == "");
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }

  const form_case c{forms[1], {37, 41}, random};
  float* const out = c.out().as<float>();
  const float* const in = c.in().as<float>();
  CHECK(tt::reorient(view(out, 41, 37, 36), view(in, 41, 37, 37), symmetry::flip_lr) ==
        cudaErrorInvalidValue);
  CHECK(tt::reorient(view(out, 37, 41, 41), view(in, 41, 37, 37), symmetry::flip_lr) ==
        cudaErrorInvalidValue);
  CHECK(tt::reorient(view(out, 41, 37, 37), view(in, 41, 37, 37), symmetry::rotate_90) ==
        cudaErrorInvalidValue);
  CHECK(tt::reorient_batched(out, 8, in, 9, 3, 3, 2, symmetry::flip_ud) == cudaErrorInvalidValue);
  CHECK(c.out().trace_of_a_write() == "");
}

TEST_CASE("reverse errors: neither a refusal nor zero work launches anything", "[errors][quick]") {
  require_device();
  check_refusals_launch_nothing(forms);
  random_source random;
  const stream s;
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    const inplace_case c{f, 41, random};
    cudaGraph_t graph = capture(s, [&](cudaStream_t to) {
      CHECK(f.call(nullptr, 41, 41, to) == cudaErrorInvalidValue);
      CHECK(f.call(off_by(c.data().as<float>(), 1), 40, 40, to) == cudaErrorInvalidValue);
      return f.call(c.data().as<float>(), 41, 0, to);
    });
    CHECK(count_nodes(graph) == 0);
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
}

// ---------------------------------------------------- errors of others, and of launches

TEST_CASE("reverse errors: an earlier error is neither returned nor cleared",
          "[errors][provokes]") {
  require_device();
  check_an_earlier_error(forms, {37, 41});
  random_source random;
  const auto check = [&](const inplace_form& f, std::size_t side) {
    INFO(f.name << ", " << side << " rows");
    const inplace_case c{f, side, random};
    const cudaError_t earlier = leave_an_error_behind();
    REQUIRE(earlier != cudaSuccess);
    CHECK(c.call() == cudaSuccess);
    CHECK(f.call(nullptr, 41, 41, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == earlier);
    CHECK(c.data().difference() == "");
    CHECK(cudaGetLastError() == earlier);
  };
  for (const inplace_form& f : inplace_forms) {
    check(f, 83);
    // Large squares ask for more shared memory than a kernel has without asking.
    if (f.how == symmetry::transpose) check(f, 4001);
  }
}

TEST_CASE("reverse errors: an earlier error does not change which kernel runs",
          "[errors][provokes]") {
  require_device();
  random_source random;
  std::size_t most = 0;
  for (const inplace_form& f : inplace_forms) {
    for (const std::size_t side : {83, 4001}) {
      INFO(f.name << ", " << side << " rows");
      const device_allocation data{side * side * sizeof(float)};
      auto* const floats = reinterpret_cast<float*>(data.data());
      most = std::max(most, check_same_kernels_beside_an_error(
                                [&](cudaStream_t to) { return f.call(floats, side, side, to); }));
    }
  }
  if (allowable_shared_bytes() > 2 * plain_shared_bytes) { CHECK(most > plain_shared_bytes); }
}

TEST_CASE("reverse errors: a failed launch returns its own status", "[errors][provokes]") {
  require_device();
  check_failed_launches(forms);
  random_source random;
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    const inplace_case c{f, 41, random};
    const cudaError_t status = status_beside_a_capture([&] { return c.call(); });
    CHECK(status != cudaSuccess);
    CHECK(status != cudaErrorInvalidValue);
    CHECK(c.data().trace_of_a_write() == "");
  }
}

// ---------------------------------------------------- streams, graphs, threads, devices

TEST_CASE("reverse calls: a stream of the caller's", "[calls][quick]") {
  require_device();
  check_own_stream(forms);
  random_source random;
  const stream s;
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    const inplace_case c{f, 129, random};
    REQUIRE(c.call(s) == cudaSuccess);
    s.wait();
    CHECK(c.data().difference() == "");
  }
}

TEST_CASE("reverse calls: captured into a graph and replayed", "[calls][quick]") {
  require_device();
  check_graphs(forms, {129, 65});
  random_source random;
  const stream s;
  for (const inplace_form& f : inplace_forms) {
    INFO(f.name);
    const inplace_case c{f, 129, random};
    const replay graph{capture(s, [&](cudaStream_t to) { return c.call(to); })};
    CHECK(c.data().trace_of_a_write() == "");
    graph.run(s);
    CHECK(c.data().difference() == "");
  }
}

TEST_CASE("reverse calls: from several threads at once", "[calls]") {
  require_device();
  check_several_threads(forms);
}

TEST_CASE("reverse calls: on every device", "[calls][elsewhere]") {
  require_device();
  check_every_device(forms);
}
