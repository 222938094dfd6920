# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What an installed package has in it."""

import ast
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import tiletranspose
from tiletranspose import _core

package = pathlib.Path(tiletranspose.__file__).parent
here = pathlib.Path(__file__).parent


def test_the_version_is_the_headers():
    header = here.parents[2] / "include/tiletranspose/version.cuh"
    numbers = re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)$", header.read_text(), re.M)
    assert tiletranspose.__version__ == ".".join(numbers)


def test_types_are_installed():
    assert (package / "py.typed").exists()
    stub = (package / "_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("__"):
            assert f"def {name}(" in stub


def test_functions_for_torch_have_the_same_parameters():
    def functions(file):
        nodes = ast.parse((package / file).read_text()).body
        return {node.name: node.args for node in nodes if isinstance(node, ast.FunctionDef) and node.name[0] != "_"}

    def parameters(arguments):
        lists = (arguments.args, arguments.defaults, arguments.kwonlyargs, arguments.kw_defaults)
        return [[node.arg if isinstance(node, ast.arg) else ast.dump(node) for node in nodes] for nodes in lists]

    theirs, ours = functions("torch.py"), functions("__init__.py")
    for name in set(ours) - {"explain"}:
        assert parameters(theirs[name]) == parameters(ours[name]), name


def test_no_library_is_imported():
    program = "import sys, tiletranspose; print(*[m for m in ('torch', 'cupy', 'jax', 'numba', 'numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.parametrize("names", [["torch"], ["jax"], ["torch.nn"], ["torch", "jax"]])
def test_libraries_that_are_not_all_there(names):
    """While another thread imports one, and after an import that failed."""
    program = f"""
import sys, types, tiletranspose
for name in {names}: sys.modules[name] = types.ModuleType(name)
for function in (tiletranspose.flip, tiletranspose.contiguous, tiletranspose.transpose_):
    try: function(3)
    except TypeError as error: assert "x is no array" in str(error)
    else: raise AssertionError
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_first_calls_of_several_threads_end():
    """Also where an import, which somebody may have wrapped, lets another thread run."""
    program = """
import builtins, faulthandler, threading, time
import tiletranspose
faulthandler.dump_traceback_later(60, exit=True)
theirs = builtins.__import__
def slow(name, *others, **keywords):
    if name == "tiletranspose._arrays": time.sleep(0.2)
    return theirs(name, *others, **keywords)
builtins.__import__ = slow
refused = []
def call(function):
    try: function(3)
    except TypeError: refused.append(function)
for function in (tiletranspose.flip, tiletranspose.contiguous):
    threads = [threading.Thread(target=call, args=(function,)) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
assert len(refused) == 6
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "printed, result, architectures",
    [
        ("9.0\n", 0, "90"),
        ("8.9\n9.0\n8.9\n12.1\n", 0, "89;90;121"),
        ("[N/A]\n9.0\n", 0, "90"),
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.183\n", 18, "90"),
        ("NVML library version: 535.183\n", 0, "90"),
        ("8.0\n", 1, "90"),
        (None, 1, "90"),
    ],
)
def test_architectures_are_those_of_the_gpus(tmp_path, printed, result, architectures):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no CMake was found")
    if printed is not None:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{printed}END\nexit {result}\n")
        program.chmod(0o755)
    script = tmp_path / "script.cmake"
    script.write_text(
        f'include("{here.parent}/architectures.cmake")\nmessage("architectures: ${{CMAKE_CUDA_ARCHITECTURES}}")\n'
    )
    run = subprocess.run([cmake, "-P", script], capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert f"architectures: {architectures}\n" in run.stderr + run.stdout
