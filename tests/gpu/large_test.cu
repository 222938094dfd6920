// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transposes of more elements than 32 bits count, and strides that leave 32 bits after a few rows.

#include "large.cuh"

#include <tiletranspose/permute.cuh>

using namespace tt_test;

namespace {

template <class T>
__global__ void fill_pointers(T** pointers, T* first, std::size_t count) {
  for_each_element(count, [=](std::size_t i) { pointers[i] = first + i; });
}

// launch(out, in) shall transpose `batch` matrices of hashes.
template <class Word, class Launch>
void check_large(shape s, std::size_t batch, Launch launch) {
  tt_test::check_large<Word>(s, batch, expect(s, tt::symmetry::transpose), launch);
}

template <class Word>
void check_tuned(shape s) {
  check_large<Word>(s, 1,
                    [&](Word* out, const Word* in) { return tt::transpose(out, in, s.nx, s.ny); });
}

template <class Word>
void check_explicit(shape s) {
  check_large<Word>(s, 1, [&](Word* out, const Word* in) {
    return tt::transpose<Word, 32, 8>(out, in, s.nx, s.ny);
  });
}

template <class Word>
void check_batch(shape s, std::size_t batch) {
  check_large<Word>(s, batch, [&](Word* out, const Word* in) {
    return tt::transpose_batched(out, in, s.nx, s.ny, batch);
  });
}

// By arguments that 31 bits do not count.
template <class Word, std::size_t Rank, class Launch>
void check_permute(const std::size_t (&extents)[Rank], const int (&axes)[Rank], Launch launch,
                   unsigned char flip = 0) {
  permuted_array array{static_cast<int>(Rank), {}, {}};
  std::copy(extents, extents + Rank, array.extents);
  std::copy(axes, axes + Rank, array.axes);
  const shape s{array.size(), 1};
  tt_test::check_large<Word>(s, 1, {s.nx, s.ny, false, false, false, flip, array}, launch);
}
template <class Word, std::size_t Rank>
void check_permute(const std::size_t (&extents)[Rank], const int (&axes)[Rank]) {
  check_permute<Word>(extents, axes, [&](Word* out, const Word* in) {
    return tt::permute(out, in, extents, axes);
  });
}

struct complement_of {
  __device__ std::uint8_t operator()(std::uint8_t value) const {
    return static_cast<std::uint8_t>(~value);
  }
};

// Takes its bits from both sides: each must be the right one.
struct halves_of_both {
  __device__ std::uint8_t operator()(std::uint8_t value, std::uint8_t old) const {
    return static_cast<std::uint8_t>((value & 0x0f) | (~old & 0xf0));
  }
};

// Rows of `cols` elements, `stride` elements apart, in an allocation of which nothing else is ever
// read or written but the guards on both sides of each row.
class sparse_matrix {
 public:
  sparse_matrix(std::size_t rows, std::size_t cols, std::size_t stride, std::size_t size)
      : rows_(rows),
        row_bytes_(cols * size),
        pitch_(stride * size),
        memory_(2 * guard_bytes + (rows - 1) * pitch_ + row_bytes_) {}

  static std::size_t footprint(std::size_t rows, std::size_t stride, std::size_t size) {
    return rows * stride * size + 2 * guard_bytes;
  }

  std::byte* data() const { return memory_.data() + guard_bytes; }

  void upload(const byte_vector& content) const {
    for (std::size_t row = 0; row < rows_; ++row) {
      std::byte* const first = data() + row * pitch_;
      check_cuda(cudaMemset(first - margin(), guard_value, row_bytes_ + 2 * margin()),
                 "cudaMemset");
      check_cuda(
          cudaMemcpy(first, content.data() + row * row_bytes_, row_bytes_, cudaMemcpyHostToDevice),
          "upload of a row");
    }
  }

  std::string difference(const byte_vector& expected) const {
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::byte* const first = data() + row * pitch_;
      const byte_vector now = download(first, row_bytes_);
      if (std::memcmp(now.data(), expected.data() + row * row_bytes_, row_bytes_) != 0 ||
          !all_guard(first - margin(), margin()) || !all_guard(first + row_bytes_, margin())) {
        return "row " + std::to_string(row) + " or what surrounds it";
      }
    }
    return {};
  }

 private:
  // Half the gap at most, so that the margins of two rows do not meet.
  std::size_t margin() const {
    return rows_ == 1 ? guard_bytes : std::min(guard_bytes, (pitch_ - row_bytes_) / 2);
  }

  std::size_t rows_, row_bytes_, pitch_;
  device_allocation memory_;
};

// What an output starts as, so that no byte of it is right before it is written.
byte_vector complement(byte_vector content) {
  for (std::byte& b : content) b = ~b;
  return content;
}

// Both views as sparse as their strides make them.
void check_sparse(const view_transpose& t, shape s, std::size_t in_stride, std::size_t out_stride,
                  random_source& random) {
  const std::size_t size = t.type.size;
  require_memory(sparse_matrix::footprint(s.ny, in_stride, size) +
                 sparse_matrix::footprint(s.nx, out_stride, size));
  INFO(t.type.name << ", nx " << s.nx << ", ny " << s.ny << ", strides " << in_stride << " -> "
                   << out_stride << "; repeat with --rng-seed " << Catch::getSeed());
  const byte_vector content = random.fill(s.nx * s.ny * size);
  const byte_vector expected = transposed({content.data(), s.ny, s.nx, s.nx, size});
  const sparse_matrix in{s.ny, s.nx, in_stride, size};
  const sparse_matrix out{s.nx, s.ny, out_stride, size};
  in.upload(content);
  out.upload(complement(expected));
  REQUIRE(t.launch(out.data(), out_stride, in.data(), in_stride, s.nx, s.ny) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(out.difference(expected) == "");
  REQUIRE(in.difference(content) == "");
}

}  // namespace

TEST_CASE("large: more than 2^32 bytes", "[large]") {
  require_device();
  SECTION("almost square") { check_tuned<std::uint8_t>({65537, 65539}); }
  SECTION("aligned") { check_tuned<std::uint8_t>({65536, 66048}); }
  SECTION("3 columns") { check_tuned<std::uint8_t>({3, 1500000001}); }
  SECTION("3 rows") { check_tuned<std::uint8_t>({1500000001, 3}); }
  SECTION("one column") { check_tuned<std::uint8_t>({1, 4300000001}); }
  SECTION("40 rows") { check_tuned<std::uint8_t>({110000003, 40}); }
}

TEST_CASE("large: more than 2^31 and 2^32 floats", "[large]") {
  require_device();
  SECTION("2^31, almost square") { check_tuned<std::uint32_t>({46351, 46349}); }
  SECTION("2^31, 2 columns") { check_tuned<std::uint32_t>({2, 1100000001}); }
  SECTION("2^32, almost square") { check_tuned<std::uint32_t>({65537, 65539}); }
}

TEST_CASE("large: explicit tiles", "[large]") {
  require_device();
  SECTION("almost square") { check_explicit<std::uint8_t>({65537, 65539}); }
  SECTION("3 columns") { check_explicit<std::uint8_t>({3, 1500000001}); }
  SECTION("3 rows") { check_explicit<std::uint8_t>({1500000001, 3}); }
}

TEST_CASE("large: batches", "[large]") {
  require_device();
  SECTION("2^32 bytes of 64 x 65") { check_batch<std::uint8_t>({64, 65}, (1u << 20) + 1); }
  SECTION("2^32 bytes of 3 x 5") { check_batch<std::uint8_t>({3, 5}, 290000001); }
}

// As many blocks as no grid holds.
TEST_CASE("large: more than 2^31 tiles", "[large]") {
  require_device();
  constexpr shape s{(std::size_t{1} << 31) + 5, 1};
  check_large<std::uint8_t>(s, 1, [&](std::uint8_t* out, const std::uint8_t* in) {
    return tt::transpose<std::uint8_t, 1, 1>(out, in, s.nx, s.ny);
  });
}

TEST_CASE("large: more than 2^31 pointers", "[large]") {
  require_device();
  constexpr std::size_t batch = (std::size_t{1} << 31) + 5;
  require_memory(batch * 2 * (sizeof(void*) + 1));
  const device_allocation out_pointers{batch * sizeof(void*)};
  const device_allocation in_pointers{batch * sizeof(void*)};
  check_large<std::uint8_t>({1, 1}, batch, [&](std::uint8_t* out, const std::uint8_t* in) {
    auto* const outs = reinterpret_cast<std::uint8_t**>(out_pointers.data());
    auto* const ins = reinterpret_cast<const std::uint8_t**>(in_pointers.data());
    fill_pointers<<<large_grid, large_block>>>(outs, out, batch);
    fill_pointers<<<large_grid, large_block>>>(ins, in, batch);
    check_cuda(cudaGetLastError(), "launch of the pointers");
    return tt::transpose_batched<std::uint8_t>(outs, ins, 1, 1, batch);
  });
}

TEST_CASE("large: permutes", "[large]") {
  require_device();
  SECTION("micro-blocks of bytes") {
    check_permute<std::uint8_t>({64, 1030, 64, 1040}, {3, 2, 1, 0});
  }
  SECTION("panels of bytes") { check_permute<std::uint8_t>({1500, 37, 1500, 53}, {3, 2, 1, 0}); }
  SECTION("tiles of 8 bytes") { check_permute<std::uint64_t>({33, 700, 33, 701}, {3, 2, 1, 0}); }
  SECTION("tiles with several axes a side") {
    check_permute<std::uint32_t>({300, 6, 7, 300, 400}, {4, 2, 1, 3, 0});
  }
  SECTION("elements") { check_permute<std::uint32_t>({5, 6, 7, 9000, 300}, {3, 1, 0, 2, 4}); }
  SECTION("more than 2^32 elements of 2 bytes") {
    check_permute<std::uint16_t>({33, 2048, 65, 1040}, {0, 3, 2, 1});
  }
  SECTION("with a function") {
    constexpr std::size_t extents[] = {65, 1030, 65, 1031};
    constexpr int axes[] = {3, 2, 1, 0};
    check_permute<std::uint8_t>(
        extents, axes,
        [&](std::uint8_t* out, const std::uint8_t* in) {
          return tt::transform_permute(out, in, extents, axes, complement_of{});
        },
        0xff);
  }
}

TEST_CASE("large: transform", "[large]") {
  require_device();
  constexpr shape s{65537, 65539};
  tt_test::check_large<std::uint8_t>(s, 1, expect(s, tt::symmetry::transpose, 0xff),
                                     [&](std::uint8_t* out, const std::uint8_t* in) {
                                       return tt::transform_transpose(out, in, s.nx, s.ny,
                                                                      complement_of{});
                                     });
}

TEST_CASE("large: accumulate", "[large]") {
  require_device();
  constexpr shape s{65537, 65539};
  // Every element of the output starts as the complement of what is expected of it.
  check_large<std::uint8_t>(s, 1, [&](std::uint8_t* out, const std::uint8_t* in) {
    return tt::accumulate_transpose(out, in, s.nx, s.ny, halves_of_both{});
  });
}

TEST_CASE("large: two outputs", "[large]") {
  require_device();
  constexpr shape s{65537, 65539};
  constexpr std::size_t count = s.nx * s.ny;
  require_memory(3 * count + 6 * guard_bytes);
  const guarded<std::uint8_t> copy{count};
  const expectation copied = expect({count, 1}, tt::symmetry::identity, 0xff);
  poison_output<<<large_grid, large_block>>>(copy.data(), count, copied);
  check_cuda(cudaGetLastError(), "launch of the fill");
  tt_test::check_large<std::uint8_t>(s, 1, expect(s, tt::symmetry::transpose, 0xff),
                                     [&](std::uint8_t* out, const std::uint8_t* in) {
                                       return tt::transform_transpose_dual(
                                           copy.data(), out, in, s.nx, s.ny, complement_of{});
                                     });
  REQUIRE(differences(copy.data(), count, copied) == "");
  REQUIRE(copy.guards_hold());
}

// 64-bit offsets at little work.
TEST_CASE("large: strides beyond 32 bits", "[large]") {
  constexpr std::size_t two_to_31 = std::size_t{1} << 31;
  const std::vector<view_transpose> transposes{
      make_view<std::uint8_t>("std::uint8_t"),
      make_view<std::uint8_t, 32, 8>("std::uint8_t, 32, 8"),
      make_view<float>("float"),
  };
  for_each_type(transposes, [&](const view_transpose& t, random_source& random) {
    // The last row starts past 2^31, and in the second pair past 2^32 elements.
    for (const std::size_t last : {two_to_31 + 64, 2 * two_to_31 + 64}) {
      check_sparse(t, {40, 3}, last / 2, 3, random);
      check_sparse(t, {3, 40}, 3, last / 2, random);
      check_sparse(t, {64, 65}, last / 64, 65, random);
      check_sparse(t, {65, 64}, 65, last / 64, random);
      check_sparse(t, {128, 129}, (last / 128 + 15) / 16 * 16, 144, random);
      check_sparse(t, {129, 128}, 144, (last / 128 + 15) / 16 * 16, random);
    }
  });
}

TEST_CASE("large: batch strides beyond 32 bits", "[large]") {
  require_device();
  random_source random;
  constexpr shape s{37, 41};
  constexpr std::size_t matrix = s.nx * s.ny;
  constexpr std::size_t stride = (std::size_t{1} << 31) + 64;
  constexpr std::size_t batch = 3;
  require_memory(2 * sparse_matrix::footprint(batch, stride, 1));
  const byte_vector content = random.fill(batch * matrix);
  const byte_vector expected = transposed_batch(content, s, batch, 1);
  const sparse_matrix in{batch, matrix, stride, 1};
  const sparse_matrix out{batch, matrix, stride, 1};
  in.upload(content);
  out.upload(complement(expected));
  REQUIRE(tt::transpose_batched(reinterpret_cast<std::uint8_t*>(out.data()), stride,
                                reinterpret_cast<const std::uint8_t*>(in.data()), stride, s.nx,
                                s.ny, batch) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(out.difference(expected) == "");
  REQUIRE(in.difference(content) == "");
}
