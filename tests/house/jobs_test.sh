#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# jobs_test.sh SOURCE WORK: what jobs_that_fit of cmake/setup.sh makes of the memory of a machine of 16 cores.
set -euo pipefail
. "$1/cmake/setup.sh"
rm -rf "$2"
mkdir -p "$2/proc" "$2/cgroup"
cd "$2"
nproc() { echo 16; }

# expect JOBS AVAILABLE [LIMIT USED INACTIVE_FILES], all in GiB
expect() {
  local gib=$((1 << 30)) jobs
  printf 'MemTotal: %d kB\nMemAvailable: %d kB\n' $((64 << 20)) $(($2 << 20)) >proc/meminfo
  rm -f cgroup/*
  if [ $# -gt 2 ]; then
    [ "$3" = max ] && echo max >cgroup/memory.max || echo $(($3 * gib)) >cgroup/memory.max
    echo $(($4 * gib)) >cgroup/memory.current
    printf 'file %d\ninactive_file %d\n' $(($5 * gib)) $(($5 * gib)) >cgroup/memory.stat
  fi
  jobs=$(jobs_that_fit proc cgroup)
  [ "$jobs" = "$1" ] || fail "$jobs jobs instead of $1 for: $*"
}

expect 16 60
expect 5 10
expect 1 1
expect 5 10 max 50 0
expect 4 60 10 1 0   # a container with less memory than its machine
expect 1 60 10 10 0  # that uses all of it
expect 4 60 10 10 9  # but for files that the kernel holds because there is room
expect 3 6 10 10 9   # which the machine lacks
