// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fused calls, between types of several sizes and alignments.

#include "array_calls.cuh"

#include <tiletranspose/transpose.cuh>

namespace fuzz {
namespace {

template <unsigned Bytes, unsigned Alignment>
struct alignas(Alignment) element {
  unsigned char bytes[Bytes];
};

// What blended_byte() and accumulated_byte() say, of whole elements.
template <class In, class Out>
struct blend {
  unsigned salt;

  __host__ __device__ Out operator()(const In& value) const {
    Out result;
    for (unsigned b = 0; b < sizeof(Out); ++b) {
      result.bytes[b] = static_cast<unsigned char>(
          blended_byte(b, sizeof(In), salt, [&](unsigned i) { return unsigned{value.bytes[i]}; }));
    }
    return result;
  }
  __host__ __device__ Out operator()(const In& value, const Out& old) const {
    Out result = (*this)(value);
    for (unsigned b = 0; b < sizeof(Out); ++b) {
      result.bytes[b] = static_cast<unsigned char>(accumulated_byte(result.bytes[b], old.bytes[b]));
    }
    return result;
  }
};

template <class In, class Out>
caller find_pair(call which) {
  using arguments_type = const bound_arguments&;
  using op = blend<In, Out>;
  static const auto in = [](arguments_type a) {
    return tt::matrix_view<const In>{a.in<In>(), a.with.ny, a.with.nx, a.with.in_stride};
  };
  static const auto out = [](arguments_type a) {
    return tt::matrix_view<Out>{a.out<Out>(), a.with.out_rows, a.with.out_cols, a.with.out_stride};
  };
  static const auto copy = [](arguments_type a) {
    return tt::matrix_view<Out>{a.copy<Out>(), a.with.copy_rows, a.with.copy_cols,
                                a.with.copy_stride};
  };
  switch (which) {
    case call::transform:
      return [](arguments_type a, cudaStream_t s) {
        return tt::transform_transpose(a.out<Out>(), a.in<In>(), a.with.nx, a.with.ny,
                                       op{a.with.salt}, s);
      };
    case call::transform_views:
      return [](arguments_type a, cudaStream_t s) {
        return tt::transform_transpose(out(a), in(a), op{a.with.salt}, s);
      };
    case call::transform_batched:
      return [](arguments_type a, cudaStream_t s) {
        return tt::transform_transpose_batched(a.out<Out>(), a.in<In>(), a.with.nx, a.with.ny,
                                               a.with.batch, op{a.with.salt}, s);
      };
    case call::transform_batched_views:
      return [](arguments_type a, cudaStream_t s) {
        return tt::transform_transpose_batched(out(a), a.with.out_batch, in(a), a.with.in_batch,
                                               a.with.batch, op{a.with.salt}, s);
      };
    case call::accumulate:
      return [](arguments_type a, cudaStream_t s) {
        return tt::accumulate_transpose(a.out<Out>(), a.in<In>(), a.with.nx, a.with.ny,
                                        op{a.with.salt}, s);
      };
    case call::accumulate_views:
      return [](arguments_type a, cudaStream_t s) {
        return tt::accumulate_transpose(out(a), in(a), op{a.with.salt}, s);
      };
    case call::dual:
      return [](arguments_type a, cudaStream_t s) {
        return tt::transform_transpose_dual(a.copy<Out>(), a.out<Out>(), a.in<In>(), a.with.nx,
                                            a.with.ny, op{a.with.salt}, s);
      };
    case call::dual_views:
      return [](arguments_type a, cudaStream_t s) {
        return tt::transform_transpose_dual(copy(a), out(a), in(a), op{a.with.salt}, s);
      };
    case call::transform_permute:
      return [](arguments_type a, cudaStream_t s) {
        return transform_array<Out, In>(a, op{a.with.salt}, s);
      };
    default:
      return nullptr;
  }
}

struct known_pair {
  type_pair types;
  caller (*find)(call which);
};

template <unsigned InBytes, unsigned InAlignment, unsigned OutBytes, unsigned OutAlignment>
constexpr known_pair make_pair_of() {
  return {{{InBytes, InAlignment}, {OutBytes, OutAlignment}},
          find_pair<element<InBytes, InAlignment>, element<OutBytes, OutAlignment>>};
}

constexpr known_pair known_pairs[] = {make_pair_of<4, 4, 4, 4>(), make_pair_of<4, 4, 2, 2>(),
                                      make_pair_of<3, 1, 3, 1>(), make_pair_of<1, 1, 4, 4>()};

}  // namespace

const std::vector<type_pair>& fused_pairs() {
  static const std::vector<type_pair> pairs = [] {
    std::vector<type_pair> all;
    for (const known_pair& one : known_pairs) { all.push_back(one.types); }
    return all;
  }();
  return pairs;
}

caller find_fused(call which, const element_type& in, const element_type& out) {
  for (const known_pair& one : known_pairs) {
    if (one.types.in.bytes == in.bytes && one.types.out.bytes == out.bytes) {
      return one.find(which);
    }
  }
  return nullptr;
}

}  // namespace fuzz
