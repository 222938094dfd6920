// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the layout of a shared_tile must be a layout of its own element type

#include <tiletranspose/tile.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

using tile = tt::shared_tile<float, tt::padded_layout<element, 32, 32, 1>>;
static_assert(sizeof(tile::storage) >= 32 * 33 * sizeof(float));
