#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finds or installs what the tests need, builds them in build/tests and runs all that this machine
# can run; tests that need a GPU are skipped where none is. Arguments go to CMake, which remembers
# them:
#   tests/run.sh -DTILETRANSPOSE_ALL_ARCHITECTURES=ON
#   tests/run.sh -DCMAKE_CUDA_ARCHITECTURES=80 -DCMAKE_CUDA_STANDARD=20

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/setup.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch" # apt reads its lists as a user of its own

have_catch2() {
  mkdir -p "$scratch/probe"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.24)' 'project(probe LANGUAGES NONE)' \
    'find_package(Catch2 3.3 REQUIRED)' >"$scratch/probe/CMakeLists.txt"
  cmake -S "$scratch/probe" -B "$scratch/probe/build" "$@" >/dev/null 2>&1
}

# Installs Catch2 from this release of the distribution or, where that has only version 2, from its
# backports. Apt works on a copy of the machine's package sources with the backports added, so that
# the machine's own stay as they are.
install_catch2() {
  local codename file candidate
  codename=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-none}")
  mkdir -p "$scratch"/{parts,lists/partial,cache/archives/partial}
  touch "$scratch/sources.list"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [ -f "$file" ] || continue
    [ "$file" = /etc/apt/sources.list ] || set -- "$scratch/parts/${file##*/}"
    sed -E -e "/^deb\s.*\s$codename\s/{p;s/\s$codename\s/ $codename-backports /}" \
      -e "s/^Suites:(.*\s)?$codename(\s.*)?$/& $codename-backports/" \
      "$file" >"${1:-$scratch/sources.list}"
    set --
  done
  local options=(-o "Dir::Etc::SourceList=$scratch/sources.list"
    -o "Dir::Etc::SourceParts=$scratch/parts"
    -o "Dir::State::Lists=$scratch/lists" -o "Dir::Cache=$scratch/cache")

  apt_get "${options[@]}" update || true # a third party's source may have no backports
  candidate=$(apt-cache "${options[@]}" policy catch2 | sed -n 's/^ *Candidate: //p')
  version_at_least 3.3 "${candidate/(none)/0}" || options+=(-t "$codename-backports")
  apt_get "${options[@]}" install -y --no-install-recommends catch2
}

# gpu_says FACT: what nvidia-smi says of each GPU, a line each; nothing where it finds none.
gpu_says() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2>/dev/null || true; }

# As many tests at once as there are cores and memory for, the GPU's included: but for the large ones, which run alone,
# each takes about 1 GB of that. A GPU whose user keeps it to one process takes one test.
tests_that_fit() {
  local jobs megabytes
  jobs=$(jobs_that_fit)
  megabytes=$(gpu_says memory.free | sort -n | sed -n '1s/^[0-9]*$/&/p')
  [ -z "$megabytes" ] || [ "$jobs" -le $((megabytes / 1024)) ] || jobs=$((megabytes / 1024))
  case $(gpu_says compute_mode) in *Exclusive*) jobs=1 ;; esac
  echo $((jobs > 1 ? jobs : 1))
}

find_build_tools
if ! have_catch2 "$@" && may_install; then
  say "installing Catch2"
  install_catch2 || say "apt has no Catch2 3; CMake downloads it"
fi

# The benchmark is no test, and without a GPU nothing runs the GPU tests; .ci/run builds them all nonetheless, to see
# them compile.
if [ ! -f build/tests/CMakeCache.txt ]; then
  nvidia-smi -L >/dev/null 2>&1 ||
    set -- -DTILETRANSPOSE_BUILD_GPU_TESTS=OFF -DTILETRANSPOSE_OPTIMIZE_GPU_TESTS=OFF "$@"
  set -- -DTILETRANSPOSE_BUILD_BENCHMARKS=OFF "$@"
fi
configure build/tests "$@"
cmake --build build/tests --parallel "$(jobs_that_fit)"
ctest --test-dir build/tests --parallel "$(tests_that_fit)" --timeout 300 --output-on-failure --no-tests=error
