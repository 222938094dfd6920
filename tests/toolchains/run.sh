#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds and tests with other CUDA toolkits than the machine's, all warnings errors: the oldest that the library
# supports, and the newest. See README.md beside this file. Run tests/run.sh before: it finds or installs what all
# tests need.
#   tests/toolchains/run.sh          both
#   tests/toolchains/run.sh 13.2     another one, of CUDA 13
# Ends with 77 where a toolkit could not be had, which is an error in CI.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. cmake/setup.sh
. tests/toolchains/get_cuda.sh

# The project's own tests, as far as they depend on the toolkit; CMakeLists.txt beside this file says what is built.
tests='^(headers\.nvrtc_|headers\.needs_|emulated\.by_nvcc|consume\.|spill\.(control|3_bytes|4_bytes|31_bytes)|toolchains\.)'

# check_cuda VERSION FOLDER
check_cuda() {
  local build=build/toolchains/$1 cuda=$2
  configure "$build" -D CMAKE_CUDA_COMPILER="$cuda/bin/nvcc" -D CUDAToolkit_ROOT="$cuda" \
    -D TILETRANSPOSE_BUILD_EXAMPLES=OFF -D TILETRANSPOSE_BUILD_BENCHMARKS=OFF \
    -D TILETRANSPOSE_OPTIMIZE_GPU_TESTS=OFF -D TILETRANSPOSE_ALL_CHECKS=ON &&
    cmake --build "$build" --parallel "$(jobs_that_fit)" --target toolchain &&
    LD_LIBRARY_PATH=$cuda/lib ctest --test-dir "$build" --parallel "$(jobs_that_fit)" --tests-regex "$tests" \
      --output-on-failure --no-tests=error
}

find_build_tools
[ $# -gt 0 ] || set -- 12.4 13.5
failed='' missing=''
for version; do
  cuda=$PWD/build/toolchains/cuda-$version
  get_cuda "$version" "$cuda" || {
    say "no CUDA $version: its packages could not be had"
    missing+=" CUDA $version"
    continue
  }
  say "CUDA $version"
  time (check_cuda "$version" "$cuda") || failed+=" [CUDA $version]"
done

finish "$failed" "$missing"
