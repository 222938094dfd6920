# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The foreign function of XLA, called by JAX on the CPU: what it is handed, and what becomes of it. Only the kernels need a
GPU. Each test runs in a process of its own, because JAX takes a platform once."""

import subprocess
import sys

import pytest

pytest.importorskip("jax")

start = """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, numpy as np, jax.numpy as jnp
from tiletranspose import _core, _jax
jax.ffi.register_ffi_target(_jax._target, _core.xla_capsule(on_host=True), platform="cpu")
x = jnp.arange(2.0 * 3 * 4).reshape(2, 3, 4)
expected = lambda x: np.flip(np.asarray(x), 1).transpose(2, 0, 1)
"""


@pytest.mark.parametrize(
    "program",
    [
        "for dtype in ('bool', 'int8', 'bfloat16', 'float32', 'complex64', 'float8_e4m3fn', 'int16', 'float16', 'float8_e5m2'):\n"
        "  y = x.astype(dtype)\n"
        "  assert (np.asarray(_jax._compiled(y, (2, 0, 1), (1,))) == expected(y)).all(), dtype",
        "assert _jax._compiled(x[:0], (2, 0, 1), (1,)).shape == (4, 0, 3)",
        "assert _jax._compiled(jnp.float32(3), (), ()) == 3",
        "y = jax.vmap(lambda a: _jax._call(a, (1, 0), (0,)), in_axes=1)(x)\n"
        "assert (y == np.stack([np.flip(np.asarray(x)[:, i], 0).T for i in range(3)])).all()",
        "w = jnp.arange(24.0).reshape(4, 2, 3) ** 2\n"
        "g = jax.grad(lambda a: (_jax._call(a, (2, 0, 1), (1,)) * w).sum())(x)\n"
        "h = jax.grad(lambda a: (jnp.flip(a, 1).transpose(2, 0, 1) * w).sum())(x)\n"
        "assert (g == h).all()",
        "import tiletranspose\n"
        "keys = jax.random.split(jax.random.key(0), (2, 3))\n"
        "for function in (tiletranspose.transpose, jax.jit(tiletranspose.transpose)):\n"
        "  try: function(keys)\n"
        "  except TypeError as error: assert 'jax.random.key_data(x)' in str(error)\n"
        "  else: raise AssertionError",
        "keys = jax.random.split(jax.random.key(0), (2, 3))\n"
        "try: _jax._compiled(keys, (1, 0), ()).block_until_ready()\n"
        "except Exception as error: assert 'other elements than the call' in str(error), error\n"
        "else: raise AssertionError",
        "def call(x, shape, plan, dtype='float32'):\n"
        "  out = jax.ShapeDtypeStruct(shape, dtype)\n"
        "  return np.asarray(jax.ffi.ffi_call(_jax._target, out)(x, plan=np.array(plan, np.int64)))\n"
        "y = x[0]\n"
        "assert (call(y, (4, 3), [4, 1, 0, 0, 0]) == np.asarray(y).T).all()\n"
        "for sentence, *arguments in (\n"
        "  ('other axes', (4, 3, 1), [4, 1, 0, 0, 0]), ('other axes', (4, 3), [4, 1, 2, 0, 0]),\n"
        "  ('other axes', (4, 3), [4, 1, 1, 0, 0]), ('other axes', (4, 3), [4, -1, 0, 0, 0]),\n"
        "  ('other elements', (4, 3), [8, 1, 0, 0, 0]), ('other elements', (4, 3), [4, 1, 0, 0, 0], 'int32'),\n"
        "  ('another shape', (3, 4), [4, 1, 0, 0, 0]), ('another shape', (4, 2), [4, 1, 0, 0, 0])):\n"
        "  try: call(y, *arguments)\n"
        "  except Exception as error: assert sentence in str(error), error\n"
        "  else: raise AssertionError(arguments)",
        "try: _jax.reorder(x.astype('int1'), (2, 0, 1), ())\n"
        "except TypeError as error: assert 'less than a byte' in str(error)\n"
        "else: raise AssertionError",
        "import tiletranspose\n"
        "try: tiletranspose.contiguous(x)\n"
        "except ValueError as error: assert 'not in the memory of a GPU' in str(error)\n"
        "else: raise AssertionError",
        "import tiletranspose\n"
        "try: tiletranspose.flip(x)\n"
        "except ValueError as error: assert 'not in the memory of a GPU' in str(error)\n"
        "else: raise AssertionError",
        "import tiletranspose\n"
        "try: tiletranspose.flip(x, out=x)\n"
        "except TypeError as error: assert 'immutable' in str(error)\n"
        "else: raise AssertionError",
        "import tiletranspose\n"
        "class Other: __cuda_array_interface__ = dict(data=(1 << 40, False), shape=x.shape, typestr='<f4', version=3)\n"
        "try: tiletranspose.flip(Other(), out=x)\n"
        "except TypeError as error: assert 'immutable' in str(error)\n"
        "else: raise AssertionError",
    ],
    ids=[
        *("dtypes", "no_elements", "scalar", "vmap", "gradient", "keys", "keys_in_xla", "checks", "bits", "contiguous"),
        *("host", "out", "out_of_another"),
    ],
)
def test_handler(program):
    result = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
