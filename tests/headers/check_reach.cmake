# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D NVCC=... -D INCLUDE_DIR=... -D HEADERS=... [-D MUST_REACH=TRUE] -P check_reach.cmake
# Fails if one of the headers reaches one that it must not; with MUST_REACH, if one does not.

cmake_minimum_required(VERSION 3.24)

set(forbidden "/iostream$|/mdspan(\\.h)?$|/cub/device/|/cub/cub\\.cuh$|/thrust/|/nccl\\.h$|tiletranspose/(distributed|peers|streamed)\\.cuh$")

foreach(header IN LISTS HEADERS)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(WRITE reach_${name}.cu "#include <${header}>\n")
  execute_process(COMMAND ${NVCC} -std=c++17 -M -I ${INCLUDE_DIR} reach_${name}.cu
                  OUTPUT_VARIABLE reached COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "/[^ \n]+" reached "${reached}")
  list(LENGTH reached count)
  list(FILTER reached INCLUDE REGEX "${forbidden}")
  if(MUST_REACH AND NOT reached)
    message(FATAL_ERROR "<${header}> should have been seen as one of ${forbidden}")
  elseif(reached AND NOT MUST_REACH)
    list(JOIN reached "\n  " reached)
    message(FATAL_ERROR "<${header}> reaches\n  ${reached}")
  endif()
  message(STATUS "<${header}>: ${count} files, as expected")
endforeach()
