#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds the wheel of examples/python, installs it into build/python and runs the package's tests. See README.md there.
#   tests/python/run.sh                                         for this machine's GPU, or for compute capability 9.0
#   tests/python/run.sh -DCMAKE_CUDA_ARCHITECTURES="80;90"      arguments go to CMake
#   tests/python/run.sh --wheel                                 only the wheel
#   tests/python/run.sh --tests [FILES]                         only the tests, of the wheel that is there
#   PYTHON=python3.12 tests/python/run.sh
# A Python that has all packages is taken as it is, so that PyTorch, CuPy and JAX are tested where it has them, and nothing
# is downloaded. Others get the packages in an environment of their own. Ends with 77 where they cannot be had, which is an
# error in CI.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. cmake/setup.sh

folder=$PWD/build/python
python=${PYTHON:-python3}
packages=(nanobind scikit-build-core numpy pytest)

has_packages() {
  "$1" -c 'import nanobind, numpy, pytest, scikit_build_core' 2>/dev/null &&
    "$1" -m pip --version >/dev/null 2>&1
}

find_python() {
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || return 1
  has_packages "$python" && return
  if ! "$python" -c 'import ensurepip' 2>/dev/null && may_install; then
    apt_install python3-venv python3-dev || true
  fi
  [ -x "$folder/environment/bin/python" ] || "$python" -m venv "$folder/environment" || return 1
  python=$folder/environment/bin/python
  has_packages "$python" && return
  say "installing ${packages[*]} into build/python/environment"
  "$python" -m pip install -q --disable-pip-version-check "${packages[@]}" && has_packages "$python"
}

# What was built stays, and only what changed is built again; with other arguments, all.
build_wheel() {
  local options=(--no-build-isolation --no-deps --no-index --disable-pip-version-check)
  local definition
  if [ "$*" != "$(cat "$folder/arguments" 2>/dev/null)" ]; then rm -rf "$folder"/build; fi
  printf %s "$*" >"$folder/arguments"
  rm -rf "$folder/wheel" "$folder/site"
  for definition; do options+=(-C "cmake.define.${definition#-D}"); done
  "$python" -m pip wheel "${options[@]}" -C "build-dir=$folder/build/{wheel_tag}" -w "$folder/wheel" examples/python &&
    "$python" -m pip install -q --no-deps --no-index --disable-pip-version-check --target "$folder/site" \
      "$folder"/wheel/*.whl
}

tests=examples/python/tests
run_tests() { PYTHONPATH=$folder/site "$python" -m pytest -q -p no:cacheprovider "$@"; }

part=
case ${1:-} in --wheel | --tests) part=$1 && shift ;; esac

find_build_tools
mkdir -p "$folder"
find_python || finish '' " Python 3.9 or newer with ${packages[*]}"
if [ "$part" != --tests ]; then
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs_that_fit)
  export CMAKE_BUILD_PARALLEL_LEVEL
  time build_wheel "$@" || finish ' [the wheel of examples/python]' ''
  set -- "$tests"
fi
[ "$part" = --wheel ] || run_tests "${@:-$tests}" || finish ' [the tests of examples/python]' ''
