// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The calls that move elements as they are, of one type, each at one shape.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>
#include <utility>
#include <vector>

#include "cases.cuh"
#include "geam.cuh"
#include "textbook.cuh"

namespace bench {

inline std::string sides(std::size_t nx, std::size_t ny) {
  return std::to_string(nx) + "x" + std::to_string(ny);
}

template <class T>
class small_moves {
 public:
  small_moves(const small_shape& s, small_plan& plan) : s_{s}, plan_{plan} {}

  void add_all() {
    add_transpose();
    add_view();
    add_batches();
    const std::size_t nx = s_.nx, ny = s_.ny;
    add_symmetry("rotate-90", tt::symmetry::rotate_90, nx, ny, turn<1>{});
    add_symmetry("rotate-270", tt::symmetry::rotate_270, nx, ny, turn<3>{});
    add_symmetry("anti-transpose", tt::symmetry::anti_transpose, nx, ny,
                 [](auto... arguments) { return tt::anti_transpose(arguments...); });
    add_symmetry("rotate-180", tt::symmetry::rotate_180, nx, ny, turn<2>{});
    add_symmetry("flip-lr", tt::symmetry::flip_lr, nx, ny,
                 [](auto... arguments) { return tt::flip_lr(arguments...); });
    add_symmetry("flip-ud", tt::symmetry::flip_ud, nx, ny,
                 [](auto... arguments) { return tt::flip_ud(arguments...); });
    add_symmetry("reverse", tt::symmetry::flip_lr, nx * ny, 1,
                 [](T* out, const T* in, std::size_t n, std::size_t, cudaStream_t stream) {
                   return tt::reverse(out, in, n, stream);
                 });
    add_square();
  }

 private:
  template <int Quarters>
  struct turn {
    cudaError_t operator()(T* out, const T* in, std::size_t nx, std::size_t ny,
                           cudaStream_t stream) const {
      return tt::rotate(out, in, nx, ny, Quarters, stream);
    }
  };

  T* out() const { return reinterpret_cast<T*>(device().out); }
  const T* in() const { return reinterpret_cast<const T*>(device().in); }

  small_case start(const char* call, const std::string& label, const relocation& r) const {
    small_case c{};
    c.call = call;
    c.label = label;
    c.element = sizeof(T);
    c.copied = r.elements() * sizeof(T);
    c.prepare = [bytes = r.out_extent() * sizeof(T)] {
      must(cudaMemsetAsync(device().out, 0xFF, bytes, device().stream), "poisoning the output");
    };
    c.check = [r] { verify_relocation(r, sizeof(T)); };
    return c;
  }

  static at_strides<T, T> place_of(const relocation& r) {
    return {reinterpret_cast<const T*>(device().in) + r.in_first,
            reinterpret_cast<T*>(device().out) + r.out_first, nullptr, static_cast<int>(r.in_batch),
            static_cast<int>(r.out_batch)};
  }
  void enter_textbook(small_case& c, const relocation& r) const {
    const cudaStream_t stream = device().stream;
    c.field.push_back({entrant::textbook, [=] { return run_textbook<T>(place_of(r), r, stream); }});
  }

  void add_transpose() {
    const shape s = completed({s_.nx, s_.ny});
    const relocation r = relocate(tt::symmetry::transpose, s.nx, s.ny, s.nx, s.ny);
    small_case c = start("transpose", sides(s.nx, s.ny), r);
    T* const to = out();
    const T* const from = in();
    const cudaStream_t stream = device().stream;
    c.field.push_back({entrant::ours, [=] { return tt::transpose(to, from, s.nx, s.ny, stream); }});
    enter_textbook(c, r);
    c.field.push_back(
        {entrant::written, [=] { return tt::transpose<T, 32, 8>(to, from, s.nx, s.ny, stream); }});
    enter_geam(c, to, from, s, 1);
    plan_.push_back(std::move(c));
  }

  // A part of a larger matrix on both sides.
  void add_view() {
    small_numbers numbers(s_.draws);
    shape s{s_.nx, s_.ny};
    s.in_stride = make_small_stride(s.nx, numbers);
    s.out_stride = make_small_stride(s.ny, numbers);
    s.in_offset = numbers.between(0, 15);
    s.out_offset = numbers.between(0, 15);
    relocation r = relocate(tt::symmetry::transpose, s.nx, s.ny, s.in_stride, s.out_stride);
    r.in_first += static_cast<long long>(s.in_offset);
    r.out_first += static_cast<long long>(s.out_offset);
    small_case c = start("view",
                         sides(s.nx, s.ny) + "-inside-" + std::to_string(s.in_stride) + "-" +
                             std::to_string(s.out_stride) + "-off-" + std::to_string(s.in_offset) +
                             "-" + std::to_string(s.out_offset),
                         r);
    T* const to = out() + s.out_offset;
    const T* const from = in() + s.in_offset;
    const cudaStream_t stream = device().stream;
    const tt::matrix_view<T> out_view{to, s.nx, s.ny, s.out_stride};
    const tt::matrix_view<const T> in_view{from, s.ny, s.nx, s.in_stride};
    c.field.push_back({entrant::ours, [=] { return tt::transpose(out_view, in_view, stream); }});
    enter_textbook(c, r);
    c.field.push_back(
        {entrant::written, [=] { return tt::transpose<T, 32, 8>(out_view, in_view, stream); }});
    enter_geam(c, to, from, s, 1);
    plan_.push_back(std::move(c));
  }

  void add_batches() {
    small_numbers numbers(s_.draws + 1);
    const small_batch b = make_small_batch(s_, numbers);
    const std::size_t area = b.nx * b.ny;
    const std::string label = std::to_string(b.batch) + "x" + sides(b.nx, b.ny);
    const cudaStream_t stream = device().stream;
    T* const to = out();
    const T* const from = in();
    relocation r = relocate(tt::symmetry::transpose, b.nx, b.ny, b.nx, b.ny);
    r.batch = static_cast<long long>(b.batch);
    r.in_batch = r.out_batch = static_cast<long long>(area);
    small_case dense = start("batch", label, r);
    dense.field.push_back({entrant::ours, [=] {
                             return tt::transpose_batched(to, from, b.nx, b.ny, b.batch, stream);
                           }});
    enter_textbook(dense, r);
    plan_.push_back(std::move(dense));

    relocation apart = r;
    apart.in_batch += static_cast<long long>(numbers.between(1, 40));
    apart.out_batch += static_cast<long long>(numbers.between(1, 40));
    const auto in_batch = static_cast<std::size_t>(apart.in_batch);
    const auto out_batch = static_cast<std::size_t>(apart.out_batch);
    small_case strided = start(
        "batch-strided",
        label + "-every-" + std::to_string(in_batch) + "-" + std::to_string(out_batch), apart);
    strided.field.push_back({entrant::ours, [=] {
                               return tt::transpose_batched(to, out_batch, from, in_batch, b.nx,
                                                            b.ny, b.batch, stream);
                             }});
    enter_textbook(strided, apart);
    plan_.push_back(std::move(strided));
    add_pointers(b, r, label);
  }

  // The input's matrices are taken from the last to the first.
  void add_pointers(const small_batch& b, relocation r, const std::string& label) {
    r.in_first = (r.batch - 1) * r.in_batch;
    r.in_batch = -r.in_batch;
    small_case c = start("batch-pointers", label, r);
    auto* const ins = reinterpret_cast<const T**>(pointer_arrays());
    auto* const outs = reinterpret_cast<T**>(pointer_arrays() + b.batch * sizeof(T*));
    const cudaStream_t stream = device().stream;
    c.prepare = [=, poison = std::move(c.prepare)] {
      poison();
      std::vector<const T*> inputs;
      std::vector<T*> outputs;
      const at_strides<T, T> place = place_of(r);
      for (long long i = 0; i < r.batch; ++i) {
        inputs.push_back(place.in + i * r.in_batch);
        outputs.push_back(place.out + i * r.out_batch);
      }
      const std::size_t bytes = b.batch * sizeof(T*);
      must(cudaMemcpyAsync(ins, inputs.data(), bytes, cudaMemcpyHostToDevice, stream), "pointers");
      must(cudaMemcpyAsync(outs, outputs.data(), bytes, cudaMemcpyHostToDevice, stream),
           "pointers");
      must(cudaStreamSynchronize(stream), "pointers");
    };
    c.field.push_back({entrant::ours, [=] {
                         return tt::transpose_batched(outs, ins, b.nx, b.ny, b.batch, stream);
                       }});
    c.field.push_back({entrant::textbook, [=] {
                         return run_textbook<T>(at_pointers<T, T>{ins, outs}, r, stream);
                       }});
    plan_.push_back(std::move(c));
  }

  // Dense matrices. `ours` takes (out, in, nx, ny, stream).
  template <class Ours>
  void add_symmetry(const char* call, tt::symmetry how, std::size_t nx, std::size_t ny, Ours ours) {
    const bool turns = tt::transposes(how);
    const relocation r = relocate(how, nx, ny, nx, turns ? ny : nx);
    small_case c = start(call, sides(nx, ny), r);
    T* const to = out();
    const T* const from = in();
    const cudaStream_t stream = device().stream;
    c.field.push_back({entrant::ours, [=] { return ours(to, from, nx, ny, stream); }});
    if (turns) {
      enter_textbook(c, r);
    } else {
      c.field.push_back(
          {entrant::textbook, [=] { return run_textbook_flip(to, place_of(r).in, r, stream); }});
    }
    plan_.push_back(std::move(c));
  }

  // A square with about as many elements, which starts as a copy of the input.
  void add_square() {
    const auto side =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(s_.nx * s_.ny))));
    const relocation r = relocate(tt::symmetry::transpose, side, side, side, side);
    small_case c = start("square-inplace", sides(side, side), r);
    T* const data = out();
    const cudaStream_t stream = device().stream;
    c.prepare = [bytes = c.copied, stream] {
      must(cudaMemcpyAsync(device().out, device().in, bytes, cudaMemcpyDeviceToDevice, stream),
           "filling the square");
    };
    c.field.push_back(
        {entrant::ours, [=] { return tt::transpose_inplace(data, side, side, stream); }});
    c.field.push_back({entrant::textbook, [=] { return run_textbook_swap(data, side, stream); }});
    plan_.push_back(std::move(c));
  }

  const small_shape& s_;
  small_plan& plan_;
};

}  // namespace bench
