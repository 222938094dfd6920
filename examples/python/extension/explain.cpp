// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "explain.hpp"

#include <tiletranspose/explain.cuh>

namespace tiletranspose_python {
namespace {

template <int PartBytes>
struct alignas(PartBytes) part {
  unsigned char bytes[PartBytes];
};

template <int PartBytes>
std::string explain_parts(const relocation& move) {
  const permute_arguments given = arguments_of(move);
  return tt::to_string(tt::explain_permute(
      reinterpret_cast<part<PartBytes>*>(move.out), given.out_strides,
      reinterpret_cast<const part<PartBytes>*>(move.in), given.in_strides, given.extents));
}

std::string explain_call(const relocation& move) {
  switch (move.part_bytes) {
    case 1:
      return explain_parts<1>(move);
    case 2:
      return explain_parts<2>(move);
    case 4:
      return explain_parts<4>(move);
    case 8:
      return explain_parts<8>(move);
    default:
      return explain_parts<16>(move);
  }
}

}  // namespace

std::string explain(const relocation& move) {
  if (move.rank <= most_axes) { return explain_call(move); }
  relocation_axis outer;
  const relocation inner = without_shortest_axis(move, outer);
  return std::to_string(outer.extent) + " times, because more than 8 axes are left:\n" +
         explain(inner);
}

}  // namespace tiletranspose_python
