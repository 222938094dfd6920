# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The functions of ``tiletranspose`` but ``explain`` for tensors, by operators that ``torch.compile`` knows.

Outside of ``torch.compile`` they are the same as those of ``tiletranspose``. Inside, each is one operator of the graph,
``torch.ops.tiletranspose.reorder``, with rules for shapes, gradients, tangents and ``vmap``; there is no graph break.

    >>> import torch, tiletranspose.torch
    >>> @torch.compile
    ... def heads(tokens):  # (batch, length, 32, 128) to (batch, 32, length, 128)
    ...     return tiletranspose.torch.transpose(tokens, 1, 2) * 0.5
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

import tiletranspose
import torch
from tiletranspose import _core, _requests
from torch import Tensor
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

__all__ = [
    "contiguous",
    "flip",
    "permute",
    "permute_into",
    "reverse",
    "rot90",
    "transpose",
    "transpose_",
]

# What every call asks for, looked up once.
_is_compiling = torch.compiler.is_compiling
_core_reorder = _core.reorder
# Modes that see an operator before its gradient is taken: those of torch.export. PyTorch before 2.3 has none.
_count_early_modes = getattr(torch._ops, "_len_torch_dispatch_stack_pre_dispatch", lambda: 0)

# The operators. Inputs may have any strides, so that the compiler need not copy them for us.
_library = torch.library.Library("tiletranspose", "DEF")
_tags = (torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout)
_library.define("reorder(Tensor x, int[] axes, int[] flipped) -> Tensor", tags=_tags)
_library.define("reorder_into(Tensor(a!) out, Tensor x, int[] axes, int[] flipped) -> ()", tags=_tags)
_library.define("transpose_(Tensor(a!) x) -> ()", tags=_tags)


def _reorder_cuda(x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
    return _core.reorder_plain(x, axes, flipped, None)


def _reorder_into_cuda(out: Tensor, x: Tensor, axes: List[int], flipped: List[int]) -> None:
    _core.reorder_plain(x, axes, flipped, out)


def _on_host(*_: Any) -> None:
    raise ValueError("tiletranspose: x is not in the memory of a GPU; move it by .cuda()")


_library.impl("reorder", _reorder_cuda, "CUDA")
_library.impl("reorder_into", _reorder_into_cuda, "CUDA")
_library.impl("transpose_", lambda x: _core.transpose_plain(x), "CUDA")
for _name in ("reorder", "reorder_into", "transpose_"):
    _library.impl(_name, _on_host, "CPU")


# What PyTorch would do of its own accord about pending conjugations and negations asks for operators that return a tensor.
def _reorder_into_pending(out: Tensor, x: Tensor, axes: List[int], flipped: List[int]) -> None:
    if out.is_conj() or out.is_neg():
        raise ValueError("tiletranspose: out has a conjugation or a negation pending")
    torch.ops.tiletranspose.reorder_into(out, x.resolve_conj().resolve_neg(), axes, flipped)


# What is pending is so for all elements, and remains: the memory is transposed.
def _transpose_conjugated(x: Tensor) -> None:
    torch.ops.tiletranspose.transpose_(x.conj())


def _transpose_negated(x: Tensor) -> None:
    torch.ops.tiletranspose.transpose_(torch._neg_view(x))


for _key, _function in (("Conjugate", _transpose_conjugated), ("Negative", _transpose_negated)):
    _library.impl("reorder_into", _reorder_into_pending, _key)
    _library.impl("transpose_", _function, _key)


@torch.library.register_fake("tiletranspose::reorder", lib=_library)
def _reorder_fake(x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
    return x.new_empty([x.shape[axis] for axis in axes])


@torch.library.register_fake("tiletranspose::reorder_into", lib=_library)
def _reorder_into_fake(out: Tensor, x: Tensor, axes: List[int], flipped: List[int]) -> None:
    return None


@torch.library.register_fake("tiletranspose::transpose_", lib=_library)
def _transpose_fake(x: Tensor) -> None:
    return None


def _way_back(axes: List[int], flipped: List[int]) -> Tuple[List[int], List[int]]:
    """The order that undoes one. Axis ``k`` of ``x`` is axis ``back[k]`` of the result, and runs backwards there
    where it was flipped."""
    back = sorted(range(len(axes)), key=axes.__getitem__)
    return back, [back[axis] for axis in flipped]


def _undo(ctx: Any, gradient: Tensor, reorder: Any) -> Tensor:
    back, flipped = _way_back(ctx.axes, ctx.flipped)
    if not flipped and back == list(range(len(back))):
        return gradient
    return reorder(gradient, back, flipped)


def _below_gradients(keys: Any, x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
    operator = torch.ops.tiletranspose.reorder.default
    with torch._C._AutoDispatchBelowAutograd():
        return operator.redispatch(keys & torch._C._after_autograd_keyset, x, axes, flipped)


class _Differentiated(_SingleLevelFunction):
    """The operator's gradient and tangent, at one level of ``torch.func``: PyTorch comes to it once a level. A function that
    ``torch.library.register_autograd`` makes drops tangents, and is refused by ``torch.func``."""

    @staticmethod
    def forward(ctx: Any, keys: Any, x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
        ctx.axes, ctx.flipped = axes, flipped
        if not torch._C._are_functorch_transforms_active():
            return _below_gradients(keys, x, axes, flipped)
        # PyTorch has switched off what the levels around this one ask for, too.
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            return _below_gradients(keys, x, axes, flipped)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, _undo(ctx, gradient, torch.ops.tiletranspose.reorder), None, None

    @staticmethod
    def jvp(ctx: Any, _keys: Any, tangent: Tensor, *_: Any) -> Tensor:
        return torch.ops.tiletranspose.reorder(tangent, ctx.axes, ctx.flipped)


def _reorder_autograd(keys: Any, x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
    if not torch._C._are_functorch_transforms_active():
        return _Differentiated.apply(keys, x, axes, flipped)
    with enable_single_level_autograd_function():
        return _Differentiated.apply(keys, x, axes, flipped)


_library.impl("reorder", _reorder_autograd, "Autograd", with_keyset=True)


def _with_batch(batch: int, axes: List[int], flipped: List[int]) -> Tuple[List[int], List[int]]:
    """The batch becomes the first axis of the result, wherever it is in ``x``."""
    unbatched = [axis for axis in range(len(axes) + 1) if axis != batch]
    return [batch] + [unbatched[axis] for axis in axes], [unbatched[axis] for axis in flipped]


def _vmap(info: Any, in_dims: Any, x: Tensor, axes: List[int], flipped: List[int]) -> Any:
    return torch.ops.tiletranspose.reorder(x, *_with_batch(in_dims[0], axes, flipped)), 0


torch.library.register_vmap("tiletranspose::reorder", _vmap, lib=_library)


class _Recorded(torch.autograd.Function):
    """The operator where a gradient is all that is asked for: in a third of the time."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
        ctx.axes, ctx.flipped = axes, flipped
        return _core_reorder(x, axes, None, flipped, None)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _undo(ctx, gradient, _reorder_gradient), None, None


def _reorder_gradient(x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
    return _reorder(x, axes, None, flipped, None)


def _is_recorded(x: Tensor) -> bool:
    """Subclasses, modes, transforms and torch.jit.trace are to see the operator."""
    return (
        not _is_compiling()
        and x.requires_grad
        and torch.is_grad_enabled()
        and type(x) in (Tensor, torch.nn.Parameter)
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0
        and not _count_early_modes()
        and not torch._C._is_tracing()
    )


def _refuse_gradients(*tensors: Tensor) -> None:
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        raise ValueError("tiletranspose: no gradient passes through out= or transpose_")
    if not _is_compiling() and forward_ad._current_level >= 0:
        if any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors):
            raise ValueError("tiletranspose: no tangent passes through out= or transpose_")


def _reorder_recorded(x: Tensor, axes: List[int], flipped: List[int]) -> Tensor:
    if _is_recorded(x):
        return _Recorded.apply(x, axes, flipped)
    return torch.ops.tiletranspose.reorder(x, axes, flipped)


def reorder_any(x: Tensor, axes: Any, swapped: Any, flipped: Any, out: Optional[Tensor]) -> Tensor:
    """The operators, called with what a function asks for: with gradients, modes and transforms of PyTorch."""
    complete = _requests.complete if _is_compiling() else _core.complete_order
    all_axes, all_flipped = complete(x.dim(), axes, swapped, flipped)
    if out is None:
        return _reorder_recorded(x, all_axes, all_flipped)
    if not isinstance(out, Tensor):
        raise TypeError("tiletranspose: x is a tensor, so out must be one")
    _refuse_gradients(x, out)
    torch.ops.tiletranspose.reorder_into(out, x, all_axes, all_flipped)
    return out


def transpose_any_(x: Tensor) -> None:
    _refuse_gradients(x)
    torch.ops.tiletranspose.transpose_(x)


def _reorder(x: Tensor, axes: Any, swapped: Any, flipped: Any, out: Optional[Tensor]) -> Tensor:
    if _is_compiling():
        return reorder_any(x, axes, swapped, flipped, out)
    return _core_reorder(x, axes, swapped, flipped, out)


def permute(x: Tensor, axes: Sequence[int], *, out: Optional[Tensor] = None) -> Tensor:
    """As ``tiletranspose.permute``."""
    if axes is None:
        raise TypeError(_requests.no_axes)
    return _reorder(x, axes, None, (), out)


def permute_into(out: Tensor, x: Tensor, axes: Sequence[int]) -> Tensor:
    """As ``tiletranspose.permute_into``."""
    return permute(x, axes, out=out)


def transpose(x: Tensor, axis0: int = -2, axis1: int = -1, *, out: Optional[Tensor] = None) -> Tensor:
    """As ``tiletranspose.transpose``."""
    if _is_compiling():  # not by _reorder: a call less
        return reorder_any(x, None, (axis0, axis1), (), out)
    return _core_reorder(x, None, (axis0, axis1), (), out)


def flip(
    x: Tensor, axes: Union[int, Sequence[int], None] = None, *, out: Optional[Tensor] = None
) -> Tensor:
    """As ``tiletranspose.flip``."""
    return _reorder(x, None, None, axes, out)


def reverse(x: Tensor, *, out: Optional[Tensor] = None) -> Tensor:
    """As ``tiletranspose.reverse``."""
    return _reorder(x, None, None, None, out)


def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), *, out: Optional[Tensor] = None) -> Tensor:
    """As ``tiletranspose.rot90``."""
    return _reorder(x, *_requests.rot90(k, axes), out)


def contiguous(x: Tensor, *, out: Optional[Tensor] = None) -> Tensor:
    """As ``tiletranspose.contiguous``."""
    if out is None and x.is_contiguous() and x.is_cuda:
        return x
    return _reorder(x, None, None, (), out)


def transpose_(x: Tensor) -> Tensor:
    """As ``tiletranspose.transpose_``."""
    if _is_compiling():
        transpose_any_(x)
        return x
    return tiletranspose.transpose_(x)
