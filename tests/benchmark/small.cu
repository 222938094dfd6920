// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small and middle problems, 2 KB to 32 MB: every call at seeded shapes, each in a graph of 40
// calls, beside cudaMemcpyAsync of as many bytes, the textbook kernel, the explicit form
// transpose<T, 32, 8> and cuBLAS. Needs no Google Benchmark; takes its names for options and writes
// its format, so that compare.sh reads both. Cases are named family/call/type/shape; shapes are
// columns x rows of the input, with the batch in front. The time of a graph begins before the host
// launches it, so that some of the launch counts, for everybody alike; --queued leaves that out. Options:
//   --seed=N                   of the shapes (1)
//   --shapes=N                 number of shapes; every call runs at each (200)
//   --calls=A,B                only these calls
//   --benchmark_filter=REGEX   only cases whose names match; with a dash in front, only the others
//   --benchmark_out=FILE       write every case as JSON
//   --benchmark_list_tests     print the names of the cases, and stop
//   --rounds=N                 graphs that each median is taken from (9)
//   --queued                   keep the GPU busy with one graph while the timed one is queued
//   --seconds=N                start no case later than this (240)
//   --worst=N                  rows of each list of single cases (15)

#include <cuda_runtime.h>
#include <regex.h>  // <regex> takes a compiler as long as the rest of this file

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device.cuh"
#include "small/cases.cuh"

namespace bench {
namespace {

// ---- options ------------------------------------------------------------------------------------

struct small_options {
  std::uint64_t seed = 1;
  std::size_t shapes = 200;
  int rounds = 9;
  double seconds = 240;
  std::size_t worst = 15;
  std::set<std::string> calls;
  std::string filter, out;
  bool list = false, queued = false;
};

small_options parse(int argc, char** argv) {
  small_options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    const std::string value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
    const auto number = [&] {
      if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) {
        throw std::runtime_error(name + " takes a number");
      }
      return std::stoull(value);
    };
    const auto count = [&] { return std::max(1ull, number()); };
    if (name == "--seed") {
      o.seed = number();
    } else if (name == "--shapes") {
      o.shapes = count();
    } else if (name == "--rounds") {
      o.rounds = static_cast<int>(count());
    } else if (name == "--seconds") {
      o.seconds = static_cast<double>(number());
    } else if (name == "--worst") {
      o.worst = number();
    } else if (name == "--calls") {
      std::istringstream calls(value);
      for (std::string call; std::getline(calls, call, ',');) { o.calls.insert(call); }
    } else if (name == "--benchmark_filter") {
      o.filter = value;
    } else if (name == "--benchmark_out") {
      o.out = value;
    } else if (name == "--queued") {
      o.queued = true;
    } else if (name == "--benchmark_list_tests") {
      o.list = true;
    } else if (word != "--benchmark_out_format=json") {
      throw std::runtime_error("unknown option " + word + "; small.cu lists them at its top");
    }
  }
  return o;
}

// ---- cases --------------------------------------------------------------------------------------

class name_filter {
 public:
  // All names match an empty expression; with a dash in front those match that otherwise do not.
  explicit name_filter(const std::string& text) : others_{!text.empty() && text[0] == '-'} {
    const char* const expression = text.c_str() + (others_ ? 1 : 0);
    if (regcomp(&compiled_, expression, REG_EXTENDED | REG_NOSUB) != 0) {
      throw std::runtime_error("no regular expression: " + text);
    }
  }
  name_filter(const name_filter&) = delete;
  name_filter& operator=(const name_filter&) = delete;
  ~name_filter() { regfree(&compiled_); }

  bool takes(const std::string& name) const {
    return (regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0) != others_;
  }

 private:
  bool others_;
  regex_t compiled_{};
};

// Every call at the first shape, then at the second: a run that is cut short has some of each.
small_plan make_plan(const small_options& o) {
  small_plan plan;
  for (const small_shape& shape : make_small_shapes(o.seed, o.shapes)) {
    plan_moves_1_to_3(shape, plan);
    plan_moves_4_to_16(shape, plan);
    plan_fused_1_to_3(shape, plan);
    plan_fused_4_to_16(shape, plan);
  }
  for (const std::string& call : o.calls) {
    if (std::none_of(plan.begin(), plan.end(), [&](const auto& c) { return c.call == call; })) {
      throw std::runtime_error("no call is named " + call);
    }
  }
  const name_filter filter(o.filter);
  const auto unwanted = [&](const small_case& c) {
    return (!o.calls.empty() && o.calls.count(c.call) == 0) || !filter.takes(c.name());
  };
  plan.erase(std::remove_if(plan.begin(), plan.end(), unwanted), plan.end());
  return plan;
}

// ---- timing -------------------------------------------------------------------------------------

class graph_of_calls {
 public:
  static constexpr int calls = 40;

  graph_of_calls(const std::function<cudaError_t()>& call, bool queued) : queued_{queued} {
    const cudaStream_t stream = device().stream;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    cudaError_t status = cudaSuccess;
    for (int i = 0; i < calls && status == cudaSuccess; ++i) { status = call(); }
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (status == cudaSuccess) { status = ended; }
    if (status == cudaSuccess) { status = cudaGraphInstantiate(&exec_, graph, 0); }
    if (graph != nullptr) { cudaGraphDestroy(graph); }
    must(status, "a graph of the call");
  }
  graph_of_calls(const graph_of_calls&) = delete;
  graph_of_calls& operator=(const graph_of_calls&) = delete;
  ~graph_of_calls() {
    if (exec_ != nullptr) { cudaGraphExecDestroy(exec_); }
  }

  void sample() { samples_.push_back(replay()); }

  // Seconds a call.
  double replay() {
    const arena& a = device();
    if (queued_) { must(cudaGraphLaunch(exec_, a.stream), "cudaGraphLaunch"); }
    must(cudaEventRecord(a.start, a.stream), "cudaEventRecord");
    must(cudaGraphLaunch(exec_, a.stream), "cudaGraphLaunch");
    must(cudaEventRecord(a.stop, a.stream), "cudaEventRecord");
    must(cudaEventSynchronize(a.stop), "timed calls");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, a.start, a.stop), "cudaEventElapsedTime");
    return milliseconds * 1e-3 / calls;
  }

  double median() {
    const auto middle = samples_.begin() + static_cast<std::ptrdiff_t>(samples_.size() / 2);
    std::nth_element(samples_.begin(), middle, samples_.end());
    return *middle;
  }

 private:
  bool queued_;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<double> samples_;
};

// ---- one case -----------------------------------------------------------------------------------

struct small_outcome {
  std::vector<small_result> results;
  std::vector<std::string> failures;
  std::set<std::string> declined;  // by peers, each reason once
  std::size_t left_out = 0;        // cases
  bool device_lost = false;
};

const char* name_of(entrant who) { return entrant_names[static_cast<std::size_t>(who)]; }

// An error that a kernel has caused stays, and every later call would fail with it.
bool device_is_lost() {
  const cudaError_t status = cudaStreamSynchronize(device().stream);
  cudaGetLastError();
  return status != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
}

// Runs everybody once and keeps those whose output is right. Throws where this library's is not.
std::vector<small_entrant> verified(const small_case& c, small_outcome& outcome) {
  std::vector<small_entrant> field;
  for (const small_entrant& e : c.field) {
    try {
      c.prepare();
      const cudaError_t status = e.call();
      if (status != cudaSuccess && e.who != entrant::ours) {
        outcome.declined.insert(std::string{name_of(e.who)} +
                                " declines: " + cudaGetErrorString(status));
        cudaGetLastError();
        continue;
      }
      must(status, "call");
      must(cudaStreamSynchronize(device().stream), "run");
      c.check();
      field.push_back(e);
    } catch (const std::exception& error) {
      const std::string text = std::string{name_of(e.who)} + ": " + error.what();
      if (e.who == entrant::ours || device_is_lost()) { throw std::runtime_error(text); }
      outcome.failures.push_back(c.name() + ": " + text);
    }
  }
  return field;
}

// Medians of rounds in which everybody takes turns, so that clocks and temperature drift for all
// alike.
small_result measure(const small_case& c, const small_options& o, small_outcome& outcome) {
  std::vector<small_entrant> field = verified(c, outcome);
  const arena& a = device();
  field.insert(field.begin(), {entrant::reference, [&] {
                                 return cudaMemcpyAsync(a.out, a.in, c.copied,
                                                        cudaMemcpyDeviceToDevice, a.stream);
                               }});
  std::vector<std::pair<entrant, std::unique_ptr<graph_of_calls>>> graphs;
  for (const small_entrant& e : field) {
    try {
      graphs.emplace_back(e.who, std::make_unique<graph_of_calls>(e.call, o.queued));
      graphs.back().second->replay();
    } catch (const std::exception& error) {
      const std::string text = std::string{name_of(e.who)} + ": " + error.what();
      cudaGetLastError();
      if (e.who <= entrant::ours || device_is_lost()) { throw std::runtime_error(text); }
      outcome.declined.insert(text);
      if (!graphs.empty() && graphs.back().first == e.who) { graphs.pop_back(); }
    }
  }
  for (int round = 0; round < o.rounds; ++round) {
    for (auto& [who, graph] : graphs) { graph->sample(); }
  }
  small_result result{c.family(), c.call, c.name(), c.element, c.copied};
  for (auto& [who, graph] : graphs) {
    result.seconds[static_cast<std::size_t>(who)] = graph->median();
  }
  return result;
}

small_outcome run_all(const small_plan& plan, const small_options& o) {
  small_outcome outcome;
  const auto from = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - from;
    if (spent.count() > o.seconds) {
      outcome.left_out = plan.size() - i;
      break;
    }
    try {
      outcome.results.push_back(measure(plan[i], o, outcome));
    } catch (const std::exception& error) {
      outcome.failures.push_back(plan[i].name() + ": " + error.what());
      cudaGetLastError();
      if (device_is_lost()) {
        outcome.left_out = plan.size() - i - 1;
        outcome.device_lost = true;
        break;
      }
    }
  }
  return outcome;
}

// ---- results ------------------------------------------------------------------------------------

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') { result += '\\'; }
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

// As Google Benchmark writes it, with microseconds of everybody beside `real_time`, which is ours.
void write_json(std::ostream& to, const std::vector<small_result>& results,
                const small_options& o) {
  static constexpr const char* fields[] = {"ref_us", "tt_us", "textbook_us", "explicit_us",
                                           "geam_us"};
  to << std::setprecision(9) << "{\n  \"context\": {\"gpu\": " << quoted(machine())
     << ", \"seed\": " << o.seed << ", \"shapes\": " << o.shapes << ", \"rounds\": " << o.rounds
     << "},\n  \"benchmarks\": [";
  const char* separator = "\n";
  for (const small_result& r : results) {
    const double ours = r.of(entrant::ours) * 1e6;
    to << separator << "    {\"name\": " << quoted(r.name) << ", \"run_name\": " << quoted(r.name)
       << ", \"run_type\": \"iteration\", \"iterations\": " << o.rounds * graph_of_calls::calls
       << ", \"real_time\": " << ours << ", \"cpu_time\": " << ours
       << ", \"time_unit\": \"us\", \"x_ref\": " << r.times_memcpy();
    for (std::size_t who = 0; who < r.seconds.size(); ++who) {
      if (r.seconds[who] > 0) { to << ", \"" << fields[who] << "\": " << r.seconds[who] * 1e6; }
    }
    to << "}";
    separator = ",\n";
  }
  to << "\n  ]\n}\n";
}

void set_up_small_device() {
  device().bytes = std::size_t{192} << 20;
  set_up_device();
  if (device().bytes < std::size_t{192} << 20) {
    throw std::runtime_error("the GPU has less than 384 MiB of free memory");
  }
  must(cudaMalloc(&pointer_arrays(), pointer_array_bytes), "cudaMalloc of arrays of pointers");
}

int run_small(int argc, char** argv) {
  const small_options o = parse(argc, argv);
  if (!o.list) {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
      std::cerr << "No CUDA device here (" << cudaGetErrorString(status) << "): nothing was run.\n";
      return 0;
    }
    must(status, "cudaGetDeviceCount");
    set_up_small_device();
  }
  const small_plan plan = make_plan(o);
  if (o.list) {
    for (const small_case& c : plan) { std::cout << c.name() << "\n"; }
    return 0;
  }
  std::ofstream file;
  if (!o.out.empty()) {
    file.open(o.out);
    if (!file) { throw std::runtime_error("could not open " + o.out); }
  }
  const std::time_t now = std::time(nullptr);
  std::cout << machine() << "; " << std::put_time(std::gmtime(&now), "%Y-%m-%d") << "; seed "
            << o.seed << ", " << plan.size() << " cases, medians of " << o.rounds << " graphs of "
            << graph_of_calls::calls << " calls" << (o.queued ? ", queued" : "") << std::endl;

  const auto from = std::chrono::steady_clock::now();
  const small_outcome outcome = run_all(plan, o);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - from;
  if (file.is_open()) {
    write_json(file, outcome.results, o);
    file.close();
    if (!file) { throw std::runtime_error("could not write " + o.out); }
  }
  std::cout << outcome.results.size() << " cases in " << decimal(spent.count(), 1) << " s\n";
  for (const std::string& text : outcome.declined) { std::cerr << "drops out: " << text << "\n"; }
  for (const std::string& failure : outcome.failures) { std::cerr << "FAILED " << failure << "\n"; }
  write_summary(std::cout, outcome.results, o.worst);
  if (outcome.left_out != 0) {
    std::cout << "\n"
              << outcome.left_out << " cases are left out: "
              << (outcome.device_lost ? "a kernel has failed" : "the time is over") << "\n";
  }
  std::cout << "\n" << outcome.failures.size() << " failures" << std::endl;
  return outcome.failures.empty() && !outcome.results.empty() ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run_small(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "benchmark: " << error.what() << "\n";
    return 1;
  }
}
