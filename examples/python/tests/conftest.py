# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the tests share: arrays of NumPy to compare with, and the same arrays in each library. Without a GPU, or without a
library, its tests are skipped."""

import importlib
import os

import numpy as np
import pytest
from tiletranspose import _core

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX shares the GPU with the others

has_gpu = _core.device_count() > 0
needs_gpu = pytest.mark.skipif(not has_gpu, reason="no GPU was found")


def dense(array):
    """In C order without gaps. ``numpy.ascontiguousarray`` would give an array of no axes one."""
    return np.asarray(array, order="C")


class Torch:
    name = "torch"
    other_dtypes = ("bfloat16", "float8_e4m3fn", "float8_e5m2")

    def __init__(self, module):
        self.module = module

    def put(self, array):
        return self.module.from_numpy(dense(array)).cuda()

    def get(self, array):
        return array.cpu().numpy()

    def permuted(self, array, axes):
        return array.permute(tuple(axes))

    def owns(self, array):
        return isinstance(array, self.module.Tensor) and array.is_contiguous()


class Cupy:
    name = "cupy"

    def __init__(self, module):
        self.module = module

    def put(self, array):
        return self.module.asarray(dense(array))

    def get(self, array):
        return array.get()

    def permuted(self, array, axes):
        return array.transpose(tuple(axes))

    def owns(self, array):
        return isinstance(array, self.module.ndarray) and array.flags.c_contiguous


class Jax:
    name = "jax"

    def __init__(self, module):
        self.module = module
        module.config.update("jax_enable_x64", True)

    def put(self, array):
        return self.module.numpy.asarray(array)

    def get(self, array):
        return np.asarray(array)

    def permuted(self, array, axes):
        return array.transpose(tuple(axes))

    def owns(self, array):
        return isinstance(array, self.module.Array)


class Numba:
    name = "numba"

    def __init__(self, module):
        self.cuda = importlib.import_module("numba.cuda")

    def put(self, array):
        return self.cuda.to_device(dense(array))

    def get(self, array):
        return array.copy_to_host()

    def owns(self, array):
        return self.cuda.is_cuda_array(array)


@pytest.fixture(params=[Torch, Cupy, Jax, Numba], ids=lambda library: library.name)
def library(request):
    """Each library that is there, with a GPU."""
    if not has_gpu:
        pytest.skip("no GPU was found")
    module = pytest.importorskip(request.param.name)
    if request.param is Torch and not module.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return request.param(module)


@pytest.fixture
def torch():
    """PyTorch, with a GPU."""
    if not has_gpu:
        pytest.skip("no GPU was found")
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    """JAX, with a GPU."""
    if not has_gpu:
        pytest.skip("no GPU was found")
    return pytest.importorskip("jax")


dtypes = ("bool", "uint8", "int16", "float16", "int32", "float32", "float64", "complex64", "complex128")


def random_array(random, shape, dtype):
    """Bits of every kind that a dtype has; of floats no NaN, which compares with nothing."""
    dtype = np.dtype(dtype)
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        information = np.iinfo(dtype)
        return random.integers(information.min, information.max, shape, dtype, endpoint=True)
    values = random.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * random.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def random_shape(random, most_rank=6, most_elements=200_000):
    """Short axes, long ones, axes of one element and, now and then, none."""
    rank = int(random.integers(0, most_rank + 1))
    shape = []
    for _ in range(rank):
        room = max(1, most_elements // max(1, int(np.prod(shape))))
        shape.append(int(min(room, random.choice([1, 2, 3, 5, 8, 17, 33, 64, 129, 300]))))
    if rank > 0 and random.random() < 0.03:
        shape[int(random.integers(rank))] = 0
    return tuple(shape)


def random_call(random, rank):
    """A function of the package by name, its arguments, and what NumPy makes of them."""
    name = str(random.choice(["permute", "flip", "reverse", "contiguous"] + ["transpose", "rot90"] * (rank >= 2)))
    axes = [int(axis) for axis in random.permutation(rank)]
    signed = [axis - rank if random.random() < 0.5 else axis for axis in axes]
    if name == "permute":
        return name, (signed,), lambda x: np.transpose(x, axes)
    if name == "transpose":
        return name, tuple(signed[:2]), lambda x: np.swapaxes(x, axes[0], axes[1])
    if name == "flip":
        some = signed[: int(random.integers(rank + 1))]
        return name, (some,), lambda x: np.flip(x, tuple(some))
    if name == "rot90":
        quarters = int(random.integers(-5, 6))
        return name, (quarters, axes[:2]), lambda x: np.rot90(x, quarters, axes[:2])
    if name == "reverse":
        return name, (), lambda x: np.flip(x)
    return name, (), lambda x: x
