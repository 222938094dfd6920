#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what two trees' benchmark programs have written as JSON, case by case.

    compare.py [--limit PERCENT] --old FILE... --new FILE...

A case's ratio is the median time of the new runs over that of the old ones: below 1 the new tree is
faster. Prints Markdown: the geometric mean of each family and of all cases, then every case that is
beyond the limit. The reference's own ratio shows how far the machine drifted between the runs. Ends in an
error where there is nothing to compare, or where a case fails in the new tree.
"""

import argparse
import collections
import json
import math
import statistics
import sys

MICROSECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


class Side:
    """All runs of one tree: times in microseconds by the names of the cases."""

    def __init__(self, files):
        self.times = collections.defaultdict(list)
        self.reference = collections.defaultdict(list)
        self.failed = {}  # name -> message
        for name in files:
            with open(name, encoding="utf-8") as file:
                self.add(json.load(file))

    def add(self, document):
        for case in document["benchmarks"]:
            if case.get("run_type", "iteration") != "iteration":
                continue  # what Google Benchmark makes of repetitions
            name = case.get("run_name", case["name"])
            if case.get("error_occurred"):
                self.failed[name] = case.get("error_message", "")
                continue
            time = case["real_time"] * MICROSECONDS[case["time_unit"]]
            if not time > 0:
                self.failed[name] = "took no time"
                continue
            self.times[name].append(time)
            if "ref_us" in case:
                self.reference[name].append(case["ref_us"])
            elif "pct_of_memcpy" in case:
                self.reference[name].append(time * case["pct_of_memcpy"] / 100)


class Case:
    """A case that ran in both trees."""

    def __init__(self, name, old, new):
        self.name = name
        self.family = name.split("/")[0]
        self.old, self.new = old.times[name], new.times[name]
        self.ratio = statistics.median(self.new) / statistics.median(self.old)
        self.reference_ratio = None
        if old.reference.get(name) and new.reference.get(name):
            self.reference_ratio = statistics.median(new.reference[name]) / statistics.median(
                old.reference[name]
            )

    def is_apart(self):
        """No run of one tree is as fast as one of the other."""
        return max(self.new) < min(self.old) or max(self.old) < min(self.new)

    def spread(self):
        """How far the runs of one tree differ, the larger of both."""
        return max(max(self.old) / min(self.old), max(self.new) / min(self.new))


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def compare(old, new):
    return [Case(name, old, new) for name in old.times if name in new.times]


def write_groups(cases):
    families = collections.defaultdict(list)
    for case in cases:
        families[case.family].append(case)
    families["all"] = cases
    lines = [
        "| new / old time | cases | geometric mean | of the reference | least | most |",
        "|---|---|---|---|---|---|",
    ]
    for family, members in families.items():
        ratios = [case.ratio for case in members]
        references = [case.reference_ratio for case in members if case.reference_ratio]
        reference = f"{geometric_mean(references):.4f}" if references else "-"
        lines.append(
            f"| {family} | {len(members)} | {geometric_mean(ratios):.4f} | {reference} "
            f"| {min(ratios):.3f} | {max(ratios):.3f} |"
        )
    return lines


def write_cases(title, cases):
    def runs(times):
        return " ".join(f"{time:.4g}" for time in times)

    lines = [f"{len(cases)} cases are {title}"]
    if cases:
        lines[0] += ":"
        lines += [
            "",
            "| case | new / old | of the reference | runs of old, us | runs of new, us | apart |",
            "|---|---|---|---|---|---|",
        ]
    for case in cases:
        reference = f"{case.reference_ratio:.3f}" if case.reference_ratio else "-"
        lines.append(
            f"| {case.name} | {case.ratio:.3f} | {reference} | {runs(case.old)} "
            f"| {runs(case.new)} | {'yes' if case.is_apart() else 'no'} |"
        )
    return lines


def write_names(title, names):
    return [f"{len(names)} cases {title}: " + ", ".join(sorted(names))] if names else []


def report(old, new, limit):
    """The lines of the report."""
    cases = compare(old, new)
    factor = 1 + limit / 100
    slower = sorted((c for c in cases if c.ratio > factor), key=lambda c: -c.ratio)
    faster = sorted((c for c in cases if c.ratio < 1 / factor), key=lambda c: c.ratio)
    several = [c.spread() for c in cases if len(c.old) > 1 and len(c.new) > 1]
    sections = [write_groups(cases)]
    if several:
        percent = 100 * (statistics.median(several) - 1)
        sections.append([f"Runs of the same tree differ by {percent:.2f} % in the median case."])
    sections += [
        write_cases(f"more than {limit:g} % slower", slower),
        write_cases(f"more than {limit:g} % faster", faster),
        write_names("failed in the old tree", old.failed),
        write_names("failed in the new tree", new.failed),
        write_names("ran in the old tree alone", set(old.times) - set(new.times)),
        write_names("ran in the new tree alone", set(new.times) - set(old.times)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def main(arguments):
    parser = argparse.ArgumentParser(description="Compares the benchmark results of two trees.")
    parser.add_argument("--limit", type=float, default=2, help="percent beyond which a case is listed")
    parser.add_argument("--old", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--new", nargs="+", required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    old, new = Side(options.old), Side(options.new)
    if not compare(old, new):
        print("error: no case ran in both trees", file=sys.stderr)
        return 1
    print(report(old, new, options.limit))
    return 1 if new.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
