# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash

# Sourced by tests/run.sh, examples/run.sh, tests/toolchains/*.sh and tests/gpu/sanitize.sh, which takes its messages
# alone: finds the tools that a build needs, or installs them.

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# finish FAILED MISSING: ends a script whose tools are not to be had everywhere, with 77 where some were missing; in CI
# that is an error, too.
finish() {
  [ -z "$1" ] || fail "failed:$1"
  [ -n "$2" ] || exit 0
  [ "${CI:-}" != true ] || fail "not tested:$2"
  say "skipped:$2"
  exit 77
}

# Root on a machine with apt may install; anybody else is told what is missing.
may_install() { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; }

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

apt_install() {
  say "installing $*"
  apt_get update && apt_get install -y --no-install-recommends "$@"
}

# version_at_least WANTED ACTUAL
version_at_least() { printf '%s\n%s\n' "$1" "$2" | sort -V -C; }

cmake_is_new_enough() {
  command -v cmake >/dev/null &&
    version_at_least 3.24 "$(cmake --version | sed -n 's/^cmake version //p')"
}

find_nvcc() {
  if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null; then
    [ -x /usr/local/cuda/bin/nvcc ] || fail "no nvcc on PATH or in /usr/local/cuda/bin"
    PATH=$PATH:/usr/local/cuda/bin
  fi
}

find_compiler() {
  [ -n "${CXX:-}" ] || command -v c++ g++ clang++ >/dev/null || {
    may_install && apt_install g++
  } || fail "no C++ compiler on PATH"
}

find_cmake() {
  if ! cmake_is_new_enough && may_install; then
    apt_install cmake || true
    hash -r
  fi
  # An older distribution has an older CMake; Python's package of it needs no root.
  if ! cmake_is_new_enough && [ -x build/tools/bin/cmake ]; then
    PATH=$PWD/build/tools/bin:$PATH
  elif ! cmake_is_new_enough; then
    if ! python3 -c 'import ensurepip' 2>/dev/null && may_install; then
      apt_install python3-venv || true
    fi
    say "installing CMake into build/tools"
    python3 -m venv build/tools && build/tools/bin/pip install -q 'cmake>=3.24,<4' &&
      PATH=$PWD/build/tools/bin:$PATH
  fi
  cmake_is_new_enough || fail "CMake 3.24 or newer is needed"
}

# With make, emulated tests take half as long again (tests/emulated/CMakeLists.txt), so that Ninja is worth installing.
find_generator() {
  if [ -z "${CMAKE_GENERATOR:-}" ] && ! command -v ninja >/dev/null && may_install; then
    apt_install ninja-build || true
    hash -r
  fi
  command -v ninja make >/dev/null || fail "neither ninja nor make is on PATH"
  if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
  fi
}

# configure FOLDER CMAKE_ARGUMENT...: a folder that was configured once keeps its generator.
configure() {
  local folder=$1
  shift
  if [ -f "$folder/CMakeCache.txt" ]; then
    unset CMAKE_GENERATOR
  fi
  cmake -S . -B "$folder" "$@"
}

# As many compilers or tests at once as there are cores, and memory for: each takes less than 2 GB. A container may have
# less memory than its machine; of what it uses, the kernel gives files back that nobody has read for a while.
# jobs_that_fit [PROC CGROUP]: other folders than the machine's.
jobs_that_fit() {
  local proc=${1:-/proc} cgroup=${2:-/sys/fs/cgroup} jobs kilobytes limit used files
  jobs=$(nproc)
  kilobytes=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' "$proc/meminfo")
  if limit=$(cat "$cgroup/memory.max" 2>/dev/null) && [ "$limit" != max ]; then
    used=$(cat "$cgroup/memory.current")
    files=$(sed -n 's/^inactive_file //p' "$cgroup/memory.stat")
    used=$((used - ${files:-0}))
    [ $(((limit - used) / 1024)) -gt "$kilobytes" ] || kilobytes=$(((limit - used) / 1024))
  fi
  [ "$jobs" -le $((kilobytes / 2097152)) ] || jobs=$((kilobytes / 2097152))
  echo $((jobs > 1 ? jobs : 1))
}

find_build_tools() {
  find_nvcc
  find_compiler
  find_cmake
  find_generator
}
