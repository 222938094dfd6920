// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// As own_names.cu, of the emulator.

#include <every_name.hpp>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/emulator.cuh>

namespace names {

struct Item {
  void operator&() const = delete;
  float x;
  float y;
};
using Transposer = tt::block_transpose<Item, 32, 8>;

struct Body {
  void operator&() const = delete;
  void operator()(tt::emulated_block block, tt::matrix_view<Item> out,
                  tt::matrix_view<const Item> in) const {
    const Transposer transposer(block.shared_as<Transposer::storage>());
    transposer.load(block, in, 0, 0);
    block.sync();
    transposer.store(block, out, 0, 0);
    out.set(0, 0, Item{1, 2});
  }
};

}  // namespace names

bool is_clean(tt::matrix_view<names::Item> out, tt::matrix_view<const names::Item> in) {
  return tt::emulate(tt::emulated_dim(1), 256, sizeof(names::Transposer::storage), names::Body{},
                     out, in)
      .clean();
}
