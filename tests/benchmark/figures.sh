#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Measures every figure that the documents show, on the GPU at hand; some minutes:
#   tests/benchmark/figures.sh OUT [FAMILY...]    families: large small permutes planes parts compile tune; all if left out
# OUT is a folder, which is made. What the programs print goes there and to the screen, as do their tables and JSON files,
# from which draw_speed.py and draw_permutes.py draw. BUILD has the programs: build/tests if it is not set. The exit status
# is not 0 where a program failed; the others run nonetheless.

set -euo pipefail
[ $# -gt 0 ] || { sed -n '5,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. cmake/setup.sh
programs=${BUILD:-build/tests}/tests/benchmark
[ $# -gt 0 ] || set -- large small permutes planes parts compile tune

[ "$*" = compile ] || nvidia-smi -L 2>/dev/null || fail "no GPU"

failed=''
# run FILE COMMAND...: what it prints goes to FILE.txt.
run() {
  local file=$out/$1.txt started=$SECONDS
  shift
  if "$@" 2>&1 | tee "$file"; then
    say "${file##*/}: $((SECONDS - started)) s"
  else
    failed+=" ${file##*/}"
  fi
}
# google NAME PROGRAM: one of those that use Google Benchmark.
google() {
  run "$1" "$programs/$2" --rounds=5 --table_out="$out/$1.md" --benchmark_out="$out/$1.json"
}

for family; do
  case $family in
    large)
      google transposes tiletranspose_benchmark
      google reverses tiletranspose_reverse_benchmark
      ;;
    small) run small "$programs/tiletranspose_small_benchmark" --benchmark_out="$out/small.json" ;;
    permutes)
      run permutes "$programs/tiletranspose_permute_benchmark" --json="$out/permutes.json"
      run permutes_random "$programs/tiletranspose_permute_benchmark" --random=50
      run permutes_small "$programs/tiletranspose_permute_benchmark" --small=50
      ;;
    planes) run planes "$programs/tiletranspose_interleave_benchmark" 256 ;;
    parts) run parts "$programs/tiletranspose_benchmark_parts" --rounds=5 ;;
    compile) run compile tests/benchmark/compile_cost.sh ;;
    tune) run tune "$programs/tiletranspose_tune" ;;
    *) fail "no family: $family" ;;
  esac
done
[ -z "$failed" ] || fail "failed:$failed"
