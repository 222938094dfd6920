// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes 8-bit PGM (grey) and PPM (colour) rasters. Host code only, no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace netpbm {

/// A raster of `height` rows of `width` pixels of `channels` samples: 1 for PGM, 3 for PPM.
struct image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 1;
  unsigned maxval = 255;              // the sample value that stands for full brightness
  std::vector<std::uint8_t> samples;  // height * width * channels of them
};

/// Any trouble with a file; what() is one line that begins with the file's name.
struct error : std::runtime_error {
  error(const std::filesystem::path& file, const std::string& trouble)
      : std::runtime_error(file.string() + ": " + trouble) {}
};

/// Takes numbers out of the text of a file, one after the other.
class scanner {
 public:
  scanner(std::filesystem::path file, std::string_view text, std::size_t at)
      : file_(std::move(file)), text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return text_.size() - at_; }
  unsigned char next_byte() { return static_cast<unsigned char>(text_[at_++]); }

  // A single byte parts maxval from binary samples: the next byte may look like a space and be one.
  void skip_one_separator() {
    if (at_ < text_.size() && text_[at_] == '#') skip_comment();
    if (at_ < text_.size() && !is_space(text_[at_])) {
      throw error(file_, "no white space follows the maxval");
    }
    if (at_ < text_.size()) ++at_;
  }

  std::size_t number(const char* what) {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') {
        skip_comment();
      } else {
        ++at_;
      }
    }
    if (at_ == text_.size()) throw error(file_, std::string("the file ends before its ") + what);
    if (!is_digit(text_[at_])) throw error(file_, std::string("its ") + what + " is no number");
    std::size_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      const auto digit = static_cast<std::size_t>(text_[at_] - '0');
      if (value > (std::numeric_limits<std::size_t>::max() - digit) / 10) {
        throw error(file_, std::string("its ") + what + " is too large");
      }
      value = value * 10 + digit;
    }
    return value;
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
  }

  std::filesystem::path file_;
  std::string_view text_;
  std::size_t at_;
};

/// Reads an image from a whole file held in memory.
class parser {
 public:
  parser(const std::filesystem::path& file, std::string text)
      : file_(file), text_(std::move(text)) {}

  image parse() {
    const char kind = text_.size() > 1 && text_[0] == 'P' ? text_[1] : '\0';
    const bool ascii = kind == '2' || kind == '3';
    if (!ascii && kind != '5' && kind != '6') {
      throw error(file_, "neither PGM nor PPM: the file must begin with P2, P3, P5 or P6");
    }
    scanner numbers(file_, text_, 2);

    image result;
    result.channels = kind == '3' || kind == '6' ? 3 : 1;
    result.width = numbers.number("width");
    result.height = numbers.number("height");
    if (result.width == 0 || result.height == 0) throw error(file_, "the raster has no pixels");
    const std::size_t maxval = numbers.number("maxval");
    if (maxval == 0) throw error(file_, "maxval is 0; it must be 1 to 255");
    if (maxval > 255) {
      throw error(file_, "maxval is " + std::to_string(maxval) +
                             "; only 8-bit rasters, of a maxval up to 255, can be read");
    }
    result.maxval = static_cast<unsigned>(maxval);

    // Compared with the file before anything is allocated: a header may claim any size. An ASCII
    // sample takes two characters, its digit and a separator, but the last may end the file.
    const std::size_t pixel_room = std::numeric_limits<std::size_t>::max() / result.channels;
    if (!ascii) numbers.skip_one_separator();
    const std::size_t present = ascii ? (numbers.left() + 1) / 2 : numbers.left();
    if (result.width > pixel_room / result.height ||
        result.width * result.height * result.channels > present) {
      throw error(file_, "the file ends before its " + std::to_string(result.width) + " x " +
                             std::to_string(result.height) + " pixels do");
    }

    result.samples.resize(result.width * result.height * result.channels);
    for (std::uint8_t& sample : result.samples) {
      const std::size_t value = ascii ? numbers.number("sample") : numbers.next_byte();
      if (value > maxval) {
        throw error(file_, "a sample is " + std::to_string(value) + ", above its maxval of " +
                               std::to_string(maxval));
      }
      sample = static_cast<std::uint8_t>(value);
    }
    return result;  // what follows, if anything, is the next image of a sequence
  }

 private:
  const std::filesystem::path& file_;
  std::string text_;
};

/// The first image of a binary or ASCII PGM or PPM file; throws netpbm::error.
inline image read(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw error(file, "is a directory");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw error(file, "cannot be opened");
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) throw error(file, "cannot be read");
  return parser(file, std::move(text)).parse();
}

/// Writes binary PGM or PPM; throws netpbm::error. The file appears whole or not at all: it is
/// written under another name beside `file` first, and replaces `file` only when it is complete.
inline void write(const std::filesystem::path& file, const image& raster) {
  std::filesystem::path part = file;
  part += ".part" + std::to_string(std::random_device{}());
  std::ofstream stream(part, std::ios::binary);
  if (!stream) throw error(file, "cannot be written: its directory takes no new file");
  stream << (raster.channels == 3 ? "P6\n" : "P5\n") << raster.width << ' ' << raster.height << '\n'
         << raster.maxval << '\n';
  stream.write(reinterpret_cast<const char*>(raster.samples.data()),
               static_cast<std::streamsize>(raster.samples.size()));
  stream.close();
  std::error_code trouble;
  if (stream) std::filesystem::rename(part, file, trouble);
  if (!stream || trouble) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw error(file, "cannot be written" + (trouble ? ": " + trouble.message() : std::string()));
  }
}

}  // namespace netpbm
