// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Whole numbers: the smaller and the larger of two, rounding up, common divisors, inverses, and division by a number that the
/// host knows and the compiler does not: a multiplication and a shift instead of the twenty instructions of a 32-bit division.
/// Source: Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class T>
TILETRANSPOSE_HOST_DEVICE constexpr T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
TILETRANSPOSE_HOST_DEVICE constexpr T larger(T a, T b) {
  return a < b ? b : a;
}

TILETRANSPOSE_HOST_DEVICE constexpr int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

/// a / b, rounded up.
TILETRANSPOSE_HOST_DEVICE constexpr size_type divide_up(size_type a, size_type b) {
  return (a + b - 1) / b;
}

/// The greatest number that divides both.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned common_divisor(unsigned a, unsigned b) {
  while (b != 0) {
    const unsigned remainder = a % b;
    a = b;
    b = remainder;
  }
  return a;
}

/// The x in 0 .. modulus - 1 with value * x == 1 modulo `modulus`, after Euclid.
/// Precondition: the two have no divisor in common, and are less than 2^31.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned inverse_modulo(unsigned value, unsigned modulus) {
  const unsigned least = value % modulus;
  if (least <= 1) { return least; }
  const unsigned long long inverse = inverse_modulo(modulus, least);
  return modulus - static_cast<unsigned>(inverse * modulus / least);
}

/// Quotients by a number, and with its divisor remainders, too.
struct quotients {
  unsigned multiplier = 1;
  unsigned shift = 0;

  quotients() = default;

  /// Precondition: 1 <= value < 2^31.
  TILETRANSPOSE_HOST_DEVICE explicit quotients(size_type value) {
    // The next power of two, by halves: a plan has a dozen of these, and the host's time counts.
    for (unsigned bits = 16; bits > 0; bits /= 2) {
      if (value - 1 >= size_type{1} << (shift + bits - 1) && value > 1) { shift += bits; }
    }
    const size_type excess = (size_type{1} << shift) - value;
    multiplier = static_cast<unsigned>((excess << 32) / value + 1);
  }

  /// n / value. Precondition: n < 2^31.
  TILETRANSPOSE_FUNCTION unsigned quotient(unsigned n) const {
#if TILETRANSPOSE_ON_DEVICE
    return (__umulhi(n, multiplier) + n) >> shift;
#else
    return (static_cast<unsigned>((static_cast<unsigned long long>(n) * multiplier) >> 32) + n) >>
           shift;
#endif
  }
};

struct divider : quotients {
  unsigned divisor = 1;

  divider() = default;
  TILETRANSPOSE_HOST_DEVICE explicit divider(size_type value)
      : quotients(value), divisor(static_cast<unsigned>(value)) {}

  /// n % divisor, given q == quotient(n).
  TILETRANSPOSE_FUNCTION unsigned remainder(unsigned n, unsigned q) const {
    return n - q * divisor;
  }
};

/// Remainders of numbers below 2^62 by a number below 2^31, by a multiplication.
/// Source: Barrett, "Implementing the Rivest Shamir and Adleman public key encryption algorithm", 1986.
struct long_divider {
  unsigned divisor = 1;
  unsigned long long reciprocal = 0;

  long_divider() = default;
  TILETRANSPOSE_HOST_DEVICE explicit long_divider(size_type value)
      : divisor(static_cast<unsigned>(value)), reciprocal(~0ull / value) {}

  TILETRANSPOSE_FUNCTION unsigned remainder(unsigned long long n) const {
    unsigned long long left = n - quotient(n) * divisor;  // at most 2 divisors too much
    while (left >= divisor) { left -= divisor; }
    return static_cast<unsigned>(left);
  }

  /// The same in fewer instructions: quotients are at most one too small, so that 32 bits hold the remainder. But
  /// the kernel that shuffles rows (inplace/rectangle.cuh) is faster with the one above.
  TILETRANSPOSE_FUNCTION unsigned short_remainder(unsigned long long n) const {
    const unsigned left = static_cast<unsigned>(n) - static_cast<unsigned>(quotient(n)) * divisor;
    return smaller(left, left - divisor);
  }

 private:
  TILETRANSPOSE_FUNCTION unsigned long long quotient(unsigned long long n) const {
#if TILETRANSPOSE_ON_DEVICE
    return __umul64hi(n, reciprocal);
#else
    __extension__ typedef unsigned __int128 product;  // -Wpedantic knows no such type
    return static_cast<unsigned long long>(static_cast<product>(n) * reciprocal >> 64);
#endif
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
