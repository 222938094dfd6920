// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heads of attention in front of the tokens and back: (batch, sequence, heads, depth) to (batch, heads, sequence,
// depth), of 2-byte elements, and the keys to (batch, heads, depth, sequence) for the product with the queries.

#include <tiletranspose/permute.cuh>

#include "../example.cuh"

int main() {
  example::need_gpu();
  constexpr std::size_t batch = 3, sequence = 333, heads = 12, depth = 64;
  constexpr std::size_t count = batch * sequence * heads * depth;
  using half_bits = unsigned short;  // elements are moved as they lie; __half does as well
  std::vector<half_bits> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<half_bits>(i * 40503 >> 4);

  const auto device_tokens = example::to_device(tokens);
  const auto device_heads = example::make_device_array<half_bits>(count);
  const auto device_keys = example::make_device_array<half_bits>(count);
  const auto device_back = example::make_device_array<half_bits>(count);
  const half_bits* const from = device_tokens.get();
  const half_bits* const between = device_heads.get();
  example::check(
      tt::permute(device_heads.get(), from, {batch, sequence, heads, depth}, {0, 2, 1, 3}),
      "tt::permute to heads");
  example::check(
      tt::permute(device_keys.get(), from, {batch, sequence, heads, depth}, {0, 2, 3, 1}),
      "tt::permute to keys");
  example::check(
      tt::permute(device_back.get(), between, {batch, heads, sequence, depth}, {0, 2, 1, 3}),
      "tt::permute back");

  const auto by_head = example::to_host(device_heads, count);
  const auto keys = example::to_host(device_keys, count);
  if (example::to_host(device_back, count) != tokens) {
    std::fprintf(stderr, "attention_heads: back again is not what it was\n");
    return 1;
  }
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t s = 0; s < sequence; ++s) {
      for (std::size_t h = 0; h < heads; ++h) {
        for (std::size_t d = 0; d < depth; ++d) {
          const half_bits expected = tokens[((b * sequence + s) * heads + h) * depth + d];
          const std::size_t head = b * heads + h;
          if (by_head[(head * sequence + s) * depth + d] != expected ||
              keys[(head * depth + d) * sequence + s] != expected) {
            std::fprintf(stderr, "attention_heads: wrong at token %zu of head %zu\n", s, h);
            return 1;
          }
        }
      }
    }
  }
  std::printf("%zu x %zu tokens of %zu heads, in front and back; verified.\n", batch, sequence,
              heads);
  return 0;
}
