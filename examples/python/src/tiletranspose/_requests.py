# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What each function asks for: (axes, swapped, flipped). `axes` names all axes in their new order, or is None; `swapped` are
two that change places, or None, or with a third integer two axes and the quarters from the first towards the second;
`flipped` are axes of the input that run backwards, one or several, or None for all."""

from __future__ import annotations

import operator
from typing import Any, List, Optional, Sequence, Tuple

Request = Tuple[Any, Any, Any]


no_axes = "tiletranspose: permute takes all axes in their new order, not None"


def permute(axes: Sequence[int]) -> Request:
    if axes is None:
        raise TypeError(no_axes)
    return axes, None, ()


def transpose(axis0: int = -2, axis1: int = -1) -> Request:
    return None, (axis0, axis1), ()


def flip(axes: Any = None) -> Request:
    return None, None, axes


def reverse() -> Request:
    return None, None, None


def rot90(k: int = 1, axes: Sequence[int] = (0, 1)) -> Request:
    first, second = axes
    quarters = (k if type(k) is int else operator.index(k)) % 4
    return None, (first, second, quarters), ()


def contiguous() -> Request:
    return None, None, ()


def _axis(axis: int, rank: int) -> int:
    if isinstance(axis, float):  # which compares equal to a place
        raise TypeError(f"tiletranspose: axis {axis} is not an integer")
    for place in range(rank):  # torch.compile may not know a number's value until it is compared
        if axis == place or axis == place - rank:
            return place
    raise ValueError(f"tiletranspose: axis {axis} is none of an array of {rank} axes")


def complete(
    rank: int, axes: Optional[Sequence[int]], swapped: Optional[Sequence[int]], flipped: Any
) -> Tuple[List[int], List[int]]:
    """All axes in their new order, and those that run backwards: what ``_core.complete_order`` answers, in Python that
    ``torch.compile`` can follow."""
    order = list(range(rank))
    if axes is not None:
        order = [_axis(axis, rank) for axis in axes]
        if sorted(order) != list(range(rank)):
            raise ValueError(f"tiletranspose: {tuple(axes)} do not name each of {rank} axes once")
    if swapped is not None:
        first, second = _axis(swapped[0], rank), _axis(swapped[1], rank)
        quarters = swapped[2] if len(swapped) == 3 else None
        if quarters is not None and first == second:
            raise ValueError("tiletranspose: rot90 takes two axes that differ")
        if quarters is None or quarters % 2 == 1:
            order[first], order[second] = second, first
        if quarters:
            flipped = ((second,), (first, second), (first,))[quarters - 1]
    if flipped is None:
        return order, list(range(rank))
    backwards = [_axis(axis, rank) for axis in ([flipped] if isinstance(flipped, int) else flipped)]
    if len(set(backwards)) != len(backwards):
        raise ValueError(f"tiletranspose: {tuple(backwards)} names an axis twice")
    return order, sorted(backwards)
