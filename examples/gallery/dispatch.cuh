// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From the element type that the user chose to a type of the compiler's: one place for all routines.
#pragma once

#include <cuda_fp16.h>

#include "element.hpp"

namespace gallery {

template <class T>
struct type_tag {
  using type = T;
};

/// Calls visit(type_tag<T>{}) with the type itself, for routines that calculate.
template <class Visit>
auto with_type(element chosen, Visit visit) {
  switch (chosen) {
    case element::char_:
      return visit(type_tag<signed char>{});
    case element::short_:
      return visit(type_tag<short>{});
    case element::half_:
      return visit(type_tag<__half>{});
    case element::int_:
      return visit(type_tag<int>{});
    case element::float_:
      return visit(type_tag<float>{});
    default:
      return visit(type_tag<double>{});
  }
}

/// Calls visit(type_tag<T>{}) with an unsigned integer of the type's size, for routines that only move
/// bytes: types of one size share their kernels.
template <class Visit>
auto with_bits(element chosen, Visit visit) {
  switch (size_of(chosen)) {
    case 1:
      return visit(type_tag<unsigned char>{});
    case 2:
      return visit(type_tag<unsigned short>{});
    case 4:
      return visit(type_tag<unsigned>{});
    default:
      return visit(type_tag<unsigned long long>{});
  }
}

}  // namespace gallery
