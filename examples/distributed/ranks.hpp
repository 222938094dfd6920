// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rank of how many a process is: as mpirun or torchrun says in the environment, or as this program itself says when it
// starts one process for each GPU. Host code for POSIX systems.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace ranks {

struct place {
  int rank = 0;
  int ranks = 1;
  int device = 0;             // of the process's host
  std::string meeting_point;  // a file by which rank 0 hands the others the communicator's id
};

inline bool read(const char* name, int& value) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') { return false; }
  value = std::atoi(text);
  return true;
}

// True where something else has started this process as one of several. Ranks of one host have one parent; on several
// hosts TILETRANSPOSE_ID_FILE names a file that all of them see.
inline bool from_environment(place& result) {
  const char* const names[][3] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"}};  // torchrun
  for (const auto& [rank, count, local] : names) {
    if (!read(rank, result.rank) || !read(count, result.ranks)) { continue; }
    if (!read(local, result.device)) { result.device = result.rank; }
    const char* const file = std::getenv("TILETRANSPOSE_ID_FILE");
    result.meeting_point = file != nullptr ? file
                                           : (std::filesystem::temp_directory_path() /
                                              ("tiletranspose_id." + std::to_string(getppid())))
                                                 .string();
    return true;
  }
  return false;
}

// The file appears whole or not at all.
inline bool write_whole(const std::string& name, const std::string& bytes) {
  const std::string part = name + ".part";
  std::ofstream file(part, std::ios::binary);
  file << bytes;
  file.close();
  return file && std::rename(part.c_str(), name.c_str()) == 0;
}

// Empty where the file is not there or has another size.
inline std::string read_whole(const std::string& name, std::size_t size) {
  std::ifstream file(name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return bytes.size() == size ? bytes : std::string();
}

// Calls done() every tenth of a second until it is true, for a minute.
template <class Done>
bool wait_until(Done done) {
  for (int tries = 0; tries < 600; ++tries) {
    if (done()) { return true; }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

// Hands the id of rank 0 to all ranks. Each of the others asks for it with a number that it draws, in a file of its own.
// Rank 0 answers with the id and the numbers of all, and anew when a number has changed, until the others have removed
// their files. They take only an answer that has their own number: what an earlier run left behind has another one.
template <class Id>
bool hand_round(const place& own, Id& id) {
  if (own.ranks == 1) { return true; }
  constexpr std::size_t digits = 16;
  const auto count = static_cast<std::size_t>(own.ranks);
  const auto rank = static_cast<std::size_t>(own.rank);
  const auto question = [&](std::size_t of) {
    return own.meeting_point + '.' + std::to_string(of);
  };
  if (rank != 0) {
    std::random_device random;
    std::string number(digits, '0');
    for (char& digit : number) { digit = static_cast<char>('0' + random() % 10); }
    const auto has_answer = [&] {
      const std::string answer = read_whole(own.meeting_point, sizeof id + count * digits);
      if (answer.empty() || answer.compare(sizeof id + rank * digits, digits, number) != 0) {
        return false;
      }
      std::memcpy(&id, answer.data(), sizeof id);
      return true;
    };
    return write_whole(question(rank), number) && wait_until(has_answer) &&
           std::remove(question(rank).c_str()) == 0;
  }
  std::string numbers(count * digits, ' ');
  const auto have_all = [&] {
    std::string found = numbers;
    bool waits = false;
    std::error_code ignored;
    for (std::size_t of = 1; of < count; ++of) {
      const std::string number = read_whole(question(of), digits);
      waits = waits || std::filesystem::exists(question(of), ignored);
      if (!number.empty()) { found.replace(of * digits, digits, number); }
    }
    if (found != numbers) {
      numbers = found;
      (void)write_whole(own.meeting_point,
                        std::string(reinterpret_cast<const char*>(&id), sizeof id) + numbers);
    }
    return !waits && numbers.find(' ', digits) == std::string::npos;
  };
  const bool handed = wait_until(have_all);
  std::remove(own.meeting_point.c_str());
  return handed;
}

// What a process of its own returns, up to 255; -1 where it is ended by a signal or cannot be started. CUDA must not have
// been used before a fork.
inline int run_apart(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) { std::_Exit(work()); }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                               : -1;
}

// Runs work(place) in one process for each rank. Where one fails or cannot be started the others are ended, which
// would wait for it.
inline int start(int count, const std::function<int(const place&)>& work) {
  char folder[] = "/tmp/tiletranspose.XXXXXX";
  if (mkdtemp(folder) == nullptr) { return 1; }
  std::vector<pid_t> children;
  for (int rank = 0; rank < count; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      const int status = work({rank, count, rank, std::string(folder) + "/id"});
      std::fflush(stdout);
      std::_Exit(status);
    }
    if (child < 0) { break; }
    children.push_back(child);
  }
  const auto end_all = [&] {
    for (const pid_t child : children) {
      if (child > 0) { kill(child, SIGTERM); }
    }
  };
  int result = 0;
  if (children.size() < static_cast<std::size_t>(count)) {
    std::fprintf(stderr, "of %d ranks only %zu could be started\n", count, children.size());
    result = 1;
    end_all();
  }
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = wait(&status);
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (pid_t& child : children) {
      if (child == ended) { child = 0; }
    }
    if (good || result != 0) { continue; }
    result = 1;
    end_all();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return result;
}

}  // namespace ranks
