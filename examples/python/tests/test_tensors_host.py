# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""How tensors are read, with a stand-in for PyTorch: what the extension module looks up, and what it refuses. A program of its
own, because the stand-in must not be met by anybody else. Then what can be seen of PyTorch itself without a GPU."""

import pathlib
import subprocess
import sys

import exchange
import pytest
import tiletranspose

stand_in = """
import sys, types
torch = types.ModuleType("torch")
class Tensor:
    requires_grad, is_cuda, dtype, conjugated, transformed, quantized = False, True, "float32", False, False, False
    is_quantized, dense = False, False
    address = 1 << 20
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
        return self.address
    def element_size(self): return 4
    def get_device(self): return 0
    def is_conj(self): return self.conjugated
    def is_neg(self): return False
    def is_inference(self): return False
    def dim(self): return len(self.shape)
    def is_contiguous(self): return self.dense
    def new_empty(self, *shape):
        assert all(type(extent) is int for extent in shape)
        return Tensor(*shape)
grad, modes, transforms, tracing, early = [True], [0], [False], [False], []
torch.Tensor = Tensor
torch.is_grad_enabled = lambda: grad[0]
torch._C = types.ModuleType("torch._C")
torch._C._cuda_getCurrentRawStream = lambda device: 0
torch._C._len_torch_dispatch_stack = lambda: modes[0]
torch._C._are_functorch_transforms_active = lambda: transforms[0]
torch._C._is_tracing = lambda: tracing[0]
torch._C.DispatchKey = types.SimpleNamespace(PreDispatch="PreDispatch")
torch._C._dispatch_tls_is_dispatch_key_included = lambda key: key in early
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



@pytest.mark.parametrize("offered", ["", "import exchange\nasked = exchange.offer_stand_in(Tensor)\n"], ids=["attributes", "exchange"])
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
        "assert tiletranspose.flip(Tensor(3, 4, address=0))[0] == 'operator'",
        "assert tiletranspose.flip(Tensor(3, 4), out=Tensor(3, 4, address=0))[0] == 'operator'",
        "assert tiletranspose.flip(Tensor(3, 0, address=0)).shape == (3, 0)",
        "assert tiletranspose.permute(Tensor(3, 0, 5, quantized=True), (2, 0, 1)).shape == (5, 3, 0)",
        "modes[0] = 1\nassert tiletranspose.flip(Tensor(3, 0))[0] == 'operator'",
        "transforms[0] = True\nassert tiletranspose.flip(Tensor(3, 0))[0] == 'operator'",
        "tracing[0] = True\nassert tiletranspose.flip(Tensor(3, 0))[0] == 'operator'",
        "early.append('PreDispatch')\nassert tiletranspose.flip(Tensor(3, 0))[0] == 'operator'",
        "del torch._C._dispatch_tls_is_dispatch_key_included\nassert tiletranspose.flip(Tensor(3, 0)).shape == (3, 0)",
        "refuses(TypeError, 'move x.int_repr()', tiletranspose.flip, Tensor(3, 0, quantized=True, is_quantized=True))",
        "x = Tensor(3, 4, dense=True)\nassert tiletranspose.contiguous(x) is x",
        "refuses(ValueError, 'x is not in the memory', tiletranspose.contiguous, Tensor(3, dense=True, is_cuda=False))",
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
def test_tensors(program, offered):
    run(offered + program)


@pytest.mark.parametrize(
    "program",
    [
        "x = Tensor(3, 0)\ndel Tensor.get_device, Tensor.element_size\ntiletranspose.flip(x)\nassert asked == [x, 'stream']",
        "x, out = Tensor(3, 0), torch.nn.Parameter(3, 0)\ntiletranspose.flip(x, out=out)\nassert asked == [x, out, 'stream']",
        "x, y = Tensor(3, 0, quantized=True, dtype='q'), Tensor(3, 0)\n"
        "for z in (x, x, y): tiletranspose.flip(z)\nassert asked == [x, 'stream', 'stream', y, 'stream']",
        "x = Tensor(3, 0, transformed=True)\nfor _ in 'ab': tiletranspose.flip(x)\nassert asked == [x, x]",
        "mine = type('Mine', (Tensor,), {})(3, 0)\ntiletranspose._core.reorder_plain(mine, None, (), None)\nassert asked == ['stream']",
    ],
)
def test_exchange(program):
    run("import exchange\nasked = exchange.offer_stand_in(Tensor)\n" + program)


@pytest.mark.parametrize(
    "program",
    [
        "exchange.offer(Tensor, (), major=2)",
        "exchange.offer(Tensor, ())",
        "Tensor.__dlpack_c_exchange_api__ = 1 << 40",
        "exchange.offer_stand_in(Tensor)\nexchange.offer(Tensor, (), major=2, older=exchange.table_of(Tensor))\nread = True",
    ],
)
def test_tables_that_cannot_be_used(program):
    """Those of another major version, those that cannot read, and what is none. An older table may be behind a newer."""
    check = "x = Tensor(3, 0)\nassert tiletranspose.flip(x).shape == (3, 0) and hasattr(x, 'kept') == read"
    run(f"import exchange\nread = False\n{program}\n{check}")


def run(program):
    result = subprocess.run(
        [sys.executable, "-c", stand_in + program], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent
    )
    assert result.returncode == 0, result.stderr


@pytest.fixture
def host_torch():
    return pytest.importorskip("torch")


def test_pytorchs_table(host_torch):
    """It answers for tensors of every dtype as their attributes do, or not at all, and has the layout that is expected."""
    torch = host_torch
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this PyTorch has no table")
    assert (exchange.table_of(torch.Tensor).major, exchange.table_of(torch.nn.Parameter).major) == (1, 1)
    unread = set()
    for dtype in {value for value in vars(torch).values() if isinstance(value, torch.dtype)}:
        if str(dtype).startswith("torch.q"):
            continue  # made otherwise
        dense = torch.empty(4 * 6 * 8, dtype=dtype)
        for x in (dense, dense.reshape(4, 6, 8)[1:, ::2].permute(2, 0, 1), dense[:0], dense[0], dense[3:4].expand(5, 1)):
            try:
                found = exchange.read(x)
            except RuntimeError:
                unread.add(dtype)
            else:
                assert found == (x.data_ptr(), tuple(x.shape), x.stride(), x.element_size(), 1)
    assert torch.bits8 in unread
    assert not unread & {torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.complex64}
    quantized = torch.quantize_per_tensor(torch.zeros(3, 4), 1.0, 0, torch.qint8)
    for x in (quantized, torch.empty(3, device="meta"), torch.eye(3).to_sparse()):
        with pytest.raises(RuntimeError):
            exchange.read(x)
    with pytest.raises(RuntimeError):
        torch.vmap(exchange.read)(torch.zeros(3, 4))


def test_host_tensors_are_refused(host_torch):
    torch = host_torch
    x = torch.zeros(3, 4)
    mine = x.as_subclass(type("Mine", (torch.Tensor,), {}))
    quantized = torch.quantize_per_tensor(x, 1.0, 0, torch.qint8)
    for y in (x, x.t(), x[:0], torch.nn.Parameter(x), x.to(torch.complex64).conj(), x.to("meta"), mine, quantized):
        with pytest.raises(ValueError, match="x is not in the memory of a GPU"):
            tiletranspose.transpose(y)
        with pytest.raises(ValueError, match="axis 2 is none of an array of 2 axes"):
            tiletranspose.permute(y.detach(), (0, 2))


def test_contiguous_host_tensors_are_refused(host_torch):
    operators = pytest.importorskip("tiletranspose.torch")
    x = host_torch.zeros(3, 4)
    for y in (x, x.t(), x.as_subclass(type("Mine", (host_torch.Tensor,), {}))):
        for function in (tiletranspose.contiguous, operators.contiguous):
            with pytest.raises(ValueError, match="x is not in the memory of a GPU"):
                function(y)


operators_on_host = """
import warnings
warnings.simplefilter("ignore")
import torch, tiletranspose, tiletranspose.torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
def move(x, axes, flipped): return x.flip(flipped).permute(axes).contiguous()
def move_into(out, x, axes, flipped): out.detach().copy_(move(x, axes, flipped))
def transpose(x): x.detach().copy_(x.t().clone())
library = torch.library.Library("tiletranspose", "IMPL")
for name, function in (("reorder", move), ("reorder_into", move_into), ("transpose_", transpose)): library.impl(name, function, "CPU")
x = torch.arange(12.0).reshape(3, 4)
square, tangent = torch.arange(9.0).reshape(3, 3), torch.arange(9.0).reshape(3, 3) * 10
def refuses(sentence, function, *arguments, **keywords):
    try: function(*arguments, **keywords)
    except ValueError as e: assert sentence in str(e), str(e)
    else: raise AssertionError("not refused")
"""


@pytest.mark.parametrize(
    "program",
    [
        "for y in (x, x.clone().requires_grad_()):\n"
        "  traced = torch.jit.trace(tiletranspose.transpose, (y,), check_trace=False)\n"
        "  assert 'tiletranspose::reorder' in str(traced.graph) and torch.equal(traced(x + 1), (x + 1).t())",
        "for early in (False, True):\n"
        "  traced = make_fx(lambda x: tiletranspose.transpose(x), pre_dispatch=early, tracing_mode='real')(x)\n"
        "  assert 'tiletranspose.reorder' in traced.code and torch.equal(traced(x + 1), (x + 1).t())",
        "with forward_ad.dual_level():\n"
        "  dual = forward_ad.make_dual(square.clone(), tangent)\n"
        "  refuses('no tangent passes', tiletranspose.transpose_, dual)\n"
        "  refuses('no tangent passes', tiletranspose.transpose, dual, out=torch.zeros(3, 3))\n"
        "  refuses('no tangent passes', tiletranspose.transpose, square, out=dual)\n"
        "  y = tiletranspose.transpose_(square.clone())\n"
        "assert torch.equal(y, square.t())",
        "def function(x):\n  y = x.clone()\n  tiletranspose.transpose_(y)\n  return y\n"
        "refuses('no tangent passes', torch.func.jvp, function, (square,), (tangent,))",
        "z = torch.complex(square, tangent)\n"
        "for y in (z.clone().conj(), z.clone().conj().imag, torch._neg_view(z.clone().conj())):\n"
        "  expected, pending = y.clone().t(), (y.is_conj(), y.is_neg())\n"
        "  assert tiletranspose.transpose_(y) is y and torch.equal(y.clone(), expected)\n"
        "  assert pending == (y.is_conj(), y.is_neg())",
        "for k in (-1, 0, 1, 2):\n"
        "  torch._dynamo.reset()\n"
        "  turn = torch.compile(lambda x: tiletranspose.torch.rot90(x, k, (0, -1)), fullgraph=True, backend='eager')\n"
        "  assert torch.equal(turn(x), x.rot90(k, (0, -1)))",
        "def derivatives(move):\n"
        "  def loss(x): return (move(x) * x).sum()\n"
        "  def dual(x):\n"
        "    with forward_ad.dual_level(): return forward_ad.unpack_dual(move(forward_ad.make_dual(x, tangent))).tangent\n"
        "  return (lambda x: torch.func.jvp(move, (x,), (tangent,))[1], torch.func.grad(loss), dual, torch.func.hessian(loss),\n"
        "          lambda x: torch.vmap(torch.func.grad(loss))(torch.stack([x, tangent])))\n"
        "ours = tiletranspose.torch.transpose, lambda x: torch.ops.tiletranspose.reorder(x, [1, 0], [])\n"
        "for expected, *functions in zip(*map(derivatives, (torch.t, *ours))):\n"
        "  for function in functions:\n"
        "    for way in (function, *(torch.compile(function, backend=b, fullgraph=True) for b in ('eager', 'aot_eager'))):\n"
        "      assert torch.equal(way(square), expected(square))",
        "assert torch.equal(torch.func.functionalize(tiletranspose.transpose)(x), x.t())\n"
        "stacked = torch.stack([square, tangent])\n"
        "gradients = torch.func.functionalize(torch.vmap(torch.func.grad(lambda x: (tiletranspose.transpose(x) * x).sum())))\n"
        "assert torch.equal(gradients(stacked), 2 * stacked.mT)",
        "y = x.double().requires_grad_()\n"
        "operator = lambda x: torch.ops.tiletranspose.reorder(x, [1, 0], [1])\n"
        "assert torch.autograd.gradcheck(operator, (y,), check_forward_ad=True, check_batched_grad=True)\n"
        "assert torch.autograd.gradgradcheck(operator, (y,), check_batched_grad=True, check_fwd_over_rev=True)\n"
        "torch.library.opcheck(torch.ops.tiletranspose.reorder.default, (y, [1, 0], [1]))",
        "permute = torch.compile(lambda x, axes: tiletranspose.torch.permute(x, axes), fullgraph=True, backend='eager')\n"
        "for axes in ((0, 1), (1, 0), [-1, -2], [1, -2]): assert torch.equal(permute(x, axes), x.permute(axes)), axes\n"
        "flip = torch.compile(lambda x, axes: tiletranspose.torch.flip(x, axes), fullgraph=True, backend='eager')\n"
        "for axes in ((0, 1), (1, 0), (-1, -2), (-1,), -2): assert torch.equal(flip(x, axes), x.flip(axes)), axes\n"
        "for axes in ((0, 0), (0, 2), None):\n"
        "  try: permute(x, axes)\n"
        "  except Exception as e: assert 'tiletranspose: ' in str(e), str(e)\n"
        "  else: raise AssertionError('not refused')",
        "def inner(z):\n  y = z.clone().conj()\n  return tiletranspose.torch.transpose_(y) + 0\n"
        "z = torch.complex(square, tangent)\n"
        "for backend in ('eager', 'aot_eager'):\n"
        "  assert torch.equal(torch.compile(inner, fullgraph=True, backend=backend)(z), z.conj().t())\n"
        "def change(z, out):\n  tiletranspose.torch.transpose_(z)\n  tiletranspose.torch.transpose(z, out=out)\n"
        "change = torch.compile(change, fullgraph=True, backend='eager')\n"
        "for y in (z.conj(), z.clone().conj().imag, torch._neg_view(z.conj())):\n"
        "  expected, out = y.clone(), torch.zeros(3, 3, dtype=y.dtype)\n"
        "  change(y, out)\n"
        "  assert torch.equal(y.clone(), expected.t()) and torch.equal(out, expected)\n"
        "  refuses('out has a conjugation or a negation', tiletranspose.transpose, out, out=y)",
    ],
    ids=["trace", "make_fx", "dual", "jvp", "pending", "rot90", "derivatives", "functionalize", "checks", "axes", "compiled pending"],
)
def test_operators(host_torch, program):
    """What the functions hand to PyTorch, with operators that take tensors in host memory."""
    result = subprocess.run([sys.executable, "-c", operators_on_host + program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
