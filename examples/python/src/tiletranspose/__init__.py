# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Transposes, permutes, flips and rotations of arrays in GPU memory, at the speed of a copy.

Arrays are those of PyTorch, CuPy, JAX or Numba, or any with DLPack or ``__cuda_array_interface__``, of any dtype, with any
strides. What comes back is a new, contiguous array of the same library, made on that library's current stream; nothing
waits for the GPU. Axes count from 0, or from the end where they are negative, as in NumPy.

    >>> import torch, tiletranspose
    >>> x = torch.randn(64, 224, 224, 80, device="cuda")
    >>> y = tiletranspose.permute(x, (0, 3, 1, 2))  # as x.permute(0, 3, 1, 2).contiguous()

Errors are exceptions, before anything is launched: ValueError for arrays in host memory, axes that are none of the
array's, and an ``out`` of another shape, on another device or that shares memory with ``x``; TypeError for an ``out`` of
another dtype, for what is no array and for elements that are no whole bytes; RuntimeError for what CUDA reports.

``tiletranspose.torch`` has the same functions but ``explain`` for ``torch.compile``.
"""

from __future__ import annotations

from importlib.metadata import version as _version
from typing import Any, Callable, Optional, Sequence, TypeVar, Union

from tiletranspose import _arrays, _core, _requests

__all__ = [
    "contiguous",
    "explain",
    "flip",
    "permute",
    "permute_into",
    "reverse",
    "rot90",
    "transpose",
    "transpose_",
]
__version__ = _version("tiletranspose")

ArrayT = TypeVar("ArrayT")
_reorder = _core.reorder


def permute(x: ArrayT, axes: Sequence[int], *, out: Optional[ArrayT] = None) -> ArrayT:
    """Permutes the axes, as ``numpy.transpose(x, axes)``: axis ``j`` of the result is axis ``axes[j]`` of ``x``.

    :param axes: each axis of ``x`` once
    :param out: an array for the result, of its shape and dtype and any strides, that shares no memory with ``x``
    :returns: the new array, or ``out``
    """
    if axes is None:
        raise TypeError(_requests.no_axes)
    return _reorder(x, axes, None, (), out)


def permute_into(out: ArrayT, x: ArrayT, axes: Sequence[int]) -> ArrayT:
    """Permutes the axes of ``x`` into ``out``: ``permute(x, axes, out=out)``."""
    return permute(x, axes, out=out)


def transpose(x: ArrayT, axis0: int = -2, axis1: int = -1, *, out: Optional[ArrayT] = None) -> ArrayT:
    """Has two axes change places, as ``numpy.swapaxes``; by default the last two, so that a batch of matrices is transposed."""
    return _reorder(x, None, (axis0, axis1), (), out)


def transpose_(x: ArrayT) -> ArrayT:
    """Transposes a square matrix in its own memory, and returns it: ``x[i, j]`` becomes ``x[j, i]``.

    Elements have 1, 2, 4, 8 or 16 bytes, and rows or columns are contiguous.
    """
    if not _core.transpose_tensor(x):
        _arrays.transpose_(x)
    return x


def flip(
    x: ArrayT, axes: Union[int, Sequence[int], None] = None, *, out: Optional[ArrayT] = None
) -> ArrayT:
    """Reverses the order of the elements along axes, as ``numpy.flip``; by default along all."""
    return _reorder(x, None, None, axes, out)


def reverse(x: ArrayT, *, out: Optional[ArrayT] = None) -> ArrayT:
    """Reverses the order of all elements: ``flip(x)``. Of a vector ``out[i] == x[n - 1 - i]``."""
    return _reorder(x, None, None, None, out)


def rot90(
    x: ArrayT, k: int = 1, axes: Sequence[int] = (0, 1), *, out: Optional[ArrayT] = None
) -> ArrayT:
    """Rotates by ``k`` quarters from the first of two axes towards the second, as ``numpy.rot90``."""
    return _reorder(x, *_requests.rot90(k, axes), out)


def contiguous(x: ArrayT, *, out: Optional[ArrayT] = None) -> ArrayT:
    """The same elements without gaps, in C order, whatever the strides of ``x``; ``x`` itself where it is so already. As
    for all functions, ``x`` is in the memory of a GPU.

    :param out: receives the elements, also where ``x`` is contiguous
    """
    return _core.contiguous(x) if out is None else _reorder(x, None, None, (), out)


def explain(function: Callable[..., Any], x: Any, *arguments: Any, **keywords: Any) -> str:
    """Says what ``function(x, ...)`` would launch, and why. Nothing is launched, and no GPU is needed.

    :param function: ``permute``, ``transpose``, ``flip``, ``reverse``, ``rot90`` or ``contiguous`` of this package
    :param x: an array, or anything with ``shape`` and ``dtype`` as NumPy's arrays in host memory

        >>> print(tiletranspose.explain(tiletranspose.permute, x, (0, 2, 1)))
    """
    name = getattr(function, "__name__", "")
    if name not in ("permute", "transpose", "flip", "reverse", "rot90", "contiguous"):
        raise TypeError("tiletranspose: explain takes a function of this package that makes an array")
    request = getattr(_requests, name)(*arguments, **keywords)
    return _arrays.explain(x, *request, may_return_x=name == "contiguous")
