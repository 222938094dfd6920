#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Runs the GPU tests under compute-sanitizer's memcheck, racecheck, initcheck and synccheck:
#   tests/gpu/sanitize.sh [FOLDER [TESTS]]
# FOLDER has the test programs: build/tests/tests/gpu if left out. TESTS are Catch2's names and tags: if left out, every
# kernel path at small sizes, but for what provokes errors of CUDA. JOBS programs run at a time, as many as there are
# processors if that is not set. What the tools say stays in FOLDER/sanitizer. The exit status is 0 where all was clean.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. cmake/setup.sh
folder=${1:-build/tests/tests/gpu}
tests=${2:-[quick]~[provokes]}
logs=$folder/sanitizer
command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null ||
  fail "no compute-sanitizer on PATH or in /usr/local/cuda/bin"
nvidia-smi -L || fail "no GPU"
shopt -s nullglob
programs=("$folder"/*_test)
[ "${#programs[@]}" -gt 0 ] || fail "no tests in $folder; build them by tests/run.sh"
mkdir -p "$logs"
rm -f "$logs"/*

# check PROGRAM TOOL: a line that says how it went.
check() {
  local log=$logs/${1##*/}.$2.txt started=$SECONDS status=0 verdict=clean
  compute-sanitizer --tool "$2" --error-exitcode 99 "$1" "$tests" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    verdict="status $status" # 99: the tool found something; 4: all tests were skipped
  elif ! grep -Eq '^=+ (ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)' "$log"; then
    verdict="no summary"
  fi
  printf '%-12s %-10s %s, %d s; %s\n' "$verdict" "$2" "${1##*/}" $((SECONDS - started)) \
    "$(grep -E '^(test cases:|All tests passed)' "$log" | tail -1)"
}
export -f check
export logs tests

for program in "${programs[@]}"; do
  "$program" --list-tests "$tests" | grep -q '^0 matching' || printf '%s\n' "$program"
done >"$logs/programs"
# The slowest tool first.
for tool in racecheck initcheck memcheck synccheck; do
  sed "s/\$/ $tool/" "$logs/programs"
done | xargs -r -P "${JOBS:-$(nproc)}" -L 1 bash -c 'check "$@"' check | tee "$logs/report"

clean=$(grep -c '^clean ' "$logs/report" || true)
all=$((4 * $(wc -l <"$logs/programs")))
echo "$clean of $all runs are clean; what the tools said is in $logs"
[ "$all" -gt 0 ] && [ "$clean" -eq "$all" ]
