# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What the tests, examples and benchmarks share: the languages, the architectures they are built
# for, and warnings. Never read when another project uses the library.

# Set before CUDA is enabled, because CMake would choose one itself and store it in the cache, where
# it could not be told from the user's own choice.
set(choose_architectures FALSE)
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(choose_architectures TRUE)
  set(CMAKE_CUDA_ARCHITECTURES 90)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

enable_language(CXX)
enable_language(CUDA)
# CMake 3.25, for one, knows no C++20 of nvcc's: who asks for it gets nvcc's default, C++17, without a word.
if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)

# The major architectures that the library supports and this nvcc knows.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch
                OUTPUT_VARIABLE nvcc_architectures COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9]+" nvcc_architectures "${nvcc_architectures}")
set(supported_architectures 75 80 86 89 90 100 120)
foreach(architecture IN LISTS supported_architectures)
  if(NOT architecture IN_LIST nvcc_architectures)
    list(REMOVE_ITEM supported_architectures ${architecture})
  endif()
endforeach()

if(choose_architectures AND TILETRANSPOSE_ALL_ARCHITECTURES)
  list(GET supported_architectures -1 newest)
  list(TRANSFORM supported_architectures APPEND "-real" OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
elseif(choose_architectures)
  find_program(TILETRANSPOSE_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(TILETRANSPOSE_NVIDIA_SMI)
  set(own_architectures "")
  if(TILETRANSPOSE_NVIDIA_SMI)
    execute_process(COMMAND ${TILETRANSPOSE_NVIDIA_SMI} --query-gpu=compute_cap
                            --format=csv,noheader
                    OUTPUT_VARIABLE own_architectures ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" own_architectures "${own_architectures}")
    list(TRANSFORM own_architectures REPLACE "\\." "")
    list(REMOVE_DUPLICATES own_architectures)
  endif()
  foreach(architecture IN LISTS own_architectures)
    if(NOT architecture IN_LIST nvcc_architectures)
      message(WARNING "This nvcc cannot build for the GPU of compute capability ${architecture}")
      list(REMOVE_ITEM own_architectures ${architecture})
    endif()
  endforeach()
  if(own_architectures)
    set(CMAKE_CUDA_ARCHITECTURES ${own_architectures})
  endif()
endif()
message(STATUS "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES}")

set(TILETRANSPOSE_HOST_WARNINGS -Wall -Wextra -Werror)
list(JOIN TILETRANSPOSE_HOST_WARNINGS "," host_warnings)
set(TILETRANSPOSE_NVCC_WARNINGS -Werror=all-warnings -Xcompiler=${host_warnings})

add_library(tiletranspose_warnings INTERFACE)
target_compile_options(
  tiletranspose_warnings
  INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:${TILETRANSPOSE_HOST_WARNINGS}>
            $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${TILETRANSPOSE_NVCC_WARNINGS}>)

# Compiles the CUDA of the calling folder, wherever in it a target is made, with little optimization where nothing runs
# what needs a GPU, or nothing ever does, which the folder says by `never_run`: to see that it compiles. Kernels are
# optimized in the spill tests, host code in the benchmark, which says so by `optimize_host`, and by examples/run.sh.
function(tiletranspose_optimize_little)
  if(TILETRANSPOSE_OPTIMIZE_GPU_TESTS AND NOT never_run)
    # The longest files take several of a machine's cores, or it waits for them alone at the end. Host code is optimized
    # less than the kernels, which have a compiler of their own.
    if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
      string(REPLACE "-O3" "-O1" flags "${CMAKE_CUDA_FLAGS_RELEASE}")
      set(CMAKE_CUDA_FLAGS_RELEASE "${flags} --split-compile=4" PARENT_SCOPE)
    endif()
    return()
  endif()
  set(flags "-O0 -DNDEBUG") # of host code
  if(optimize_host)
    set(flags "-O3 -DNDEBUG")
  endif()
  include(CheckCompilerFlag)
  # Older ones lack it, and 13.5 prints for each kernel that its optimizer has no such argument.
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.5)
    check_compiler_flag(CUDA --Ofast-compile=max TILETRANSPOSE_NVCC_HAS_FAST_COMPILE)
  endif()
  if(TILETRANSPOSE_NVCC_HAS_FAST_COMPILE)
    string(APPEND flags " --Ofast-compile=max")
  endif()
  set(CMAKE_CUDA_FLAGS_RELEASE ${flags} PARENT_SCOPE)
endfunction()

# Kernels of these targets end as PTX there: ptxas is left out.
function(tiletranspose_end_as_ptx)
  if((NOT TILETRANSPOSE_OPTIMIZE_GPU_TESTS OR never_run) AND CMAKE_CUDA_ARCHITECTURES MATCHES "^[0-9]")
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "-.*" "" OUTPUT_VARIABLE architectures)
    list(REMOVE_DUPLICATES architectures)
    list(TRANSFORM architectures APPEND "-virtual")
    set_target_properties(${ARGV} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
endfunction()
