#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes sample.ppm and sample.pgm beside itself.

Both show a ramp, letters, a line down the main diagonal and one marked corner, so that a transpose
is told from a rotation or a flip at a glance. Their sides are odd, so tiles are cut at the edges
and most pixel rows start off a word.
"""
from pathlib import Path

LETTERS = {
    "T": ("#####", "..#..", "..#..", "..#..", "..#..", "..#..", "..#.."),
    "I": ("#####", "..#..", "..#..", "..#..", "..#..", "..#..", "#####"),
    "L": ("#....", "#....", "#....", "#....", "#....", "#....", "#####"),
    "E": ("#####", "#....", "#....", "####.", "#....", "#....", "#####"),
    "F": ("#####", "#....", "#....", "####.", "#....", "#....", "#...."),
}


def is_text(x, y, text, left, top, scale):
    """Whether (x, y) is ink of `text`; a letter is 5 x 7 cells, a cell `scale` pixels wide."""
    index, column = divmod((x - left) // scale, 6)
    row = (y - top) // scale
    inside = 0 <= index < len(text) and column < 5 and 0 <= row < 7
    return inside and LETTERS[text[index]][row][column] == "#"


def colour(x, y, width, height):
    if x < 24 and y < 12:
        return 255, 220, 0  # the marked corner: wide, at the top left
    if is_text(x, y, "TILE", 34, 44, 8):
        return 255, 255, 255
    if abs(x * height - y * width) < 2 * width:
        return 0, 0, 0
    return 30 + 200 * x // width, 30 + 200 * y // height, 110


def grey(x, y, width, height):
    if x < 24 and y < 12:
        return 255
    if is_text(x, y, "FT", 60, 27, 6):
        return 0
    if abs(x * height - y * width) < width:
        return 255
    return 60 + 150 * x // width


def write(name, magic, width, height, shade):
    pixels = (shade(x, y, width, height) for y in range(height) for x in range(width))
    samples = b"".join(bytes(p if isinstance(p, tuple) else (p,)) for p in pixels)
    header = f"{magic}\n{width} {height}\n255\n".encode()
    (Path(__file__).parent / name).write_bytes(header + samples)


if __name__ == "__main__":
    write("sample.ppm", "P6", 241, 157, colour)
    write("sample.pgm", "P5", 187, 97, grey)
