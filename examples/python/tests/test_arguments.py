# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a caller is told of arguments that cannot be, where no GPU is needed to find it out."""

import inspect

import numpy as np
import pytest
import tiletranspose


class DeviceArray:
    """Describes memory of a GPU without having any."""

    def __init__(self, shape, typestr="<f4", address=0, read_only=False, **others):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (address, read_only),
            "version": 3,
            **others,
        }


@pytest.mark.parametrize("name", ["contiguous", "flip", "reverse", "transpose", "rot90"])
def test_host_arrays_are_refused(name):
    with pytest.raises(ValueError, match="x is not in the memory of a GPU"):
        getattr(tiletranspose, name)(np.zeros((3, 4)))


def test_host_arrays_are_refused_in_place_and_by_permute():
    with pytest.raises(ValueError, match="not in the memory of a GPU"):
        tiletranspose.transpose_(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="not in the memory of a GPU"):
        tiletranspose.permute(np.zeros((3, 3)), (1, 0))
    with pytest.raises(ValueError, match="out is not in the memory of a GPU"):
        tiletranspose.permute_into(np.zeros((0, 3)), DeviceArray((3, 0)), (1, 0))


def test_what_is_no_array_is_refused():
    with pytest.raises(TypeError, match="x is no array"):
        tiletranspose.flip([1, 2, 3])
    with pytest.raises(TypeError, match="out is no array"):
        tiletranspose.flip(DeviceArray((0,)), out=[])


def test_unknown_libraries_need_out():
    with pytest.raises(TypeError, match="give out="):
        tiletranspose.flip(DeviceArray((0,)))


def test_empty_arrays_are_moved_without_a_gpu():
    out = DeviceArray((0, 3))
    assert tiletranspose.permute(DeviceArray((3, 0)), (1, 0), out=out) is out


@pytest.mark.parametrize(
    "out, error, sentence",
    [
        (DeviceArray((3, 0)), ValueError, r"out has the shape \(3, 0\), but the result has \(0, 3\)"),
        (DeviceArray((0, 3), "<f8"), ValueError, "out has elements of 8 bytes, but x of 4"),
        (DeviceArray((0, 3), read_only=True), ValueError, "out is read-only"),
    ],
)
def test_outputs_that_do_not_suit(out, error, sentence):
    with pytest.raises(error, match=sentence):
        tiletranspose.permute(DeviceArray((3, 0)), (1, 0), out=out)


def test_masks_are_refused():
    with pytest.raises(TypeError, match="mask"):
        tiletranspose.flip(DeviceArray((0,), mask=object()), out=DeviceArray((0,)))


@pytest.mark.parametrize("typestr, item_bytes", [("<f4", 4), ("|b1", 1), ("<c16", 16), ("<U3", 12), ("|V7", 7), ("<M8[ns]", 8)])
def test_elements_have_the_bytes_of_their_type(typestr, item_bytes):
    from tiletranspose import _arrays

    assert _arrays.from_cuda_interface(DeviceArray((0,), typestr)).item_bytes == item_bytes


@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 3, 3)])
def test_transpose_in_place_takes_squares(shape):
    with pytest.raises(ValueError, match="takes a square matrix, not an array of the shape"):
        tiletranspose.transpose_(DeviceArray(shape))


def test_transpose_in_place_takes_elements_that_it_can_swap():
    with pytest.raises(ValueError, match="not of 12"):
        tiletranspose.transpose_(DeviceArray((3, 3), "|V12"))
    with pytest.raises(ValueError, match="rows or columns are contiguous"):
        tiletranspose.transpose_(DeviceArray((3, 3), strides=(24, 8)))
    with pytest.raises(ValueError, match="x is read-only"):
        tiletranspose.transpose_(DeviceArray((3, 3), read_only=True))


def test_every_function_is_described():
    for name in tiletranspose.__all__:
        function = getattr(tiletranspose, name)
        assert function.__doc__
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(
            parameter.annotation is not inspect.Parameter.empty
            for parameter in signature.parameters.values()
        )
