// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/compiled_method.h"

#include <algorithm>

#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;

namespace {

std::string sizes_text(Span<const int32_t> sizes) {
  std::string text = "[";
  for (const int32_t size : sizes) text += (text.size() > 1 ? "," : "") + std::to_string(size);
  return text + "]";
}

// An empty one means 0, 1, 2, ...
bool same_order(Span<const uint8_t> a, Span<const uint8_t> b) {
  if (a.empty() || b.empty()) {
    return runtime::is_contiguous_dim_order(a) && runtime::is_contiguous_dim_order(b);
  }
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

const char* meaning(int32_t status) {
  switch (status) {
    case PETREL_MODEL_E_DATA:
      return "an index in a tensor is out of range, or an integer is divided by 0";
    case PETREL_MODEL_E_ALIAS:
      return "a pointer is into the memory of the module, and not to the tensor's place";
    case PETREL_MODEL_E_SHAPE:
      return "the model does not take inputs of these sizes together";
    case PETREL_MODEL_E_DEVICE:
      return "a device refuses its work";
    default:
      return "the code of the module refuses what it was given";
  }
}

// Whether an input may have these sizes; where none varies, or for what must have room for all,
// the largest are the only ones.
bool takes(const petrel_tensor_info& info, Span<const int32_t> sizes, bool may_vary) {
  if (sizes.size() != info.rank) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int32_t least =
        may_vary && info.least_sizes != nullptr ? info.least_sizes[d] : info.sizes[d];
    if (sizes[d] < least || sizes[d] > info.sizes[d]) return false;
  }
  return true;
}

// "[0..16,8]".
std::string wanted_text(const petrel_tensor_info& info, bool may_vary) {
  std::string text;
  for (size_t d = 0; d < info.rank; ++d) {
    const bool varies =
        may_vary && info.least_sizes != nullptr && info.least_sizes[d] != info.sizes[d];
    text += (d > 0 ? "," : "") + (varies ? std::to_string(info.least_sizes[d]) + ".." : "") +
            std::to_string(info.sizes[d]);
  }
  return "[" + text + "]";
}

}  // namespace

CompiledMethod::Slot::Slot(const petrel_tensor_info& tensor_info, void* context)
    : info(&tensor_info),
      place(tensor_info.place(context)),
      sizes(tensor_info.sizes, tensor_info.sizes + tensor_info.rank),
      dim_order(tensor_info.dim_order, tensor_info.dim_order + tensor_info.rank),
      strides(tensor_info.rank),
      actual(sizes) {
  runtime::compute_strides(Span<const int32_t>(sizes), Span<const uint8_t>(dim_order),
                           strides.data());
  tensor =
      TensorImpl(static_cast<ScalarType>(tensor_info.dtype), static_cast<ssize_t>(tensor_info.rank),
                 sizes.data(), place, dim_order.data(), strides.data(),
                 varies() ? runtime::TensorShapeDynamism::DYNAMIC_BOUND
                          : runtime::TensorShapeDynamism::STATIC);
}

CompiledMethod::CompiledMethod(const petrel_method_info& info, void* context)
    : info_(info),
      context_(context),
      input_pointers_(info.num_inputs),
      output_pointers_(info.num_outputs),
      size_pointers_(info.num_inputs) {
  // They are pointed at.
  inputs_.reserve(info.num_inputs);
  outputs_.reserve(info.num_outputs);
  for (size_t i = 0; i < info.num_inputs; ++i) inputs_.emplace_back(info.inputs[i], context);
  for (size_t i = 0; i < info.num_outputs; ++i) outputs_.emplace_back(info.outputs[i], context);
  for (size_t i = 0; i < info.num_inputs; ++i) size_pointers_[i] = inputs_[i].sizes.data();
}

Result<size_t> CompiledMethod::find(const petrel_tensor_info* tensors, size_t count,
                                    const char* role, std::string_view name) const {
  const int32_t index =
      petrel_find_tensor(tensors, static_cast<uint32_t>(count), std::string(name).c_str());
  if (index != PETREL_NOT_FOUND) return static_cast<size_t>(index);
  std::string known;
  for (size_t i = 0; i < count; ++i) known += std::string(i > 0 ? ", " : "") + tensors[i].name;
  PETREL_LOG(Error, "method '%s' has no %s '%.*s', it has: %s", info_.name, role,
             static_cast<int>(name.size()), name.data(), known.c_str());
  return Error::NotFound;
}

Result<size_t> CompiledMethod::input_index(std::string_view name) const {
  return find(info_.inputs, info_.num_inputs, "input", name);
}

Result<size_t> CompiledMethod::output_index(std::string_view name) const {
  return find(info_.outputs, info_.num_outputs, "output", name);
}

Result<CompiledMethod::Slot*> CompiledMethod::slot(std::vector<Slot>& slots, const char* role,
                                                   size_t index) {
  if (index < slots.size()) return &slots[index];
  PETREL_LOG(Error, "method '%s' has no %s %zu, it has %zu", info_.name, role, index, slots.size());
  return Error::InvalidArgument;
}

Result<Tensor> CompiledMethod::get_input(size_t index) {
  PETREL_ASSIGN_OR_RETURN(Slot* const input, slot(inputs_, "input", index));
  PETREL_RETURN_IF_ERROR(input->tensor.set_data(input->place, input->info->bytes));
  return Tensor(&input->tensor);
}

Result<Tensor> CompiledMethod::get_input(std::string_view name) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, input_index(name));
  return get_input(index);
}

Result<Tensor> CompiledMethod::get_output(size_t index) {
  PETREL_ASSIGN_OR_RETURN(Slot* const output, slot(outputs_, "output", index));
  return Tensor(&output->tensor);
}

Result<Tensor> CompiledMethod::get_output(std::string_view name) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, output_index(name));
  return get_output(index);
}

Error CompiledMethod::bind(std::vector<Slot>& slots, const char* role, size_t index,
                           const Tensor& tensor) {
  PETREL_ASSIGN_OR_RETURN(Slot* const bound, slot(slots, role, index));
  const TensorImpl& wanted = bound->tensor;
  const bool may_vary = &slots == &inputs_;
  const bool fits = tensor.scalar_type() == wanted.scalar_type() &&
                    takes(*bound->info, tensor.sizes(), may_vary) &&
                    same_order(tensor.dim_order(), wanted.dim_order());
  if (!fits || tensor.const_data_ptr() == nullptr) {
    PETREL_LOG(Error, "method '%s': %s %zu '%s' is %s%s, a tensor of %s%s is given%s", info_.name,
               role, index, bound->info->name, runtime::to_string(wanted.scalar_type()),
               wanted_text(*bound->info, may_vary).c_str(),
               runtime::to_string(tensor.scalar_type()), sizes_text(tensor.sizes()).c_str(),
               tensor.const_data_ptr() == nullptr ? " without data" : " or in another dim order");
    return Error::InvalidArgument;
  }
  return bound->tensor.rebind(tensor.sizes(), tensor.mutable_data_ptr(), tensor.nbytes());
}

Error CompiledMethod::set_input(size_t index, const Tensor& tensor) {
  return bind(inputs_, "input", index, tensor);
}

Error CompiledMethod::set_input(std::string_view name, const Tensor& tensor) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, input_index(name));
  return set_input(index, tensor);
}

Error CompiledMethod::resize_input(size_t index, Span<const int32_t> sizes) {
  PETREL_ASSIGN_OR_RETURN(Slot* const input, slot(inputs_, "input", index));
  if (!takes(*input->info, sizes, /*may_vary=*/true)) {
    PETREL_LOG(Error, "method '%s': input %zu '%s' takes sizes %s, %s are given", info_.name, index,
               input->info->name, wanted_text(*input->info, true).c_str(),
               sizes_text(sizes).c_str());
    return Error::InvalidArgument;
  }
  return input->tensor.resize(sizes);
}

Error CompiledMethod::set_output(size_t index, const Tensor& tensor) {
  return bind(outputs_, "output", index, tensor);
}

Error CompiledMethod::set_output(std::string_view name, const Tensor& tensor) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, output_index(name));
  return set_output(index, tensor);
}

Error CompiledMethod::failed(int32_t status) const {
  PETREL_LOG(Error, "method '%s': status %d: %s", info_.name, status, meaning(status));
  const bool is_argument = status == PETREL_MODEL_E_DATA || status == PETREL_MODEL_E_ALIAS ||
                           status == PETREL_MODEL_E_SHAPE;
  return is_argument ? Error::InvalidArgument : Error::Internal;
}

Error CompiledMethod::take_sizes() {
  if (info_.set_sizes == nullptr) return Error::Ok;
  const int32_t status = info_.set_sizes(context_, size_pointers_.data());
  return status == PETREL_MODEL_OK ? Error::Ok : failed(status);
}

Error CompiledMethod::tell_sizes() {
  for (Slot& output : outputs_) {
    if (!output.varies()) continue;
    output.info->actual_sizes(context_, output.actual.data());
    PETREL_RETURN_IF_ERROR(output.tensor.resize(Span<const int32_t>(output.actual)));
  }
  return Error::Ok;
}

// What a run begins with.
Error CompiledMethod::point_to_tensors() {
  PETREL_RETURN_IF_ERROR(take_sizes());
  for (size_t i = 0; i < inputs_.size(); ++i) input_pointers_[i] = inputs_[i].tensor.data();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    output_pointers_[i] = outputs_[i].tensor.mutable_data();
  }
  return Error::Ok;
}

Error CompiledMethod::run_steps(const std::function<void(uint32_t step)>& on_step) {
  PETREL_RETURN_IF_ERROR(point_to_tensors());
  for (uint32_t next = 0; next < info_.num_steps;) {
    const uint32_t step = next;
    const int32_t status =
        info_.run_step(context_, input_pointers_.data(), output_pointers_.data(), &next);
    if (status != PETREL_MODEL_OK) return failed(status);
    on_step(step);
  }
  return tell_sizes();
}

Error CompiledMethod::run() {
  PETREL_RETURN_IF_ERROR(point_to_tensors());
  const int32_t status = info_.run(context_, input_pointers_.data(), output_pointers_.data());
  return status == PETREL_MODEL_OK ? tell_sizes() : failed(status);
}

Result<std::vector<double>> CompiledMethod::time_evaluator(const TimePlan& plan) {
  return evaluate_time([this] { return run(); }, plan);
}

}  // namespace petrel::extension
