// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The part of XLA's C interface for foreign functions that the handler needs, declared here: its header comes with JAX,
// which need not be there when the package is built. Names in snake_case, order and types as in xla/ffi/api/c_api.h, whose
// structures grow at their ends alone.

#include "xla.hpp"

#include <cstring>
#include <string>

#include "launch.hpp"

namespace tiletranspose_python {
namespace {

struct xla_error;
struct xla_context;

struct xla_extension {
  std::size_t struct_size;
  int type;
  xla_extension* next;
};
constexpr int metadata_type = 1;

struct xla_version {
  std::size_t struct_size;
  xla_extension* extensions;
  int major;
  int minor;
};

struct xla_metadata {
  std::size_t struct_size;
  xla_version version;
  std::uint32_t traits;
};
constexpr std::uint32_t may_be_captured = 1;  // in a CUDA graph

struct xla_metadata_extension {
  xla_extension base;
  xla_metadata* metadata;
};

struct xla_error_arguments {
  std::size_t struct_size;
  xla_extension* extensions;
  const char* message;
  int code;
};
constexpr int invalid_argument = 3;
constexpr int internal_error = 13;

struct xla_stream_arguments {
  std::size_t struct_size;
  xla_extension* extensions;
  xla_context* context;
  void* stream;  // filled by XLA
};

struct xla_interface {
  std::size_t struct_size;
  xla_extension* extensions;
  xla_version version;
  const void* internal;
  xla_error* (*create_error)(xla_error_arguments*);
  const void* get_error_details;
  const void* destroy_error;
  const void* register_handler;
  xla_error* (*get_stream)(xla_stream_arguments*);
};

struct xla_buffer {
  std::size_t struct_size;
  xla_extension* extensions;
  int type;
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};

struct xla_buffers {
  std::size_t struct_size;
  xla_extension* extensions;
  std::int64_t size;
  int* types;
  xla_buffer** buffers;
};

struct xla_name {
  const char* text;
  std::size_t length;
};
struct xla_array {
  int type;
  std::size_t size;
  const std::int64_t* data;
};
constexpr int array_attribute = 1;
constexpr int signed_64_bits = 5;

struct xla_attributes {
  std::size_t struct_size;
  xla_extension* extensions;
  std::int64_t size;
  int* types;
  xla_name** names;
  void** values;
};

struct xla_call {
  std::size_t struct_size;
  xla_extension* extensions;
  const xla_interface* interface;
  xla_context* context;
  int stage;
  xla_buffers inputs;
  xla_buffers outputs;
  xla_attributes attributes;
};

xla_error* fail(const xla_call& call, int code, const std::string& sentence) {
  const std::string text = "tiletranspose: " + sentence;
  xla_error_arguments arguments{sizeof(xla_error_arguments), nullptr, text.c_str(), code};
  return call.interface->create_error(&arguments);
}

/// The attribute `plan`, or null.
const xla_array* find_plan(const xla_attributes& attributes) {
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    const std::string name(attributes.names[i]->text, attributes.names[i]->length);
    const auto* const array = static_cast<const xla_array*>(attributes.values[i]);
    if (name == "plan" && attributes.types[i] == array_attribute && array->type == signed_64_bits) {
      return array;
    }
  }
  return nullptr;
}

/// Bytes of an element of one of XLA's types; 0 for those of less than a byte, and for those that are not known.
std::int64_t bytes_of_type(int type) {
  switch (type) {
    case 1:   // PRED
    case 2:   // S8
    case 6:   // U8
    case 19:  // F8E5M2
    case 20:  // F8E4M3FN
    case 23:  // F8E4M3B11FNUZ
    case 24:  // F8E5M2FNUZ
    case 25:  // F8E4M3FNUZ
    case 28:  // F8E4M3
    case 29:  // F8E3M4
    case 33:  // F8E8M0FNU
      return 1;
    case 3:   // S16
    case 7:   // U16
    case 10:  // F16
    case 16:  // BF16
      return 2;
    case 4:   // S32
    case 8:   // U32
    case 11:  // F32
      return 4;
    case 5:   // S64
    case 9:   // U64
    case 12:  // F64
    case 15:  // C64
      return 8;
    case 18:  // C128
      return 16;
    default:
      return 0;
  }
}

strided_array make_array(const xla_buffer& buffer) {
  strided_array result;
  result.data = reinterpret_cast<std::uintptr_t>(buffer.data);
  result.item_bytes = bytes_of_type(buffer.type);
  result.rank = static_cast<int>(buffer.rank);
  for (int k = 0; k < result.rank; ++k) { result.extents[k] = buffer.extents[k]; }
  result.make_dense();
  return result;
}

/// True where a plan names each of its axes once.
bool is_complete(const xla_array& plan) {
  const auto planned = static_cast<std::int64_t>(plan.size / 2);
  bool named[most_rank] = {};
  for (std::int64_t k = 0; k < planned; ++k) {
    const std::int64_t axis = plan.data[1 + k];
    if (axis < 0 || axis >= planned || named[axis]) { return false; }
    named[axis] = true;
  }
  return true;
}

/// The order that a plan asks for, behind the axes of a batch.
order make_order(const xla_array& plan, int rank) {
  const int planned = static_cast<int>(plan.size / 2);
  const int batch = rank - planned;
  order result;
  result.rank = rank;
  for (int k = 0; k < rank; ++k) {
    const bool is_planned = k >= batch;
    result.axes[k] = is_planned ? batch + static_cast<int>(plan.data[1 + k - batch]) : k;
    result.flipped[k] = is_planned && plan.data[1 + planned + k - batch] != 0;
  }
  return result;
}

void relocate_on_host(const relocation& move, int axis = 0) {
  if (axis == move.rank) {
    std::memcpy(reinterpret_cast<void*>(move.out), reinterpret_cast<const void*>(move.in),
                static_cast<std::size_t>(move.part_bytes));
    return;
  }
  relocation inner = move;
  for (std::int64_t i = 0; i < move.axes[axis].extent; ++i) {
    relocate_on_host(inner, axis + 1);
    inner.in += static_cast<std::uintptr_t>(move.axes[axis].in_stride);
    inner.out += static_cast<std::uintptr_t>(move.axes[axis].out_stride);
  }
}

/// XLA asks a handler which version of the interface it was built for. What is used has been the same in all of them.
bool answer_metadata(const xla_call& call) {
  if (call.extensions == nullptr || call.extensions->type != metadata_type) { return false; }
  xla_metadata& metadata = *reinterpret_cast<xla_metadata_extension*>(call.extensions)->metadata;
  metadata.version.major = call.interface->version.major;
  metadata.version.minor = call.interface->version.minor;
  metadata.traits = may_be_captured;
  return true;
}

template <bool OnHost>
xla_error* handle(xla_call* call) {
  if (answer_metadata(*call)) { return nullptr; }
  const xla_array* const plan = find_plan(call->attributes);
  if (plan == nullptr || plan->size % 2 != 1 || call->inputs.size != 1 || call->outputs.size != 1) {
    return fail(*call, invalid_argument, "the call is none of this package's");
  }
  const xla_buffer& input = *call->inputs.buffers[0];
  const xla_buffer& output = *call->outputs.buffers[0];
  const std::int64_t planned = static_cast<std::int64_t>(plan->size / 2);
  if (input.rank > most_rank || output.rank != input.rank || input.rank < planned ||
      !is_complete(*plan)) {
    return fail(*call, invalid_argument, "the arrays have other axes than the call");
  }
  const strided_array in = make_array(input);
  const strided_array out = make_array(output);
  if (output.type != input.type || in.item_bytes != plan->data[0]) {
    return fail(*call, invalid_argument, "the arrays have other elements than the call");
  }
  const strided_array seen = reordered(in, make_order(*plan, in.rank));
  if (!same_extents(out, seen)) {
    return fail(*call, invalid_argument, "the result has another shape than the call");
  }
  if (!in.has_elements()) { return nullptr; }
  const relocation move = make_relocation(out, seen);
  if constexpr (OnHost) {
    relocate_on_host(move);
    return nullptr;
  } else {
    xla_stream_arguments stream{sizeof(xla_stream_arguments), nullptr, call->context, nullptr};
    xla_error* const error = call->interface->get_stream(&stream);
    if (error != nullptr) { return error; }
    const cudaError_t status = relocate(move, static_cast<cudaStream_t>(stream.stream));
    return status == cudaSuccess ? nullptr
                                 : fail(*call, internal_error, cudaGetErrorString(status));
  }
}

}  // namespace

void* xla_handler(bool on_host) {
  return reinterpret_cast<void*>(on_host ? &handle<true> : &handle<false>);
}

}  // namespace tiletranspose_python
