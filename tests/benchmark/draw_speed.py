#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Draws README.md's picture of the speed and fills in its table of figures.

    build/tests/tests/benchmark/tiletranspose_benchmark --benchmark_out=transposes.json
    build/tests/tests/benchmark/tiletranspose_reverse_benchmark --benchmark_out=reverses.json
    python3 tests/benchmark/draw_speed.py transposes.json reverses.json

Reads what Google Benchmark wrote as JSON on one GPU, writes speed.svg beside this script, and replaces what stands
between the markers in README.md. The figures come from the files alone; a case that they lack is an error.
"""

import argparse
import html
import json
import pathlib
import sys
import textwrap

# The rows: a case of the benchmark, and what it is in words.
CASES = [
    ("tuned/4-byte/16384x16384", "16384 × 16384 floats"),
    ("odd/4-byte/16381x16411", "16381 × 16411 floats"),
    ("tuned/1-byte/32768x32768", "32768 × 32768 bytes"),
    ("odd/1-byte/32749x32771", "32749 × 32771 bytes"),
    ("struct/12-byte/9215x9221", "9215 × 9221 structs of 12 bytes"),
    ("skinny/4-byte/3x89478485", "89478485 structs of 3 floats to planes"),
    ("batch/4-byte/131072x33x33", "131072 matrices of 33 × 33 floats"),
    ("transform/float-to-half/16384x16384", "16384 × 16384 floats, converted to half"),
    ("reverse/1-byte/1073741824", "1073741824 bytes reversed"),
    ("transpose-inplace/4-byte/16384x16384", "16384 × 16384 floats in place"),
]

# Who is drawn: the benchmark's counter, a name, a colour.
CONTENDERS = [
    ("pct_of_memcpy", "tiletranspose", "#2a7f3f"),
    ("geam_pct", "cuBLAS geam", "#4a6fa5"),
    ("thrust_pct", "Thrust", "#8c6bb1"),
    ("textbook_pct", "32 × 32 tile, one column of padding", "#b0b0b0"),
]

BEGIN = "<!-- {}: written by tests/benchmark/draw_speed.py -->\n"
END = "<!-- end of {} -->\n"


def read_results(paths):
    """All cases of some files by name, the GPU and the first day."""
    results, gpus, days = {}, set(), []
    for path in paths:
        content = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        gpus.add(content["context"]["gpu"])
        days.append(content["context"]["date"][:10])
        for row in content["benchmarks"]:
            name = "/".join(part for part in row["name"].split("/")
                            if part != "manual_time" and not part.startswith("iterations:"))
            if not row.get("error_occurred"):
                results[name] = row
    if len(gpus) != 1:
        raise ValueError("the files are from different machines: " + "; ".join(sorted(gpus)))
    return results, gpus.pop(), min(days)


def choose_rows(results):
    """(words, {counter: percent}) of every case that is drawn."""
    missing = [name for name, _ in CASES if "pct_of_memcpy" not in results.get(name, {})]
    if missing:
        raise ValueError("no figures for " + ", ".join(missing))
    return [(words, {counter: results[name][counter] for counter, _, _ in CONTENDERS
                     if counter in results[name]})
            for name, words in CASES]


def draw(rows, gpu, day, contenders=None, gap=9):
    """The picture as text: a group of bars for each row, as long as their shares of a copy's speed."""
    contenders = contenders or CONTENDERS
    left, bar, scale, top = 300, 11, 5.0, 74
    right = left + 100 * scale
    width = int(right + 60)
    parts, y = [], top

    def text(x, at, words, size=13, anchor="start", colour="#222"):
        parts.append(f'<text x="{x:g}" y="{at:g}" font-size="{size}" text-anchor="{anchor}" '
                     f'fill="{colour}">{html.escape(words)}</text>')

    for words, shares in rows:
        height = bar * len(shares)
        text(left - 8, y + height / 2 + 4, words, anchor="end")
        for counter, _, colour in contenders:
            if counter in shares:
                length = min(shares[counter], 104) * scale
                parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 1}" '
                             f'fill="{colour}"/>')
                figure = f"{shares[counter]:.0f}"
                if shares[counter] > 90:  # inside, where it does not meet the line of 100 %
                    text(left + length - 4, y + bar - 2, figure, 10, "end", "white")
                else:
                    text(left + length + 4, y + bar - 2, figure, 10)
                y += bar
        y += gap
    bottom = y

    lines = [f'<line x1="{left + share * scale:g}" y1="{top - 4}" x2="{left + share * scale:g}" '
             f'y2="{bottom}" stroke="{"#222" if share in (0, 100) else "#ddd"}"/>'
             for share in range(0, 101, 25)]
    for share in range(0, 101, 25):
        text(left + share * scale, bottom + 14, f"{share} %", 11, "middle")
    text(12, 22, "Speed in percent of cudaMemcpyAsync, which moves the same bytes in the same run", 15)
    x = 12
    for counter, name, colour in contenders:
        if any(counter in shares for _, shares in rows):
            parts.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{colour}"/>')
            text(x + 17, 48, name, 12)
            x += 40 + 7 * len(name)
    text(12, bottom + 34, f"{gpu}; {day}", 11, colour="#555")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 44}" '
            f'viewBox="0 0 {width} {bottom + 44}" font-family="sans-serif">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(lines + parts) + "\n</svg>\n")


def tabulate(rows, gpu, day):
    """The same figures as a Markdown table."""
    used = [(counter, name) for counter, name, _ in CONTENDERS
            if any(counter in shares for _, shares in rows)]
    title = f"{gpu}; {day}; percent of `cudaMemcpyAsync`'s speed for the same bytes in the same run:"
    lines = [*textwrap.wrap(title, 120), "",
             "| work | " + " | ".join(name for _, name in used) + " |",
             "|---|" + "---|" * len(used)]
    for words, shares in rows:
        cells = [f"{shares[counter]:.0f}" if counter in shares else "-" for counter, _ in used]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def replace_block(text, name, content):
    """`text` with `content` between the two markers of `name`."""
    begin, end = BEGIN.format(name), END.format(name)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the document has not one pair of markers of {name}")
    before, rest = text.split(begin)
    return before + begin + content + end + rest.split(end)[1]


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="JSON files of the benchmarks")
    parser.add_argument("--svg", default=here / "speed.svg", type=pathlib.Path)
    parser.add_argument("--readme", default=here.parents[1] / "README.md", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        results, gpu, day = read_results(arguments.results)
        rows = choose_rows(results)
        readme = arguments.readme.read_text(encoding="utf-8")
        picture = "![Bars: the speed of tiletranspose and its peers](tests/benchmark/speed.svg)\n"
        readme = replace_block(readme, "picture", picture)
        readme = replace_block(readme, "figures", tabulate(rows, gpu, day))
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"draw_speed.py: {error}")
    arguments.svg.write_text(draw(rows, gpu, day), encoding="utf-8")
    arguments.readme.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
