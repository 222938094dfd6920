// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "arguments.hpp"

#include "launch.hpp"

namespace nb = nanobind;

namespace tiletranspose_python {
namespace {

/// An axis as NumPy counts it: from the end where it is negative.
int read_axis(nb::handle value, int rank) {
  const Py_ssize_t axis = PyNumber_AsSsize_t(value.ptr(), nullptr);
  if (axis == -1 && PyErr_Occurred() != nullptr) { throw nb::python_error(); }
  if (axis < -rank || axis >= rank) {
    throw_value_error("axis " + std::to_string(axis) + " is none of an array of " +
                      std::to_string(rank) + " axes");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int length_of(nb::handle sequence) {
  const Py_ssize_t length = PySequence_Size(sequence.ptr());
  if (length < 0) { throw nb::python_error(); }
  return static_cast<int>(length > most_rank + 1 ? most_rank + 1 : length);
}

nb::object item_of(nb::handle sequence, int index) {
  return nb::steal(PySequence_GetItem(sequence.ptr(), index));
}

void name_axis(bool (&named)[most_rank], int axis) {
  if (named[axis]) { throw_value_error("axis " + std::to_string(axis) + " is named twice"); }
  named[axis] = true;
}

void read_axes(order& result, nb::handle axes) {
  const int count = length_of(axes);
  if (count != result.rank) {
    throw_value_error("an array of " + std::to_string(result.rank) + " axes takes as many, not " +
                      std::to_string(count));
  }
  bool named[most_rank] = {};
  for (int j = 0; j < count; ++j) {
    result.axes[j] = read_axis(item_of(axes, j), result.rank);
    name_axis(named, result.axes[j]);
  }
}

void read_flipped(order& result, nb::handle flipped) {
  for (int k = 0; k < result.rank; ++k) { result.flipped[k] = flipped.is_none(); }
  if (flipped.is_none()) { return; }
  // Arrays of NumPy pass this check too, but only those of one element are an index.
  if (PyIndex_Check(flipped.ptr()) != 0) {
    const nb::object axis = nb::steal(PyNumber_Index(flipped.ptr()));
    if (axis.is_valid()) {
      result.flipped[read_axis(axis, result.rank)] = true;
      return;
    }
    if (PySequence_Check(flipped.ptr()) == 0) { throw nb::python_error(); }
    PyErr_Clear();
  }
  const int count = length_of(flipped);
  for (int i = 0; i < count; ++i) {
    name_axis(result.flipped, read_axis(item_of(flipped, i), result.rank));
  }
}

/// Two axes that change places, or three integers: two axes, and the quarters from the first towards the second.
void read_swapped(order& result, nb::handle swapped) {
  const int count = length_of(swapped);
  if (count != 2 && count != 3) { throw_value_error("two axes change places"); }
  const int a = read_axis(item_of(swapped, 0), result.rank);
  const int b = read_axis(item_of(swapped, 1), result.rank);
  const Py_ssize_t quarters =
      count == 2 ? 0 : PyNumber_AsSsize_t(item_of(swapped, 2).ptr(), nullptr);
  if (quarters == -1 && PyErr_Occurred() != nullptr) { throw nb::python_error(); }
  if (count == 3 && a == b) { throw_value_error("rot90 takes two axes that differ"); }
  if (count == 2 || quarters % 2 != 0) {
    result.axes[a] = b;
    result.axes[b] = a;
  }
  if (quarters == 1 || quarters == 2) { result.flipped[b] = true; }
  if (quarters == 2 || quarters == 3) { result.flipped[a] = true; }
}

std::string shape_of(const strided_array& array) {
  std::string text = "(";
  for (int k = 0; k < array.rank; ++k) {
    text += (k > 0 ? ", " : "") + std::to_string(array.extents[k]);
  }
  return text + (array.rank == 1 ? ",)" : ")");
}

/// Has what is queued on a stream from now on wait for what another one holds by now.
cudaError_t wait_for(cudaStream_t later, cudaStream_t earlier) {
  cudaEvent_t event = nullptr;
  cudaError_t status = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (status != cudaSuccess) { return status; }
  status = cudaEventRecord(event, earlier);
  if (status == cudaSuccess) { status = cudaStreamWaitEvent(later, event, 0); }
  static_cast<void>(cudaEventDestroy(event));  // once it is reached
  return status;
}

cudaError_t relocate_in_order(const relocation& move, cudaStream_t stream,
                              cudaStream_t out_stream) {
  if (out_stream == stream) { return relocate(move, stream); }
  cudaError_t status = wait_for(stream, out_stream);
  if (status == cudaSuccess) { status = relocate(move, stream); }
  return status == cudaSuccess ? wait_for(out_stream, stream) : status;
}

}  // namespace

void throw_value_error(const std::string& sentence) {
  throw nb::value_error(("tiletranspose: " + sentence).c_str());
}
void throw_type_error(const std::string& sentence) {
  throw nb::type_error(("tiletranspose: " + sentence).c_str());
}

order make_order(int rank, const order_request& wanted) {
  if (rank > most_rank) {
    throw_value_error("an array has at most " + std::to_string(most_rank) + " axes");
  }
  order result;
  result.rank = rank;
  if (!wanted.axes.is_none()) {
    read_axes(result, wanted.axes);
  } else {
    for (int j = 0; j < rank; ++j) { result.axes[j] = j; }
  }
  read_flipped(result, wanted.flipped);
  if (!wanted.swapped.is_none()) { read_swapped(result, wanted.swapped); }
  return result;
}

void check(cudaError_t status) {
  if (status == cudaSuccess) { return; }
  std::string sentence = std::string("tiletranspose: CUDA says: ") + cudaGetErrorString(status);
  if (status == cudaErrorNoKernelImageForDevice) {
    sentence += "; install the package with CMAKE_CUDA_ARCHITECTURES set to this GPU's";
  }
  throw std::runtime_error(sentence);
}

device_guard::device_guard(int device) {
  int now = -1;
  check(cudaGetDevice(&now));
  if (now != device) {
    check(cudaSetDevice(device));
    before_ = now;
  }
}
device_guard::~device_guard() {
  if (before_ >= 0) { static_cast<void>(cudaSetDevice(before_)); }
}

void run(const strided_array& out, const strided_array& in, const order& wanted, int device,
         cudaStream_t stream, cudaStream_t out_stream, bool owned) {
  const strided_array seen = reordered(in, wanted);
  if (!owned && !same_extents(out, seen)) {
    throw_value_error("out has the shape " + shape_of(out) + ", but the result has " +
                      shape_of(seen));
  }
  if (!owned && out.item_bytes != in.item_bytes) {
    throw_value_error("out has elements of " + std::to_string(out.item_bytes) +
                      " bytes, but x of " + std::to_string(in.item_bytes));
  }
  if (!seen.has_elements()) { return; }
  const relocation move = make_relocation(out, seen);
  if (!owned && output_overlaps_itself(move)) {
    throw_value_error("elements of out share memory with each other");
  }
  if (!owned && shares_memory(move)) { throw_value_error("out shares memory with x"); }
  cudaError_t status = cudaSuccess;
  {
    const nb::gil_scoped_release released;
    const device_guard guard(device);
    status = relocate_in_order(move, stream, out_stream);
  }
  check(status);
}

void run_square(const strided_array& square, int device, cudaStream_t stream) {
  if (square.rank != 2 || square.extents[0] != square.extents[1]) {
    throw_value_error("transpose_ takes a square matrix, not an array of the shape " +
                      shape_of(square));
  }
  const std::int64_t side = square.extents[0];
  const std::int64_t item = square.item_bytes;
  if (side < 2) { return; }
  const bool by_rows = square.strides[1] == item;
  const std::int64_t stride = square.strides[by_rows ? 0 : 1];
  if ((!by_rows && square.strides[0] != item) || stride < side * item || stride % item != 0) {
    throw_value_error("transpose_ takes a matrix whose rows or columns are contiguous");
  }
  if (item > 16 || (item & (item - 1)) != 0 ||
      square.data % static_cast<std::uintptr_t>(item) != 0) {
    throw_value_error("transpose_ takes aligned elements of 1, 2, 4, 8 or 16 bytes, not of " +
                      std::to_string(item));
  }
  cudaError_t status = cudaSuccess;
  {
    const nb::gil_scoped_release released;
    const device_guard guard(device);
    status = transpose_square(square.data, item, side, stride, stream);
  }
  check(status);
}

}  // namespace tiletranspose_python
