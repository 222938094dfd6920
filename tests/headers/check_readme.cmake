# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D README=... -D SNIPPETS=... [-D LANGUAGE=cuda] -P check_readme.cmake
# Every line of the code in README that is fenced as LANGUAGE must stand in SNIPPETS, which is compiled.
# Indentation may differ, for README shows some lines without the function around them.

cmake_minimum_required(VERSION 3.24)

if(NOT DEFINED LANGUAGE)
  set(LANGUAGE cuda)
endif()

foreach(file IN ITEMS README SNIPPETS)
  file(READ ${${file}} text)
  # CMake's lists would take these characters for their own.
  string(REPLACE ";" "<semicolon>" text "${text}")
  string(REPLACE "[" "<open>" text "${text}")
  string(REPLACE "]" "<close>" text "${text}")
  string(REGEX REPLACE "\n +" "\n" text "${text}")
  string(REPLACE "\n" ";" ${file}_lines "${text}")
endforeach()

set(in_code FALSE)
set(checked 0)
foreach(line IN LISTS README_lines)
  if(line STREQUAL "```${LANGUAGE}")
    set(in_code TRUE)
  elseif(line MATCHES "^```")
    set(in_code FALSE)
  elseif(in_code AND NOT line STREQUAL "")
    if(NOT line IN_LIST SNIPPETS_lines)
      message(SEND_ERROR "Code of README.md that nothing compiles: ${line}")
    endif()
    math(EXPR checked "${checked} + 1")
  endif()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "No ${LANGUAGE} code was found in README.md")
endif()
