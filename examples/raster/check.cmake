# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user sees of the raster program. See ../program_checks.cmake.

include(${CMAKE_CURRENT_LIST_DIR}/../program_checks.cmake)

function(expect_same_files found expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${found} ${expected}
                  RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${found} differs from ${expected}")
  endif()
endfunction()

function(expect_content file expected)
  file(READ ${file} found)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${file} holds\n${found}\nexpected\n${expected}")
  endif()
endfunction()

function(refuse_file sentence content)
  file(WRITE ${WORK}/bad "${content}")
  expect_refusal("bad: ${sentence}" bad)
endfunction()

if(CASE STREQUAL "samples")
  # Without arguments it works too; transposed twice, every sample is itself again.
  run_program(0)
  run_program(0 -o once/made_on_demand ${SOURCES}/sample.ppm ${SOURCES}/sample.pgm)
  foreach(type ppm pgm)
    run_program(0 once/made_on_demand/sample.transposed.${type} -o twice)
    expect_same_files(${WORK}/twice/sample.transposed.transposed.${type} ${SOURCES}/sample.${type})
  endforeach()

elseif(CASE STREQUAL "formats")
  # Comments, ASCII and binary, a maxval below 255, results beside the input, names with spaces.
  file(WRITE "${WORK}/a b.pgm" "P2 # grey\n# 2 rows of 3\n3 2\n99\n65 66 67\n68 69 # row\n70")
  run_program(0 "a b.pgm")
  expect_content("${WORK}/a b.transposed.pgm" "P5\n2 3\n99\nADBECF")
  file(WRITE ${WORK}/ascii.ppm "P3\n2 2 120\n65 65 65  66 67 68\n69 70 71  72 72 72\n")
  file(WRITE ${WORK}/binary.ppm "P6\n#\n2 2\n120#\nAAABCDEFGHHH")
  foreach(name ascii binary)
    run_program(0 -- ${name}.ppm)
    expect_content(${WORK}/${name}.transposed.ppm "P6\n2 2\n120\nAAAEFGBCDHHH")
    expect_content(${WORK}/${name}.luminance.transposed.pgm "P5\n2 2\n120\nAFCH")
  endforeach()
  file(WRITE ${WORK}/row.pgm "P5 5 1 255\nABCDE")
  run_program(0 row.pgm)
  expect_content(${WORK}/row.transposed.pgm "P5\n1 5\n255\nABCDE")

elseif(CASE STREQUAL "without_gpu")
  # The environment of this case hides every GPU.
  run_program(0 -o .)
  if(NOT out MATCHES "No GPU was found.*Nothing was timed.*bank model predicts.*on the CPU")
    message(FATAL_ERROR "raster without a GPU says\n${out}")
  endif()
  # One emulated tile of each picture, conflict-free as the model says: 3-byte pixels, then bytes.
  string(REPLACE ";" "," text "${out}")
  string(REGEX MATCHALL
         "emulated  its upper left 32 x 32 pixels, one block of 256 threads, verified\n[^\n]*writing 1 \\(model 1\\), reading 1 \\(model 1\\)\n +sectors per request: [^\n]*\n"
         tiles "${text}")
  list(LENGTH tiles count)
  if(NOT count EQUAL 3)
    message(FATAL_ERROR "raster without a GPU emulated ${count} tiles of 3 as expected\n${out}")
  endif()
  # Of a picture smaller than a tile, all.
  file(WRITE ${WORK}/small.pgm "P5 3 2 255\nABCDEF")
  run_program(0 small.pgm)
  if(NOT out MATCHES "upper left 3 x 2 pixels, one block of 256 threads; verified")
    message(FATAL_ERROR "raster of a small picture without a GPU says\n${out}")
  endif()
  foreach(name sample.transposed.ppm sample.luminance.transposed.pgm sample.transposed.pgm)
    if(NOT EXISTS ${WORK}/${name})
      message(FATAL_ERROR "raster without a GPU did not write ${name}")
    endif()
  endforeach()

elseif(CASE STREQUAL "refusals")
  expect_refusal("unknown option --fast" --fast)
  expect_refusal("-o needs a directory" -o)
  expect_refusal("missing.pgm: cannot be opened" missing.pgm)
  expect_refusal("is a directory" ${SOURCES})
  refuse_file("neither PGM nor PPM" "")
  refuse_file("neither PGM nor PPM" "P4\n8 1\nA")
  refuse_file("maxval is 65535; only 8-bit rasters" "P5\n1 1\n65535\nAA")
  refuse_file("maxval is 0" "P5\n1 1\n0\nA")
  refuse_file("the raster has no pixels" "P5\n0 4\n255\n")
  refuse_file("the file ends before its height" "P5\n3 # 2\n")
  refuse_file("its width is no number" "P6\n-3 2\n255\nAAA")
  refuse_file("its width is too large" "P6\n99999999999999999999999 2\n255\nAAA")
  refuse_file("the file ends before its 4294967296 x 4294967296 pixels do"
              "P6\n4294967296 4294967296 255\nA")
  refuse_file("the file ends before its 2 x 2 pixels do" "P6\n2 2\n255\nAAABBBCCCDD")
  refuse_file("the file ends before its 2 x 2 pixels do" "P2\n2 2\n255\n1 2 3")
  refuse_file("the file ends before its sample" "P2\n2 2\n255\n100 200 30")
  refuse_file("its sample is no number" "P2\n2 1\n255\n1 x")
  refuse_file("a sample is 66, above its maxval of 65" "P5\n2 1\n65\nAB")
  refuse_file("no white space follows the maxval" "P5\n1 1\n255A")
  # One bad file among good ones: nothing is written for the good ones either.
  file(WRITE ${WORK}/good.pgm "P5\n1 1\n255\nA")
  expect_refusal("bad: no white space" good.pgm bad -o results)
  # Two results of one name, a result that would replace an input, a directory that cannot be made.
  file(WRITE ${WORK}/other/good.pgm "P5\n1 1\n255\nB")
  expect_refusal("good.transposed.pgm: would be overwritten" good.pgm other/good.pgm -o results)
  file(WRITE ${WORK}/good.transposed.pgm "P5\n1 1\n255\nC")
  expect_refusal("good.transposed.pgm: would be overwritten" good.pgm good.transposed.pgm)
  expect_content(${WORK}/good.transposed.pgm "P5\n1 1\n255\nC")
  expect_refusal("good.pgm" good.pgm -o good.pgm)

else()
  message(FATAL_ERROR "no such case: ${CASE}")
endif()
