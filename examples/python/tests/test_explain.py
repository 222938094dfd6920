# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a call would launch, of arrays in host memory."""

import numpy as np
import pytest
import tiletranspose as tt


def floats(*shape):
    return np.broadcast_to(np.float32(0), shape) if 0 in shape else np.lib.stride_tricks.as_strided(
        np.zeros(1, np.float32), shape, [4 * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    )


@pytest.mark.parametrize(
    "function, x, arguments, lines",
    [
        (tt.transpose, floats(4096, 4096), (), ["4096 x 4096 elements of 4 bytes", "mover   tile, ", "rule    whole tiles"]),
        (tt.rot90, floats(4096, 4096), (), ["4096 x 4096 elements of 4 bytes", "mover   tile, "]),
        (tt.permute, floats(64, 80, 112, 112), ((0, 2, 3, 1),), ["64 x 80 x 12544 elements of 4 bytes, axes 0 2 1"]),
        (tt.permute, floats(96, 75, 96, 80), ((3, 1, 0, 2),), ["mover   tiles along several axes, 64 x 64 elements"]),
        (tt.flip, floats(3000, 3000), (1,), ["mover   rows", "rule    whole accesses"]),
        (tt.reverse, floats(1 << 24), (), ["mover   rows"]),
        (tt.contiguous, floats(1000, 3000), (), ["nothing: the array has no gaps, and is returned itself"]),
        (tt.contiguous, floats(1000, 3000)[:, :2000], (), ["mover   "]),
        (tt.permute, floats(1000, 3000), ((0, 1),), ["mover   copy"]),
        (tt.permute, floats(0, 3), ((1, 0),), ["nothing: a size is 0"]),
        (tt.permute, floats(*(2,) * 8, 3), (range(8, -1, -1),), ["2 times, because more than 8 axes are left:"]),
        (tt.transpose, np.zeros((64, 64), "V12"), (), ["elements of 4 bytes"]),
        (tt.transpose, np.zeros((64, 64), "V16"), (), ["elements of 16 bytes"]),
    ],
)
def test_explanations(function, x, arguments, lines):
    text = tt.explain(function, x, *arguments)
    for line in lines:
        assert line in text


def test_what_is_not_explained():
    for function in (tt.transpose_, tt.explain, tt.permute_into, print):
        with pytest.raises(TypeError, match="explain takes a function"):
            tt.explain(function, np.zeros((3, 4)))
    with pytest.raises(ValueError, match="axis 2 is none"):
        tt.explain(tt.flip, np.zeros((3, 4)), 2)
