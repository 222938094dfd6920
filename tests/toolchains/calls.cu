// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One call of each family of launch wrappers but those over NCCL. ../headers/nvrtc_kernel.cu has the device functions.

#include <tiletranspose/mdspan.cuh>
#include <tiletranspose/peers.cuh>
#include <tiletranspose/streamed.cuh>
#include <tiletranspose/tiletranspose.cuh>

#include <cstddef>

struct scale {
  float factor;
  __device__ float operator()(float value) const { return factor * value; }
};
struct scaled_sum {
  float alpha, beta;
  __device__ float operator()(float element, float old) const {
    return alpha * element + beta * old;
  }
};

using matrix = tt::matrix_view<float>;
using const_matrix = tt::matrix_view<const float>;
template <class T>
using span = cuda::std::mdspan<T, cuda::std::dextents<std::size_t, 2>>;

// Two matrices one behind the other: each `in` of ny rows x nx columns, each `out` of nx x ny.
struct matrices {
  const float* in;
  float *out, *copy;
  const float* const* ins;
  float* const* outs;
  void* scratch;
  std::size_t nx, ny, scratch_bytes;

  const_matrix in_view() const { return {in, ny, nx, nx}; }
  matrix out_view() const { return {out, nx, ny, ny}; }
};

cudaError_t transpose_tuned(matrices m) { return tt::transpose(m.out, m.in, m.nx, m.ny); }
cudaError_t transpose_view(matrices m) { return tt::transpose(m.out_view(), m.in_view()); }
cudaError_t transpose_explicit(matrices m) {
  return tt::transpose<float, 32, 8>(m.out, m.in, m.nx, m.ny);
}
cudaError_t transpose_explicit_view(matrices m) {
  return tt::transpose<float, 64, 16>(m.out_view(), m.in_view());
}

cudaError_t batch_dense(matrices m) { return tt::transpose_batched(m.out, m.in, m.nx, m.ny, 2); }
cudaError_t batch_strided(matrices m) {
  return tt::transpose_batched(m.out, m.nx * m.ny, m.in, m.nx * m.ny, m.nx, m.ny, 2);
}
cudaError_t batch_of_pointers(matrices m) {
  return tt::transpose_batched(m.outs, m.ins, m.nx, m.ny, 2);
}

cudaError_t transform(matrices m) {
  return tt::transform_transpose(m.out, m.in, m.nx, m.ny, scale{2.0f});
}
cudaError_t transform_batch(matrices m) {
  return tt::transform_transpose_batched(m.out, m.in, m.nx, m.ny, 2, scale{2.0f});
}
cudaError_t accumulate(matrices m) {
  return tt::accumulate_transpose(m.out, m.in, m.nx, m.ny, scaled_sum{2.0f, 0.5f});
}
cudaError_t dual(matrices m) {
  return tt::transform_transpose_dual(m.copy, m.out, m.in, m.nx, m.ny, scale{2.0f});
}

cudaError_t square_in_place(matrices m) { return tt::transpose_inplace(m.out, m.nx, m.nx); }
cudaError_t rectangle_in_place(matrices m) {
  return tt::transpose_inplace(m.scratch, m.scratch_bytes, m.out, m.nx, m.ny);
}

cudaError_t reverse(matrices m) { return tt::reverse(m.out, m.in, m.nx); }
cudaError_t flip_lr(matrices m) { return tt::flip_lr(m.out, m.in, m.nx, m.ny); }
cudaError_t flip_ud(matrices m) { return tt::flip_ud(m.out, m.in, m.nx, m.ny); }
cudaError_t rotate(matrices m) { return tt::rotate(m.out, m.in, m.nx, m.ny, 1); }
cudaError_t anti_transpose(matrices m) { return tt::anti_transpose(m.out, m.in, m.nx, m.ny); }
cudaError_t reorient(matrices m, tt::symmetry s) {
  return tt::reorient(m.out_view(), m.in_view(), s);
}
cudaError_t reorient_batch(matrices m, tt::symmetry s) {
  return tt::reorient_batched(m.out, m.in, m.nx, m.ny, 2, s);
}
cudaError_t reorient_in_place(matrices m, tt::symmetry s) {
  return tt::reorient_inplace(m.out_view(), s);
}

cudaError_t permute(matrices m) {
  return tt::permute(m.out, m.in, {m.nx, m.ny, 3, 4}, {3, 1, 0, 2});
}
cudaError_t transform_permute(matrices m) {
  return tt::transform_permute(m.out, m.in, {m.nx, m.ny, 3, 4}, {3, 1, 0, 2}, scale{2.0f});
}

cudaError_t deinterleave(matrices m) {
  float* const planes[] = {m.out, m.out + m.nx, m.out + 3 * m.nx};
  return tt::deinterleave(planes, m.in, m.nx);
}
cudaError_t interleave(matrices m) {
  const float* const planes[] = {m.in, m.in + m.nx, m.in + 3 * m.nx};
  return tt::interleave(m.out, planes, m.nx);
}

cudaError_t permute_mdspan(matrices m) {
  return tt::permute(span<float>(m.out, m.nx, m.ny), span<const float>(m.in, m.ny, m.nx), {1, 0});
}
cudaError_t copy_mdspan(matrices m) {
  return tt::copy(span<float>(m.out, m.ny, m.nx), span<const float>(m.in, m.ny, m.nx));
}
cudaError_t transpose_mdspan(matrices m) {
  return tt::transpose(span<float>(m.out, m.nx, m.ny), span<const float>(m.in, m.ny, m.nx));
}
cudaError_t reorient_mdspan(matrices m) {
  return tt::reorient(span<float>(m.out, m.nx, m.ny), span<const float>(m.in, m.ny, m.nx),
                      tt::symmetry::rotate_90);
}

cudaError_t transpose_streamed(matrices m) {
  return tt::streamed_transpose(m.out, m.in, m.nx, m.ny, m.scratch, m.scratch_bytes);
}
cudaError_t transpose_over_peers(const tt::device_part<float>* parts, tt::partition nx,
                                 tt::partition ny) {
  return tt::distributed_transpose(parts, 2, nx, ny);
}
cudaError_t transpose_to_peers(matrices m, tt::partition nx, tt::partition ny) {
  return tt::transpose_into_parts(m.outs, m.in, nx, ny, 2, 0);
}
