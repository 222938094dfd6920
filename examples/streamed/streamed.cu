// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices in host memory, transposed through a GPU that has less memory than they: one in pageable and in pinned memory,
// verified and timed, or a picture in a file that is mapped, with a line that says how far it is.
#include <tiletranspose/streamed.cuh>
#include <tiletranspose/transpose.cuh>

#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include "../example.cuh"
#include "mapped_picture.hpp"

namespace {

constexpr const char* usage =
    "usage: streamed [--gpu-kib N] [NX NY]               a matrix of floats\n"
    "       streamed [--gpu-kib N] raster INPUT OUTPUT   a binary PGM or PPM file\n"
    "N KiB of the GPU's memory are taken, 384 at least; without it an amount that serves well.\n";

struct options {
  std::size_t gpu_bytes = 0;  // 0: what the library asks for
  std::size_t nx = 5000;
  std::size_t ny = 7001;
  std::string input;  // empty: a matrix
  std::string output;
};

constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 4;

std::size_t number(const std::string& text) {
  std::size_t end = 0;
  const unsigned long long value =
      std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? std::stoull(text, &end) : 0;
  if (end != text.size() || value == 0) { throw std::invalid_argument(text + " is no number"); }
  return value;
}

options parse(std::vector<std::string> arguments) {
  options chosen;
  if (arguments.size() >= 2 && arguments[0] == "--gpu-kib") {
    const std::size_t kib = number(arguments[1]);
    if (kib > most_bytes / 1024) { throw std::invalid_argument("--gpu-kib is too large"); }
    chosen.gpu_bytes = kib * 1024;
    if (chosen.gpu_bytes < tt::least_streamed_scratch) {
      throw std::invalid_argument("--gpu-kib must be 384 or more");
    }
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (arguments.size() == 3 && arguments[0] == "raster") {
    chosen.input = arguments[1];
    chosen.output = arguments[2];
  } else if (arguments.size() == 2) {
    chosen.nx = number(arguments[0]);
    chosen.ny = number(arguments[1]);
    if (chosen.nx > most_bytes / sizeof(float) / chosen.ny) {
      throw std::invalid_argument("a matrix of NX x NY floats is larger than memory can be");
    }
  } else if (!arguments.empty()) {
    throw std::invalid_argument("try streamed --help");
  }
  return chosen;
}

struct pinned_deleter {
  void operator()(unsigned char* memory) const { cudaFreeHost(memory); }
};
using pinned_memory = std::unique_ptr<unsigned char, pinned_deleter>;

pinned_memory make_pinned(std::size_t bytes) {
  void* memory = nullptr;
  example::check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  return pinned_memory(static_cast<unsigned char*>(memory));
}

// Scratch on the GPU and, for pageable memory to go through, as much pinned memory on the host.
template <class T>
class workspace {
 public:
  workspace(std::size_t nx, std::size_t ny, const options& chosen) : bytes_(chosen.gpu_bytes) {
    if (bytes_ == 0) {
      example::check(tt::streamed_transpose<T>(nullptr, nullptr, nx, ny, nullptr, bytes_),
                     "tt::streamed_transpose, asked for scratch");
    }
    temp_ = example::make_device_array<unsigned char>(bytes_);
    pinned_ = make_pinned(bytes_);
  }
  // Seconds that it took.
  double run(T* out, const T* in, std::size_t nx, std::size_t ny, tt::streamed_options with,
             bool lends) {
    if (lends) {
      with.pinned = pinned_.get();
      with.pinned_bytes = bytes_;
    }
    const auto start = std::chrono::steady_clock::now();
    example::check(tt::streamed_transpose(out, in, nx, ny, temp_.get(), bytes_, nullptr, with),
                   "tt::streamed_transpose");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  example::device_array<unsigned char> temp_;
  pinned_memory pinned_;
};

template <class T>
bool is_transposed(const T* out, const T* in, std::size_t nx, std::size_t ny) {
  constexpr std::size_t tile = 64;  // keeps both sides in the caches
  for (std::size_t y0 = 0; y0 < ny; y0 += tile) {
    for (std::size_t x0 = 0; x0 < nx; x0 += tile) {
      for (std::size_t y = y0; y < std::min(ny, y0 + tile); ++y) {
        for (std::size_t x = x0; x < std::min(nx, x0 + tile); ++x) {
          if (std::memcmp(&out[x * ny + y], &in[y * nx + x], sizeof(T)) != 0) { return false; }
        }
      }
    }
  }
  return true;
}

// The same bytes into the GPU and out of it at once, in long copies: what the link can do.
double link_seconds(void* out, const void* in, std::size_t bytes) {
  const auto device = example::make_device_array<unsigned char>(2 * bytes);
  cudaStream_t coming, going;
  example::check(cudaStreamCreateWithFlags(&coming, cudaStreamNonBlocking), "a stream");
  example::check(cudaStreamCreateWithFlags(&going, cudaStreamNonBlocking), "a stream");
  const auto start = std::chrono::steady_clock::now();
  example::check(cudaMemcpyAsync(device.get(), in, bytes, cudaMemcpyHostToDevice, coming),
                 "a copy");
  example::check(cudaMemcpyAsync(out, device.get() + bytes, bytes, cudaMemcpyDeviceToHost, going),
                 "a copy");
  example::check(cudaStreamSynchronize(coming), "a copy");
  example::check(cudaStreamSynchronize(going), "a copy");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  example::check(cudaStreamDestroy(coming), "cudaStreamDestroy");
  example::check(cudaStreamDestroy(going), "cudaStreamDestroy");
  return time.count();
}

// What is done without this header: the whole matrix in, transposed, and out.
double naive_seconds(float* out, const float* in, std::size_t nx, std::size_t ny) {
  const std::size_t bytes = nx * ny * sizeof(float);
  const auto device_in = example::make_device_array<float>(nx * ny);
  const auto device_out = example::make_device_array<float>(nx * ny);
  const auto start = std::chrono::steady_clock::now();
  example::check(cudaMemcpy(device_in.get(), in, bytes, cudaMemcpyHostToDevice), "a copy");
  example::check(tt::transpose(device_out.get(), device_in.get(), nx, ny), "tt::transpose");
  example::check(cudaMemcpy(out, device_out.get(), bytes, cudaMemcpyDeviceToHost), "a copy");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run_matrix(const options& chosen) {
  const std::size_t nx = chosen.nx, ny = chosen.ny, count = nx * ny;
  const std::size_t bytes = count * sizeof(float);
  const pinned_memory pinned_in = make_pinned(bytes);
  const pinned_memory pinned_out = make_pinned(bytes);
  auto* const in = reinterpret_cast<float*>(pinned_in.get());
  auto* const out = reinterpret_cast<float*>(pinned_out.get());
  for (std::size_t i = 0; i < count; ++i) {
    in[i] = static_cast<float>(i * 2654435761u % 16777213u);
  }
  const std::vector<float> pageable(in, in + count);
  std::vector<float> result(count);

  workspace<float> space(nx, ny, chosen);
  std::printf("%zu x %zu floats, %.1f MB, through %.1f MB of the GPU's memory\n", nx, ny,
              1e-6 * bytes, 1e-6 * space.bytes());
  const auto report = [&](const char* what, double seconds, bool right) {
    std::printf("  %-28s %6.1f GB/s each way; %s\n", what, 1e-9 * bytes / seconds,
                right ? "verified" : "WRONG");
    return right;
  };
  space.run(out, in, nx, ny, {}, false);  // warms up
  bool right =
      report("pinned", space.run(out, in, nx, ny, {}, false), is_transposed(out, in, nx, ny));
  const double lent = space.run(result.data(), pageable.data(), nx, ny, {}, true);
  right = report("pageable, pinned memory lent", lent, is_transposed(result.data(), in, nx, ny)) &&
          right;
  std::fill(result.begin(), result.end(), -1.0f);
  const double bare = space.run(result.data(), pageable.data(), nx, ny, {}, false);
  right = report("pageable", bare, is_transposed(result.data(), in, nx, ny)) && right;

  std::size_t available = 0, all = 0;
  example::check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  if (available >
      2 * bytes + (std::size_t{64} << 20)) {  // the yardsticks hold all of it on the GPU
    const auto print = [&](const char* what, double seconds) {
      std::printf("  %-28s %6.1f GB/s each way\n", what, 1e-9 * bytes / seconds);
    };
    print("copies alone, both at once", link_seconds(out, in, bytes));
    print("pageable: in, transpose, out", naive_seconds(result.data(), pageable.data(), nx, ny));
  }
  return right ? 0 : 1;
}

void show_progress(void*, std::size_t done, std::size_t all) {
  constexpr int width = 40;
  const int full = static_cast<int>(static_cast<double>(done) / static_cast<double>(all) * width);
  std::fprintf(
      stderr, "\r[%-*.*s] %3.0f %%%s", width, full, "########################################",
      100.0 * static_cast<double>(done) / static_cast<double>(all), done == all ? "\n" : "");
}

template <class T>
int transpose_file(const mapped::file& from, const mapped::picture& in, const options& chosen) {
  mapped::picture out = in;
  std::swap(out.width, out.height);
  const std::string header = mapped::header_of(out);
  const mapped::file to(chosen.output, header.size() + out.bytes());
  std::memcpy(to.data(), header.data(), header.size());
  auto* const samples = reinterpret_cast<T*>(to.data() + header.size());
  const auto* const source = reinterpret_cast<const T*>(from.data() + in.first);
  workspace<T> space(in.width, in.height, chosen);
  tt::streamed_options with;
  with.progress = show_progress;
  const double seconds = space.run(samples, source, in.width, in.height, with, true);
  if (!is_transposed(samples, source, in.width, in.height)) {
    std::fprintf(stderr, "streamed: %s is wrong\n", chosen.output.c_str());
    return 1;
  }
  std::printf(
      "%s: %zu x %zu pixels, %.1f MB through %.1f MB of the GPU's memory in %.2f s; verified\n",
      chosen.output.c_str(), out.width, out.height, 1e-6 * static_cast<double>(in.bytes()),
      1e-6 * static_cast<double>(space.bytes()), seconds);
  return 0;
}

struct pixel {
  std::uint8_t r, g, b;
};

int run(const options& chosen) {
  if (chosen.input.empty()) {
    example::need_gpu();
    return run_matrix(chosen);
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(chosen.input, chosen.output, ignored)) {
    throw mapped::error(chosen.output, "is the input, too");
  }
  const mapped::file from(chosen.input);
  const mapped::picture in = mapped::parse(chosen.input, from);
  example::need_gpu();
  return in.channels == 3 ? transpose_file<pixel>(from, in, chosen)
                          : transpose_file<std::uint8_t>(from, in, chosen);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 1 && (arguments[0] == "-h" || arguments[0] == "--help")) {
      std::fputs(usage, stdout);
      return 0;
    }
    return run(parse(arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "streamed: %s\n", error.what());
    return 2;
  }
}
