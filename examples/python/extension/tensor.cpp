// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tensor.hpp"

#include "dlpack.hpp"
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
  nb::object is_quantized = nb::str("is_quantized");
  nb::object forward_level = nb::str("_current_level");
};

/// What is needed of PyTorch.
struct torch_module {
  attribute_names names;
  nb::object tensor;
  nb::object parameter;
  const exchange_table* exchange;  ///< of both; null in PyTorch before 2.10
  nb::set unread_dtypes;           ///< those that it does not read
  nb::object current_stream;       ///< of a device, as an integer
  nb::object is_grad_enabled;
  nb::object count_modes;
  nb::object in_transform;  ///< whether a transform of torch.func is active
  nb::object is_tracing;    ///< whether torch.jit.trace writes down what is called
  nb::object is_key_included;
  nb::object early_modes;   ///< the key of the modes of torch.export; null: there are none
  nb::object forward_mode;  ///< the module that counts the levels of forward differentiation
  nb::object increment_version;

  torch_module() {
    const nb::object torch = nb::module_::import_("torch");
    const nb::object internals = torch.attr("_C");
    tensor = torch.attr("Tensor");
    parameter = torch.attr("nn").attr("Parameter");
    exchange = find_exchange(tensor);
    if (nb::hasattr(internals, "_cuda_getCurrentRawStream")) {
      current_stream = internals.attr("_cuda_getCurrentRawStream");
    }
    is_grad_enabled = torch.attr("is_grad_enabled");
    count_modes = internals.attr("_len_torch_dispatch_stack");
    in_transform = internals.attr("_are_functorch_transforms_active");
    is_tracing = internals.attr("_is_tracing");
    is_key_included = nb::getattr(internals, "_dispatch_tls_is_dispatch_key_included", nb::none());
    const nb::object keys = nb::getattr(internals, "DispatchKey", nb::none());
    if (!is_key_included.is_none() && nb::hasattr(keys, "PreDispatch")) {
      early_modes = keys.attr("PreDispatch");
    }
    forward_mode = nb::module_::import_("torch.autograd.forward_ad");
    increment_version = nb::module_::import_("torch.autograd.graph").attr("increment_version");
  }
};

/// PyTorch, once somebody else has imported it; it lives as long as the process.
const torch_module* find_torch() {
  static const torch_module* found = nullptr;
  if (found == nullptr) {
    const nb::object loaded = nb::module_::import_("sys").attr("modules").attr("get");
    // Of an import that failed torch.nn may be left behind, but not torch.
    if (loaded("torch").is_none() || loaded("torch.nn").is_none()) { return nullptr; }
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

/// A tensor, as far as its elements are to be moved.
struct tensor_view {
  strided_array array;
  int device;       ///< -1: not a GPU
  bool has_memory;  ///< false: the address is not known
};

void check_rank(Py_ssize_t rank) {
  if (rank > most_rank) { throw_value_error("an array has at most 64 axes"); }
}

/// False for an address that stands for memory which a tensor does not have: zeros that PyTorch has not written, tensors
/// that are being made functional.
bool is_address(const strided_array& array) { return array.data != 0 || !array.has_elements(); }

bool may_exchange(nb::handle x) {
  const torch_module& found = torch();
  return found.exchange != nullptr && is_tensor(x) &&
         (found.unread_dtypes.size() == 0 ||
          !found.unread_dtypes.contains(x.attr(found.names.dtype)));
}

/// Reads a tensor by one call; false where PyTorch refuses, which takes it a millisecond. Conjugations, negations and
/// gradients are not seen.
bool read_by_exchange(tensor_view& result, nb::handle x) {
  nb::dlpack::dltensor seen;
  if (torch().exchange->read(x.ptr(), &seen) != 0) {
    PyErr_Clear();
    return false;
  }
  if (seen.strides == nullptr && seen.ndim > 0) { return false; }  // older tables, of dense arrays
  check_rank(seen.ndim);
  strided_array& array = result.array;
  array.data = reinterpret_cast<std::uintptr_t>(seen.data) + seen.byte_offset;
  array.item_bytes = (seen.dtype.bits * seen.dtype.lanes + 7) / 8;
  array.rank = seen.ndim;
  for (int k = 0; k < array.rank; ++k) {
    array.extents[k] = seen.shape[k];
    array.strides[k] = seen.strides[k] * array.item_bytes;
  }
  result.device = seen.device.device_type == cuda_memory ? seen.device.device_id : -1;
  result.has_memory = is_address(array);
  return true;
}

/// Extents and strides of a tensor.
void read_shape(strided_array& result, nb::handle x) {
  const attribute_names& names = torch().names;
  const nb::object shape = x.attr(names.shape);
  const Py_ssize_t rank = PyTuple_Size(shape.ptr());
  if (rank < 0) { throw nb::python_error(); }
  check_rank(rank);
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
  return is_address(result);
}

void read_tensor(tensor_view& result, nb::handle x) {
  const bool exchanged = may_exchange(x);
  if (exchanged && read_by_exchange(result, x)) { return; }
  const attribute_names& names = torch().names;
  read_shape(result.array, x);
  const bool on_gpu = is_true(x.attr(names.is_cuda));
  result.device = on_gpu ? static_cast<int>(integer_of(x.attr(names.get_device)())) : -1;
  result.has_memory = on_gpu && read_address(result.array, x);
  if (on_gpu && is_true(nb::getattr(x, names.is_quantized, nb::none()))) {
    throw_type_error("quantized tensors cannot be moved: move x.int_repr()");
  }
  // With memory of a GPU what was refused is the dtype.
  if (exchanged && result.has_memory) {
    nb::borrow<nb::set>(torch().unread_dtypes).add(x.attr(names.dtype));
  }
}

void check_on_gpu(const tensor_view& view, const char* name) {
  if (view.device < 0) {
    throw_value_error(std::string(name) + " is not in the memory of a GPU; move it by .cuda()");
  }
}

cudaStream_t current_stream_of(int device) {
  const torch_module& found = torch();
  void* stream = nullptr;
  if (found.exchange == nullptr) {
    stream = PyLong_AsVoidPtr(found.current_stream(device).ptr());
  } else if (found.exchange->current_stream(cuda_memory, device, &stream) != 0) {
    throw nb::python_error();
  }
  return static_cast<cudaStream_t>(stream);
}

/// Reads an output that a caller gave.
void read_output(tensor_view& result, nb::handle x, nb::handle out, int device) {
  const attribute_names& names = torch().names;
  if (!nb::isinstance(out, torch().tensor)) {
    throw_type_error("x is a tensor, so out must be one");
  }
  read_tensor(result, out);
  check_on_gpu(result, "out");
  if (result.device != device) { throw_value_error("x and out are on different devices"); }
  if (!x.attr(names.dtype).is(out.attr(names.dtype))) {
    throw_type_error("x and out have different dtypes");
  }
}

void written(nb::handle x) {
  if (!is_true(x.attr(torch().names.is_inference)())) { torch().increment_version(x); }
}

/// A new tensor, of the type and on the device of `x`. PyTorch needs 0.8 us less for extents that are arguments of their own
/// than for a tuple.
nb::object make_output(nb::handle x, const strided_array& in, const order& wanted) {
  const nb::object shape = nb::steal(PyTuple_New(in.rank));
  for (int j = 0; j < in.rank; ++j) {
    PyObject* const extent = PyLong_FromLongLong(in.extents[wanted.axes[j]]);
    if (extent == nullptr || PyTuple_SetItem(shape.ptr(), j, extent) != 0) {
      throw nb::python_error();
    }
  }
  const nb::object arguments = in.rank > 0 ? shape : nb::make_tuple(shape);
  nb::object result = nb::steal(
      PyObject_CallObject(nb::object(x.attr(torch().names.new_empty)).ptr(), arguments.ptr()));
  if (!result.is_valid()) { throw nb::python_error(); }
  return result;
}

/// True while somebody writes down which operators are called, by means that count_modes does not count.
bool is_traced() {
  const torch_module& found = torch();
  return is_true(found.is_tracing()) ||
         (found.early_modes.is_valid() && is_true(found.is_key_included(found.early_modes)));
}

/// True where no gradient of a tensor is recorded, and none of its elements is yet to be conjugated or negated.
bool is_plain(nb::handle tensor) {
  const torch_module& found = torch();
  const attribute_names& names = found.names;
  if (is_true(tensor.attr(names.requires_grad)) && is_true(found.is_grad_enabled())) {
    return false;
  }
  return !is_true(tensor.attr(names.is_conj)()) && !is_true(tensor.attr(names.is_neg)());
}

}  // namespace

bool is_tensor(nb::handle object) {
  const torch_module* const found = find_torch();
  if (found == nullptr) { return false; }
  const nb::handle type = object.type();
  return type.is(found->tensor) || type.is(found->parameter);
}

bool is_contiguous_on_gpu(nb::handle tensor) {
  const attribute_names& names = torch().names;
  return is_true(tensor.attr(names.is_contiguous)()) && is_true(tensor.attr(names.is_cuda));
}

bool are_plain(nb::handle x, nb::handle out) {
  const torch_module& found = torch();
  const bool in_transform = out.is_none() && is_true(found.in_transform());
  return !in_transform && is_plain(x) && (out.is_none() || out.is(x) || is_plain(out)) &&
         integer_of(found.count_modes()) == 0 && !is_traced() &&
         integer_of(found.forward_mode.attr(found.names.forward_level)) < 0;
}

nb::object reorder_tensor(nb::handle x, const order_request& wanted, nb::handle out) {
  tensor_view in;
  read_tensor(in, x);
  const order complete = make_order(in.array.rank, wanted);
  check_on_gpu(in, "x");
  if (!in.has_memory) { return {}; }
  const bool owned = out.is_none();
  tensor_view target;
  nb::object result;
  if (owned) {
    result = make_output(x, in.array, complete);
    target.array.rank = in.array.rank;
    target.array.item_bytes = in.array.item_bytes;
    for (int j = 0; j < in.array.rank; ++j) {
      target.array.extents[j] = in.array.extents[complete.axes[j]];
    }
    target.array.make_dense();
    target.has_memory = read_address(target.array, result);
  } else {
    read_output(target, x, out, in.device);
    result = nb::borrow(out);
  }
  if (!target.has_memory) { return {}; }
  const cudaStream_t stream = current_stream_of(in.device);
  run(target.array, in.array, complete, in.device, stream, stream, owned);
  if (!owned) { written(out); }
  return result;
}

void transpose_tensor(nb::handle x) {
  tensor_view square;
  read_tensor(square, x);
  check_on_gpu(square, "x");
  if (!square.has_memory) { throw_value_error("x has no memory of its own"); }
  run_square(square.array, square.device, current_stream_of(square.device));
  written(x);
}

}  // namespace tiletranspose_python
