# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D COMPILE=compiler;flags... -D INCLUDE_DIR=... -D HEADERS=... -D SENTENCE=... -P check_standard.cmake
# Each of the headers must be refused, and the first thing that the compiler says must be SENTENCE.

cmake_minimum_required(VERSION 3.24)

foreach(header IN LISTS HEADERS)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(WRITE refused_${name}.cu "#include <${header}>\n")
  execute_process(COMMAND ${COMPILE} -I ${INCLUDE_DIR} refused_${name}.cu
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0)
    message(FATAL_ERROR "<${header}> compiled")
  endif()
  string(REGEX MATCH "error[^\n]*" first_error "${output}")
  string(FIND "${first_error}" "${SENTENCE}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "<${header}> should first of all say\n  ${SENTENCE}\nbut the compiler said\n${output}")
  endif()
endforeach()
