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
#include <filesystem>
#include <fstream>
#include <functional>
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

// Rank 0 writes the bytes, and the others wait for them. The file appears whole or not at all.
template <class Id>
bool hand_round(const place& own, Id& id) {
  if (own.ranks == 1) { return true; }
  if (own.rank == 0) {
    const std::string part = own.meeting_point + ".part";
    std::ofstream(part, std::ios::binary).write(reinterpret_cast<const char*>(&id), sizeof id);
    return std::rename(part.c_str(), own.meeting_point.c_str()) == 0;
  }
  for (int tries = 0; tries < 600; ++tries) {
    std::ifstream file(own.meeting_point, std::ios::binary);
    if (file.read(reinterpret_cast<char*>(&id), sizeof id)) { return true; }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

// What a process of its own returns, up to 255; 255 where it fails. CUDA must not have been used before a fork.
inline int run_apart(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) { std::_Exit(work()); }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                               : 255;
}

// Runs work(place) in one process for each rank. Where one fails the others are ended, which would wait for it.
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
    if (child > 0) { children.push_back(child); }
  }
  int result = children.size() == static_cast<std::size_t>(count) ? 0 : 1;
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = wait(&status);
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (pid_t& child : children) {
      if (child == ended) { child = 0; }
    }
    if (good || result != 0) { continue; }
    result = 1;
    for (const pid_t child : children) {
      if (child > 0) { kill(child, SIGTERM); }
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return result;
}

}  // namespace ranks
