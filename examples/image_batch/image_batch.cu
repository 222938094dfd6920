// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a network is fed with: images as decoders leave them, bytes in NHWC order, become normalized floats in NCHW
// order, in one pass over memory.

#include <tiletranspose/permute.cuh>

#include "../example.cuh"

// Any function object will do. It is handed to the kernel by value, and so may carry state.
struct normalize {
  float mean;
  float deviation;
  __host__ __device__ float operator()(unsigned char value) const {
    return (static_cast<float>(value) - mean) / deviation;
  }
};

int main() {
  example::need_gpu();
  constexpr std::size_t images = 16, height = 223, width = 227, channels = 3;
  constexpr std::size_t count = images * height * width * channels;
  std::vector<unsigned char> pixels(count);
  for (std::size_t i = 0; i < count; ++i) pixels[i] = static_cast<unsigned char>(i * 37 % 251);

  const auto device_pixels = example::to_device(pixels);
  const auto device_planes = example::make_device_array<float>(count);
  const normalize to_float{128.0f, 64.0f};  // both are exact in every order of operations
  example::check(tt::transform_permute(device_planes.get(), device_pixels.get(),
                                       {images, height, width, channels}, {0, 3, 1, 2}, to_float),
                 "tt::transform_permute");

  const auto planes = example::to_host(device_planes, count);
  for (std::size_t n = 0; n < images; ++n) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        for (std::size_t c = 0; c < channels; ++c) {
          const float expected = to_float(pixels[((n * height + y) * width + x) * channels + c]);
          if (planes[((n * channels + c) * height + y) * width + x] != expected) {
            std::fprintf(stderr, "image_batch: wrong in image %zu, row %zu, column %zu\n", n, y, x);
            return 1;
          }
        }
      }
    }
  }
  std::printf("%zu images of %zu x %zu pixels, normalized and in planes; verified.\n", images,
              height, width);
  return 0;
}
