// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What Python sees of the extension module. tiletranspose/__init__.py has the functions that users call.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arguments.hpp"
#include "dlpack.hpp"
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

/// A function of tiletranspose._arrays, looked up once. The interpreter's lock alone guards `found`: a thread that waited for
/// the initialization of a static variable would keep the lock from the one that imports.
nb::object& function_for_others(nb::object*& found, const char* name) {
  if (found == nullptr) {
    found = new nb::object(nb::module_::import_("tiletranspose._arrays").attr(name));
  }
  return *found;
}

/// The one entry of all functions: tensors that nothing hinders are moved at once, all else goes by way of Python.
nb::object reorder(nb::handle x, nb::handle axes, nb::handle swapped, nb::handle flipped,
                   nb::handle out) {
  if (is_tensor(x) && (out.is_none() || is_tensor(out)) && are_plain(x, out)) {
    nb::object result = reorder_tensor(x, {axes, swapped, flipped}, out);
    if (result.is_valid()) { return result; }
  }
  static nb::object* others = nullptr;
  return function_for_others(others, "reorder")(x, axes, swapped, flipped, out);
}

/// The array itself where its elements lie in C order without gaps.
nb::object contiguous(nb::handle x) {
  static nb::object* others = nullptr;
  const bool is_dense = is_tensor(x)
                            ? is_contiguous_on_gpu(x)
                            : nb::cast<bool>(function_for_others(others, "is_contiguous")(x));
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
                    std::uintptr_t stream, bool owned, std::uintptr_t out_stream) {
  const strided_array from = make_array(in);
  run(make_array(out), from, make_order(from.rank, {axes, nb::none(), flipped}), device,
      reinterpret_cast<cudaStream_t>(stream),
      reinterpret_cast<cudaStream_t>(out_stream != 0 ? out_stream : stream), owned);
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

/// What a capsule of DLPack describes: (address, shape, strides in bytes or None, bytes of an element, device, whether it is
/// read-only, whether it is a copy, (code, bits, lanes) of its type). The capsule remains the owner: its library has the
/// memory back when the capsule is dropped.
nb::tuple read_dlpack(nb::handle capsule) {
  const dlpack_contents contents = open_dlpack(capsule);
  const nb::dlpack::dltensor& x = *contents.array;
  if (x.device.device_type != nb::device::cuda::value &&
      x.device.device_type != nb::device::cuda_managed::value) {
    throw_value_error("the array is not in the memory of a GPU");
  }
  const std::int64_t bits = std::int64_t{x.dtype.bits} * x.dtype.lanes;
  if (bits == 0 || bits % 8 != 0) {
    throw_type_error("elements of " + std::to_string(bits) +
                     " bits cannot be moved: they are no whole bytes");
  }
  nb::list shape;
  nb::list strides;
  for (int k = 0; k < x.ndim; ++k) {
    shape.append(x.shape[k]);
    if (x.strides != nullptr) { strides.append(x.strides[k] * (bits / 8)); }
  }
  const bool is_dense = x.strides == nullptr;
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(x.data) + x.byte_offset, nb::tuple(shape),
                        is_dense ? nb::none() : nb::object(nb::tuple(strides)), bits / 8,
                        x.device.device_id, contents.is_read_only, contents.is_copy,
                        nb::make_tuple(x.dtype.code, x.dtype.bits, x.dtype.lanes));
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
        nb::arg("flipped"), nb::arg("device"), nb::arg("stream"), nb::arg("owned"),
        nb::arg("out_stream") = 0);
  m.def("relocation", &describe_relocation, nb::arg("out"), nb::arg("x"), nb::arg("axes"),
        nb::arg("flipped"));
  m.def("explain", &explain_array, nb::arg("out"), nb::arg("x"), nb::arg("axes"),
        nb::arg("flipped"));
  m.def("transpose_tensor", &transpose_plain_tensor, nb::arg("x"));
  m.def("transpose_plain", &transpose_tensor, nb::arg("x"));
  m.def("transpose_square", &transpose_array, nb::arg("x"), nb::arg("device"), nb::arg("stream"));
  m.def("device_count", &device_count);
  m.def("device_of_address", &device_of_address, nb::arg("address"));
  m.def("read_dlpack", &read_dlpack, nb::arg("capsule"));
  m.def("xla_capsule", &xla_capsule, nb::arg("on_host"));
}
