// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "extension/diff/operator_family.h"
#include "extension/npy/tensor_array.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {
namespace {

// In logical order, as the interpreter's. The bytes are as many as the sizes say.
NpyArray array_of(const DevicePlanTensor& tensor, std::vector<int32_t> sizes, Bytes bytes) {
  std::vector<uint8_t> order = tensor.dim_order;
  std::vector<int64_t> strides(sizes.size());
  runtime::compute_strides({sizes.data(), sizes.size()}, {order.data(), order.size()},
                           strides.data());
  runtime::TensorImpl impl(tensor.type, static_cast<ssize_t>(sizes.size()), sizes.data(),
                           bytes.data(), order.data(), strides.data());
  return to_npy(runtime::Tensor(&impl));
}

// Whether what is given for the input can be read as the plan's tensor.
bool is_alike(const DeviceTensor& input, const DevicePlanTensor& tensor) {
  return input.type == tensor.type && input.sizes == tensor.sizes &&
         input.dim_order == tensor.dim_order;
}

size_t count_of(const std::vector<int32_t>& sizes) {
  size_t count = 1;
  for (const int32_t size : sizes) count *= static_cast<size_t>(size);
  return count;
}

// What a value that the interpreter made may be on a device that has room for `wanted`.
bool fits(const TraceValue& value, const std::string& op, const DevicePlanTensor& wanted) {
  if (value.op != op || value.is_input || value.array.shape.size() != wanted.sizes.size()) {
    return false;
  }
  for (size_t d = 0; d < wanted.sizes.size(); ++d) {
    if (value.array.shape[d] > wanted.sizes[d]) return false;
  }
  return true;
}

class Tracer {
 public:
  Tracer(DeviceMethod& method, const ValueTrace& here) : method_(method), here_(here) {
    for (const DeviceTensor& input : method.info().inputs) varies_ = varies_ || input.varies;
  }

  absl::StatusOr<ValueTrace> trace() {
    // A device that was started anew makes the whole run again.
    PETREL_RETURN_IF_ERROR(method_.execute_steps([&](uint32_t step) {
      if (step == 0) PETREL_RETURN_IF_ERROR(begin());
      return add(step);
    }));
    for (const auto& [tensor, place] : places_) {
      const bool is_kept =
          method_.info().tensors[tensor].alive_until + 1u == method_.info().steps.size();
      if (is_kept && !trace_.values[place].is_input) trace_.outputs.push_back(place);
    }
    return std::move(trace_);
  }

 private:
  absl::Status begin() {
    trace_ = ValueTrace();
    room_ = TraceRoom();
    places_.clear();
    next_here_ = 0;
    places_here_.clear();
    const auto& tensors = method_.info().tensors;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].written_by != 0) continue;
      TraceValue value;
      value.op = value.family = "input";
      value.is_input = true;
      PETREL_RETURN_IF_ERROR(take(0, tensors[i].bytes));
      for (size_t n = 0; n < method_.num_inputs(); ++n) {
        const DeviceTensor& input = method_.info().inputs[n];
        if (input.name != tensors[i].name || !is_alike(input, tensors[i])) continue;
        const absl::StatusOr<runtime::Tensor> given = method_.get_input(n);
        const auto* data = static_cast<const uint8_t*>(given->const_data_ptr());
        value.array = array_of(tensors[i], {given->sizes().begin(), given->sizes().end()},
                               Bytes(data, data + given->nbytes()));
        break;
      }
      value.is_seen = !value.array.data.empty();
      places_[i] = trace_.values.size();
      trace_.values.push_back(std::move(value));
    }
    return absl::OkStatus();
  }

  absl::Status take(size_t inputs, uint64_t bytes) {
    if (room_.take(inputs, bytes)) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        method_.device().name(), ": method '", method_.info().name, "' ", TraceRoom::problem()));
  }

  absl::Status add(uint32_t index) {
    const DeviceStep& step = method_.info().steps[index];
    std::vector<size_t> inputs;
    std::set<size_t> known;
    for (const uint16_t tensor : step.reads) {
      const auto found = places_.find(tensor);
      if (found == places_.end() || !known.insert(found->second).second) continue;
      inputs.push_back(found->second);
    }
    const std::string place =
        step.source.empty() ? step.name : absl::StrCat(step.name, ", ", step.source);
    for (const uint16_t tensor : step.writes) {
      const DevicePlanTensor& wanted = method_.info().tensors[tensor];
      const std::vector<int32_t> sizes = sizes_of(tensor, step.kernel, wanted);
      const size_t most = std::max<size_t>(count_of(wanted.sizes), 1);
      const size_t size = wanted.bytes / most * count_of(sizes);
      PETREL_RETURN_IF_ERROR(take(inputs.size(), place.size() + step.kernel.size() + size));
      TraceValue value;
      value.place = place;
      value.op = step.kernel;
      value.family = operator_family(step.kernel);
      value.inputs = inputs;
      value.is_rounded = absl::StartsWith(step.kernel, "quantized_decomposed::");
      for (const size_t input : inputs) {
        value.is_rounded = value.is_rounded || trace_.values[input].is_rounded;
      }
      PETREL_ASSIGN_OR_RETURN(
          Bytes bytes, method_.device().read({PETREL_RPC_TENSOR, method_.index(), tensor}, size));
      value.array = array_of(wanted, sizes, std::move(bytes));
      places_[tensor] = trace_.values.size();
      trace_.values.push_back(std::move(value));
    }
    return absl::OkStatus();
  }

  // Those of the next value that the same operator made here, in a loop the same instruction; else
  // the largest.
  std::vector<int32_t> sizes_of(uint16_t tensor, const std::string& op,
                                const DevicePlanTensor& wanted) {
    std::string& place = places_here_[tensor];
    for (size_t i = next_here_; varies_ && i < here_.values.size(); ++i) {
      const TraceValue& value = here_.values[i];
      if (!fits(value, op, wanted) || (!place.empty() && value.place != place)) continue;
      next_here_ = i + 1;
      place = value.place;
      return {value.array.shape.begin(), value.array.shape.end()};
    }
    return wanted.sizes;
  }

  DeviceMethod& method_;
  const ValueTrace& here_;
  size_t next_here_ = 0;                         // among its values
  std::map<uint16_t, std::string> places_here_;  // of what made them here, by tensor
  bool varies_ = false;
  ValueTrace trace_;
  TraceRoom room_;
  std::map<size_t, size_t> places_;  // of tensors in the trace
};

}  // namespace

absl::StatusOr<ValueTrace> trace_device(DeviceMethod& method, const ValueTrace& here) {
  return Tracer(method, here).trace();
}

}  // namespace petrel::extension
