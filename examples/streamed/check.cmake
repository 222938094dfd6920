# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user sees of the streamed program. See ../program_checks.cmake.

include(${CMAKE_CURRENT_LIST_DIR}/../program_checks.cmake)

if(CASE STREQUAL "refusals")
  expect_refusal("--gpu-kib must be 384 or more" --gpu-kib 383)
  expect_refusal("x is no number" 5 x)
  expect_refusal("0 is no number" 0 5)
  expect_refusal("try streamed --help" 5)
  expect_refusal("missing.pgm: No such file" raster missing.pgm out.pgm)
  file(WRITE ${WORK}/text.pgm "P2\n2 2\n255\n1 2 3 4\n")
  expect_refusal("text.pgm: is neither a binary PGM nor a binary PPM" raster text.pgm out.pgm)
  file(WRITE ${WORK}/short.ppm "P6 2 2 255\nABCDEFGHIJK")
  expect_refusal("short.ppm: ends before its pixels do" raster short.ppm out.ppm)
  file(WRITE ${WORK}/deep.pgm "P5 1 1 65535\nAB")
  expect_refusal("deep.pgm: has samples of two bytes" raster deep.pgm out.pgm)
  file(WRITE ${WORK}/same.pgm "P5 1 1 255\nA")
  expect_refusal("same.pgm: is the input, too" raster same.pgm same.pgm)
  run_program(0 --help)
  expect("${out}" "--gpu-kib")

elseif(CASE STREQUAL "files")
  # With little of the GPU's memory; transposed twice, a picture is itself again.
  foreach(type ppm pgm)
    run_program(0 --gpu-kib 384 raster ${SOURCES}/../raster/sample.${type} once.${type})
    if(out MATCHES "No GPU was found")
      message("${out}")
      return()
    endif()
    run_program(0 raster once.${type} twice.${type})
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${WORK}/twice.${type}
                            ${SOURCES}/../raster/sample.${type} RESULT_VARIABLE differs)
    if(differs)
      message(FATAL_ERROR "twice.${type} differs from sample.${type}")
    endif()
  endforeach()
  file(WRITE ${WORK}/small.pgm "P5\n# 2 rows of 3\n3 2\n99\nABCDEF")
  run_program(0 raster small.pgm out.pgm)
  file(READ ${WORK}/out.pgm found)
  if(NOT found STREQUAL "P5\n2 3\n99\nADBECF")
    message(FATAL_ERROR "out.pgm holds\n${found}")
  endif()
else()
  message(FATAL_ERROR "no case ${CASE}")
endif()
