# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D ROOT=... -D SOURCES=... -P check_names.cmake
# Every file and folder that a document below ROOT names in `code` exists: below SOURCES or its headers, beside the
# document or, where only its name is given, anywhere in SOURCES.

include(${CMAKE_CURRENT_LIST_DIR}/documents.cmake)

set(all_names "")
foreach(folder IN ITEMS include tests examples cmake)
  file(GLOB_RECURSE found ${SOURCES}/${folder}/*)
  foreach(file IN LISTS found)
    cmake_path(GET file FILENAME name)
    list(APPEND all_names ${name})
  endforeach()
endforeach()

find_documents(${ROOT} documents)
set(checked 0)
foreach(document IN LISTS documents)
  cmake_path(GET document PARENT_PATH folder)
  read_prose(${ROOT}/${document} lines)
  string(REGEX MATCHALL "`[A-Za-z0-9_./-]+`" words "${lines}")
  foreach(word IN LISTS words)
    string(REPLACE "`" "" word "${word}")
    if(NOT word MATCHES "\\.(cuh|cu|cpp|hpp|cmake|sh|py|md|svg)$" AND NOT word MATCHES "^[a-z_.]+/([a-z_]+/)*$")
      continue() # no name of a file or a folder
    endif()
    math(EXPR checked "${checked} + 1")
    set(found FALSE)
    foreach(base IN ITEMS ${ROOT}/${folder} ${SOURCES} ${SOURCES}/include ${SOURCES}/include/tiletranspose
                          ${SOURCES}/include/tiletranspose/detail)
      if(EXISTS ${base}/${word})
        set(found TRUE)
      endif()
    endforeach()
    if(NOT found AND NOT word IN_LIST all_names)
      message(SEND_ERROR "${document} names what is not there: ${word}")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "No names of files were found in ${documents}")
endif()
message(STATUS "${checked} names of files and folders were looked up")
