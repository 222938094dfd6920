#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""table.py CPU.jsonl GPU.csv: joins what on_cpu printed with what ncu counted, as a Markdown table.

Ends with 1 where a number of the GPU is not the emulator's, but for conflicts that took no cycle."""

import csv
import json
import sys


def read_gpu(path):
    with open(path, newline="") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("==")]
    first = next(i for i, row in enumerate(rows) if row[0] == "ID")
    names = rows[first]
    return [dict(zip(names, row)) for row in rows[first + 2:]]  # a row of units follows the names


def count(row, metric):
    if metric not in row:
        sys.exit(f"this GPU has no counter {metric}")
    return int(row[metric].replace(",", ""))


def ratio(sum_, requests):
    return f"{sum_ / requests:.4g}" if requests else "-"


def main():
    with open(sys.argv[1]) as file:
        cases = [json.loads(line) for line in file]
    launches = read_gpu(sys.argv[2])
    if len(cases) != len(launches):
        sys.exit(f"{len(cases)} cases, but {len(launches)} launches")
    print("| kernel | elements | ways: model, emulator | cycles per request: emulator, GPU "
          "| conflicts: emulator, GPU | sectors per request: emulator, GPU |")
    print("|---|---|---|---|---|---|")
    different, uncertain = [], []
    for case, gpu in zip(cases, launches):
        cells = {"ways": [], "cycles": [], "conflicts": [], "sectors": []}
        for side, op in (("stores", "st"), ("loads", "ld")):
            shared = case["shared_" + side]
            waves = count(
                gpu, f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum")
            # Asynchronous copies are counted by themselves, where a GPU has such.
            copies = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
            if op == "st" and copies in gpu:
                waves += count(gpu, copies)
            conflicts = count(gpu, f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum")
            if shared["requests"]:
                model = case["model_" + side]
                cells["ways"].append(f"{model or '-'}, {shared['ways']}")
                cells["cycles"].append(f"{ratio(shared['cycles'], shared['requests'])}, "
                                       f"{ratio(waves, shared['requests'])}")
                cells["conflicts"].append(f"{shared['conflicts']}, {conflicts}")
                if waves != shared["cycles"]:
                    different.append(f"{case['name']}: {waves} cycles of shared {side} on the "
                                     f"GPU, {shared['cycles']} in the emulator")
                if conflicts != shared["conflicts"]:
                    # Without a cycle more they are none of the requests' own: an H200 counts 4 to 14 in 5000
                    # requests of one kernel, another number each time.
                    found = uncertain if waves == shared["cycles"] else different
                    found.append(f"{case['name']}: {conflicts} conflicts of shared {side} on the "
                                 f"GPU, {shared['conflicts']} in the emulator")
        for side, op in (("loads", "ld"), ("stores", "st")):
            memory = case["global_" + side]
            requests = count(gpu, f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum")
            sectors = count(gpu, f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum")
            if memory["requests"] or requests:
                cells["sectors"].append(f"{ratio(memory['sectors'], memory['requests'])}, "
                                        f"{ratio(sectors, requests)}")
            if (requests, sectors) != (memory["requests"], memory["sectors"]):
                different.append(f"{case['name']}: {sectors} sectors in {requests} global "
                                 f"{side} on the GPU, {memory['sectors']} in "
                                 f"{memory['requests']} in the emulator")
        text = {key: "; ".join(value) or "-" for key, value in cells.items()}
        print(f"| {case['name']} | {case['nx']} x {case['ny']} | {text['ways']} "
              f"| {text['cycles']} | {text['conflicts']} | {text['sectors']} |")
    print()
    print("\n".join([line + ", in as many cycles" for line in uncertain] + different))
    if not different:
        print("The emulator and the GPU agree", "otherwise." if uncertain else "everywhere.")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
