// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank conflicts of tiles, panels, rows, squares in place and fused transforms, counted on the CPU: none where the
// compiler proves none, and elsewhere no more than detail/README.md says. What a table does not name has to be
// free of conflicts.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/tiletranspose.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace {

static_assert(!tt::detail::has_little_work(1, 1, true),
              "movers for large matrices are tested here");

struct shape {
  std::size_t nx, ny, batch;
};

// What accesses of a kind and width may meet.
struct limit {
  enum kind_type { loads, stores } kind;
  int bytes;
  int ways;
};
using limits = std::vector<limit>;

int ways_of(const limits& allowed, const tt::access_report& access) {
  for (const limit& one : allowed) {
    if (one.kind == (access.is_store() ? limit::stores : limit::loads) &&
        one.bytes == access.bytes) {
      return one.ways;
    }
  }
  return 1;
}

void expect(const std::string& what, const limits& allowed) {
  const cpu::device& device = cpu::this_device();
  INFO(what << "; repeat with --rng-seed " << Catch::getSeed() << '\n' << device.last.table());
  CHECK(device.launches > 0);
  CHECK(device.faults == 0);
  for (const auto& [place, access] : device.shared) {
    INFO(place << " bytes");
    CHECK(access.worst_ways <= ways_of(allowed, access));
  }
}

std::string name_of(shape s) {
  return std::to_string(s.nx) + " x " + std::to_string(s.ny) + " x " + std::to_string(s.batch);
}

template <class T>
std::string name_of(const char* call) {
  return std::string(call) + ", " + std::to_string(sizeof(T)) + " bytes aligned to " +
         std::to_string(alignof(T)) + ": ";
}

// A batch, its first elements off a multiple of 256 bytes.
template <class T>
void check(shape s, std::size_t in_offset, std::size_t out_offset, const limits& allowed,
           tt::symmetry how = tt::symmetry::transpose) {
  const std::size_t size = s.nx * s.ny * s.batch;
  tt::emulated_buffer<T> in(size, in_offset);
  tt::emulated_buffer<T> out(size, out_offset);
  fill(in);
  cpu::this_device() = {};
  cpu::this_device().options.knows(static_cast<const T*>(in.data()), size).knows(out.data(), size);
  CHECK(tt::reorient_batched(out.data(), static_cast<const T*>(in.data()), s.nx, s.ny, s.batch,
                             how) == cudaSuccess);
  expect(name_of<T>("reorient_batched") + name_of(s) + ", off by " + std::to_string(in_offset) +
             " and " + std::to_string(out_offset) + ", symmetry " +
             std::to_string(static_cast<int>(how)),
         allowed);
}

// A square in its own memory.
template <class T>
void check_square(std::size_t side, std::size_t offset, const limits& allowed) {
  tt::emulated_buffer<T> data(side * side, offset);
  fill(data);
  cpu::this_device() = {};
  cpu::this_device().options.knows(data.data(), data.size());
  CHECK(tt::transpose_inplace(data.data(), side, side) == cudaSuccess);
  expect(name_of<T>("transpose_inplace") + std::to_string(side) + " rows, off by " +
             std::to_string(offset),
         allowed);
}

// A fused call: `launch` is handed the output and the input.
template <class In, class Out, class Launch>
void check_converted(const char* call, std::size_t nx, std::size_t ny, const limits& allowed,
                     Launch launch) {
  tt::emulated_buffer<In> in(nx * ny);
  tt::emulated_buffer<Out> out(nx * ny);
  fill(in);
  fill(out);
  cpu::this_device() = {};
  const In* const from = in.data();
  cpu::this_device().options.knows(from, in.size()).knows(out.data(), out.size());
  CHECK(launch(out.data(), from) == cudaSuccess);
  expect(name_of<Out>(call) + std::to_string(nx) + " x " + std::to_string(ny), allowed);
}

template <class In, class Out>
void check_fused(std::size_t nx, std::size_t ny, const limits& allowed) {
  const auto op = [](const In& value) {
    Out result{};
    result.bytes[0] = value.bytes[0];
    return result;
  };
  check_converted<In, Out>("transform_transpose", nx, ny, allowed, [&](Out* out, const In* in) {
    return tt::transform_transpose(out, in, nx, ny, op);
  });
}

// A sum, of which the old elements are read.
template <class In, class Out>
void check_sum(std::size_t nx, std::size_t ny, const limits& allowed) {
  const auto op = [](const In& value, const Out& old) {
    Out result = old;
    result.bytes[0] = value.bytes[0];
    return result;
  };
  check_converted<In, Out>("accumulate_transpose", nx, ny, allowed, [&](Out* out, const In* in) {
    return tt::accumulate_transpose(out, in, nx, ny, op);
  });
}

std::size_t between(std::size_t low, std::size_t high) {
  static std::mt19937_64 random(Catch::getSeed());
  return low + random() % (high - low + 1);
}

// True where the last call moved panels.
bool took_panels() {
  for (const auto& [place, access] : cpu::this_device().shared) {
    for (const char* kernel : {"axes_panel", "word_shifted_kernel", "vectorised_kernel"}) {
      if (place.find(kernel) != std::string::npos) { return true; }
    }
  }
  return false;
}

// Large matrices whose rows start anywhere, and whole ones. Smaller ones are moved in panels.
template <class T>
void check_tiles(const limits& allowed) {
  const std::size_t least = sizeof(T) <= 2 ? 310 : 140;
  const auto check_one = [&](shape s, std::size_t in_offset, std::size_t out_offset) {
    check<T>(s, in_offset, out_offset, allowed);
    INFO(name_of(s) << ", " << sizeof(T) << " bytes, in panels");
    CHECK(!took_panels());
  };
  for (int i = 0; i < 3; ++i) {
    const shape s = {between(least, least + 140), between(least, least + 140), 1};
    check_one(s, between(0, 9), between(0, 9));
  }
  // The least one of each kind.
  check_one({least, least, 1}, 1, 1);
  check_one({272, 528, 1}, 0, 0);
}

constexpr auto loads = limit::loads;
constexpr auto stores = limit::stores;

}  // namespace

TEST_CASE("banks: tiles of words do not conflict") {
  check_tiles<element<4>>({});
  check_tiles<element<8>>({});
  check_tiles<element<16>>({});
  check_tiles<element<12, 4>>({});
  check_tiles<element<24, 8>>({});
  check_tiles<element<40, 8>>({});
  // Read where rows of the input lie.
  check_tiles<element<8, 4>>({});
  check_tiles<element<16, 4>>({});
  check_tiles<element<24, 4>>({});
  check_tiles<element<16, 8>>({});
  check_tiles<element<32, 8>>({});
}

TEST_CASE("banks: tiles of small elements do not conflict, wherever rows begin") {
  // But for the ends of rows, access by access, and the word behind single bytes.
  check_tiles<element<1>>({{loads, 4, 4}, {stores, 1, 4}});
  check_tiles<element<2>>({});
  check_tiles<element<3, 1>>({{loads, 16, 2}, {stores, 1, 4}});
  check_tiles<element<6, 2>>({{stores, 2, 4}});
}

TEST_CASE("banks: rows of parts that are no whole warps do not conflict") {
  check_tiles<element<20, 4>>({});
  check_tiles<element<28, 4>>({});
  check_tiles<element<60, 4>>({{loads, 4, 2}});  // the ends of rows
  check_tiles<element<10, 2>>({{stores, 2, 4}});
}

TEST_CASE("banks: strips of vectorised panels do not conflict") {
  // Only where rows of accesses are followed by a pad do copies of 16 bytes conflict, two ways.
  const limits pads = {{loads, 16, 2}, {stores, 16, 2}};
  check<element<1>>({64, 64, 5}, 0, 0, pads);
  check<element<1>>({128, 128, 3}, 0, 0, pads);
  check<element<1>>({256, 16, 9}, 0, 0, pads);
}

// Word-shifted panels are not proved. Where every group of columns begins in the same banks, or by a rotation that leads back to
// them, a request of theirs took up to 32 cycles.
TEST_CASE("banks: words of word-shifted panels are read and written at about two ways") {
  const auto check_mean = [](shape s, std::size_t out_offset, auto element_of_kind) {
    using type = decltype(element_of_kind);
    const limits any = {{loads, 4, 32}, {stores, 4, 32}, {loads, 16, 2}, {stores, 16, 2},
                        {loads, 1, 32}, {stores, 1, 2},  {loads, 2, 32}, {stores, 2, 2}};
    check<type>(s, 0, out_offset, any);
    tt::access_report words;
    for (const auto& [place, access] : cpu::this_device().shared) {
      if (access.bytes == 4) { words += access; }
    }
    INFO(name_of(s) << ", off by " << out_offset << '\n' << cpu::this_device().last.table());
    CHECK(words.mean_ways() < 2.75);
  };
  for (const shape s : std::initializer_list<shape>{
           {30, 64, 40}, {126, 208, 2}, {62, 112, 3}, {110, 64, 3}, {49, 51, 9}, {60, 2048, 1}}) {
    check_mean(s, 0, element<1>{});
  }
  check_mean({60, 2048, 1}, 1, element<1>{});
  check_mean({33, 2048, 1}, 3, element<1>{});
  check_mean({33, 1031, 1}, 1, element<1>{});
  check_mean({64, 64, 5}, 1, element<1>{});
  check_mean({40, 40, 9}, 3, element<1>{});
  check_mean({94, 208, 2}, 0, element<2>{});
  check_mean({62, 1024, 1}, 1, element<2>{});
}

TEST_CASE("banks: words of panels of random shapes are read at about two ways") {
  const auto check_mean = [](const char* kind, auto shape_of, auto element_of_kind) {
    using type = decltype(element_of_kind);
    tt::access_report words;
    for (int i = 0; i < 40; ++i) {
      const limits any = {{loads, 1, 32}, {stores, 1, 32}, {loads, 2, 32}, {stores, 2, 32},
                          {loads, 4, 32}, {stores, 4, 32}, {loads, 8, 16}, {stores, 8, 16},
                          {loads, 16, 8}, {stores, 16, 8}};
      check<type>(shape_of(), between(0, 3), between(0, 3), any);
      for (const auto& [place, access] : cpu::this_device().shared) {
        if (access.bytes == 4) { words += access; }
      }
    }
    INFO(kind << ", elements of " << sizeof(type) << " bytes; --rng-seed " << Catch::getSeed());
    CHECK(words.mean_ways() < 2.75);
  };
  const auto check_kinds = [&](auto element_of_kind) {
    check_mean(
        "batches",
        [] {
          const std::size_t nx = between(5, 90);
          const std::size_t ny = between(5, 90);
          return shape{nx, ny, 24000 / (nx * ny) + 2};
        },
        element_of_kind);
    check_mean(
        "few columns",
        [] {
          return shape{between(5, 64), between(1031, 1131), 1};
        },
        element_of_kind);
    check_mean(
        "few rows",
        [] {
          return shape{between(1031, 1131), between(5, 64), 1};
        },
        element_of_kind);
  };
  check_kinds(element<1>{});
  check_kinds(element<2>{});
}

// Layouts are chosen by the conflicts of one warp, and some sides leave no layout without: how often depends on both
// sides, so that all are tried. Threads that write the table of segments take two ways where these are no whole warps.
TEST_CASE("banks: words are gathered at up to seven ways") {
  const limits rounds = {{stores, 16, 2}, {stores, 4, 2}, {loads, 4, 3}};
  check<element<4>>({1001, 7, 1}, 1, 0, rounds);
  check<element<4>>({1001, 31, 1}, 0, 1, rounds);
  check<element<4>>({500, 52, 1}, 1, 1, rounds);
  check<element<4>>({204, 135, 1}, 0, 5, rounds);
  check<element<4>>({301, 49, 1}, 1, 5, rounds);
  check<element<8>>({401, 15, 1}, 1, 1, rounds);
  const auto each = [](std::size_t least, std::size_t most_cols, std::size_t most_rows,
                       auto visit) {
    for (std::size_t nx = least; nx <= most_cols; ++nx) {
      for (std::size_t ny = least; ny <= most_rows; ++ny) { visit(nx, ny); }
    }
  };
  const limits whole = {{stores, 16, 2}, {stores, 4, 2}, {loads, 4, 7}};
  each(2, 40, 28, [&](auto nx, auto ny) { check<element<4>>({nx, ny, 9}, 1, 1, whole); });
  each(2, 30, 28, [&](auto nx, auto ny) { check<element<12, 4>>({nx, ny, 9}, 1, 1, whole); });
  each(29, 60, 60, [&](auto nx, auto ny) { check<element<4>>({nx, ny, 3}, 1, 1, rounds); });
}

TEST_CASE("banks: rows that stay rows") {
  using tt::symmetry;
  // Within a segment nothing conflicts; a warp that goes on to the next segment may conflict with the one before.
  const limits segments = {{stores, 16, 2}, {loads, 16, 2}, {stores, 1, 4}, {loads, 1, 2}};
  check<element<4>>({5000, 1, 1}, 1, 0, {{stores, 1, 2}}, symmetry::identity);
  check<element<4>>({9000, 1, 1}, 1, 2, {{stores, 1, 2}}, symmetry::flip_lr);
  check<element<1>>({1281, 20, 1}, 12, 7, segments, symmetry::flip_lr);
  // Words of joined rows, which start anywhere.
  check<element<1>>({281, 50, 1}, 12, 7, {{loads, 4, 4}}, symmetry::flip_lr);
  check<element<4>>({71, 50, 1}, 1, 2, {{loads, 4, 4}}, symmetry::flip_lr);
  check<element<32, 16>>({200, 9, 1}, 1, 2, segments, symmetry::flip_lr);
  const limits groups = {{stores, 16, 2}, {loads, 16, 2}, {stores, 1, 4},
                         {loads, 1, 2},   {loads, 4, 2},  {stores, 4, 2}};
  check<element<12, 4>>({300, 40, 1}, 1, 2, groups, symmetry::flip_lr);
  check<element<24, 8>>({300, 20, 1}, 1, 2, groups, symmetry::flip_lr);
  check<element<31, 1>>({700, 3, 1}, 1, 2, groups, symmetry::flip_lr);
}

TEST_CASE("banks: squares in place") {
  check_square<element<4>>(256, 0, {});
  check_square<element<1>>(256, 0, {});
  check_square<element<8>>(66, 0, {});
  // Rows that start anywhere, four or two of them in a warp.
  check_square<element<8>>(190, 1, {{stores, 8, 2}, {loads, 8, 2}});
  check_square<element<4>>(391, 1, {{stores, 4, 2}, {loads, 4, 3}});
  check_square<element<1>>(357, 3, {{stores, 1, 4}, {loads, 1, 4}});
  check_square<element<2>>(381, 1, {{stores, 2, 4}, {loads, 2, 4}});
  // Chunks, rows of which share a warp.
  check_square<element<3>>(151, 1, {{stores, 1, 4}, {loads, 16, 2}, {loads, 1, 4}});
  check_square<element<6>>(100, 1, {{stores, 2, 4}, {loads, 16, 2}, {loads, 2, 4}});
  check_square<element<12>>(70, 1, {{stores, 4, 4}, {loads, 4, 4}});
  check_square<element<31>>(50, 1, {{stores, 1, 4}, {loads, 16, 2}, {loads, 1, 4}});
  check_square<element<48>>(50, 1, {});
}

TEST_CASE("banks: fused calls") {
  check_fused<element<4>, element<4>>(256, 192, {});
  check_fused<element<4>, element<4>>(259, 190, {});
  check_fused<element<16>, element<16>>(70, 67, {});
  check_fused<element<4>, element<16, 4>>(70, 67, {});
  check_fused<element<4>, element<12, 4>>(70, 67, {});
  check_fused<element<4>, element<2>>(259, 190, {{loads, 2, 2}});
  check_fused<element<11, 1>, element<11, 1>>(70, 67, {{loads, 16, 2}});
}

TEST_CASE("banks: packed elements that are added to") {
  check_sum<element<12, 4>, element<12, 4>>(128, 96, {});
  check_sum<element<12, 4>, element<12, 4>>(131, 99, {});
  check_sum<element<6, 2>, element<6, 2>>(128, 192, {});
  check_sum<element<6, 2>, element<6, 2>>(131, 190, {});
  // Pieces that are no whole lines, and the ends of those that start inside of a word.
  const limits lines{{loads, 4, 2}, {stores, 4, 2}};
  const limits ends{{loads, 4, 2}, {stores, 4, 2}, {loads, 1, 2}};
  check_sum<element<3, 1>, element<3, 1>>(192, 192, lines);
  check_sum<element<3, 1>, element<3, 1>>(259, 190, ends);
  check_sum<element<4>, element<3, 1>>(259, 190, ends);
  check_sum<element<1>, element<3, 1>>(259, 190, ends);
  check_sum<element<5, 1>, element<5, 1>>(131, 190, ends);
  check_sum<element<11, 1>, element<11, 1>>(131, 99, ends);
}
