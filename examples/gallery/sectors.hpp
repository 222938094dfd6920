// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The sector count of global memory: how many sectors of 32 bytes does one request of a warp touch? The
/// least is its bytes / 32; every further one is fetched or written for nothing, unless a cache joins it
/// with another request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <tiletranspose/banks.cuh>

namespace gallery {

inline constexpr int warp_lanes = 32;

/// Sectors of one request: lane l accesses `access_bytes` bytes at byte_offset(l); negative: no part.
template <class ByteOffset>
int request_sectors(ByteOffset byte_offset, int access_bytes, int lanes = warp_lanes) {
  std::vector<long long> sectors;
  for (int lane = 0; lane < lanes; ++lane) {
    const long long offset = byte_offset(lane);
    if (offset < 0) { continue; }
    const long long last = (offset + access_bytes - 1) / tt::sector_bytes;
    for (long long sector = offset / tt::sector_bytes; sector <= last; ++sector) {
      sectors.push_back(sector);
    }
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  return static_cast<int>(sectors.size());
}

/// Collects requests into their mean.
class mean_sectors {
 public:
  void add(int sectors) {
    if (sectors == 0) { return; }  // no lane took part: the warp sends nothing
    sum_ += sectors;
    ++requests_;
  }
  std::optional<double> value() const {
    return requests_ == 0 ? std::nullopt : std::optional<double>(sum_ / requests_);
  }

 private:
  double sum_ = 0;
  int requests_ = 0;
};

/// The tiles that blocks cut a dense row-major matrix into, and how a warp walks over one of them.
struct tiled_matrix {
  std::size_t rows, cols;  // of the matrix
  int tile_rows, tile_cols;
  tt::tile_walk walk;
};

/// Sectors per request, in the mean over all tiles where they are few, else over tiles near the first: enough
/// of them to meet every distance of a row's start from a sector, which repeats after at most 32 rows.
inline std::optional<double> tile_sectors(const tiled_matrix& matrix, int element_bytes) {
  constexpr std::size_t few_tiles = 256;
  constexpr std::size_t sampled_tiles = 4;  // down and across
  const auto tiles_along = [](std::size_t side, int tile_side) {
    return (side + static_cast<std::size_t>(tile_side) - 1) / static_cast<std::size_t>(tile_side);
  };
  std::size_t down = tiles_along(matrix.rows, matrix.tile_rows);
  std::size_t across = tiles_along(matrix.cols, matrix.tile_cols);
  if (down > few_tiles || across > few_tiles || down * across > few_tiles) {
    down = std::min(down, sampled_tiles);
    across = std::min(across, sampled_tiles);
  }
  const tt::walk_steps steps(matrix.walk, element_bytes, matrix.tile_rows, matrix.tile_cols);
  mean_sectors mean;
  for (std::size_t tile = 0; tile < down * across; ++tile) {
    const std::size_t row0 = tile / across * static_cast<std::size_t>(matrix.tile_rows);
    const std::size_t col0 = tile % across * static_cast<std::size_t>(matrix.tile_cols);
    for (int first = 0; first < steps.count; first += warp_lanes) {
      mean.add(request_sectors(
          [&](int lane) -> long long {
            if (first + lane >= steps.count) { return -1; }
            const tt::walk_steps::place at = steps(first + lane);
            const std::size_t row = row0 + static_cast<std::size_t>(at.row);
            const std::size_t col = col0 + static_cast<std::size_t>(at.col);
            if (row >= matrix.rows || col >= matrix.cols) { return -1; }
            return static_cast<long long>((row * matrix.cols + col) *
                                          static_cast<std::size_t>(element_bytes)) +
                   at.byte;
          },
          steps.access_bytes));
    }
  }
  return mean.value();
}

/// The least sectors of a request in which each of a warp's lanes accesses `access_bytes` bytes.
inline double least_sectors(int access_bytes) {
  return std::max(1.0, static_cast<double>(access_bytes) * warp_lanes / tt::sector_bytes);
}

}  // namespace gallery
