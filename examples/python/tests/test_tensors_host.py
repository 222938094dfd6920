# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""How tensors are read, with a stand-in for PyTorch: what the extension module looks up, and what it refuses. A program of its
own, because the stand-in must not be met by anybody else."""

import pathlib
import subprocess
import sys

import pytest

stand_in = """
import sys, types
torch = types.ModuleType("torch")
class Tensor:
    requires_grad, is_cuda, dtype, conjugated, transformed = False, True, "float32", False, False
    def __init__(self, *shape, strides=None, **others):
        self.shape = shape
        self.strides = strides
        self.__dict__.update(others)
        self.versions = 0
    def stride(self):
        if self.strides: return self.strides
        steps = [1]
        for extent in reversed(self.shape[1:]): steps.insert(0, steps[0] * max(1, extent))
        return tuple(steps[:len(self.shape)])
    def data_ptr(self):
        if self.transformed: raise RuntimeError("no storage")
        return 0
    def element_size(self): return 4
    def get_device(self): return 0
    def is_conj(self): return self.conjugated
    def is_neg(self): return False
    def is_inference(self): return False
    def dim(self): return len(self.shape)
    def is_contiguous(self): return False
    def new_empty(self, shape):
        assert type(shape) is tuple
        return Tensor(*shape)
grad, modes = [True], [0]
torch.Tensor = Tensor
torch.is_grad_enabled = lambda: grad[0]
torch._C = types.ModuleType("torch._C")
torch._C._cuda_getCurrentRawStream = lambda device: 0
torch._C._len_torch_dispatch_stack = lambda: modes[0]
torch.nn = types.ModuleType("torch.nn")
torch.nn.Parameter = type("Parameter", (Tensor,), {})
forward = types.ModuleType("torch.autograd.forward_ad")
forward._current_level = -1
graph = types.ModuleType("torch.autograd.graph")
def increment_version(tensor): tensor.versions += 1
graph.increment_version = increment_version
for module in (torch, torch._C, torch.nn, forward, graph): sys.modules[module.__name__] = module
sys.modules["torch.autograd"] = types.ModuleType("torch.autograd")
operators = types.ModuleType("tiletranspose.torch")
operators.reorder_any = lambda *arguments: ("operator", *arguments)
operators.transpose_any_ = lambda x: None
import tiletranspose
sys.modules["tiletranspose.torch"] = operators
tiletranspose.torch = operators
def refuses(error, sentence, function, *arguments, **keywords):
    try: function(*arguments, **keywords)
    except error as e: assert sentence in str(e), str(e)
    else: raise AssertionError("not refused")
"""


@pytest.mark.parametrize(
    "program",
    [
        "y = tiletranspose.permute(Tensor(3, 0, 5), (2, 0, 1))\nassert type(y) is Tensor and y.shape == (5, 3, 0)",
        "assert tiletranspose.transpose(torch.nn.Parameter(3, 0)).shape == (0, 3)",
        "out = Tensor(0, 3)\nassert tiletranspose.transpose(Tensor(3, 0), out=out) is out and out.versions == 1",
        "x = Tensor(0, 0)\nassert tiletranspose.transpose_(x) is x and x.versions == 1",
        "x = Tensor(3, 0, requires_grad=True)\n"
        "assert tiletranspose.flip(x) == ('operator', x, None, None, None, None)\n"
        "grad[0] = False\nassert type(tiletranspose.flip(x)) is Tensor",
        "assert tiletranspose.flip(Tensor(3, 0, conjugated=True))[0] == 'operator'",
        "assert tiletranspose.flip(Tensor(3, 0, transformed=True))[0] == 'operator'",
        "modes[0] = 1\nassert tiletranspose.flip(Tensor(3, 0))[0] == 'operator'",
        "forward._current_level = 0\nassert tiletranspose.flip(Tensor(3, 0))[0] == 'operator'",
        "assert tiletranspose.flip(type('Mine', (Tensor,), {})(3, 0))[0] == 'operator'",
        "refuses(ValueError, 'x is not in the memory of a GPU; move it by .cuda()', tiletranspose.flip, Tensor(3, is_cuda=False))",
        "refuses(ValueError, 'out is not in the memory', tiletranspose.flip, Tensor(0), out=Tensor(0, is_cuda=False))",
        "refuses(TypeError, 'different dtypes', tiletranspose.flip, Tensor(0), out=Tensor(0, dtype='int32'))",
        "refuses(ValueError, 'the shape (2,), but the result has (0,)', tiletranspose.flip, Tensor(0), out=Tensor(2))",
        "refuses(ValueError, 'axis 2 is none', tiletranspose.permute, Tensor(3, 4), (0, 2))",
        "refuses(ValueError, 'shares memory', tiletranspose.flip, Tensor(3), out=Tensor(3))",
        "refuses(ValueError, 'elements of out share', tiletranspose.flip, Tensor(3), out=Tensor(3, strides=(0,)))",
        "refuses(ValueError, 'a square matrix', tiletranspose.transpose_, Tensor(3, 4))",
    ],
)
def test_tensors(program):
    result = subprocess.run(
        [sys.executable, "-c", stand_in + program], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent
    )
    assert result.returncode == 0, result.stderr
