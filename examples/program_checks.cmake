# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the examples' check.cmake share: each checks PROGRAM from outside, as its users see it, in a folder of
# its own. A check is run as
#   cmake -D CASE=... -D PROGRAM=... -D SOURCES=directory -D WORK=directory -P check.cmake

cmake_minimum_required(VERSION 3.24)

get_filename_component(program_name ${PROGRAM} NAME_WE)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# Runs the program with the arguments; sets out, err, and stops unless it exits with `status`.
macro(run_program status)
  execute_process(COMMAND ${PROGRAM} ${ARGN} WORKING_DIRECTORY ${WORK}
                  RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result STREQUAL "${status}")
    message(FATAL_ERROR "${program_name} ${ARGN}: exit status ${result}, expected ${status}\n${out}${err}")
  endif()
endmacro()

# Every pattern must be found in the text.
function(expect text)
  foreach(pattern IN LISTS ARGN)
    if(NOT text MATCHES "${pattern}")
      message(FATAL_ERROR "expected ${pattern} in\n${text}")
    endif()
  endforeach()
endfunction()

# The program must refuse the arguments with one line that matches `sentence`, and write nothing.
function(expect_refusal sentence)
  file(GLOB_RECURSE before ${WORK}/*)
  run_program(2 ${ARGN})
  if(NOT err MATCHES "^${program_name}: [^\n]*${sentence}[^\n]*\n$" OR NOT out STREQUAL "")
    message(
      FATAL_ERROR "${program_name} ${ARGN} says\n${out}${err}\nexpected one line with\n${sentence}")
  endif()
  file(GLOB_RECURSE after ${WORK}/*)
  if(NOT before STREQUAL after)
    message(FATAL_ERROR "${program_name} ${ARGN} left files behind: ${after}")
  endif()
endfunction()
