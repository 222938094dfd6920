// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// More elements than 32 bits count, and strides that leave 32 bits after a few rows. Input and
// expectation are a hash of the position, computed on the device: no host holds these matrices.

#include "support.cuh"

using namespace tt_test;

namespace {

// A different word for every position, as good as random.
template <class Word>
__device__ Word hash(std::uint64_t position) {
  position += 0x9e3779b97f4a7c15u;
  position = (position ^ (position >> 30)) * 0xbf58476d1ce4e5b9u;
  position = (position ^ (position >> 27)) * 0x94d049bb133111ebu;
  return static_cast<Word>(position ^ (position >> 31));
}

// Elements of the output of `batch` transposes, one behind the other, with `increment` added to
// each.
template <class Word>
struct expectation {
  std::size_t nx, ny;
  Word increment;

  __device__ Word operator()(std::size_t i) const {
    const std::size_t matrix = i / (nx * ny);
    const std::size_t element = i % (nx * ny);
    const std::size_t x = element / ny;
    const std::size_t y = element % ny;
    return static_cast<Word>(hash<Word>(matrix * nx * ny + y * nx + x) + increment);
  }
};

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
__global__ void poison_output(Word* out, std::size_t count, expectation<Word> expected) {
  for_each_element(count, [=](std::size_t i) { out[i] = static_cast<Word>(~expected(i)); });
}

template <class T>
__global__ void fill_pointers(T** pointers, T* first, std::size_t count) {
  for_each_element(count, [=](std::size_t i) { pointers[i] = first + i; });
}

struct verdict {
  unsigned long long differences;
  unsigned long long first;
};

template <class Word>
__global__ void compare(const Word* data, std::size_t count, expectation<Word> expected,
                        verdict* result) {
  for_each_element(count, [=](std::size_t i) {
    if (data[i] == expected(i)) return;
    atomicAdd(&result->differences, 1ull);
    atomicMin(&result->first, static_cast<unsigned long long>(i));
  });
}

// The input is its own transpose's transpose: one row as wide as there are elements.
template <class Word>
constexpr expectation<Word> untouched(std::size_t count) {
  return {count, 1, Word{0}};
}

constexpr int grid = 4096;
constexpr int block = 256;

template <class Word>
std::string differences(const Word* data, std::size_t count, const expectation<Word>& expected) {
  const device_allocation memory{sizeof(verdict)};
  auto* const result = reinterpret_cast<verdict*>(memory.data());
  verdict v{0, ~0ull};
  check_cuda(cudaMemcpy(result, &v, sizeof v, cudaMemcpyHostToDevice), "upload of the verdict");
  compare<<<grid, block>>>(data, count, expected, result);
  check_cuda(cudaGetLastError(), "launch of the comparison");
  check_cuda(cudaMemcpy(&v, result, sizeof v, cudaMemcpyDeviceToHost), "download of the verdict");
  if (v.differences == 0) return {};
  return std::to_string(v.differences) + " elements differ, the first is number " +
         std::to_string(v.first);
}

constexpr int guard_value = 0xa5;

bool all_guard(const std::byte* first, std::size_t size) {
  return download(first, size) == byte_vector(size, std::byte{guard_value});
}

// Calls launch(out, in) on `batch` matrices and checks every element on the device.
template <class Word, class Launch>
void check_large(shape s, std::size_t batch, Word increment, Launch launch) {
  const std::size_t count = s.nx * s.ny * batch;
  const std::size_t size = count * sizeof(Word);
  require_memory(2 * size + 2 * guard_bytes);
  INFO("nx " << s.nx << ", ny " << s.ny << ", batch " << batch << ", " << sizeof(Word) << " bytes");
  const device_allocation in_memory{size};
  const device_allocation out_memory{size + 2 * guard_bytes};
  auto* const in = reinterpret_cast<Word*>(in_memory.data());
  auto* const out = reinterpret_cast<Word*>(out_memory.data() + guard_bytes);
  std::byte* const behind = out_memory.data() + guard_bytes + size;
  const expectation<Word> expected{s.nx, s.ny, increment};

  fill_input<<<grid, block>>>(in, count);
  check_cuda(cudaGetLastError(), "launch of the fill");
  poison_output<<<grid, block>>>(out, count, expected);
  check_cuda(cudaGetLastError(), "launch of the poison");
  check_cuda(cudaMemset(out_memory.data(), guard_value, guard_bytes), "cudaMemset");
  check_cuda(cudaMemset(behind, guard_value, guard_bytes), "cudaMemset");

  REQUIRE(launch(out, static_cast<const Word*>(in)) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(differences(out, count, expected) == "");
  REQUIRE(differences(in, count, untouched<Word>(count)) == "");
  REQUIRE(all_guard(out_memory.data(), guard_bytes));
  REQUIRE(all_guard(behind, guard_bytes));
}

template <class Word>
void check_tuned(shape s) {
  check_large<Word>(s, 1, 0,
                    [&](Word* out, const Word* in) { return tt::transpose(out, in, s.nx, s.ny); });
}

template <class Word>
void check_explicit(shape s) {
  check_large<Word>(s, 1, 0, [&](Word* out, const Word* in) {
    return tt::transpose<Word, 32, 8>(out, in, s.nx, s.ny);
  });
}

template <class Word>
void check_batch(shape s, std::size_t batch) {
  check_large<Word>(s, batch, 0, [&](Word* out, const Word* in) {
    return tt::transpose_batched(out, in, s.nx, s.ny, batch);
  });
}

struct plus_one {
  __device__ std::uint8_t operator()(std::uint8_t value) const {
    return static_cast<std::uint8_t>(value + 1);
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
  check_large<std::uint8_t>(s, 1, 0, [&](std::uint8_t* out, const std::uint8_t* in) {
    return tt::transpose<std::uint8_t, 1, 1>(out, in, s.nx, s.ny);
  });
}

TEST_CASE("large: more than 2^31 pointers", "[large]") {
  require_device();
  constexpr std::size_t batch = (std::size_t{1} << 31) + 5;
  require_memory(batch * 2 * (sizeof(void*) + 1));
  const device_allocation out_pointers{batch * sizeof(void*)};
  const device_allocation in_pointers{batch * sizeof(void*)};
  check_large<std::uint8_t>({1, 1}, batch, 0, [&](std::uint8_t* out, const std::uint8_t* in) {
    auto* const outs = reinterpret_cast<std::uint8_t**>(out_pointers.data());
    auto* const ins = reinterpret_cast<const std::uint8_t**>(in_pointers.data());
    fill_pointers<<<grid, block>>>(outs, out, batch);
    fill_pointers<<<grid, block>>>(ins, in, batch);
    check_cuda(cudaGetLastError(), "launch of the pointers");
    return tt::transpose_batched<std::uint8_t>(outs, ins, 1, 1, batch);
  });
}

TEST_CASE("large: transform", "[large]") {
  require_device();
  constexpr shape s{65537, 65539};
  check_large<std::uint8_t>(s, 1, 1, [&](std::uint8_t* out, const std::uint8_t* in) {
    return tt::transform_transpose(out, in, s.nx, s.ny, plus_one{});
  });
}

// 64-bit offsets at little work.
TEST_CASE("large: strides beyond 32 bits", "[large]") {
  require_device();
  random_source random;
  constexpr std::size_t two_to_31 = std::size_t{1} << 31;
  const std::vector<view_transpose> transposes{
      make_view<std::uint8_t>("std::uint8_t"),
      make_view<std::uint8_t, 32, 8>("std::uint8_t, 32, 8"),
      make_view<float>("float"),
  };
  for (const view_transpose& t : transposes) {
    DYNAMIC_SECTION(t.type.name) {
      // The last row starts past 2^31, and in the second pair past 2^32 elements.
      for (const std::size_t last : {two_to_31 + 64, 2 * two_to_31 + 64}) {
        check_sparse(t, {40, 3}, last / 2, 3, random);
        check_sparse(t, {3, 40}, 3, last / 2, random);
        check_sparse(t, {64, 65}, last / 64, 65, random);
        check_sparse(t, {65, 64}, 65, last / 64, random);
        check_sparse(t, {128, 129}, (last / 128 + 15) / 16 * 16, 144, random);
        check_sparse(t, {129, 128}, 144, (last / 128 + 15) / 16 * 16, random);
      }
    }
  }
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
