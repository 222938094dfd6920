// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Global memory alone: data[i * stride + offset] += 1, for offsets and strides of 0 and 1 to 32 elements.
#include <algorithm>

#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

constexpr std::size_t furthest = 32;  // the largest offset, and the largest stride

template <class T>
__host__ __device__ T plus_one(T value) {
  return static_cast<T>(value + 1);
}
__host__ __device__ inline __half plus_one(__half value) {
  return __float2half(__half2float(value) + 1.0f);
}

/// The elements that are incremented: offset, offset + stride, ... `count` of them.
struct comb {
  std::size_t offset, stride, count;

  __host__ __device__ bool has(std::size_t i) const {
    return i >= offset && (i - offset) % stride == 0 && (i - offset) / stride < count;
  }
};

template <class T>
struct increment_body {
  static constexpr int threads = 256;
  using storage = no_storage;

  tt::matrix_view<T> data;  // one row
  comb teeth;

  template <class Group>
  __host__ __device__ void operator()(Group group, storage&, unsigned block) const {
    const std::size_t i = std::size_t{block} * threads + group.thread_rank();
    if (i < teeth.count) {
      const std::size_t at = i * teeth.stride + teeth.offset;
      data.set(0, at, plus_one(data.get(0, at)));
    }
  }
};

constexpr small_numbers<int> start{0, 77};

template <class T>
struct start_value {
  __host__ __device__ T operator()(std::size_t i) const {
    return static_cast<T>(small_numbers<int>{start.least, start.salt}.number(i));
  }
};

template <class T>
struct incremented_value {
  comb teeth;
  __host__ __device__ T operator()(std::size_t i) const {
    const T before = start_value<T>{}(i);
    return teeth.has(i) ? plus_one(before) : before;
  }
};

template <class T>
double comb_sectors(const comb& teeth) {
  constexpr std::size_t sampled_warps = 512;  // all, where the emulator runs
  constexpr int bytes = static_cast<int>(sizeof(T));
  mean_sectors mean;
  for (std::size_t warp = 0; warp < sampled_warps; ++warp) {
    mean.add(request_sectors(
        [&](int lane) -> long long {
          const std::size_t i = warp * warp_lanes + static_cast<std::size_t>(lane);
          return i < teeth.count ? static_cast<long long>((i * teeth.stride + teeth.offset) * bytes)
                                 : -1;
        },
        bytes));
  }
  return mean.value().value_or(0);
}

/// `elements`: how far the buffer reaches. The comb spans all of it, so that no stride gains from the cache.
template <class T>
launch_case increment_case(element type, const comb& teeth, std::size_t elements, std::string label,
                           bool plotted) {
  using body = increment_body<T>;
  launch_case made;
  made.label = std::move(label);
  made.type = name_of(type);
  made.bytes = 2 * teeth.count * sizeof(T);
  made.out_bytes = elements * sizeof(T);
  made.plotted = plotted;
  predict_block<body>(made.predicted);
  made.predicted.load_sectors = made.predicted.store_sectors = comb_sectors<T>(teeth);
  made.predicted.least_sectors = least_sectors(sizeof(T));
  made.prepare = [elements](const workspace& memory) {
    fill(memory, reinterpret_cast<T*>(memory.out), elements, start_value<T>{});
  };
  made.enqueue = [teeth, elements](const workspace& memory) {
    const tt::matrix_view<T> data{reinterpret_cast<T*>(memory.out), 1, elements, elements};
    return launch(body{data, teeth}, divide_up(teeth.count, body::threads), memory);
  };
  made.count_wrong = [teeth, elements](const workspace& memory) {
    return count_different(memory, reinterpret_cast<const T*>(memory.out), elements,
                           incremented_value<T>{teeth});
  };
  return made;
}

bool is_power_of_two(std::size_t i) { return i > 0 && (i & (i - 1)) == 0; }

std::string numbered(const char* name, std::size_t number) {
  return std::string(name) + " " + std::to_string(number);
}

template <class T>
void add_cases(routine& offsets, routine& strides, const problem& asked, element type) {
  const std::size_t count = asked.nx * asked.ny;
  for (std::size_t offset = 0; offset <= furthest; ++offset) {
    offsets.cases.push_back(increment_case<T>(type, {offset, 1, count}, count + furthest,
                                              numbered("offset", offset), offset <= 1));
  }
  for (std::size_t stride = 1; stride <= furthest; ++stride) {
    strides.cases.push_back(increment_case<T>(type, {0, stride, divide_up(count, stride)}, count,
                                              numbered("stride", stride),
                                              is_power_of_two(stride) && stride > 1));
  }
}

}  // namespace

std::vector<routine> global_access(const problem& asked) {
  routine offsets{"global-offset",
                  family::global_access,
                  "increments that start 0 to 32 elements into the array",
                  {}};
  routine strides{
      "global-stride", family::global_access, "increments of every element to every 32nd", {}};
  strides.remark =
      "global access: GB/s counts the elements that are incremented, once read and once written.";
  std::vector<element> types{asked.type};
  if (asked.also_double) { types.push_back(element::double_); }
  for (const element type : types) {
    with_type(type, [&](auto tag) {
      add_cases<typename decltype(tag)::type>(offsets, strides, asked, type);
    });
  }
  return {std::move(offsets), std::move(strides)};
}

}  // namespace gallery
