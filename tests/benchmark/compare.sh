#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Is one tree as fast as another? Builds the benchmark programs of both, runs them in turns (old, new,
# old, new), and prints the ratio of medians: a geometric mean, and every case beyond 2 %.
#   tests/benchmark/compare.sh [OPTION]... OLD NEW [-- ARGUMENT...]
# OLD and NEW are commits, or folders that hold a tree. What stands behind -- goes to the programs.
#   --program NAME       only this program; may be given several times (all that both trees have and that write JSON)
#   --benchmark COMMIT   measure both trees with the programs of this one
#   --turns N            how often each side runs (2)
#   --limit PERCENT      cases beyond this are listed (2)
#   --keep FOLDER        keep the programs and their results there
#   --build FOLDER       build the programs into this folder, and stop
#   --run FOLDER         run what was built there, with no OLD and NEW; needs neither Git nor a compiler
# The machine that builds and the one that has the GPU need not be the same: build on one, and take the folder
# and this tree to the other. JOBS in the environment sets the number of compilers at a time.
#   tests/benchmark/compare.sh --program tiletranspose_small_benchmark main~10 main -- --rounds=15

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/cmake/setup.sh"

programs=() trees=() arguments=()
turns=2 limit=2 action=both folder='' benchmark=''
while [ $# -gt 0 ]; do
  case $1 in
    --program | --benchmark | --turns | --limit | --keep | --build | --run)
      [ $# -ge 2 ] || fail "$1 takes a value"
      ;;&
    --program) programs+=("$2") && shift ;;
    --benchmark) benchmark=$2 && shift ;;
    --turns) turns=$2 && shift ;;
    --limit) limit=$2 && shift ;;
    --keep) folder=$2 && shift ;;
    --build) action=build folder=$2 && shift ;;
    --run) action=run folder=$2 && shift ;;
    --) shift && arguments=("$@") && break ;;
    -*) fail "unknown option $1; they stand at the top of $0" ;;
    *) trees+=("$([ -d "$1" ] && cd "$1" && pwd || printf %s "$1")") ;;
  esac
  shift
done
if [ "$action" = run ]; then
  [ ${#trees[@]} -eq 0 ] || fail "--run takes what was built; it builds no ${trees[0]}"
else
  [ ${#trees[@]} -eq 2 ] || fail "two trees are compared; usage: $0 OLD NEW"
fi

[ "$action" = build ] || command -v python3 >/dev/null || fail "python3 reads the results; it is not here"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "${folder:=$scratch/kept}"
folder=$(cd "$folder" && pwd)

# take TREE FOLDER PATH...: copies these paths of a commit, or of a folder with a tree.
take() {
  local tree=$1 to=$2
  shift 2
  mkdir -p "$to"
  if [ -d "$tree" ]; then
    tar -C "$tree" -c "$@" | tar -C "$to" -x
  else
    git -C "$root" rev-parse --quiet --verify "$tree^{commit}" >/dev/null ||
      fail "$tree is neither a commit nor a folder"
    git -C "$root" archive "$tree" "$@" | tar -C "$to" -x
  fi
}

# build SIDE TREE: leaves the programs in $folder/SIDE.
build() {
  local side=$1 tree=$2 source=$scratch/$1 binary=$scratch/$1-build program
  take "$tree" "$source" CMakeLists.txt cmake include tests/benchmark
  if [ -n "$benchmark" ]; then
    rm -rf "$source/tests/benchmark"
    take "$benchmark" "$source" tests/benchmark
  fi
  say "building the benchmark of $tree"
  cmake -S "$source" -B "$binary" -DTILETRANSPOSE_BUILD_TESTS=OFF \
    -DTILETRANSPOSE_BUILD_EXAMPLES=OFF -DTILETRANSPOSE_BUILD_BENCHMARKS=ON >"$scratch/log" ||
    { cat "$scratch/log" && fail "$tree could not be configured"; }
  cmake --build "$binary" --parallel "${JOBS:-$(nproc)}" ${programs[@]+--target "${programs[@]}"} \
    >"$scratch/log" || { cat "$scratch/log" && fail "$tree could not be built"; }
  rm -rf "${folder:?}/$side"
  mkdir "$folder/$side"
  for program in "$binary"/tests/benchmark/tiletranspose_*; do
    if [ -f "$program" ] && [ -x "$program" ]; then cp "$program" "$folder/$side"; fi
  done
}

# run PROGRAM: in turns, so that clocks and temperature drift for both alike.
run() {
  local program=$1 turn side out
  for turn in $(seq "$turns"); do
    for side in old new; do
      out=$folder/results/$program.$side.$turn.json
      say "$program, $side, turn $turn"
      "$folder/$side/$program" --benchmark_out="$out" --benchmark_out_format=json \
        ${arguments[@]+"${arguments[@]}"} >"$folder/results/$program.$side.$turn.txt" ||
        say "$program of the $side tree ends with an error; see results/$program.$side.$turn.txt"
      [ -s "$out" ] || fail "$program of the $side tree has written no results; is there a GPU?"
    done
  done
}

if [ "$action" != run ]; then
  cd "$root"
  find_build_tools
  build old "${trees[0]}"
  build new "${trees[1]}"
fi
[ "$action" != build ] || exit 0

common=()
for program in "$folder"/new/*; do
  name=${program##*/}
  if [[ $name == *_tune || $name == *_permute_benchmark || $name == *_interleave_benchmark ]]; then
    say "$name prints tables of its own and is not compared"
  elif [ ! -x "$folder/old/$name" ]; then
    say "only the new tree has $name"
  elif [ ${#programs[@]} -eq 0 ] || [[ " ${programs[*]} " == *" $name "* ]]; then
    common+=("$name")
  fi
done
[ ${#common[@]} -gt 0 ] || fail "the trees have no benchmark program in common"

rm -rf "$folder/results"
mkdir "$folder/results"
for name in "${common[@]}"; do run "$name"; done
python3 "$here/compare.py" --limit "$limit" --old "$folder"/results/*.old.*.json \
  --new "$folder"/results/*.new.*.json
