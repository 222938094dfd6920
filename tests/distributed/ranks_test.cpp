// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the distributed example starts its ranks, and how these come to one id. No GPU and no NCCL is needed.

#include <sys/types.h>
#include <unistd.h>

namespace {

int forks_left = 1000;

/// fork(), and a failure where no more are allowed.
pid_t limited_fork() { return forks_left-- > 0 ? fork() : -1; }

}  // namespace

#define fork limited_fork
#include "../../examples/distributed/ranks.hpp"
#undef fork

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using clock_of_test = std::chrono::steady_clock;
using id_bytes = std::array<char, 128>;

id_bytes id_of(char byte) {
  id_bytes id{};
  id.fill(byte);
  return id;
}

/// A folder that is empty before and gone afterwards.
struct folder {
  std::filesystem::path path;
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ranks_test.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void write(const std::string& name, const std::string& bytes) {
  std::ofstream(name, std::ios::binary) << bytes;
}

/// Catch2 reports signals, for which a process that was forked may wait forever.
void end_at_once() { std::signal(SIGTERM, SIG_DFL); }

/// All ranks come to rank 0's id, the one named first before the others.
void check_round(const std::string& meeting_point, int count, int first) {
  std::vector<id_bytes> ids(static_cast<std::size_t>(count), id_of('?'));
  std::vector<char> handed(ids.size(), 0);
  ids[0] = id_of('N');
  std::vector<std::thread> ranks;
  for (int i = 0; i < count; ++i) {
    const int rank = (first + i) % count;
    ranks.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      handed[at] = ranks::hand_round({rank, count, rank, meeting_point}, ids[at]) ? 1 : 0;
    });
    if (i == 0) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
  }
  for (std::thread& rank : ranks) { rank.join(); }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    INFO("rank " << i << " of " << count << ", rank " << first << " came first");
    CHECK(handed[i] == 1);
    CHECK(ids[i] == id_of('N'));
  }
}

}  // namespace

TEST_CASE("all ranks take the id of their run and leave no file") {
  const folder own;
  const std::string meeting_point = (own.path / "id").string();
  for (const int count : {1, 2, 5}) {
    check_round(meeting_point, count, 0);
    check_round(meeting_point, count, count - 1);
    CHECK(std::filesystem::is_empty(own.path));
  }
}

TEST_CASE("what an earlier run has left behind is not taken for an id") {
  for (const int first : {0, 1}) {
    const folder own;
    const std::string meeting_point = (own.path / "id").string();
    const std::string old_id(sizeof(id_bytes), 'O');
    // The id alone, as earlier versions wrote it; an answer to other numbers; questions that nobody waits for.
    for (const std::string& numbers : {std::string(), std::string(16 * 3, '4')}) {
      write(meeting_point, old_id + numbers);
      write(meeting_point + ".1", std::string(16, '4'));
      write(meeting_point + ".2", "not a number");
      check_round(meeting_point, 3, first);
    }
    CHECK(std::filesystem::is_empty(own.path));
  }
}

TEST_CASE("where a rank cannot be started, those that were started are ended") {
  // Each rank waits for the others as NCCL does.
  const auto wait_for_others = [](const ranks::place&) {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return 0;
  };
  end_at_once();
  for (const int allowed : {0, 1, 2}) {
    forks_left = allowed;
    const auto begin = clock_of_test::now();
    CHECK(ranks::start(3, wait_for_others) == 1);
    CHECK(forks_left == -1);  // nobody tries again
    CHECK(clock_of_test::now() - begin < std::chrono::seconds(10));
  }
  forks_left = 1000;
}

TEST_CASE("where a rank fails the others are ended, and else all end well") {
  end_at_once();
  const auto begin = clock_of_test::now();
  CHECK(ranks::start(3, [](const ranks::place& own) {
          if (own.rank == 1) { return 1; }
          std::this_thread::sleep_for(std::chrono::seconds(20));
          return 0;
        }) == 1);
  CHECK(clock_of_test::now() - begin < std::chrono::seconds(10));
  CHECK(ranks::start(3, [](const ranks::place& own) { return own.ranks == 3 ? 0 : 1; }) == 0);
}

TEST_CASE("a process that fails returns no number of GPUs") {
  CHECK(ranks::run_apart([] { return 0; }) == 0);
  CHECK(ranks::run_apart([] { return 255; }) == 255);
  CHECK(ranks::run_apart([] { return raise(SIGKILL); }) == -1);
  forks_left = 0;
  CHECK(ranks::run_apart([] { return 3; }) == -1);
  forks_left = 1000;
}
