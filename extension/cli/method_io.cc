// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/method_io.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
  for (size_t n = info.nbytes() / one.size(); n > 0; --n) {
    array.data.insert(array.data.end(), one.begin(), one.end());
  }
  return array;
}

}  // namespace

struct MethodInputs::Holder {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<int64_t> strides;
  std::vector<uint64_t> memory;
  TensorImpl impl;
};

absl::StatusOr<MethodInputs> MethodInputs::make(Module& module, const std::string& method,
                                                const std::vector<std::string>& files) {
  auto meta = module.method_meta(method);
  if (!meta.ok() || module.load_method(method) != runtime::Error::Ok) {
    return absl::InvalidArgumentError(absl::StrCat("method '", method, "' cannot be loaded"));
  }
  MethodInputs inputs;
  size_t next_file = 0;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) {
      inputs.values_.push_back(module.get_input(method, i));
      continue;
    }
    NpyArray array;
    std::string source = absl::StrCat("input ", i);
    if (next_file < files.size()) {
      absl::StrAppend(&source, " (", files[next_file], ")");
      auto read = read_npy(files[next_file++]);
      if (!read.ok()) return read.status();
      array = *std::move(read);
    } else {
      array = ones_like(*info);
    }
    if (array.type != info->scalar_type()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, " has dtype ", runtime::to_string(array.type), ", method '", method,
                       "' takes ", runtime::to_string(info->scalar_type())));
    }
    if (array.shape.size() != info->sizes().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, " has shape [", absl::StrJoin(array.shape, ","), "], method '",
                       method, "' takes ", sizes_text(info->sizes())));
    }
    auto holder = std::make_shared<Holder>();
    for (const int64_t size : array.shape) {
      if (size > INT32_MAX) {
        return absl::InvalidArgumentError(absl::StrCat(source, " has a size of ", size));
      }
      holder->sizes.push_back(static_cast<int32_t>(size));
    }
    const auto order = info->dim_order();
    holder->dim_order.assign(order.begin(), order.end());
    const Span<const int32_t> sizes(holder->sizes);
    holder->strides = dense_strides(sizes, Span<const uint8_t>(holder->dim_order));
    holder->memory.resize(array.data.size() / sizeof(uint64_t) + 1);
    reorder(array.data.data(), dense_strides(sizes, {}),
            reinterpret_cast<uint8_t*>(holder->memory.data()), holder->strides, sizes,
            runtime::element_size(array.type));
    holder->impl =
        TensorImpl(array.type, static_cast<ssize_t>(holder->sizes.size()), holder->sizes.data(),
                   nullptr, holder->dim_order.data(), holder->strides.data());
    if (holder->impl.set_data(holder->memory.data(), holder->memory.size() * sizeof(uint64_t)) !=
        runtime::Error::Ok) {
      return absl::InternalError(absl::StrCat(source, " cannot be made"));
    }
    inputs.values_.push_back(EValue(Tensor(&holder->impl)));
    inputs.holders_.push_back(std::move(holder));
  }
  if (next_file < files.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.size(), " inputs are given, method '", method, "' takes ", next_file));
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
