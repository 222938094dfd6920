// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls that move elements of FUZZ_BYTES bytes, with the alignment of their size and with none. To keep compilation
// short not every size has every call.

#include "array_calls.cuh"

#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>

namespace fuzz {
namespace {

template <unsigned Bytes, unsigned Alignment>
struct alignas(Alignment) element {
  unsigned char bytes[Bytes];
};

// Sizes whose calls in place, and tiles that the caller writes, are compiled.
constexpr bool has_in_place(unsigned bytes) {
  return bytes == 1 || bytes == 3 || bytes == 4 || bytes == 8 || bytes == 16;
}
constexpr bool has_explicit_tiles(unsigned bytes) {
  return bytes == 1 || bytes == 3 || bytes == 4 || bytes == 8 || bytes == 12;
}

template <class T>
struct calls_of {
  using arguments_type = const bound_arguments&;

  static tt::symmetry how(arguments_type a) { return static_cast<tt::symmetry>(a.with.symmetry); }
  static tt::matrix_view<const T> in(arguments_type a) {
    return {a.in<T>(), a.with.ny, a.with.nx, a.with.in_stride};
  }
  static tt::matrix_view<T> out(arguments_type a) {
    return {a.out<T>(), a.with.out_rows, a.with.out_cols, a.with.out_stride};
  }
  static tt::matrix_view<T> data(arguments_type a) {
    return {a.data<T>(), a.with.ny, a.with.nx, a.with.in_stride};
  }
  static const T* const* ins(arguments_type a) { return a.in<const T*>(); }
  static T* const* outs(arguments_type a) { return a.out<T*>(); }

  template <int TileDim, int BlockRows>
  static caller find_explicit(call which) {
    if (which == call::transpose_explicit) {
      return [](arguments_type a, cudaStream_t s) {
        return tt::transpose<T, TileDim, BlockRows>(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, s);
      };
    }
    return [](arguments_type a, cudaStream_t s) {
      return tt::transpose<T, TileDim, BlockRows>(out(a), in(a), s);
    };
  }

  static caller find_transpose(call which) {
    switch (which) {
      case call::transpose:
        return [](arguments_type a, cudaStream_t s) {
          return tt::transpose(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, s);
        };
      case call::transpose_views:
        return [](arguments_type a, cudaStream_t s) { return tt::transpose(out(a), in(a), s); };
      case call::transpose_batched:
        return [](arguments_type a, cudaStream_t s) {
          return tt::transpose_batched(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, a.with.batch,
                                       s);
        };
      case call::transpose_batched_strides:
        return [](arguments_type a, cudaStream_t s) {
          return tt::transpose_batched(a.out<T>(), a.with.out_batch, a.in<T>(), a.with.in_batch,
                                       a.with.nx, a.with.ny, a.with.batch, s);
        };
      case call::transpose_batched_pointers:
        return [](arguments_type a, cudaStream_t s) {
          return tt::transpose_batched(outs(a), ins(a), a.with.nx, a.with.ny, a.with.batch, s);
        };
      case call::transpose_batched_views:
        return [](arguments_type a, cudaStream_t s) {
          return tt::transpose_batched(out(a), a.with.out_batch, in(a), a.with.in_batch,
                                       a.with.batch, s);
        };
      default:
        return nullptr;
    }
  }

  static caller find_symmetry(call which) {
    switch (which) {
      case call::reverse:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reverse(a.out<T>(), a.in<T>(), a.with.nx, s);
        };
      case call::flip_lr:
        return [](arguments_type a, cudaStream_t s) {
          return tt::flip_lr(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, s);
        };
      case call::flip_ud:
        return [](arguments_type a, cudaStream_t s) {
          return tt::flip_ud(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, s);
        };
      case call::rotate:
        return [](arguments_type a, cudaStream_t s) {
          return tt::rotate(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, a.with.turns, s);
        };
      case call::anti_transpose:
        return [](arguments_type a, cudaStream_t s) {
          return tt::anti_transpose(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, s);
        };
      case call::reorient:
        return
            [](arguments_type a, cudaStream_t s) { return tt::reorient(out(a), in(a), how(a), s); };
      case call::reorient_batched:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reorient_batched(a.out<T>(), a.in<T>(), a.with.nx, a.with.ny, a.with.batch,
                                      how(a), s);
        };
      case call::reorient_batched_strides:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reorient_batched(a.out<T>(), a.with.out_batch, a.in<T>(), a.with.in_batch,
                                      a.with.nx, a.with.ny, a.with.batch, how(a), s);
        };
      case call::reorient_batched_pointers:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reorient_batched(outs(a), ins(a), a.with.nx, a.with.ny, a.with.batch, how(a),
                                      s);
        };
      case call::reorient_batched_views:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reorient_batched(out(a), a.with.out_batch, in(a), a.with.in_batch,
                                      a.with.batch, how(a), s);
        };
      default:
        return nullptr;
    }
  }

  static caller find_in_place(call which) {
    switch (which) {
      case call::transpose_inplace:
        return [](arguments_type a, cudaStream_t s) {
          return tt::transpose_inplace(a.data<T>(), a.with.nx, a.with.ny, s);
        };
      case call::transpose_inplace_view:
        return [](arguments_type a, cudaStream_t s) { return tt::transpose_inplace(data(a), s); };
      case call::reorient_inplace:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reorient_inplace(data(a), how(a), s);
        };
      case call::reverse_inplace:
        return [](arguments_type a, cudaStream_t s) {
          return tt::reverse_inplace(a.data<T>(), a.with.nx, s);
        };
      case call::flip_lr_inplace:
        return [](arguments_type a, cudaStream_t s) {
          return tt::flip_lr_inplace(a.data<T>(), a.with.nx, a.with.ny, s);
        };
      case call::flip_ud_inplace:
        return [](arguments_type a, cudaStream_t s) {
          return tt::flip_ud_inplace(a.data<T>(), a.with.nx, a.with.ny, s);
        };
      case call::rotate_180_inplace:
        return [](arguments_type a, cudaStream_t s) {
          return tt::rotate_180_inplace(a.data<T>(), a.with.nx, a.with.ny, s);
        };
      case call::transpose_inplace_scratch:
        return [](arguments_type a, cudaStream_t s) {
          std::size_t least = 0;
          const cudaError_t answered =
              tt::transpose_inplace(nullptr, least, a.data<T>(), a.with.nx, a.with.ny, s);
          if (a.least_scratch != 0 && (answered != cudaSuccess || least != a.least_scratch)) {
            return cudaErrorUnknown;
          }
          std::size_t bytes = a.with.temp_bytes;
          return tt::transpose_inplace(a.copy<void>(), bytes, a.data<T>(), a.with.nx, a.with.ny, s);
        };
      default:
        return nullptr;
    }
  }

  static caller find(call which, int variant) {
    if (which == call::permute || which == call::permute_strides || which == call::interleave ||
        which == call::deinterleave) {
      return array_calls<T>::find(which, variant);
    }
    const bool is_explicit =
        which == call::transpose_explicit || which == call::transpose_explicit_views;
    if constexpr (has_explicit_tiles(sizeof(T))) {
      if (is_explicit && variant == 0) { return find_explicit<32, 8>(which); }
      if constexpr (sizeof(T) == 4 && alignof(T) == 4) {
        if (is_explicit && variant == 1) { return find_explicit<16, 4>(which); }
      }
    }
    if (is_explicit || variant != 0) { return nullptr; }
    if constexpr (has_in_place(sizeof(T))) {
      if (const caller found = find_in_place(which)) { return found; }
    }
    const caller found = find_transpose(which);
    return found != nullptr ? found : find_symmetry(which);
  }
};

}  // namespace

template <>
caller find_moving<FUZZ_BYTES>(call which, unsigned alignment, int variant) {
  constexpr unsigned natural = tt::access_width(FUZZ_BYTES);
  if (alignment == natural) { return calls_of<element<FUZZ_BYTES, natural>>::find(which, variant); }
  if (natural > 1 && alignment == 1) {
    return calls_of<element<FUZZ_BYTES, 1>>::find(which, variant);
  }
  return nullptr;
}

}  // namespace fuzz
