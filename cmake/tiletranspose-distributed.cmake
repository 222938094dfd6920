# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The component `distributed`: looks for NCCL and, where it is found, defines tiletranspose::distributed, which is
# tiletranspose::tiletranspose with NCCL. NCCL_ROOT, as a variable of CMake or of the environment, says where to look
# first; then come the usual places, with Debian's and NVIDIA's packages, and last Python's package, nvidia/nccl.
# Sets tiletranspose_distributed_FOUND, and tiletranspose_distributed_MESSAGE where it is false.

set(tiletranspose_nccl_hints ${NCCL_ROOT} $ENV{NCCL_ROOT} $ENV{NCCL_HOME})

# Sets the two variables of the cache, unless they are set already. Python's package has no libnccl.so.
macro(tiletranspose_find_nccl)
  find_path(TILETRANSPOSE_NCCL_INCLUDE_DIR nccl.h HINTS ${tiletranspose_nccl_hints}
            PATHS /usr/local/cuda /usr/local/nccl /opt/nccl PATH_SUFFIXES include)
  find_library(TILETRANSPOSE_NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR HINTS ${tiletranspose_nccl_hints}
               PATHS /usr/local/cuda /usr/local/nccl /opt/nccl PATH_SUFFIXES lib lib64)
  mark_as_advanced(TILETRANSPOSE_NCCL_INCLUDE_DIR TILETRANSPOSE_NCCL_LIBRARY)
endmacro()

tiletranspose_find_nccl()
if(NOT TILETRANSPOSE_NCCL_INCLUDE_DIR OR NOT TILETRANSPOSE_NCCL_LIBRARY)
  find_program(TILETRANSPOSE_PYTHON NAMES python3 python)
  mark_as_advanced(TILETRANSPOSE_PYTHON)
  if(TILETRANSPOSE_PYTHON)
    execute_process(
      COMMAND ${TILETRANSPOSE_PYTHON} -c "import nvidia.nccl; print(';'.join(nvidia.nccl.__path__))"
      OUTPUT_VARIABLE tiletranspose_nccl_hints OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    # Header and library come from one place.
    unset(TILETRANSPOSE_NCCL_INCLUDE_DIR CACHE)
    unset(TILETRANSPOSE_NCCL_LIBRARY CACHE)
    tiletranspose_find_nccl()
  endif()
endif()

set(tiletranspose_distributed_FOUND FALSE)
set(tiletranspose_distributed_MESSAGE
    "the component distributed needs NCCL 2.19 or newer, which was not found; NCCL_ROOT says where it is")
if(TILETRANSPOSE_NCCL_INCLUDE_DIR AND TILETRANSPOSE_NCCL_LIBRARY)
  file(STRINGS ${TILETRANSPOSE_NCCL_INCLUDE_DIR}/nccl.h tiletranspose_nccl_version
       REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM tiletranspose_nccl_version REPLACE "^#define NCCL_[A-Z]+ +([0-9]+).*$" "\\1")
  list(JOIN tiletranspose_nccl_version "." tiletranspose_nccl_version)
  if(tiletranspose_nccl_version VERSION_LESS 2.19)
    set(tiletranspose_distributed_MESSAGE
        "the component distributed needs NCCL 2.19 or newer; ${TILETRANSPOSE_NCCL_INCLUDE_DIR} has ${tiletranspose_nccl_version}")
  else()
    set(tiletranspose_distributed_FOUND TRUE)
    unset(tiletranspose_distributed_MESSAGE)
    if(NOT TARGET tiletranspose::distributed)
      add_library(tiletranspose::distributed INTERFACE IMPORTED GLOBAL)
      target_include_directories(tiletranspose::distributed SYSTEM INTERFACE ${TILETRANSPOSE_NCCL_INCLUDE_DIR})
      target_link_libraries(tiletranspose::distributed INTERFACE tiletranspose::tiletranspose
                                                                 ${TILETRANSPOSE_NCCL_LIBRARY})
    endif()
  endif()
endif()
