// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::permute at the shapes of a file, by default permutes.txt beside this one, or at random ones, beside cudaMemcpyAsync of
// as many bytes and, where its library is found, beside cuTENSOR (cutensor.hpp). Each case is verified element by element
// before it is timed; all take turns, and medians of their times count.
//   tiletranspose_permute_benchmark [FILE] [--json=FILE]
//   tiletranspose_permute_benchmark --random=50 --seed=1     ranks 3 to 6, all sizes of elements, about 256 MB
//   tiletranspose_permute_benchmark --small=50 --seed=1      likewise, 4 KB to 1 MB, in a graph of 40 calls

#include <cuda_runtime.h>
#include <tiletranspose/permute.cuh>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cutensor.hpp"
#include "paired.cuh"

namespace {

constexpr std::size_t buffer_bytes = 3 * bench::gibibyte;

struct permute_case {
  std::string name;
  std::size_t element = 0;  // bytes
  std::vector<int> axes;
  std::vector<std::size_t> extents;

  std::size_t elements() const {
    std::size_t count = 1;
    for (const std::size_t extent : extents) { count *= extent; }
    return count;
  }
};

std::vector<permute_case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) { throw std::runtime_error("cannot read " + path); }
  std::vector<permute_case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') { continue; }
    std::istringstream words(line);
    permute_case next;
    std::size_t rank = 0;
    words >> next.name >> next.element >> rank;
    next.axes.resize(rank);
    next.extents.resize(rank);
    for (int& axis : next.axes) { words >> axis; }
    for (std::size_t& extent : next.extents) { words >> extent; }
    if (!words) { throw std::runtime_error("no case: " + line); }
    cases.push_back(next);
  }
  return cases;
}

// Random arrays of `least` to `most` bytes.
std::vector<permute_case> random_cases(int count, unsigned seed, double least, double most) {
  constexpr std::size_t sizes[] = {1, 2, 3, 4, 8, 12, 16};
  std::mt19937 generator(seed);
  const auto uniform = [&] { return generator() / 4294967296.0; };
  std::vector<permute_case> cases;
  for (int i = 0; i < count; ++i) {
    permute_case next;
    next.element = sizes[static_cast<std::size_t>(i) % 7];
    const std::size_t rank = 3 + generator() % 4;
    const double elements =
        least * std::pow(most / least, uniform()) / static_cast<double>(next.element);
    // Logarithms of the extents share that of the number of elements.
    std::vector<double> shares(rank);
    for (double& share : shares) { share = 0.3 + uniform(); }
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (const double share : shares) {
      next.extents.push_back(std::max<std::size_t>(
          2, static_cast<std::size_t>(std::pow(elements, share / all) + 0.5)));
    }
    next.axes.resize(rank);
    std::iota(next.axes.begin(), next.axes.end(), 0);
    while (std::is_sorted(next.axes.begin(), next.axes.end())) {
      for (std::size_t k = rank; k-- > 1;) {
        std::swap(next.axes[k], next.axes[generator() % (k + 1)]);
      }
    }
    const auto join = [](const auto& numbers, char between) {
      std::string text;
      for (const auto number : numbers) {
        text += (text.empty() ? std::string() : std::string(1, between)) + std::to_string(number);
      }
      return text;
    };
    next.name = join(next.extents, 'x') + " axes " + join(next.axes, ',');
    cases.push_back(next);
  }
  return cases;
}

template <std::size_t Bytes>
struct alignas(Bytes & -Bytes) element {
  unsigned char bytes[Bytes];
};

template <class T, std::size_t Rank>
cudaError_t permute_rank(const permute_case& c, void* out, const void* in, cudaStream_t stream) {
  std::size_t extents[Rank];
  int axes[Rank];
  for (std::size_t k = 0; k < Rank; ++k) {
    extents[k] = c.extents[k];
    axes[k] = c.axes[k];
  }
  return tt::permute(static_cast<T*>(out), static_cast<const T*>(in), extents, axes, stream);
}
template <class T>
cudaError_t permute_type(const permute_case& c, void* out, const void* in, cudaStream_t stream) {
  switch (c.extents.size()) {
    case 2:
      return permute_rank<T, 2>(c, out, in, stream);
    case 3:
      return permute_rank<T, 3>(c, out, in, stream);
    case 4:
      return permute_rank<T, 4>(c, out, in, stream);
    case 5:
      return permute_rank<T, 5>(c, out, in, stream);
    case 6:
      return permute_rank<T, 6>(c, out, in, stream);
    case 8:
      return permute_rank<T, 8>(c, out, in, stream);
  }
  return cudaErrorInvalidValue;
}
cudaError_t run(const permute_case& c, void* out, const void* in, cudaStream_t stream) {
  switch (c.element) {
    case 1:
      return permute_type<element<1>>(c, out, in, stream);
    case 2:
      return permute_type<element<2>>(c, out, in, stream);
    case 4:
      return permute_type<element<4>>(c, out, in, stream);
    case 8:
      return permute_type<element<8>>(c, out, in, stream);
    case 3:
      return permute_type<element<3>>(c, out, in, stream);
    case 12:
      return permute_type<element<12>>(c, out, in, stream);
    case 16:
      return permute_type<element<16>>(c, out, in, stream);
  }
  return cudaErrorInvalidValue;
}

// ---- verification -----------------------------------------------------------------------------------

__global__ void fill(unsigned* words, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    unsigned mixed = static_cast<unsigned>(i) * 2654435761u;
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    words[i] = mixed ^ mixed >> 13;
  }
}

// Where element i of the input goes: the sum of its indices times `to`.
struct places {
  int rank;
  unsigned long long extents[8];
  unsigned long long to[8];
};

__global__ void count_wrong(unsigned* wrong, const unsigned char* out, const unsigned char* in,
                            places p, std::size_t count, std::size_t bytes) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    unsigned long long left = i;
    unsigned long long at = 0;
    for (int k = p.rank - 1; k >= 0; --k) {
      at += left % p.extents[k] * p.to[k];
      left /= p.extents[k];
    }
    bool same = true;
    for (std::size_t b = 0; b < bytes; ++b) {
      same = same && out[at * bytes + b] == in[i * bytes + b];
    }
    if (!same) { atomicAdd(wrong, 1u); }
  }
}

places find_places(const permute_case& c) {
  places p{};
  p.rank = static_cast<int>(c.extents.size());
  unsigned long long stride = 1;
  for (std::size_t j = c.axes.size(); j-- > 0;) {
    p.to[c.axes[j]] = stride;
    stride *= c.extents[static_cast<std::size_t>(c.axes[j])];
  }
  std::copy(c.extents.begin(), c.extents.end(), p.extents);
  return p;
}

// ---- timing -----------------------------------------------------------------------------------------

struct memory {
  unsigned char *in = nullptr, *out = nullptr;
  unsigned* wrong = nullptr;
  cudaStream_t stream = nullptr;
  memory() {
    bench::must(cudaMalloc(&in, buffer_bytes), "cudaMalloc");
    bench::must(cudaMalloc(&out, buffer_bytes), "cudaMalloc");
    bench::must(cudaMalloc(&wrong, sizeof(unsigned)), "cudaMalloc");
    bench::must(cudaStreamCreate(&stream), "cudaStreamCreate");
    fill<<<1024, 256, 0, stream>>>(reinterpret_cast<unsigned*>(in), buffer_bytes / 4);
  }
};

void verify(const permute_case& c, const memory& m) {
  const std::size_t bytes = c.elements() * c.element;
  if (bytes > buffer_bytes) { throw std::runtime_error(c.name + " is too large"); }
  bench::must(cudaMemsetAsync(m.out, 0xA5, bytes, m.stream), "cudaMemsetAsync");
  bench::must(cudaMemsetAsync(m.wrong, 0, sizeof(unsigned), m.stream), "cudaMemsetAsync");
  bench::must(run(c, m.out, m.in, m.stream), c.name.c_str());
  count_wrong<<<2048, 256, 0, m.stream>>>(m.wrong, m.out, m.in, find_places(c), c.elements(),
                                          c.element);
  unsigned found = 0;
  bench::must(cudaMemcpyAsync(&found, m.wrong, sizeof found, cudaMemcpyDeviceToHost, m.stream),
              "cudaMemcpyAsync");
  bench::must(cudaStreamSynchronize(m.stream), c.name.c_str());
  if (found != 0) { throw std::runtime_error(c.name + " is wrong"); }
}

// Geometric mean, least and 5th percentile of percents.
struct summary {
  std::vector<double> percents;
  void print(const char* of) {
    if (percents.empty()) { return; }
    std::sort(percents.begin(), percents.end());
    double logarithms = 0;
    for (const double percent : percents) { logarithms += std::log(percent); }
    const auto count = percents.size();
    std::printf("%s: %zu cases, geometric mean %.1f %%, 5th percentile %.1f %%, least %.1f %%\n",
                of, count, std::exp(logarithms / static_cast<double>(count)), percents[count / 20],
                percents[0]);
  }
};

class json_file {
 public:
  explicit json_file(const std::string& path) {
    if (path.empty()) { return; }
    file_.open(path);
    if (!file_) { throw std::runtime_error("cannot write " + path); }
    char date[32] = {};
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", std::gmtime(&now));
    file_ << "{\"context\": {\"gpu\": \"" << bench::machine() << "\", \"date\": \"" << date
          << "\"}, \"benchmarks\": [";
  }
  ~json_file() {
    if (file_.is_open()) { file_ << "\n]}\n"; }
  }
  json_file(const json_file&) = delete;
  json_file& operator=(const json_file&) = delete;
  void add(const permute_case& c, double percent, double cutensor) {
    if (!file_.is_open()) { return; }
    file_ << (first_ ? "\n" : ",\n") << "  {\"name\": \"" << c.name
          << "\", \"pct_of_memcpy\": " << percent;
    if (cutensor > 0) { file_ << ", \"cutensor_pct\": " << cutensor; }
    file_ << "}";
    first_ = false;
  }

 private:
  std::ofstream file_;
  bool first_ = true;
};

// \param calls  in a graph; 1: none
void run_all(const std::vector<permute_case>& cases, int calls, const std::string& json_path) {
  const memory m;
  const bench::events timer;
  const bench::cutensor library;
  json_file json(json_path);
  std::printf("%s; cuTENSOR %s\n\n", bench::machine().c_str(),
              library.found() ? "beside" : "not found");
  std::printf(
      "| permute | bytes | %% of cudaMemcpyAsync | us | cuTENSOR, %% |\n|---|---|---|---|---|\n");
  summary all, of_ttc, ttc_cutensor, all_cutensor;
  for (const permute_case& c : cases) {
    verify(c, m);
    const std::size_t bytes = c.elements() * c.element;
    const auto permute = [&] { return run(c, m.out, m.in, m.stream); };
    const auto copy = [&] {
      return cudaMemcpyAsync(m.out, m.in, bytes, cudaMemcpyDeviceToDevice, m.stream);
    };
    const bench::cutensor::plan plan = library.make(c.element, c.extents, c.axes);
    const auto peer = [&] { return plan.run(m.out, m.in, m.stream); };
    const auto time = [&](const auto& call) {
      return calls == 1
                 ? bench::time_beside(timer, m.stream, call, copy)
                 : bench::time_beside(timer, m.stream, bench::in_graph(m.stream, calls, call),
                                      bench::in_graph(m.stream, calls, copy));
    };
    const bench::paired_times times = time(permute);
    double beside = 0;
    if (plan.exists() && peer() == cudaSuccess) {
      try {
        beside = time(peer).percent();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: cuTENSOR drops out: %s\n", c.name.c_str(), error.what());
      }
    }
    const bool is_ttc = c.name.rfind("ttc", 0) == 0;
    all.percents.push_back(times.percent());
    if (is_ttc) { of_ttc.percents.push_back(times.percent()); }
    if (beside > 0) { (is_ttc ? ttc_cutensor : all_cutensor).percents.push_back(beside); }
    const std::string peer_text = beside > 0 ? std::to_string(beside).substr(0, 4) : "-";
    std::printf("| %s | %zu | %.1f | %.2f | %s |\n", c.name.c_str(), c.element, times.percent(),
                1e3 * times.call / calls, peer_text.c_str());
    json.add(c, times.percent(), beside);
  }
  std::printf("\n");
  all.print("all");
  of_ttc.print("TTC's");
  ttc_cutensor.print("cuTENSOR, TTC's");
  all_cutensor.print("cuTENSOR, others");
}

}  // namespace

int main(int count, char** words) {
  try {
    std::string path = TILETRANSPOSE_PERMUTES;
    std::string json;
    int random = 0;
    int small = 0;
    unsigned seed = 1;
    for (int i = 1; i < count; ++i) {
      const std::string word = words[i];
      const std::string value = word.substr(word.find('=') + 1);
      if (word.rfind("--random=", 0) == 0) {
        random = std::stoi(value);
      } else if (word.rfind("--small=", 0) == 0) {
        small = std::stoi(value);
      } else if (word.rfind("--seed=", 0) == 0) {
        seed = static_cast<unsigned>(std::stoul(value));
      } else if (word.rfind("--json=", 0) == 0) {
        json = value;
      } else {
        path = word;
      }
    }
    if (random > 0) {
      run_all(random_cases(random, seed, 200e6, 320e6), 1, json);
    } else if (small > 0) {
      run_all(random_cases(small, seed, 4096, 1 << 20), 40, json);
    } else {
      run_all(read_cases(path), 1, json);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
