# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D NVCC=... -D ARCHITECTURES=80-real;90 -D INCLUDE_DIR=... -D SOURCE=... [-D DEFINITIONS=-DFUSED;...]
#       [-D MUST_SPILL=TRUE] -P check_spills.cmake

cmake_minimum_required(VERSION 3.24)

set(targets "")
foreach(architecture IN LISTS ARCHITECTURES)
  if(architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
    list(APPEND targets -gencode=arch=compute_${CMAKE_MATCH_1},code=sm_${CMAKE_MATCH_1})
  else()
    list(APPEND targets -arch=${architecture})
  endif()
endforeach()
list(REMOVE_DUPLICATES targets)

# No host code: a fatbin is what ptxas makes for all targets.
execute_process(COMMAND ${NVCC} -std=c++17 ${targets} -Xptxas -v -I ${INCLUDE_DIR}
                        ${DEFINITIONS} -fatbin -o /dev/null ${SOURCE}
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${output}")
endif()

# ptxas names a function, then says on a line of its own what that function spills. A stack frame
# means an array that found no place in registers, which is as slow.
string(REGEX REPLACE "[][;]" "_" output "${output}")
string(REPLACE "\n" ";" lines "${output}")
set(kernels 0)
set(reports 0)
set(spills "")
foreach(line IN LISTS lines)
  if(line MATCHES "Compiling entry function '([^']+)' for '([^']+)'")
    math(EXPR kernels "${kernels} + 1")
    set(kernel "${CMAKE_MATCH_1} (${CMAKE_MATCH_2})")
  elseif(line MATCHES "([0-9]+) bytes stack.*, ([0-9]+) bytes spill st.*, ([0-9]+) bytes spill lo")
    math(EXPR reports "${reports} + 1")
    if(CMAKE_MATCH_1 GREATER 0 OR CMAKE_MATCH_2 GREATER 0 OR CMAKE_MATCH_3 GREATER 0)
      string(APPEND spills "\n  ${kernel}: ${line}")
    endif()
  endif()
endforeach()

if(kernels EQUAL 0 OR reports LESS kernels)
  message(FATAL_ERROR "ptxas reported on ${reports} of ${kernels} kernels:\n${output}")
elseif(MUST_SPILL AND NOT spills)
  message(FATAL_ERROR "The spills of ${SOURCE} were not seen:\n${output}")
elseif(spills AND NOT MUST_SPILL)
  message(FATAL_ERROR "Spills with ${DEFINITIONS}:${spills}")
endif()
message(STATUS "${kernels} kernels, spills: ${spills}")
