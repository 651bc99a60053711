// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/method_io.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"
#include "extension/cli/array_literal.h"
#include "extension/cli/input_words.h"
#include "runtime/core/budget.h"

namespace petrel::extension {

using runtime::EValue;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tag;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorInfo;

namespace {

std::string sizes_text(Span<const int32_t> sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes.begin(), sizes.end(), ","), "]");
}

// Copies elements of `size` bytes between two dense layouts of one shape.
void reorder(const uint8_t* from, const std::vector<int64_t>& from_strides, uint8_t* to,
             const std::vector<int64_t>& to_strides, Span<const int32_t> sizes, size_t size) {
  size_t numel = 1;
  for (const int32_t s : sizes) numel *= static_cast<size_t>(s);
  std::vector<int32_t> index(sizes.size(), 0);
  for (size_t n = 0; n < numel; ++n) {
    int64_t a = 0, b = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      a += index[d] * from_strides[d];
      b += index[d] * to_strides[d];
    }
    std::memcpy(to + static_cast<size_t>(b) * size, from + static_cast<size_t>(a) * size, size);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

std::vector<int64_t> dense_strides(Span<const int32_t> sizes, Span<const uint8_t> dim_order) {
  std::vector<int64_t> strides(sizes.size());
  runtime::compute_strides(sizes, dim_order, strides.data());
  return strides;
}

// A one of any element type, as its bytes.
std::vector<uint8_t> one_of(ScalarType type) {
  std::vector<uint8_t> bytes(runtime::element_size(type), 0);
  switch (type) {
    case ScalarType::Float: {
      const float one = 1.0f;
      std::memcpy(bytes.data(), &one, sizeof(one));
      break;
    }
    case ScalarType::Double: {
      const double one = 1.0;
      std::memcpy(bytes.data(), &one, sizeof(one));
      break;
    }
    case ScalarType::Half:
      bytes = {0x00, 0x3c};
      break;
    case ScalarType::BFloat16:
      bytes = {0x80, 0x3f};
      break;
    default:
      bytes[0] = 1;  // little-endian integers and bool
  }
  return bytes;
}

NpyArray ones_like(const TensorInfo& info) {
  NpyArray array;
  array.type = info.scalar_type();
  array.shape.assign(info.sizes().begin(), info.sizes().end());
  const std::vector<uint8_t> one = one_of(array.type);
  array.data.reserve(info.nbytes());
  for (size_t n = info.nbytes() / one.size(); n > 0; --n) {
    array.data.insert(array.data.end(), one.begin(), one.end());
  }
  return array;
}

// The array of one input; `name` is for errors. `bytes` pays for those that are
// made in the sizes that the program states.
absl::StatusOr<NpyArray> read_source(const std::string& source, const std::string& name,
                                     const std::string& method, const TensorInfo& info,
                                     runtime::Budget* bytes) {
  if (source.empty()) {
    if (bytes->take(name.c_str(), info.nbytes()) != runtime::Error::Ok) {
      return absl::ResourceExhaustedError(absl::StrCat(name, " is not given and would take ",
                                                       info.nbytes(),
                                                       " bytes, beyond --max-input-bytes"));
    }
    return ones_like(info);
  }
  const std::string subject = absl::StrCat(name, " (", source, ")");
  absl::StatusOr<NpyArray> array =
      is_array_literal(source) ? parse_array_literal(source, info.scalar_type()) : read_npy(source);
  if (!array.ok()) return array;
  if (array->type != info.scalar_type()) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, " has dtype ", runtime::to_string(array->type), ", method '", method,
                     "' takes ", runtime::to_string(info.scalar_type())));
  }
  if (array->shape.size() != info.sizes().size()) {
    return absl::InvalidArgumentError(absl::StrCat(subject, " has shape [",
                                                   absl::StrJoin(array->shape, ","), "], method '",
                                                   method, "' takes ", sizes_text(info.sizes())));
  }
  for (const int64_t size : array->shape) {
    if (size > INT32_MAX) {
      return absl::InvalidArgumentError(absl::StrCat(subject, " has a size of ", size));
    }
  }
  return array;
}

}  // namespace

// A tensor and what it refers to.
struct MethodInputs::Holder {
  Holder(const NpyArray& array, Span<const uint8_t> order)
      : sizes(array.shape.begin(), array.shape.end()), dim_order(order.begin(), order.end()) {
    const Span<const int32_t> dims(sizes);
    strides = dense_strides(dims, Span<const uint8_t>(dim_order));
    memory.resize(array.data.size() / sizeof(uint64_t) + 1);
    reorder(array.data.data(), dense_strides(dims, {}), reinterpret_cast<uint8_t*>(memory.data()),
            strides, dims, runtime::element_size(array.type));
    impl = TensorImpl(array.type, static_cast<ssize_t>(sizes.size()), sizes.data(), nullptr,
                      dim_order.data(), strides.data());
  }

  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<int64_t> strides;
  std::vector<uint64_t> memory;
  TensorImpl impl;
};

absl::StatusOr<MethodInputs> MethodInputs::make(Module& module, const std::string& method,
                                                const std::vector<std::string>& words) {
  auto meta = module.method_meta(method);
  const runtime::Error loaded = meta.ok() ? module.load_method(method) : meta.error();
  if (loaded != runtime::Error::Ok) {
    return absl::InvalidArgumentError(
        absl::StrCat("method '", method, "' cannot be loaded: ", runtime::to_string(loaded)));
  }
  std::vector<std::string> names;  // of the inputs that are tensors
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (info.ok()) names.emplace_back(info->name());
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> sources,
                          assign_inputs(words, names, method));
  MethodInputs inputs;
  runtime::Budget bytes("max_input_bytes", module.program().options().limits.max_input_bytes);
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) {
      inputs.values_.push_back(module.get_input(method, i));
      continue;
    }
    const size_t tensor = inputs.holders_.size();
    const std::string name = names[tensor].empty()
                                 ? absl::StrCat("input ", i)
                                 : absl::StrCat("input ", i, " '", names[tensor], "'");
    PETREL_ASSIGN_OR_RETURN(const NpyArray array,
                            read_source(sources[tensor], name, method, *info, &bytes));
    auto holder = std::make_shared<Holder>(array, info->dim_order());
    if (holder->impl.set_data(holder->memory.data(), holder->memory.size() * sizeof(uint64_t)) !=
        runtime::Error::Ok) {
      return absl::InternalError(absl::StrCat(name, " cannot be made"));
    }
    inputs.values_.push_back(EValue(Tensor(&holder->impl)));
    inputs.holders_.push_back(std::move(holder));
  }
  return inputs;
}

NpyArray to_npy(const Tensor& tensor) {
  NpyArray array;
  array.type = tensor.scalar_type();
  array.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
  array.data.resize(tensor.nbytes());
  const std::vector<int64_t> strides = dense_strides(tensor.sizes(), tensor.dim_order());
  reorder(static_cast<const uint8_t*>(tensor.const_data_ptr()), strides, array.data.data(),
          dense_strides(tensor.sizes(), {}), tensor.sizes(), tensor.element_size());
  return array;
}

}  // namespace petrel::extension
