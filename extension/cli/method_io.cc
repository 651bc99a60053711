// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/method_io.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/cli/array_literal.h"
#include "extension/cli/input_words.h"
#include "runtime/core/budget.h"

namespace petrel::extension {

using runtime::ScalarType;
using runtime::Span;
using runtime::TensorInfo;

namespace {

std::string sizes_text(Span<const int32_t> sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes.begin(), sizes.end(), ","), "]");
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
    const size_t tensor = inputs.tensors_.size();
    const std::string name = names[tensor].empty()
                                 ? absl::StrCat("input ", i)
                                 : absl::StrCat("input ", i, " '", names[tensor], "'");
    PETREL_ASSIGN_OR_RETURN(const NpyArray array,
                            read_source(sources[tensor], name, method, *info, &bytes));
    auto tensor_of_array = ArrayTensor::make(array, info->dim_order());
    if (!tensor_of_array.ok()) return exir::annotate(tensor_of_array.status(), name);
    inputs.values_.push_back((*tensor_of_array)->value());
    inputs.tensors_.push_back(*std::move(tensor_of_array));
  }
  return inputs;
}

}  // namespace petrel::extension
