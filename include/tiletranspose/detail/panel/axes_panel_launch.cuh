// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The launches of panels of arrays of any rank.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Launches panels of elements whose addresses are multiples of `AccessBytes`.
template <int AccessBytes>
cudaError_t launch_panels(const relocation& move, cudaStream_t stream) {
  return plan_axes_panels(as_accesses(move, AccessBytes),
                          [&](launch_plan<axes_panel_arguments> plan) {
                            void* pointers[] = {&plan.arguments};
                            return start(&axes_panel_kernel<AccessBytes>, plan.blocks, plan.threads,
                                         plan.shared_bytes, pointers, stream);
                          });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
