// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fused calls, of one pair of types, each at one shape.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tiletranspose/transpose.cuh>
#include <type_traits>
#include <utility>

#include "../fused_forms.cuh"
#include "cases.cuh"
#include "geam.cuh"
#include "textbook.cuh"

namespace bench {

/// From elements of T to elements of U. A copy, where there is one, lies behind the output.
template <form Form, class T, class U, class Op>
void plan_fused(const char* call, const small_shape& given, small_plan& plan, Op op) {
  const small_shape cut = for_elements_of(given, sizeof(U));
  const shape s = completed({cut.nx, cut.ny});
  const relocation r = relocate(tt::symmetry::transpose, s.nx, s.ny, s.nx, s.ny);
  const std::size_t out_bytes = s.elements() * sizeof(U);
  const std::size_t copy_at = (out_bytes + 255) / 256 * 256;
  const cudaStream_t stream = device().stream;
  const auto* const in = reinterpret_cast<const T*>(device().in);
  auto* const out = reinterpret_cast<U*>(device().out);
  auto* const copy = reinterpret_cast<U*>(device().out + copy_at);

  small_case c{};
  c.call = call;
  c.label = std::to_string(s.nx) + "x" + std::to_string(s.ny);
  if (sizeof(T) != sizeof(U)) { c.label += "-to-" + std::to_string(sizeof(U)) + "-byte"; }
  c.element = sizeof(T);
  c.copied = s.elements() * (sizeof(T) + (Form == form::transform ? 1 : 2) * sizeof(U)) / 2;
  c.prepare = [=] {
    must(cudaMemsetAsync(device().out, 0xFF, copy_at + out_bytes, stream), "poisoning the output");
    if (Form == form::accumulate) {
      fill_random<<<1024, 256, 0, stream>>>(reinterpret_cast<std::uint32_t*>(out),
                                            (out_bytes + 3) / 4);
      must(cudaGetLastError(), "fill_random");
    }
  };
  c.check = [=] { verify_fused<Form, T>(out, copy, s, op); };
  c.field.push_back({entrant::ours, [=] {
                       if constexpr (Form == form::transform) {
                         return tt::transform_transpose(out, in, s.nx, s.ny, op, stream);
                       } else if constexpr (Form == form::accumulate) {
                         return tt::accumulate_transpose(out, in, s.nx, s.ny, op, stream);
                       } else {
                         return tt::transform_transpose_dual(copy, out, in, s.nx, s.ny, op, stream);
                       }
                     }});
  c.field.push_back({entrant::textbook, [=] {
                       return run_textbook<T, Form == form::accumulate, Form == form::dual>(
                           at_strides<T, U>{in, out, copy, 0, 0}, r, stream, op);
                     }});
  if constexpr (Form == form::accumulate &&
                (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
    enter_geam(c, out, in, s, update::alpha, update::beta);
  }
  plan.push_back(std::move(c));
}

/// A conversion, an accumulation into elements of the same type, and a conversion with two outputs.
template <class T, class Converted, class Dual, class Convert, class Twice, class Update>
void plan_all_fused(const small_shape& s, small_plan& plan, Convert convert, Twice twice,
                    Update sum) {
  if (s.element != sizeof(T)) { return; }
  plan_fused<form::transform, T, Converted>("transform", s, plan, convert);
  plan_fused<form::accumulate, T, T>("accumulate", s, plan, sum);
  plan_fused<form::dual, T, Dual>("dual", s, plan, twice);
}

}  // namespace bench
