# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -D NVCC=... -D ARCHITECTURE=90 -D INCLUDE_DIR=... -D SOURCE=case.cu -P check_case.cmake

cmake_minimum_required(VERSION 3.24)

cmake_path(GET SOURCE STEM name)
file(READ ${SOURCE} text)
if(NOT text MATCHES "// expect: (tt: [^\n]+)")
  message(FATAL_ERROR "${SOURCE} does not say which sentence it expects")
endif()
set(expected "${CMAKE_MATCH_1}")

# The front end of nvcc says all there is to say; PTX is the first thing that it writes.
set(compile ${NVCC} -std=c++17 -Werror=all-warnings -arch=compute_${ARCHITECTURE} -ptx
            -I ${INCLUDE_DIR} -o ${name}.ptx ${SOURCE})

execute_process(COMMAND ${compile} RESULT_VARIABLE status
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The control must compile, but:\n${output}")
endif()

execute_process(COMMAND ${compile} -D MUST_FAIL RESULT_VARIABLE status
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "The misuse compiled; expected: ${expected}")
endif()
string(FIND "${output}" "\"${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "Expected the compiler to say\n  ${expected}\nbut it said\n${output}")
endif()
message(STATUS "The compiler says: ${expected}")
