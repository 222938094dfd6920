# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D NVCC=... -D ARCHITECTURE=90 -D INCLUDE_DIR=... -D NAME=... -D HEADER=reverse.cuh -D ARGUMENTS=...
#       -D CALL=... -D MOST=3 [-D FLAGS=...] -P check_kernels.cmake
# Fails if a translation unit with this one call compiles more than MOST kernels: each costs the caller time and memory.

cmake_minimum_required(VERSION 3.24)

file(WRITE kernels_${NAME}.cu "#include <tiletranspose/${HEADER}>\n"
     "cudaError_t call(${ARGUMENTS}) { return ${CALL}; }\n")
execute_process(COMMAND ${NVCC} -std=c++17 -arch=compute_${ARCHITECTURE} -I ${INCLUDE_DIR} ${FLAGS} -ptx
                        -o kernels_${NAME}.ptx kernels_${NAME}.cu COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS kernels_${NAME}.ptx kernels REGEX "\\.entry ")
list(LENGTH kernels count)
list(JOIN kernels "\n  " kernels)
if(count EQUAL 0 OR count GREATER MOST)
  message(FATAL_ERROR "${CALL} compiles ${count} kernels, not 1 to ${MOST}:\n  ${kernels}")
endif()
message(STATUS "${CALL} compiles ${count} kernels, at most ${MOST}")
