# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What the checks of documents share.

cmake_minimum_required(VERSION 3.24)

# The Markdown documents below `root`, as paths relative to it. The faulty ones in tests/documents/wrong, which show
# that the checks see faults, are documents only when that folder is the root.
function(find_documents root result)
  file(GLOB documents RELATIVE ${root} ${root}/*.md)
  foreach(folder IN ITEMS include examples tests)
    file(GLOB_RECURSE found RELATIVE ${root} ${root}/${folder}/*.md)
    list(APPEND documents ${found})
  endforeach()
  list(FILTER documents EXCLUDE REGEX "^tests/documents/wrong/")
  if(NOT documents)
    message(FATAL_ERROR "No documents were found in ${root}")
  endif()
  set(${result} ${documents} PARENT_SCOPE)
endfunction()

# Has SCRIPT draw what results of the given rows of JSON say, into `svg` and `readme`; it must end with `expected`.
function(draw_rows expected svg readme)
  list(JOIN ARGN ", " rows)
  file(WRITE ${WORK_DIR}/results.json
       "{\"context\": {\"date\": \"2001-02-03T04:05:06\", \"gpu\": \"no GPU\"}, \"benchmarks\": [${rows}]}")
  execute_process(COMMAND ${PYTHON} ${SCRIPT} ${WORK_DIR}/results.json --svg ${svg} --readme ${readme}
                  RESULT_VARIABLE status ERROR_VARIABLE errors)
  if(NOT status EQUAL expected)
    message(FATAL_ERROR "The script ended with ${status}, not ${expected}: ${errors}")
  endif()
endfunction()

# The lines of a text file without their indentation. CMake's lists would take some characters for their own.
function(read_lines file result)
  file(READ ${file} text)
  string(REPLACE ";" "<semicolon>" text "${text}")
  string(REPLACE "[" "<open>" text "${text}")
  string(REPLACE "]" "<close>" text "${text}")
  string(REPLACE "\\" "<backslash>" text "${text}")
  string(REGEX REPLACE "\n +" "\n" text "\n${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# The lines of a document that are no fenced code.
function(read_prose file result)
  read_lines(${file} lines)
  set(prose "")
  set(in_code FALSE)
  foreach(line IN LISTS lines)
    if(line MATCHES "^```")
      if(in_code)
        set(in_code FALSE)
      else()
        set(in_code TRUE)
      endif()
    elseif(NOT in_code)
      list(APPEND prose "${line}")
    endif()
  endforeach()
  set(${result} "${prose}" PARENT_SCOPE)
endfunction()
