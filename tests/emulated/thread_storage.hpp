// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which bytes of a program's thread-local storage belong to which object, by the program's own symbol table
/// (ELF). Kernels that were compiled for the CPU keep their shared arrays there, where no sanitizer guards
/// their ends.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace cpu {

class thread_storage {
 public:
  /// \param known  an object of the calling thread
  /// \param name   and its symbol
  thread_storage(const void* known, const std::string& name) {
    std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
    std::vector<char> image(static_cast<std::size_t>(file.tellg()));
    file.seekg(0).read(image.data(), static_cast<std::streamsize>(image.size()));
    const auto header = read<Elf64_Ehdr>(image, 0);
    bool found = false;
    for (int i = 0; i < header.e_shnum; ++i) {
      const auto table = section(image, header, i);
      if (table.sh_type != SHT_SYMTAB) { continue; }
      const auto names = section(image, header, static_cast<int>(table.sh_link));
      for (std::uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = read<Elf64_Sym>(image, table.sh_offset + at);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS) { continue; }
        objects_[symbol.st_value] = symbol.st_size;
        if (name == image.data() + names.sh_offset + symbol.st_name) {
          first_ = reinterpret_cast<std::uintptr_t>(known) - symbol.st_value;
          found = true;
        }
      }
    }
    if (!found) { throw std::runtime_error("the program has no symbol " + name); }
  }

  /// True where all of the bytes are in one object.
  bool in_one_object(const void* address, std::uint64_t bytes) const {
    const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(address) - first_;
    auto next = objects_.upper_bound(offset);
    return next != objects_.begin() && offset + bytes <= (--next)->first + next->second;
  }

 private:
  template <class Struct>
  static Struct read(const std::vector<char>& image, std::uint64_t offset) {
    Struct value;
    if (offset + sizeof(Struct) > image.size()) { throw std::runtime_error("no ELF program"); }
    std::memcpy(&value, image.data() + offset, sizeof(Struct));
    return value;
  }
  static Elf64_Shdr section(const std::vector<char>& image, const Elf64_Ehdr& header, int index) {
    return read<Elf64_Shdr>(
        image, header.e_shoff + static_cast<std::uint64_t>(index) * header.e_shentsize);
  }

  std::uintptr_t first_ = 0;
  std::map<std::uint64_t, std::uint64_t> objects_;  ///< offset, bytes
};

}  // namespace cpu
