#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes numpy.txt: what numpy.transpose makes of arrays whose bytes numpy.hpp repeats. Needs NumPy.

    tests/permutes/make_numpy.py > tests/permutes/numpy.txt

A line has the bytes of an element, the rank, the extents, and then either `all` and the sum over the results of all
permutations in lexicographic order, or the axes of one permutation and the sum over its result. Instead of a sum stands
`refused` where more than 8 axes are left, when axes of one element are dropped and axes that stay together are one.
"""
import itertools
import math
import random

import numpy

SEED = 20261123
MASK = (1 << 64) - 1

# Extents of 1 and 2, primes, and sizes on both sides of a tile's edge.
SHAPES = [
    (37,), (1,), (1, 5), (2, 31), (32, 33), (37, 41), (16, 17), (2, 31, 33), (1, 64, 7), (13, 3, 32), (65, 2, 15),
    (2, 33, 1, 32), (3, 11, 5, 13), (7, 2, 2, 31), (2, 3, 9, 5, 11), (1, 2, 17, 3, 5), (3, 2, 1, 16, 7),
]
SIZES = [1, 4, 12]
RANDOM_CASES = 60


def content(count):
    """Byte i is the highest of four of (i + 1) * 2654435761."""
    words = (numpy.arange(1, count + 1, dtype=numpy.uint64) * 2654435761) & 0xFFFFFFFF
    return (words >> 24).astype(numpy.uint8)


def add(total, data):
    """FNV-1a of 64 bits over bytes."""
    for byte in data:
        total = ((total ^ byte) * 0x100000001B3) & MASK
    return total


def permuted(array, axes):
    return numpy.ascontiguousarray(numpy.transpose(array, (*axes, array.ndim - 1))).tobytes()


def axes_left(shape, axes):
    kept = [a for a in axes if shape[a] > 1]
    order = sorted(kept)
    return sum(1 for k, a in enumerate(kept) if k == 0 or order.index(a) != order.index(kept[k - 1]) + 1)


def random_case(generator):
    rank = generator.randint(6, 12)
    shape = [1] * rank
    for k in range(rank):
        shape[k] = min(generator.choice([1, 2, 2, 3, 4, 5, 7]), max(1, 3000 // math.prod(shape)))
    generator.shuffle(shape)
    if generator.random() < 0.2:
        shape = [2] * rank
    axes = list(range(rank))
    # Some cases have whole groups of axes that change places, others single ones.
    cuts = sorted(generator.sample(range(1, rank), generator.randint(1, rank - 1)))
    groups = [axes[a:b] for a, b in zip([0] + cuts, cuts + [rank])]
    generator.shuffle(groups)
    return tuple(shape), tuple(a for group in groups for a in group)


def line(size, shape, axes, total):
    words = [size, len(shape), *shape, axes if axes == "all" else " ".join(map(str, axes)), total]
    print(*words)


def main():
    print("# Written by make_numpy.py, which says what stands here; NumPy", numpy.__version__, "and seed", SEED)
    for size in SIZES:
        for number, shape in enumerate(SHAPES):
            if len(shape) == 5 and SIZES[number % len(SIZES)] != size:
                continue  # one size each: they have 120 permutations
            array = content(math.prod(shape) * size).reshape(*shape, size)
            total = 0xCBF29CE484222325
            for axes in itertools.permutations(range(len(shape))):
                total = add(total, permuted(array, axes))
            line(size, shape, "all", f"{total:016x}")
    generator = random.Random(SEED)
    reversed_axes = [((2,) * rank, tuple(reversed(range(rank)))) for rank in (8, 9, 12)]
    for number, (shape, axes) in enumerate([random_case(generator) for _ in range(RANDOM_CASES)] + reversed_axes):
        size = SIZES[number % len(SIZES)]
        if axes_left(shape, axes) > 8:
            line(size, shape, axes, "refused")
            continue
        array = content(math.prod(shape) * size).reshape(*shape, size)
        line(size, shape, axes, f"{add(0xCBF29CE484222325, permuted(array, axes)):016x}")


main()
