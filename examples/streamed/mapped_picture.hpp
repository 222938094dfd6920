// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binary PGM and PPM files of any size, mapped into memory: their samples are read from the file and written to it as
// memory, and the system decides what of them is in RAM. Host code for POSIX systems, no CUDA.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "../raster/netpbm.hpp"

namespace mapped {

// Any trouble with a file: one line that begins with its name.
struct error : std::runtime_error {
  error(const std::string& name, const std::string& trouble)
      : std::runtime_error(name + ": " + trouble) {}
};

// A whole file as memory.
class file {
 public:
  // An existing one, to be read.
  explicit file(const std::string& name) { open_as(name, O_RDONLY, 0); }
  // A new one of this size, to be written; it takes the place of another one.
  file(const std::string& name, std::size_t bytes) {
    open_as(name, O_RDWR | O_CREAT | O_TRUNC, bytes);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() {
    if (data_ != nullptr) { munmap(data_, bytes_); }
  }
  unsigned char* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void open_as(const std::string& name, int flags, std::size_t bytes) {
    const bool writes = flags != O_RDONLY;
    const int handle = open(name.c_str(), flags, 0644);
    struct stat facts {};
    int trouble = handle < 0 || fstat(handle, &facts) != 0 ? errno : 0;
    if (trouble == 0 && writes) {
      // Blocks and all: a store to a mapped file for which the disk has no room ends the program by a signal.
      trouble = posix_fallocate(handle, 0, static_cast<off_t>(bytes));
      if (trouble != 0 && S_ISREG(facts.st_mode)) { unlink(name.c_str()); }
    }
    if (trouble != 0) {
      if (handle >= 0) { close(handle); }
      throw error(name, std::strerror(trouble));
    }
    bytes_ = writes ? bytes : static_cast<std::size_t>(facts.st_size);
    void* const memory = bytes_ == 0
                             ? MAP_FAILED
                             : mmap(nullptr, bytes_, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                                    MAP_SHARED, handle, 0);
    close(handle);
    if (memory == MAP_FAILED) { throw error(name, "cannot be mapped"); }
    data_ = static_cast<unsigned char*>(memory);
  }

  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// What the header of a picture says.
struct picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 1;
  std::size_t maxval = 255;
  std::size_t first = 0;  // byte of the first sample

  std::size_t bytes() const { return width * height * channels; }
};

// Reads a header: P5 or P6, three numbers, with comments between, and one white space. Throws as netpbm.hpp does, too.
inline picture parse(const std::string& name, const file& content) {
  const unsigned char* const text = content.data();
  const std::size_t size = content.size();
  if (size < 2 || text[0] != 'P' || (text[1] != '5' && text[1] != '6')) {
    throw error(name, "is neither a binary PGM nor a binary PPM");
  }
  netpbm::scanner numbers(name, {reinterpret_cast<const char*>(text), size}, 2);
  picture result;
  result.channels = text[1] == '5' ? 1 : 3;
  result.width = numbers.number("width");
  result.height = numbers.number("height");
  result.maxval = numbers.number("maxval");
  if (result.width == 0 || result.height == 0) { throw error(name, "has no pixels"); }
  if (result.maxval == 0) { throw error(name, "has a maxval of 0"); }
  if (result.maxval > 255) { throw error(name, "has samples of two bytes"); }
  numbers.skip_one_separator();
  result.first = numbers.at();
  if (result.height > std::numeric_limits<std::size_t>::max() / 3 / result.width ||
      result.bytes() > size - result.first) {
    throw error(name, "ends before its pixels do");
  }
  return result;
}

inline std::string header_of(const picture& of) {
  return (of.channels == 1 ? "P5\n" : "P6\n") + std::to_string(of.width) + ' ' +
         std::to_string(of.height) + '\n' + std::to_string(of.maxval) + '\n';
}

}  // namespace mapped
