// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose_inplace of any matrix with scratch: from the smallest to more than a full copy.

#include <memory>

#include "calls.cuh"
#include "scratch_calls.cuh"

using namespace tt_test;

namespace {

using tt::symmetry;

// Scratch between guards, filled with bytes that mean nothing.
class scratch {
 public:
  // Starts `misalignment` bytes past a 256-byte boundary.
  scratch(std::size_t size, random_source& random, std::size_t misalignment = 0)
      : first_(guard_bytes + misalignment),
        content_(random.fill(first_ + size + guard_bytes)),
        memory_(content_.size()) {
    upload(memory_.data(), content_);
  }

  void* data() const { return memory_.data() + first_; }

  bool guards_hold() const {
    const byte_vector now = download(memory_.data(), content_.size());
    const auto first = static_cast<std::ptrdiff_t>(first_);
    return std::equal(now.begin(), now.begin() + first, content_.begin()) &&
           std::equal(now.end() - guard_bytes, now.end(), content_.end() - guard_bytes);
  }

 private:
  std::size_t first_;
  byte_vector content_;
  device_allocation memory_;
};

const std::vector<scratch_call>& every_scratch_call() {
  static const std::vector<scratch_call> calls =
      joined({scratch_calls_of_1_to_8_bytes(), scratch_calls_of_9_to_20_bytes(),
              scratch_calls_of_24_to_64_bytes(), aligned_scratch_calls()});
  return calls;
}

std::vector<scratch_call> scratch_calls_between(std::size_t lowest, std::size_t highest) {
  return between(every_scratch_call(), lowest, highest);
}

std::vector<scratch_call> plain_scratch_calls() { return plain(every_scratch_call()); }

const scratch_call& floats() {
  const auto is_it = [](const scratch_call& c) {
    return c.type.size == sizeof(float) && c.type.alignment == alignof(float);
  };
  return *std::find_if(every_scratch_call().begin(), every_scratch_call().end(), is_it);
}

// What the query answers; checks that it does nothing else.
std::size_t smallest_scratch(const scratch_call& c, shape s, std::byte* data) {
  std::size_t bytes = 0;
  REQUIRE(c.transpose(nullptr, bytes, data, s) == cudaSuccess);
  // Nothing to allocate would be a null pointer, and that asks again.
  REQUIRE(bytes > 0);
  std::size_t again = ~std::size_t{0};
  REQUIRE(c.transpose(nullptr, again, nullptr, s) == cudaSuccess);
  REQUIRE(again == bytes);
  return bytes;
}

void check_with(const scratch_call& c, shape s, std::size_t temp_bytes, random_source& random,
                std::size_t misalignment) {
  INFO("scratch of " << temp_bytes << " bytes for " << s.nx * s.ny * c.type.size);
  // The scratch starts off 16 bytes where the data do.
  const scratch temp{temp_bytes, random, misalignment};
  std::size_t size = temp_bytes;
  check_inplace(c.type, symmetry::transpose, s, s.nx, misalignment, random,
                [&](std::byte* data) { return c.transpose(temp.data(), size, data, s); });
  REQUIRE(size == temp_bytes);
  REQUIRE(temp.guards_hold());
}

void check_smallest(const scratch_call& c, shape s, random_source& random,
                    std::size_t misalignment = 0) {
  check_with(c, s, smallest_scratch(c, s, nullptr), random, misalignment);
}

// The smallest scratch, a full copy and what lies between.
void check_amounts(const scratch_call& c, shape s, random_source& random,
                   std::size_t misalignment = 0) {
  const std::size_t least = smallest_scratch(c, s, nullptr);
  const std::size_t full = std::max(least, s.nx * s.ny * c.type.size);
  check_with(c, s, least, random, misalignment);
  check_with(c, s, least + 1, random, misalignment);
  check_with(c, s, std::min(2 * least, full), random, misalignment);
  check_with(c, s, least + (full - least) / 10, random, misalignment);
  check_with(c, s, least + (full - least) / 2, random, misalignment);
  check_with(c, s, random.between(least, full), random, misalignment);
  check_with(c, s, std::max(least, full - 1), random, misalignment);
  check_with(c, s, full, random, misalignment);
  check_with(c, s, full + 1000, random, misalignment);
}

void check_quick(std::size_t lowest, std::size_t highest) {
  for_each_type(
      scratch_calls_between(lowest, highest), [&](const scratch_call& c, random_source& random) {
        const std::size_t step = c.type.alignment;
        check_amounts(c, {24, 36}, random);
        for (const shape s :
             {shape{37, 20}, shape{3, 100}, shape{100, 3}, shape{1, 9}, shape{9, 1}, shape{32, 32},
              shape{64, 16}, shape{5, 70000 / c.type.size}, shape{70000 / c.type.size, 5}}) {
          check_smallest(c, s, random, step);
        }
        // Bands of several tiles; squares wider than a band, and of whole 16-byte accesses.
        for (const shape s : {shape{131, 900}, shape{900, 131}, shape{390, 260}, shape{260, 390}}) {
          check_smallest(c, s, random, step);
        }
        check_smallest(c, {160, 480}, random);
        check_smallest(c, {480, 320}, random);
        // Small elements whose squares move with the columns, because no block holds their rows.
        if (c.type.size <= 2) {
          const std::size_t side = 200 / c.type.size;
          check_smallest(c, {side * 13, side * 12}, random, step);
          check_smallest(c, {side * 12, side * 13}, random, step);
        }
      });
}

}  // namespace

TEST_CASE("scratch: every path, 1 byte", "[inplace][quick]") { check_quick(1, 1); }
TEST_CASE("scratch: every path, 2 bytes", "[inplace][quick]") { check_quick(2, 2); }
TEST_CASE("scratch: every path, 3 bytes", "[inplace][quick]") { check_quick(3, 3); }
TEST_CASE("scratch: every path, 4 bytes", "[inplace][quick]") { check_quick(4, 4); }
TEST_CASE("scratch: every path, 5 to 7 bytes", "[inplace][quick]") { check_quick(5, 7); }
TEST_CASE("scratch: every path, 8 bytes", "[inplace][quick]") { check_quick(8, 8); }
TEST_CASE("scratch: every path, 12 to 15 bytes", "[inplace][quick]") { check_quick(12, 15); }
TEST_CASE("scratch: every path, 16 bytes", "[inplace][quick]") { check_quick(16, 16); }
TEST_CASE("scratch: every path, 17 to 24 bytes", "[inplace][quick]") { check_quick(17, 24); }
TEST_CASE("scratch: every path, 31 to 33 bytes", "[inplace][quick]") { check_quick(31, 33); }
TEST_CASE("scratch: every path, 48 to 64 bytes", "[inplace][quick]") { check_quick(48, 64); }

// Squares of rectangles that take the large tiles of squares whose rows start anywhere.
TEST_CASE("scratch: large tiles of squares", "[inplace][quick]") {
  require_device();
  random_source random;
  for (const scratch_call& c : plain_scratch_calls()) {
    const std::size_t size = c.type.size;
    const shape s = size == 1   ? shape{3003, 5005}
                    : size == 2 ? shape{5005, 3003}
                    : size == 4 ? shape{3501, 4668}
                                : shape{2332, 1749};
    if (size > 8 || c.type.alignment != size) continue;
    DYNAMIC_SECTION(c.type.name) { check_smallest(c, s, random, size); }
  }
}

// Where sides have a common divisor runs of elements move: of slabs that a block holds, and that several hold.
TEST_CASE("scratch: runs of elements", "[inplace][quick]") {
  for_each_type(scratch_calls_between(1, 3), [&](const scratch_call& c, random_source& random) {
    const std::size_t size = c.type.size;
    const std::size_t few = 6 * (128 / size / 6 + 2);
    const std::size_t many = 6 * (20000 / size / 6 + random.between(1, 300));
    check_amounts(c, {few, many}, random);
    check_amounts(c, {many, few}, random);
    // All columns begin where a sector does, and fewer elements are left than phases take.
    for (const std::size_t left : {0, 8}) {
      check_smallest(c, {136, 33536 + left}, random);
      check_smallest(c, {33536 + left, 136}, random);
    }
    check_smallest(c, {few, many}, random, size);  // as ever where the data start off 16 bytes
  });
}

TEST_CASE("scratch: runs of elements of 4 to 16 bytes", "[inplace][quick]") {
  for_each_type(scratch_calls_between(4, 16), [&](const scratch_call& c, random_source& random) {
    const std::size_t size = c.type.size;
    const std::size_t few = 6 * (128 / size / 6 + random.between(1, 9));
    const std::size_t many = 6 * (20000 / size / 6 + random.between(1, 300)) + 3;
    check_smallest(c, {few, many}, random);
    check_smallest(c, {many, few}, random);
  });
}

TEST_CASE("scratch: runs of elements of slabs that several blocks hold", "[inplace][quick]") {
  require_device();
  random_source random;
  for (const scratch_call& c : scratch_calls_between(1, 2)) {
    if (c.type.alignment != c.type.size) continue;
    const std::size_t many = 60 * (16440 / c.type.size / 60 + random.between(1, 9));
    DYNAMIC_SECTION(c.type.name) {
      check_smallest(c, {1260, many}, random);
      check_smallest(c, {many, 1260}, random);
    }
  }
}

// Slabs wait for each other where what they write another one reads.
TEST_CASE("scratch: runs of elements, random sides", "[inplace]") {
  for_each_type(scratch_calls_between(1, 16), [&](const scratch_call& c, random_source& random) {
    const std::size_t size = c.type.size;
    for (int i = 0; i < 4; ++i) {
      const std::size_t common = random.between(1, 9);
      const std::size_t few = common * (130 / size / common + random.between(1, 20));
      const std::size_t many = common * ((20000 / size + few) / common + random.between(1, 2000));
      check_smallest(c, {few, many}, random);
      check_smallest(c, {many, few}, random);
    }
  });
}

// As a caller would: ask, allocate what was asked for, call.
TEST_CASE("scratch: the two phases", "[inplace][quick]") {
  require_device();
  random_source random;
  for (const scratch_call& c : plain_scratch_calls()) {
    for (const shape s : {shape{20, 30}, shape{30, 30}, shape{1, 30}, shape{30, 1}, shape{1, 1}}) {
      void* temp = nullptr;
      std::size_t temp_bytes = 0;
      check_inplace(c.type, symmetry::transpose, s, s.nx, 0, random, [&](std::byte* data) {
        cudaError_t status = c.transpose(nullptr, temp_bytes, data, s);
        if (status == cudaSuccess) status = cudaMalloc(&temp, temp_bytes);
        if (status == cudaSuccess) status = c.transpose(temp, temp_bytes, data, s);
        return status;
      });
      REQUIRE(cudaFree(temp) == cudaSuccess);
    }
  }
}

// What transpose_inplace promises: a line of 128 bytes or an element for each of the longer side.
TEST_CASE("scratch: the smallest grows with the longer side", "[inplace][quick]") {
  for (const scratch_call& c : plain_scratch_calls()) {
    for (const shape s : {shape{16381, 16411}, shape{1000, 268435}, shape{16384, 8192},
                          shape{3, 10000000}, shape{10000000, 3}}) {
      INFO(c.type.name << ", nx " << s.nx << ", ny " << s.ny);
      const std::size_t most = std::max(s.nx, s.ny) * std::max<std::size_t>(128, c.type.size);
      CHECK(smallest_scratch(c, s, nullptr) <= most);
    }
  }
}

TEST_CASE("scratch: less than the query's answer is refused", "[inplace][quick]") {
  require_device();
  random_source random;
  for (const scratch_call& c : plain_scratch_calls()) {
    for (const shape s : {shape{40, 30}, shape{30, 41}, shape{3, 500}, shape{500, 3}}) {
      INFO(c.type.name << ", nx " << s.nx << ", ny " << s.ny);
      const std::size_t least = smallest_scratch(c, s, nullptr);
      const scratch temp{least, random};
      const std::size_t size = s.nx * s.ny * c.type.size;
      output_buffer data{size, 0, random};
      const byte_vector content = random.fill(size);
      data.hold(0, size, {content.data(), 1, size, size, 1});
      data.poison();
      for (const std::size_t less : {least - 1, least / 2, std::size_t{0}}) {
        std::size_t given = less;
        CHECK(c.transpose(temp.data(), given, data.data(), s) == cudaErrorInvalidValue);
        CHECK(given == less);
      }
      CHECK(data.trace_of_a_write() == "");
    }
  }
}

// ---------------------------------------------------- errors

namespace {

// Addresses that no call may follow.
std::byte* fake_data() { return reinterpret_cast<std::byte*>(fake_out()); }
void* fake_scratch() { return reinterpret_cast<void*>(std::uintptr_t{1} << 46); }

cudaError_t transpose_floats(void* temp, std::size_t temp_bytes, void* data, shape s,
                             cudaStream_t stream = nullptr) {
  return tt::transpose_inplace(temp, temp_bytes, static_cast<float*>(data), s.nx, s.ny, stream);
}

// Floats that become their transpose, or stay.
output_buffer make_data(shape s, random_source& random) {
  const std::size_t size = s.nx * s.ny * sizeof(float);
  const byte_vector before = random.fill(size);
  const byte_vector after = transposed({before.data(), s.ny, s.nx, s.nx, sizeof(float)});
  output_buffer data{size, 0, random};
  data.change(0, size, {before.data(), 1, size, size, 1}, {after.data(), 1, size, size, 1});
  data.poison();
  return data;
}

}  // namespace

TEST_CASE("scratch errors: refused with or without a device", "[errors][quick]") {
  CHECK(transpose_floats(fake_scratch(), 1 << 20, nullptr, {5, 7}) == cudaErrorInvalidValue);
  CHECK(transpose_floats(fake_scratch(), 1 << 20, nullptr, {1, 1}) == cudaErrorInvalidValue);
  for (const shape s : overflowing_shapes()) {
    INFO("nx " << s.nx << ", ny " << s.ny);
    CHECK(transpose_floats(fake_scratch(), huge, fake_data(), s) == cudaErrorInvalidValue);
    std::size_t bytes = 77;
    CHECK(floats().transpose(nullptr, bytes, fake_data(), s) == cudaErrorInvalidValue);
    CHECK(bytes == 77);
  }
  SECTION("where scratch and data overlap") {
    constexpr shape s{5, 7};
    constexpr std::size_t size = s.nx * s.ny * sizeof(float);
    const std::size_t least = smallest_scratch(floats(), s, nullptr);
    std::byte* const data = fake_data();
    CHECK(transpose_floats(data, least, data, s) == cudaErrorInvalidValue);
    CHECK(transpose_floats(data, 4 * size, data, s) == cudaErrorInvalidValue);
    CHECK(transpose_floats(data + 16, least, data, s) == cudaErrorInvalidValue);
    CHECK(transpose_floats(data - 16, least, data, s) == cudaErrorInvalidValue);
  }
}

TEST_CASE("scratch errors: data or scratch that is misaligned for the type", "[errors][quick]") {
  for (const std::size_t by : misalignments_of_floats) {
    for (const shape s : {shape{5, 7}, shape{7, 5}, shape{6, 6}, shape{1, 5}, shape{1, 1}}) {
      INFO(by << " bytes, nx " << s.nx << ", ny " << s.ny);
      CHECK(transpose_floats(fake_scratch(), 1 << 20, off_by(fake_data(), by), s) ==
            cudaErrorInvalidValue);
      CHECK(transpose_floats(off_by(fake_scratch(), by), 1 << 20, fake_data(), s) ==
            cudaErrorInvalidValue);
      // The query asks for nothing but the shape.
      CHECK(smallest_scratch(floats(), s, off_by(fake_data(), by)) ==
            smallest_scratch(floats(), s, nullptr));
    }
    CHECK(transpose_floats(off_by(fake_scratch(), by), 1 << 20, off_by(fake_data(), by), {0, 5}) ==
          cudaSuccess);
  }
}

TEST_CASE("scratch errors: zero work succeeds whatever the pointers", "[errors][quick]") {
  for (const shape s : empty_shapes) {
    INFO("nx " << s.nx << ", ny " << s.ny);
    std::size_t bytes = 0;
    CHECK(floats().transpose(nullptr, bytes, nullptr, s) == cudaSuccess);
    CHECK(transpose_floats(fake_scratch(), 0, nullptr, s) == cudaSuccess);
    CHECK(transpose_floats(fake_scratch(), bytes, fake_data(), s) == cudaSuccess);
    CHECK(transpose_floats(fake_data(), bytes, fake_data(), s) == cudaSuccess);
  }
}

TEST_CASE("scratch errors: without a device a call says so", "[errors][quick][elsewhere]") {
  const cudaError_t none = status_without_a_device();
  CHECK(transpose_floats(fake_scratch(), 1 << 20, fake_data(), {5, 7}) == none);
  (void)cudaGetLastError();
}

TEST_CASE("scratch errors: a query and a refusal write and launch nothing", "[errors][quick]") {
  require_device();
  random_source random;
  constexpr shape s{37, 41};
  const output_buffer data = make_data(s, random);
  const std::size_t bytes = smallest_scratch(floats(), s, data.data());
  const device_allocation temp{bytes};
  cudaGraph_t graph = capture(stream{}, [&](cudaStream_t to) {
    const auto call = [&](void* with, std::size_t size, void* what, shape side) {
      return transpose_floats(with, size, what, side, to);
    };
    CHECK(call(nullptr, 0, data.data(), s) == cudaSuccess);
    CHECK(call(temp.data(), bytes - 1, data.data(), s) == cudaErrorInvalidValue);
    CHECK(call(temp.data(), 0, data.data(), s) == cudaErrorInvalidValue);
    CHECK(call(data.data(), bytes, data.data(), s) == cudaErrorInvalidValue);
    CHECK(call(temp.data(), bytes, data.data(), {huge, 2}) == cudaErrorInvalidValue);
    CHECK(call(temp.data(), bytes, nullptr, s) == cudaErrorInvalidValue);
    CHECK(call(temp.data(), bytes, off_by(data.data(), 2), s) == cudaErrorInvalidValue);
    CHECK(call(off_by(temp.data(), 2), bytes, data.data(), s) == cudaErrorInvalidValue);
    return call(temp.data(), bytes, data.data(), {0, s.ny});
  });
  CHECK(count_nodes(graph) == 0);
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  CHECK(data.trace_of_a_write() == "");
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("scratch errors: an earlier error is neither returned nor cleared",
          "[errors][provokes]") {
  require_device();
  random_source random;
  for (const shape s : {shape{60, 90}, shape{61, 89}, shape{40, 40}, shape{1, 50}}) {
    const std::size_t least = smallest_scratch(floats(), s, nullptr);
    for (const std::size_t size : {least, least + s.nx * s.ny * sizeof(float)}) {
      INFO("nx " << s.nx << ", ny " << s.ny << ", scratch " << size);
      const output_buffer data = make_data(s, random);
      const device_allocation temp{size};
      const cudaError_t earlier = leave_an_error_behind();
      REQUIRE(earlier != cudaSuccess);
      CHECK(smallest_scratch(floats(), s, nullptr) == least);
      CHECK(transpose_floats(temp.data(), size, data.data(), s) == cudaSuccess);
      CHECK(transpose_floats(temp.data(), least - 1, data.data(), s) == cudaErrorInvalidValue);
      CHECK(cudaPeekAtLastError() == earlier);
      CHECK(data.difference() == "");
      CHECK(cudaGetLastError() == earlier);
    }
  }
}

TEST_CASE("scratch errors: an earlier error does not change which kernels run",
          "[errors][provokes]") {
  require_device();
  std::size_t most = 0;
  // By bands in the shared memory of all blocks; by rows and squares; by slabs; by way of the scratch.
  for (const shape s : {shape{61, 89}, shape{60, 90}, shape{1000, 26843}, shape{2000, 3000}}) {
    const std::size_t size = s.nx * s.ny * sizeof(float);
    const std::size_t least = smallest_scratch(floats(), s, nullptr);
    const device_allocation data{size};
    const device_allocation temp{std::max(least, size)};
    for (const std::size_t bytes : {least, size}) {
      INFO("nx " << s.nx << ", ny " << s.ny << ", scratch " << bytes);
      most = std::max(most, check_same_kernels_beside_an_error([&](cudaStream_t to) {
                        return transpose_floats(temp.data(), bytes, data.data(), s, to);
                      }));
    }
  }
  if (allowable_shared_bytes() > 2 * plain_shared_bytes) { CHECK(most > plain_shared_bytes); }
}

TEST_CASE("scratch calls: on a stream, and captured into a graph", "[calls][quick]") {
  require_device();
  random_source random;
  const stream to;
  for (const shape s : {shape{60, 90}, shape{61, 89}}) {
    const std::size_t size = s.nx * s.ny * sizeof(float);
    const std::size_t least = smallest_scratch(floats(), s, nullptr);
    for (const std::size_t bytes : {least, least + size / 2, least + size}) {
      INFO("nx " << s.nx << ", ny " << s.ny << ", scratch " << bytes);
      const output_buffer data = make_data(s, random);
      const device_allocation temp{bytes};
      REQUIRE(transpose_floats(temp.data(), bytes, data.data(), s, to) == cudaSuccess);
      to.wait();
      CHECK(data.difference() == "");

      data.poison();
      const replay graph{capture(to, [&](cudaStream_t into) {
        return transpose_floats(temp.data(), bytes, data.data(), s, into);
      })};
      // Recorded, not run.
      CHECK(data.trace_of_a_write() == "");
      graph.run(to);
      CHECK(data.difference() == "");
    }
  }
}

// Blocks of one call wait for each other: those of two calls must not keep each other from starting.
TEST_CASE("scratch calls: on several streams at once", "[calls][quick]") {
  require_device();
  random_source random;
  constexpr shape shapes[] = {{1021, 2039}, {2039, 1021}, {1200, 1800}, {512, 2048}};
  struct call {
    shape s;
    output_buffer data;
    device_allocation temp;
    stream to;
  };
  std::vector<std::unique_ptr<call>> calls;
  for (const shape s : shapes) {
    calls.push_back(std::unique_ptr<call>(
        new call{s, make_data(s, random), device_allocation{smallest_scratch(floats(), s, nullptr)},
                 stream{}}));
  }
  constexpr int turns = 9;  // an odd number, and there and back
  for (int turn = 0; turn < turns; ++turn) {
    for (const auto& c : calls) {
      const shape s = turn % 2 == 0 ? c->s : shape{c->s.ny, c->s.nx};
      REQUIRE(transpose_floats(c->temp.data(), smallest_scratch(floats(), s, nullptr),
                               c->data.data(), s, c->to) == cudaSuccess);
    }
  }
  for (const auto& c : calls) {
    c->to.wait();
    CHECK(c->data.difference() == "");
  }
}

// ---------------------------------------------------- shapes

// No GPU's shared memory holds a sector of each row.
TEST_CASE("scratch: columns longer than shared memory", "[inplace]") {
  require_device();
  random_source random;
  for (const shape s : {shape{35, 1200001}, shape{1200001, 33}}) {
    check_smallest(floats(), s, random);
    check_with(floats(), s, s.nx * s.ny * sizeof(float) - 1, random, sizeof(float));
  }
}

TEST_CASE("scratch: runs of larger elements", "[inplace]") {
  require_device();
  random_source random;
  for (const scratch_call& c : plain_scratch_calls()) {
    if (c.type.size < 4 || c.type.size > 16) continue;
    const std::size_t few = 128 / c.type.size + random.between(1, 20);
    const std::size_t many = 300000 + random.between(0, 5000);
    DYNAMIC_SECTION(c.type.name) {
      check_smallest(c, {few, many}, random);
      check_smallest(c, {many, few}, random);
    }
  }
}

TEST_CASE("scratch: coprime and other sides", "[inplace]") {
  const shape shapes[] = {{2, 3},     {3, 2},     {4, 6},     {6, 4},     {30, 42},   {64, 96},
                          {96, 64},   {97, 101},  {101, 97},  {127, 128}, {128, 127}, {128, 256},
                          {256, 128}, {255, 256}, {210, 330}, {331, 211}, {300, 200}, {512, 384},
                          {251, 509}, {512, 33},  {33, 512},  {1000, 27}, {27, 1000}, {360, 840}};
  for_each_type(plain_scratch_calls(), [&](const scratch_call& c, random_source& random) {
    for (const shape s : shapes) check_amounts(c, s, random, some_misalignment(c.type, random));
  });
}

TEST_CASE("scratch: every element type", "[inplace]") {
  for_each_type(every_scratch_call(), [&](const scratch_call& c, random_source& random) {
    check_amounts(c, {150, 120}, random, some_misalignment(c.type, random));
    check_amounts(c, {113, 211}, random, some_misalignment(c.type, random));
    check_amounts(c, {7, 1000}, random, some_misalignment(c.type, random));
    check_amounts(c, {1000, 7}, random, some_misalignment(c.type, random));
  });
}

TEST_CASE("scratch: few columns and few rows", "[inplace]") {
  for_each_type(plain_scratch_calls(), [&](const scratch_call& c, random_source& random) {
    for (const std::size_t few : {1, 2, 3, 4, 5, 7, 8, 16, 31}) {
      for (const std::size_t many : {1000, 20011}) {
        check_smallest(c, {few, many}, random, some_misalignment(c.type, random));
        check_smallest(c, {many, few}, random, some_misalignment(c.type, random));
      }
      check_amounts(c, {few, 6007}, random, some_misalignment(c.type, random));
      check_amounts(c, {6007, few}, random, some_misalignment(c.type, random));
    }
  });
}

TEST_CASE("scratch: few columns or rows of hundreds of kilobytes", "[inplace]") {
  for_each_type(plain_scratch_calls(), [&](const scratch_call& c, random_source& random) {
    for (const std::size_t bytes : {200000, 232448, 500000}) {
      const std::size_t many = bytes / c.type.size + 1;
      for (const std::size_t few : {2, 5, 12, 40}) {
        check_smallest(c, {many, few}, random);
        check_smallest(c, {few, many}, random);
      }
      check_amounts(c, {many, 6}, random);
      check_amounts(c, {6, many}, random);
    }
  });
}

TEST_CASE("scratch: random sides", "[inplace]") {
  for_each_type(every_scratch_call(), [&](const scratch_call& c, random_source& random) {
    for (int i = 0; i < 25; ++i) {
      shape s{random.between(1, 300), random.between(1, 300)};
      if (i % 4 == 0) {  // a common divisor
        const std::size_t common = random.between(2, 20);
        s = {common * random.between(1, 20), common * random.between(1, 20)};
      }
      const std::size_t least = smallest_scratch(c, s, nullptr);
      const std::size_t full = std::max(least, s.nx * s.ny * c.type.size);
      check_with(c, s, least, random, some_misalignment(c.type, random));
      check_with(c, s, random.between(least, full), random, some_misalignment(c.type, random));
    }
  });
}

TEST_CASE("scratch: twice is what it was", "[inplace][quick]") {
  require_device();
  random_source random;
  const scratch_call& c = floats();
  for (const shape s : {shape{60, 90}, shape{61, 89}}) {
    const byte_vector content = random.fill(s.nx * s.ny * c.type.size);
    const device_allocation data{content.size()};
    upload(data.data(), content);
    for (const shape side : {s, shape{s.ny, s.nx}}) {
      std::size_t bytes = smallest_scratch(c, side, data.data());
      const scratch temp{bytes, random};
      REQUIRE(c.transpose(temp.data(), bytes, data.data(), side) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    REQUIRE(download(data.data(), content.size()) == content);
  }
}

TEST_CASE("scratch: a few million elements", "[inplace]") {
  require_device();
  random_source random;
  for (const scratch_call& c : plain_scratch_calls()) {
    if (c.type.size > 16) continue;
    DYNAMIC_SECTION(c.type.name) {
      for (const shape s : {shape{1021, 1031}, shape{1024, 1536}, shape{100, 26843},
                            shape{26843, 100}, shape{3, 700001}}) {
        check_smallest(c, s, random);
        const std::size_t least = smallest_scratch(c, s, nullptr);
        const std::size_t full = s.nx * s.ny * c.type.size;
        check_with(c, s, random.between(std::max(least, full / 3), full), random, 0);
      }
    }
  }
}
