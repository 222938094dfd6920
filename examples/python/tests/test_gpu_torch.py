# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""PyTorch: its dtypes, gradients, compiler, graphs and transforms, and the samples that it tests its own operators with."""

import importlib
import pathlib
import re

import pytest
import tiletranspose


@pytest.fixture
def operators(torch):
    import tiletranspose.torch

    return tiletranspose.torch


@pytest.mark.parametrize(
    "dtype",
    ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn_x2", "complex32", "bool", "uint16", "uint32", "bits16"],
)
def test_dtypes(torch, dtype):
    if not hasattr(torch, dtype):
        pytest.skip("this PyTorch has no such dtype")
    dtype = getattr(torch, dtype)
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[torch.empty(0, dtype=dtype).element_size()]
    x = torch.randint(0, 2, (65, 33), device="cuda").to(bits)
    y = tiletranspose.transpose(x.view(dtype) if dtype is not torch.bool else x.bool())
    assert y.dtype is dtype
    assert torch.equal(y.view(bits) if dtype is not torch.bool else y.to(bits), x.t().contiguous())


def test_results_are_ordinary_tensors(torch):
    for x in (torch.randn(3, 4, 5, device="cuda"), torch.randn(5, device="cuda"), torch.tensor(3.0, device="cuda")):
        y = tiletranspose.flip(x)
        assert type(y) is torch.Tensor and torch.equal(y, x.flip(tuple(range(x.dim()))))
        assert (y.device, y.dtype, y.storage_offset(), y._version) == (x.device, x.dtype, 0, 0)
        assert y.untyped_storage().resizable() and y.untyped_storage().nbytes() == x.nbytes and not y._is_view()
    assert not tiletranspose.transpose(torch.zeros(3, 4, device="cuda")).is_inference()
    with torch.inference_mode():
        assert tiletranspose.transpose(torch.zeros(3, 4, device="cuda")).is_inference()


def test_tensors_without_memory(torch, operators):
    """Zeros that PyTorch has not written, and a tensor that is made functional: their address is 0."""
    zeros = torch._efficientzerotensor((3, 4), device="cuda")
    assert torch.equal(tiletranspose.transpose(zeros), torch.zeros(4, 3, device="cuda"))
    x = torch.randn(3, 4, device="cuda")
    y = tiletranspose.transpose(torch._to_functional_tensor(x))
    torch._sync(y)
    assert torch.equal(torch._from_functional_tensor(y), x.t())


def test_expanded_and_sliced_tensors(torch):
    x = torch.randn(3, 5, device="cuda")
    assert torch.equal(tiletranspose.permute(x[:, None].expand(3, 7, 5), (2, 1, 0)), x[:, None].expand(3, 7, 5).permute(2, 1, 0))
    assert torch.equal(tiletranspose.contiguous(x[1:, ::2].t()), x[1:, ::2].t())
    y = torch.empty(9, 9, device="cuda")[::2, 1::2]
    tiletranspose.transpose(torch.arange(20.0, device="cuda").reshape(4, 5), out=y[:, :])
    assert torch.equal(y, torch.arange(20.0, device="cuda").reshape(4, 5).t())


def test_expanded_output_is_refused(torch):
    with pytest.raises(ValueError, match="elements of out share memory"):
        tiletranspose.flip(torch.zeros(3, 4, device="cuda"), 0, out=torch.zeros(1, 4, device="cuda").expand(3, 4))


def test_host_tensors_are_refused(torch, operators):
    for x in (torch.zeros(2, 3), torch.zeros(2, 3, requires_grad=True)):
        with pytest.raises(ValueError, match="not in the memory of a GPU"):
            tiletranspose.transpose(x)


def test_conjugations_are_resolved(torch):
    x = torch.randn(5, 7, dtype=torch.complex64, device="cuda")
    assert torch.equal(tiletranspose.transpose(x.conj()), x.conj().t().resolve_conj())
    assert torch.equal(tiletranspose.transpose(x.conj().imag), x.conj().imag.t())


def test_pending_outputs_are_refused(torch, operators):
    x = torch.randn(5, 7, dtype=torch.complex64, device="cuda")
    for y, out in ((x, torch.empty_like(x).t().conj()), (x.real, torch.empty_like(x).t().conj().imag)):
        with pytest.raises(ValueError, match="out has a conjugation or a negation pending"):
            tiletranspose.transpose(y, out=out)


@pytest.mark.parametrize("name", ["permute", "flip", "rot90", "transpose", "reverse", "contiguous"])
def test_gradients(torch, operators, name):
    arguments = {"permute": ((2, 0, 1),), "flip": ((0, -1),), "rot90": (1, (0, 2)), "transpose": (0, 2)}.get(name, ())
    theirs = {"reverse": lambda x: x.flip((0, 1, 2)), "flip": lambda x: x.flip((0, -1)), "permute": lambda x: x.permute(2, 0, 1)}
    theirs.update(rot90=lambda x: x.rot90(1, (0, 2)), transpose=lambda x: x.transpose(0, 2), contiguous=lambda x: x.contiguous())
    for module in (tiletranspose, operators):
        x = torch.randn(3, 4, 5, device="cuda", dtype=torch.float64)
        x = (x.transpose(0, 1) if name == "contiguous" else x).requires_grad_()
        weights = torch.randn_like(theirs[name](x))
        ours = getattr(module, name)(x, *arguments)
        assert torch.equal(ours, theirs[name](x))
        (expected,) = torch.autograd.grad((theirs[name](x) * weights).sum(), x)
        (gradient,) = torch.autograd.grad((ours * weights).sum(), x)
        assert torch.equal(gradient, expected)
        assert torch.autograd.gradcheck(lambda y: getattr(module, name)(y, *arguments), (x,))
        assert torch.autograd.gradgradcheck(lambda y: getattr(module, name)(y, *arguments), (x,))


def test_gradients_of_all_orders(torch, operators):
    """Batches of gradients, gradients of gradients, and recomputed ones, of a call and of the operator."""
    x = torch.randn(2, 3, 2, device="cuda", dtype=torch.float64, requires_grad=True)
    reorder = torch.ops.tiletranspose.reorder
    for call in (lambda y: tiletranspose.rot90(y, 1, (0, 2)), lambda y: reorder(y, [2, 0, 1], [1])):
        assert torch.autograd.gradcheck(call, (x,), check_batched_grad=True, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(call, (x,), check_batched_grad=True, check_fwd_over_rev=True)
        recomputed = torch.utils.checkpoint.checkpoint(lambda y: call(y.sin()), x, use_reentrant=False)
        (gradient,) = torch.autograd.grad(recomputed.sum(), x)
        torch.testing.assert_close(gradient, x.cos())


def test_modes_and_subclasses_see_the_operator(torch, operators):
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            seen.append(str(function))
            return function(*arguments, **(keywords or {}))

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), keywords=None):
            seen.append(str(function))
            return super().__torch_function__(function, types, arguments, keywords or {})

    x = torch.randn(3, 4, device="cuda")
    for y in (x, x.clone().requires_grad_()):
        with Mode():
            tiletranspose.transpose(y)
        assert seen[-1] == "tiletranspose.reorder.default"
        seen.clear()
        assert type(tiletranspose.transpose(y.detach().as_subclass(Mine).requires_grad_(y.requires_grad))) is Mine
        assert "tiletranspose.reorder" in seen
        seen.clear()
    for early in (False, True):

        def gradient(y):
            return torch.autograd.grad((tiletranspose.transpose(y) * y.t()).sum(), y)

        graph = make_fx(gradient, pre_dispatch=early)(x.clone().requires_grad_()).graph
        assert [str(node.target) for node in graph.nodes].count("tiletranspose.reorder.default") == 2


def test_no_gradient_passes_through_outputs(torch):
    x = torch.zeros(3, 3, device="cuda", requires_grad=True)
    with pytest.raises(ValueError, match="no gradient passes"):
        tiletranspose.transpose(x, out=torch.empty(3, 3, device="cuda"))
    with pytest.raises(ValueError, match="no gradient passes"):
        tiletranspose.transpose_(x)
    with torch.no_grad():
        tiletranspose.transpose_(x)


def test_writing_is_seen_by_autograd(torch):
    x = torch.randn(3, 3, device="cuda", requires_grad=True)
    weight = torch.randn(3, 3, device="cuda")
    y = (x * weight).sum()
    tiletranspose.transpose_(weight)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_operators_keep_to_pytorchs_rules(torch, operators):
    x = torch.randn(3, 4, 5, device="cuda", requires_grad=True)
    for y in (x, x.detach(), x.detach().transpose(0, 2)):
        torch.library.opcheck(torch.ops.tiletranspose.reorder.default, (y, [2, 0, 1], [0, 2]))
    out = torch.empty(5, 3, 4, device="cuda")
    torch.library.opcheck(torch.ops.tiletranspose.reorder_into.default, (out, x.detach(), [2, 0, 1], [1]))
    torch.library.opcheck(torch.ops.tiletranspose.transpose_.default, (torch.randn(4, 4, device="cuda"),))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_without_graph_breaks(torch, operators, dynamic):
    def layers(x):
        y = operators.permute(x.sin(), (0, 3, 1, 2)) * 2
        y = operators.flip(operators.rot90(y, 1, (2, 3)), 1)
        y = operators.contiguous(operators.transpose(y, 1, 2).permute(1, 0, 2, 3)) + 1
        return operators.reverse(y)

    def theirs(x):
        y = x.sin().permute(0, 3, 1, 2) * 2
        return (y.rot90(1, (2, 3)).flip(1).transpose(1, 2).permute(1, 0, 2, 3) + 1).flip((0, 1, 2, 3))

    compiled = torch.compile(layers, fullgraph=True, dynamic=dynamic)
    for extent in (3, 5):
        x = torch.randn(2, extent, 6, 7, device="cuda", requires_grad=True)
        y = compiled(x)
        torch.testing.assert_close(y, theirs(x))
        (gradient,) = torch.autograd.grad(y.square().sum(), x)
        (expected,) = torch.autograd.grad(theirs(x).square().sum(), x)
        torch.testing.assert_close(gradient, expected)


def test_compiled_outputs(torch, operators):
    def layers(x, out):
        operators.permute_into(out, x, (1, 0))
        operators.transpose_(x)
        return out + x.t()

    x = torch.randn(8, 8, device="cuda")
    out = torch.empty_like(x)
    before = x.clone()
    y = torch.compile(layers, fullgraph=True)(x, out)
    torch.testing.assert_close(out, before.t())
    torch.testing.assert_close(x, before.t())
    torch.testing.assert_close(y, before.t() + before)


def test_cuda_graphs(torch):
    x = torch.randn(64, 33, 65, device="cuda")
    for _ in range(2):
        y = tiletranspose.permute(x, (2, 0, 1))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = tiletranspose.permute(x, (2, 0, 1))
        z = tiletranspose.flip(y)
    x.copy_(torch.randn_like(x))
    graph.replay()
    assert torch.equal(z, x.permute(2, 0, 1).flip((0, 1, 2)))


def test_graphs_of_the_compiler(torch, operators):
    compiled = torch.compile(lambda x: operators.permute(x * 2, (1, 0, 2)) + 1, mode="reduce-overhead", fullgraph=True)
    for _ in range(4):
        x = torch.randn(8, 9, 10, device="cuda")
        torch.testing.assert_close(compiled(x), (x * 2).permute(1, 0, 2) + 1)


def test_current_stream(torch):
    x = torch.randn(1 << 12, 1 << 12, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        y = x
        for _ in range(20):
            y = tiletranspose.transpose(y * 1)
        torch.cuda.current_stream().synchronize()
    assert torch.equal(y, x)


def test_vmap_and_modes(torch, operators):
    x = torch.randn(3, 4, 5, device="cuda")
    assert torch.equal(torch.vmap(lambda y: tiletranspose.transpose(y), in_dims=1)(x), x.permute(1, 2, 0))
    reorder = torch.ops.tiletranspose.reorder
    assert torch.equal(torch.vmap(lambda y: reorder(y, [1, 0], [1]), in_dims=1)(x), x.permute(1, 2, 0).flip(1))
    assert torch.equal(torch.func.grad(lambda y: (tiletranspose.flip(y) * x).sum())(x), x.flip((0, 1, 2)))
    gradients = torch.vmap(torch.func.grad(lambda y: (tiletranspose.rot90(y, 2) * y).sum()))(x)
    assert torch.equal(gradients, 2 * x.rot90(2, (1, 2)))
    primal, tangent = torch.func.jvp(lambda y: tiletranspose.permute(y, (2, 0, 1)), (x,), (x + 1,))
    assert torch.equal(primal, x.permute(2, 0, 1)) and torch.equal(tangent, (x + 1).permute(2, 0, 1))
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        assert tiletranspose.permute(mode.from_tensor(x), (2, 0, 1)).shape == (5, 3, 4)


def test_forward_differentiation(torch, operators):
    forward_ad = torch.autograd.forward_ad
    x, direction = torch.randn(2, 3, 4, device="cuda")
    with forward_ad.dual_level():
        dual = tiletranspose.rot90(forward_ad.make_dual(x, direction))
        primal, tangent = forward_ad.unpack_dual(dual)
        assert torch.equal(primal, x.rot90()) and torch.equal(tangent, direction.rot90())


def test_parameters_and_subclasses(torch, operators):
    parameter = torch.nn.Parameter(torch.randn(3, 4, device="cuda"))
    assert torch.equal(tiletranspose.transpose(parameter), parameter.t())
    with torch.no_grad():
        assert type(tiletranspose.transpose(parameter)) is torch.Tensor

    class Mine(torch.Tensor):
        pass

    mine = torch.randn(3, 4, device="cuda").as_subclass(Mine)
    assert torch.equal(tiletranspose.transpose(mine), mine.t())


@pytest.mark.parametrize("name", ["permute", "transpose", "flip", "rot90", "contiguous", "fliplr", "flipud"])
def test_pytorchs_own_samples(torch, operators, name):
    """The inputs that PyTorch tests its own operators with."""
    methods = pytest.importorskip("torch.testing._internal.common_methods_invocations")
    (operator,) = [entry for entry in methods.op_db if entry.name == name and not entry.variant_test_name]
    ours = {
        "permute": lambda x, *axes: tiletranspose.permute(x, axes[0] if isinstance(axes[0], (tuple, list)) else axes),
        "transpose": tiletranspose.transpose,
        "flip": lambda x, dims: tiletranspose.flip(x, dims),  # PyTorch's name of what NumPy calls axes
        "rot90": lambda x, k=1, dims=(0, 1): tiletranspose.rot90(x, k, dims),
        "contiguous": lambda x, **_: tiletranspose.contiguous(x),
        "fliplr": lambda x: tiletranspose.flip(x, 1),
        "flipud": lambda x: tiletranspose.flip(x, 0),
    }[name]
    count = 0
    for dtype in (torch.bool, torch.uint8, torch.bfloat16, torch.float32, torch.complex64, torch.complex128):
        for requires_grad in (False, True):
            if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
                continue
            for sample in operator.sample_inputs("cuda", dtype, requires_grad=requires_grad):
                if sample.input.dim() == 0 and name in ("transpose", "flip"):
                    continue  # PyTorch has scalars have an axis
                result = ours(sample.input, *sample.args, **sample.kwargs)
                expected = operator.op(sample.input, *sample.args, **sample.kwargs)
                torch.testing.assert_close(result, expected, rtol=0, atol=0, equal_nan=True)
                assert name == "contiguous" or result.is_contiguous()
                assert result.requires_grad == expected.requires_grad
                count += 1
    assert count > 0


def test_the_examples_of_the_readme(torch, capsys, tmp_path, monkeypatch):
    """As a module of a file, which torch.compile can read."""
    readme = pathlib.Path(__file__).parents[1] / "README.md"
    examples = re.findall(r"```python\n(.*?)```", readme.read_text(), re.S)
    (tmp_path / "readme_examples.py").write_text("\n".join(examples))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("readme_examples")
    assert "mover" in capsys.readouterr().out
    assert torch.equal(module.planes, module.images.permute(0, 3, 1, 2))
    tokens = torch.randn(2, 5, 32, 128, device="cuda")
    assert torch.equal(module.heads(tokens), tokens.transpose(1, 2) * 0.5)
