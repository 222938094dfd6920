// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What every case of the programs on Google Benchmark shares: interleaved timing and tables.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device.cuh"

namespace bench {

// ---- timing -------------------------------------------------------------------------------------

enum class stopwatch { device, graph, host };

// Whoever runs in a case: the reference first, this library second, its peers after them.
// slot: which copy of the problem, where a case rotates through several.
struct contender {
  // `streams`: as many bytes of the same matrices, moved by a kernel that leaves them in order.
  enum role : std::size_t { reference, ours, textbook, geam, thrust, streams, count };
  role who;
  std::function<cudaError_t(std::size_t slot)> call;
  std::function<void(std::size_t slot)> check;  // throws; none for the reference
};
using times = std::array<double, contender::count>;  // seconds a call, zero where none took part

struct settings {
  int rounds = 15;
  double round_seconds = 4e-3;
};

inline settings& options() {
  static settings instance;
  return instance;
}

class timer {
 public:
  timer(stopwatch watch, const contender& who, std::size_t slots) : watch_{watch}, who_{who} {
    if (watch_ == stopwatch::graph) { capture(slots); }
    run(1);
    const double one = run(1);
    calls_ = watch_ == stopwatch::host
                 ? 256  // below the depth of the launch queue, which would block
                 : static_cast<std::size_t>(
                       std::clamp(options().round_seconds / (one * calls_in_graph()), 1.0, 1e3));
  }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer() {
    if (exec_ != nullptr) { cudaGraphExecDestroy(exec_); }
  }

  void sample() { samples_.push_back(run(calls_)); }

  // Of an even number the faster one in the middle: a peer has two.
  double median() {
    const auto middle = samples_.begin() + static_cast<std::ptrdiff_t>((samples_.size() - 1) / 2);
    std::nth_element(samples_.begin(), middle, samples_.end());
    return *middle;
  }

 private:
  static constexpr std::size_t graph_calls = 500;
  std::size_t calls_in_graph() const { return exec_ != nullptr ? graph_calls : 1; }

  void capture(std::size_t slots) {
    const cudaStream_t stream = device().stream;
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    cudaError_t status = cudaSuccess;
    for (std::size_t i = 0; i < graph_calls && status == cudaSuccess; ++i) {
      status = who_.call(i % slots);
    }
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (status == cudaSuccess && ended == cudaSuccess) {
      status = cudaGraphInstantiate(&exec_, graph, 0);
    }
    if (graph != nullptr) { cudaGraphDestroy(graph); }
    must(status, "a call inside stream capture");
    must(ended, "end of capture");
  }

  // Seconds a call, from `n` calls or replays enqueued without a pause.
  double run(std::size_t n) {
    const arena& a = device();
    must(cudaStreamSynchronize(a.stream), "before timing");
    must(cudaEventRecord(a.start, a.stream), "cudaEventRecord");
    const auto from = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < n; ++i) {
      must(exec_ != nullptr ? cudaGraphLaunch(exec_, a.stream) : who_.call(0), "timed call");
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - from;
    must(cudaEventRecord(a.stop, a.stream), "cudaEventRecord");
    must(cudaEventSynchronize(a.stop), "timed calls");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, a.start, a.stop), "cudaEventElapsedTime");
    const double seconds = watch_ == stopwatch::host ? wall.count() : milliseconds * 1e-3;
    return seconds / static_cast<double>(n * calls_in_graph());
  }

  stopwatch watch_;
  const contender& who_;
  cudaGraphExec_t exec_ = nullptr;
  std::size_t calls_ = 1;
  std::vector<double> samples_;
};

// Medians of rounds in which everybody takes turns, so that clocks and temperature drift for all
// alike. The peers sit out two rounds of three: they only place the result.
inline times race(stopwatch watch, const std::vector<contender>& field, std::size_t slots) {
  std::vector<std::pair<contender::role, std::unique_ptr<timer>>> timers;
  for (const contender& c : field) {
    try {
      timers.emplace_back(c.who, std::make_unique<timer>(watch, c, slots));
    } catch (const std::exception& error) {
      if (c.who <= contender::ours) { throw; }
      std::cerr << "a peer drops out: " << error.what() << "\n";
    }
  }
  for (int round = 0; round < options().rounds; ++round) {
    for (auto& [who, t] : timers) {
      if (who <= contender::ours || round % 3 == 0) { t->sample(); }
    }
  }
  times result{};
  for (auto& [who, t] : timers) { result[who] = t->median(); }
  return result;
}

// Runs everybody once and compares all that they wrote. A peer that declines a shape drops out;
// anything else that goes wrong throws. `prepare` is called before each of them.
template <class Prepare>
void verify_all(std::vector<contender>& field, std::size_t slots, const std::string& name,
                Prepare prepare) {
  static constexpr const char* who[] = {"reference", "tiletranspose", "textbook",
                                        "geam",      "thrust",        "streams"};
  const arena& a = device();
  for (auto c = field.begin(); c != field.end();) {
    prepare();
    cudaError_t status = cudaSuccess;
    for (std::size_t slot = 0; slot < slots && status == cudaSuccess; ++slot) {
      status = c->call(slot);
    }
    if (status != cudaSuccess && c->who > contender::ours) {
      std::cerr << name << ": " << who[c->who] << " declines: " << cudaGetErrorString(status)
                << "\n";
      c = field.erase(c);
      continue;
    }
    try {
      must(status, "call");
      must(cudaStreamSynchronize(a.stream), "run");
      for (std::size_t slot = 0; slot < slots && c->check; ++slot) { c->check(slot); }
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string{who[c->who]} + ": " + error.what());
    }
    ++c;
  }
}

// ---- results ------------------------------------------------------------------------------------

// A row of the summary. `floor` is the goal: least % of the reference's speed for the device, most
// times the reference's time for graph and host; zero where there is none.
struct goal {
  const char* family;
  const char* work;
  double floor;
  stopwatch watch = stopwatch::device;
};

struct result {
  goal row;
  std::string name;
  double bytes;  // read plus written
  times seconds;

  double percent(contender::role who) const {
    return 100 * seconds[contender::reference] / seconds[who];
  }
  double ratio() const { return seconds[contender::ours] / seconds[contender::reference]; }
  double terabytes(contender::role who) const { return bytes / seconds[who] * 1e-12; }
  // The figure that the goal speaks of.
  double score() const {
    return row.watch == stopwatch::device ? percent(contender::ours) : ratio();
  }
  bool misses_goal() const {
    return row.floor > 0 &&
           (row.watch == stopwatch::device ? score() < row.floor : score() > row.floor);
  }
};

struct report {
  std::vector<result> results;
  std::vector<std::string> failures;
  int left_out = 0;  // cases
};

inline report& outcome() {
  static report instance;
  return instance;
}

// A case. What `body` throws is a failure under its name, and the other cases go on.
inline void register_case(const std::string& name, std::function<void(benchmark::State&)> body) {
  const auto guarded = [=](benchmark::State& state) {
    try {
      body(state);
    } catch (const std::exception& error) {
      outcome().failures.push_back(name + ": " + error.what());
      state.SkipWithError(error.what());
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), guarded)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMicrosecond);
}

inline void publish(benchmark::State& state, const result& r) {
  static constexpr const char* names[] = {"ref", "tt", "textbook", "geam", "thrust", "streams"};
  for (auto _ : state) { state.SetIterationTime(r.seconds[contender::ours]); }
  if (r.row.watch == stopwatch::device) {
    state.counters["pct_of_memcpy"] = r.percent(contender::ours);
    state.counters["TBps"] = r.terabytes(contender::ours);
    state.counters["memcpy_TBps"] = r.terabytes(contender::reference);
    for (const auto who :
         {contender::textbook, contender::geam, contender::thrust, contender::streams}) {
      if (r.seconds[who] > 0) { state.counters[std::string{names[who]} + "_pct"] = r.percent(who); }
    }
  } else {
    state.counters["x_ref"] = r.ratio();
    for (std::size_t who = 0; who < r.seconds.size(); ++who) {
      if (r.seconds[who] > 0) {
        state.counters[std::string{names[who]} + "_us"] = r.seconds[who] * 1e6;
      }
    }
  }
  if (r.row.floor > 0) { state.counters["goal"] = r.row.floor; }
  outcome().results.push_back(r);
}

inline std::string number(double value, int digits) {
  if (!(value > 0)) { return "-"; }
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

// Markdown: where and when, worst and median of every kind of work, then every case.
inline void write_tables(std::ostream& to, const std::string& where) {
  const std::time_t now = std::time(nullptr);
  to << where << "; " << std::put_time(std::gmtime(&now), "%Y-%m-%d") << "; medians of "
     << options().rounds << " rounds\n\n";

  struct tally {
    goal row;
    std::vector<double> scores;
  };
  std::vector<tally> tallies;
  for (const result& r : outcome().results) {
    const auto same = [&](const tally& t) { return std::strcmp(t.row.work, r.row.work) == 0; };
    auto found = std::find_if(tallies.begin(), tallies.end(), same);
    if (found == tallies.end()) { found = tallies.insert(tallies.end(), {r.row, {}}); }
    found->scores.push_back(r.score());
  }
  to << "| work | cases | goal | worst | median |\n|---|---|---|---|---|\n";
  for (tally& t : tallies) {
    const bool percent = t.row.watch == stopwatch::device;
    std::sort(t.scores.begin(), t.scores.end());
    const int digits = percent ? 1 : 2;
    const char* unit = percent ? " %" : " x";
    to << "| " << t.row.work << " | " << t.scores.size() << " | "
       << (t.row.floor > 0 ? number(t.row.floor, percent ? 0 : 1) + unit : "-") << " | "
       << number(percent ? t.scores.front() : t.scores.back(), digits) << unit << " | "
       << number(t.scores[t.scores.size() / 2], digits) << unit << " |\n";
  }

  const auto section = [&](stopwatch watch, const char* head, auto&& cells) {
    bool any = false;
    for (const result& r : outcome().results) {
      if (r.row.watch == watch) {
        to << (any ? "" : head) << "| " << r.name;
        for (const std::string& cell : cells(r)) { to << " | " << cell; }
        to << " |\n";
        any = true;
      }
    }
  };
  const auto share = [](const result& r, contender::role who) {
    return r.seconds[who] > 0 ? number(r.percent(who), 1) : "-";
  };
  const auto micros = [](const result& r, contender::role who) {
    return number(r.seconds[who] * 1e6, 2);
  };
  using cells = std::vector<std::string>;
  // A column for each peer that took part.
  std::vector<contender::role> columns{contender::ours};
  std::string head = "\n| case, % of cudaMemcpyAsync | tiletranspose";
  const std::pair<contender::role, const char*> peers[] = {{contender::textbook, "textbook"},
                                                           {contender::geam, "cuBLAS geam"},
                                                           {contender::thrust, "Thrust"}};
  for (const auto& [who, label] : peers) {
    const auto& results = outcome().results;
    if (std::any_of(results.begin(), results.end(), [who = who](const result& r) {
          return r.row.watch == stopwatch::device && r.seconds[who] > 0;
        })) {
      columns.push_back(who);
      head += std::string{" | "} + label;
    }
  }
  head += " | cudaMemcpyAsync, TB/s |\n|";
  for (std::size_t i = 0; i < columns.size() + 2; ++i) { head += "---|"; }
  head += "\n";
  section(stopwatch::device, head.c_str(), [&](const result& r) {
    cells row;
    for (const contender::role who : columns) { row.push_back(share(r, who)); }
    row.push_back(number(r.terabytes(contender::reference), 2));
    return row;
  });
  bool any_streams = false;
  for (const result& r : outcome().results) {
    if (!(r.seconds[contender::streams] > 0)) { continue; }
    to << (any_streams
               ? ""
               : "\n| case, % of cudaMemcpyAsync | tiletranspose | same bytes in order | of "
                 "these, % |\n|---|---|---|---|\n")
       << "| " << r.name << " | " << share(r, contender::ours) << " | "
       << share(r, contender::streams) << " | "
       << number(100 * r.seconds[contender::streams] / r.seconds[contender::ours], 1) << " |\n";
    any_streams = true;
  }
  section(stopwatch::graph,
          "\n| us a call inside a graph | cudaMemcpyAsync | tiletranspose | ratio | textbook "
          "| cuBLAS geam |\n"
          "|---|---|---|---|---|---|\n",
          [&](const result& r) {
            return cells{micros(r, contender::reference), micros(r, contender::ours),
                         number(r.ratio(), 2), micros(r, contender::textbook),
                         micros(r, contender::geam)};
          });
  section(stopwatch::host,
          "\n| us of host time a call | bare launch | tiletranspose | ratio |\n|---|---|---|---|\n",
          [&](const result& r) {
            return cells{micros(r, contender::reference), micros(r, contender::ours),
                         number(r.ratio(), 2)};
          });
}

}  // namespace bench
