// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a tile_pipeline has 1 to 8 stages

#include <tiletranspose/tile_pipeline.cuh>

#ifdef MUST_FAIL
constexpr int stages = 9;
#else
constexpr int stages = 8;
#endif

static_assert(tt::tile_pipeline<stages>::stages == stages);
