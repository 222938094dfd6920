#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Configures, builds and runs the main example; arguments go to the example.

set -euo pipefail
from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/setup.sh

find_build_tools
configure build/examples -DTILETRANSPOSE_BUILD_TESTS=OFF -DTILETRANSPOSE_BUILD_BENCHMARKS=OFF
cmake --build build/examples --parallel "$(nproc)" --target raster

program=$PWD/build/examples/examples/raster/raster
cd "$from" # the user's paths are relative to where the user is
"$program" "$@"
