# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D ROOT=... -D SNIPPETS=one,another -P check_code.cmake
# Every line of CUDA or C++ that a document below ROOT shows must stand in one of SNIPPETS, which are compiled.
# Indentation may differ, because documents show some lines without the function around them.

include(${CMAKE_CURRENT_LIST_DIR}/documents.cmake)

set(known "")
string(REPLACE "," ";" SNIPPETS "${SNIPPETS}")
foreach(file IN LISTS SNIPPETS)
  read_lines(${file} lines)
  list(APPEND known "${lines}")
endforeach()

find_documents(${ROOT} documents)
set(checked 0)
foreach(document IN LISTS documents)
  read_lines(${ROOT}/${document} lines)
  set(in_code FALSE)
  foreach(line IN LISTS lines)
    if(NOT in_code AND line MATCHES "^```(cuda|cu|cpp|c\\+\\+)$")
      set(in_code TRUE)
    elseif(line MATCHES "^```")
      set(in_code FALSE)
    elseif(in_code AND NOT line STREQUAL "")
      if(NOT line IN_LIST known)
        message(SEND_ERROR "${document} shows code that nothing compiles: ${line}")
      endif()
      math(EXPR checked "${checked} + 1")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "No code was found in ${documents}")
endif()
message(STATUS "${checked} lines of code in documents were looked up")
