# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The relocation that a call asks the library for, carried out by NumPy on the CPU: it moves every element to its place."""

import conftest
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from tiletranspose import _core, _requests


def carry_out(move, memory, first_address):
    """Moves the parts of a relocation inside of `memory`, whose first byte has an address."""
    part = np.dtype((np.void, move["part_bytes"]))
    sides = []
    for address, strides in ((move["in"], move["in_strides"]), (move["out"], move["out_strides"])):
        reaches = [(extent - 1) * stride for extent, stride in zip(move["extents"], strides)]
        assert address + sum(reach for reach in reaches if reach < 0) >= first_address
        end = address + sum(reach for reach in reaches if reach > 0) + move["part_bytes"]
        assert end <= first_address + len(memory)
        start = np.frombuffer(memory, np.uint8)[address - first_address :][: move["part_bytes"]].view(part)
        sides.append(as_strided(start, move["extents"], strides, writeable=True) if strides else start)
    sides[1][...] = sides[0]


def random_view(random, item_bytes):
    """Memory of bytes, and a view into it with strides of either sign, gaps and a start anywhere."""
    shape = conftest.random_shape(random, most_elements=3000)
    order = random.permutation(len(shape))
    strides = [0] * len(shape)
    step = item_bytes
    for axis in order:
        step *= int(random.integers(1, 3))
        if random.random() < 0.2:
            step += int(random.choice([1, 2, 4, 8]))
        strides[axis] = step
        step *= max(1, shape[axis])
    reach = sum(stride * max(0, extent - 1) for stride, extent in zip(strides, shape)) + item_bytes
    start = int(random.choice([0, 0, 1, 2, 4, 8]))
    for axis in range(len(shape)):
        if random.random() < 0.3:
            start += strides[axis] * max(0, shape[axis] - 1)
            strides[axis] = -strides[axis]
    return shape, strides, start, reach + 16


def strided(memory, start, shape, strides, item_bytes):
    first = np.frombuffer(memory, np.uint8)[start : start + item_bytes]
    return as_strided(first.view(np.dtype((np.void, item_bytes))), shape, strides, writeable=True)


@pytest.mark.parametrize("seed", range(400))
def test_relocation_moves_every_element(seed):
    random = np.random.default_rng(seed)
    item_bytes = int(random.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 48]))
    shape, strides, start, size = random_view(random, item_bytes)
    if 0 in shape:
        shape = tuple(max(1, extent) for extent in shape)
    name, arguments, numpys = conftest.random_call(random, len(shape))
    axes, flipped = _core.complete_order(len(shape), *getattr(_requests, name)(*arguments))
    out_shape = [shape[axis] for axis in axes]
    out_bytes = int(np.prod(out_shape)) * item_bytes
    memory = bytearray(random.bytes(size) + bytes(out_bytes))
    first_address = 1 << 20
    x = strided(memory, start, shape, strides, item_bytes)
    expected = numpys(x).tobytes()
    move = _core.relocation(
        (first_address + size, out_shape, None, item_bytes),
        (first_address + start, shape, strides, item_bytes),
        axes,
        flipped,
    )
    assert not move["out_overlaps_itself"]
    assert move["extents"] == [extent for extent in move["extents"] if extent > 1]
    assert all(stride > 0 for stride in move["out_strides"])
    carry_out(move, memory, first_address)
    assert bytes(memory[size:]) == expected


@pytest.mark.parametrize("seed", range(100))
def test_relocation_into_strided_output(seed):
    random = np.random.default_rng(1000 + seed)
    item_bytes = int(random.choice([1, 2, 4, 8, 12, 16]))
    shape, strides, start, size = random_view(random, item_bytes)
    if 0 in shape:
        shape = tuple(max(1, extent) for extent in shape)
    memory = bytearray(bytes(size) + random.bytes(int(np.prod(shape)) * item_bytes))
    first_address = 1 << 20
    rank = len(shape)
    target = (first_address + start, shape, strides, item_bytes)
    move = _core.relocation(target, (first_address + size, shape, None, item_bytes), range(rank), ())
    if move["out_overlaps_itself"]:  # of gaps that are less than an element
        pytest.skip("the strides do not step over all elements")
    carry_out(move, memory, first_address)
    assert strided(memory, start, shape, strides, item_bytes).tobytes() == bytes(memory[size:])


def relocation(shape, strides, item_bytes, axes, flipped=(), address=1 << 30):
    out_shape = [shape[axis] for axis in axes]
    return _core.relocation((1 << 40, out_shape, None, item_bytes), (address, shape, strides, item_bytes), axes, flipped)


def test_axes_that_stay_together_are_one():
    assert relocation((2, 3, 4, 5), None, 4, (2, 3, 0, 1))["extents"] == [20, 6]
    assert relocation((2, 1, 3), None, 4, (0, 1, 2))["extents"] == [6]
    assert relocation((2,) * 20, None, 1, [*range(10, 20), *range(10)])["extents"] == [1024, 1024]
    assert relocation((3, 4), None, 4, (0, 1), (0, 1))["in_strides"] == [-4]


def test_parts_divide_addresses_and_strides():
    assert relocation((4, 6), None, 12, (1, 0))["part_bytes"] == 4
    assert relocation((4, 6), None, 12, (1, 0))["extents"] == [6, 4, 3]
    assert relocation((4, 6), None, 16, (1, 0))["part_bytes"] == 16
    assert relocation((4, 6), None, 16, (1, 0), address=(1 << 30) + 8)["part_bytes"] == 8
    assert relocation((4, 6), (50, 8), 8, (1, 0))["part_bytes"] == 2


def test_repeated_elements_are_read():
    move = relocation((3, 4), (0, 4), 4, (1, 0))
    assert move["in_strides"] == [4, 0]


@pytest.mark.parametrize(
    "out, x, shares",
    [
        ((1000, (4,), None, 4), (1016, (4,), None, 4), False),
        ((1000, (4,), None, 4), (1012, (4,), None, 4), True),
        ((1000, (4,), None, 4), (1012, (4,), (-4,), 4), True),
        ((1000, (4,), None, 4), (996, (4,), (-4,), 4), False),
        ((1012, (4,), (-4,), 4), (996, (1,), None, 4), False),
    ],
)
def test_shared_memory_is_found(out, x, shares):
    shape = max(out[1], x[1])
    move = _core.relocation((out[0], shape, *out[2:]), (x[0], shape, *x[2:]), (0,), ())
    assert move["shares_memory"] == shares or shape != x[1]


def test_expanded_output_is_found():
    move = _core.relocation((1 << 20, (3, 4), (0, 4), 4), (1 << 30, (3, 4), None, 4), (0, 1), ())
    assert move["out_overlaps_itself"]
