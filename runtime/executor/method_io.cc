// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of a Method.

#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/executor/method.h"
#include "runtime/executor/method_step.h"
#include "runtime/executor/program.h"

namespace petrel::runtime {

namespace {

const EValue kNone;

// Numbers are baked into the program; a caller's may differ by rounding.
bool is_close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <= 1e-4 + 1e-5 * std::fabs(b);
}

bool equals_baked_value(const EValue& given, const EValue& baked) {
  switch (baked.tag) {
    case Tag::None:
      return true;
    case Tag::Int:
      return given.toInt() == baked.toInt();
    case Tag::Bool:
      return given.toBool() == baked.toBool();
    case Tag::Double:
      return is_close(given.toDouble(), baked.toDouble());
    case Tag::String:
      return given.toString() == baked.toString();
    default:
      return false;
  }
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && first < second + b_bytes && second < first + a_bytes;
}

// An empty dim order stands for contiguous.
bool same_dim_order(const Tensor& a, const Tensor& b) {
  const bool a_contiguous = is_contiguous_dim_order(a.dim_order());
  const bool b_contiguous = is_contiguous_dim_order(b.dim_order());
  return a_contiguous || b_contiguous ? a_contiguous && b_contiguous
                                      : equal(a.dim_order(), b.dim_order());
}

}  // namespace

std::string_view Method::value_name(uint32_t value) const {
  const std::string_view name = declared_.value(value).tensor_name();
  return name.empty() ? program_->additions().constant_name(declared_.index(), value) : name;
}

std::string_view Method::external_key(uint32_t value) const {
  const TensorView tensor = *declared_.value(value).as_tensor();
  return tensor.is_external ? tensor.name : value_name(value);
}

Span<MethodExternalTensor> Method::tensors_of(const MethodExternal& external) const {
  return external_tensors_.slice(external.first, external.count);
}

Result<Tensor> Method::get_attribute(std::string_view name) const {
  const int shown = static_cast<int>(name.size() < 128 ? name.size() : 128);
  for (uint32_t i = 0; !name.empty() && i < declared_.num_values(); ++i) {
    if (value_name(i) != name || !values_[i].isTensor()) continue;
    const Tensor tensor = values_[i].toTensor();
    if (tensor.const_data_ptr() != nullptr || tensor.nbytes() == 0) return tensor;
    PETREL_LOG(Error, "\"%.*s\" of method \"%.64s\" has no memory between executions", shown,
               name.data(), declared_.name().data());
    return Error::InvalidState;
  }
  PETREL_LOG(Error, "method \"%.64s\" has no weight or state \"%.*s\"", declared_.name().data(),
             shown, name.data());
  return Error::NotFound;
}

size_t Method::inputs_size() const { return declared_.inputs().size(); }

size_t Method::outputs_size() const { return declared_.outputs().size(); }

size_t Method::input_value(size_t index) const {
  return static_cast<size_t>(declared_.inputs()[index]);
}

size_t Method::output_value(size_t index) const {
  return static_cast<size_t>(declared_.outputs()[index]);
}

Error Method::check_bound() const {
  for (size_t i = 0; i < input_set_.size(); ++i) {
    if (input_set_[i]) continue;
    PETREL_LOG(Error, "input %zu of method \"%.64s\" has not been set", i, declared_.name().data());
    return Error::InvalidArgument;
  }
  for (const CallersTensor& output : callers_outputs_) {
    if (output.is_moved || output.impl->data() != nullptr || output.impl->nbytes() == 0) continue;
    PETREL_LOG(Error, "output %zu of method \"%.64s\" has been given no memory", output.index,
               declared_.name().data());
    return Error::InvalidState;
  }
  return Error::Ok;
}

Error Method::check_late_outputs() const {
  for (const LateOutput& output : late_outputs_) {
    const Result<Tensor> tensor = output.value->tryToTensor();
    if (tensor.ok() && (tensor->const_data_ptr() != nullptr || tensor->nbytes() == 0)) continue;
    PETREL_LOG(Error, "output %zu of method \"%.64s\" was not made: no instruction came to do it",
               output.index, declared_.name().data());
    return Error::InvalidState;
  }
  return Error::Ok;
}

// A view of what the last execution had, memory of the caller perhaps, is none of
// what this one has.
void Method::forget(Span<TensorImpl*> views) {
  for (TensorImpl* const view : views) {
    view->set_constant(false);
    static_cast<void>(view->set_data(nullptr, 0));
  }
}

void Method::unbind_inputs() {
  for (const CallersTensor& input : callers_inputs_) {
    static_cast<void>(input.impl->set_data(nullptr, 0));
    input_set_[input.index] = false;
  }
  forget(views_of_inputs_);
}

// What a program writes lies apart from the rest of a call (aliases.h), and so
// must the memory that only the caller knows.
Error Method::check_apart(const void* data, size_t nbytes, const TensorImpl* own, bool is_written,
                          const char* what, size_t index) const {
  const HierarchicalAllocator* const arenas = memory_->planned_memory();
  for (size_t i = 0; arenas != nullptr && i < arenas->num_buffers(); ++i) {
    const Span<uint8_t> arena = arenas->buffer(i);
    if (!overlap(data, nbytes, arena.data(), arena.size())) continue;
    PETREL_LOG(Error, "%s %zu lies in memory that the method plans; copy it", what, index);
    return Error::InvalidArgument;
  }
  for (const CallersTensor& output : callers_outputs_) {
    if (output.impl == own ||
        !overlap(data, nbytes, output.impl->data(), output.impl->capacity())) {
      continue;
    }
    PETREL_LOG(Error, "%s %zu lies in the memory of output %zu", what, index, output.index);
    return Error::InvalidArgument;
  }
  if (!is_written) return Error::Ok;
  for (const CallersTensor& input : callers_inputs_) {
    if (input.impl == own || !overlap(data, nbytes, input.impl->data(), input.impl->capacity())) {
      continue;
    }
    PETREL_LOG(Error, "%s %zu lies in the memory of input %zu", what, index, input.index);
    return Error::InvalidArgument;
  }
  return Error::Ok;
}

Error Method::set_input(const EValue& value, size_t index) {
  if (stepping_) {
    PETREL_LOG(Error, "input %zu cannot be set while the method is being stepped through", index);
    return Error::InvalidState;
  }
  if (index >= inputs_size()) {
    PETREL_LOG(Error, "input %zu of method \"%.64s\" cannot be set, there are %zu", index,
               declared_.name().data(), inputs_size());
    return Error::InvalidArgument;
  }
  const size_t value_index = input_value(index);
  const EValue& current = values_[value_index];
  if (value.tag != current.tag) {
    PETREL_LOG(Error, "input %zu is %s, must be %s", index, to_string(value.tag),
               to_string(current.tag));
    return Error::InvalidArgument;
  }
  if (value.isTensor()) {
    PETREL_RETURN_IF_ERROR(set_tensor_input(value.toTensor(), value_index, index));
  } else if (!equals_baked_value(value, current)) {
    PETREL_LOG(Error, "input %zu, a %s, must have the value that the program was made with", index,
               to_string(value.tag));
    return Error::InvalidArgument;
  }
  input_set_[index] = true;
  return Error::Ok;
}

Error Method::set_tensor_input(const Tensor& from, size_t value_index, size_t index) {
  // A value is a tensor if it is declared as one, whatever is moved there.
  const std::optional<TensorView> declared =
      declared_.value(static_cast<uint32_t>(value_index)).as_tensor();
  const Tensor to = values_[value_index].toTensor();
  if (to.is_constant()) {
    PETREL_LOG(Error, "input %zu is a constant of the program and cannot be set", index);
    return Error::InvalidState;
  }
  if (!from.impl()->is_consistent()) {
    PETREL_LOG(Error, "input %zu has impossible sizes, dim order or type", index);
    return Error::InvalidArgument;
  }
  if (from.scalar_type() != to.scalar_type()) {
    PETREL_LOG(Error, "input %zu is %s, must be %s", index, to_string(from.scalar_type()),
               to_string(to.scalar_type()));
    return Error::InvalidArgument;
  }
  if (from.dim() != to.dim()) {
    PETREL_LOG(Error, "input %zu has rank %zd, must have rank %zd", index, from.dim(), to.dim());
    return Error::InvalidArgument;
  }
  if (!same_dim_order(from, to)) {
    PETREL_LOG(Error, "input %zu has another dim order than the program expects", index);
    return Error::InvalidArgument;
  }
  if (from.const_data_ptr() == nullptr && from.nbytes() != 0) {
    PETREL_LOG(Error, "input %zu has no data", index);
    return Error::InvalidArgument;
  }
  if (declared->dynamism == TensorShapeDynamism::DYNAMIC_BOUND) {
    // Fewer elements would fit, but what is made of them was planned for these.
    for (ssize_t dim = 0; dim < from.dim(); ++dim) {
      const int32_t most = declared->sizes[static_cast<size_t>(dim)];
      const int32_t least =
          program_->additions().least_size(declared_.index(), index, static_cast<size_t>(dim));
      if (from.size(dim) >= least && from.size(dim) <= most) continue;
      PETREL_LOG(Error, "input %zu has size %zd in dim %zd, must be in [%d, %d]", index,
                 static_cast<ssize_t>(from.size(dim)), dim, least, most);
      return Error::NotSupported;
    }
  }
  Error error = Error::Ok;
  if (!declared->is_planned()) {
    error = check_apart(from.const_data_ptr(), from.nbytes(), to.impl(),
                        program_->options().writable_inputs, "input", index);
    if (error != Error::Ok) return error;
    error = to.impl()->rebind(from.sizes(), from.mutable_data_ptr(), from.nbytes());
  } else {
    error = resize_tensor(to, from.sizes());
    // The caller may pass the planned tensor itself.
    if (error == Error::Ok) error = copy_bytes(from, to);
  }
  if (error != Error::Ok) PETREL_LOG(Error, "input %zu does not fit", index);
  return error;
}

Error Method::set_inputs(Span<const EValue> values) {
  if (values.size() != inputs_size()) {
    PETREL_LOG(Error, "%zu inputs were given, method \"%.64s\" has %zu", values.size(),
               declared_.name().data(), inputs_size());
    return Error::InvalidArgument;
  }
  for (size_t i = 0; i < values.size(); ++i) PETREL_RETURN_IF_ERROR(set_input(values[i], i));
  return Error::Ok;
}

const EValue& Method::get_input(size_t index) const {
  return index < inputs_size() ? values_[input_value(index)] : kNone;
}

Error Method::get_inputs(EValue* out_values, size_t length) const {
  if (length < inputs_size()) {
    PETREL_LOG(Error, "room for %zu inputs was given, there are %zu", length, inputs_size());
    return Error::InvalidArgument;
  }
  for (size_t i = 0; i < length; ++i) out_values[i] = get_input(i);
  return Error::Ok;
}

Error Method::set_output_data_ptr(void* buffer, size_t size, size_t index) {
  if (stepping_) {
    PETREL_LOG(Error, "output %zu cannot be set while the method is being stepped through", index);
    return Error::InvalidState;
  }
  if (index >= outputs_size()) {
    PETREL_LOG(Error, "output %zu of method \"%.64s\" cannot be set, there are %zu", index,
               declared_.name().data(), outputs_size());
    return Error::InvalidArgument;
  }
  const size_t value_index = output_value(index);
  const std::optional<TensorView> declared =
      declared_.value(static_cast<uint32_t>(value_index)).as_tensor();
  const EValue& value = values_[value_index];
  if (!declared.has_value()) {
    PETREL_LOG(Error, "output %zu is %s, not a tensor", index, to_string(value.tag));
    return Error::InvalidArgument;
  }
  if (declared->is_planned() || declared->is_constant()) {
    PETREL_LOG(Error, "output %zu lies in memory of the %s", index,
               declared->is_constant() ? "program" : "plan");
    return Error::InvalidState;
  }
  if (buffer == nullptr) {
    PETREL_LOG(Error, "output %zu was given no memory", index);
    return Error::InvalidArgument;
  }
  // Not what has been moved to it: that lies elsewhere, and stays there.
  const CallersTensor* const own =
      std::lower_bound(callers_outputs_.begin(), callers_outputs_.end(), index,
                       [](const CallersTensor& output, size_t i) { return output.index < i; });
  if (own == callers_outputs_.end() || own->index != index) return Error::Ok;  // a view
  PETREL_RETURN_IF_ERROR(
      check_apart(buffer, size, own->impl, /*is_written=*/true, "output", index));
  PETREL_RETURN_IF_ERROR(own->impl->set_data(buffer, size));
  // They lie in the memory that it had.
  forget(views_of_outputs_);
  return Error::Ok;
}

const EValue& Method::get_output(size_t index) const {
  return index < outputs_size() ? values_[output_value(index)] : kNone;
}

Error Method::get_outputs(EValue* out_values, size_t length) const {
  if (length < outputs_size()) {
    PETREL_LOG(Error, "room for %zu outputs was given, there are %zu", length, outputs_size());
    return Error::InvalidArgument;
  }
  for (size_t i = 0; i < length; ++i) out_values[i] = get_output(i);
  return Error::Ok;
}

}  // namespace petrel::runtime
