// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What Python sees of the extension module. tiletranspose/__init__.py has the functions that users call.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "arguments.hpp"
#include "explain.hpp"
#include "tensor.hpp"
#include "xla.hpp"

namespace nb = nanobind;
using namespace tiletranspose_python;

namespace {

std::int64_t integer_at(nb::handle sequence, int index) {
  const nb::object item = nb::steal(PySequence_GetItem(sequence.ptr(), index));
  if (!item.is_valid()) { throw nb::python_error(); }
  const long long value = PyLong_AsLongLong(item.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) { throw nb::python_error(); }
  return value;
}

/// An array from its parts: (address, shape, strides in bytes or None, bytes of an element).
strided_array make_array(nb::handle parts) {
  strided_array result;
  const nb::object address = nb::steal(PySequence_GetItem(parts.ptr(), 0));
  const nb::object shape = nb::steal(PySequence_GetItem(parts.ptr(), 1));
  const nb::object strides = nb::steal(PySequence_GetItem(parts.ptr(), 2));
  result.data = static_cast<std::uintptr_t>(PyLong_AsUnsignedLongLong(address.ptr()));
  result.item_bytes = integer_at(parts, 3);
  const Py_ssize_t rank = PySequence_Size(shape.ptr());
  if (rank < 0 || PyErr_Occurred() != nullptr) { throw nb::python_error(); }
  if (rank > most_rank) { throw_value_error("an array has at most 64 axes"); }
  if (result.item_bytes < 1) { throw_value_error("an element has at least 1 byte"); }
  result.rank = static_cast<int>(rank);
  for (int k = 0; k < result.rank; ++k) { result.extents[k] = integer_at(shape, k); }
  result.make_dense();
  if (!strides.is_none()) {
    for (int k = 0; k < result.rank; ++k) { result.strides[k] = integer_at(strides, k); }
  }
  return result;
}

/// The one entry of all functions: tensors that nothing hinders are moved at once, all else goes by way of Python.
nb::object reorder(nb::handle x, nb::handle axes, nb::handle swapped, nb::handle flipped,
                   nb::handle out) {
  if (is_tensor(x) && (out.is_none() || is_tensor(out)) && are_plain(x, out)) {
    nb::object result = reorder_tensor(x, {axes, swapped, flipped}, out);
    if (result.is_valid()) { return result; }
  }
  static const nb::object* const others =
      new nb::object(nb::module_::import_("tiletranspose._arrays").attr("reorder"));
  return (*others)(x, axes, swapped, flipped, out);
}

/// The array itself where its elements lie in C order without gaps.
nb::object contiguous(nb::handle x) {
  static const nb::object* const others =
      new nb::object(nb::module_::import_("tiletranspose._arrays").attr("is_contiguous"));
  const bool is_dense = is_tensor(x) ? is_contiguous(x) : nb::cast<bool>((*others)(x));
  return is_dense ? nb::borrow(x)
                  : reorder(x, nb::none(), nb::none(), nb::make_tuple(), nb::none());
}

/// For the kernels of PyTorch's operators, which are called below all that is_plain() asks for.
nb::object reorder_plain(nb::handle x, nb::handle axes, nb::handle flipped, nb::handle out) {
  nb::object result = reorder_tensor(x, {axes, nb::none(), flipped}, out);
  if (!result.is_valid()) { throw_value_error("x has no memory of its own"); }
  return result;
}

nb::tuple complete_order(int rank, nb::handle axes, nb::handle swapped, nb::handle flipped) {
  const order complete = make_order(rank, {axes, swapped, flipped});
  nb::list all_axes;
  nb::list all_flipped;
  for (int k = 0; k < rank; ++k) {
    all_axes.append(complete.axes[k]);
    if (complete.flipped[k]) { all_flipped.append(k); }
  }
  return nb::make_tuple(all_axes, all_flipped);
}

void relocate_array(nb::handle out, nb::handle in, nb::handle axes, nb::handle flipped, int device,
                    std::uintptr_t stream, bool owned) {
  const strided_array from = make_array(in);
  run(make_array(out), from, make_order(from.rank, {axes, nb::none(), flipped}), device,
      reinterpret_cast<cudaStream_t>(stream), owned);
}

relocation relocation_of(nb::handle out, nb::handle in, nb::handle axes, nb::handle flipped) {
  const strided_array from = make_array(in);
  const order wanted = make_order(from.rank, {axes, nb::none(), flipped});
  const strided_array seen = reordered(from, wanted);
  if (!seen.has_elements()) { throw_value_error("there is nothing to move"); }
  return make_relocation(make_array(out), seen);
}

/// What a call would ask of the library: for tests.
nb::dict describe_relocation(nb::handle out, nb::handle in, nb::handle axes, nb::handle flipped) {
  const relocation move = relocation_of(out, in, axes, flipped);
  nb::list extents;
  nb::list in_strides;
  nb::list out_strides;
  for (int k = 0; k < move.rank; ++k) {
    extents.append(move.axes[k].extent);
    in_strides.append(move.axes[k].in_stride);
    out_strides.append(move.axes[k].out_stride);
  }
  nb::dict result;
  result["part_bytes"] = move.part_bytes;
  result["in"] = move.in;
  result["out"] = move.out;
  result["extents"] = extents;
  result["in_strides"] = in_strides;
  result["out_strides"] = out_strides;
  result["out_overlaps_itself"] = output_overlaps_itself(move);
  result["shares_memory"] = shares_memory(move);
  return result;
}

std::string explain_array(nb::handle out, nb::handle in, nb::handle axes, nb::handle flipped) {
  return explain(relocation_of(out, in, axes, flipped));
}

void transpose_array(nb::handle x, int device, std::uintptr_t stream) {
  run_square(make_array(x), device, reinterpret_cast<cudaStream_t>(stream));
}

bool transpose_plain_tensor(nb::handle x) {
  if (!is_tensor(x) || !are_plain(x, x)) { return false; }
  transpose_tensor(x);
  return true;
}

/// GPUs that can be used; 0 where there is no driver.
int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// The device that an address belongs to.
int device_of_address(std::uintptr_t address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(address)));
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) {
    throw_value_error("the array is not in the memory of a GPU");
  }
  return attributes.device;
}

/// An array of any library, by DLPack: (address, shape, strides, bytes of an element, device). What its library has queued
/// is waited for on the default stream.
nb::tuple import_by_dlpack(nb::handle object, bool written) {
  const auto x = nb::cast<nb::ndarray<nb::ro>>(object);
  if (x.device_type() != nb::device::cuda::value &&
      x.device_type() != nb::device::cuda_managed::value) {
    throw_value_error("the array is not in the memory of a GPU");
  }
  nb::ndarray<> writable;
  if (written && !nb::try_cast(object, writable)) { throw_value_error("out is read-only"); }
  const auto item = static_cast<std::int64_t>(x.itemsize());
  nb::list shape;
  nb::list strides;
  for (std::size_t k = 0; k < x.ndim(); ++k) {
    shape.append(x.shape(k));
    strides.append(x.stride(k) * item);
  }
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(x.data()), shape, strides, item,
                        x.device_id());
}

nb::object xla_capsule(bool on_host) {
  return nb::steal(PyCapsule_New(xla_handler(on_host), "xla._CUSTOM_CALL_TARGET", nullptr));
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The extension module of tiletranspose; its functions are not for users.";
  m.def("reorder", &reorder, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
        nb::arg().none());
  m.def("contiguous", &contiguous, nb::arg());
  m.def("reorder_plain", &reorder_plain, nb::arg("x"), nb::arg("axes").none(),
        nb::arg("flipped").none(), nb::arg("out").none());
  m.def("complete_order", &complete_order, nb::arg("rank"), nb::arg("axes").none(),
        nb::arg("swapped").none(), nb::arg("flipped").none());
  m.def("relocate", &relocate_array, nb::arg("out"), nb::arg("x"), nb::arg("axes"),
        nb::arg("flipped"), nb::arg("device"), nb::arg("stream"), nb::arg("owned"));
  m.def("relocation", &describe_relocation, nb::arg("out"), nb::arg("x"), nb::arg("axes"),
        nb::arg("flipped"));
  m.def("explain", &explain_array, nb::arg("out"), nb::arg("x"), nb::arg("axes"),
        nb::arg("flipped"));
  m.def("transpose_tensor", &transpose_plain_tensor, nb::arg("x"));
  m.def("transpose_plain", &transpose_tensor, nb::arg("x"));
  m.def("transpose_square", &transpose_array, nb::arg("x"), nb::arg("device"), nb::arg("stream"));
  m.def("device_count", &device_count);
  m.def("device_of_address", &device_of_address, nb::arg("address"));
  m.def("import_by_dlpack", &import_by_dlpack, nb::arg("x"), nb::arg("written"));
  m.def("xla_capsule", &xla_capsule, nb::arg("on_host"));
}
