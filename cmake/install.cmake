# SPDX-FileCopyrightText: the tiletranspose authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include(CMakePackageConfigHelpers)
# Nothing goes into the folder for libraries, whose name CMake could not tell without a language.
if(NOT DEFINED CMAKE_INSTALL_LIBDIR)
  set(CMAKE_INSTALL_LIBDIR lib)
endif()
include(GNUInstallDirs)
# Inside another project the folder of documents is that project's, and its README would be replaced by ours.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_INSTALL_DOCDIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/tiletranspose)
endif()

# The library has no binary, so its package files lie in the architecture-independent folder.
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tiletranspose)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tiletranspose
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.cuh")

# The documents and their pictures keep their places to each other, so that links from one to another lead there.
set(documents README.md LICENSE)
foreach(folder IN ITEMS include examples tests)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/${folder}/*.md ${PROJECT_SOURCE_DIR}/${folder}/*.svg)
  list(APPEND documents ${found})
endforeach()
list(FILTER documents EXCLUDE REGEX "^tests/documents/wrong/") # faulty, for a test
foreach(document IN LISTS documents)
  cmake_path(GET document PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

install(TARGETS tiletranspose EXPORT tiletranspose
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tiletranspose
        NAMESPACE tiletranspose::
        FILE tiletranspose-targets.cmake
        DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/tiletranspose-config.cmake.in
  ${PROJECT_BINARY_DIR}/tiletranspose-config.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/tiletranspose-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/tiletranspose-distributed.cmake
              ${PROJECT_BINARY_DIR}/tiletranspose-config.cmake
              ${PROJECT_BINARY_DIR}/tiletranspose-config-version.cmake
        DESTINATION ${package_dir})
