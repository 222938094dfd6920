#!/usr/bin/env bash
# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# measure.sh ON_CPU ON_GPU FOLDER: what the bank model, the emulator and this machine's GPU say of the same
# kernels. Needs Nsight Compute (ncu) and leave to read counters; writes cpu.jsonl and gpu.csv to FOLDER and
# prints the table.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
on_cpu=$1 on_gpu=$2 folder=$3
mkdir -p "$folder"

wanted=(
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
  smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
  smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum
  smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum
  l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
  l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
  l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
  l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
)
# GPUs differ in the counters that they have.
ncu --query-metrics 2>/dev/null | cut -d' ' -f1 >"$folder/known.txt"
metrics=()
for metric in "${wanted[@]}"; do
  if grep -qx "${metric%.*}" "$folder/known.txt"; then metrics+=("$metric"); fi
done

"$on_cpu" >"$folder/cpu.jsonl"
ncu --clock-control none --csv --page raw --metrics "$(IFS=,; echo "${metrics[*]}")" "$on_gpu" \
  >"$folder/gpu.csv"
python3 "$here/table.py" "$folder/cpu.jsonl" "$folder/gpu.csv"
