# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D PYTHON=... -D SCRIPT=... -D README=... -D WORK_DIR=... -P check_speed.cmake
# SCRIPT draws what a file of results says, and no more: figures made up here reach the picture and a copy of README.
# A file without one of the cases is refused, and leaves that copy as it was.

include(${CMAKE_CURRENT_LIST_DIR}/documents.cmake)

set(cases
    tuned/4-byte/16384x16384
    odd/4-byte/16381x16411
    tuned/1-byte/32768x32768
    odd/1-byte/32749x32771
    struct/12-byte/9215x9221
    skinny/4-byte/3x89478485
    batch/4-byte/131072x33x33
    transform/float-to-half/16384x16384
    reverse/1-byte/1073741824
    transpose-inplace/4-byte/16384x16384)
file(MAKE_DIRECTORY ${WORK_DIR})
set(svg ${WORK_DIR}/speed.svg)
set(readme ${WORK_DIR}/README.md)

# draw(status percent...): a result for each percentage.
function(draw expected)
  set(rows "")
  foreach(name percent IN ZIP_LISTS cases ARGN)
    if(NOT percent STREQUAL "")
      list(APPEND rows
           "{\"name\": \"${name}/iterations:1/manual_time\", \"pct_of_memcpy\": ${percent}, \"geam_pct\": 3.0}")
    endif()
  endforeach()
  draw_rows(${expected} ${svg} ${readme} ${rows})
endfunction()

file(COPY_FILE ${README} ${readme})
draw(1 11 12 13 14 15 16 17 18 19)
file(READ ${README} before)
file(READ ${readme} after)
if(NOT before STREQUAL after)
  message(FATAL_ERROR "A file without one of the cases changed README.md")
endif()

draw(0 11 12 13 14 15 16 17 18 19 20.6)
file(READ ${svg} picture)
file(READ ${readme} after)
foreach(figure IN ITEMS 11 12 13 14 15 16 17 18 19 21)
  if(NOT picture MATCHES ">${figure}<" OR NOT after MATCHES "\\| ${figure} \\| 3 \\|")
    message(FATAL_ERROR "The figure ${figure} is missing from ${svg} or ${readme}")
  endif()
endforeach()
foreach(words IN ITEMS "no GPU" "2001-02-03" "cuBLAS geam")
  string(FIND "${picture}" "${words}" in_picture)
  string(FIND "${after}" "${words}" in_readme)
  if(in_picture EQUAL -1 OR in_readme EQUAL -1)
    message(FATAL_ERROR "${words} is missing from ${svg} or ${readme}")
  endif()
endforeach()
if(NOT after MATCHES "\\(tests/benchmark/speed.svg\\)" OR NOT after MATCHES "\\| work \\| tiletranspose \\| cuBLAS geam \\|\n")
  message(FATAL_ERROR "${readme} lacks the picture, or its table has other columns than the results")
endif()
