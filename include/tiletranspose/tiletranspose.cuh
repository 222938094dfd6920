// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The library, but for the headers that are opt-in: mdspan.cuh, bulk_view.cuh, tile_io_async.cuh, tile_io_bulk.cuh
/// and tile_pipeline.cuh, which bring more of CUDA's headers, distributed.cuh, peers.cuh, streamed.cuh and their
/// partition.cuh, which go beyond one GPU, explain.cuh, and emulator.cuh, which is for tests.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/config.cuh>
#include <tiletranspose/group.cuh>
#include <tiletranspose/interleave.cuh>
#include <tiletranspose/layout.cuh>
#include <tiletranspose/permute.cuh>
#include <tiletranspose/policy.cuh>
#include <tiletranspose/reverse.cuh>
#include <tiletranspose/shared_array.cuh>
#include <tiletranspose/smem.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/symmetry.cuh>
#include <tiletranspose/tile.cuh>
#include <tiletranspose/tile_io.cuh>
#include <tiletranspose/transpose.cuh>
#include <tiletranspose/version.cuh>
#include <tiletranspose/warp_exchange.cuh>
#include <tiletranspose/warp_transpose.cuh>
