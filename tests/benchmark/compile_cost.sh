#!/bin/sh
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What including the library and calling it once costs nvcc, beside an empty file. Rounds alternate
# between the files, medians are compared. NVCC, ARCH and ROUNDS may be set in the environment.
# Ends in an error when a ratio is above its goal.
set -eu

nvcc=${NVCC:-nvcc}
arch=${ARCH:-sm_90}
rounds=${ROUNDS:-5}
include=$(cd "$(dirname "$0")/../../include" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source_with_call() {
  cat << EOF
#include <tiletranspose/transpose.cuh>
cudaError_t call($1* out, const $1* in, std::size_t nx, std::size_t ny) {
  return $2(out, in, nx, ny);
}
EOF
}
: > "$work/empty.cu"
source_with_call float 'tt::transpose<float, 32, 8>' > "$work/explicit.cu"
source_with_call float 'tt::transpose' > "$work/tuned.cu"
source_with_call 'unsigned char' 'tt::transpose' > "$work/bytes.cu"

for _ in $(seq "$rounds"); do
  for name in empty explicit tuned bytes; do
    start=$(date +%s%N)
    "$nvcc" -std=c++17 -arch="$arch" -I"$include" -c "$work/$name.cu" -o "$work/$name.o"
    echo $((($(date +%s%N) - start) / 1000000)) >> "$work/$name.ms"
  done
done

median() { sort -n "$work/$1.ms" | sed -n "$((rounds / 2 + 1))p"; }

"$nvcc" --version | sed -n 's/^Cuda compilation tools, /nvcc /p'
echo
echo '| file | nvcc -c, ms | times an empty file | goal |'
echo '|---|---|---|---|'
empty=$(median empty)
echo "| empty | $empty | 1.00 | |"
missed=0
for row in 'explicit 2 transpose<float,32,8>' 'tuned 5 tuned transpose' \
  'bytes 5.8 tuned transpose of bytes'; do
  name=${row%% *}
  rest=${row#* }
  goal=${rest%% *}
  ms=$(median "$name")
  awk -v ms="$ms" -v empty="$empty" -v goal="$goal" -v call="${rest#* }" 'BEGIN {
    printf "| include and one call: %s | %d | %.2f | %s |\n", call, ms, ms / empty, goal
    exit ms > goal * empty
  }' || missed=1
done
exit $missed
