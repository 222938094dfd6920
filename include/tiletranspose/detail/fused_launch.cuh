// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The fused kernel as CUDA sees it, and the choice of its loads.

#pragma once

#include <tiletranspose/detail/launch.cuh>
#include <tiletranspose/detail/transform_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The blocks of a multiprocessor that registers are kept low for: the first rule that fits says. Small elements leave
/// room for more; what a function of the caller's needs, nobody knows.
template <class Fused>
constexpr int fused_blocks() {
  constexpr int in = Fused::in_bytes;
  constexpr int out = Fused::out_bytes;
  // Packed elements that are added to. 3 bytes to 3: 93.5 % and, odd shapes, 83; 92 and 82 with 5 blocks. 3 to 12: 93
  // and 90; 87 and 84 with 4. 9 to 12: 98 and 96; 96 and 93 with 4. 12 to 12: 99 and 94; 99 and 92 with 5. 48 to 48: 100
  // and 96; 83 and 81 with 2; but 60 bytes in words spilled with 3. 6 to 10: 82 and 78; 75 and 73 with 3. Single bytes
  // that an element is put together of take a register each: 11 to 11 spilled with 3; 4 to 3 with 6.
  if (Fused::recalls) {
    if (Fused::out_unit >= 4) {
      if (Fused::whole_in && Fused::out_unit == out) { return 3; }
      if (Fused::spans && Fused::out_unit == out && out <= 8) {
        return Fused::spans_whole && in > 8 ? 3 : 4;
      }
      if (Fused::spans && (in + out <= 16 || (in == 9 && out == 12))) { return 5; }
      constexpr int old = Fused::old_registers(Fused::rows * Fused::cols * out / Fused::threads);
      if (out > 56 && Fused::out_unit == 4) { return 2; }
      return (old > 24 || out > 40 ? 3 : 4) - (Fused::count > 1 ? 1 : 0);
    }
    if (out > 8) { return Fused::threads == 128 ? (out == 15 ? 3 : 4) : Fused::packs ? 2 : 1; }
    // Three bytes out. Words that hold nothing else are not shifted one by one, and with one block more 4 bytes to 3,
    // and with two more 8 to 3, spilled; H200, 2026-11-23: 94 and 97 % so, as by shifted words.
    if (Fused::threads == 192) { return in < 4 ? 6 : Fused::spans_whole ? 4 : 5; }
    if (Fused::spans_whole && in == 8 && out == 3) { return 3; }
    // Large elements of several rows that are stored together.
    constexpr int loaded = Fused::micro_rows * (Fused::load_words + (Fused::spans_whole ? 1 : 0));
    if (in > 8 && loaded > 28) { return 2; }
    if (in > 8 && loaded > (Fused::spans ? 12 : 16)) { return 3; }
    if (out == 7 && !Fused::spans) { return 2; }
    if (Fused::shifts && in == 2) { return Fused::threads == 512 ? 2 : 3; }
    return out == 3 && !Fused::shifts ? 5 : 4;
  }
  // One packed element a lane. 3 bytes to 9 84 % and, odd shapes, 85; 79 and 77 with 4 blocks; but 7 bytes to 9, 9 to 9
  // and 8 to 16 spilled with 6, and before 9.0 3 to 9 with 5.
  if (Fused::spans && !Fused::copies && widens_packed(in, out)) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    constexpr int most = 5;  // of which resident_blocks takes one
#else
    constexpr int most = 6;
#endif
    return (in > 6 && Fused::out_unit < 4) || in + out > 20 ? 4 : most;
  }
  // The words that packed elements lie in. 3 bytes to 1: 70 % with 4 blocks, 63 with 3, 54 with 2.
  if (Fused::spans && in + out <= 16) {
    const bool few = Fused::copies || Fused::micro_rows * Fused::load_words > 20;
    return (few ? 3 : 4) * 256 / Fused::threads;
  }
  // Large elements.
  if (in + out > 16) { return 1; }
  // Many accesses a thread, and packed elements of an odd size out: with 112, of 7 bytes, stores byte by byte spilled
  // with 2 blocks.
  constexpr int accesses = Fused::rows * Fused::cols / Fused::threads * (in / Fused::in_unit);
  if (Fused::splits_out && out % 2 != 0 && accesses > 96) { return 1; }
  // Blocks of twice as many threads.
  if (Fused::threads == 512) {
    const bool narrows = Fused::shifts && !Fused::combines && out < in;
    if (narrows || (Fused::count == 1 && Fused::whole_in)) { return 3; }
    return Fused::splits_out ? 1 : 2;
  }
  // Elements in parts.
  if (Fused::splits_out || !Fused::whole_in) { return 2; }
  // Two outputs: bytes as halves, and what stays as wide as it is.
  if (Fused::copies && in == 1 && out == 2) { return 2; }
  if (Fused::copies && in == out) { return 3; }
  // Wide elements.
  if (in + out > 8) { return 3; }
  if (Fused::combines) {
    // Added to wider elements; words to small ones; in rows that start anywhere, to as wide ones.
    const bool widens = in <= 2 && out > in;
    const bool narrows = in > 2 && out <= 2;
    const bool alike = Fused::shifts && in == out;
    return widens || narrows || alike ? 3 : 4;
  }
  // Converted four rows at a time.
  if (Fused::micro_rows == 4 && !Fused::shifts && in != 2) { return 3; }
  // H200, 2026-11-21, odd rows of bytes: 82 % of cudaMemcpyAsync with 4 blocks, 80 with 3.
  return Fused::shifts && in != out ? 5 : 4;
}

template <class Fused, fusion Kind, class In, class Out, class Op>
__global__ void __launch_bounds__(Fused::threads,
                                  resident_blocks(Fused::threads, fused_blocks<Fused>()))
    fused_kernel(const __grid_constant__ fused_arguments arguments, const __grid_constant__ Op op) {
  constexpr static_block<Fused::threads> block{};
  // What every block may have is not asked for at launch: floats to halves, odd rows, 93.4 %, 91.9 so.
  if constexpr (Fused::shared_bytes <= default_shared_bytes) {
    __shared__ __align__(16) unsigned char shared[Fused::shared_bytes];
    convert_tile<Fused, Kind, In, Out>(block, shared, arguments, op, blockIdx.x);
  } else {
    extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
    convert_tile<Fused, Kind, In, Out>(block, tiletranspose_dynamic_shared, arguments, op,
                                       blockIdx.x);
  }
}

/// The copy's part beside a part of the problem, which starts some rows down or some columns across.
inline row_major_copy copy_beside(const row_major_copy& copy, const tile_problem& problem,
                                  const tile_problem& part, size_type in_element,
                                  size_type out_element) {
  const auto distance = static_cast<size_type>(static_cast<const unsigned char*>(part.in) -
                                               static_cast<const unsigned char*>(problem.in));
  row_major_copy result = copy;
  result.data = static_cast<unsigned char*>(copy.data) +
                distance / problem.in_stride_bytes * copy.stride_bytes +
                distance % problem.in_stride_bytes / in_element * out_element;
  return result;
}

/// True where loads of the input that start where vectors of the copy do are whole accesses.
template <class Fused>
bool starts_in_step(const tile_problem& problem, const row_major_copy& copy) {
  const auto phase = [](const void* data, size_type stride_bytes, size_type bytes) {
    return reinterpret_cast<size_type>(data) / bytes % Fused::count * Fused::count +
           stride_bytes / bytes % Fused::count;
  };
  return phase(problem.in, problem.in_stride_bytes, Fused::in_bytes) ==
         phase(copy.data, copy.stride_bytes, Fused::out_bytes);
}

/// True where rows of the output start at multiples of 4 bytes.
inline bool starts_on_words(const tile_problem& problem) {
  return (reinterpret_cast<size_type>(problem.out) | problem.out_stride_bytes) % 4 == 0;
}

template <class Fused, fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused_tiles(const tile_problem& problem, row_major_copy copy, const Op& op,
                               cudaStream_t stream) {
  const unsigned mask = Fused::recalls ? 0 : sector_mask(problem, 1);
  const bool skewed = Fused::recalls ? !starts_on_words(problem) : mask != 0;
  tile_arguments arguments{problem, {}, mask, Fused::cols};
  // Skewed pieces of the copy leave the last columns to one more tile.
  if (Fused::deals && Kind == fusion::dual) {
    copy.sector_mask = sector_bytes - 1;
    copy.in_step = starts_in_step<Fused>(problem, copy);
  }
  arguments.problem.nx += divide_up(copy.sector_mask, sizeof(Out));
  size_type blocks = 0;
  // Two outputs, one along each side of the input: blocks go along the rows, whose tiles share lines of the input and
  // of the copy where rows start anywhere. H200, 2026-11-22, % of cudaMemcpyAsync of the bytes moved with strips of 32,
  // 128 and 512 tiles, 16381 x 16411: halves to bytes 82.9, 84.0, 86.5, floats to halves 87.1, 89.0, 89.9, floats to
  // bytes 88.6, 89.8, 90.9, floats 83.0, 84.9, 85.4; with 8 and 512, 16384 x 16384: 90.4, 92.3; 94.6, 96.4; 95.8, 95.2;
  // 91.6, 93.0.
  const int strip_width = Kind == fusion::dual ? 512 : 1;
  if (!order_tiles(arguments, 1, sizeof(Out), Fused::piece_bytes, strip_width, blocks)) {
    return split(problem, 1, sizeof(In), sizeof(Out), [&](const tile_problem& part, size_type) {
      const bool copies = Kind == fusion::dual;
      return launch_fused_tiles<Fused, Kind, In, Out>(
          part, copies ? copy_beside(copy, problem, part, sizeof(In), sizeof(Out)) : copy, op,
          stream);
    });
  }
  arguments.problem.nx = problem.nx;
  fused_arguments all{arguments, find_interior<Fused>(problem, skewed), copy};
  Op own_op = op;
  void* pointers[] = {&all, &own_op};
  const auto kernel = &fused_kernel<Fused, Kind, In, Out, Op>;
  constexpr size_type shared_bytes =
      Fused::shared_bytes <= default_shared_bytes ? 0 : Fused::shared_bytes;
  const cudaError_t status = allow_shared_bytes(kernel, shared_bytes);
  if (status != cudaSuccess) { return status; }
  return start(kernel, blocks, Fused::threads, shared_bytes, pointers, stream);
}

/// Chooses the kernel: for rows of the input that are aligned to loads, and those of a copy to sectors, or for any.
/// fused_shape says which alignment.
template <fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused(const tile_problem& problem, const row_major_copy& copy, const Op& op,
                         cudaStream_t stream) {
  using any = fused_shape<In, Out, Kind, false>;
  using aligned = fused_shape<In, Out, Kind, true>;
  if constexpr (aligned::loads != any::loads || aligned::spans_whole) {
    const size_type in_bits = reinterpret_cast<size_type>(problem.in) | problem.in_stride_bytes;
    const size_type copy_bits = reinterpret_cast<size_type>(copy.data) | copy.stride_bytes;
    const bool is_aligned = aligned::spans_whole
                                ? (in_bits | copy_bits) % 4 == 0
                                : in_bits % max_access_bytes == 0 && copy_bits % sector_bytes == 0;
    if (is_aligned) {
      if constexpr (has_large_fused_policy(Kind, sizeof(In), sizeof(Out)) && !aligned::spans) {
        using large = fused_shape<In, Out, Kind, true, true>;
        if (fills_large_tiles<large>(problem)) {
          return launch_fused_tiles<large, Kind, In, Out>(problem, copy, op, stream);
        }
      }
      return launch_fused_tiles<aligned, Kind, In, Out>(problem, copy, op, stream);
    }
  }
  return launch_fused_tiles<any, Kind, In, Out>(problem, copy, op, stream);
}

/// out(x, y) = op(in(y, x)), or with the old out(x, y) as a second argument.
template <fusion Kind, class In, class Out, class Op>
cudaError_t transform_elements(const transpose_request& request, const Op& op,
                               cudaStream_t stream) {
  static_assert(Kind != fusion::dual, "that one takes a third matrix");
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  return launch_fused<Kind, In, Out>(make_problem(request), {}, op, stream);
}

/// copy(y, x) = out(x, y) = op(in(y, x)); `copy_stride` in elements.
template <class In, class Out, class Op>
cudaError_t transform_twice(const transpose_request& request, Out* copy, size_type copy_stride,
                            const Op& op, cudaStream_t stream) {
  verdict answer = examine(request);
  if (answer == verdict::go) { answer = examine_copy(request, copy, copy_stride); }
  if (answer != verdict::go) { return status_of(answer); }
  const size_type stride_bytes = copy_stride * sizeof(Out);
  return launch_fused<fusion::dual, In, Out>(make_problem(request), {copy, stride_bytes, 0, false},
                                             op, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
