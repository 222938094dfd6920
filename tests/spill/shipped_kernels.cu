// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instantiates the kernels that public calls launch for elements of ELEMENT_BYTES bytes aligned to ELEMENT_ALIGNMENT: those
// that move elements or, with FUSED, those that apply a function on the way.

#include <cstddef>
#include <tiletranspose/tiletranspose.cuh>

struct alignas(ELEMENT_ALIGNMENT) element {
  unsigned char bytes[ELEMENT_BYTES];
};

// Nothing runs here, so that nobody asks how it went.
void launched(cudaError_t) {}

struct same {
  template <class T>
  __device__ T operator()(const T& value) const {
    return value;
  }
};

struct masked {
  template <class T>
  __device__ T operator()(const T& value, std::size_t row, std::size_t col) const {
    return row < col ? T{} : value;
  }
};

struct second {
  template <class T>
  __device__ T operator()(const T& element, const T& old) const {
    T result = old;
    result.bytes[0] = element.bytes[0];
    return result;
  }
};

// Widens or narrows: the fused call reads and writes elements of two sizes.
template <class T>
struct add_first_byte {
  __device__ unsigned char operator()(const T& value, unsigned char old) const {
    return static_cast<unsigned char>(value.bytes[0] + old);
  }
};
template <class T>
struct add_to_first_byte {
  __device__ T operator()(unsigned char value, const T& old) const {
    T result = old;
    result.bytes[0] = static_cast<unsigned char>(old.bytes[0] + value);
    return result;
  }
};
/// Of all bytes, so that no load of them is dead code.
template <class T>
struct parity {
  __device__ unsigned char operator()(const T& value) const {
    unsigned char result = 0;
    for (const unsigned char byte : value.bytes) { result ^= byte; }
    return result;
  }
};
/// Into packed elements of another size, likewise.
template <int Bytes, int Alignment = 1>
struct alignas(Alignment) packed {
  unsigned char bytes[Bytes];
};
struct add_parity {
  template <class T, class Packed>
  __device__ Packed operator()(const T& value, const Packed& old) const {
    Packed result = old;
    for (const unsigned char byte : value.bytes) { result.bytes[0] ^= byte; }
    return result;
  }
};
/// Into wider elements, likewise.
template <class Wide>
struct widened {
  template <class T>
  __device__ Wide operator()(const T& value) const {
    return (*this)(value, Wide{});
  }
  template <class T>
  __device__ Wide operator()(const T& value, Wide old) const {
    for (unsigned i = 0; i < sizeof(Wide); ++i) { old.bytes[i] ^= value.bytes[i % sizeof(T)]; }
    return old;
  }
};
template <class Wide, class T>
void widen(unsigned char* bytes, const T* in) {
  launched(tt::transform_transpose(reinterpret_cast<Wide*>(bytes), in, 1, 1, widened<Wide>{}));
  launched(tt::accumulate_transpose(reinterpret_cast<Wide*>(bytes), in, 1, 1, widened<Wide>{}));
}
/// Two outputs, likewise.
template <class Narrow, class T>
void narrow(unsigned char* bytes, const T* in) {
  auto* const out = reinterpret_cast<Narrow*>(bytes);
  launched(tt::transform_transpose_dual(out, out, in, 1, 1, widened<Narrow>{}));
}
template <class T>
struct as_bytes {
  __device__ T operator()(unsigned char value) const {
    T result{};
    result.bytes[0] = value;
    return result;
  }
};

template <class T>
void every_move(T* out, const T* in, T* const* outs, const T* const* ins, unsigned char* bytes) {
  if constexpr (sizeof(T) <= 32) {  // larger elements leave no room for this tile
    launched(tt::transpose<T, 32, 8>(out, in, 1, 1));
  }
  launched(tt::transpose<T, 16, 16>(tt::matrix_view<T>{out, 1, 1, 1},
                                    tt::matrix_view<const T>{in, 1, 1, 1}));
  launched(tt::transpose(out, in, 1, 1));
  launched(tt::transpose(tt::matrix_view<T>{out, 1, 1, 1}, tt::matrix_view<const T>{in, 1, 1, 1}));
  launched(tt::transpose_batched(out, in, 1, 1, 1));
  launched(tt::transpose_batched(out, 1, in, 1, 1, 1, 1));
  launched(tt::transpose_batched(outs, ins, 1, 1, 1));
  launched(tt::reorient(tt::matrix_view<T>{out, 1, 1, 1}, tt::matrix_view<const T>{in, 1, 1, 1},
                        tt::symmetry::rotate_180));
  launched(tt::reorient_inplace(tt::matrix_view<T>{out, 1, 1, 1}, tt::symmetry::anti_transpose));
  std::size_t scratch_bytes = 0;
  launched(tt::transpose_inplace(bytes, scratch_bytes, out, 1, 2));
  launched(tt::permute(out, in, {1, 1}, {1, 0}));
  T* const few[] = {out, out, out};
  launched(tt::deinterleave(few, in, 1));
  launched(tt::interleave(out, few, 1));
  T* const many[] = {out, out, out, out, out, out, out, out,
                     out, out, out, out, out, out, out, out};
  launched(tt::deinterleave(many, in, 1));
  launched(tt::interleave(out, many, 1));
}

template <class T>
void every_fused_call(T* out, const T* in, unsigned char* bytes) {
  launched(tt::transform_permute(out, in, {1, 1}, {1, 0}, same{}));
  launched(tt::transform_transpose(out, in, 1, 1, same{}));
  launched(tt::accumulate_transpose(out, in, 1, 1, second{}));
  launched(tt::transform_transpose_dual(out, out, in, 1, 1, same{}));
  launched(tt::transform_transpose(out, in, 1, 1, masked{}));
  launched(tt::transform_transpose_dual(out, out, in, 1, 1, masked{}));
  launched(tt::accumulate_transpose(bytes, in, 1, 1, add_first_byte<T>{}));
  if constexpr (sizeof(T) > 1) {  // else the same pairs of sizes as above
    launched(tt::transform_transpose_dual(bytes, bytes, in, 1, 1, parity<T>{}));
    launched(tt::transform_transpose(bytes, in, 1, 1, parity<T>{}));
    const unsigned char* const from = bytes;
    launched(tt::transform_transpose(out, from, 1, 1, as_bytes<T>{}));
    launched(tt::transform_transpose_dual(out, out, from, 1, 1, as_bytes<T>{}));
    launched(tt::accumulate_transpose(out, from, 1, 1, add_to_first_byte<T>{}));
  }
  launched(tt::accumulate_transpose(reinterpret_cast<packed<3>*>(bytes), in, 1, 1, add_parity{}));
  launched(tt::accumulate_transpose(reinterpret_cast<packed<7>*>(bytes), in, 1, 1, add_parity{}));
  launched(
      tt::accumulate_transpose(reinterpret_cast<packed<4, 4>*>(bytes), in, 1, 1, add_parity{}));
  launched(
      tt::accumulate_transpose(reinterpret_cast<packed<8, 8>*>(bytes), in, 1, 1, add_parity{}));
  launched(tt::accumulate_transpose(reinterpret_cast<packed<15>*>(bytes), in, 1, 1, add_parity{}));
  if constexpr (sizeof(T) <= 16 && alignof(T) < 4 && alignof(T) < sizeof(T)) {
    widen<packed<9>>(bytes, in);
    widen<packed<10, 2>>(bytes, in);
    widen<packed<12, 4>>(bytes, in);
    widen<packed<15>>(bytes, in);
    narrow<packed<2>>(bytes, in);
    narrow<packed<2, 2>>(bytes, in);
  }
}

#if defined(FUSED)
template void every_fused_call(element*, const element*, unsigned char*);
#else
template void every_move(element*, const element*, element* const*, const element* const*,
                         unsigned char*);
#endif
