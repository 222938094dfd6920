// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of moves of arrays of many axes, a row for each number. Plain C++17.
///
/// Figures: % of cudaMemcpyAsync, floats unless the row says otherwise; extents are those of the input, and the output has
/// them in reverse order where nothing else is said.

#pragma once

#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Sides of tiles up to this are too short: elements are then moved one by one.
inline constexpr tuning_row short_axis{16, h200, "2026-11-23",
                                       "tiles, elements: 9 x 3003000 x 9 43, 56; 16 x 1001000 x 16 "
                                       "70, 84; 24 x 360600 x 24 86, 73"};

/// So are runs of so many elements of one side that the other side's fastest axis does not interrupt: a block of elements
/// touches whole lines of both anyway.
inline constexpr tuning_row short_run{
    8, h200, "2026-11-23",
    "tiles, elements: pixel shuffles by 2 41, 100, by 4 75, 99, by 8 89, 97, unshuffles by 2 62, "
    "98, by 4 79, 87; with 16: by 16 94, 92, unshuffle by 16 94, 45, shuffle by 12 81, 91"};

/// Matrices of a batch whose rows have fewer bytes, and between whose rows those of others lie, are no transposes.
inline constexpr tuning_row least_apart_row_bytes{
    192, h200, "2026-11-23",
    "as transposes, otherwise: 3 x 30000000 x 3 0.3, 57; 32 x 250500 x 32 56, 88; 40 x 90300 x 40 "
    "71, 78; 64 x 40200 x 64 93, 86"};

/// The axis along which the input's elements lie closest together is counted next to the output's fastest one, if it is
/// no longer than this.
inline constexpr tuning_row most_near_extent{
    64, h200, "2026-11-23",
    "along the output alone, and so: 15 15 32 15 32 16 as 4 1 0 3 2 5 74, 94; 15 15 103 15 10 16 "
    "likewise 79, 93; patches of 16 x 16 pixels of 3 halves 88, 95"};

/// And up to this before the output's fastest one, where that is longer than the row above says.
inline constexpr tuning_row most_first_extent{16, h200, "2026-11-23",
                                              "behind it, before it: 2 x 50000000 x 2 68, 99; 4 x "
                                              "40000000 x 4 halves 41, 90"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
