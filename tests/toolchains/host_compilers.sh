#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What host compilers do with the library, all warnings errors: the constexpr headers and a program of the emulator, as
# C++17 and C++20 and with AddressSanitizer; then each as the host compiler of nvcc, where that supports it;
# and clang as the compiler of CUDA itself. See README.md beside this file.
#   tests/toolchains/host_compilers.sh                     all of GCC 11 to 14 and Clang 16 to 19 on PATH
#   tests/toolchains/host_compilers.sh g++-13 clang++-18   these; root on a machine with apt installs what is not there
# CUDA is what run.sh got: the newest and the oldest. Without it the compilers are tested alone. Ends with 77 where a
# compiler that was asked for could not be had, which is an error in CI.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
. cmake/setup.sh
unset CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH # of the machine's own CUDA

work=$root/build/toolchains/host
mkdir -p "$work"
warnings='-Wall -Wextra -Werror'
for name in banks config layout partition policy smem symmetry version; do
  echo "#include <tiletranspose/$name.cuh>"
done >"$work/constexpr.cpp"
echo 'int main() {}' >"$work/empty.cu"

# The emulator's own words on the program that README shows, whose tile conflicts.
conflict='load +shared +4 +128 +32 +32\.00 +16384'

# Runs a command, whose output is shown where it fails.
quietly() { "$@" >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && false; }; }

check_alone() {
  local compiler=$1 standard sanitizer program=$work/emulated
  for standard in 17 20; do
    # shellcheck disable=SC2086 # a list of flags
    quietly "$compiler" -std=c++$standard $warnings -I include -fsyntax-only "$work/constexpr.cpp" || return
    for sanitizer in -fno-sanitize=all -fsanitize=address,undefined; do
      [ "$standard $sanitizer" != '20 -fsanitize=address,undefined' ] || continue
      # shellcheck disable=SC2086
      quietly "$compiler" -std=c++$standard -O1 $warnings "$sanitizer" -I include \
        tests/emulated/readme.cpp -o "$program" -pthread || return
      ASAN_OPTIONS=detect_stack_use_after_return=1 "$program" >"$work/log" 2>&1 || true
      grep -Eq "$conflict" "$work/log" || {
        cat "$work/log" >&2
        return 1
      }
    done
  done
}

# check_for_nvcc COMPILER CUDA: builds and runs the consumer's program. Clang warns of functions of CUDA's own headers
# that nobody uses, for nvcc does not name their folder as one of system headers.
check_for_nvcc() {
  quietly "$2/bin/nvcc" -ccbin "$1" -std=c++17 -arch=sm_90 -Werror=all-warnings \
    -Xcompiler=-Wall,-Wextra,-Werror,-Wno-unused-function \
    -I include tests/consume/project/main.cu -o "$work/consumer" &&
    LD_LIBRARY_PATH=$2/lib quietly "$work/consumer"
}

# check_as_cuda CLANG CUDA: everything, without nvcc. The toolkit's folder is named as one of system headers, too,
# because a machine may have links to another toolkit in its own.
check_as_cuda() {
  local clang=$1 cuda=$2 flags source
  flags="-x cuda --cuda-path=$cuda -isystem $cuda/include --cuda-gpu-arch=sm_90 -std=c++17 $warnings"
  flags+=" -Wno-unknown-cuda-version -I include"
  for source in include/tiletranspose/*.cuh; do
    case $source in */distributed.cuh) [ -f "$cuda/include/nccl.h" ] || continue ;; esac
    printf '#include <tiletranspose/%s>\n' "${source##*/}" >"$work/header.cu"
    # shellcheck disable=SC2086
    quietly "$clang" $flags -fsyntax-only "$work/header.cu" || return
  done
  for source in tests/toolchains/calls.cu tests/headers/nvrtc_kernel.cu; do
    # shellcheck disable=SC2086
    quietly "$clang" $flags -c "$source" -o "$work/unit.o" || return
  done
  # shellcheck disable=SC2086
  quietly "$clang" $flags tests/consume/project/main.cu -o "$work/consumer" -L "$cuda/lib" -lcudart &&
    LD_LIBRARY_PATH=$cuda/lib quietly "$work/consumer"
}

failed='' missing=''
# report WORDS COMMAND...
report() {
  local words=$1 started=$SECONDS
  shift
  if "$@"; then
    say "passed: $words ($((SECONDS - started)) s)"
  else
    say "FAILED: $words"
    failed+=" [$words]"
  fi
}

if [ $# -eq 0 ]; then
  for compiler in g++-{11,12,13,14} clang++-{16,17,18,19}; do
    if command -v "$compiler" >/dev/null; then set -- "$@" "$compiler"; fi
  done
fi
for compiler; do
  if ! command -v "$compiler" >/dev/null && may_install; then
    case $compiler in
      clang++-*) apt_install "clang-${compiler#*-}" "libclang-rt-${compiler#*-}-dev" ;;
      *) apt_install "$compiler" ;;
    esac || true
  fi
  if ! command -v "$compiler" >/dev/null; then
    say "no $compiler: it could not be had"
    missing+=" $compiler"
    continue
  fi
  report "$compiler" check_alone "$compiler"
  for cuda in "$root"/build/toolchains/cuda-*; do
    [ -e "$cuda/complete" ] || continue
    version=${cuda##*-}
    if "$cuda/bin/nvcc" -ccbin "$compiler" "$work/empty.cu" -c -o "$work/unit.o" >/dev/null 2>&1; then
      report "$compiler for nvcc $version" check_for_nvcc "$compiler" "$cuda"
    else
      say "nvcc $version does not support $compiler"
    fi
    # Clang 19 knows CUDA up to 12.5 only.
    if [[ $compiler == clang++-19 && $version == 12.4 ]]; then
      report "$compiler as the compiler of CUDA $version" check_as_cuda "$compiler" "$cuda"
    fi
  done
done
finish "$failed" "$missing"
