# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sets CMAKE_CUDA_ARCHITECTURES to the GPUs of this machine, or to compute capability 9.0 where there is none. What
# nvidia-smi prints when it fails may have numbers in it, so only lines that are a compute capability count.
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                OUTPUT_VARIABLE lines RESULT_VARIABLE result ERROR_QUIET)
set(CMAKE_CUDA_ARCHITECTURES 90)
if(result EQUAL 0)
  string(REGEX REPLACE "[ \t\r]*\n[ \t]*" ";" lines "${lines}")
  list(FILTER lines INCLUDE REGEX "^[0-9]+\\.[0-9]$")
  list(TRANSFORM lines REPLACE "\\." "")
  list(REMOVE_DUPLICATES lines)
  if(lines)
    set(CMAKE_CUDA_ARCHITECTURES ${lines})
  endif()
endif()
