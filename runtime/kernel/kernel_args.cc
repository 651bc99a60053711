// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel/kernel_args.h"

#include <new>

#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

const EValue kNone;

}  // namespace

KernelArgs::KernelArgs(KernelRuntimeContext& context, Span<EValue*> args, size_t count)
    : context_(context), args_(args), count_(count) {
  if (args.size() < count) {
    PETREL_LOG(Error, "%s has %zu arguments, but the program passes %zu", context.kernel_name(),
               count, args.size());
    context.fail(Error::InvalidProgram);
  }
}

const EValue& KernelArgs::at(size_t i) const { return i < args_.size() ? *args_[i] : kNone; }

void KernelArgs::fail(size_t i, const char* problem) {
  if (ok()) PETREL_LOG(Error, "%s: argument %zu %s", context_.kernel_name(), i, problem);
  context_.fail(Error::InvalidProgram);
}

template <typename T>
T KernelArgs::take(size_t i, Result<T> value, const char* expected, T fallback) {
  if (value.ok()) return *value;
  if (ok()) {
    PETREL_LOG(Error, "%s: argument %zu is %s, must be %s", context_.kernel_name(), i,
               to_string(at(i).tag), expected);
  }
  context_.fail(Error::InvalidProgram);
  return fallback;
}

bool KernelArgs::check_tensor(size_t i, const Tensor& tensor) {
  if (tensor.const_data_ptr() == nullptr && tensor.nbytes() != 0) {
    // Not the file's fault: an input or output that the caller left unset.
    if (ok()) {
      PETREL_LOG(Error, "%s: argument %zu is a tensor without data", context_.kernel_name(), i);
    }
    context_.fail(Error::InvalidState);
    return false;
  }
  return true;
}

Tensor KernelArgs::empty() { return Tensor(&(new (empty_) Empty())->impl); }

Tensor KernelArgs::tensor(size_t i) {
  if (i < args_.size() && args_[i]->isTensor()) {
    const Tensor value = args_[i]->toTensor();
    if (value.const_data_ptr() != nullptr || check_tensor(i, value)) return value;
    return empty();
  }
  return missing_tensor(i);
}

Tensor KernelArgs::missing_tensor(size_t i) {
  return take(i, at(i).tryToTensor(), "Tensor", empty());
}

bool KernelArgs::is_argument(const EValue& value, const TensorImpl* impl) const {
  if (value.isTensor()) return value.toTensor().impl() == impl;
  if (value.isTensorList()) {
    const Result<Span<const Tensor>> list = value.tryToTensorList();
    if (!list.ok()) return false;  // Fails when it is read.
    for (const Tensor& tensor : *list) {
      if (tensor.impl() == impl) return true;
    }
  }
  if (value.isListOptionalTensor()) {
    const auto list = value.tryToListOptionalTensor();
    if (!list.ok()) return false;
    for (const std::optional<Tensor>& tensor : *list) {
      if (tensor.has_value() && tensor->impl() == impl) return true;
    }
  }
  return false;
}

bool KernelArgs::check_out(size_t i, const Tensor& tensor) {
  if (tensor.is_constant()) {
    fail(i, "is a constant, must be a tensor that can be written");
    return false;
  }
  if (tensor.shape_dynamism() == TensorShapeDynamism::STATIC) return true;
  for (size_t k = 0; k < count_; ++k) {
    if (k == i || !is_argument(at(k), tensor.impl())) continue;
    fail(i, "is another argument, too, which an output of variable sizes must not be");
    return false;
  }
  return true;
}

std::optional<Tensor> KernelArgs::optional_tensor(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return tensor(i);
}

Tensor KernelArgs::out(size_t i) {
  const Tensor value = tensor(i);
  return check_out(i, value) ? value : empty();
}

int64_t KernelArgs::integer(size_t i) {
  if (i < args_.size() && args_[i]->isInt()) return args_[i]->toInt();
  return take(i, at(i).tryToInt(), "Int", int64_t{0});
}

std::optional<int64_t> KernelArgs::optional_integer(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return integer(i);
}

double KernelArgs::real(size_t i) {
  const EValue& value = at(i);
  if (value.isInt()) return static_cast<double>(value.toInt());
  return take(i, value.tryToDouble(), "Double", 0.0);
}

std::optional<double> KernelArgs::optional_real(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return real(i);
}

bool KernelArgs::boolean(size_t i) { return take(i, at(i).tryToBool(), "Bool", false); }

std::optional<bool> KernelArgs::optional_boolean(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return boolean(i);
}

Scalar KernelArgs::scalar(size_t i) {
  if (i < args_.size() && args_[i]->isInt()) return Scalar(args_[i]->toInt());
  return take(i, at(i).tryToScalar(), "Int, Double or Bool", Scalar(int64_t{0}));
}

std::optional<Scalar> KernelArgs::optional_scalar(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return scalar(i);
}

std::string_view KernelArgs::string(size_t i) {
  return take(i, at(i).tryToString(), "String", std::string_view());
}

std::optional<std::string_view> KernelArgs::optional_string(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return string(i);
}

std::optional<ScalarType> KernelArgs::optional_scalar_type(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  const int64_t number = integer(i);
  if (number < 0 || number > INT8_MAX || !is_valid(static_cast<ScalarType>(number))) {
    fail(i, "is not a known scalar type");
    return std::nullopt;
  }
  return static_cast<ScalarType>(number);
}

Span<const int64_t> KernelArgs::int_list(size_t i) {
  return take(i, at(i).tryToIntList(), "a list of Int", Span<const int64_t>());
}

std::optional<Span<const int64_t>> KernelArgs::optional_int_list(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return int_list(i);
}

Span<const bool> KernelArgs::bool_list(size_t i) {
  return take(i, at(i).tryToBoolList(), "a list of Bool", Span<const bool>());
}

Span<const double> KernelArgs::double_list(size_t i) {
  return take(i, at(i).tryToDoubleList(), "a list of Double", Span<const double>());
}

std::optional<Span<const double>> KernelArgs::optional_double_list(size_t i) {
  if (at(i).isNone()) return std::nullopt;
  return double_list(i);
}

Span<const Tensor> KernelArgs::tensor_list(size_t i) {
  const Span<const Tensor> list =
      take(i, at(i).tryToTensorList(), "a list of Tensor", Span<const Tensor>());
  for (const Tensor& tensor : list) {
    if (!check_tensor(i, tensor)) return {};
  }
  return list;
}

Span<const Tensor> KernelArgs::out_list(size_t i) {
  const Span<const Tensor> list = tensor_list(i);
  // Each is compared with all arguments and entries, which long lists pay for.
  constexpr size_t kShort = 64;
  if (list.size() > kShort) {
    uint64_t others = list.size();
    for (size_t k = 0; k < count_; ++k) {
      const EValue& other = at(k);
      const auto tensors = other.isTensorList() ? other.tryToTensorList()
                                                : Result<Span<const Tensor>>(Error::InvalidType);
      others += tensors.ok() ? tensors->size() : 1;
    }
    if (!context_.charge(list.size(), others)) return {};
  }
  for (size_t k = 0; k < list.size(); ++k) {
    if (!check_out(i, list[k])) return {};
    // Nor twice in the list.
    for (size_t m = 0; m < k; ++m) {
      if (list[m].impl() != list[k].impl()) continue;
      fail(i, "has one tensor twice");
      return {};
    }
  }
  return list;
}

Span<const std::optional<Tensor>> KernelArgs::optional_tensor_list(size_t i) {
  const auto list = take(i, at(i).tryToListOptionalTensor(), "a list of Tensor or None",
                         Span<const std::optional<Tensor>>());
  for (const std::optional<Tensor>& tensor : list) {
    if (tensor.has_value() && !check_tensor(i, *tensor)) return {};
  }
  return list;
}

}  // namespace petrel::runtime
