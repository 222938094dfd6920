// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices distributed over the devices of one process: one device standing for several, and all devices there are.

#include <memory>
#include <vector>

#include "dealt_matrix.cuh"

#include <tiletranspose/peers.cuh>

namespace {

using namespace tt_test;
using tt::partition;

template <class T>
void check(const std::vector<int>& devices, partition nx, partition ny, std::size_t step_bytes,
           bool copies) {
  INFO(devices.size() << " parts, " << nx.total << " x " << ny.total << " elements of " << sizeof(T)
                      << ", steps of " << step_bytes << " bytes" << (copies ? ", copied" : ""));
  dealt_matrix matrix(devices, nx, ny, sizeof(T));
  const int count = matrix.parts();
  const tt::distributed_options options{step_bytes};
  const std::size_t bytes = tt::peer_scratch_bytes<T>(count, nx, ny, options);
  std::vector<std::unique_ptr<stream>> streams;
  std::vector<tt::device_part<T>> parts;
  for (int i = 0; i < count; ++i) {
    REQUIRE(cudaSetDevice(matrix.device(i)) == cudaSuccess);
    streams.push_back(std::make_unique<stream>());
    parts.push_back({matrix.device(i), matrix.out<T>(i), matrix.in<T>(i),
                     copies ? matrix.scratch(i, bytes) : nullptr, *streams.back()});
  }
  REQUIRE(cudaSetDevice(devices[0]) == cudaSuccess);
  REQUIRE(tt::distributed_transpose(parts.data(), count, nx, ny, options) == cudaSuccess);
  REQUIRE(matrix.difference().empty());
}

template <class T>
void check_shapes(const std::vector<int>& devices) {
  const std::size_t count = devices.size();
  const std::size_t side = sizeof(T) > 12 ? 257 : 1021;
  for (const bool copies : {false, true}) {
    check<T>(devices, 256, 256, 1 << 14, copies);
    check<T>(devices, side, 517, 30000, copies);
    check<T>(devices, 517, side, 0, copies);
    check<T>(devices, 1, 300, 100, copies);
    check<T>(devices, 300, 1, 100, copies);
    std::vector<std::size_t> begins(count, 0);  // the last one holds everything
    begins.push_back(400);
    check<T>(devices, {400, begins.data()}, 300, 1 << 14, copies);
    check<T>(devices, 300, {400, begins.data()}, 1 << 14, copies);
  }
}

void check_types(const std::vector<int>& devices) {
  check_shapes<unsigned char>(devices);
  check_shapes<float>(devices);
  check_shapes<float_triple>(devices);
  check_shapes<bytes<64>>(devices);
}

// Whether all devices reach each other, asked once: that access is enabled already is an error of CUDA's that the
// library takes back, and that memcheck would show.
bool devices_reach() {
  static const bool reach = [] {
    const std::vector<int> devices = first_devices(device_count());
    const cudaError_t status =
        tt::enable_peer_access(devices.data(), static_cast<int>(devices.size()));
    REQUIRE((status == cudaSuccess || status == cudaErrorPeerAccessUnsupported));
    return status == cudaSuccess;
  }();
  return reach;
}

}  // namespace

TEST_CASE("one device stands for several parts", "[quick]") {
  require_device();
  for (const int count : {1, 2, 3, 8}) {
    check_types(std::vector<int>(static_cast<std::size_t>(count), 0));
  }
}

TEST_CASE("devices reach each other", "[quick]") {
  require_device();
  if (device_count() < 2) { SKIP("needs two devices"); }
  if (!devices_reach()) { SKIP("the devices cannot reach each other's memory"); }
  check_types(first_devices(device_count()));
  check_types({1, 0, 1});
}

TEST_CASE("access that is enabled already stays enabled, and leaves no error", "[provokes]") {
  require_device();
  if (device_count() < 2 || !devices_reach()) { SKIP("needs two devices that reach each other"); }
  const int devices[] = {0, 1};
  REQUIRE(tt::enable_peer_access(devices, 2) == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("steps of a usual size, on all devices or on one that stands for two") {
  require_device();
  require_memory(std::size_t{3} << 30);
  if (device_count() > 1 && !devices_reach()) {
    SKIP("the devices cannot reach each other's memory");
  }
  const std::vector<int> devices =
      device_count() > 1 ? first_devices(device_count()) : std::vector<int>{0, 0};
  check<float>(devices, 8192, 8191, 0, true);
  check<float>(devices, 8192, 8191, 0, false);
}
