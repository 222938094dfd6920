# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D FILE=... -D LINES=... -P check_length.cmake
# FILE has at most LINES lines: what does not fit belongs beside what it speaks of.

include(${CMAKE_CURRENT_LIST_DIR}/documents.cmake)

file(READ ${FILE} text)
string(REGEX MATCHALL "\n" ends "${text}")
list(LENGTH ends count)
if(count EQUAL 0 OR count GREATER LINES)
  message(FATAL_ERROR "${FILE} has ${count} lines; 1 to ${LINES} are right")
endif()
message(STATUS "${count} lines")
