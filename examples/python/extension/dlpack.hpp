// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// DLPack: its C exchange API, a table of functions that a type of arrays offers, so that an array is read by one call of C,
/// and its capsules. The layouts are the standard's (dlpack.h of DLPack 1.3); what describes an array comes with nanobind.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

namespace tiletranspose_python {

/// How DLPack calls the memory of a GPU.
constexpr std::int32_t cuda_memory = 2;

/// Functions return 0, or set an exception of Python.
struct exchange_table {
  std::uint32_t major_version;
  std::uint32_t minor_version;
  const exchange_table* older;  ///< the same of an earlier major version, or null
  void (*make_array)();         ///< this and the next two are not called here
  void (*export_array)();
  void (*import_array)();
  /// Describes an array; what it points to belongs to the array. May be null.
  int (*read)(void* object, nanobind::dlpack::dltensor* result);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** result);
};

/// What a capsule of the name "dltensor" begins with.
struct managed_array {
  nanobind::dlpack::dltensor array;
};

/// What one of the name "dltensor_versioned" begins with.
struct versioned_array {
  std::uint32_t major_version;
  std::uint32_t minor_version;
  void* context;
  void (*release)(versioned_array*);
  std::uint64_t flags;
  nanobind::dlpack::dltensor array;
};
constexpr std::uint64_t read_only_flag = 1;
constexpr std::uint64_t copy_flag = 2;

/// An array in a capsule, to which it belongs.
struct dlpack_contents {
  const nanobind::dlpack::dltensor* array;
  bool is_read_only;
  bool is_copy;
};

/// Looks into a capsule, which is not used up by it.
/// \throws TypeError where there is no array in it that can be read
inline dlpack_contents open_dlpack(nanobind::handle capsule) {
  constexpr const char* name = "dltensor";
  constexpr const char* versioned_name = "dltensor_versioned";
  if (PyCapsule_IsValid(capsule.ptr(), name) != 0) {
    void* const found = PyCapsule_GetPointer(capsule.ptr(), name);
    return {&static_cast<const managed_array*>(found)->array, false, false};
  }
  if (PyCapsule_IsValid(capsule.ptr(), versioned_name) != 0) {
    void* const found = PyCapsule_GetPointer(capsule.ptr(), versioned_name);
    const auto& versioned = *static_cast<const versioned_array*>(found);
    if (versioned.major_version == 1) {
      return {&versioned.array, (versioned.flags & read_only_flag) != 0,
              (versioned.flags & copy_flag) != 0};
    }
  }
  throw nanobind::type_error("tiletranspose: __dlpack__ returned no array of DLPack 1 or older");
}

/// The table that a type offers, or null. It lives as long as the process.
inline const exchange_table* find_exchange(nanobind::handle type) {
  constexpr const char* name = "dlpack_exchange_api";
  const nanobind::object capsule =
      nanobind::getattr(type, "__dlpack_c_exchange_api__", nanobind::none());
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) { return nullptr; }
  auto table = static_cast<const exchange_table*>(PyCapsule_GetPointer(capsule.ptr(), name));
  while (table != nullptr && table->major_version != 1) { table = table->older; }
  return table != nullptr && table->read != nullptr ? table : nullptr;
}

}  // namespace tiletranspose_python
