// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Arguments as Python gives them, and what a caller is told of those that cannot be.

#pragma once

#include <cuda_runtime.h>
#include <nanobind/nanobind.h>

#include <string>

#include "array.hpp"

namespace tiletranspose_python {

/// An order, as the functions of the package ask for it: all axes at once, or two that change places.
struct order_request {
  nanobind::handle axes;  ///< a sequence that names each axis once, or None: as they are
  /// A pair of axes that change places, or None. With a third integer, from 0 to 3, the quarters by which the first turns
  /// towards the second; `flipped` is empty then. `axes` is None unless this is.
  nanobind::handle swapped;
  nanobind::handle flipped;  ///< a sequence of axes of the input, or one, or None: all
};

/// \throws ValueError for axes that are none of the array's, or that are named twice
order make_order(int rank, const order_request& wanted);

[[noreturn]] void throw_value_error(const std::string& sentence);
[[noreturn]] void throw_type_error(const std::string& sentence);

/// Throws where a call of CUDA or of the library failed.
void check(cudaError_t status);

/// Makes a device the current one as long as it lives.
class device_guard {
 public:
  explicit device_guard(int device);
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard();

 private:
  int before_ = -1;
};

/// Checks what a caller's output must be, and moves the elements; the GIL is released meanwhile.
/// \param out_stream  where the output is used on another stream, that one: the move waits for what is queued there, and what
///                    is queued there later waits for the move
/// \param owned  the output was made for this call: nothing else refers to it
void run(const strided_array& out, const strided_array& in, const order& wanted, int device,
         cudaStream_t stream, cudaStream_t out_stream, bool owned);

/// Transposes a square matrix in its own memory.
void run_square(const strided_array& square, int device, cudaStream_t stream);

}  // namespace tiletranspose_python
