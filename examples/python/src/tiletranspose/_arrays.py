# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arrays of all libraries, where the extension module does not move a tensor itself. A library is imported only when a
caller's array is its own."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from typing import Any, NamedTuple, Optional

from tiletranspose import _core


class Memory(NamedTuple):
    """What an array is to the extension module."""

    address: int
    shape: tuple
    strides: Optional[tuple]  # in bytes; None: dense
    item_bytes: int
    device: int
    stream: int  # on which the caller works; 0: not said
    read_only: bool = False
    kind: str = ""  # of the elements, where it can be compared: as in NumPy's type strings
    owner: Any = None  # what keeps the memory from being given back


def library_of(x: Any) -> str:
    """``torch``, ``jax``, ``cupy``, ``numba``, or an empty name for all others."""
    # What another thread is just importing has no types yet, and so no arrays.
    if isinstance(x, getattr(sys.modules.get("torch"), "Tensor", ())):
        return "torch"
    if isinstance(x, getattr(sys.modules.get("jax"), "Array", ())):
        return "jax"
    root = type(x).__module__.partition(".")[0]
    return {"cupy": "cupy", "numba": "numba", "numba_cuda": "numba"}.get(root, "")


_DEFAULT_STREAM = 1  # as CUDA's interfaces for Python call it


def kind_of_typestr(typestr: str) -> str:
    """Order of bytes, kind and size; empty for elements that only their library knows."""
    kind = typestr.replace("=", "<" if sys.byteorder == "little" else ">")
    if "V" in kind or "O" in kind:
        return ""
    return "|" + kind[1:] if kind[1:] in ("b1", "i1", "u1") else kind


def kind_of_dlpack(code: int, bits: int, lanes: int) -> str:
    """The same of an element as DLPack describes it."""
    letter = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(code)
    if letter is None or lanes != 1 or sys.byteorder != "little":
        return ""
    return f"{'|' if bits == 8 else '<'}{letter}{bits // 8}"


def from_cuda_interface(x: Any) -> Memory:
    """An array by way of ``__cuda_array_interface__``."""
    described = x.__cuda_array_interface__
    if described.get("mask") is not None:
        raise TypeError("tiletranspose: arrays with masks cannot be moved")
    address, read_only = described["data"]
    item_bytes = int(re.match(r"[<>|=]?[A-Za-z](\d+)", described["typestr"])[1])
    if described["typestr"].lstrip("<>|=").startswith("U"):
        item_bytes *= 4
    device = _core.device_of_address(address) if address else 0
    return Memory(
        address=address,
        shape=described["shape"],
        strides=described.get("strides"),
        item_bytes=item_bytes,
        device=device,
        stream=described.get("stream") or 0,
        read_only=read_only,
        kind=kind_of_typestr(described["typestr"]),
    )


def from_numba(x: Any) -> Memory:
    """Numba's interface says that an array is dense also where an axis is repeated, so it is asked for the address alone."""
    return from_cuda_interface(x)._replace(strides=x.strides, item_bytes=x.dtype.itemsize)


def from_cupy(x: Any) -> Memory:
    import cupy

    with x.device:
        stream = cupy.cuda.get_current_stream().ptr
    kind = kind_of_typestr(x.dtype.str)
    return Memory(x.data.ptr, x.shape, x.strides, x.itemsize, x.device.id, stream or _DEFAULT_STREAM, kind=kind)


def from_dlpack(x: Any, name: str, written: bool) -> Memory:
    """An array by way of DLPack. What its library has queued is waited for on the default stream."""
    try:
        try:
            capsule = x.__dlpack__(max_version=(1, 0))
        except TypeError:  # older libraries know of no versions
            capsule = x.__dlpack__()
    except Exception as error:
        raise ValueError(f"tiletranspose: {name} cannot be read by DLPack: {error}") from error
    *memory, device, read_only, is_copy, dtype = _core.read_dlpack(capsule)
    if written and is_copy:
        raise ValueError(f"tiletranspose: {name} cannot be written: DLPack hands over a copy of it")
    return Memory(*memory, device, _DEFAULT_STREAM, read_only, kind_of_dlpack(*dtype), capsule)


def memory_of(x: Any, name: str, written: bool = False) -> Memory:
    """An array of any library but PyTorch and JAX.

    :raises TypeError: where it is none
    """
    library = library_of(x)
    if library == "cupy":
        return from_cupy(x)
    if library == "numba" and hasattr(x, "strides"):
        return from_numba(x)
    if hasattr(x, "__cuda_array_interface__"):
        return from_cuda_interface(x)
    if hasattr(x, "__dlpack__"):
        if x.__dlpack_device__()[0] not in (2, 13):  # CUDA, and CUDA's managed memory
            raise ValueError(f"tiletranspose: {name} is not in the memory of a GPU")
        return from_dlpack(x, name, written)
    if hasattr(x, "__array_interface__"):
        raise ValueError(f"tiletranspose: {name} is not in the memory of a GPU")
    raise TypeError(f"tiletranspose: {name} is no array: it has neither DLPack nor __cuda_array_interface__")


def new_array(like: Any, shape: tuple, device: int) -> Any:
    """An array without gaps, of the library of another one, on its device and, where it has one, its stream."""
    library = library_of(like)
    if library == "cupy":
        import cupy

        with like.device:
            return cupy.empty(shape, like.dtype)
    if library == "numba":
        from numba import cuda

        with ExitStack() as stack:
            if 0 not in shape:  # of arrays without memory the device is not known
                stack.enter_context(cuda.gpus[device])
            return cuda.device_array(shape, like.dtype, stream=like.stream)
    raise TypeError(
        f"tiletranspose: what makes arrays like {type(like).__module__}.{type(like).__name__} is not known: give out="
    )


def check_output(x: Any, out: Any, source: Memory, target: Memory) -> None:
    if target.read_only:
        raise ValueError("tiletranspose: out is read-only")
    if source.device != target.device:
        raise ValueError("tiletranspose: x and out are on different devices")
    if hasattr(x, "dtype") and hasattr(out, "dtype") and x.dtype != out.dtype:
        raise TypeError("tiletranspose: x and out have different dtypes")
    # Of other sizes the extension module says what they are.
    if source.kind and target.kind and source.kind != target.kind and source.item_bytes == target.item_bytes:
        raise TypeError(f"tiletranspose: x and out have different dtypes, {source.kind} and {target.kind}")


def reorder(x: Any, axes: Any, swapped: Any, flipped: Any, out: Any) -> Any:
    """What the functions of the package come to, for arrays that the extension module handed on."""
    library = library_of(x)
    if library == "torch":
        from tiletranspose import torch as operators

        return operators.reorder_any(x, axes, swapped, flipped, out)
    if out is not None and "jax" in (library, library_of(out)):
        raise TypeError("tiletranspose: arrays of JAX are immutable, so that out cannot be one")
    if library == "jax":
        from tiletranspose import _jax

        return _jax.reorder(x, *_core.complete_order(x.ndim, axes, swapped, flipped))
    source = memory_of(x, "x")
    axes, flipped = _core.complete_order(len(source.shape), axes, swapped, flipped)
    owned = out is None
    if owned:
        out = new_array(x, tuple(source.shape[axis] for axis in axes), source.device)
    target = memory_of(out, "out", written=True)
    check_output(x, out, source, target)
    _core.relocate(
        target[:4],
        source[:4],
        axes,
        flipped,
        device=source.device,
        stream=source.stream or _DEFAULT_STREAM,
        out_stream=target.stream,
        owned=owned,
    )
    return out


def transpose_(x: Any) -> None:
    """A square of any library in its own memory."""
    library = library_of(x)
    if library == "torch":
        from tiletranspose import torch as operators

        operators.transpose_any_(x)
        return
    if library == "jax":
        raise TypeError("tiletranspose: arrays of JAX are immutable")
    memory = memory_of(x, "x", written=True)
    if memory.read_only:
        raise ValueError("tiletranspose: x is read-only")
    _core.transpose_square(memory[:4], device=memory.device, stream=memory.stream or _DEFAULT_STREAM)


def is_contiguous(x: Any) -> bool:
    """True where the elements lie in C order without gaps in the memory of a GPU.

    :raises ValueError: for arrays in host memory; of tensors that is left to who moves them
    """
    library = library_of(x)
    if library == "torch":
        return x.is_contiguous() and x.is_cuda
    if library == "jax":
        from tiletranspose import _jax

        _jax.check_device(x)
        return True
    memory = memory_of(x, "x")
    return is_dense(memory.shape, memory.strides, memory.item_bytes)


def is_dense(shape: tuple, strides: Optional[tuple], item_bytes: int) -> bool:
    if strides is None or 0 in shape:
        return True
    expected = item_bytes
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def layout_of(x: Any) -> tuple:
    """The shape, the strides in bytes and the bytes of an element of any array, wherever it is."""
    if library_of(x) == "torch":
        item_bytes = x.element_size()
        return tuple(x.shape), tuple(stride * item_bytes for stride in x.stride()), item_bytes
    strides = getattr(x, "strides", None)
    return tuple(x.shape), strides, x.dtype.itemsize


# An address that GPU memory might have.
_ANY_ADDRESS = 1 << 40


def explain(x: Any, axes: Any, swapped: Any, flipped: Any, may_return_x: bool) -> str:
    """What a request would launch for an array that starts where a library would have it start, as the result does."""
    shape, strides, item_bytes = layout_of(x)
    axes, flipped = _core.complete_order(len(shape), axes, swapped, flipped)
    if 0 in shape:
        return "nothing: a size is 0\n"
    if may_return_x and is_dense(shape, strides, item_bytes):
        return "nothing: the array has no gaps, and is returned itself\n"
    source = (_ANY_ADDRESS, shape, strides, item_bytes)
    target = (2 * _ANY_ADDRESS, tuple(shape[axis] for axis in axes), None, item_bytes)
    return _core.explain(target, source, axes, flipped)
