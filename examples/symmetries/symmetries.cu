// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a small picture in all eight symmetries of tt::reorient, each from what the GPU wrote and
// checked on the CPU before, as one SVG file.
#include <cuda_runtime.h>

#include <tiletranspose/reverse.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../raster/netpbm.hpp"
#include "../raster/picture_program.cuh"

namespace {

namespace fs = std::filesystem;
using namespace picture_program;
using tt::symmetry;

constexpr const char* usage =
    "usage: symmetries [FILE] [-o DRAWING]\n"
    "Lays a PGM or PPM picture of up to 64 x 64 pixels down in eight ways on the GPU and draws "
    "them\n"
    "into the SVG file DRAWING. Without FILE it takes a picture of its own, without DRAWING it\n"
    "writes symmetries.svg into its build directory. Without a GPU it draws nothing.\n";

// ---- pictures ----------------------------------------------------------------------------------

bool operator==(pixel a, pixel b) { return a.r == b.r && a.g == b.g && a.b == b.b; }

/// Row-major, row 0 at the top.
struct picture {
  std::size_t rows, cols;
  std::vector<pixel> pixels;

  pixel at(std::size_t row, std::size_t col) const { return pixels[row * cols + col]; }
};

/// Nothing in it is where a mirror or a turn would put it.
picture landscape() {
  constexpr std::array<std::string_view, 14> art{
      "......................",  //
      "..yyy.................",  //
      ".yyyyy.......ww.......",  //
      ".yyyyy....wwwwwww.....",  //
      ".yyyyy................",  //
      "..yyy............rr...",  //
      "................rrrr..",  //
      "...............rrrrrr.",  //
      "......l........hhhhhh.",  //
      ".....lll.......hdhhbh.",  //
      "....lllll......hdhhhh.",  //
      "gggggtggggggggghdhhhhg",  //
      "gggggtgggggggggppggggg",  //
      "ggggggggggggggppgggggg",
  };
  const auto paint = [](char name) -> pixel {
    switch (name) {
      case 'y':
        return {250, 200, 40};
      case 'w':
        return {245, 245, 245};
      case 'r':
        return {190, 60, 45};
      case 'h':
        return {235, 215, 175};
      case 'd':
        return {95, 60, 35};
      case 'b':
        return {70, 120, 180};
      case 'l':
        return {45, 110, 60};
      case 't':
        return {110, 75, 45};
      case 'g':
        return {120, 180, 90};
      case 'p':
        return {205, 185, 140};
      default:
        return {150, 200, 235};
    }
  };
  picture result{art.size(), art[0].size(), {}};
  for (const std::string_view row : art) {
    for (const char name : row) result.pixels.push_back(paint(name));
  }
  return result;
}

picture read_picture(const fs::path& file) {
  constexpr std::size_t most = 64;
  const netpbm::image image = netpbm::read(file);
  if (image.width > most || image.height > most) {
    throw netpbm::error(file, "is larger than 64 x 64 pixels, each of which becomes a square");
  }
  picture result{image.height, image.width, {}};
  const auto bright = [&](std::uint8_t sample) {
    return static_cast<std::uint8_t>(sample * 255 / image.maxval);
  };
  for (auto s = image.samples.begin(); s != image.samples.end();
       s += static_cast<std::ptrdiff_t>(image.channels)) {
    const bool grey = image.channels == 1;
    result.pixels.push_back({bright(s[0]), bright(grey ? s[0] : s[1]), bright(grey ? s[0] : s[2])});
  }
  return result;
}

// ---- on the GPU --------------------------------------------------------------------------------

picture reorient_on_gpu(const picture& in, symmetry how) {
  const bool turned = tt::transposes(how);
  picture out{turned ? in.cols : in.rows, turned ? in.rows : in.cols, {}};
  out.pixels.resize(in.pixels.size());
  const std::size_t bytes = in.pixels.size() * sizeof(pixel);
  const auto device_in = make_device_array<pixel>(in.pixels.size());
  const auto device_out = make_device_array<pixel>(in.pixels.size());
  check(cudaMemcpy(device_in.get(), in.pixels.data(), bytes, cudaMemcpyHostToDevice),
        "cudaMemcpy to the GPU");
  check(cudaMemset(device_out.get(), 0, bytes), "cudaMemset");
  check(tt::reorient(tt::matrix_view<pixel>{device_out.get(), out.rows, out.cols, out.cols},
                     tt::matrix_view<const pixel>{device_in.get(), in.rows, in.cols, in.cols}, how),
        "tt::reorient");
  check(cudaMemcpy(out.pixels.data(), device_out.get(), bytes, cudaMemcpyDeviceToHost),
        "cudaMemcpy to the CPU");
  return out;
}

// ---- on the CPU --------------------------------------------------------------------------------

/// What a panel shows and which pixel of the input belongs at row i, column j of it.
struct panel {
  symmetry how;
  const char* name;
  pixel (*expected)(const picture& in, std::size_t i, std::size_t j);
};

// First those that keep the shape, then those that turn it.
constexpr std::array<panel, 8> panels{{
    {symmetry::identity, "identity",
     [](const picture& in, std::size_t i, std::size_t j) { return in.at(i, j); }},
    {symmetry::flip_lr, "flip_lr",
     [](const picture& in, std::size_t i, std::size_t j) { return in.at(i, in.cols - 1 - j); }},
    {symmetry::flip_ud, "flip_ud",
     [](const picture& in, std::size_t i, std::size_t j) { return in.at(in.rows - 1 - i, j); }},
    {symmetry::rotate_180, "rotate_180",
     [](const picture& in, std::size_t i, std::size_t j) {
       return in.at(in.rows - 1 - i, in.cols - 1 - j);
     }},
    {symmetry::transpose, "transpose",
     [](const picture& in, std::size_t i, std::size_t j) { return in.at(j, i); }},
    {symmetry::rotate_90, "rotate_90",
     [](const picture& in, std::size_t i, std::size_t j) { return in.at(j, in.cols - 1 - i); }},
    {symmetry::rotate_270, "rotate_270",
     [](const picture& in, std::size_t i, std::size_t j) { return in.at(in.rows - 1 - j, i); }},
    {symmetry::anti_transpose, "anti_transpose",
     [](const picture& in, std::size_t i, std::size_t j) {
       return in.at(in.rows - 1 - j, in.cols - 1 - i);
     }},
}};

void verify(const picture& out, const picture& in, const panel& p) {
  for (std::size_t i = 0; i < out.rows; ++i) {
    for (std::size_t j = 0; j < out.cols; ++j) {
      if (!(out.at(i, j) == p.expected(in, i, j))) {
        throw failure(std::string(p.name) + " is wrong at row " + std::to_string(i) + ", column " +
                      std::to_string(j) + "; nothing was drawn");
      }
    }
  }
}

// ---- the drawing -------------------------------------------------------------------------------

/// One rectangle for each run of pixels of a colour in a row.
void draw(std::ostream& to, const picture& p, std::size_t left, std::size_t top,
          std::size_t scale) {
  for (std::size_t row = 0; row < p.rows; ++row) {
    for (std::size_t col = 0; col < p.cols;) {
      const pixel colour = p.at(row, col);
      std::size_t end = col + 1;
      while (end < p.cols && p.at(row, end) == colour) ++end;
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "#%02x%02x%02x", colour.r, colour.g, colour.b);
      to << "<rect x=\"" << left + col * scale << "\" y=\"" << top + row * scale << "\" width=\""
         << (end - col) * scale << "\" height=\"" << scale << "\" fill=\"" << hex.data()
         << "\"/>\n";
      col = end;
    }
  }
}

std::string draw_all(const std::vector<picture>& pictures) {
  constexpr std::size_t across = 4;
  constexpr std::size_t margin = 16;
  constexpr std::size_t caption = 26;
  const std::size_t longest = std::max(pictures[0].rows, pictures[0].cols);
  const std::size_t scale = std::max<std::size_t>(2, 176 / longest);
  const std::size_t cell_width = longest * scale;
  // Pictures of the first row keep their shape, those of the second are turned.
  const std::array<std::size_t, 2> heights{pictures[0].rows * scale, pictures[0].cols * scale};
  const std::size_t width = across * cell_width + (across + 1) * margin;
  const std::size_t height = heights[0] + heights[1] + 2 * caption + 3 * margin;

  std::ostringstream to;
  to << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
     << "\" viewBox=\"0 0 " << width << ' ' << height
     << "\" font-family=\"monospace\" font-size=\"15\" text-anchor=\"middle\">\n"
     << "<title>One picture in the eight symmetries of tt::reorient</title>\n"
     << "<rect width=\"" << width << "\" height=\"" << height << "\" fill=\"#ffffff\"/>\n";
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const picture& p = pictures[i];
    const std::size_t line = i / across;
    const std::size_t cell_left = margin + i % across * (cell_width + margin);
    const std::size_t left = cell_left + (cell_width - p.cols * scale) / 2;
    const std::size_t top = margin + line * (heights[0] + caption + margin);
    to << "<g shape-rendering=\"crispEdges\">\n";
    draw(to, p, left, top, scale);
    to << "</g>\n<text x=\"" << cell_left + cell_width / 2 << "\" y=\""
       << top + heights[line] + caption - 8 << "\" fill=\"#222222\">" << panels[i].name
       << "</text>\n";
  }
  to << "</svg>\n";
  return to.str();
}

void write(const fs::path& file, const std::string& drawing) {
  std::ofstream stream(file, std::ios::binary);
  stream << drawing;
  stream.close();
  if (!stream) throw std::runtime_error(file.string() + ": cannot be written");
}

// ---- command line ------------------------------------------------------------------------------

struct options {
  fs::path input;
  fs::path output = fs::path(SYMMETRIES_OUTPUT_DIR) / "symmetries.svg";
  bool help = false;
};

options parse(int argc, char** argv) {
  options result;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-h" || word == "--help") {
      result.help = true;
    } else if (word == "-o") {
      if (++i == argc) throw std::runtime_error("-o needs a file");
      result.output = argv[i];
    } else if (word.size() > 1 && word[0] == '-') {
      throw std::runtime_error("unknown option " + word);
    } else if (!result.input.empty()) {
      throw std::runtime_error("one picture at a time; " + word + " is the second");
    } else {
      result.input = word;
    }
  }
  return result;
}

int run(const options& chosen) {
  const picture in = chosen.input.empty() ? landscape() : read_picture(chosen.input);
  if (!example::has_gpu()) {
    std::printf("No GPU was found. The drawing shows what a GPU wrote: nothing was drawn.\n");
    return 0;
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("GPU: %s\n", properties.name);

  std::vector<picture> pictures;
  for (const panel& p : panels) {
    pictures.push_back(reorient_on_gpu(in, p.how));
    verify(pictures.back(), in, p);
  }
  std::printf("  verified  eight pictures of %zu pixels\n", in.pixels.size());
  write(chosen.output, draw_all(pictures));
  std::printf("  wrote     %s\n", chosen.output.string().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return start(
      "symmetries", usage, [=] { return parse(argc, argv); }, run);
}
