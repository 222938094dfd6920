// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Runs the exchange of one rank on its GPU. Slices are brought from the input into send order, and from there to where they
/// belong: those of matrices by transposes of views, those of arrays of more axes by permutes with strides.

#pragma once

#include <tiletranspose/detail/calls/permute.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/core/transfer.cuh>
#include <tiletranspose/detail/distributed/exchange_plan.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// How the work of a distributed call is cut. All ranks must give the same numbers.
struct distributed_options {
  /// About so many bytes one rank sends in a step; the next step is made ready meanwhile. 0: an eighth of all that it sends, up
  /// to 120 MiB over NCCL and 88 by copies, or of more than two ranks twice as much; at least 16 MiB, and 1 to each other rank.
  /// distributed_permute sends each other rank at least one index of the longer outer axis, however many bytes that is.
  size_type step_bytes = 0;
  /// Where transfers are queued. Null: a stream of the highest priority is made for this call, which takes some microseconds.
  cudaStream_t transfer_stream = nullptr;
  /// Of distributed.cuh: an ncclWindow_t at whose start scratch begins, on all ranks. Null: messages are sent and received.
  void* window = nullptr;
};

namespace detail {

/// A plan of matrices, or of arrays whose inner axes travel together. False where a partition is none, or the matrix
/// overflows the address space.
inline bool can_plan(const partition& columns, const partition& rows, int ranks,
                     size_type element_bytes) {
  size_type elements = 0;
  size_type bytes = 0;
  return columns.is_valid(ranks) && rows.is_valid(ranks) &&
         multiplies(columns.total, rows.total, elements) &&
         multiplies(elements, element_bytes, bytes);
}

/// Bytes of a rank's input and output.
inline size_type held_in(const exchange_plan& plan) {
  return plan.rows.count(plan.ranks, plan.rank) * plan.columns.total * plan.element_bytes;
}
inline size_type held_out(const exchange_plan& plan) {
  return plan.columns.count(plan.ranks, plan.rank) * plan.rows.total * plan.element_bytes;
}

/// Never 0: who allocates nothing has a null pointer, and would ask again. The least holds what distributed_check sends.
inline constexpr size_type least_exchange_scratch = 256;

/// Bytes of a buffer, in front of that of a step, and of scratch. `lands`: messages arrive where they belong, not in scratch.
inline size_type exchange_buffer(const exchange_plan& plan, bool lands) {
  return plan.send_bytes + (lands ? 0 : plan.receive_bytes);
}
inline size_type buffer_begin(const exchange_plan& plan, size_type step, bool lands) {
  return step % plan.buffers() * exchange_buffer(plan, lands);
}
inline size_type exchange_scratch(const exchange_plan& plan, bool lands) {
  return larger(plan.buffers() * exchange_buffer(plan, lands), least_exchange_scratch);
}
/// The most that a rank needs: all of them are told the same, since windows are as large on all ranks.
inline size_type exchange_scratch_of_all(const exchange_plan& plan, bool lands) {
  size_type most = 0;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    most = larger(most, exchange_scratch(plan.seen_by(rank), lands));
  }
  return most;
}

/// One rank's rows of a matrix and of its transpose.
template <class T>
struct matrix_mover {
  T* out;
  const T* in;

  /// Transposes a slice of the input into the output; or to where it is packed, `cols` dense rows of the output.
  cudaError_t pack(const exchange_plan& plan, const exchange_slice& slice, void* to,
                   cudaStream_t stream) const {
    const matrix_view<const T> source{
        in + (slice.y - plan.first_row()) * plan.columns.total + slice.x, slice.rows, slice.cols,
        plan.columns.total};
    const matrix_view<T> packed{static_cast<T*>(to), slice.cols, slice.rows, slice.rows};
    return run_transpose<sizeof(T), alignof(T), matrices::one>(
        view_request(to != nullptr ? packed : place_of(plan, slice), source), stream);
  }
  /// Copies what is packed into the output. What copies between GPUs does not need it, nor its kernels.
  cudaError_t place(const exchange_plan& plan, const exchange_slice& slice, const void* from,
                    cudaStream_t stream) const {
    const matrix_view<const T> packed{static_cast<const T*>(from), slice.cols, slice.rows,
                                      slice.rows};
    return run_reorient<sizeof(T), alignof(T), matrices::one, false>(
        reorient_request(place_of(plan, slice), packed, symmetry::identity), symmetry::identity,
        stream);
  }

 private:
  matrix_view<T> place_of(const exchange_plan& plan, const exchange_slice& slice) const {
    const size_type pitch = plan.rows.total;
    return {out + (slice.x - plan.first_column()) * pitch + slice.y, slice.cols, slice.rows, pitch};
  }
};

/// One rank's part of an array and of its permute. A slice takes part of two axes of the input, the first one (y) and the
/// one that becomes the first of the output (x), and all of the others.
template <class T>
struct array_mover {
  T* out;
  const T* in;
  const int* axes;   ///< axis j of the output is axis axes[j] of the input
  relocation whole;  ///< of the whole array

  /// As matrix_mover's: what is packed is dense, in the output's order.
  cudaError_t pack(const exchange_plan& plan, const exchange_slice& slice, void* to,
                   cudaStream_t stream) const {
    return move(plan, slice, nullptr, to, stream);
  }
  cudaError_t place(const exchange_plan& plan, const exchange_slice& slice, const void* from,
                    cudaStream_t stream) const {
    return move(plan, slice, from, nullptr, stream);
  }

 private:
  cudaError_t move(const exchange_plan& plan, const exchange_slice& slice, const void* from,
                   void* to, cudaStream_t stream) const {
    size_type extents[most_given_axes];
    for (int k = 0; k < whole.rank; ++k) { extents[k] = whole.axes[k].extent; }
    extents[0] = slice.rows;
    extents[axes[0]] = slice.cols;
    relocation packed = whole;
    permute_axes(packed, extents, axes);
    relocation part = whole;
    for (int k = 0; k < whole.rank; ++k) {
      part.axes[k].extent = extents[k];
      if (from != nullptr) { part.axes[k].in_stride = packed.axes[k].out_stride; }
      if (to != nullptr) { part.axes[k].out_stride = packed.axes[k].out_stride; }
    }
    const relocation_axis& x = whole.axes[axes[0]];
    const relocation_axis& y = whole.axes[0];
    const auto steps = [](size_type count) { return static_cast<long long>(count); };
    part.in = from != nullptr ? from
                              : in + steps(slice.y - plan.first_row()) * y.in_stride +
                                    steps(slice.x) * x.in_stride;
    part.out = to != nullptr ? to
                             : out + steps(slice.x - plan.first_column()) * x.out_stride +
                                   steps(slice.y) * y.out_stride;
    return run_permute<sizeof(T), alignof(T)>(part, stream);
  }
};

/// The exchange of one rank, in two queues with events between them: the caller's stream, which works, and one that transfers.
/// A Transport carries the messages of one step:
///
///     static constexpr bool lands;       // where it belongs, not in scratch
///     static constexpr size_type ahead;  // steps that travel or wait while one is put into place
///     cudaError_t transfer(plan, step, const unsigned char* sent, unsigned char* received, stream);
///
///     work      pack 0, keep 0, pack 1, keep 1, pack 2, keep 2, place 0, pack 3, keep 3, place 1, ...
///     transfer          0 ................ 1 ................ 2 ................ 3 ...
///
/// A buffer is packed anew only after work has waited for its last transfer, and received into anew only after it was emptied,
/// because transfer waits for work before each step. The order above is that of two steps ahead. One step needs one stream.
template <class Mover, class Transport>
struct device_exchange {
  exchange_plan plan;
  Mover mover;
  Transport transport;
  void* temp;
  cudaStream_t work;
  side_stream transfers{};
  stream_mark packed{};
  stream_mark arrived[exchange_buffers]{};
  first_failure ok{};

  /// Makes what the call needs beside memory, on the current device.
  cudaError_t prepare(cudaStream_t lent) {
    if (is_simple()) { return cudaSuccess; }
    bool made = ok(transfers.make(lent)) && ok(packed.make());
    for (stream_mark& mark : arrived) { made = made && ok(mark.make()); }
    return ok.status;
  }

  /// In each round a step is sent, and the one before those that travel or wait is put into place.
  size_type rounds() const { return plan.steps + ahead(); }

  /// Queues one of the rounds; nothing more where something fails.
  cudaError_t round(size_type number) {
    if (number < plan.steps) { (void)(pack(number) && transfer(number) && keep(number)); }
    if (number >= ahead() && ok.status == cudaSuccess) { place(number - ahead()); }
    return ok.status;
  }

  /// After a failure: has the caller's stream wait for transfers that are under way, as far as that still can be had.
  cudaError_t abandon() {
    if (!is_simple() && packed.set(transfers.get()) == cudaSuccess) { (void)packed.hold(work); }
    return ok.status;
  }
  cudaError_t run() {
    for (size_type number = 0; number < rounds(); ++number) {
      if (round(number) != cudaSuccess) { return abandon(); }
    }
    return cudaSuccess;
  }

 private:
  /// Transposes what is sent into the send half of its buffer.
  bool pack(size_type step) {
    unsigned char* const to = buffer(step);
    plan.for_each(messages::sent, step, [&](const exchange_slice& slice) {
      if (ok.status == cudaSuccess) { ok(mover.pack(plan, slice, to + slice.offset, work)); }
    });
    return ok.status == cudaSuccess;
  }
  bool transfer(size_type step) {
    if (plan.ranks == 1) { return true; }
    unsigned char* const sent = buffer(step);
    cudaStream_t const stream = is_simple() ? work : transfers.get();
    return (is_simple() || (ok(packed.set(work)) && ok(packed.hold(stream)))) &&
           ok(transport.transfer(plan, step, sent, sent + plan.send_bytes, stream)) &&
           (is_simple() || ok(mark(step).set(stream)));
  }
  /// Transposes a slice of what stays on this rank.
  bool keep(size_type step) {
    const exchange_slice slice = plan.kept(step);
    return slice.bytes == 0 || ok(mover.pack(plan, slice, nullptr, work));
  }
  /// Brings what has arrived to where it belongs.
  void place(size_type step) {
    if (!is_simple() && !ok(mark(step).hold(work))) { return; }
    if constexpr (!Transport::lands) {
      const unsigned char* const received = buffer(step) + plan.send_bytes;
      plan.for_each(messages::received, step, [&](const exchange_slice& slice) {
        if (ok.status == cudaSuccess) {
          ok(mover.place(plan, slice, received + slice.offset, work));
        }
      });
    }
  }

  bool is_simple() const { return plan.steps == 1; }
  size_type ahead() const { return smaller(plan.buffers() - 1, Transport::ahead); }
  unsigned char* buffer(size_type step) const {
    return static_cast<unsigned char*>(temp) + buffer_begin(plan, step, Transport::lands);
  }
  stream_mark& mark(size_type step) { return arrived[step % plan.buffers()]; }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
