# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D HEADERS=folder -P check_nodiscard.cmake
#
# Functions of the public headers that return a status are declared so that nobody drops it unseen.

cmake_minimum_required(VERSION 3.24)

set(checked 0)
file(GLOB headers ${HEADERS}/*.cuh)
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX MATCHALL "cudaError_t [a-z_0-9]+\\(" functions "${text}")
  string(REGEX MATCHALL "\n\\[\\[nodiscard\\]\\] (inline )?cudaError_t [a-z_0-9]+\\(" kept "${text}")
  list(LENGTH functions count)
  list(LENGTH kept kept_count)
  if(NOT count EQUAL kept_count)
    message(SEND_ERROR "${header}: ${count} functions return a status, ${kept_count} of them "
                       "[[nodiscard]]")
  endif()
  math(EXPR checked "${checked} + ${count}")
endforeach()
if(checked LESS 30)
  message(FATAL_ERROR "Only ${checked} functions were found in ${HEADERS}")
endif()
message(STATUS "${checked} functions return a status, all of them [[nodiscard]]")
