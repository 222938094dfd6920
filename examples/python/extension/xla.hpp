// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The package's function as JAX calls it: XLA hands over buffers and the stream that it computes on.

#pragma once

namespace tiletranspose_python {

/// The address of the handler, as jax.ffi.register_ffi_target takes it in a capsule. Attribute `plan`, 64-bit integers:
/// bytes of an element, then the axes, then 1 for each axis of the input that runs backwards. Axes of the array in front
/// of them are a batch.
/// \param on_host  the handler for host memory, for tests of everything but the kernels
void* xla_handler(bool on_host);

}  // namespace tiletranspose_python
