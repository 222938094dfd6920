# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D NVCC=... -D ARCHITECTURE=90 -D INCLUDE_DIR=... [-D FAST=--Ofast-compile=max] -D SOURCE=case.cu -P check_case.cmake

cmake_minimum_required(VERSION 3.24)

cmake_path(GET SOURCE STEM name)
file(READ ${SOURCE} text)
if(NOT text MATCHES "// expect( alone)?: ([^\n]+)")
  message(FATAL_ERROR "${SOURCE} does not say which sentence it expects")
endif()
set(alone "${CMAKE_MATCH_1}")
set(expected "${CMAKE_MATCH_2}")
set(flags "")
if(text MATCHES "// flags: ([^\n]+)")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
endif()

# The front end of nvcc says all there is to say; PTX is the first thing that it writes, optimized as little as it can.
set(compile ${NVCC} -std=c++17 -arch=compute_${ARCHITECTURE} -ptx ${FAST} ${flags} -o ${name}.ptx ${SOURCE})

execute_process(COMMAND ${compile} -Werror=all-warnings -I ${INCLUDE_DIR} RESULT_VARIABLE status
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The control must compile, but:\n${output}")
endif()

# An installed library is a system header, in which nvcc does not warn.
execute_process(COMMAND ${compile} -isystem ${INCLUDE_DIR} -D MUST_FAIL RESULT_VARIABLE status
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "The misuse compiled; expected: ${expected}")
endif()
set(sentence "${expected}")
if(expected MATCHES "^tt: ")
  string(PREPEND sentence "\"") # as a static_assert says it
endif()
string(FIND "${output}" "${sentence}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "Expected the compiler to say\n  ${expected}\nbut it said\n${output}")
endif()
string(REGEX MATCHALL ": error" errors "${output}")
list(LENGTH errors count)
if(alone AND count GREATER 1)
  message(FATAL_ERROR "Expected the compiler to say no more than\n  ${expected}\nbut it said\n${output}")
endif()
message(STATUS "The compiler says: ${expected}")
