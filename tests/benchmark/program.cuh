// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The program round the cases: command line, run, tables. Google Benchmark's own options work; ours:
//   --table             print Markdown tables after the run
//   --table_out=FILE    write them to FILE instead
//   --rounds=N          rounds that each median is taken from (15)
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "harness.cuh"

namespace bench {

struct arguments {
  bool list = false, table = false;
  std::string table_file;
};

// Takes out what is ours and leaves the rest to Google Benchmark.
inline arguments parse(int& argc, char** argv) {
  arguments result;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return word.substr(word.find('=') + 1); };
    if (word == "--table") {
      result.table = true;
    } else if (word.rfind("--table_out=", 0) == 0) {
      result.table_file = value();
    } else if (word.rfind("--rounds=", 0) == 0) {
      options().rounds = std::max(1, std::stoi(value()));
    } else {
      result.list = result.list || word.rfind("--benchmark_list_tests", 0) == 0;
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return result;
}

inline int run(int argc, char** argv, void (*register_cases)()) {
  const arguments args = parse(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) { return 1; }
  if (!args.list) {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
      std::cerr << "No CUDA device here (" << cudaGetErrorString(status) << "): nothing was run.\n";
      return 0;
    }
    must(status, "cudaGetDeviceCount");
    set_up_device();
    benchmark::AddCustomContext("gpu", machine());
  }
  register_cases();
  if (outcome().left_out != 0) {
    std::cerr << outcome().left_out << " cases are left out: too large for this GPU's memory\n";
  }
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (args.list) { return 0; }
  if (!args.table_file.empty()) {
    std::ofstream file(args.table_file);
    write_tables(file, machine());
    file.close();
    if (!file) { throw std::runtime_error("could not write " + args.table_file); }
  } else if (args.table) {
    write_tables(std::cout, machine());
  }
  for (const result& r : outcome().results) {
    if (r.misses_goal()) {
      std::cerr << "misses its goal: " << r.name << ", " << number(r.score(), 2) << " for "
                << number(r.row.floor, 1) << "\n";
    }
  }
  for (const std::string& failure : outcome().failures) {
    std::cerr << "FAILED " << failure << "\n";
  }
  return matched == 0 || !outcome().failures.empty() ? 1 : 0;
}

/// What main returns. `register_cases` is called where there is a device, or where names are listed.
inline int run_program(int argc, char** argv, void (*register_cases)()) {
  try {
    return run(argc, argv, register_cases);
  } catch (const std::exception& error) {
    std::cerr << "benchmark: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace bench
