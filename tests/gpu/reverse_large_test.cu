// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Symmetries of more elements than 32 bits count, out of place and in place.

#include <tiletranspose/reverse.cuh>

#include "large.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

// launch(out, in) on a matrix of hashes.
template <class T, class Launch>
void check_large(shape s, symmetry how, Launch launch) {
  INFO(name(how));
  tt_test::check_large<T>(s, 1, expect(s, how), launch);
}

// launch(data) in the matrix's own memory.
template <class T, class Launch>
void check_large_inplace(shape s, symmetry how, Launch launch) {
  const std::size_t count = s.nx * s.ny;
  require_memory(count * sizeof(T) + 2 * guard_bytes);
  INFO(describe(tt_test::describe<T>(std::to_string(sizeof(T)) + " bytes"), how, s) << " in place");
  const guarded<T> data{count};
  fill_input<<<large_grid, large_block>>>(data.data(), count);
  check_cuda(cudaGetLastError(), "launch of the fill");
  REQUIRE((differences(data.data(), count, expect(s, how)) == "") == (how == symmetry::identity));
  REQUIRE(launch(data.data()) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(differences(data.data(), count, expect(s, how)) == "");
  REQUIRE(data.guards_hold());
}

template <class T>
void check_symmetry(shape s, symmetry how) {
  check_large<T>(s, how, [&](T* out, const T* in) {
    const shape t = reoriented(s, how);
    return tt::reorient(tt::matrix_view<T>{out, t.ny, t.nx, t.nx},
                        tt::matrix_view<const T>{in, s.ny, s.nx, s.nx}, how);
  });
}

template <class T>
void check_symmetry_inplace(shape s, symmetry how) {
  check_large_inplace<T>(s, how, [&](T* data) {
    return tt::reorient_inplace(tt::matrix_view<T>{data, s.ny, s.nx, s.nx}, how);
  });
}

using byte_type = std::uint8_t;
using word_type = std::uint32_t;

}  // namespace

TEST_CASE("large: reverse of more than 2^32 elements", "[large]") {
  require_device();
  constexpr std::size_t n = (std::size_t{1} << 32) + 12345;
  SECTION("bytes") {
    check_large<byte_type>({n, 1}, symmetry::flip_lr, [](byte_type* out, const byte_type* in) {
      return tt::reverse(out, in, n);
    });
  }
  SECTION("bytes in place") {
    check_large_inplace<byte_type>({n, 1}, symmetry::flip_lr,
                                   [](byte_type* data) { return tt::reverse_inplace(data, n); });
  }
  SECTION("words") {
    check_large<word_type>({n, 1}, symmetry::flip_lr, [](word_type* out, const word_type* in) {
      return tt::reverse(out, in, n);
    });
  }
  SECTION("words in place") {
    check_large_inplace<word_type>({n, 1}, symmetry::flip_lr,
                                   [](word_type* data) { return tt::reverse_inplace(data, n); });
  }
}

TEST_CASE("large: every symmetry of more than 2^32 bytes", "[large]") {
  require_device();
  for (const symmetry how : every_symmetry) {
    DYNAMIC_SECTION(name(how)) {
      check_symmetry<byte_type>({65537, 65539}, how);
      check_symmetry<byte_type>({3, 1500000001}, how);
      check_symmetry<byte_type>({1500000001, 3}, how);
    }
  }
}

TEST_CASE("large: every symmetry of more than 2^31 words", "[large]") {
  require_device();
  for (const symmetry how : every_symmetry) {
    DYNAMIC_SECTION(name(how)) { check_symmetry<word_type>({46351, 46349}, how); }
  }
}

TEST_CASE("large: symmetries in place of more than 2^32 bytes", "[large]") {
  require_device();
  for (const symmetry how : every_symmetry) {
    DYNAMIC_SECTION(name(how)) {
      check_symmetry_inplace<byte_type>({65539, 65539}, how);
      if (!swaps_sides(how)) {
        check_symmetry_inplace<byte_type>({3, 1500000001}, how);
        check_symmetry_inplace<byte_type>({1500000001, 3}, how);
      }
    }
  }
  SECTION("aligned square") {
    check_symmetry_inplace<byte_type>({65792, 65792}, symmetry::transpose);
  }
}

// As many rows as no grid holds if each took a block.
TEST_CASE("large: more than 2^31 rows", "[large]") {
  require_device();
  constexpr shape s{1, (std::size_t{1} << 31) + 7};
  check_symmetry<byte_type>(s, symmetry::flip_ud);
  check_symmetry<byte_type>(s, symmetry::rotate_90);
  check_symmetry_inplace<byte_type>(s, symmetry::flip_ud);
  check_large<byte_type>({2, s.ny}, symmetry::flip_lr, [&](byte_type* out, const byte_type* in) {
    return tt::flip_lr(out, in, 2, s.ny);
  });
}

TEST_CASE("large: more than 2^32 bytes in many small matrices", "[large]") {
  require_device();
  constexpr shape s{3, 5};
  constexpr std::size_t batch = 290000001;
  // A half turn of a dense matrix reverses its elements: as rows of one matrix, they are mirrored.
  check_large<byte_type>(
      {s.nx * s.ny, batch}, symmetry::flip_lr, [&](byte_type* out, const byte_type* in) {
        return tt::reorient_batched(out, in, s.nx, s.ny, batch, symmetry::rotate_180);
      });
}

namespace {

// transpose_inplace with as many bytes of scratch as `amount(least, full)` says.
template <class T, class Amount>
void check_large_scratch(shape s, Amount amount) {
  std::size_t least = 0;
  REQUIRE(tt::transpose_inplace(nullptr, least, static_cast<T*>(nullptr), s.nx, s.ny) ==
          cudaSuccess);
  const std::size_t full = s.nx * s.ny * sizeof(T);
  std::size_t bytes = amount(least, full);
  INFO("scratch of " << bytes << " bytes");
  require_memory(full + bytes + 2 * guard_bytes);
  const device_allocation temp{bytes};
  check_large_inplace<T>(s, symmetry::transpose, [&](T* data) {
    return tt::transpose_inplace(temp.data(), bytes, data, s.nx, s.ny);
  });
}

std::size_t smallest(std::size_t least, std::size_t) { return least; }
std::size_t middling(std::size_t least, std::size_t full) {
  return std::min(full, std::max(least, std::size_t{32} << 20));
}
std::size_t whole(std::size_t, std::size_t full) { return full; }

}  // namespace

TEST_CASE("large: rectangles of more than 2^32 bytes in place", "[large]") {
  require_device();
  SECTION("coprime, smallest") { check_large_scratch<byte_type>({65537, 65539}, smallest); }
  SECTION("coprime, tall") { check_large_scratch<byte_type>({65539, 65537}, middling); }
  SECTION("other sides") { check_large_scratch<byte_type>({65792, 65536}, middling); }
  SECTION("other sides, wide") { check_large_scratch<byte_type>({65536, 65792}, smallest); }
  SECTION("whole") { check_large_scratch<byte_type>({65537, 65539}, whole); }
  SECTION("few columns") { check_large_scratch<byte_type>({40, 110000003}, smallest); }
  SECTION("few rows") { check_large_scratch<byte_type>({110000003, 40}, middling); }
  SECTION("a side of more than 2^31") {
    check_large_scratch<byte_type>({3, (std::size_t{1} << 31) + 5}, smallest);
  }
}

TEST_CASE("large: rectangles of more than 2^31 words in place", "[large]") {
  require_device();
  SECTION("coprime") { check_large_scratch<word_type>({46351, 46349}, smallest); }
  SECTION("other sides") { check_large_scratch<word_type>({46352, 46384}, middling); }
}

// Rows that fit the shared memory of no block take another way.
TEST_CASE("large: rectangles whose shorter side is more than 227 KB", "[large]") {
  require_device();
  using aligned = block<64, 16>;
  using unaligned = block<63, 1>;
  SECTION("coprime, smallest") { check_large_scratch<aligned>({4001, 4003}, smallest); }
  SECTION("coprime, wide") { check_large_scratch<aligned>({4003, 4001}, middling); }
  SECTION("other sides") { check_large_scratch<aligned>({4000, 4016}, middling); }
  SECTION("other sides, wide") { check_large_scratch<aligned>({4016, 4000}, smallest); }
  SECTION("unaligned") { check_large_scratch<unaligned>({4001, 4003}, middling); }
  SECTION("unaligned, wide") { check_large_scratch<unaligned>({4016, 4000}, smallest); }
  SECTION("8 bytes") { check_large_scratch<std::uint64_t>({29101, 29103}, smallest); }
}
