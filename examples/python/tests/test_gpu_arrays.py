# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Every function in every library, against NumPy. These tests need a GPU and the library."""

import conftest
import numpy as np
import pytest
import tiletranspose
from tiletranspose import _core


@pytest.mark.parametrize("seed", range(120))
def test_functions_are_numpys(library, seed):
    random = np.random.default_rng(seed)
    dtype = conftest.dtypes[seed % len(conftest.dtypes)]
    x = conftest.random_array(random, conftest.random_shape(random), dtype)
    name, arguments, expected = conftest.random_call(random, x.ndim)
    result = getattr(tiletranspose, name)(library.put(x), *arguments)
    assert library.owns(result)
    np.testing.assert_array_equal(library.get(result), expected(x))


@pytest.mark.parametrize("seed", range(60))
def test_inputs_with_strides(library, seed):
    if library.name == "numba":
        pytest.skip("arrays of Numba are not permuted")
    random = np.random.default_rng(1000 + seed)
    base = conftest.random_array(random, conftest.random_shape(random, 4), "float32")
    parts = tuple(slice(int(random.integers(2)), None, int(random.integers(1, 4))) for _ in base.shape)
    order = [int(axis) for axis in random.permutation(base.ndim)]
    x = base[parts].transpose(order)
    name, arguments, expected = conftest.random_call(random, x.ndim)
    on_gpu = library.permuted(library.put(base)[parts], order)
    result = getattr(tiletranspose, name)(on_gpu, *arguments)
    np.testing.assert_array_equal(library.get(result), expected(x))


def test_results_are_given_or_new(library):
    if library.name == "jax":
        pytest.skip("arrays of JAX are immutable")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = library.put(np.zeros((4, 3), np.float32))
    on_gpu = library.put(x)
    assert tiletranspose.permute_into(out, on_gpu, (1, 0)) is out
    np.testing.assert_array_equal(library.get(out), x.T)
    assert tiletranspose.contiguous(on_gpu) is on_gpu


def test_squares_in_place(library):
    if library.name == "jax":
        pytest.skip("arrays of JAX are immutable")
    for dtype in conftest.dtypes:
        x = conftest.random_array(np.random.default_rng(7), (65, 65), dtype)
        on_gpu = library.put(x)
        assert tiletranspose.transpose_(on_gpu) is on_gpu
        np.testing.assert_array_equal(library.get(on_gpu), x.T)


def test_large_arrays(library):
    x = np.arange(1025 * 2049 * 9, dtype=np.uint8).reshape(1025, 2049, 9)
    result = tiletranspose.permute(library.put(x), (2, 1, 0))
    np.testing.assert_array_equal(library.get(result), x.transpose(2, 1, 0))


def test_outputs_that_do_not_suit(library):
    if library.name == "jax":
        pytest.skip("arrays of JAX are immutable")
    x = library.put(np.zeros((4, 4), np.float32))
    with pytest.raises(ValueError, match="shares memory with x"):
        tiletranspose.transpose(x, out=x)
    with pytest.raises(ValueError, match=r"out has the shape \(4, 5\)"):
        tiletranspose.transpose(x, out=library.put(np.zeros((4, 5), np.float32)))
    with pytest.raises(TypeError, match="different dtypes"):
        tiletranspose.transpose(x, out=library.put(np.zeros((4, 4), np.int32)))
    with pytest.raises((TypeError, ValueError), match="must be one|not in the memory"):
        tiletranspose.transpose(x, out=np.zeros((4, 4), np.float32))
    with pytest.raises(ValueError, match="axis 2 is none"):
        tiletranspose.flip(x, 2)


@pytest.mark.parametrize("item_bytes", [1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32, 48])
@pytest.mark.parametrize("offset", [0, 1, 4, 8])
def test_elements_of_any_size_and_address(item_bytes, offset):
    """By bytes of CuPy's, because few libraries have such elements."""
    if not conftest.has_gpu:
        pytest.skip("no GPU was found")
    cupy = pytest.importorskip("cupy")
    shape = (3, 37, 41)
    count = int(np.prod(shape))
    data = np.frombuffer(np.random.default_rng(offset).bytes(count * item_bytes + offset), np.uint8)
    x = cupy.asarray(data)
    out = cupy.zeros(count * item_bytes, np.uint8)
    stream = cupy.cuda.get_current_stream().ptr
    source = (x.data.ptr + offset, shape, None, item_bytes)
    target = (out.data.ptr, (41, 37, 3), None, item_bytes)
    _core.relocate(target, source, (2, 1, 0), (1,), device=x.device.id, stream=stream, owned=False)
    elements = data[offset:].view(np.dtype((np.void, item_bytes))).reshape(shape)
    assert out.get().tobytes() == elements[:, ::-1].transpose(2, 1, 0).tobytes()


def test_more_axes_than_the_library_takes():
    """12 axes that do not stay together: some of them are looped over."""
    if not conftest.has_gpu:
        pytest.skip("no GPU was found")
    cupy = pytest.importorskip("cupy")
    x = np.arange(2**12, dtype=np.int16).reshape((2,) * 12)
    result = tiletranspose.permute(cupy.asarray(x), range(11, -1, -1))
    np.testing.assert_array_equal(result.get(), x.transpose())


def test_cupys_current_stream():
    if not conftest.has_gpu:
        pytest.skip("no GPU was found")
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(1 << 24, dtype=np.float32).reshape(1 << 12, -1)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = x
        for _ in range(20):
            y = tiletranspose.transpose(y * 1)
        stream.synchronize()
    np.testing.assert_array_equal(y.get(), x.get())


def test_repeated_axes_of_numba():
    if not conftest.has_gpu:
        pytest.skip("no GPU was found")
    cuda = pytest.importorskip("numba.cuda")
    x = np.broadcast_to(np.arange(4.0), (1000, 4))
    on_gpu = cuda.to_device(x)
    np.testing.assert_array_equal(tiletranspose.contiguous(on_gpu).copy_to_host(), x)
    np.testing.assert_array_equal(tiletranspose.transpose(on_gpu).copy_to_host(), x.T)


def test_an_output_on_another_stream():
    """What was queued on the output's stream comes first, and what is queued there afterwards sees the result."""
    if not conftest.has_gpu:
        pytest.skip("no GPU was found")
    cupy = pytest.importorskip("cupy")
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    x = cupy.arange(1 << 24, dtype=np.float32).reshape(1 << 12, -1)
    out, seen = cupy.empty_like(x), cupy.empty_like(x)
    cupy.cuda.Device().synchronize()

    class OnStream:
        def __init__(self, array, stream):
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream.ptr}

    for _ in range(10):
        with second:
            for k in range(20):
                out.fill(k)
        tiletranspose.transpose(OnStream(x, first), out=OnStream(out, second))
        with second:
            cupy.copyto(seen, out)
        second.synchronize()
        np.testing.assert_array_equal(seen.get(), x.get().T)


def test_arrays_of_other_libraries():
    """By DLPack alone, into an array of CuPy's."""
    if not conftest.has_gpu:
        pytest.skip("no GPU was found")
    cupy = pytest.importorskip("cupy")

    class Other:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = np.arange(12, dtype=np.float64).reshape(3, 4)
    out = cupy.empty((4, 3))
    tiletranspose.permute_into(out, Other(cupy.asarray(x)), (1, 0))
    cupy.cuda.Device().synchronize()
    np.testing.assert_array_equal(out.get(), x.T)


def test_another_device():
    if _core.device_count() < 2:
        pytest.skip("no second GPU was found")
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0, device="cuda:1").reshape(3, 4)
    y = tiletranspose.transpose(x)
    assert y.device == x.device and torch.equal(y, x.t())
    with torch.cuda.stream(torch.cuda.Stream("cuda:1")), torch.cuda.device("cuda:0"):
        torch.cuda.current_stream("cuda:1").wait_stream(torch.cuda.default_stream("cuda:1"))
        y = tiletranspose.transpose(x)
        torch.cuda.current_stream("cuda:1").synchronize()
        assert torch.cuda.current_device() == 0 and torch.equal(y, x.t())
    with pytest.raises(ValueError, match="different devices"):
        tiletranspose.transpose(x, out=torch.empty(4, 3, device="cuda:0"))
