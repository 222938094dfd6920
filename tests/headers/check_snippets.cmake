# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D HEADERS=folder -D SNIPPETS=... -P check_snippets.cmake
# Every statement that a comment of a public header shows must stand in SNIPPETS, which is compiled: indented
# lines that end in a semicolon or a brace, and what stands between \code and \endcode. Indentation and
# comments behind the code may differ.

cmake_minimum_required(VERSION 3.24)

# The lines of a file without their indentation and the comments behind them; documentation starts with "doc".
# CMake's lists would take some characters for their own.
function(read_lines file result)
  file(READ ${file} text)
  string(REPLACE ";" "<semicolon>" text "${text}")
  string(REPLACE "[" "<open>" text "${text}")
  string(REPLACE "]" "<close>" text "${text}")
  string(REGEX REPLACE "\n +" "\n" text "${text}")
  string(REPLACE "\n///" "\ndoc" text "${text}")
  string(REGEX REPLACE " +//[^\n]*" "" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

read_lines(${SNIPPETS} known)
file(GLOB headers ${HEADERS}/*.cuh)
set(checked 0)
foreach(header IN LISTS headers)
  read_lines(${header} lines)
  foreach(line IN LISTS lines)
    set(code "")
    if(line MATCHES "^doc     +(.*)$")
      set(code "${CMAKE_MATCH_1}")
    elseif(line MATCHES "code (.*) .endcode$")
      set(code "${CMAKE_MATCH_1}")
    endif()
    if(code MATCHES "(<semicolon>|{|})$")
      if(NOT code IN_LIST known)
        message(SEND_ERROR "${header} shows what nothing compiles: ${code}")
      endif()
      math(EXPR checked "${checked} + 1")
    endif()
  endforeach()
endforeach()
if(checked LESS 100)
  message(FATAL_ERROR "Only ${checked} lines of code were found in ${HEADERS}")
endif()
message(STATUS "${checked} lines of code in comments, all of them compiled")
