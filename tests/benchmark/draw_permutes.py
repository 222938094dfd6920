#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Draws the speed of the 57 permutes of TTC's benchmark, and shows the picture in README.md beside this script.

    build/tests/tests/benchmark/tiletranspose_permute_benchmark --json=permutes.json
    python3 tests/benchmark/draw_permutes.py permutes.json

The figures come from the file alone, the shapes from permutes.txt; a case that the file lacks is an error.
"""

import argparse
import pathlib
import sys

import draw_speed

CONTENDERS = [("pct_of_memcpy", "tiletranspose", "#2a7f3f"), ("cutensor_pct", "cuTENSOR", "#4a6fa5")]
BEGIN = "<!-- picture of permutes: written by tests/benchmark/draw_permutes.py -->\n"
END = "<!-- end of picture of permutes -->\n"


def read_shapes(path):
    """Of each of TTC's cases its name, and its shape and axes in words."""
    shapes = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line.startswith("ttc"):
            rank = int(words[2])
            axes, extents = words[3:3 + rank], words[3 + rank:]
            shapes[words[0]] = " × ".join(extents) + " → " + "".join(axes)
    return shapes


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="JSON of the benchmark")
    parser.add_argument("--svg", default=here / "permutes.svg", type=pathlib.Path)
    parser.add_argument("--readme", default=here / "README.md", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        results, gpu, day = draw_speed.read_results([arguments.results])
        shapes = read_shapes(here / "permutes.txt")
        missing = [name for name in shapes if "pct_of_memcpy" not in results.get(name, {})]
        if missing:
            raise ValueError("no figures for " + ", ".join(missing))
        rows = [(words, {counter: results[name][counter] for counter, _, _ in CONTENDERS if counter in results[name]})
                for name, words in shapes.items()]
        readme = arguments.readme.read_text(encoding="utf-8")
        if readme.count(BEGIN) != 1 or readme.count(END) != 1:
            raise ValueError("README.md has not one pair of markers of the picture")
        before, rest = readme.split(BEGIN)
        picture = f"![Bars: 57 permutes of floats, and cuTENSOR's where it took part]({arguments.svg.name})\n"
        readme = before + BEGIN + picture + END + rest.split(END)[1]
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"draw_permutes.py: {error}")
    arguments.svg.write_text(draw_speed.draw(rows, gpu, day, CONTENDERS, gap=5), encoding="utf-8")
    arguments.readme.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
