// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A list in braces behind the other arguments of a call is a value, as the one that fills a tile: no public function may
// take it for the place of the call, which nobody gives. So nvcc's front end sees it, which chooses what kernels call.

#include <tiletranspose/tiletranspose.cuh>

#include <type_traits>
#include <utility>

namespace {

using takes_place = void(tt::detail::access_site);
using takes_numbers = void(int2);
using takes_nested = void(std::pair<int2, int>);

template <class Function, class = void>
constexpr bool takes_no_number = false;
template <class Function>
constexpr bool takes_no_number<Function, std::void_t<decltype(std::declval<Function*>()({}))>> =
    true;

template <class Function, class = void>
constexpr bool takes_zeros = false;
template <class Function>
constexpr bool takes_zeros<Function, std::void_t<decltype(std::declval<Function*>()({0, 0}))>> =
    true;

template <class Function, class = void>
constexpr bool takes_lists = false;
template <class Function>
constexpr bool takes_lists<Function, std::void_t<decltype(std::declval<Function*>()({{}, 0}))>> =
    true;

template <class Function, class = void>
constexpr bool takes_three = false;
template <class Function>
constexpr bool takes_three<Function, std::void_t<decltype(std::declval<Function*>()({{}, 0, 0}))>> =
    true;

static_assert(takes_no_number<takes_numbers> && takes_zeros<takes_numbers>, "");
static_assert(takes_lists<takes_nested>, "");
static_assert(!takes_no_number<takes_place> && !takes_zeros<takes_place>, "");
static_assert(!takes_lists<takes_place> && !takes_three<takes_place>, "");

}  // namespace
