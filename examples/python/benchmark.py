# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The package beside PyTorch, torch.compile, CuPy and JAX: permutes of tests/benchmark/permutes.txt, the eight symmetries of a
matrix, and what a call costs on the host.

    python benchmark.py --json speed.json     measures, and prints a table
    python benchmark.py --table speed.json    prints the table of an earlier run

Each result is compared with PyTorch's, bit by bit, before it is timed. In every round each contender and a plain copy of
as many bytes take turns; what counts is the median of the rounds, in percent of the copy's speed. Times on PyTorch's stream
are those of CUDA events, behind a delay that lets the host run ahead. JAX computes on streams of its own: there, PyTorch's
profiler, which sees all kernels of the process, adds up how long those of each call take. What is not done by --limit
seconds is left out: the compiler takes longest, so it comes last.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

cases_file = pathlib.Path(__file__).parents[2] / "tests/benchmark/permutes.txt"
contenders = ("tiletranspose", "torch", "cupy", "tiletranspose_jax", "jax", "compile")
rounds = 7


class Case:
    """A change of layout: a view of the input in PyTorch's words, in NumPy's, and the package's call."""

    def __init__(self, name, item_bytes, shape, view, numpys, ours):
        self.name, self.item_bytes, self.shape = name, item_bytes, shape
        self.view, self.numpys, self.ours = view, numpys, ours


def permute_case(line):
    name, item_bytes, rank, *numbers = line.split()
    rank, numbers = int(rank), [int(number) for number in numbers]
    axes, shape = tuple(numbers[:rank]), tuple(numbers[rank:])
    import tiletranspose

    return Case(
        name,
        int(item_bytes),
        shape,
        lambda x: x.permute(axes),
        lambda numpy, x: numpy.transpose(x, axes),
        lambda x: tiletranspose.permute(x, axes),
    )


def symmetry_cases(side=16384):
    import tiletranspose as tt

    def case(name, view, numpys, ours):
        return Case(name, 4, (side, side), view, numpys, ours)

    return [
        case("identity", lambda x: x.clone(), lambda n, x: n.array(x, copy=True), lambda x: tt.permute(x, (0, 1))),
        case("flip_lr", lambda x: x.flip(1), lambda n, x: n.flip(x, 1), lambda x: tt.flip(x, 1)),
        case("flip_ud", lambda x: x.flip(0), lambda n, x: n.flip(x, 0), lambda x: tt.flip(x, 0)),
        case("rotate_180", lambda x: x.rot90(2), lambda n, x: n.rot90(x, 2), lambda x: tt.rot90(x, 2)),
        case("transpose", lambda x: x.t(), lambda n, x: n.transpose(x), lambda x: tt.transpose(x)),
        case("rotate_90", lambda x: x.rot90(1), lambda n, x: n.rot90(x, 1), lambda x: tt.rot90(x, 1)),
        case("rotate_270", lambda x: x.rot90(3), lambda n, x: n.rot90(x, 3), lambda x: tt.rot90(x, 3)),
        case(
            "anti_transpose",
            lambda x: x.flip((0, 1)).t(),
            lambda n, x: n.transpose(n.flip(x)),
            lambda x: tt._core.reorder(x, (1, 0), None, None, None),
        ),
    ]


class Clock:
    """Times on PyTorch's stream, and of kernels on any."""

    def __init__(self, torch):
        self.torch = torch
        self.start = torch.cuda.Event(enable_timing=True)
        self.end = torch.cuda.Event(enable_timing=True)

    def on_stream(self, function):
        """Microseconds. The delay is longer than what the host needs to queue the work."""
        self.torch.cuda._sleep(400_000)
        self.start.record()
        function()
        self.end.record()
        self.end.synchronize()
        return 1000 * self.start.elapsed_time(self.end)

    def on_device(self, function, wait):
        """Microseconds of a call's kernels and copies, on whatever stream; `wait` waits for a result."""
        profiler = self.torch.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as records:
            for _ in range(rounds):
                wait(function())
            self.torch.cuda.synchronize()
        on_gpu = self.torch.autograd.DeviceType.CUDA
        spans = [event.time_range.elapsed_us() for event in records.events() if event.device_type == on_gpu]
        if len(spans) < rounds:
            raise RuntimeError("the profiler has seen no kernels")
        return sum(spans) / rounds


def functions_of(case, x, wanted, libraries):
    """What is timed, by name, as (function, whether it is JAX's)."""
    torch, cupy, jax = libraries
    found = {"tiletranspose": (lambda: case.ours(x), False)}
    if "torch" in wanted:
        found["torch"] = (lambda: case.view(x).contiguous(), False)
    if "cupy" in wanted and cupy:
        y = cupy.from_dlpack(x.view(torch.int16) if x.dtype is torch.float16 else x)
        found["cupy"] = (lambda: cupy.ascontiguousarray(case.numpys(cupy, y)), False)
    if jax:
        z = jax.dlpack.from_dlpack(x)
        if "jax" in wanted:
            compiled = jax.jit(lambda array: case.numpys(jax.numpy, array))
            found["jax"] = (lambda: compiled(z), True)
        if "tiletranspose_jax" in wanted:
            found["tiletranspose_jax"] = (lambda: case.ours(z), True)
    if "compile" in wanted:
        torch._dynamo.reset()
        inductor = torch.compile(lambda array: case.view(array).contiguous(), dynamic=False)
        found["compile"] = (lambda: inductor(x), False)
    return found


def same(torch, result, expected):
    """Bit by bit; results of other libraries come by DLPack."""
    tensor = result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[expected.element_size()]
    return torch.equal(tensor.contiguous().view(bits), expected.contiguous().view(bits))


def measure(case, wanted, libraries, problems):
    torch = libraries[0]
    dtype = {1: torch.uint8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[case.item_bytes]
    if dtype is torch.uint8:
        x = torch.randint(0, 256, case.shape, dtype=dtype, device="cuda")
    else:
        x = torch.rand(case.shape, dtype=dtype, device="cuda")
    copy = torch.empty_like(x)
    clock = Clock(torch)
    times = {"copy": []}
    expected = case.view(x).contiguous()
    functions = {}
    for name, entry in functions_of(case, x, wanted, libraries).items():
        try:
            result = entry[0]()
            if entry[1]:
                result.block_until_ready()
            if not same(torch, result, expected):
                raise ValueError("another result than PyTorch's")
            functions[name] = entry
            times[name] = []
        except Exception as error:  # a peer that cannot is left out; that it could not is told
            if name.startswith("tiletranspose"):
                raise
            problems.append(f"{case.name}, {name}: {type(error).__name__}: {str(error)[:200]}")
    del expected
    torch.cuda.synchronize()
    on_stream = [name for name, (_, is_jax) in functions.items() if not is_jax]
    for _ in range(rounds):
        times["copy"].append(clock.on_stream(lambda: copy.copy_(x)))
        for name in on_stream:
            times[name].append(clock.on_stream(functions[name][0]))
    medians = {name: statistics.median(values) for name, values in times.items() if values}
    if len(on_stream) < len(functions):
        # By the other clock, which leaves out what events see of a launch, a copy is faster, too: times are scaled.
        wait = libraries[2].block_until_ready
        scale = medians["copy"] / clock.on_device(lambda: copy.copy_(x), wait)
        for name in functions.keys() - on_stream:
            medians[name] = scale * clock.on_device(functions[name][0], wait)
    return medians


def host_costs(torch):
    """Microseconds that a call keeps the host busy: of 64 x 64 floats, which the GPU moves sooner than the host asks."""
    import tiletranspose
    import tiletranspose.torch as operators

    # It must outlive this function: the compiler looks at every operator that was ever asked for, also at those of
    # libraries that are gone, and fails.
    library = host_costs.library = torch.library.Library("tiletranspose_benchmark", "DEF")
    library.define("empty(Tensor x, int[] shape) -> Tensor")
    library.impl("empty", lambda x, shape: x.new_empty(shape), "CUDA")
    x = torch.rand(64, 64, device="cuda")
    out = torch.empty_like(x)
    grad = torch.rand(64, 64, device="cuda", requires_grad=True)
    strided = torch.rand(64, 128, device="cuda")[:, :64]
    calls = {
        "torch.empty": lambda: torch.empty((64, 64), device="cuda"),
        "x.new_empty": lambda: x.new_empty((64, 64)),
        "an empty operator": lambda: torch.ops.tiletranspose_benchmark.empty(x, (64, 64)),
        "x.t().contiguous()": lambda: x.t().contiguous(),
        "strided.contiguous()": lambda: strided.contiguous(),
        "tiletranspose.transpose(x)": lambda: tiletranspose.transpose(x),
        "tiletranspose.permute(x, (1, 0))": lambda: tiletranspose.permute(x, (1, 0)),
        "tiletranspose.transpose(x, out=out)": lambda: tiletranspose.transpose(x, out=out),
        "tiletranspose.contiguous(strided)": lambda: tiletranspose.contiguous(strided),
        "tiletranspose.torch.transpose(x)": lambda: operators.transpose(x),
        "torch.ops.tiletranspose.reorder": lambda: torch.ops.tiletranspose.reorder(x, (1, 0), ()),
        "with a gradient: tiletranspose.transpose": lambda: tiletranspose.transpose(grad),
        "with a gradient: x.t().contiguous()": lambda: grad.t().contiguous(),
    }
    costs = {}
    for name, call in calls.items():
        samples = []
        for _ in range(15):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(200):
                call()
            samples.append(1e6 * (time.perf_counter() - begin) / 200)
        costs[name] = statistics.median(samples)
    return costs


def print_tables(results):
    names = [name for name in contenders if any(name in case for case in results["cases"].values())]
    print("\n" + results["device"] + ", " + results["date"] + ": % of a copy's speed, medians\n")
    print("| case | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for case, times in results["cases"].items():
        cells = [f"{100 * times['copy'] / times[name]:.1f}" if name in times else "-" for name in names]
        print(f"| {case} | " + " | ".join(cells) + " |")
    peers = [name for name in names if not name.startswith("tiletranspose")]
    slower = [
        case
        for case, times in results["cases"].items()
        if times["tiletranspose"] > min((times[name] for name in peers if name in times), default=1e9)
    ]
    print("\nslower than the best peer: " + (", ".join(slower) or "none"))
    print("\n| on the host | us a call |\n|---|---|")
    for name, cost in results["host"].items():
        print(f"| {name} | {cost:.2f} |")
    for problem in results["problems"]:
        print("not measured: " + problem)


def imported(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="where the times are written")
    parser.add_argument("--table", help="print the tables of a file that --json wrote")
    parser.add_argument("--limit", type=float, default=240, help="seconds")
    parser.add_argument("--only", default="", help="cases whose names begin so")
    parser.add_argument("--without", default="", help="contenders to leave out, by commas")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(json.loads(pathlib.Path(arguments.table).read_text()))
        return
    import torch

    libraries = (torch, imported("cupy"), imported("jax"))
    if libraries[2]:
        libraries[2].config.update("jax_enable_x64", True)
    end = time.monotonic() + arguments.limit
    results = {
        "device": torch.cuda.get_device_name(),
        "date": datetime.date.today().isoformat(),
        "versions": {library.__name__: library.__version__ for library in libraries if library},
        "host": host_costs(torch),
        "cases": {},
        "problems": [],
    }
    cases = symmetry_cases()
    cases += [permute_case(line) for line in cases_file.read_text().splitlines() if line and line[0] != "#"]
    cases = [case for case in cases if case.name.startswith(arguments.only)]
    without = set(arguments.without.split(","))
    for wanted in (set(contenders) - {"compile"} - without, {"compile"} - without):
        for case in cases:
            if time.monotonic() > end or not wanted:
                results["problems"].append(f"{case.name}, {', '.join(sorted(wanted))}: no time was left")
                continue
            times = measure(case, wanted, libraries, results["problems"])
            known = results["cases"].setdefault(case.name, times)
            # The compiler's turn has a copy of its own: its time is scaled to the other turn's.
            for name in times.keys() - known.keys():
                known[name] = times[name] * known["copy"] / times["copy"]
            torch.cuda.empty_cache()
            if libraries[1]:
                libraries[1].get_default_memory_pool().free_all_blocks()
            if arguments.json:
                pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    print_tables(results)


if __name__ == "__main__":
    main()
