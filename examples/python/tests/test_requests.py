# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the functions ask for, in Python and in C++, is what NumPy does."""

import conftest
import numpy as np
import pytest
import tiletranspose
from tiletranspose import _core, _requests


@pytest.mark.parametrize("seed", range(300))
def test_requests_are_numpys(seed):
    random = np.random.default_rng(seed)
    x = np.arange(np.prod(shape := conftest.random_shape(random, most_elements=500))).reshape(shape)
    name, arguments, expected = conftest.random_call(random, x.ndim)
    request = getattr(_requests, name)(*arguments)
    axes, flipped = _requests.complete(x.ndim, *request)
    assert (axes, flipped) == _core.complete_order(x.ndim, *request)
    np.testing.assert_array_equal(np.flip(x, flipped).transpose(axes), expected(x))


@pytest.mark.parametrize(
    "rank, request_, sentence",
    [
        (2, _requests.permute((0, 2)), "axis 2 is none of an array of 2 axes"),
        (2, _requests.permute((0, -3)), "axis -3 is none"),
        (2, _requests.permute((1, 1)), "once|twice"),
        (3, _requests.permute((1, 0)), "3 axes"),
        (1, _requests.transpose(), "axis -2 is none"),
        (3, _requests.flip((0, -3)), "twice"),
        (3, _requests.flip(3), "axis 3 is none"),
        (2, _requests.rot90(1, (0, 2)), "axis 2 is none"),
        (2, _requests.rot90(0, (0, 7)), "axis 7 is none"),
        (2, _requests.rot90(1, (1, 1)), "two axes that differ"),
        (2, _requests.rot90(4, (1, -1)), "two axes that differ"),
    ],
)
def test_axes_that_are_none(rank, request_, sentence):
    for complete in (_requests.complete, _core.complete_order):
        with pytest.raises(ValueError, match=sentence):
            complete(rank, *request_)


def test_axes_are_integers():
    with pytest.raises(TypeError):
        _core.complete_order(2, (0.0, 1.0), None, ())
    with pytest.raises(TypeError, match="not an integer"):
        _requests.complete(2, (1.0, False), None, ())
    assert _core.complete_order(2, np.array([1, 0]), None, ()) == ([1, 0], [])
    assert _core.complete_order(2, None, None, np.int64(1)) == ([0, 1], [1])
    assert _core.complete_order(2, None, None, np.array(1)) == ([0, 1], [1])
    assert _core.complete_order(2, None, None, np.array([0, 1])) == ([0, 1], [0, 1])
    assert _core.complete_order(2, None, None, np.array([1])) == ([0, 1], [1])


def test_axes_are_named():
    """None is neither the order that they have nor, as numpy.transpose takes it, the reversed one."""
    x = np.zeros((2, 3))
    for function in (tiletranspose.permute, lambda x, axes: tiletranspose.permute_into(x, x, axes)):
        with pytest.raises(TypeError, match="takes all axes in their new order, not None"):
            function(x, None)
    with pytest.raises(TypeError, match="not None"):
        tiletranspose.explain(tiletranspose.permute, x, None)


def test_quarters_are_integers():
    assert _requests.rot90(np.int8(-1)) == _requests.rot90(3)
    for quarters in (1.0, "1", None):
        with pytest.raises(TypeError):
            _requests.rot90(quarters)
