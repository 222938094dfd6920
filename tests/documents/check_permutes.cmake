# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D PYTHON=... -D SCRIPT=... -D README=... -D WORK_DIR=... -P check_permutes.cmake
# SCRIPT draws what a file of results says of TTC's 57 permutes: figures made up here reach the picture, which a copy of
# README then shows. A file without one of the cases is refused, and leaves that copy as it was.

include(${CMAKE_CURRENT_LIST_DIR}/documents.cmake)

file(MAKE_DIRECTORY ${WORK_DIR})
set(svg ${WORK_DIR}/permutes.svg)
set(readme ${WORK_DIR}/README.md)
file(COPY_FILE ${README} ${readme})

# draw(status last): results of the cases up to ttc<last>.
function(draw expected last)
  set(rows "")
  foreach(number RANGE ${last})
    if(number LESS 10)
      string(PREPEND number 0)
    endif()
    list(APPEND rows "{\"name\": \"ttc${number}\", \"pct_of_memcpy\": 61.${number}, \"cutensor_pct\": 3.0}")
  endforeach()
  draw_rows(${expected} ${svg} ${readme} ${rows})
endfunction()

file(READ ${README} before)
draw(1 55)
file(READ ${readme} after)
if(NOT before STREQUAL after)
  message(FATAL_ERROR "A file without one of the cases changed the document")
endif()

draw(0 56)
file(READ ${svg} picture)
file(READ ${readme} after)
foreach(words IN ITEMS "no GPU" "2001-02-03" "cuTENSOR" "7264 × 7264 → 10" "width=\"305.0\"" ">61<" ">3<")
  string(FIND "${picture}" "${words}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${words} is missing from ${svg}")
  endif()
endforeach()
if(NOT after MATCHES "\\(permutes.svg\\)")
  message(FATAL_ERROR "${readme} lacks the picture")
endif()
