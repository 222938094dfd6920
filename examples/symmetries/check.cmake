# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user sees of the symmetries program. See ../program_checks.cmake.

include(${CMAKE_CURRENT_LIST_DIR}/../program_checks.cmake)

if(CASE STREQUAL "drawing")
  run_program(0 -o drawing.svg)
  message("${out}")
  if(NOT out MATCHES "No GPU was found")
    file(READ ${WORK}/drawing.svg text)
    string(REGEX MATCHALL "</text>" captions "${text}")
    list(LENGTH captions captions)
    if(NOT captions EQUAL 8)
      message(FATAL_ERROR "the drawing has ${captions} captions, expected 8")
    endif()
  endif()

elseif(CASE STREQUAL "own_picture")
  # 2 rows of 3 pixels, all of different colours: where each of them is drawn is known.
  file(WRITE ${WORK}/tiny.ppm "P3 3 2 255  1 0 0  2 0 0  3 0 0  4 0 0  5 0 0  6 0 0\n")
  run_program(0 tiny.ppm -o drawing.svg)
  message("${out}")
  if(NOT out MATCHES "No GPU was found")
    file(READ ${WORK}/drawing.svg text)
    string(REGEX MATCHALL "fill=\"#0[1-6]0000\"" fills "${text}")
    string(REGEX REPLACE "fill=\"#0([1-6])0000\"" "\\1" order "${fills}")
    string(REPLACE ";" "" order "${order}")
    # identity, flip_lr, flip_ud, rotate_180, transpose, rotate_90, rotate_270, anti_transpose
    set(expected "123456" "321654" "456123" "654321" "142536" "362514" "415263" "635241")
    string(REPLACE ";" "" expected "${expected}")
    if(NOT order STREQUAL expected)
      message(FATAL_ERROR "the pixels are drawn as\n${order}\nexpected\n${expected}")
    endif()
  endif()

elseif(CASE STREQUAL "without_gpu")
  # The environment of this case hides every GPU.
  run_program(0 -o drawing.svg)
  if(NOT out MATCHES "No GPU was found.*nothing was drawn")
    message(FATAL_ERROR "symmetries without a GPU says\n${out}")
  endif()
  file(GLOB drawings ${WORK}/*.svg)
  if(drawings)
    message(FATAL_ERROR "${drawings} should not have been drawn")
  endif()

elseif(CASE STREQUAL "refusals")
  expect_refusal("unknown option --fast" --fast -o drawing.svg)
  expect_refusal("missing.ppm: cannot be opened" missing.ppm -o drawing.svg)
  expect_refusal("one picture at a time" a.ppm b.ppm -o drawing.svg)
  file(WRITE ${WORK}/bad.ppm "P3 2 2 255 1 2 3")
  expect_refusal("the file ends before" bad.ppm -o drawing.svg)
  string(REPEAT "1 " 65 row)
  file(WRITE ${WORK}/wide.pgm "P2 65 1 255 ${row}")
  expect_refusal("larger than 64 x 64 pixels" wide.pgm -o drawing.svg)

else()
  message(FATAL_ERROR "no such case: ${CASE}")
endif()
