#!/usr/bin/env python3
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py on made-up results, and compare.sh on trees whose benchmark is a script. Needs no GPU."""

import contextlib
import importlib.util
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SPECIFICATION = importlib.util.spec_from_file_location("compare", HERE.parent / "compare.py")
compare = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(compare)


def case(name, time, unit="us", **more):
    return {"name": name, "run_type": "iteration", "real_time": time, "time_unit": unit, **more}


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *cases):
        path = self.folder / name
        path.write_text(json.dumps({"context": {}, "benchmarks": cases}), encoding="utf-8")
        return str(path)

    def run_main(self, old, new, *options):
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = compare.main([*options, "--old", *old, "--new", *new])
        return status, output.getvalue() + errors.getvalue()

    def test_medians_and_means(self):
        # Medians: a 10 -> 20, b 30 -> 15; the geometric mean of 2 and 0.5 is 1.
        old = [self.write(f"o{i}", case("f/a", t), case("g/b", 30)) for i, t in enumerate([9, 10, 99])]
        new = [self.write(f"n{i}", case("f/a", t), case("g/b", 15)) for i, t in enumerate([19, 20, 21])]
        status, text = self.run_main(old, new)
        self.assertEqual(status, 0)
        self.assertIn("| f | 1 | 2.0000 | - | 2.000 | 2.000 |", text)
        self.assertIn("| g | 1 | 0.5000 | - | 0.500 | 0.500 |", text)
        self.assertIn("| all | 2 | 1.0000 | - | 0.500 | 2.000 |", text)
        self.assertIn("1 cases are more than 2 % slower:", text)
        # One of the old runs was slower than all new ones.
        self.assertIn("| f/a | 2.000 | - | 9 10 99 | 19 20 21 | no |", text)
        self.assertIn("1 cases are more than 2 % faster:", text)
        self.assertIn("| g/b | 0.500 | - | 30 30 30 | 15 15 15 | yes |", text)

    def test_limit(self):
        old = [self.write("o", case("f/a", 100), case("f/b", 100), case("f/c", 100))]
        new = [self.write("n", case("f/a", 101.9), case("f/b", 102.1), case("f/c", 97.9))]
        text = self.run_main(old, new)[1]
        self.assertIn("1 cases are more than 2 % slower:", text)
        self.assertIn("| f/b | 1.021 |", text)
        self.assertNotIn("| f/a |", text)
        self.assertIn("| f/c | 0.979 |", text)
        text = self.run_main(old, new, "--limit", "5")[1]
        self.assertIn("0 cases are more than 5 % slower\n", text)
        self.assertIn("0 cases are more than 5 % faster\n", text)

    def test_slowest_first(self):
        old = [self.write("o", *(case(f"f/{name}", 10) for name in "abc"))]
        new = [self.write("n", *(case(f"f/{name}", t) for name, t in zip("abc", [11, 13, 12])))]
        text = self.run_main(old, new)[1]
        places = [text.index(f"| f/{name} |") for name in "bca"]
        self.assertEqual(places, sorted(places))

    def test_units(self):
        status, text = self.run_main(
            [self.write("o", case("f/a", 2, "ms"))], [self.write("n", case("f/a", 2000, "us"))]
        )
        self.assertEqual(status, 0)
        self.assertIn("| all | 1 | 1.0000 |", text)

    def test_reference(self):
        # The machine was 10 % slower in the new run; the second case tells it by a percentage.
        old = [self.write("o", case("f/a", 10, ref_us=8), case("f/b", 10, pct_of_memcpy=50))]
        new = [self.write("n", case("f/a", 11, ref_us=8.8), case("f/b", 11, pct_of_memcpy=50))]
        text = self.run_main(old, new)[1]
        self.assertIn("| all | 2 | 1.1000 | 1.1000 | 1.100 | 1.100 |", text)
        self.assertIn("| f/a | 1.100 | 1.100 | 10 | 11 | yes |", text)

    def test_spread(self):
        old = [self.write("o1", case("f/a", 100)), self.write("o2", case("f/a", 101))]
        new = [self.write("n1", case("f/a", 100)), self.write("n2", case("f/a", 103))]
        self.assertIn("differ by 3.00 % in the median case", self.run_main(old, new)[1])
        self.assertNotIn("differ by", self.run_main(old[:1], new[:1])[1])

    def test_cases_of_one_side(self):
        old = [self.write("o", case("f/a", 1), case("f/gone", 1))]
        new = [self.write("n", case("f/a", 1), case("f/extra", 1))]
        status, text = self.run_main(old, new)
        self.assertEqual(status, 0)
        self.assertIn("| all | 1 |", text)
        self.assertIn("1 cases ran in the old tree alone: f/gone", text)
        self.assertIn("1 cases ran in the new tree alone: f/extra", text)

    def test_failures(self):
        broken = case("f/b", 0, error_occurred=True, error_message="3 elements are wrong")
        good = [self.write("o", case("f/a", 1), case("f/b", 1))]
        bad = [self.write("n", case("f/a", 1), broken)]
        status, text = self.run_main(good, bad)
        self.assertEqual(status, 1)
        self.assertIn("1 cases failed in the new tree: f/b", text)
        status, text = self.run_main(bad, good)
        self.assertEqual(status, 0)
        self.assertIn("1 cases failed in the old tree: f/b", text)

    def test_nothing_in_common(self):
        status, text = self.run_main(
            [self.write("o", case("f/a", 1))], [self.write("n", case("f/b", 1))]
        )
        self.assertEqual(status, 1)
        self.assertIn("no case ran in both trees", text)

    def test_repetitions(self):
        # Google Benchmark numbers repetitions in `name` alone, and adds their mean as a case.
        repeated = [
            {**case("f/a/repeats:2", time), "run_name": "f/a"} for time in (10, 12)
        ] + [{**case("f/a_mean", 99), "run_name": "f/a", "run_type": "aggregate"}]
        side = compare.Side([self.write("r", *repeated)])
        self.assertEqual(dict(side.times), {"f/a": [10, 12]})


PROGRAM = """#!/bin/sh
for word; do
  case $word in --benchmark_out=*) out=${word#*=} ;; esac
done
echo "SIDE $*" >>"LOG"
echo '{"benchmarks": [{"name": "f/a", "real_time": TIME, "time_unit": "us"}]}' >"$out"
"""

CMAKELISTS = """cmake_minimum_required(VERSION 3.24)
project(fake LANGUAGES NONE)
if(TILETRANSPOSE_BUILD_TESTS OR NOT TILETRANSPOSE_BUILD_BENCHMARKS)
  message(FATAL_ERROR "only the benchmark is wanted")
endif()
file(GLOB programs tests/benchmark/tiletranspose_*)
file(COPY ${programs} DESTINATION tests/benchmark)
"""


@unittest.skipUnless(shutil.which("git"), "commits need Git")
class Trees(unittest.TestCase):
    """Two commits with programs that write down how they were called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.log = self.root / "log"
        self.tree = self.root / "tree"
        benchmark = self.tree / "tests" / "benchmark"
        benchmark.mkdir(parents=True)
        for name in ("compare.sh", "compare.py"):
            shutil.copy(HERE.parent / name, benchmark)
        (self.tree / "cmake").mkdir()
        shutil.copy(ROOT / "cmake" / "setup.sh", self.tree / "cmake")
        (self.tree / "include").mkdir()
        (self.tree / "include" / "header").write_text("")
        (self.tree / "CMakeLists.txt").write_text(CMAKELISTS)
        self.git("init", "--quiet")
        self.commit("first", old=10)
        self.commit("second", old=12, extra=5)

    def git(self, *arguments):
        settings = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
        subprocess.run(["git", *settings, *arguments], cwd=self.tree, check=True)

    def commit(self, tag, **programs):
        for name, time in programs.items():
            path = self.tree / "tests" / "benchmark" / f"tiletranspose_{name}_benchmark"
            text = PROGRAM.replace("SIDE", tag).replace("LOG", str(self.log))
            path.write_text(text.replace("TIME", str(time)))
            path.chmod(0o755)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-gpg-sign", "--message", tag)
        self.git("tag", tag)

    def compare(self, *arguments):
        script = self.tree / "tests" / "benchmark" / "compare.sh"
        return subprocess.run(
            [str(script), *arguments],
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def turns(self):
        return [line.split()[0] for line in self.log.read_text().splitlines()]

    def test_commits_in_turns(self):
        result = self.compare("first", "second", "--", "--rounds=7")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(self.turns(), ["first", "second", "first", "second"])
        self.assertTrue(all(line.endswith(" --rounds=7") for line in self.log.read_text().splitlines()))
        self.assertIn("| f/a | 1.200 | - | 10 10 | 12 12 | yes |", result.stdout)
        self.assertIn("only the new tree has tiletranspose_extra_benchmark", result.stdout)

    def test_built_first_and_run_later(self):
        built = self.root / "built"
        result = self.compare("--build", str(built), "first", "second")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertFalse(self.log.exists())
        self.assertTrue((built / "old" / "tiletranspose_old_benchmark").exists())
        result = self.compare("--run", "built", "--turns", "3", "--limit", "30")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(self.turns(), 3 * ["first", "second"])
        self.assertIn("0 cases are more than 30 % slower", result.stdout)

    def test_one_benchmark_for_both(self):
        result = self.compare("--benchmark", "first", "first", "second")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(self.turns(), 4 * ["first"])

    def test_folders(self):
        result = self.compare("tree", "first")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(self.turns(), ["second", "first", "second", "first"])

    def test_refusals(self):
        for arguments, sentence in (
            (("first",), "two trees are compared"),
            (("first", "nothing"), "nothing is neither a commit nor a folder"),
            (("--turn", "2"), "unknown option --turn"),
            (("--turns",), "--turns takes a value"),
        ):
            result = self.compare(*arguments)
            self.assertNotEqual(result.returncode, 0, arguments)
            self.assertIn(sentence, result.stdout)


if __name__ == "__main__":
    unittest.main()
