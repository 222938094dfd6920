# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D PROGRAM=... -D DOCUMENT=... -P check_cost.cmake
# Every line that PROGRAM prints, of the usual matrix and of a large one, stands in DOCUMENT.

cmake_minimum_required(VERSION 3.24)

file(READ ${DOCUMENT} document)
foreach(arguments IN ITEMS "32768 4" "262144 4")
  separate_arguments(list UNIX_COMMAND "${arguments}")
  execute_process(COMMAND ${PROGRAM} ${list} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
  if(table STREQUAL "")
    message(FATAL_ERROR "${PROGRAM} prints nothing")
  endif()
  string(FIND "${document}" "${table}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${DOCUMENT} lacks what distributed_cost ${arguments} prints:\n${table}")
  endif()
endforeach()
execute_process(COMMAND ${PROGRAM} 0 4 RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 2)
  message(FATAL_ERROR "${PROGRAM} takes a matrix without elements")
endif()
