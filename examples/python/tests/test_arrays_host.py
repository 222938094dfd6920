# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""How arrays of other libraries than PyTorch and JAX are read, and what is launched for them, with stand-ins for what needs
memory of a GPU."""

import contextlib
import sys
import types

import numpy as np
import pytest
import tiletranspose
from exchange import Foreign, OlderForeign, capsule_of
from test_arguments import DeviceArray
from tiletranspose import _arrays, _core


class Calls:
    """The extension module, but for what touches a GPU, which is written down."""

    def __init__(self):
        self.log = []

    def __getattr__(self, name):
        return getattr(_core, name)

    def device_of_address(self, address):
        return address >> 40

    def relocate(self, out, x, axes, flipped, **keywords):
        self.log.append("moved")
        self.out, self.x, self.keywords = out, x, keywords

    def transpose_square(self, x, **keywords):
        self.log.append("transposed")
        self.x, self.keywords = x, keywords


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(_arrays, "_core", Calls())
    return _arrays._core


@pytest.mark.parametrize("kind", [Foreign, OlderForeign])
def test_memory_is_kept_until_it_was_used(calls, kind):
    x, out = kind((4, 6), log=calls.log), kind((6, 4), address=1 << 31, log=calls.log)
    assert tiletranspose.transpose(x, out=out) is out
    assert calls.log == ["imported", "imported", "moved", "given back", "given back"]
    assert calls.x == (1 << 30, (4, 6), None, 4) and calls.out == (1 << 31, (6, 4), None, 4)
    assert calls.keywords == dict(device=0, stream=1, out_stream=1, owned=False)
    calls.log.clear()
    square = kind((4, 4), strides=(1, 4), log=calls.log)
    assert tiletranspose.transpose_(square) is square
    assert calls.log == ["imported", "transposed", "given back"]
    assert calls.x == (1 << 30, (4, 4), (4, 16), 4)


def test_dlpack_arrays_that_must_not_be_written(calls):
    for flags, sentence in ((1, "is read-only"), (2, "hands over a copy")):
        with pytest.raises(ValueError, match="x .*" + sentence):
            tiletranspose.transpose_(Foreign((4, 4), flags=flags))
        with pytest.raises(ValueError, match="out .*" + sentence):
            tiletranspose.flip(Foreign((4, 4)), out=Foreign((4, 4), address=1 << 31, flags=flags))
        tiletranspose.flip(Foreign((4, 4), flags=flags), out=Foreign((4, 4), address=1 << 31))
    assert calls.log == ["moved", "moved"]


@pytest.mark.parametrize("type_, item_bytes", [((2, 32, 1), 4), ((2, 32, 4), 16), ((17, 4, 2), 1), ((6, 8, 1), 1), ((5, 128, 1), 16)])
def test_elements_of_dlpack_have_the_bytes_of_all_their_lanes(type_, item_bytes):
    memory = _arrays.memory_of(Foreign((4, 6), type_, strides=(12, 2)), "x")
    assert memory.item_bytes == item_bytes and memory.strides == (12 * item_bytes, 2 * item_bytes)


@pytest.mark.parametrize("type_", [(0, 4, 1), (17, 6, 1), (1, 1, 1), (17, 4, 3), (2, 32, 0)])
def test_elements_that_are_no_whole_bytes_are_refused(type_):
    with pytest.raises(TypeError, match="bits cannot be moved"):
        tiletranspose.flip(Foreign((4, 6), type_), out=Foreign((4, 6), type_, address=1 << 31))


def test_capsules_that_cannot_be_read():
    with pytest.raises(TypeError, match="no array of DLPack 1 or older"):
        tiletranspose.flip(Foreign((4, 6), major=2), out=Foreign((4, 6)))
    with pytest.raises(ValueError, match="not in the memory of a GPU"):
        tiletranspose.flip(Foreign((4, 6), device_type=1), out=Foreign((4, 6)))
    with pytest.raises(TypeError, match="no array of DLPack 1 or older"):
        _core.read_dlpack(7)
    assert _core.read_dlpack(capsule_of(Foreign(()).array))[:4] == (1 << 30, (), None, 4)


@pytest.mark.parametrize("error", [BufferError, TypeError, RuntimeError])
def test_what_a_library_says_is_handed_on(error):
    class Failing(Foreign):
        def __dlpack__(self, **keywords):
            raise error("it requires a gradient")

    for arguments, name in (((Failing((4, 6)), Foreign((4, 6))), "x"), ((Foreign((4, 6)), Failing((4, 6))), "out")):
        with pytest.raises(ValueError, match=name + " cannot be read by DLPack: it requires a gradient") as refused:
            tiletranspose.flip(arguments[0], out=arguments[1])
        assert isinstance(refused.value.__cause__, error)


@pytest.mark.parametrize(
    "x_stream, out_stream, stream, other",
    [(None, 77, 1, 77), (66, 77, 66, 77), (66, None, 66, 0), (77, 77, 77, 77), (None, None, 1, 0), (2, 1, 2, 1)],
)
def test_streams_of_both_arrays_are_handed_on(calls, x_stream, out_stream, stream, other):
    x = DeviceArray((4, 6), address=1 << 30, stream=x_stream)
    tiletranspose.transpose(x, out=DeviceArray((6, 4), address=1 << 31, stream=out_stream))
    assert (calls.keywords["stream"], calls.keywords["out_stream"]) == (stream, other)


@pytest.mark.parametrize(
    "x, out",
    [
        (DeviceArray((4, 6)), DeviceArray((4, 6), "<i4")),
        (DeviceArray((4, 6)), DeviceArray((4, 6), ">f4")),
        (DeviceArray((4, 6), "|b1"), DeviceArray((4, 6), "|u1")),
        (DeviceArray((4, 6)), Foreign((4, 6), (0, 32, 1))),
        (Foreign((4, 6), (5, 64, 1)), Foreign((4, 6), (2, 64, 1))),
    ],
)
def test_outputs_of_other_dtypes_are_refused(calls, x, out):
    with pytest.raises(TypeError, match="different dtypes"):
        tiletranspose.flip(x, out=out)


@pytest.mark.parametrize(
    "x, out",
    [
        (DeviceArray((4, 6)), Foreign((4, 6))),
        (DeviceArray((4, 6), "|u1"), Foreign((4, 6), (1, 8, 1))),
        (DeviceArray((4, 6), "<V2"), Foreign((4, 6), (4, 16, 1))),
        (DeviceArray((4, 6), "<i2"), DeviceArray((4, 6), "=i2")),
    ],
)
def test_outputs_of_the_same_dtype_are_taken(calls, x, out):
    assert tiletranspose.flip(x, out=out) is out


class NumbaArray(DeviceArray):
    """An array as Numba has them, which says that its strides are those of a dense array wherever an axis has stride 0."""

    def __init__(self, shape, strides, dtype=np.float64, address=1 << 30, stream=0):
        super().__init__(shape, np.dtype(dtype).str, address, stream=stream or None)
        self.shape, self.strides, self.dtype, self.stream = shape, strides, np.dtype(dtype), stream


NumbaArray.__module__ = "numba.cuda.cudadrv.devicearray"


@pytest.fixture
def numba(monkeypatch):
    """What is made, and on which device."""
    made = []

    def device_array(shape, dtype, stream=0):
        made.append((shape, dtype, stream, current[-1]))
        steps = np.empty(shape, dtype).strides
        return NumbaArray(shape, steps, dtype, (current[-1] << 40) + (1 << 31), stream)

    @contextlib.contextmanager
    def on(device):
        current.append(device)
        yield
        current.pop()

    current = [0]
    gpus = {device: on(device) for device in range(2)}
    fake = types.SimpleNamespace(device_array=device_array, gpus=gpus)
    monkeypatch.setitem(sys.modules, "numba", types.SimpleNamespace(cuda=fake))
    monkeypatch.setitem(sys.modules, "numba.cuda", fake)
    return made


def test_repeated_axes_of_numba_are_read_by_their_strides(calls, numba):
    x = NumbaArray((1000, 4), (0, 8))
    result = tiletranspose.contiguous(x)
    assert result is not x and calls.x == (1 << 30, (1000, 4), (0, 8), 8)
    assert tiletranspose.contiguous(result) is result


def test_results_of_numba_are_made_where_the_array_is(calls, numba):
    tiletranspose.transpose(NumbaArray((4, 6), (48, 8), address=(1 << 40) + 64, stream=77))
    tiletranspose.transpose(NumbaArray((0, 6), (48, 8), address=0))
    assert numba == [((6, 4), np.float64, 77, 1), ((6, 0), np.float64, 0, 0)]
