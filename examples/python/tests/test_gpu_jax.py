# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""JAX: what its transforms make of the functions."""

import numpy as np
import tiletranspose


def test_jit(jax):
    jnp = jax.numpy
    x = jnp.arange(5 * 6 * 7, dtype=jnp.float32).reshape(5, 6, 7)

    @jax.jit
    def layers(x):
        return tiletranspose.rot90(tiletranspose.permute(x * 2, (2, 0, 1)), 1, (1, 2)) + 1

    expected = np.rot90(np.asarray(x * 2).transpose(2, 0, 1), 1, (1, 2)) + 1
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(layers(x)), expected)


def test_gradient_and_vmap(jax):
    jnp = jax.numpy
    x = jnp.arange(5 * 6 * 7, dtype=jnp.float32).reshape(5, 6, 7)
    weights = jnp.cos(jnp.arange(5 * 6 * 7, dtype=jnp.float32)).reshape(7, 5, 6)
    ours = jax.grad(lambda x: (tiletranspose.flip(tiletranspose.permute(x, (2, 0, 1)), 1) * weights).sum())(x)
    theirs = jax.grad(lambda x: (jnp.flip(jnp.transpose(x, (2, 0, 1)), 1) * weights).sum())(x)
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    batched = jax.vmap(tiletranspose.transpose, in_axes=1)(x)
    np.testing.assert_array_equal(np.asarray(batched), np.asarray(x).transpose(1, 2, 0))


def test_chains_of_work(jax):
    """Nothing is read before it is written, and no memory is given away while it is used."""
    jnp = jax.numpy
    x = jnp.arange(1 << 22, dtype=jnp.float32).reshape(1 << 11, -1)
    y = x
    for _ in range(50):
        y = tiletranspose.transpose(y + 1)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x) + 50)


def test_dtypes(jax):
    jnp = jax.numpy
    for dtype in ("bool", "int8", "bfloat16", "float8_e4m3fn", "float32", "complex64"):
        x = jnp.arange(35).reshape(5, 7).astype(dtype)
        y = tiletranspose.transpose(x)
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x).T)
