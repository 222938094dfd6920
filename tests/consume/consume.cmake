# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Run by CTest, see CMakeLists.txt beside this file for the variables.

cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${WORK_DIR})
set(project ${CMAKE_CURRENT_LIST_DIR}/project)
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(WAY STREQUAL "find_package")
  run(${configure} -S ${SOURCE_DIR} -B ${WORK_DIR}/package -D TILETRANSPOSE_BUILD_TESTS=OFF
      -D TILETRANSPOSE_BUILD_EXAMPLES=OFF -D TILETRANSPOSE_BUILD_BENCHMARKS=OFF)
  run(${CMAKE_COMMAND} --install ${WORK_DIR}/package --prefix ${WORK_DIR}/installed)

  # The package must work wherever it is moved, so it may name none of the places it comes from.
  file(RENAME ${WORK_DIR}/installed ${WORK_DIR}/moved)
  file(GLOB_RECURSE files ${WORK_DIR}/moved/*)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    foreach(place IN ITEMS ${SOURCE_DIR} ${WORK_DIR})
      string(FIND "${text}" "${place}" position)
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "${file} names ${place}")
      endif()
    endforeach()
  endforeach()

  # It carries the guides, and their links to each other lead somewhere.
  set(guides ${WORK_DIR}/moved/share/doc/tiletranspose)
  foreach(guide IN ITEMS README.md include/tiletranspose/README.md include/tiletranspose/detail/README.md)
    if(NOT EXISTS ${guides}/${guide})
      message(FATAL_ERROR "The package lacks ${guide}")
    endif()
  endforeach()
  run(${CMAKE_COMMAND} -D ROOT=${guides} -D "TARGETS=\\.(md|svg)$|/LICENSE$"
      -P ${SOURCE_DIR}/tests/documents/check_links.cmake)

  set(library -D CMAKE_PREFIX_PATH=${WORK_DIR}/moved -D TILETRANSPOSE_VERSION=${VERSION})
else()
  set(library -D TILETRANSPOSE_SOURCE_DIR=${SOURCE_DIR})
endif()

# With CUDA, and as plain C++ on a machine that might have no CUDA at all.
foreach(language IN ITEMS CUDA CXX)
  set(build ${WORK_DIR}/${language})
  run(${configure} -S ${project} -B ${build} ${library} -D LANGUAGE=${language}
      -D ARCHITECTURE=${ARCHITECTURE} -D CMAKE_${language}_COMPILER=${${language}_COMPILER})
  run(${CMAKE_COMMAND} --build ${build})
  run(${build}/consumer)
  if(EXISTS ${build}/consumer_distributed)
    run(${build}/consumer_distributed)
  endif()
endforeach()

# What a project installs of its own and of the library lies apart.
if(WAY STREQUAL "add_subdirectory")
  run(${CMAKE_COMMAND} -D TILETRANSPOSE_INSTALL=ON ${WORK_DIR}/CXX)
  run(${CMAKE_COMMAND} --install ${WORK_DIR}/CXX --prefix ${WORK_DIR}/installed)
  file(GLOB folders RELATIVE ${WORK_DIR}/installed/share/doc ${WORK_DIR}/installed/share/doc/*)
  if(NOT folders STREQUAL "tiletranspose")
    message(FATAL_ERROR "The documents are installed into: ${folders}")
  endif()
endif()
