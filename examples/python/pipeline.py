# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Two programs whose layout changes go through the package: the input of a vision model, and a block of attention. Each is
written once, and run with PyTorch's own layout changes and with the package's; the results are compared, and the times of
the whole are printed.

    python pipeline.py
    python pipeline.py --compile     both under torch.compile, too
"""

from __future__ import annotations

import argparse
import statistics

import tiletranspose.torch
import torch


class PyTorch:
    """Layout changes as PyTorch makes them."""

    @staticmethod
    def permute(x, axes):
        return x.permute(axes).contiguous()

    @staticmethod
    def flip(x, axes):
        return x.flip(axes)


class Tiletranspose:
    """The same by the package."""

    permute = staticmethod(tiletranspose.torch.permute)
    flip = staticmethod(tiletranspose.torch.flip)


def vision_input(layout, images):
    """Decoded images, (batch, height, width, 3) bytes: one plane a channel, mirrored, in half precision around 0."""
    planes = layout.permute(images, (0, 3, 1, 2))
    mirrored = layout.flip(planes, (3,))
    return (mirrored.half() - 127.5) * (1 / 127.5)


class Attention(torch.nn.Module):
    """Self-attention whose heads, keys and values are contiguous, as kernels written by hand like them."""

    def __init__(self, width=4096, heads=32):
        super().__init__()
        self.heads = heads
        self.project_in = torch.nn.Linear(width, 3 * width, bias=False)
        self.project_out = torch.nn.Linear(width, width, bias=False)

    def forward(self, layout, tokens):
        batch, length, width = tokens.shape
        projected = self.project_in(tokens).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = layout.permute(projected, (2, 0, 3, 1, 4))
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return self.project_out(layout.permute(mixed, (0, 2, 1, 3)).view(batch, length, width))


def milliseconds(function, rounds=15):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(rounds + 3):
        start.record()
        function()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compile", action="store_true")
    compiled = parser.parse_args().compile
    if not torch.cuda.is_available():
        print("no GPU was found")
        return
    torch.manual_seed(1)
    images = torch.randint(0, 256, (1024, 224, 224, 3), dtype=torch.uint8, device="cuda")
    tokens = torch.randn(4, 4096, 4096, dtype=torch.half, device="cuda")
    attention = Attention().half().cuda()

    print("program                  PyTorch   tiletranspose   milliseconds")
    programs = {
        "vision input": lambda layout: vision_input(layout, images),
        "block of attention": lambda layout: attention(layout, tokens),
    }
    for name, program in programs.items():
        for mode in ("", ", compiled") if compiled else ("",):
            run = torch.compile(program) if mode else program
            with torch.no_grad():
                # Compiled, the layers around the layout changes may be rounded differently.
                torch.testing.assert_close(
                    run(PyTorch), run(Tiletranspose), rtol=1e-2 if mode else 0, atol=1e-2 if mode else 0
                )
                times = [milliseconds(lambda: run(layout)) for layout in (PyTorch, Tiletranspose)]
            print(f"{name + mode:24} {times[0]:7.3f}   {times[1]:13.3f}")


if __name__ == "__main__":
    main()
