// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// cuTENSOR's permutes, where its library is found when the program runs: in the folders that the loader searches, or where
// TILETRANSPOSE_CUTENSOR says. Nothing of it is needed to compile. Declared as version 2 has it.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace bench {

class cutensor {
 public:
  cutensor() {
    const char* const named = std::getenv("TILETRANSPOSE_CUTENSOR");
    library_ = dlopen(named != nullptr ? named : "libcutensor.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) { return; }
    find(create_tensor_, "cutensorCreateTensorDescriptor");
    find(create_permutation_, "cutensorCreatePermutation");
    find(create_plan_, "cutensorCreatePlan");
    find(permute_, "cutensorPermute");
    int (*create)(void**) = nullptr;
    int (*create_preference)(void*, void**, int, int) = nullptr;
    find(create, "cutensorCreate");
    find(create_preference, "cutensorCreatePlanPreference");
    constexpr int default_algorithm = -1;
    constexpr int no_jit = 0;
    found_ = found_ && create(&handle_) == 0 &&
             create_preference(handle_, &preference_, default_algorithm, no_jit) == 0;
  }
  bool found() const { return library_ != nullptr && found_; }

  // A permute that is planned; none where cuTENSOR has no elements of so many bytes. Ended with the program.
  class plan {
   public:
    bool exists() const { return plan_ != nullptr; }
    cudaError_t run(void* out, const void* in, cudaStream_t stream) const {
      const double one = 1;
      const float one_float = 1;
      const void* const alpha = is_double_ ? static_cast<const void*>(&one) : &one_float;
      return of_->permute_(of_->handle_, plan_, alpha, in, out, stream) == 0 ? cudaSuccess
                                                                             : cudaErrorUnknown;
    }

   private:
    friend class cutensor;
    const cutensor* of_ = nullptr;
    void* plan_ = nullptr;
    bool is_double_ = false;
  };

  plan make(std::size_t element, const std::vector<std::size_t>& extents,
            const std::vector<int>& axes) const {
    plan result;
    result.of_ = this;
    result.is_double_ = element == 8;
    if (!found() || (element != 2 && element != 4 && element != 8)) { return result; }
    const cudaDataType_t type = element == 2 ? CUDA_R_16F : element == 4 ? CUDA_R_32F : CUDA_R_64F;
    // Without strides the first mode is the fastest: the axes in the opposite order.
    const auto rank = static_cast<std::uint32_t>(extents.size());
    std::vector<std::int64_t> in_extents(rank), out_extents(rank);
    std::vector<std::int32_t> in_modes(rank), out_modes(rank);
    for (std::size_t k = 0; k < rank; ++k) {
      const std::size_t j = rank - 1 - k;
      const auto axis = static_cast<std::size_t>(axes[j]);
      in_modes[k] = static_cast<std::int32_t>(j);
      out_modes[k] = static_cast<std::int32_t>(axis);
      in_extents[k] = static_cast<std::int64_t>(extents[j]);
      out_extents[k] = static_cast<std::int64_t>(extents[axis]);
    }
    void *in = nullptr, *out = nullptr, *permutation = nullptr;
    constexpr std::uint32_t alignment = 128;
    constexpr int identity = 1;
    const char* const compute =
        element == 8 ? "CUTENSOR_COMPUTE_DESC_64F" : "CUTENSOR_COMPUTE_DESC_32F";
    void* const* const described = static_cast<void* const*>(dlsym(library_, compute));
    const bool made =
        described != nullptr &&
        create_tensor_(handle_, &in, rank, in_extents.data(), nullptr, type, alignment) == 0 &&
        create_tensor_(handle_, &out, rank, out_extents.data(), nullptr, type, alignment) == 0 &&
        create_permutation_(handle_, &permutation, in, in_modes.data(), identity, out,
                            out_modes.data(), *described) == 0 &&
        create_plan_(handle_, &result.plan_, permutation, preference_, 0) == 0;
    if (!made) {
      std::fprintf(stderr, "cuTENSOR makes no plan\n");
      result.plan_ = nullptr;
    }
    return result;
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    found_ = found_ && function != nullptr;
  }

  void* library_ = nullptr;
  void* handle_ = nullptr;
  void* preference_ = nullptr;
  bool found_ = true;
  int (*create_tensor_)(void*, void**, std::uint32_t, const std::int64_t*, const std::int64_t*,
                        cudaDataType_t, std::uint32_t) = nullptr;
  int (*create_permutation_)(void*, void**, void*, const std::int32_t*, int, void*,
                             const std::int32_t*, void*) = nullptr;
  int (*create_plan_)(void*, void**, void*, void*, std::uint64_t) = nullptr;
  int (*permute_)(void*, void*, const void*, const void*, void*, cudaStream_t) = nullptr;
};

}  // namespace bench
