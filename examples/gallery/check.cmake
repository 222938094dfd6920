# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user sees of the gallery, with every GPU hidden except in the case on_gpu. See ../program_checks.cmake.

include(${CMAKE_CURRENT_LIST_DIR}/../program_checks.cmake)

set(routines
    cudaMemcpy copy copy-through-shared transpose-naive-rows transpose-naive-columns
    transpose-conflicts transpose-conflict-free transpose-model-padding transpose-swizzle
    transpose-unrolled transpose-diagonal-rows transpose-diagonal-columns transpose-tuned
    transpose-explicit transpose-cublas shared-square-unpadded shared-square-padded-by-1
    shared-square-padded-by-2 shared-square-model-padding shared-square-broadcast
    shared-flat-unpadded shared-flat-padded-by-1 shared-flat-padded-by-2 shared-flat-model-padding
    shared-flat-broadcast reverse-static reverse-dynamic reverse-library
    dynamic-carve global-offset global-stride matrix-product matrix-product-cublas launch-shape)

# Every case must have been run by the emulator, be right and cost what the model says of it, unless it is a
# library's call or the driver's.
function(expect_emulated)
  run_program(0 --format csv ${ARGN})
  string(REGEX REPLACE "\n$" "" out "${out}")
  string(REPLACE ";" ":" out "${out}")
  string(REPLACE "\n" ";" lines "${out}")
  list(POP_FRONT lines)
  set(ran 0)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ",.*" "" name "${line}")
    if(name IN_LIST need_gpu)
      set(expected ",needs a GPU,,,,,,")
    elseif(name STREQUAL "dynamic-carve")  # of which the model says nothing
      set(expected ",verified,,1,1,")
    else()
      set(expected ",verified,yes,")
      math(EXPR ran "${ran} + 1")
    endif()
    if(NOT line MATCHES "${expected}")
      message(FATAL_ERROR "gallery ${ARGN}: expected ${expected} in\n${line}")
    endif()
  endforeach()
  if(ran LESS 100)
    message(FATAL_ERROR "gallery ${ARGN}: the emulator ran ${ran} cases only\n${out}")
  endif()
endfunction()

set(need_gpu cudaMemcpy transpose-tuned transpose-explicit transpose-cublas reverse-library
             matrix-product-cublas)

if(CASE STREQUAL "help")
  run_program(0 --help)
  foreach(option list only size type device reps format plot bank-width carveout help)
    expect("${out}" "\n  --${option} ")
  endforeach()

elseif(CASE STREQUAL "list")
  run_program(0 --list)
  foreach(name IN LISTS routines)
    expect("${out}" "\n  ${name} ")
  endforeach()
  # Whatever is listed can be asked for, and its family too.
  foreach(name IN LISTS routines ITEMS ceilings transposes shared-memory-access launch-shape)
    run_program(0 --only ${name} --size 40x30)
  endforeach()

elseif(CASE STREQUAL "without_gpu")
  run_program(0 --size 1000x777 --plot bars.svg)
  expect("${out}" "Nothing was timed" "1000 x 777" "partition camping"
         "transpose-conflicts +float +256 +4096 +8 +threads +[0-9]+ +1 +32 "
         "transpose-conflict-free +float +256 +4224 +8 +threads +[0-9]+ +1 +1 ")
  expect("${out}" "by the emulator, 70 x 45 "
         "\n  transpose-conflicts +float +verified +1 = 1 +32 = 32 +[0-9.]+ = [0-9.]+ "
         "\n  transpose-tuned +float +needs a GPU +-" "\n  cudaMemcpy +float +needs a GPU +-")
  if(out MATCHES "!= [0-9]|DIFFERS")
    message(FATAL_ERROR "model and emulator differ\n${out}")
  endif()
  expect("${err}" "no GPU was found; nothing was timed and bars.svg was not written\n$")
  if(EXISTS ${WORK}/bars.svg)
    message(FATAL_ERROR "a plot of nothing was written")
  endif()
  # What the model says of bytes, and of 8-byte banks.
  run_program(0 --type char --only transposes)
  expect("${out}" "transpose-conflicts +char +256 +1024 [^\n]* 1 +8 "
         "transpose-conflict-free +char +256 +1056 [^\n]* 1 +2 "
         "transpose-model-padding +char +256 +1152 [^\n]* 1 +1 " "padding 4")
  run_program(0 --type float --only transpose-conflicts --bank-width 8)
  expect("${out}" "8 bytes wide" "transpose-conflicts [^\n]* 1 +16 ")
  # 1000 x 777 floats: rows of the output start anywhere in a sector.
  run_program(0 --only transpose-naive-rows --size 1000x777 --format csv)
  expect("${out}" "transpose-naive-rows,[^\n]*,4.0,[23][0-9].[0-9],4.0,verified,yes,,,[^\n]*,\n$")
  foreach(type char short half int float double)
    run_program(0 --type ${type} --size 1x1)
    expect("${out}" "1 x 1 \\(columns x rows\\) of ${type}")
  endforeach()
  run_program(0 --carveout 50 --reps 3 --only copy --only reverse)
  expect("${out}" "reverse-static")

elseif(CASE STREQUAL "emulated")
  foreach(type char short half int float double)
    expect_emulated(--type ${type})
  endforeach()
  expect_emulated()
  expect_emulated(--size 97x33)
  expect_emulated(--size 128x128 --bank-width 8)
  expect_emulated(--size 33x1000 --type short)  # one side is too long: at the size that needs no asking

elseif(CASE STREQUAL "formats")
  run_program(0 --only ceilings --format csv)
  expect("${out}" "^routine,case,family,type,outcome," "\ncopy,copy,ceilings,float,predicted,,")
  string(REGEX MATCHALL "\n" lines "${out}")
  list(LENGTH lines count)
  if(NOT count EQUAL 4)
    message(FATAL_ERROR "CSV of three routines has ${count} lines\n${out}")
  endif()
  run_program(0 --format json)
  string(JSON timed GET "${out}" timed)
  string(JSON count LENGTH "${out}" cases)
  string(JSON emulated_columns GET "${out}" emulated_columns)
  string(JSON emulated GET "${out}" cases 1 emulated)
  if(NOT emulated_columns EQUAL 70 OR NOT emulated STREQUAL "verified")
    message(FATAL_ERROR "JSON says ${emulated} at ${emulated_columns} columns")
  endif()
  string(JSON name GET "${out}" cases 0 routine)
  string(JSON rate GET "${out}" cases 0 gigabytes_per_second)
  list(LENGTH routines known)
  if(timed OR count LESS known OR NOT name STREQUAL "cudaMemcpy" OR NOT rate STREQUAL "")
    message(FATAL_ERROR "JSON says timed ${timed}, ${count} cases, ${name}, ${rate}")
  endif()

elseif(CASE STREQUAL "refusals")
  expect_refusal("unknown option --fast" --fast)
  expect_refusal("unknown option transpose" transpose)
  expect_refusal("--only needs a value" --only)
  expect_refusal("no routine or family is called transpose-slow" --only transpose-slow)
  expect_refusal("--size takes COLUMNSxROWS" --size 1000)
  expect_refusal("--size takes COLUMNSxROWS" --size 1000x)
  expect_refusal("--size takes COLUMNSxROWS" --size x1000)
  expect_refusal("--size takes COLUMNSxROWS" --size 0x5)
  expect_refusal("--size takes COLUMNSxROWS" --size -3x5)
  expect_refusal("--size takes COLUMNSxROWS" --size 3x5x7)
  expect_refusal("--size takes COLUMNSxROWS" --size 3X5)
  expect_refusal("is too large" --size 99999999999999999999x5)
  expect_refusal("is too large" --size 18446744073709551615x18446744073709551615)
  expect_refusal("is too large" --size 4294967296x4294967296)
  expect_refusal("unknown type quad; there are char, short, half" --type quad)
  expect_refusal("--device takes a number" --device first)
  expect_refusal("--device takes a number" --device -1)
  expect_refusal("there is no device 0; this machine has no GPU" --device 0)
  expect_refusal("--reps takes a number from 1" --reps 0)
  expect_refusal("--reps takes a number from 1" --reps 3.5)
  expect_refusal("--format takes table, csv or json" --format xml)
  expect_refusal("--plot takes a file name that ends in .svg" --plot bars.png)
  expect_refusal("--bank-width takes 4 or 8" --bank-width 16)
  expect_refusal("--carveout takes a number from 0 to 100" --carveout 101)

elseif(CASE STREQUAL "on_gpu")
  execute_process(COMMAND ${PROGRAM} --device 0 --only copy --size 100x100 --reps 1
                  RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(err MATCHES "this machine has no GPU")
    message(STATUS "no GPU was found: nothing was checked")
    return()
  endif()
  expect("${err}" "^\\[1/1\\] copy \\(float\\): verified, [0-9.]+ GB/s\n$")
  expect_refusal("there is no device 99; this machine has [0-9]+" --device 99)
  # 720 GB twice: more than any GPU of today has.
  expect_refusal("--size 300000x300000 needs 1440000000000 bytes of device memory; [^\n]* free"
                 --only copy --type double --size 300000x300000)
  expect_refusal("--plot no/such/bars.svg cannot be written" --plot no/such/bars.svg)
  run_program(0 --only transposes --size 517x389 --reps 3 --format csv --plot bars.svg)
  expect("${out}" "\ntranspose-tuned,transpose-tuned,transposes,float,verified,0.0000"
         "\ntranspose-conflicts,[^\n]*,256,4096,8,threads,")
  file(READ ${WORK}/bars.svg picture)
  expect("${picture}" "transpose-tuned" "cudaMemcpyAsync, ")
  run_program(0 --only launch-shape --size 300x200 --reps 1)
  expect("${out}" "\nBest launch-shape for float on this GPU: [0-9x]+ tile, [0-9]+ threads")
  run_program(0 --only transpose-conflicts --size 300x200 --reps 1 --carveout 0 --format csv)
  expect("${out}" ",carved_gigabytes_per_second,carved_blocks_per_sm,"
         "transpose-conflicts,[^\n]*,verified,[0-9.,]*,256,4096,")

elseif(CASE STREQUAL "public_parts")
  # No line may reach past the library's public parts.
  file(GLOB sources ${SOURCES}/*.cu ${SOURCES}/*.cuh ${SOURCES}/*.cpp ${SOURCES}/*.hpp)
  list(LENGTH sources count)
  if(count LESS 20)
    message(FATAL_ERROR "only ${count} sources were found in ${SOURCES}")
  endif()
  foreach(source IN LISTS sources)
    file(STRINGS ${source} lines REGEX "detail(/|::)")
    if(lines)
      message(SEND_ERROR "${source} reaches into detail: ${lines}")
    endif()
  endforeach()

else()
  message(FATAL_ERROR "no such case: ${CASE}")
endif()
