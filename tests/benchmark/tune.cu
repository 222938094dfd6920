// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds where little work ends on this GPU: moves matrices of rising sizes by the mover for little work and by the one
// that takes them else, and prints a header of tuning rows for TILETRANSPOSE_TUNING_HEADER. What was found, and what it
// gains, goes to standard error. Every case is verified before it is timed.
//
//   tiletranspose_tune > my_tuning.h
//   tiletranspose_tune --rounds=15    graphs that each median is taken from (9)

#include <tiletranspose/reverse.cuh>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "paired.cuh"
#include "small/cases.cuh"
#include "tune/limits.hpp"

namespace bench {
namespace {

namespace lib = tt::detail;

/// One call by both ways, what it moves, and what limits are compared with.
struct both_ways {
  std::function<cudaError_t()> little, large;
  relocation moved;
  std::size_t counted;
};

template <int Bytes, int Alignment>
struct alignas(Alignment) element {
  unsigned char bytes[Bytes];
};

lib::choice choose_little(const lib::transpose_facts& facts) {
  lib::choice chosen;
  chosen.by = lib::mover::little;
  const lib::small_problem little = lib::little_problem(facts);
  chosen.little = lib::small_mover_of(little, lib::work_of(little).direct);
  return chosen;
}

template <int Bytes, int Alignment>
lib::transpose_facts facts_of(std::size_t nx, std::size_t ny, std::size_t batch) {
  using type = element<Bytes, Alignment>;
  const arena& a = device();
  const lib::batch_problem problem = lib::make_problem(
      lib::dense_request(reinterpret_cast<type*>(a.out), reinterpret_cast<const type*>(a.in), nx,
                         ny, batch, nx * ny, nx * ny));
  return {problem, Bytes, tt::access_width(Bytes, Alignment),
          lib::address_bits_of(problem, Alignment), lib::most_shared_bytes()};
}

template <int Bytes, int Alignment, lib::matrices Matrices, class Choose>
cudaError_t transpose_by(Choose choose, std::size_t nx, std::size_t ny, std::size_t batch) {
  constexpr int access = static_cast<int>(tt::access_width(Bytes, Alignment));
  static_assert(lib::has_little_work(Bytes, access, true), "compiled without what is timed");
  const lib::transpose_facts facts = facts_of<Bytes, Alignment>(nx, ny, batch);
  const lib::choice chosen = choose(facts);
  return lib::with_mover<Bytes, access>(chosen, [&](auto mover) {
    return lib::run_choice<Matrices>(mover, facts, chosen, device().stream);
  });
}

/// \param by_work  the limit is one of work, else of elements
template <int Bytes, int Alignment, lib::matrices Matrices = lib::matrices::one>
both_ways transposes(std::size_t nx, std::size_t ny, bool by_work = false, std::size_t batch = 1) {
  relocation moved = relocate(tt::symmetry::transpose, nx, ny, nx, ny);
  moved.batch = static_cast<long long>(batch);
  moved.in_batch = moved.out_batch = static_cast<long long>(nx * ny);
  const std::size_t work =
      lib::work_of(lib::little_problem(facts_of<Bytes, Alignment>(nx, ny, batch))).places;
  return {
      [=] { return transpose_by<Bytes, Alignment, Matrices>(choose_little, nx, ny, batch); },
      [=] { return transpose_by<Bytes, Alignment, Matrices>(lib::choose_large, nx, ny, batch); },
      moved, by_work ? work : nx * ny * batch};
}

template <int Bytes, int Alignment>
both_ways flips(std::size_t nx, std::size_t ny) {
  using type = element<Bytes, Alignment>;
  const arena& a = device();
  const tt::matrix_view<type> out{reinterpret_cast<type*>(a.out), ny, nx, nx};
  const tt::matrix_view<const type> in{reinterpret_cast<const type*>(a.in), ny, nx, nx};
  constexpr tt::symmetry flip = tt::symmetry::flip_lr;
  const lib::row_problem rows = lib::make_rows(lib::reorient_request(out, in, flip), flip);
  return {
      [=] {
        return lib::with_access<Bytes, Alignment>(lib::row_bits(rows, Alignment), [&](auto width) {
          const lib::copy_operation<Bytes, decltype(width)::value> operation;
          const lib::little_rows work = lib::make_little_rows(rows);
          return lib::launch_small<false>(lib::small_mover_of(work.problem, false), work.problem,
                                          lib::batch_of<lib::matrices::one>(work.sides), operation,
                                          device().stream);
        });
      },
      [=] { return lib::launch_rows<Bytes, Alignment>(rows, device().stream); },
      relocate(flip, nx, ny, nx, nx), nx * ny};
}

/// Calls of one kind, of about `elements` elements each.
using make_calls = std::vector<both_ways> (*)(std::size_t elements);

std::size_t odd(double side) { return static_cast<std::size_t>(side) | 1; }
double root(std::size_t elements) { return std::sqrt(static_cast<double>(elements)); }

template <int Bytes, int Alignment>
std::vector<both_ways> long_sides(std::size_t elements) {
  const std::size_t nx = odd(root(elements));
  return {transposes<Bytes, Alignment>(nx, elements / nx | 1)};
}
/// Rows of an odd number of 16-byte accesses, so that whole tiles do not fill the matrix.
template <int Bytes, int Alignment>
std::vector<both_ways> whole_rows(std::size_t elements) {
  constexpr std::size_t step = 16 % Bytes == 0 ? 16 / Bytes : 16;
  const std::size_t side = step * odd(root(elements) / step);
  return {transposes<Bytes, Alignment>(side, side)};
}
/// Few columns, few rows and small matrices, as many of them as panels of a kind take else.
template <int Bytes, int Alignment, class Takes>
std::vector<both_ways> in_panels(std::size_t elements, Takes takes) {
  std::vector<both_ways> calls;
  const auto add = [&](auto kind, std::size_t nx, std::size_t ny, std::size_t batch) {
    if (takes(lib::choose_large(facts_of<Bytes, Alignment>(nx, ny, batch)))) {
      calls.push_back(transposes<Bytes, Alignment, decltype(kind)::value>(nx, ny, true, batch));
    }
  };
  using one = std::integral_constant<lib::matrices, lib::matrices::one>;
  using several = std::integral_constant<lib::matrices, lib::matrices::batch>;
  for (const std::size_t side : {3, 17}) {  // moved directly, and by tiles
    add(one{}, side, elements / side | 1, 1);
    add(one{}, elements / side | 1, side, 1);
  }
  for (const std::size_t side : {5, 16, 25, 32}) {
    const std::size_t batch = elements / (side * side);
    if (batch > 1 && batch <= lib::max_grid_side) { add(several{}, side, side, batch); }
  }
  return calls;
}
template <int Bytes, int Alignment>
std::vector<both_ways> gathered(std::size_t elements) {
  return in_panels<Bytes, Alignment>(
      elements, [](const lib::choice& c) { return c.by == lib::mover::gathered_panel; });
}
template <int Bytes, int Alignment>
std::vector<both_ways> vectorised(std::size_t elements) {
  return in_panels<Bytes, Alignment>(
      elements, [](const lib::choice& c) { return c.by == lib::mover::vectorised_panel; });
}
template <int Bytes, int Alignment>
std::vector<both_ways> shifted(std::size_t elements) {
  return in_panels<Bytes, Alignment>(elements, [](const lib::choice& c) {
    return c.by == lib::mover::word_shifted_panel && c.panels != lib::panel_kind::few_columns;
  });
}
template <int Bytes, int Alignment>
std::vector<both_ways> shifted_columns(std::size_t elements) {
  return in_panels<Bytes, Alignment>(elements, [](const lib::choice& c) {
    return c.by == lib::mover::word_shifted_panel && c.panels == lib::panel_kind::few_columns;
  });
}
template <int Bytes, int Alignment>
std::vector<both_ways> mirrored(std::size_t elements) {
  const std::size_t nx = odd(root(elements));
  return {flips<Bytes, Alignment>(nx, elements / nx | 1)};
}

void verify(const both_ways& call, std::size_t bytes) {
  const arena& a = device();
  for (const auto& way : {call.little, call.large}) {
    must(cudaMemsetAsync(a.out, 0xA5, call.moved.elements() * bytes, a.stream), "cudaMemsetAsync");
    must(way(), "a call");
    verify_relocation(call.moved, bytes);
  }
}

constexpr std::size_t least_elements = std::size_t{1} << 11;
constexpr std::size_t most_elements = std::size_t{1} << 25;

/// From few elements to many, until the mover for little work is far behind.
std::vector<timed_both_ways> time_rising(make_calls make, std::size_t bytes, int rounds) {
  const events timer;
  std::vector<timed_both_ways> timed;
  int behind = 0;
  for (double n = least_elements; n <= most_elements && behind < 3; n *= std::sqrt(2.0)) {
    const auto elements = static_cast<std::size_t>(n);
    double little = 0, large = 0, counted = 0;  // logarithms
    if (2 * elements * bytes > device().bytes) { break; }
    const std::vector<both_ways> calls = make(elements);
    if (calls.empty()) { continue; }
    const int repeats = elements * bytes <= (std::size_t{4} << 20) ? 40 : 10;
    for (const both_ways& call : calls) {
      verify(call, bytes);
      const cudaStream_t stream = device().stream;
      const paired_times times = time_beside(timer, stream, in_graph(stream, repeats, call.little),
                                             in_graph(stream, repeats, call.large), rounds);
      little += std::log(times.call);
      large += std::log(times.copy);
      counted += std::log(static_cast<double>(call.counted));
    }
    const auto count = static_cast<double>(calls.size());
    timed.push_back({static_cast<std::size_t>(std::exp(counted / count)), std::exp(little / count),
                     std::exp(large / count)});
    behind = timed.back().little > 1.5 * timed.back().large ? behind + 1 : 0;
  }
  return timed;
}

/// The library's row for elements of so many bytes, and what is better here. Other sizes take it, too, as far as the next.
template <int Bytes, int Alignment>
lib::small_limits tune_row(int rounds) {
  using place = std::size_t lib::small_limits::*;
  struct limit {
    const char* name;
    place value;
    make_calls calls;
  };
  const limit limits[] = {
      {"tile", &lib::small_limits::tile, &long_sides<Bytes, Alignment>},
      {"whole", &lib::small_limits::whole, &whole_rows<Bytes, Alignment>},
      {"gathered", &lib::small_limits::gathered, &gathered<Bytes, Alignment>},
      {"vectorised", &lib::small_limits::vectorised, &vectorised<Bytes, Alignment>},
      {"shifted", &lib::small_limits::shifted, &shifted<Bytes, Alignment>},
      {"columns", &lib::small_limits::shifted_columns, &shifted_columns<Bytes, Alignment>},
      {"rows", &lib::small_limits::rows, &mirrored<Bytes, Alignment>},
  };
  lib::small_limits row = lib::small_limits_of(Bytes);
  for (const limit& one : limits) {
    const std::size_t shipped = row.*one.value;
    const found_limit found = find_limit(time_rising(one.calls, Bytes, rounds), shipped);
    row.*one.value = found.limit;
    std::fprintf(stderr, "%2d bytes, %-10s %9zu -> %9zu, gain %.2f\n", Bytes, one.name, shipped,
                 found.limit, found.gain);
  }
  return row;
}

std::string where_and_when() {
  char date[16] = {};
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return machine() + "; " + date;
}

int parse_rounds(int argc, char** argv) {
  const std::string name = "--rounds=";
  int rounds = 9;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    rounds = word.rfind(name, 0) == 0 ? std::atoi(word.c_str() + name.size()) : 0;
    if (rounds < 1) { throw std::runtime_error("no option: " + word + "; there is --rounds=N"); }
  }
  return rounds;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  const int rounds = bench::parse_rounds(argc, argv);
  bench::set_up_device();
  bench::print_header(
      std::cout, bench::where_and_when(),
      {bench::tune_row<1, 1>(rounds), bench::tune_row<2, 2>(rounds), bench::tune_row<3, 1>(rounds),
       bench::tune_row<4, 4>(rounds), bench::tune_row<6, 2>(rounds), bench::tune_row<8, 8>(rounds),
       bench::tune_row<12, 4>(rounds), bench::tune_row<16, 16>(rounds),
       bench::tune_row<32, 16>(rounds)});
  return 0;
} catch (const std::exception& error) {
  std::cerr << "tiletranspose_tune: " << error.what() << '\n';
  return 1;
}
