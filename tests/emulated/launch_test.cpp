// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every launch wrapper and with it every kernel, run on the CPU at shapes that straddle the edges of its
// tiles: the result is compared byte by byte, no access leaves its matrix, no two threads race and no
// barrier is missed. Compiled once for each range of element sizes, FIRST_SIZE to LAST_SIZE.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/tiletranspose.cuh>

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

static_assert(!tt::detail::has_little_work(FIRST_SIZE, FIRST_SIZE, true),
              "movers for large matrices are tested here");

struct shape {
  std::size_t nx;
  std::size_t ny;
};

// One case: prepares the CPU's device, and says what it found.
struct launch_case {
  explicit launch_case(const std::string& what) : text(what) { cpu::this_device() = {}; }

  template <class T>
  launch_case& knows(const tt::matrix_view<T>& view) {
    cpu::this_device().options.knows(view);
    return *this;
  }
  template <class T>
  launch_case& knows(T* data, std::size_t count) {
    cpu::this_device().options.knows(data, count);
    return *this;
  }

  void expect(cudaError_t status, bool right, bool launches = true) const {
    const cpu::device& device = cpu::this_device();
    INFO(text << "; repeat with --rng-seed " << Catch::getSeed() << '\n' << device.last.table());
    CHECK(status == cudaSuccess);
    CHECK(right);
    CHECK(device.faults == 0);
    CHECK((device.launches > 0) == launches);
  }
  // The same of outputs of so many bytes: all being right, none has been written twice.
  void expect_once(cudaError_t status, bool right, std::size_t bytes, bool launches = true) const {
    expect(status, right, launches);
    INFO(text << '\n' << cpu::this_device().last.table());
    CHECK(cpu::this_device().stored == (launches ? bytes : 0));
  }

  std::string text;
};

template <class T>
std::string describe(const char* call, shape s) {
  return std::string(call) + ", " + std::to_string(sizeof(T)) + " bytes aligned to " +
         std::to_string(alignof(T)) + ", nx " + std::to_string(s.nx) + ", ny " +
         std::to_string(s.ny);
}

template <class T>
bool is_transpose(const T* out, std::size_t out_stride, const T* in, std::size_t in_stride,
                  shape s) {
  for (std::size_t y = 0; y < s.ny; ++y) {
    for (std::size_t x = 0; x < s.nx; ++x) {
      if (!equal(out[x * out_stride + y], in[y * in_stride + x])) { return false; }
    }
  }
  return true;
}

// Dense matrices that start `in_offset` and `out_offset` elements off a multiple of 256 bytes.
template <class T, class Launch>
void check_dense(const char* call, shape s, std::size_t in_offset, std::size_t out_offset,
                 Launch launch) {
  tt::emulated_buffer<T> in(s.nx * s.ny, in_offset);
  tt::emulated_buffer<T> out(s.nx * s.ny, out_offset);
  fill(in);
  launch_case c(describe<T>(call, s) + ", off by " + std::to_string(in_offset) + " and " +
                std::to_string(out_offset));
  c.knows(static_cast<const T*>(in.data()), in.size()).knows(out.data(), out.size());
  const cudaError_t status = launch(out.data(), static_cast<const T*>(in.data()), s);
  c.expect_once(status, is_transpose(out.data(), s.ny, in.data(), s.nx, s), s.nx * s.ny * sizeof(T),
                s.nx > 1 && s.ny > 1);
}

const auto tuned = [](auto* out, const auto* in, shape s) {
  return tt::transpose(out, in, s.nx, s.ny);
};

template <class T>
void check_views(shape s, std::size_t in_gap, std::size_t out_gap, std::size_t in_offset = 0) {
  const std::size_t in_stride = s.nx + in_gap;
  const std::size_t out_stride = s.ny + out_gap;
  tt::emulated_buffer<T> in(in_offset + in_stride * s.ny);
  tt::emulated_buffer<T> out(out_stride * s.nx);
  fill(in);
  launch_case c(describe<T>("transpose of views", s) + ", gaps of " + std::to_string(in_gap) +
                " and " + std::to_string(out_gap) + ", from element " + std::to_string(in_offset));
  const tt::matrix_view<const T> from{in.data() + in_offset, s.ny, s.nx, in_stride};
  const tt::matrix_view<T> to{out.data(), s.nx, s.ny, out_stride};
  c.knows(from).knows(to);
  const cudaError_t status = tt::transpose(to, from);
  c.expect_once(status, is_transpose(out.data(), out_stride, from.data, in_stride, s),
                s.nx * s.ny * sizeof(T));
}

template <class T>
void check_batch(shape s, std::size_t batch, std::size_t gap, bool pointers) {
  const std::size_t step = s.nx * s.ny + gap;
  tt::emulated_buffer<T> in(step * batch);
  tt::emulated_buffer<T> out(step * batch);
  fill(in);
  launch_case c(describe<T>("transpose_batched", s) + ", batch " + std::to_string(batch) +
                ", gap " + std::to_string(gap) + (pointers ? ", arrays of pointers" : ""));
  std::vector<const T*> ins;
  std::vector<T*> outs;
  for (std::size_t b = 0; b < batch; ++b) {
    ins.push_back(in.data() + b * step);
    outs.push_back(out.data() + (batch - 1 - b) * step);
    c.knows(ins.back(), s.nx * s.ny).knows(outs.back(), s.nx * s.ny);
  }
  const cudaError_t status =
      pointers ? tt::transpose_batched(outs.data(), ins.data(), s.nx, s.ny, batch)
      : gap > 0
          ? tt::transpose_batched(out.data(), step, in.data(), step, s.nx, s.ny, batch)
          : tt::transpose_batched(out.data(), static_cast<const T*>(in.data()), s.nx, s.ny, batch);
  bool right = true;
  for (std::size_t b = 0; b < batch; ++b) {
    const T* const result = pointers ? outs[b] : out.data() + b * step;
    right = right && is_transpose(result, s.ny, ins[b], s.nx, s);
  }
  c.expect_once(status, right, s.nx * s.ny * batch * sizeof(T));
}

// All eight symmetries, by their definition: out(r, c) == in(source of (r, c)).
template <class T>
void check_symmetries(shape s) {
  for (int number = 0; number < 8; ++number) {
    const auto which = static_cast<tt::symmetry>(number);
    const bool turns = tt::transposes(which);
    const std::size_t rows = turns ? s.nx : s.ny;
    const std::size_t cols = turns ? s.ny : s.nx;
    tt::emulated_buffer<T> in(s.nx * s.ny);
    tt::emulated_buffer<T> out(s.nx * s.ny);
    fill(in);
    launch_case c(describe<T>("reorient", s) + ", symmetry " + std::to_string(number));
    const tt::matrix_view<const T> from{in.data(), s.ny, s.nx, s.nx};
    const tt::matrix_view<T> to{out.data(), rows, cols, cols};
    c.knows(from).knows(to);
    const cudaError_t status = tt::reorient(to, from, which);
    bool right = true;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t col = 0; col < cols; ++col) {
        std::size_t y = turns ? col : r;
        std::size_t x = turns ? r : col;
        if (tt::reverses_rows(which)) { y = s.ny - 1 - y; }
        if (tt::reverses_cols(which)) { x = s.nx - 1 - x; }
        right = right && equal(out[r * cols + col], in[y * s.nx + x]);
      }
    }
    c.expect_once(status, right, s.nx * s.ny * sizeof(T));
  }
}

// Matrices behind arrays of pointers, which say where the first row of the memory is.
template <class T>
void check_turned_pointers(shape s, tt::symmetry how) {
  constexpr std::size_t batch = 3;
  tt::emulated_buffer<T> in(batch * s.nx * s.ny);
  tt::emulated_buffer<T> out(batch * s.nx * s.ny);
  fill(in);
  launch_case c(describe<T>("reorient_batched, arrays of pointers", s) + ", symmetry " +
                std::to_string(static_cast<int>(how)));
  c.knows(static_cast<const T*>(in.data()), in.size()).knows(out.data(), out.size());
  std::vector<const T*> ins;
  std::vector<T*> outs;
  for (std::size_t b = 0; b < batch; ++b) {
    ins.push_back(in.data() + b * s.nx * s.ny);
    outs.push_back(out.data() + (batch - 1 - b) * s.nx * s.ny);
  }
  const cudaError_t status = tt::reorient_batched(outs.data(), ins.data(), s.nx, s.ny, batch, how);
  bool right = true;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t y = 0; y < s.ny; ++y) {
      for (std::size_t x = 0; x < s.nx; ++x) {
        // Of symmetries that transpose.
        const std::size_t row = tt::reverses_cols(how) ? s.nx - 1 - x : x;
        const std::size_t col = tt::reverses_rows(how) ? s.ny - 1 - y : y;
        right = right && equal(outs[b][row * s.ny + col], ins[b][y * s.nx + x]);
      }
    }
  }
  c.expect_once(status, right, batch * s.nx * s.ny * sizeof(T));
}

template <class T>
void check_inplace(shape s) {
  tt::emulated_buffer<T> data(s.nx * s.ny);
  fill(data);
  const std::vector<T> before(data.begin(), data.end());
  launch_case c(describe<T>("reverse_inplace", s));
  c.knows(data.data(), data.size());
  const cudaError_t status = tt::reverse_inplace(data.data(), data.size());
  bool right = true;
  for (std::size_t i = 0; i < data.size(); ++i) {
    right = right && equal(data[i], before[data.size() - 1 - i]);
  }
  c.expect(status, right);
  launch_case square(describe<T>("transpose in place", {s.nx, s.nx}));
  tt::emulated_buffer<T> matrix(s.nx * s.nx);
  fill(matrix);
  const std::vector<T> old(matrix.begin(), matrix.end());
  square.knows(matrix.data(), matrix.size());
  const cudaError_t turned = tt::reorient_inplace(
      tt::matrix_view<T>{matrix.data(), s.nx, s.nx, s.nx}, tt::symmetry::transpose);
  square.expect(turned, is_transpose(matrix.data(), s.nx, old.data(), s.nx, {s.nx, s.nx}));
}

// Any shape in place, with as little scratch memory as there may be, on what device `prepare` makes of one without
// cooperative launches. True where segments of columns were moved.
template <class T, class Prepare>
bool check_rectangle(shape s, Prepare prepare) {
  tt::emulated_buffer<T> matrix(s.nx * s.ny);
  fill(matrix);
  const std::vector<T> old(matrix.begin(), matrix.end());
  launch_case c(describe<T>("transpose_inplace with scratch", s));
  prepare(cpu::this_device());
  std::size_t bytes = 0;
  cudaError_t status = tt::transpose_inplace(nullptr, bytes, matrix.data(), s.nx, s.ny);
  tt::emulated_buffer<unsigned char> scratch(bytes);
  c.knows(matrix.data(), matrix.size()).knows(scratch.data(), bytes);
  if (status == cudaSuccess) {
    status = tt::transpose_inplace(scratch.data(), bytes, matrix.data(), s.nx, s.ny);
  }
  c.expect(status, is_transpose(matrix.data(), s.ny, old.data(), s.nx, s));
  const auto& shared = cpu::this_device().shared;
  return std::any_of(shared.begin(), shared.end(), [](const auto& access) {
    return access.first.find("rectangle_segments") != std::string::npos;
  });
}
template <class T>
void check_rectangle(shape s, bool starts_together) {
  check_rectangle<T>(s, [=](cpu::device& device) { device.starts_together = starts_together; });
}

// What fused calls do to an element: from T to 2 bytes, and from 2 bytes to T.
template <class T>
unsigned short narrow(const T& value) {
  return static_cast<unsigned short>(value.bytes[0] + 256 * value.bytes[sizeof(T) - 1]);
}
template <class T>
T widen(unsigned short value) {
  T result;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    result.bytes[i] = static_cast<unsigned char>(value >> (i % 2 * 8));
  }
  return result;
}
// And what an element of the output becomes that was `old`.
template <class T>
T add(const T& value, const T& old) {
  T result;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    result.bytes[i] = static_cast<unsigned char>(value.bytes[i] + 3 * old.bytes[i]);
  }
  return result;
}

// True where expected(x, y) is element y of row x of the output, for each element (y, x) of the input.
template <class U, class Expected>
bool all_are(const tt::emulated_buffer<U>& out, shape s, Expected expected) {
  for (std::size_t y = 0; y < s.ny; ++y) {
    for (std::size_t x = 0; x < s.nx; ++x) {
      const U wanted = expected(x, y);
      if (std::memcmp(&out[x * s.ny + y], &wanted, sizeof(U)) != 0) { return false; }
    }
  }
  return true;
}

template <class T>
void check_fused(shape s) {
  tt::emulated_buffer<T> in(s.nx * s.ny);
  tt::emulated_buffer<unsigned short> shorts(s.nx * s.ny);
  fill(in);
  fill(shorts);
  const T* const from = in.data();
  const unsigned short* const from_shorts = shorts.data();
  {
    tt::emulated_buffer<unsigned short> out(s.nx * s.ny);
    launch_case c(describe<T>("transform_transpose to 2 bytes", s));
    c.knows(from, in.size()).knows(out.data(), out.size());
    const cudaError_t status =
        tt::transform_transpose(out.data(), from, s.nx, s.ny, [](const T& v) { return narrow(v); });
    c.expect_once(
        status,
        all_are(out, s, [&](std::size_t x, std::size_t y) { return narrow(in[y * s.nx + x]); }),
        2 * s.nx * s.ny);
  }
  {
    tt::emulated_buffer<T> out(s.nx * s.ny);
    launch_case c(describe<T>("transform_transpose from 2 bytes", s));
    c.knows(from_shorts, shorts.size()).knows(out.data(), out.size());
    const cudaError_t status = tt::transform_transpose(
        out.data(), from_shorts, s.nx, s.ny, [](unsigned short v) { return widen<T>(v); });
    c.expect_once(
        status,
        all_are(out, s,
                [&](std::size_t x, std::size_t y) { return widen<T>(shorts[y * s.nx + x]); }),
        sizeof(T) * s.nx * s.ny);
  }
  {
    tt::emulated_buffer<T> out(s.nx * s.ny);
    fill(out);
    const std::vector<T> old(out.begin(), out.end());
    launch_case c(describe<T>("accumulate_transpose", s));
    c.knows(from, in.size()).knows(out.data(), out.size());
    const cudaError_t status = tt::accumulate_transpose(
        out.data(), from, s.nx, s.ny, [](const T& v, const T& before) { return add(v, before); });
    c.expect_once(status,
                  all_are(out, s,
                          [&](std::size_t x, std::size_t y) {
                            return add(in[y * s.nx + x], old[x * s.ny + y]);
                          }),
                  sizeof(T) * s.nx * s.ny);
  }
  {
    tt::emulated_buffer<unsigned short> out(s.nx * s.ny);
    tt::emulated_buffer<unsigned short> copy(s.nx * s.ny);
    launch_case c(describe<T>("transform_transpose_dual", s));
    c.knows(from, in.size()).knows(out.data(), out.size()).knows(copy.data(), copy.size());
    const cudaError_t status = tt::transform_transpose_dual(
        copy.data(), out.data(), from, s.nx, s.ny, [](const T& v) { return narrow(v); });
    c.expect(status, all_are(out, s, [&](std::size_t x, std::size_t y) {
               return narrow(in[y * s.nx + x]);
             }));
    c.expect_once(status,
                  all_are(out, s, [&](std::size_t x, std::size_t y) { return copy[y * s.nx + x]; }),
                  2 * 2 * s.nx * s.ny);
  }
}

// Shapes one below, at and one above a tile of the size's own kernel; two tiles less one, too, because the end of
// a row in its first tile is found in another way.
template <class T>
std::vector<shape> edge_shapes() {
  constexpr int bytes = static_cast<int>(sizeof(T));
  constexpr tt::tile_policy policy =
      tt::tuned_policy(90, bytes, tt::access_width(sizeof(T), alignof(T)), tt::tile_access::any);
  const auto rows = static_cast<std::size_t>(policy.tile_rows);
  const auto cols = static_cast<std::size_t>(policy.tile_cols);
  std::vector<shape> shapes = {{cols, rows}, {cols - 1, rows + 1}, {cols + 1, 2 * rows - 1}};
  if (bytes <= 16) {
    shapes.push_back({2 * cols + 7, 2 * rows + 5});  // with a tile that no border touches
  }
  return shapes;
}

// What every size has kernels of its own for. Large elements take smaller matrices: the edges are the same.
template <class T>
void check_tuned() {
  constexpr bool small = sizeof(T) <= 16;
  for (const shape s : edge_shapes<T>()) {
    if (small || s.nx % 2 == 1) { check_dense<T>("transpose", s, 0, 0, tuned); }
    if (small && s.nx % 2 == 1) { check_views<T>(s, 1, 3); }  // rows that end in gaps
  }
  if (small) {
    check_dense<T>("transpose", {67, 131}, 1, 3, tuned);
    check_dense<T>("transpose", {128, 128}, 0, 0, tuned);  // vector_kernel
    check_dense<T>("transpose", {128, 112}, 0, 0, tuned);  // not, but for large elements
    check_dense<T>("transpose", {120, 128}, 0, 0, tuned);
  }
  check_dense<T>("transpose", {1, 5}, 0, 0, tuned);
  const std::size_t length = small ? 700 : 150;
  for (const shape s : std::initializer_list<shape>{{2, length}, {length, 3}, {5, length / 2}}) {
    check_dense<T>("transpose", s, 0, 1, tuned);
  }
  check_views<T>({35, small ? 70 : 34}, 5, 3);
  if (small) { check_views<T>({35, 70}, 13, 10); }  // aligned rows that end anywhere
  check_views<T>({2, 130}, 6, 0, 25);               // a tile whose rows' ends meet
  check_batch<T>({7, 9}, small ? 11 : 3, 0, false);
  check_batch<T>({17, 20}, 3, 1, false);
  check_batch<T>({33, 18}, 2, 4, true);
}

template <class T>
void check_others() {
  check_dense<T>("transpose<T, 16, 4>", {33, 47}, 1, 0, [](T* out, const T* in, shape s) {
    return tt::transpose<T, 16, 4>(out, in, s.nx, s.ny);
  });
  check_symmetries<T>({37, 21});
  check_turned_pointers<T>({17, 20}, tt::symmetry::anti_transpose);
  check_inplace<T>({45, 13});
  for (const bool starts_together : {false, true}) {
    check_rectangle<T>({45, 130}, starts_together);
    check_rectangle<T>({66, 20}, starts_together);
    if (sizeof(T) <= 2) {  // squares wider than a band, in rows that start anywhere
      constexpr std::size_t side = (242 / sizeof(T) - 1) | 1;
      check_rectangle<T>({2 * side, 3 * side}, starts_together);
      check_rectangle<T>({3 * side, 2 * side}, starts_together);
    }
    check_rectangle<T>({140, 260}, starts_together);
    check_rectangle<T>({131, 140}, starts_together);
    if (sizeof(T) <= 2) { check_rectangle<T>({251, 300}, starts_together); }
  }
  check_fused<T>({33, 70});
  // Rows that are whole accesses take kernels of their own.
  check_fused<T>(sizeof(T) <= 16 ? shape{144, 80} : shape{48, 34});
}

// Columns longer than the shared memory of all blocks, so that segments of them move: of slabs that a block holds, and
// that several hold together; with columns that begin at any phase, and all at none.
template <class T>
void check_segments() {
  const auto check = [](shape s, int multiprocessors, int shared_bytes) {
    CHECK(check_rectangle<T>(s, [=](cpu::device& device) {
      device.starts_together = true;
      device.multiprocessors = multiprocessors;
      device.shared_bytes = shared_bytes;
    }));
  };
  constexpr std::size_t few = 128 / sizeof(T) + 7;
  constexpr std::size_t many = sizeof(T) == 1   ? 9001
                               : sizeof(T) < 12 ? 20000 / sizeof(T) + 1
                                                : 5001;
  check({few, many}, 12, 48 * 1024);
  check({many, few}, 12, 48 * 1024);
  check({few, many / 32 * 32}, 12, 48 * 1024);
  check({many / 32 * 32, few}, 12, 48 * 1024);
  check({2 * few, many}, 16, 32 * 1024);
  check({many, 2 * few}, 16, 32 * 1024);
  // The last tile of a slab is 9 columns, which a word of 16 bytes may hold.
  if (sizeof(T) == 1) { check({20004, 129}, 40, 3 * (4600 + 1024)); }
  CHECK(!check_rectangle<T>({few + 2, many}, [](cpu::device& device) {
    device.shared_bytes = 32 * 1024;  // without cooperative launches
  }));
}

constexpr bool is_power_or_three_halves(int bytes) {
  while (bytes % 2 == 0) { bytes /= 2; }
  return bytes == 1 || bytes == 3;
}

// The largest alignment that the size allows, and structs of bytes.
template <int Bytes>
using aligned = element<Bytes, tt::access_width(Bytes)>;
template <int Bytes>
using packed = element<Bytes, 1>;

template <int Bytes>
void check_transposes() {
  check_tuned<aligned<Bytes>>();
  if constexpr (Bytes == 17 || Bytes == 18) {  // elements without segments, and with long ones
    for (const bool starts_together : {false, true}) {
      check_rectangle<aligned<Bytes>>({28, 20}, starts_together);
      check_rectangle<aligned<Bytes>>({20, 29}, starts_together);
      check_rectangle<aligned<Bytes>>({30, 24}, starts_together);
    }
  }
  if constexpr (is_power_or_three_halves(Bytes) && alignof(aligned<Bytes>) > 1) {
    check_tuned<packed<Bytes>>();
  }
}

template <int Bytes>
void check_other_calls() {
  if constexpr (is_power_or_three_halves(Bytes)) {
    check_others<aligned<Bytes>>();
    if constexpr (alignof(aligned<Bytes>) > 1) { check_others<packed<Bytes>>(); }
  }
}

template <int Bytes>
void check_columns() {
  if constexpr (Bytes == 1 || Bytes == 3 || Bytes == 12) { check_segments<aligned<Bytes>>(); }
}

template <class Check, int... Offset>
void for_each_size(Check check, std::integer_sequence<int, Offset...>) {
  (check(std::integral_constant<int, FIRST_SIZE + Offset>{}), ...);
}
template <class Check>
void for_each_size(Check check) {
  for_each_size(check, std::make_integer_sequence<int, LAST_SIZE - FIRST_SIZE + 1>());
}

}  // namespace

TEST_CASE("transposes") {
  for_each_size([](auto bytes) { check_transposes<decltype(bytes)::value>(); });
}
TEST_CASE("other calls") {
  for_each_size([](auto bytes) { check_other_calls<decltype(bytes)::value>(); });
}
TEST_CASE("segments of columns in place") {
  for_each_size([](auto bytes) { check_columns<decltype(bytes)::value>(); });
}
