# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What an installed package has in it."""

import ast
import pathlib
import re
import subprocess
import sys

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
