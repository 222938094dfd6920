# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user sees of bank_map. Takes PYTHON, too, to read what it drew. See ../program_checks.cmake.

include(${CMAKE_CURRENT_LIST_DIR}/../program_checks.cmake)

# The first line of the answer.
function(expect_verdict verdict)
  run_program(0 ${ARGN})
  if(NOT out MATCHES "^[^\n]*${verdict}\n")
    message(FATAL_ERROR "bank_map ${ARGN}: expected ${verdict} in the first line of\n${out}")
  endif()
endfunction()

if(CASE STREQUAL "story")
  run_program(0)
  expect("${out}" "4-byte elements, 32 x 32, padding 0: a warp along columns is served in 32 ways"
         "4-byte elements, 32 x 32, padding 1: a warp along columns is conflict-free"
         "1-byte elements, 32 x 32, padding 1: a warp along columns is served in 2 ways"
         "1-byte elements, 32 x 32, padding 4: a warp along columns is conflict-free"
         "Why \\+1 works for float and not for bytes"
         "each row starts 8 1/4 banks after the one above, not a whole number"
         "bank  0: 2 words for lanes 0 31")

elseif(CASE STREQUAL "tiles")
  expect_verdict("served in 32 ways" --element 4)
  expect_verdict("conflict-free" --padding 1)
  expect_verdict("served in 16 ways" --element 8)
  expect_verdict("conflict-free" --element 8 --padding model)
  expect_verdict("served in 4 ways" --element 1 --tile 128x128 --padding 1)
  expect_verdict("conflict-free" --element 1 --tile 128x128 --padding model)
  expect_verdict("served in 8 ways" --tile 16x16)
  expect_verdict("conflict-free" --swizzle 4)
  expect_verdict("conflict-free" --element 2 --swizzle 4)
  expect_verdict("conflict-free" --walk rows)
  expect_verdict("served in 2 ways" --tile 32x16 --padding 1 --walk rows)
  expect_verdict("served in 16 ways" --bank-width 8)
  expect_verdict("served in 16 ways" --banks 16)
  expect_verdict("conflict-free" --element 12 --padding 1)
  # Where the lanes are: down one bank, down a diagonal, two bytes of one word together.
  run_program(0 --padding 1)
  expect("${out}" "\n     1  _   1   " "\n    31  [^\n]*  31\n    32 [^\n]*  _\n")
  run_program(0 --element 2 --walk rows)
  expect("${out}" "\n     0  0\\+  2\\+  4\\+")
  # A large tile is shown where it is wanted.
  run_program(0 --element 16 --tile 64x64)
  expect("${out}" "lines more")

elseif(CASE STREQUAL "pictures")
  run_program(0 --svg story.svg)
  run_program(0 --element 8 --tile 16x32 --padding 2 --bank-width 8 --svg wide.svg)
  run_program(0 --element 1 --tile 1x1 --svg one.svg)
  foreach(name story wide one)
    file(READ ${WORK}/${name}.svg picture)
    expect("${picture}" "^<svg " "prefers-color-scheme: dark" "</svg>\n$")
    if(PYTHON)
      execute_process(COMMAND ${PYTHON} -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])"
                              ${WORK}/${name}.svg COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
  # The picture that README.md shows is what the program draws.
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files --ignore-eol ${WORK}/story.svg
                          ${SOURCES}/bank_map.svg RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "bank_map.svg is out of date: run bank_map --svg bank_map.svg")
  endif()

elseif(CASE STREQUAL "refusals")
  expect_refusal("unknown option --type" --type float)
  expect_refusal("--svg needs a value" --svg)
  expect_refusal("--svg takes a file name that ends in .svg" --svg map.png)
  expect_refusal("--svg no/such/map.svg cannot be written" --svg no/such/map.svg)
  expect_refusal("--element takes a number from 1 to 64" --element 0)
  expect_refusal("--element takes a number from 1 to 64" --element float)
  expect_refusal("--tile takes ROWSxCOLS" --tile 32)
  expect_refusal("--tile takes a number from 1 to 1024" --tile 32x0)
  expect_refusal("--tile takes a number from 1 to 1024" --tile 32x32x2)
  expect_refusal("--padding takes a number" --padding -1)
  expect_refusal("exclude each other" --padding 1 --swizzle 4)
  expect_refusal("--swizzle 3 does not fit" --swizzle 3)
  expect_refusal("--swizzle 4 does not fit" --tile 32x33 --swizzle 4)
  expect_refusal("--walk takes columns or rows" --walk diagonals)
  expect_refusal("--bank-width takes 8 or 4" --bank-width 16)
  expect_refusal("--banks takes 16 or 32" --banks 64)
  expect_refusal("--banks 16 goes with --bank-width 4" --banks 16 --bank-width 8)
  expect_refusal("more than 232448 bytes" --element 64 --tile 1024x1024)

else()
  message(FATAL_ERROR "no such case: ${CASE}")
endif()
