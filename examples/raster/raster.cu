// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes pictures: grey ones as bytes, colour ones as 3-byte pixels and, as a second picture,
// their luminance as bytes. Every result is checked on the CPU before it is written. Without a GPU the
// emulator runs one tile of each picture by the code that a kernel would call.
#include <cuda_runtime.h>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/emulator.cuh>
#include <tiletranspose/layout.cuh>
#include <tiletranspose/transpose.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "netpbm.hpp"
#include "picture_program.cuh"

namespace {

namespace fs = std::filesystem;
using namespace picture_program;

constexpr const char* usage =
    "usage: raster [FILE ...] [-o DIR]\n"
    "Transposes PGM and PPM files on the GPU and writes NAME.transposed.pgm or .ppm beside each,\n"
    "or into DIR; of a PPM, NAME.luminance.transposed.pgm too. Without FILE it takes two samples\n"
    "and writes into its build directory.\n";

// ---- on the GPU --------------------------------------------------------------------------------

struct microseconds {
  float transpose;
  float memcpy;
};

class event {
 public:
  event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~event() { cudaEventDestroy(event_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

constexpr int timed_runs = 21;

/// The median time of `enqueue`, which puts work on the default stream, after one run to warm up.
template <class Enqueue>
float median_microseconds(Enqueue enqueue) {
  event start, stop;
  std::vector<float> times(timed_runs);
  enqueue();
  for (float& time : times) {
    check(cudaEventRecord(start), "cudaEventRecord");
    enqueue();
    check(cudaEventRecord(stop), "cudaEventRecord");
    check(cudaEventSynchronize(stop), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    time = 1000 * milliseconds;
  }
  std::nth_element(times.begin(), times.begin() + timed_runs / 2, times.end());
  return times[timed_runs / 2];
}

/// Transposes ny rows of nx elements of type T from `in` to `out`, both in host memory.
template <class T>
microseconds transpose_on_gpu(std::uint8_t* out, const std::uint8_t* in, std::size_t nx,
                              std::size_t ny) {
  const std::size_t bytes = nx * ny * sizeof(T);
  const auto device_in = make_device_array<T>(nx * ny);
  const auto device_out = make_device_array<T>(nx * ny);
  check(cudaMemcpy(device_in.get(), in, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the GPU");

  microseconds time{};
  // The copy goes first: what it leaves in device_out, the transpose has to overwrite.
  time.memcpy = median_microseconds([&] {
    check(cudaMemcpyAsync(device_out.get(), device_in.get(), bytes, cudaMemcpyDeviceToDevice),
          "cudaMemcpyAsync");
  });
  time.transpose = median_microseconds(
      [&] { check(tt::transpose(device_out.get(), device_in.get(), nx, ny), "tt::transpose"); });

  check(cudaMemcpy(out, device_out.get(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the CPU");
  return time;
}

// ---- on the CPU --------------------------------------------------------------------------------

void transpose_on_cpu(std::uint8_t* out, const std::uint8_t* in, std::size_t nx, std::size_t ny,
                      std::size_t pixel_bytes) {
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      std::copy_n(in + (y * nx + x) * pixel_bytes, pixel_bytes, out + (x * ny + y) * pixel_bytes);
    }
  }
}

/// Throws unless pixel (row x, column y) of `out` is pixel (row y, column x) of `in`, for all.
void verify(const netpbm::image& out, const netpbm::image& in) {
  const std::size_t pixel_bytes = in.channels;
  for (std::size_t x = 0; x < in.width; ++x) {
    for (std::size_t y = 0; y < in.height; ++y) {
      const auto found = out.samples.begin() + (x * in.height + y) * pixel_bytes;
      const auto expected = in.samples.begin() + (y * in.width + x) * pixel_bytes;
      if (!std::equal(found, found + pixel_bytes, expected)) {
        throw failure("the result is wrong at row " + std::to_string(x) + ", column " +
                      std::to_string(y) + "; it was not written");
      }
    }
  }
}

/// Rec. 601 luma, rounded.
netpbm::image luminance(const netpbm::image& colour) {
  netpbm::image grey{colour.width, colour.height, 1, colour.maxval, {}};
  grey.samples.reserve(colour.width * colour.height);
  for (auto s = colour.samples.begin(); s != colour.samples.end(); s += 3) {
    grey.samples.push_back(
        static_cast<std::uint8_t>((299 * s[0] + 587 * s[1] + 114 * s[2] + 500) / 1000));
  }
  return grey;
}

// ---- the bank model ----------------------------------------------------------------------------

/// One line of the table; the compiler has worked out every number in it.
template <class T, int TileDim>
void print_column_ways(const char* element) {
  constexpr int padding = tt::default_padding<T, TileDim>();
  constexpr int packed =
      tt::conflict_ways(tt::padded_layout<T, TileDim, TileDim, 0>{}, tt::along_columns);
  constexpr int textbook =
      tt::conflict_ways(tt::padded_layout<T, TileDim, TileDim, 1>{}, tt::along_columns);
  constexpr int chosen =
      tt::conflict_ways(tt::padded_layout<T, TileDim, TileDim, padding>{}, tt::along_columns);
  std::printf("  %-12s  %dx%d  %10d  %10d  %10d   (%d)\n", element, TileDim, TileDim, packed,
              textbook, chosen, padding);
}

void print_bank_model() {
  std::printf(
      "What the bank model predicts for a warp that reads a column of a tile in shared memory:\n"
      "conflict ways, that is cycles in the worst bank, for each padding in elements (1 is best).\n"
      "  element       tile   padding 0   padding 1     default (elements)\n");
  print_column_ways<std::uint8_t, 32>("1 byte");
  print_column_ways<std::uint8_t, 64>("1 byte");
  print_column_ways<std::uint16_t, 32>("2 bytes");
  print_column_ways<std::uint16_t, 64>("2 bytes");
  print_column_ways<pixel, 32>("3-byte pixel");
  print_column_ways<pixel, 64>("3-byte pixel");
  print_column_ways<float, 32>("4 bytes");
  print_column_ways<float, 64>("4 bytes");
  print_column_ways<double, 32>("8 bytes");
  print_column_ways<double, 64>("8 bytes");
  std::printf("\n");
}

// ---- the emulator ------------------------------------------------------------------------------

constexpr int tile_dim = 32;

/// Transposes the upper left corner of a picture, one tile at most, as one block of a GPU would.
template <class T>
void emulate_corner(const netpbm::image& picture) {
  using transposer = tt::block_transpose<T, tile_dim, 8>;
  const std::size_t cols = std::min<std::size_t>(picture.width, tile_dim);
  const std::size_t rows = std::min<std::size_t>(picture.height, tile_dim);

  // Strides as in the whole picture and starts as cudaMalloc's, so that sectors are those of a GPU.
  tt::emulated_buffer<T> in(rows * picture.width);
  tt::emulated_buffer<T> out(cols * picture.height);
  std::copy_n(picture.samples.data(), in.size() * sizeof(T),
              reinterpret_cast<std::uint8_t*>(in.data()));
  const tt::matrix_view<T> to{out.data(), cols, rows, picture.height};
  const tt::matrix_view<const T> from{in.data(), rows, cols, picture.width};

  const tt::emulation_report report = tt::emulate(
      1, transposer::threads, sizeof(typename transposer::storage),
      [](tt::emulated_block emulated, tt::matrix_view<T> result, tt::matrix_view<const T> source) {
        const tt::static_block<transposer::threads> block;
        const transposer tile(emulated.shared_as<typename transposer::storage>());
        tile.load(block, source, 0, 0);
        block.sync();
        tile.store(block, result, 0, 0);
      },
      to, from);

  if (!report.clean()) { throw failure("the emulator found: " + report.faults.front().what); }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      if (std::memcmp(&to.data[col * to.stride + row], &from.data[row * from.stride + col],
                      sizeof(T)) != 0) {
        throw failure("the emulated tile is wrong at row " + std::to_string(col) + ", column " +
                      std::to_string(row));
      }
    }
  }
  using layout = typename transposer::tile::layout;
  std::printf("  emulated  its upper left %zu x %zu pixels, one block of %d threads; verified\n",
              cols, rows, int{transposer::threads});
  std::printf("            conflict ways: writing %d (model %d), reading %d (model %d)\n",
              report.shared_stores().worst_ways, tt::conflict_ways(layout{}, tt::along_rows),
              report.shared_loads().worst_ways, tt::conflict_ways(layout{}, tt::along_columns));
  std::printf("            sectors per request: loading %.2f, storing %.2f; the least %.2f, %.2f\n",
              report.global_loads().sectors_per_request(),
              report.global_stores().sectors_per_request(),
              report.global_loads().least_sectors_per_request(),
              report.global_stores().least_sectors_per_request());
}

// ---- the program -------------------------------------------------------------------------------

struct options {
  std::vector<fs::path> files;
  fs::path directory;  // empty: beside each file
  bool help = false;
};

options parse(int argc, char** argv) {
  options result;
  bool options_ended = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (options_ended || argument.empty() || argument[0] != '-') {
      result.files.emplace_back(argument);
    } else if (argument == "--") {
      options_ended = true;
    } else if (argument == "-h" || argument == "--help") {
      result.help = true;
    } else if (argument == "-o") {
      if (++i == argc || argv[i][0] == '\0') throw std::invalid_argument("-o needs a directory");
      result.directory = argv[i];
    } else {
      throw std::invalid_argument("unknown option " + argument + "; try raster --help");
    }
  }
  if (result.files.empty()) {
    for (const char* sample : {"sample.ppm", "sample.pgm"}) {
      result.files.push_back(fs::path(RASTER_SAMPLE_DIR) / sample);
    }
    if (result.directory.empty()) result.directory = RASTER_OUTPUT_DIR;
  }
  return result;
}

struct job {
  std::string name;
  netpbm::image input;
  fs::path output;
};

/// Reads every file before anything is transposed, so that a bad one leaves nothing behind.
std::vector<job> plan(const options& chosen) {
  std::vector<job> jobs;
  std::set<fs::path> taken;
  for (const fs::path& file : chosen.files) taken.insert(fs::weakly_canonical(file));

  const auto add = [&](const fs::path& file, const char* suffix, std::string name,
                       netpbm::image input) {
    const fs::path directory = chosen.directory.empty() ? file.parent_path() : chosen.directory;
    const fs::path output = directory / (file.stem().string() + suffix);
    if (!taken.insert(fs::weakly_canonical(output)).second) {
      throw netpbm::error(output, "would be overwritten: another input or result has this name");
    }
    jobs.push_back({std::move(name), std::move(input), output});
  };

  for (const fs::path& file : chosen.files) {
    netpbm::image input = netpbm::read(file);
    const std::string name = file.filename().string();
    if (input.channels == 3) {
      netpbm::image grey = luminance(input);
      add(file, ".transposed.ppm", name, std::move(input));
      add(file, ".luminance.transposed.pgm", name + ", luminance", std::move(grey));
    } else {
      add(file, ".transposed.pgm", name, std::move(input));
    }
  }
  return jobs;
}

void process(const job& work, bool has_gpu) {
  const netpbm::image& in = work.input;
  netpbm::image out{in.height, in.width, in.channels, in.maxval, {}};
  out.samples.resize(in.samples.size());

  std::printf("%s: %zu x %zu pixels of %zu byte%s\n", work.name.c_str(), in.width, in.height,
              in.channels, in.channels == 1 ? "" : "s");
  if (has_gpu) {
    const auto transpose =
        in.channels == 3 ? transpose_on_gpu<pixel> : transpose_on_gpu<std::uint8_t>;
    const microseconds time = transpose(out.samples.data(), in.samples.data(), in.width, in.height);
    std::printf("  moved     %zu bytes on the GPU\n", in.samples.size());
    std::printf("  took      %.2f us, cudaMemcpyAsync %.2f us (CUDA events, medians of %d)\n",
                time.transpose, time.memcpy, timed_runs);
  } else {
    transpose_on_cpu(out.samples.data(), in.samples.data(), in.width, in.height, in.channels);
    std::printf("  moved     %zu bytes by a plain loop on the CPU, not timed\n", in.samples.size());
    in.channels == 3 ? emulate_corner<pixel>(in) : emulate_corner<std::uint8_t>(in);
  }
  verify(out, in);
  std::printf("  verified  all %zu pixels\n", in.width * in.height);
  netpbm::write(work.output, out);
  std::printf("  wrote     %s\n", work.output.string().c_str());
}

int run(const options& chosen) {
  const std::vector<job> jobs = plan(chosen);
  if (!chosen.directory.empty()) {
    std::error_code trouble;
    fs::create_directories(chosen.directory, trouble);
    if (trouble) throw netpbm::error(chosen.directory, trouble.message());
  }

  const bool has_gpu = example::has_gpu();
  if (has_gpu) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    std::printf("GPU: %s\n", properties.name);
  } else {
    std::printf(
        "No GPU was found. Nothing was timed, and the pictures below were transposed by the CPU;\n"
        "of each, the emulator runs one tile as a GPU would.\n\n");
    print_bank_model();
  }
  for (const job& work : jobs) process(work, has_gpu);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return start(
      "raster", usage, [=] { return parse(argc, argv); }, run);
}
