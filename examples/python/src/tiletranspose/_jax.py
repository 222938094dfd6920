# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arrays of JAX: a foreign function of XLA, which hands over its own memory and the stream that it computes on. So nothing
waits, ``jax.jit``, ``jax.grad`` and ``jax.vmap`` work, and XLA knows when each array may be reused."""

from __future__ import annotations

import functools
from typing import Any, Sequence, Tuple

import jax
import numpy as np
from tiletranspose import _core

_target = "tiletranspose_reorder"
jax.ffi.register_ffi_target(_target, _core.xla_capsule(on_host=False), platform="CUDA")


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _call(x: Any, axes: Tuple[int, ...], flipped: Tuple[int, ...]) -> Any:
    shape = tuple(x.shape[axis] for axis in axes)
    plan = [x.dtype.itemsize, *axes, *(int(axis in flipped) for axis in range(x.ndim))]
    call = jax.ffi.ffi_call(
        _target, jax.ShapeDtypeStruct(shape, x.dtype), vmap_method="broadcast_all"
    )
    return call(x, plan=np.array(plan, np.int64))


def _forward(x: Any, axes: Tuple[int, ...], flipped: Tuple[int, ...]) -> Any:
    return _call(x, axes, flipped), None


def _backward(axes: Tuple[int, ...], flipped: Tuple[int, ...], _: Any, gradient: Any) -> Any:
    back = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return (_call(gradient, back, tuple(back[axis] for axis in flipped)),)


_call.defvjp(_forward, _backward)
_compiled = jax.jit(_call, static_argnums=(1, 2))


_less_than_a_byte = ("int1", "uint1", "int2", "uint2", "int4", "uint4", "float4_e2m1fn")


def check_device(x: Any) -> None:
    """Of what is traced, the device is not known yet."""
    if not isinstance(x, jax.core.Tracer):
        if any(device.platform != "gpu" for device in x.devices()):
            raise ValueError("tiletranspose: x is not in the memory of a GPU")


def reorder(x: Any, axes: Sequence[int], flipped: Sequence[int]) -> Any:
    if jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended):
        # XLA has other arrays for them, of more axes and of elements of another size.
        raise TypeError(
            f"tiletranspose: arrays of {x.dtype} cannot be moved: of keys, move the axes of jax.random.key_data(x)"
        )
    if x.dtype.name in _less_than_a_byte:
        raise TypeError("tiletranspose: elements of less than a byte cannot be moved")
    check_device(x)
    return _compiled(x, tuple(axes), tuple(flipped))
