// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tensor.hpp"

#include "launch.hpp"

namespace nb = nanobind;

namespace tiletranspose_python {
namespace {

/// Names that are looked up in tensors: made once.
struct attribute_names {
  nb::object shape = nb::str("shape");
  nb::object stride = nb::str("stride");
  nb::object data_ptr = nb::str("data_ptr");
  nb::object element_size = nb::str("element_size");
  nb::object get_device = nb::str("get_device");
  nb::object is_cuda = nb::str("is_cuda");
  nb::object is_conj = nb::str("is_conj");
  nb::object is_neg = nb::str("is_neg");
  nb::object is_contiguous = nb::str("is_contiguous");
  nb::object is_inference = nb::str("is_inference");
  nb::object new_empty = nb::str("new_empty");
  nb::object requires_grad = nb::str("requires_grad");
  nb::object dtype = nb::str("dtype");
  nb::object forward_level = nb::str("_current_level");
};

/// What is needed of PyTorch.
struct torch_module {
  attribute_names names;
  nb::object tensor;
  nb::object parameter;
  nb::object current_stream;  ///< of a device, as an integer
  nb::object is_grad_enabled;
  nb::object count_modes;
  nb::object forward_mode;  ///< the module that counts the levels of forward differentiation
  nb::object increment_version;

  torch_module() {
    const nb::object torch = nb::module_::import_("torch");
    const nb::object internals = torch.attr("_C");
    tensor = torch.attr("Tensor");
    parameter = torch.attr("nn").attr("Parameter");
    if (nb::hasattr(internals, "_cuda_getCurrentRawStream")) {
      current_stream = internals.attr("_cuda_getCurrentRawStream");
    }
    is_grad_enabled = torch.attr("is_grad_enabled");
    count_modes = internals.attr("_len_torch_dispatch_stack");
    forward_mode = nb::module_::import_("torch.autograd.forward_ad");
    increment_version = nb::module_::import_("torch.autograd.graph").attr("increment_version");
  }
};

/// PyTorch, once somebody else has imported it; it lives as long as the process.
const torch_module* find_torch() {
  static const torch_module* found = nullptr;
  if (found == nullptr) {
    const nb::object modules = nb::module_::import_("sys").attr("modules");
    if (modules.attr("get")("torch.nn").is_none()) { return nullptr; }
    found = new torch_module;
  }
  return found;
}
const torch_module& torch() { return *find_torch(); }

std::int64_t integer_of(nb::handle value) {
  const long long result = PyLong_AsLongLong(value.ptr());
  if (result == -1 && PyErr_Occurred() != nullptr) { throw nb::python_error(); }
  return result;
}

bool is_true(nb::handle value) { return value.ptr() == Py_True; }

/// Extents and strides of a tensor.
void read_shape(strided_array& result, nb::handle x) {
  const attribute_names& names = torch().names;
  const nb::object shape = x.attr(names.shape);
  const Py_ssize_t rank = PyTuple_Size(shape.ptr());
  if (rank < 0) { throw nb::python_error(); }
  if (rank > most_rank) { throw_value_error("an array has at most 64 axes"); }
  const nb::object strides = x.attr(names.stride)();
  result.rank = static_cast<int>(rank);
  result.item_bytes = integer_of(x.attr(names.element_size)());
  for (int k = 0; k < result.rank; ++k) {
    result.extents[k] = integer_of(PyTuple_GetItem(shape.ptr(), k));
    result.strides[k] = integer_of(PyTuple_GetItem(strides.ptr(), k)) * result.item_bytes;
  }
}

/// The address of a tensor's first element; false where it has no memory: tensors inside transforms of functions.
bool read_address(strided_array& result, nb::handle x) {
  const nb::object address =
      nb::steal(PyObject_CallMethodObjArgs(x.ptr(), torch().names.data_ptr.ptr(), nullptr));
  if (!address.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_RuntimeError) == 0) { throw nb::python_error(); }
    PyErr_Clear();
    return false;
  }
  result.data = static_cast<std::uintptr_t>(PyLong_AsUnsignedLongLong(address.ptr()));
  return true;
}

int device_of(nb::handle x, const char* name) {
  const attribute_names& names = torch().names;
  if (!is_true(x.attr(names.is_cuda))) {
    throw_value_error(std::string(name) + " is not in the memory of a GPU; move it by .cuda()");
  }
  return static_cast<int>(integer_of(x.attr(names.get_device)()));
}

cudaStream_t current_stream_of(int device) {
  const nb::object stream = torch().current_stream(device);
  return reinterpret_cast<cudaStream_t>(PyLong_AsVoidPtr(stream.ptr()));
}

void check_output(nb::handle x, nb::handle out, int device) {
  const attribute_names& names = torch().names;
  if (!nb::isinstance(out, torch().tensor)) {
    throw_type_error("x is a tensor, so out must be one");
  }
  if (device_of(out, "out") != device) { throw_value_error("x and out are on different devices"); }
  if (!x.attr(names.dtype).is(out.attr(names.dtype))) {
    throw_type_error("x and out have different dtypes");
  }
  if (is_true(out.attr(names.is_conj)()) || is_true(out.attr(names.is_neg)())) {
    throw_value_error("out has a conjugation or a negation pending");
  }
}

void written(nb::handle x) {
  if (!is_true(x.attr(torch().names.is_inference)())) { torch().increment_version(x); }
}

nb::object make_output(nb::handle x, const strided_array& in, const order& wanted) {
  const nb::object shape = nb::steal(PyTuple_New(in.rank));
  for (int j = 0; j < in.rank; ++j) {
    PyObject* const extent = PyLong_FromLongLong(in.extents[wanted.axes[j]]);
    if (extent == nullptr || PyTuple_SetItem(shape.ptr(), j, extent) != 0) {
      throw nb::python_error();
    }
  }
  return x.attr(torch().names.new_empty)(shape);
}

}  // namespace

bool is_tensor(nb::handle object) {
  const torch_module* const found = find_torch();
  if (found == nullptr) { return false; }
  const nb::handle type = object.type();
  return type.is(found->tensor) || type.is(found->parameter);
}

bool is_contiguous(nb::handle tensor) {
  return is_true(tensor.attr(torch().names.is_contiguous)());
}

bool is_plain(nb::handle tensor) {
  const torch_module& found = torch();
  const attribute_names& names = found.names;
  if (is_true(tensor.attr(names.requires_grad)) && is_true(found.is_grad_enabled())) {
    return false;
  }
  return !is_true(tensor.attr(names.is_conj)()) && !is_true(tensor.attr(names.is_neg)()) &&
         integer_of(found.count_modes()) == 0 &&
         integer_of(found.forward_mode.attr(names.forward_level)) < 0;
}

nb::object reorder_tensor(nb::handle x, const order_request& wanted, nb::handle out) {
  strided_array in;
  read_shape(in, x);
  const order complete = make_order(in.rank, wanted);
  const int device = device_of(x, "x");
  if (!read_address(in, x)) { return {}; }
  const bool owned = out.is_none();
  strided_array target;
  nb::object result;
  if (owned) {
    result = make_output(x, in, complete);
    target.rank = in.rank;
    target.item_bytes = in.item_bytes;
    for (int j = 0; j < in.rank; ++j) { target.extents[j] = in.extents[complete.axes[j]]; }
    target.make_dense();
  } else {
    check_output(x, out, device);
    result = nb::borrow(out);
    read_shape(target, out);
  }
  if (!read_address(target, result)) { return {}; }
  run(target, in, complete, device, current_stream_of(device), owned);
  if (!owned) { written(out); }
  return result;
}

void transpose_tensor(nb::handle x) {
  strided_array square;
  read_shape(square, x);
  const int device = device_of(x, "x");
  if (!read_address(square, x)) { throw_value_error("x has no memory of its own"); }
  run_square(square, device, current_stream_of(device));
  written(x);
}

}  // namespace tiletranspose_python
