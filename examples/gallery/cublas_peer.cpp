// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cublas_peer.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>

#include "failure.hpp"

namespace gallery {
namespace {

/// Made at the first call, which needs a GPU.
class handle {
 public:
  cublasHandle_t on(cudaStream_t stream) {
    if (made_ == nullptr) {
      cublasHandle_t made = nullptr;
      if (cublasCreate(&made) != CUBLAS_STATUS_SUCCESS) {
        throw failure("cuBLAS could not be started");
      }
      made_.reset(made);
    }
    cublasSetStream(made_.get(), stream);
    return made_.get();
  }

 private:
  struct deleter {
    void operator()(cublasHandle_t made) const { cublasDestroy(made); }
  };
  std::unique_ptr<cublasContext, deleter> made_;
};

cudaError_t to_cuda(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return cudaSuccess;
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return cudaErrorNotSupported;
    default:
      return cudaErrorUnknown;
  }
}

bool fits_int(std::initializer_list<std::size_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::size_t size) {
    return size <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  });
}

/// Row-major is the transpose of cuBLAS's column-major on both sides. With beta == 0 the second matrix is
/// not read; naming the output there is cuBLAS's own in-place form.
template <class T, class Routine>
peer geam(Routine routine, int nx, int ny) {
  const auto blas = std::make_shared<handle>();
  return {
      "", [=](const workspace& memory) {
        const T one = 1;
        const T zero = 0;
        T* const out = reinterpret_cast<T*>(memory.out);
        return to_cuda(routine(blas->on(memory.stream), CUBLAS_OP_T, CUBLAS_OP_N, ny, nx, &one,
                               reinterpret_cast<const T*>(memory.in), nx, &zero, out, ny, out, ny));
      }};
}

/// How cublasGemmEx names a type and what it is summed up in.
struct gemm_types {
  cudaDataType_t element, result;
  cublasComputeType_t compute;
};

/// The rows of C in row-major order are the columns of its transpose: C' = B' A'.
template <class Scale>
peer gemm(gemm_types types, const product_shape& shape) {
  const auto blas = std::make_shared<handle>();
  return {"", [=](const workspace& memory) {
            const Scale one = 1;
            const Scale zero = 0;
            const int rows = static_cast<int>(shape.rows);
            const int inner = static_cast<int>(shape.inner);
            const int cols = static_cast<int>(shape.cols);
            return to_cuda(cublasGemmEx(
                blas->on(memory.stream), CUBLAS_OP_N, CUBLAS_OP_N, cols, rows, inner, &one,
                memory.in + shape.b_offset, types.element, cols, memory.in, types.element, inner,
                &zero, memory.out, types.result, cols, types.compute, CUBLAS_GEMM_DEFAULT));
          }};
}

}  // namespace

peer cublas_transpose(element type, std::size_t nx, std::size_t ny) {
  if (!fits_int({nx, ny})) { return {"cuBLAS takes sides up to 2^31 - 1", nullptr}; }
  const int columns = static_cast<int>(nx);
  const int rows = static_cast<int>(ny);
  switch (type) {
    case element::float_:
      return geam<float>(cublasSgeam, columns, rows);
    case element::double_:
      return geam<double>(cublasDgeam, columns, rows);
    default:
      return {"cuBLAS geam has no type " + name_of(type), nullptr};
  }
}

peer cublas_product(element type, const product_shape& shape) {
  if (!fits_int({shape.rows, shape.inner, shape.cols})) {
    return {"cuBLAS takes sides up to 2^31 - 1", nullptr};
  }
  switch (type) {
    case element::char_:
      if (shape.inner % 4 != 0 || shape.cols % 4 != 0) {
        return {"cuBLAS multiplies bytes in rows of whole words only", nullptr};
      }
      return gemm<int>({CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I}, shape);
    case element::half_:
      return gemm<float>({CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F}, shape);
    case element::float_:
      return gemm<float>({CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F}, shape);
    case element::double_:
      return gemm<double>({CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F}, shape);
    default:
      return {"cuBLAS has no product of type " + name_of(type), nullptr};
  }
}

}  // namespace gallery
