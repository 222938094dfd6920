#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Puts the gallery's predictions for its transposes beside what the hardware counts.

usage: counters.py GALLERY [--type T] [--size NXxNY] [--from FILE]

Runs GALLERY under Nsight Compute (ncu must be on the PATH) and prints a Markdown table. --from reads the
output of such a run instead: plain or .gz.
"""

import argparse
import csv
import gzip
import io
import os
import subprocess

ROUTINES = [
    f"transpose-{name}"
    for name in (
        "naive-rows", "naive-columns", "conflicts", "conflict-free", "model-padding", "swizzle",
        "unrolled", "diagonal-rows", "diagonal-columns", "explicit", "tuned",
    )
]
ELEMENT_BYTES = {"char": 1, "short": 2, "half": 2, "int": 4, "float": 4, "double": 8}
LAUNCHES = 4  # of each routine with --reps 1: verified, warmed up twice, timed

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
SECTORS = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
INSTRUCTIONS = "smsp__sass_inst_executed_op_shared_{}.sum"
WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = [CONFLICTS] + [
    form.format(*arguments)
    for form, choices in (
        (SECTORS, [(what, op) for what in ("sectors", "requests") for op in ("ld", "st")]),
        (INSTRUCTIONS, [("ld",), ("st",)]),
        (WAVEFRONTS, [("ld",), ("st",)]),
    )
    for arguments in choices
]


def gallery_command(args):
    only = [word for name in ROUTINES for word in ("--only", name)]
    return [args.gallery, *only, "--type", args.type, "--size", args.size, "--reps", "1",
            "--format", "csv"]


def predictions(args):
    """The gallery's rows by name; no GPU is needed, so none is used."""
    hidden = dict(os.environ, CUDA_VISIBLE_DEVICES="-1")
    text = subprocess.run(gallery_command(args), env=hidden, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {row["routine"]: row for row in csv.DictReader(io.StringIO(text))}


def profile(args):
    if args.from_file:
        opener = gzip.open if args.from_file.endswith(".gz") else open
        with opener(args.from_file, "rt") as file:
            return file.read()
    kernels = "regex:run_body|tile_kernel|strip_kernel|small_tile_kernel|vector_kernel|axes_panel_kernel"
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--kernel-name", kernels,
               "--metrics", ",".join(METRICS), *gallery_command(args)]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def counts(text):
    """The metrics of each routine's first launch, by name."""
    # ncu quotes every field, the gallery none of its first.
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]
    if len(rows) != LAUNCHES * len(ROUTINES):
        raise SystemExit(f"{len(rows)} launches were profiled, expected {LAUNCHES * len(ROUTINES)}")
    return {
        name: {metric: float(rows[LAUNCHES * i][metric].replace(",", "")) for metric in METRICS}
        for i, name in enumerate(ROUTINES)
    }


def ratio(counted, above, below):
    return counted[above] / counted[below] if counted[below] else None


def shown(value, digits):
    return "-" if value is None or value == "" else f"{float(value):.{digits}f}"


def modelled_conflicts(row, side):
    """Wavefronts of a request beyond the least, which a lane's words cost even without conflicts."""
    wavefronts = float(row[f"{side}_wavefronts_per_request"])
    least = wavefronts if row[f"{side}_ways"] == "1" else max(1, ELEMENT_BYTES[row["type"]] / 4)
    return wavefronts - least


def table(predicted, counted):
    yield ("| routine | ways, write / read | bank conflicts per request: model, counted "
           "| wavefronts per write: model, counted | per read: model, counted "
           "| sectors per load: model, counted | per store: model, counted |")
    yield "|---|---|---|---|---|---|---|"
    for name in ROUTINES:
        row, metrics = predicted[name], counted[name]
        loads, stores = (metrics[INSTRUCTIONS.format(op)] for op in ("ld", "st"))
        conflicts = "-, -"
        if loads + stores:
            model = (modelled_conflicts(row, "read") * loads +
                     modelled_conflicts(row, "write") * stores) / (loads + stores)
            conflicts = f"{model:.2f}, {metrics[CONFLICTS] / (loads + stores):.2f}"

        def pair(key, above, below, digits):
            measured = ratio(metrics, above, below)
            return f"{shown(row[key], digits)}, {shown(measured, digits)}"

        yield " | ".join([
            f"| {name}",
            f"{row['write_ways'] or '-'} / {row['read_ways'] or '-'}",
            conflicts,
            pair("write_wavefronts_per_request", WAVEFRONTS.format("st"),
                 INSTRUCTIONS.format("st"), 2),
            pair("read_wavefronts_per_request", WAVEFRONTS.format("ld"),
                 INSTRUCTIONS.format("ld"), 2),
            pair("load_sectors_per_request", SECTORS.format("sectors", "ld"),
                 SECTORS.format("requests", "ld"), 1),
            pair("store_sectors_per_request", SECTORS.format("sectors", "st"),
                 SECTORS.format("requests", "st"), 1) + " |",
        ])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gallery")
    parser.add_argument("--type", default="float")
    parser.add_argument("--size", default="8192x4096")
    parser.add_argument("--from", dest="from_file")
    args = parser.parse_args()
    print("\n".join(table(predictions(args), counts(profile(args)))))


if __name__ == "__main__":
    main()
