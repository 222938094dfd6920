// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// DLPack's C exchange API: a table of functions that a type of arrays offers, so that an array is read by one call of C. The
/// layout is the standard's (DLPackExchangeAPI of dlpack.h in DLPack 1.3); what describes an array comes with nanobind.

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
