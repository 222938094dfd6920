// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Symmetries of more elements than 32 bits count, out of place and in place. Content is a hash of
// the position, computed on the device: no host holds these matrices.

#include <tiletranspose/reverse.cuh>

#include "symmetries.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

// A different word for every position, as good as random.
template <class Word>
__device__ Word hash(std::uint64_t position) {
  position += 0x9e3779b97f4a7c15u;
  position = (position ^ (position >> 30)) * 0xbf58476d1ce4e5b9u;
  position = (position ^ (position >> 27)) * 0x94d049bb133111ebu;
  return static_cast<Word>(position ^ (position >> 31));
}

// Element i of the output for a dense input of ny rows x nx columns of hash(position).
struct expectation {
  std::size_t nx, ny;
  bool transposes, from_last_row, from_last_col;

  __device__ std::size_t source(std::size_t i) const {
    const std::size_t cols = transposes ? ny : nx;
    std::size_t row = transposes ? i % cols : i / cols;
    std::size_t col = transposes ? i / cols : i % cols;
    if (from_last_row) row = ny - 1 - row;
    if (from_last_col) col = nx - 1 - col;
    return row * nx + col;
  }
};

// The three answers, from the table of tt::symmetry.
expectation expect(shape s, symmetry how) {
  const bool up = how == symmetry::flip_ud || how == symmetry::rotate_180 ||
                  how == symmetry::rotate_270 || how == symmetry::anti_transpose;
  const bool left = how == symmetry::flip_lr || how == symmetry::rotate_180 ||
                    how == symmetry::rotate_90 || how == symmetry::anti_transpose;
  return {s.nx, s.ny, swaps_sides(how), up, left};
}

template <class Visit>
__device__ void for_each_element(std::size_t count, Visit visit) {
  const std::size_t step = std::size_t{blockDim.x} * gridDim.x;
  for (std::size_t i = std::size_t{blockDim.x} * blockIdx.x + threadIdx.x; i < count; i += step) {
    visit(i);
  }
}

template <class Word>
__global__ void fill_input(Word* in, std::size_t count) {
  for_each_element(count, [=](std::size_t i) { in[i] = hash<Word>(i); });
}

// Every element starts as something else than what is expected of it.
template <class Word>
__global__ void poison_output(Word* out, std::size_t count, expectation expected) {
  for_each_element(
      count, [=](std::size_t i) { out[i] = static_cast<Word>(~hash<Word>(expected.source(i))); });
}

struct verdict {
  unsigned long long differences;
  unsigned long long first;
};

template <class Word>
__global__ void compare(const Word* data, std::size_t count, expectation expected,
                        verdict* result) {
  for_each_element(count, [=](std::size_t i) {
    if (data[i] == hash<Word>(expected.source(i))) return;
    atomicAdd(&result->differences, 1ull);
    atomicMin(&result->first, static_cast<unsigned long long>(i));
  });
}

constexpr int grid = 4096;
constexpr int threads = 256;
constexpr int guard_value = 0xa5;

template <class Word>
std::string differences(const Word* data, std::size_t count, const expectation& expected) {
  const device_allocation memory{sizeof(verdict)};
  auto* const result = reinterpret_cast<verdict*>(memory.data());
  verdict v{0, ~0ull};
  check_cuda(cudaMemcpy(result, &v, sizeof v, cudaMemcpyHostToDevice), "upload of the verdict");
  compare<<<grid, threads>>>(data, count, expected, result);
  check_cuda(cudaGetLastError(), "launch of the comparison");
  check_cuda(cudaMemcpy(&v, result, sizeof v, cudaMemcpyDeviceToHost), "download of the verdict");
  if (v.differences == 0) return {};
  return std::to_string(v.differences) + " elements differ, the first is number " +
         std::to_string(v.first);
}

// Elements between two guards.
template <class Word>
class guarded {
 public:
  explicit guarded(std::size_t count)
      : size_(count * sizeof(Word)), memory_(size_ + 2 * guard_bytes) {
    check_cuda(cudaMemset(memory_.data(), guard_value, guard_bytes), "cudaMemset");
    check_cuda(cudaMemset(behind(), guard_value, guard_bytes), "cudaMemset");
  }
  Word* data() const { return reinterpret_cast<Word*>(memory_.data() + guard_bytes); }
  bool guards_hold() const {
    const byte_vector guard(guard_bytes, std::byte{guard_value});
    return download(memory_.data(), guard_bytes) == guard &&
           download(behind(), guard_bytes) == guard;
  }

 private:
  std::byte* behind() const { return memory_.data() + guard_bytes + size_; }

  std::size_t size_;
  device_allocation memory_;
};

// launch(out, in) on a matrix of hashes; every element of both is checked on the device.
template <class Word, class Launch>
void check_large(shape s, symmetry how, Launch launch) {
  const std::size_t count = s.nx * s.ny;
  require_memory(2 * count * sizeof(Word) + 4 * guard_bytes);
  INFO(describe(tt_test::describe<Word>(std::to_string(sizeof(Word)) + " bytes"), how, s));
  const guarded<Word> in{count};
  const guarded<Word> out{count};
  const expectation expected = expect(s, how);
  fill_input<<<grid, threads>>>(in.data(), count);
  poison_output<<<grid, threads>>>(out.data(), count, expected);
  check_cuda(cudaGetLastError(), "launch of the fill");
  REQUIRE(launch(out.data(), static_cast<const Word*>(in.data())) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(differences(out.data(), count, expected) == "");
  REQUIRE(differences(in.data(), count, expect(s, symmetry::identity)) == "");
  REQUIRE(out.guards_hold());
  REQUIRE(in.guards_hold());
}

// launch(data) in the matrix's own memory.
template <class Word, class Launch>
void check_large_inplace(shape s, symmetry how, Launch launch) {
  const std::size_t count = s.nx * s.ny;
  require_memory(count * sizeof(Word) + 2 * guard_bytes);
  INFO(describe(tt_test::describe<Word>(std::to_string(sizeof(Word)) + " bytes"), how, s)
       << " in place");
  const guarded<Word> data{count};
  fill_input<<<grid, threads>>>(data.data(), count);
  check_cuda(cudaGetLastError(), "launch of the fill");
  REQUIRE(launch(data.data()) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(differences(data.data(), count, expect(s, how)) == "");
  REQUIRE(data.guards_hold());
}

template <class Word>
void check_symmetry(shape s, symmetry how) {
  check_large<Word>(s, how, [&](Word* out, const Word* in) {
    const shape t = reoriented(s, how);
    return tt::reorient(tt::matrix_view<Word>{out, t.ny, t.nx, t.nx},
                        tt::matrix_view<const Word>{in, s.ny, s.nx, s.nx}, how);
  });
}

template <class Word>
void check_symmetry_inplace(shape s, symmetry how) {
  check_large_inplace<Word>(s, how, [&](Word* data) {
    return tt::reorient_inplace(tt::matrix_view<Word>{data, s.ny, s.nx, s.nx}, how);
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
