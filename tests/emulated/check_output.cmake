# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D PROGRAM=... -D README=... -P check_output.cmake
# PROGRAM must end with 1 and print what README shows, line by line: places in the sources,
# too, which move when these are edited.

cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(NOT status EQUAL 1)
  message(FATAL_ERROR "The program ended with ${status}, not 1:\n${output}")
endif()
file(READ ${README} text)
string(FIND "${text}" "\n```\n${output}```\n" position)
if(output STREQUAL "" OR position EQUAL -1)
  message(FATAL_ERROR "${README} does not show what the program prints:\n${output}")
endif()
