// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/method_runner.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "extension/levels/level_arrays.h"
#include "extension/npy/tensor_array.h"

namespace petrel::extension {

using runtime::EValue;

absl::Status MethodRunner::failed(const char* what, runtime::Error error) const {
  return absl::InvalidArgumentError(
      absl::StrCat("method '", method_, "' ", what, ": ", runtime::to_string(error)));
}

absl::StatusOr<MethodRunner> MethodRunner::open(Module& module, const std::string& method) {
  MethodRunner runner(module, method);
  const auto meta = module.method_meta(method);
  if (!meta.ok()) return runner.failed("cannot be read", meta.error());
  const runtime::Error loaded = module.load_method(method);
  if (loaded != runtime::Error::Ok) return runner.failed("cannot be loaded", loaded);
  const ProgramLevels told(module.program());
  runner.num_inputs_ = meta->num_inputs();
  for (size_t i = 0; i < runner.num_inputs_; ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) continue;
    CalibrationInput input;
    const std::string_view name = info->name();
    input.name = std::string(name.data(), name.size());
    input.type = info->scalar_type();
    const auto levels = told.input(method, i);
    if (!levels.ok()) return runner.failed("has damaged scales", levels.error());
    if (*levels) input.type = runtime::ScalarType::Float;
    runner.input_levels_.push_back(*levels);
    input.sizes.assign(info->sizes().begin(), info->sizes().end());
    input.is_fixed = info->shape_dynamism() == runtime::TensorShapeDynamism::STATIC;
    runner.inputs_.push_back(std::move(input));
    runner.places_.push_back(i);
    runner.orders_.emplace_back(info->dim_order().begin(), info->dim_order().end());
  }
  for (size_t i = 0; i < meta->num_outputs(); ++i) {
    const auto levels = told.output(method, i);
    if (!levels.ok()) return runner.failed("has damaged scales", levels.error());
    runner.output_levels_.push_back(*levels);
  }
  return runner;
}

absl::StatusOr<std::vector<EValue>> MethodRunner::run(const std::vector<NpyArray>& sample) {
  std::vector<std::shared_ptr<ArrayTensor>> tensors;
  std::vector<EValue> values(num_inputs_);
  for (size_t i = 0; i < num_inputs_; ++i) values[i] = module_->get_input(method_, i);
  for (size_t k = 0; k < sample.size(); ++k) {
    const runtime::Span<const uint8_t> order(orders_[k].data(), orders_[k].size());
    const std::optional<Levels>& levels = input_levels_[k];
    const bool is_quantised = levels && sample[k].type == runtime::ScalarType::Float;
    PETREL_ASSIGN_OR_RETURN(
        auto tensor,
        ArrayTensor::make(is_quantised ? in_levels(sample[k], *levels) : sample[k], order));
    values[places_[k]] = tensor->value();
    tensors.push_back(std::move(tensor));
  }
  auto outputs = module_->execute(method_, values);
  if (!outputs.ok()) return failed("does not run", outputs.error());
  numbers_.clear();
  for (size_t i = 0; i < outputs->size(); ++i) {
    if (!output_levels_[i]) continue;
    const NpyArray numbers = in_numbers(to_npy((*outputs)[i].toTensor()), *output_levels_[i]);
    std::vector<uint8_t> order(numbers.shape.size());
    std::iota(order.begin(), order.end(), uint8_t{0});
    PETREL_ASSIGN_OR_RETURN(auto tensor, ArrayTensor::make(numbers, {order.data(), order.size()}));
    outputs.get()[i] = tensor->value();
    numbers_.push_back(std::move(tensor));
  }
  return std::move(outputs.get());
}

absl::StatusOr<LoadedBytes> LoadedBytes::load(const std::string& bytes,
                                              const runtime::Registry* registry) {
  LoadedBytes loaded;
  loaded.memory_.resize(bytes.size() / sizeof(uint64_t) + 1);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(loaded.memory_.data()));
  Module::Options options;
  options.registry = registry;
  options.writable_inputs = true;
  auto module = Module::load(loaded.memory_.data(), bytes.size(), options);
  if (!module.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program cannot be loaded: ", runtime::to_string(module.error())));
  }
  loaded.module_ = std::move(module.get());
  return loaded;
}

}  // namespace petrel::extension
