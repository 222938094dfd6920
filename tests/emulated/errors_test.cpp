// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What every call returns for bad input, for no work and where a launch fails, and that it launches nothing and
// changes no byte: of its matrices, and of what lies around them. (The CPU's CUDA has no way to clear an error.)

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/tiletranspose.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace {

using tt::matrix_view;
using tt::symmetry;

constexpr std::size_t matrices = 3;  // of a batch
constexpr std::size_t huge = ~std::size_t{0};

const auto same = [](float value) { return value; };
const auto replace = [](float value, float) { return value; };

// Of an nx x ny matrix, or of `batch` of them.
struct two_sided {
  const char* name;
  std::size_t batch;
  cudaError_t (*call)(float* out, const float* in, std::size_t nx, std::size_t ny);
};

template <symmetry How>
cudaError_t reorient(float* out, const float* in, std::size_t nx, std::size_t ny) {
  const bool turns = tt::transposes(How);
  const std::size_t rows = turns ? nx : ny;
  const std::size_t cols = turns ? ny : nx;
  return tt::reorient(matrix_view<float>{out, rows, cols, cols},
                      matrix_view<const float>{in, ny, nx, nx}, How);
}

// A second output.
float beside[matrices * 64];

const two_sided two_sided_calls[] = {
    {"transpose", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transpose(out, in, nx, ny);
     }},
    {"transpose<float, 32, 8>", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transpose<float, 32, 8>(out, in, nx, ny);
     }},
    {"transpose of views", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transpose(matrix_view<float>{out, nx, ny, ny},
                            matrix_view<const float>{in, ny, nx, nx});
     }},
    {"transpose<float, 32, 8> of views", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transpose<float, 32, 8>(matrix_view<float>{out, nx, ny, ny},
                                          matrix_view<const float>{in, ny, nx, nx});
     }},
    {"transpose_batched", matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transpose_batched(out, in, nx, ny, matrices);
     }},
    {"transpose_batched, strides", matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transpose_batched(out, nx * ny, in, nx * ny, nx, ny, matrices);
     }},
    {"transform_transpose", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transform_transpose(out, in, nx, ny, same);
     }},
    {"transform_transpose of views", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transform_transpose(matrix_view<float>{out, nx, ny, ny},
                                      matrix_view<const float>{in, ny, nx, nx}, same);
     }},
    {"accumulate_transpose", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::accumulate_transpose(out, in, nx, ny, replace);
     }},
    {"accumulate_transpose of views", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::accumulate_transpose(matrix_view<float>{out, nx, ny, ny},
                                       matrix_view<const float>{in, ny, nx, nx}, replace);
     }},
    {"transform_transpose_dual, copy", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transform_transpose_dual(out, beside, in, nx, ny, same);
     }},
    {"transform_transpose_dual, transpose", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transform_transpose_dual(beside, out, in, nx, ny, same);
     }},
    {"transform_transpose_dual of views, copy", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::transform_transpose_dual(matrix_view<float>{out, ny, nx, nx},
                                           matrix_view<float>{beside, nx, ny, ny},
                                           matrix_view<const float>{in, ny, nx, nx}, same);
     }},
    {"reverse", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       std::size_t n = 0;  // of what overflows, as many as there can be
       return tt::reverse(out, in, tt::detail::multiplies(nx, ny, n) ? n : huge);
     }},
    {"flip_lr", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::flip_lr(out, in, nx, ny);
     }},
    {"flip_ud", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::flip_ud(out, in, nx, ny);
     }},
    {"rotate", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::rotate(out, in, nx, ny, -1);
     }},
    {"anti_transpose", 1,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::anti_transpose(out, in, nx, ny);
     }},
    {"reorient, identity", 1, reorient<symmetry::identity>},
    {"reorient, rotate_180", 1, reorient<symmetry::rotate_180>},
    {"reorient, rotate_90", 1, reorient<symmetry::rotate_90>},
    {"reorient_batched", matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::reorient_batched(out, in, nx, ny, matrices, symmetry::flip_ud);
     }},
    {"reorient_batched, strides", matrices,
     [](float* out, const float* in, std::size_t nx, std::size_t ny) {
       return tt::reorient_batched(out, nx * ny, in, nx * ny, nx, ny, matrices,
                                   symmetry::rotate_90);
     }},
};

struct in_place {
  const char* name;
  bool squares_alone;
  cudaError_t (*call)(float* data, std::size_t nx, std::size_t ny, std::size_t stride);
};

float scratch[4096];

const in_place in_place_calls[] = {
    {"transpose_inplace", true,
     [](float* data, std::size_t nx, std::size_t ny, std::size_t stride) {
       return tt::transpose_inplace(matrix_view<float>{data, ny, nx, stride});
     }},
    {"reorient_inplace, rotate_90", true,
     [](float* data, std::size_t nx, std::size_t ny, std::size_t stride) {
       return tt::reorient_inplace(matrix_view<float>{data, ny, nx, stride}, symmetry::rotate_90);
     }},
    {"reorient_inplace, flip_ud", false,
     [](float* data, std::size_t nx, std::size_t ny, std::size_t stride) {
       return tt::reorient_inplace(matrix_view<float>{data, ny, nx, stride}, symmetry::flip_ud);
     }},
    {"reorient_inplace, rotate_180", false,
     [](float* data, std::size_t nx, std::size_t ny, std::size_t stride) {
       return tt::reorient_inplace(matrix_view<float>{data, ny, nx, stride}, symmetry::rotate_180);
     }},
};

// The same of dense matrices. `call` gets the scratch memory of those that take some.
struct dense_in_place {
  const char* name;
  cudaError_t (*call)(float* data, std::size_t nx, std::size_t ny, float* temp);
};

const dense_in_place dense_in_place_calls[] = {
    {"transpose_inplace", [](float* data, std::size_t nx, std::size_t,
                             float*) { return tt::transpose_inplace(data, nx, nx); }},
    {"transpose_inplace with scratch",
     [](float* data, std::size_t nx, std::size_t ny, float* temp) {
       std::size_t bytes = sizeof scratch / 2;
       return tt::transpose_inplace(temp, bytes, data, nx, ny);
     }},
    {"reverse_inplace", [](float* data, std::size_t nx, std::size_t ny,
                           float*) { return tt::reverse_inplace(data, nx * ny); }},
    {"flip_lr_inplace", [](float* data, std::size_t nx, std::size_t ny,
                           float*) { return tt::flip_lr_inplace(data, nx, ny); }},
    {"flip_ud_inplace", [](float* data, std::size_t nx, std::size_t ny,
                           float*) { return tt::flip_ud_inplace(data, nx, ny); }},
    {"rotate_180_inplace", [](float* data, std::size_t nx, std::size_t ny,
                              float*) { return tt::rotate_180_inplace(data, nx, ny); }},
    {"rotate_inplace", [](float* data, std::size_t nx, std::size_t ny,
                          float*) { return tt::rotate_inplace(data, nx, ny, 2); }},
};

// `pointer`, some bytes further on.
template <class T>
T* off_by(T* pointer, std::size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
}

// Some memory, every byte of which must stay as it is while `call` returns `expected` and launches nothing.
class untouched {
 public:
  untouched() : memory_(2000) {
    cpu::this_device() = {};
    cpu::this_device().runs = false;  // calls that go ahead are counted, and harm nothing
    fill(memory_);
    before_.assign(memory_.begin(), memory_.end());
  }
  float* out() { return memory_.data() + 500; }
  float* in() { return memory_.data() + 1200; }

  void check(const char* name, const char* what, cudaError_t expected, cudaError_t status) {
    INFO(name << ": " << what);
    CHECK(status == expected);
    CHECK(cpu::this_device().launches == 0);
    cpu::this_device().launches = 0;
    CHECK(std::memcmp(memory_.data(), before_.data(), before_.size() * sizeof(float)) == 0);
  }

 private:
  tt::emulated_buffer<float> memory_;
  std::vector<float> before_;
};

constexpr std::size_t nx = 5;
constexpr std::size_t ny = 7;

}  // namespace

TEST_CASE("errors: calls with an input and an output") {
  untouched memory;
  float* const out = memory.out();
  float* const in = memory.in();
  for (const two_sided& c : two_sided_calls) {
    const std::size_t last = c.batch * nx * ny - 1;
    const auto refuses = [&](const char* what, float* to, const float* from, std::size_t cols,
                             std::size_t rows) {
      memory.check(c.name, what, cudaErrorInvalidValue, c.call(to, from, cols, rows));
    };
    refuses("no output", nullptr, in, nx, ny);
    refuses("no input", out, nullptr, nx, ny);
    refuses("neither", nullptr, nullptr, nx, ny);
    refuses("one element of neither", nullptr, nullptr, 1, 1);
    refuses("equal pointers", out, out, nx, ny);
    refuses("equal pointers to one element", out, out, 1, 1);
    refuses("the output's last element is the input's first", out, out + last, nx, ny);
    refuses("the input's last element is the output's first", out + last, out, nx, ny);
    refuses("more elements than there are numbers", out, in, huge, 2);
    refuses("the same the other way", out, in, 2, huge);
    refuses("more bytes than there are addresses", out, in, huge / 4 + 1, 1);
    refuses("the same in two dimensions", out, in, std::size_t{1} << 32, std::size_t{1} << 30);
    for (const auto& side : {std::pair<std::size_t, std::size_t>{0, ny}, {nx, 0}, {0, 0}}) {
      const auto succeeds = [&](const char* what, float* to, const float* from) {
        memory.check(c.name, what, cudaSuccess, c.call(to, from, side.first, side.second));
      };
      succeeds("no work", out, in);
      succeeds("no work, no pointers", nullptr, nullptr);
      succeeds("no work, equal pointers", out, out);
    }
  }
}

TEST_CASE("errors: a pointer that is misaligned for its type") {
  untouched memory;
  float* const out = memory.out();
  float* const in = memory.in();
  const auto refuses = [&](const char* name, const char* what, cudaError_t status) {
    memory.check(name, what, cudaErrorInvalidValue, status);
  };
  const auto goes = [](const char* name, cudaError_t status) {
    INFO(name);
    CHECK(status == cudaSuccess);
    CHECK(cpu::this_device().launches > 0);
    cpu::this_device().launches = 0;
  };
  for (const std::size_t bytes : {1, 2, 3}) {
    for (const two_sided& c : two_sided_calls) {
      refuses(c.name, "output", c.call(off_by(out, bytes), in, nx, ny));
      refuses(c.name, "input", c.call(out, off_by(in, bytes), nx, ny));
      refuses(c.name, "one element", c.call(off_by(out, bytes), in, 1, 1));
      memory.check(c.name, "no work", cudaSuccess,
                   c.call(off_by(out, bytes), off_by(in, bytes), nx, 0));
    }
    for (const in_place& c : in_place_calls) {
      refuses(c.name, "data", c.call(off_by(out, bytes), nx, nx, nx + 1));
      refuses(c.name, "one element", c.call(off_by(out, bytes), 1, 1, 1));
      memory.check(c.name, "no work", cudaSuccess, c.call(off_by(out, bytes), 0, nx, nx));
    }
    for (const dense_in_place& c : dense_in_place_calls) {
      refuses(c.name, "data", c.call(off_by(out, bytes), nx, ny, scratch));
      memory.check(c.name, "no work", cudaSuccess,
                   c.call(off_by(out, bytes), 0, 0, off_by(scratch, bytes)));
    }
    std::size_t size = sizeof scratch / 2;
    refuses("transpose_inplace with scratch", "scratch",
            tt::transpose_inplace(off_by(scratch, bytes), size, out, nx, ny));
    refuses("transpose_inplace with scratch", "scratch of a square",
            tt::transpose_inplace(off_by(scratch, bytes), size, out, nx, nx));
    memory.check("transpose_inplace with scratch", "query", cudaSuccess,
                 tt::transpose_inplace(nullptr, size, off_by(out, bytes), nx, ny));
  }
  // Four bytes on, where floats may lie.
  for (const two_sided& c : two_sided_calls) { goes(c.name, c.call(out + 1, in + 3, nx, ny)); }
  for (const in_place& c : in_place_calls) { goes(c.name, c.call(out + 1, nx, nx, nx)); }
  for (const dense_in_place& c : dense_in_place_calls) {
    goes(c.name, c.call(out + 1, nx, ny, scratch + 1));
  }

  // Types of their own: each pointer is held to its own one.
  const auto widen = [](float value) { return static_cast<double>(value); };
  auto* const doubles = reinterpret_cast<double*>(out);
  refuses("transform_transpose", "doubles on 4 bytes",
          tt::transform_transpose(off_by(doubles, 4), in, nx, ny, widen));
  goes("transform_transpose", tt::transform_transpose(doubles, in + 1, nx, ny, widen));
  refuses("transform_transpose_dual", "a copy on 4 bytes",
          tt::transform_transpose_dual(off_by(doubles, 4), doubles + 100, in, nx, ny, widen));
  refuses("transform_transpose_dual", "a transpose on 4 bytes",
          tt::transform_transpose_dual(doubles, off_by(doubles, 804), in, nx, ny, widen));
  auto* const bytes = reinterpret_cast<unsigned char*>(out);
  auto* const from = reinterpret_cast<const unsigned char*>(in);
  goes("transpose", tt::transpose(bytes + 1, from + 3, nx, ny));

  // Of arrays of pointers, the arrays.
  float* const outs[matrices + 1] = {out, out + 40, out + 80};
  const float* const ins[matrices + 1] = {in, in + 40, in + 80};
  for (const std::size_t by : {1, 2, 4, 7}) {
    refuses("transpose_batched", "array of outputs",
            tt::transpose_batched(off_by(outs + 0, by), ins, nx, ny, matrices));
    refuses("transpose_batched", "array of inputs",
            tt::transpose_batched(outs, off_by(ins + 0, by), nx, ny, matrices));
    for (const symmetry how : {symmetry::flip_ud, symmetry::rotate_90}) {
      refuses("reorient_batched", "array of outputs",
              tt::reorient_batched(off_by(outs + 0, by), ins, nx, ny, matrices, how));
      refuses("reorient_batched", "array of inputs",
              tt::reorient_batched(outs, off_by(ins + 0, by), nx, ny, matrices, how));
    }
    memory.check("transpose_batched", "no work", cudaSuccess,
                 tt::transpose_batched(off_by(outs + 0, by), ins, nx, ny, 0));
  }
  goes("transpose_batched", tt::transpose_batched(outs + 1, ins + 1, nx, ny, matrices - 1));
}

TEST_CASE("errors: strides, shapes and arrays of pointers") {
  untouched memory;
  float* const out = memory.out();
  const float* const in = memory.in();
  // What each does with an output and an input of these strides, in rows or in matrices.
  const auto check = [&](const char* name, std::size_t least_out, std::size_t least_in, auto call) {
    const auto refuses = [&](const char* what, std::size_t to, std::size_t from) {
      memory.check(name, what, cudaErrorInvalidValue, call(to, from));
    };
    refuses("output", least_out - 1, least_in);
    refuses("input", least_out, least_in - 1);
    refuses("output of stride 0", 0, least_in);
    refuses("input of stride 0", least_out, 0);
    refuses("output that overflows", huge / 4, least_in);
    refuses("input that overflows", least_out, huge / 4);
  };
  const auto from = [&](std::size_t stride) {
    return matrix_view<const float>{in, ny, nx, stride};
  };
  const auto to = [&](std::size_t stride) { return matrix_view<float>{out, nx, ny, stride}; };
  const auto as_in = [&](std::size_t stride) { return matrix_view<float>{out, ny, nx, stride}; };
  using stride = std::size_t;
  check("transpose", ny, nx, [&](stride o, stride i) { return tt::transpose(to(o), from(i)); });
  check("transpose<float, 32, 8>", ny, nx,
        [&](stride o, stride i) { return tt::transpose<float, 32, 8>(to(o), from(i)); });
  check("transform_transpose", ny, nx,
        [&](stride o, stride i) { return tt::transform_transpose(to(o), from(i), same); });
  check("accumulate_transpose", ny, nx,
        [&](stride o, stride i) { return tt::accumulate_transpose(to(o), from(i), replace); });
  check("transform_transpose_dual, transpose", ny, nx, [&](stride o, stride i) {
    return tt::transform_transpose_dual(matrix_view<float>{beside, ny, nx, nx}, to(o), from(i),
                                        same);
  });
  check("transform_transpose_dual, copy", nx, nx, [&](stride o, stride i) {
    return tt::transform_transpose_dual(as_in(o), matrix_view<float>{beside, nx, ny, ny}, from(i),
                                        same);
  });
  check("reorient, rotate_90", ny, nx,
        [&](stride o, stride i) { return tt::reorient(to(o), from(i), symmetry::rotate_90); });
  check("reorient, flip_lr", nx, nx,
        [&](stride o, stride i) { return tt::reorient(as_in(o), from(i), symmetry::flip_lr); });
  check("transpose_batched", nx * ny, nx * ny,
        [&](stride o, stride i) { return tt::transpose_batched(out, o, in, i, nx, ny, matrices); });
  check("reorient_batched", nx * ny, nx * ny, [&](stride o, stride i) {
    return tt::reorient_batched(out, o, in, i, nx, ny, matrices, symmetry::flip_lr);
  });

  const auto refuses = [&](const char* name, cudaError_t status) {
    memory.check(name, "shapes or pointers", cudaErrorInvalidValue, status);
  };
  refuses("transpose", tt::transpose(as_in(nx), from(nx)));
  refuses("transpose<float, 32, 8>", tt::transpose<float, 32, 8>(as_in(nx), from(nx)));
  refuses("transform_transpose", tt::transform_transpose(as_in(nx), from(nx), same));
  refuses("accumulate_transpose", tt::accumulate_transpose(as_in(nx), from(nx), replace));
  refuses(
      "transform_transpose_dual, shape",
      tt::transform_transpose_dual(to(ny), matrix_view<float>{beside, nx, ny, ny}, from(nx), same));
  refuses("transform_transpose_dual, outputs that overlap",
          tt::transform_transpose_dual(as_in(nx), to(ny), from(nx), same));
  refuses("reorient", tt::reorient(to(ny), from(nx), symmetry::flip_ud));
  refuses("reorient", tt::reorient(as_in(nx), from(nx), symmetry::anti_transpose));

  float* const outs[matrices] = {out, out + 40, out + 80};
  const float* const ins[matrices] = {in, in + 40, in + 80};
  float* const* const no_outs = nullptr;
  const float* const* const no_ins = nullptr;
  refuses("transpose_batched", tt::transpose_batched(no_outs, ins, nx, ny, matrices));
  refuses("transpose_batched", tt::transpose_batched(outs, no_ins, nx, ny, matrices));
  refuses("transpose_batched", tt::transpose_batched(outs, ins, huge, 2, matrices));
  refuses("reorient_batched",
          tt::reorient_batched(outs, no_ins, nx, ny, matrices, symmetry::flip_ud));
  memory.check("transpose_batched", "no work", cudaSuccess,
               tt::transpose_batched(no_outs, no_ins, nx, ny, 0));
}

TEST_CASE("errors: calls in place") {
  untouched memory;
  float* const data = memory.out();
  for (const in_place& c : in_place_calls) {
    const auto refuses = [&](const char* what, float* where, std::size_t cols, std::size_t rows,
                             std::size_t stride) {
      memory.check(c.name, what, cudaErrorInvalidValue, c.call(where, cols, rows, stride));
    };
    refuses("no data", nullptr, nx, nx, nx);
    refuses("a stride shorter than a row", data, nx, nx, nx - 1);
    refuses("rows that overflow", data, 3, 3, huge / 4);
    refuses("more bytes than there are addresses", data, huge / 4 + 1, huge / 4 + 1, huge / 4 + 1);
    if (c.squares_alone) {
      refuses("no square", data, nx, ny, nx);
      refuses("no square", data, ny, nx, ny);
    }
    memory.check(c.name, "no work", cudaSuccess, c.call(data, 0, nx, 0));
    memory.check(c.name, "no work, no data", cudaSuccess, c.call(nullptr, nx, 0, nx));
  }
  const auto refuses = [&](const char* what, cudaError_t status) {
    memory.check("transpose_inplace with scratch", what, cudaErrorInvalidValue, status);
  };
  const auto with = [&](void* temp, std::size_t bytes, float* where, std::size_t cols,
                        std::size_t rows) {
    return tt::transpose_inplace(temp, bytes, where, cols, rows);
  };
  std::size_t least = 0;
  REQUIRE(tt::transpose_inplace(nullptr, least, data, nx, ny) == cudaSuccess);
  REQUIRE(least <= sizeof scratch);
  refuses("less than the least", with(scratch, least - 1, data, nx, ny));
  refuses("none", with(scratch, 0, data, nx, ny));
  refuses("no data", with(scratch, least, nullptr, nx, ny));
  refuses("scratch in the data", with(data + nx * ny - 1, least, data, nx, ny));
  refuses("data in the scratch", with(data - 1, 8 + least, data, nx, ny));
  refuses("more elements than there are numbers", with(scratch, least, data, huge, 2));
  memory.check("transpose_inplace with scratch", "no work", cudaSuccess,
               with(scratch, 0, nullptr, 0, ny));
  memory.check("reverse_inplace", "no data", cudaErrorInvalidValue,
               tt::reverse_inplace(static_cast<float*>(nullptr), 9));
  memory.check("reverse_inplace", "more than there are addresses", cudaErrorInvalidValue,
               tt::reverse_inplace(data, huge / 4 + 1));
  memory.check("reverse_inplace", "no work", cudaSuccess,
               tt::reverse_inplace(static_cast<float*>(nullptr), 0));
}

TEST_CASE("errors: a launch that fails returns its own status") {
  untouched memory;
  cpu::this_device().failure = cudaErrorUnknown;
  for (const two_sided& c : two_sided_calls) {
    memory.check(c.name, "failure", cudaErrorUnknown, c.call(memory.out(), memory.in(), nx, ny));
  }
  for (const in_place& c : in_place_calls) {
    memory.check(c.name, "failure", cudaErrorUnknown, c.call(memory.out(), nx, nx, nx));
  }
  std::size_t bytes = sizeof scratch;
  memory.check("transpose_inplace with scratch", "failure", cudaErrorUnknown,
               tt::transpose_inplace(scratch, bytes, memory.out(), nx, ny));
}

// Between two passes a matrix in place is neither what it was nor what it is to become.
TEST_CASE("errors: in place, what is refused is refused before the first pass") {
  constexpr std::size_t most = 600 * 1024;
  tt::emulated_buffer<float> data(most / sizeof(float));
  tt::emulated_buffer<float> temp(most / sizeof(float));
  fill(data);
  const std::vector<float> before(data.begin(), data.end());
  int refused = 0;
  const auto check = [&](std::size_t cols, std::size_t rows, std::size_t side, auto call) {
    for (const bool starts_together : {false, true}) {
      INFO(cols << " x " << rows << ", elements of " << side << " bytes, "
                << (starts_together ? "cooperative" : "plain") << " launches");
      cpu::this_device() = {};
      cpu::this_device().starts_together = starts_together;
      cpu::this_device().refusal = cudaErrorUnknown;
      const cudaError_t status = call();
      if (status == cudaSuccess) {  // none of its kernels needed more than every kernel has
        std::copy(before.begin(), before.end(), data.begin());
        continue;
      }
      ++refused;
      CHECK(status == cudaErrorUnknown);
      CHECK(cpu::this_device().launches == 0);
      CHECK(std::memcmp(data.data(), before.data(), most) == 0);
    }
  };
  const auto rectangle = [&](auto element, std::size_t cols, std::size_t rows) {
    using T = decltype(element);
    // Off 16 bytes, where no segments can be cut, whose kernel comes first.
    T* const matrix = reinterpret_cast<T*>(data.data()) + 1;
    REQUIRE((cols * rows + 1) * sizeof(T) <= most);
    check(cols, rows, sizeof(T), [&] {
      std::size_t bytes = 0;
      const cudaError_t query = tt::transpose_inplace(nullptr, bytes, matrix, cols, rows);
      REQUIRE(query == cudaSuccess);
      REQUIRE(bytes <= most);
      return tt::transpose_inplace(temp.data(), bytes, matrix, cols, rows);
    });
  };
  // Bands of columns that need more than every kernel has, after rows that do not.
  rectangle(float{}, 2001, 37);
  rectangle(float{}, 37, 2001);
  rectangle(static_cast<unsigned char>(0), 299, 2001);
  rectangle(static_cast<unsigned char>(0), 2001, 299);
  rectangle(element<3>{}, 130, 1401);
  rectangle(element<3>{}, 1401, 130);
  rectangle(element<2>{}, 3 * 150, 4 * 150);
  rectangle(element<2>{}, 4 * 150, 3 * 150);
  CHECK(refused >= 8);
}

TEST_CASE("errors: in place, what a second launch that fails leaves behind") {
  constexpr std::size_t side = 9;
  constexpr std::size_t pitch = 11;
  tt::emulated_buffer<float> data(side * pitch);
  tt::emulated_buffer<float> temp(side * pitch);
  // What `call` makes of the data when its first launch goes well and no other one.
  const auto left_by = [&](const char* name, cudaError_t expected, auto call) {
    INFO(name);
    for (std::size_t i = 0; i < data.size(); ++i) { data[i] = static_cast<float>(i); }
    cpu::this_device() = {};
    cpu::this_device().failure = cudaErrorUnknown;
    cpu::this_device().fails_after = 1;
    CHECK(call() == expected);
    CHECK(cpu::this_device().launches == 1);
    return std::vector<float>(data.begin(), data.end());
  };
  const matrix_view<float> square{data.data(), side, side, pitch};
  const auto transposed =
      left_by("transpose_inplace", cudaSuccess, [&] { return tt::transpose_inplace(square); });
  for (const symmetry how : {symmetry::rotate_90, symmetry::rotate_270, symmetry::anti_transpose}) {
    CHECK(left_by("reorient_inplace, two launches", cudaErrorUnknown,
                  [&] { return tt::reorient_inplace(square, how); }) == transposed);
  }
  const auto half_turned = left_by("reorient_inplace, rotate_180", cudaErrorUnknown, [&] {
    return tt::reorient_inplace(square, symmetry::rotate_180);
  });
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const std::size_t from =
          y == side / 2 ? y * pitch + x : (side - 1 - y) * pitch + (side - 1 - x);
      CHECK(half_turned[y * pitch + x] == static_cast<float>(from));
    }
  }
  for (const symmetry how : {symmetry::flip_lr, symmetry::flip_ud, symmetry::transpose}) {
    left_by("reorient_inplace, one launch", cudaSuccess,
            [&] { return tt::reorient_inplace(square, how); });
  }
  left_by("reverse_inplace", cudaSuccess, [&] { return tt::reverse_inplace(data.data(), 99); });
  left_by("flip_lr_inplace", cudaSuccess, [&] { return tt::flip_lr_inplace(data.data(), 9, 11); });
  left_by("flip_ud_inplace", cudaSuccess, [&] { return tt::flip_ud_inplace(data.data(), 9, 11); });
  left_by("rotate_180_inplace", cudaSuccess,
          [&] { return tt::rotate_180_inplace(data.data(), 9, 11); });
  const auto as_before = left_by("transpose_inplace with scratch", cudaErrorUnknown, [&] {
    std::size_t bytes = temp.size() * sizeof(float);
    return tt::transpose_inplace(temp.data(), bytes, data.data(), 9, 11);
  });
  for (std::size_t i = 0; i < as_before.size(); ++i) {
    CHECK(as_before[i] == static_cast<float>(i));
  }
}

// Launches are counted and not run, so that no memory is needed. Shapes that need more shared memory than every kernel
// has, and others.
TEST_CASE("errors: the error of an earlier call neither changes the kernel nor is cleared") {
  const auto launches_of = [](cudaError_t pending, auto call) {
    cpu::this_device() = {};
    cpu::this_device().runs = false;
    cpu::this_device().pending = pending;
    CHECK(call() == cudaSuccess);
    CHECK(cpu::this_device().pending == pending);
    // Which kernels, of how many blocks, with how much shared memory.
    std::vector<std::tuple<const void*, unsigned, std::size_t>> launches;
    for (const cpu::launch_shape& one : cpu::this_device().seen) {
      launches.emplace_back(one.kernel, one.grid.x, one.shared_bytes);
    }
    return launches;
  };
  std::size_t most = 0;
  const auto check = [&](const std::string& name, auto call) {
    INFO(name);
    const auto alone = launches_of(cudaSuccess, call);
    CHECK(!alone.empty());
    CHECK((launches_of(cudaErrorInvalidDevice, call) == alone));
    for (const auto& one : alone) { most = std::max(most, std::get<2>(one)); }
  };
  constexpr std::size_t sides[][2] = {{5, 7}, {13769, 138}, {4001, 4001}, {16384, 16384}};
  float* const out = reinterpret_cast<float*>(std::uintptr_t{1} << 44);
  float* const in = reinterpret_cast<float*>(std::uintptr_t{1} << 45);
  check("transpose_batched, 129 x 127 x 5000",
        [&] { return tt::transpose_batched(out, in, 129, 127, 5000); });
  CHECK(most > 48 * 1024);
  for (const auto& side : sides) {
    const std::string shape = ", " + std::to_string(side[0]) + " x " + std::to_string(side[1]);
    most = 0;
    for (const two_sided& c : two_sided_calls) {
      if (std::string(c.name).find("dual") != std::string::npos) { continue; }  // has `beside`
      check(c.name + shape, [&] { return c.call(out, in, side[0], side[1]); });
    }
    check("transform_transpose_dual" + shape, [&] {
      return tt::transform_transpose_dual(out, out + (std::size_t{1} << 40), in, side[0], side[1],
                                          same);
    });
    most = 0;
    for (const in_place& c : in_place_calls) {
      check(c.name + shape, [&] { return c.call(out, side[0], side[0], side[0]); });
    }
    for (const bool whole : {false, true}) {
      check("transpose_inplace with scratch" + shape, [&] {
        std::size_t bytes = 0;
        const cudaError_t query = tt::transpose_inplace(nullptr, bytes, out, side[0], side[1]);
        if (whole) { bytes = std::max(bytes, 4 * side[0] * side[1]); }
        return query == cudaSuccess ? tt::transpose_inplace(in, bytes, out, side[0], side[1])
                                    : query;
      });
    }
    if (side[0] == 4001) { CHECK(most > 48 * 1024); }
  }
}

// Launches are counted and not run, so that no memory is needed.
TEST_CASE("errors: more than any memory holds is refused before anything moves") {
  using bytes = matrix_view<unsigned char>;
  constexpr std::size_t most = (std::size_t{1} << 31) - 1;  // blocks of 256 rows
  const auto at = [](int bit) {
    return reinterpret_cast<unsigned char*>(std::uintptr_t{1} << bit);
  };
  const auto launches_of = [](cudaError_t expected, auto call) {
    cpu::this_device() = {};
    cpu::this_device().runs = false;
    CHECK(call() == expected);
    return cpu::this_device().launches;
  };
  const auto flip = [&](std::size_t rows) {
    return tt::reorient(bytes{at(45), rows, 1, 1}, bytes{at(44), rows, 1, 2}, symmetry::flip_ud);
  };
  const auto turn = [&](std::size_t rows) {
    return tt::reorient_inplace(bytes{at(45), rows, 2, 7}, symmetry::rotate_180);
  };
  CHECK(launches_of(cudaSuccess, [&] { return flip(256 * most); }) == 1);
  CHECK(launches_of(cudaErrorInvalidValue, [&] { return flip(256 * most + 1); }) == 0);
  CHECK(launches_of(cudaErrorInvalidValue, [&] { return turn(512 * most + 513); }) == 0);
  CHECK(launches_of(cudaErrorInvalidValue, [&] {
          constexpr std::size_t side = std::size_t{1} << 24;
          return tt::transpose_inplace(reinterpret_cast<float*>(at(50)), side, side);
        }) == 0);
}

TEST_CASE("errors: the stride of a single row may be as long as you like") {
  using halves = matrix_view<std::uint16_t>;
  constexpr std::size_t cols = 274877906832;  // is split
  const auto at = [](int bit) {
    return reinterpret_cast<std::uint16_t*>(std::uintptr_t{1} << bit);
  };
  cpu::this_device() = {};
  cpu::this_device().runs = false;
  const halves in{at(45), 1, cols, std::size_t{1} << 63};
  CHECK(tt::transform_transpose_dual(halves{at(47), 1, cols, cols}, halves{at(46), cols, 1, 1}, in,
                                     [](std::uint16_t value) { return value; }) == cudaSuccess);
  CHECK(cpu::this_device().launches > 1);
}
