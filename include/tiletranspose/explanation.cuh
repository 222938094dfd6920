// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What tt::explain and its kin answer; explain.cuh has the calls. Plain C++17.

#pragma once

#if defined(__CUDACC_RTC__)
#error "tt: explanation.cuh is for the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>
#include <tiletranspose/detail/request/relocation.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// What is known of conflict ways.
enum class explained_bound {
  none,    ///< nothing is said
  proved,  ///< of every request, but for ends of rows that are moved by single accesses
  tested,  ///< the layout is known only at run time, and tests found no more
  missing  ///< likewise, and no test bounds it
};

/// What the requests of a launch ask of memory, where tiles, panels or little work by tiles move it. Nothing is said of
/// rows, single elements, micro-blocks, several axes, planes, fused calls and calls in place, nor of gathered panels
/// whose segments no whole warps share; nor of reads where short rows with gaps are loaded to tiles.
///
/// A sector that several requests of warps touch counts for each of them, as in the emulator's reports and in a GPU's
/// counters. Sectors are expected, in the mean of where rows may start: what the emulator counts differs by up to a
/// tenth where rows have several sectors, and matrices several tiles or panels.
struct explained_memory {
  double sectors_read = 0;     ///< for each sector that the input fills; 0 where nothing is said
  double sectors_written = 0;  ///< likewise of the output
  explained_bound bound = explained_bound::none;
  int fill_ways = 0;   ///< conflict ways of the worst request that fills shared memory
  int drain_ways = 0;  ///< and of the worst that reads it
};

/// The device that an explanation is for: what a block may ask for of its shared memory, by default that of compute
/// capability 9.0. It is cudaDevAttrMaxSharedMemoryPerBlockOptin.
struct explained_device {
  size_type most_shared_bytes = 227 * 1024;
};

/// What a call does with its arguments.
enum class explained { launches, copies, does_nothing, refuses };

/// One axis of a permute: elements, and how many elements lie between two of them.
using explained_axis = detail::relocation_axis;

/// The axes that a side of a tile runs along, the slowest of that side first.
struct explained_side {
  int count;
  int axes[3];
};

/// What tt::explain answers.
struct explanation {
  explained answer = explained::launches;
  const char* mover = "";  ///< which mover takes the call
  const char* rule = "";   ///< the rule that decided
  const char* why = "";    ///< and what it says
  size_type element_bytes = 0;
  size_type nx = 0;  ///< columns of the input
  size_type ny = 0;  ///< its rows
  size_type batch = 0;
  size_type tile_rows = 0;  ///< rows of the input that a block moves; 0: it takes them otherwise
  size_type tile_cols = 0;
  int load_bytes = 0;  ///< that a lane loads at once
  int store_bytes = 0;
  size_type launches = 0;
  size_type blocks = 0;        ///< of all launches
  int threads = 0;             ///< of a block
  size_type shared_bytes = 0;  ///< dynamic ones of a block
  explained_memory memory;

  /// Of a permute alone, which has `rank` in place of nx, ny and batch: the axes that are left when those that stay together
  /// are one, in the order of the input, the slowest first. Axis j of the output is axis order[j]. Where nothing is
  /// launched they are the axes that were given.
  int rank = 0;
  explained_axis axes[16] = {};
  int order[16] = {};
  explained_side tile_sides[2] = {};  ///< along the output's fastest axis, and along the input's
};

TILETRANSPOSE_NAMESPACE_END
