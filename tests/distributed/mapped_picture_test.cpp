// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the streamed example maps pictures: where their samples begin, and files that are there with all their blocks.

#include "../../examples/streamed/mapped_picture.hpp"

#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

/// The name of a file in a folder that is gone afterwards.
struct file_name {
  std::filesystem::path folder;
  std::string name;
  file_name() {
    std::string made = (std::filesystem::temp_directory_path() / "mapped_test.XXXXXX").string();
    REQUIRE(mkdtemp(made.data()) != nullptr);
    folder = made;
    name = (folder / "picture").string();
  }
  file_name(const file_name&) = delete;
  file_name& operator=(const file_name&) = delete;
  ~file_name() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

/// The samples of a picture, or what is said of it, without its name.
std::string read(const std::string& content) {
  const file_name own;
  std::ofstream(own.name, std::ios::binary) << content;
  try {
    const mapped::file file(own.name);
    const mapped::picture found = mapped::parse(own.name, file);
    return std::string(reinterpret_cast<const char*>(file.data() + found.first), found.bytes());
  } catch (const std::exception& trouble) {
    return std::string(trouble.what()).substr(own.name.size() + 2);
  }
}

}  // namespace

TEST_CASE("samples begin behind one white space, which a comment may come before") {
  CHECK(read("P5\n2 2\n120\nABCD") == "ABCD");
  CHECK(read("P6 1 1 255 ABC") == "ABC");
  CHECK(read("P5\n# made\n2 # wide\n2\n120\n\nBCD") == "\nBCD");
  CHECK(read("P5\n2 2\n120#\nABCD") == "ABCD");
  CHECK(read("P5\n2 2\n120#made by x\nABCD") == "ABCD");
  CHECK(read("P5\n2 2\n120ABCDE") == "no white space follows the maxval");
  CHECK(read("P5\n2 2\n120#ABCD") == "ends before its pixels do");
  CHECK(read("P5\n2 2\n120") == "ends before its pixels do");
}

TEST_CASE("a number of a header may have any number of digits") {
  CHECK(read("P5\n0000000000002 00000000000000000000002\n120\nABCD") == "ABCD");
  CHECK(read("P5\n1000000000002 2\n120\nABCD") == "ends before its pixels do");
  CHECK(read("P5\n18446744073709551616 2\n120\nABCD") == "its width is too large");
  CHECK(read("P5\n18446744073709551615 18446744073709551615\n120\nA") ==
        "ends before its pixels do");
  CHECK(read("P5\n0 2\n120\nABCD") == "has no pixels");
  CHECK(read("P5\n2 2\n0\nABCD") == "has a maxval of 0");
  CHECK(read("P5\n2 2\n256\nABCD") == "has samples of two bytes");
}

TEST_CASE("a new file has all of its blocks before it is written") {
  const file_name own;
  constexpr std::size_t bytes = std::size_t{4} << 20;
  std::ofstream(own.name) << "what is replaced";
  const mapped::file file(own.name, bytes);
  struct stat facts {};
  REQUIRE(stat(own.name.c_str(), &facts) == 0);
  CHECK(file.size() == bytes);
  CHECK(static_cast<std::size_t>(facts.st_size) == bytes);
  CHECK(static_cast<std::size_t>(facts.st_blocks) * 512 >= bytes);
  CHECK(file.data()[0] == 0);
  file.data()[bytes - 1] = 1;
}

TEST_CASE("a file for which there is no room is refused and not left behind") {
  const file_name own;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit less{1 << 20, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &less) == 0);
  std::string said;
  try {
    const mapped::file file(own.name, std::size_t{2} << 20);
  } catch (const mapped::error& trouble) { said = trouble.what(); }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(said == own.name + ": " + std::strerror(EFBIG));
  CHECK(!std::filesystem::exists(own.name));
}
