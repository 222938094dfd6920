// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// PyTorch's tensors, by few calls of Python: what a layout change costs on the host is mostly theirs. PyTorch is neither
/// included nor linked, so that one build suits all of its versions.

#pragma once

#include <nanobind/nanobind.h>

#include "arguments.hpp"

namespace tiletranspose_python {

/// True where `object` is a torch.Tensor or a Parameter, and no class of somebody else's.
bool is_tensor(nanobind::handle object);

bool is_contiguous_on_gpu(nanobind::handle tensor);

/// True where nothing but the elements of a tensor, and of an output unless that is None, matters: no gradient is recorded,
/// neither a mode of PyTorch nor a trace is to see the call, no conjugation is pending, and a new tensor need not be one of a
/// transform of functions. What else there is goes through PyTorch's dispatcher.
bool are_plain(nanobind::handle x, nanobind::handle out);

/// Elements of a CUDA tensor in another order, on PyTorch's current stream, in a new tensor or in `out`.
/// \returns the new tensor or `out`; a null object where the tensor has no memory of its own
nanobind::object reorder_tensor(nanobind::handle x, const order_request& wanted,
                                nanobind::handle out);

/// Transposes a square CUDA tensor in its own memory.
void transpose_tensor(nanobind::handle x);

}  // namespace tiletranspose_python
