// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_trace.h"

#include <algorithm>
#include <map>
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
NpyArray array_of(const DevicePlanTensor& tensor, Bytes bytes) {
  std::vector<int32_t> sizes = tensor.sizes;
  std::vector<uint8_t> order = tensor.dim_order;
  std::vector<int64_t> strides(sizes.size());
  runtime::compute_strides({sizes.data(), sizes.size()}, {order.data(), order.size()},
                           strides.data());
  runtime::TensorImpl impl(tensor.type, static_cast<ssize_t>(sizes.size()), sizes.data(),
                           bytes.data(), order.data(), strides.data());
  return to_npy(runtime::Tensor(&impl));
}

class Tracer {
 public:
  explicit Tracer(DeviceMethod& method) : method_(method) {}

  absl::StatusOr<ValueTrace> trace() {
    for (const DeviceTensor& input : method_.info().inputs) {
      if (input.varies) {
        return absl::UnimplementedError(
            absl::StrCat("input '", input.name,
                         "' has sizes that vary: such methods cannot be "
                         "compared on a device yet"));
      }
    }
    // A device that was started anew makes the whole run again.
    PETREL_RETURN_IF_ERROR(method_.execute_steps([&](uint32_t step) {
      if (step == 0) begin();
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
  void begin() {
    trace_ = ValueTrace();
    places_.clear();
    const auto& tensors = method_.info().tensors;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].written_by != 0) continue;
      TraceValue value;
      value.op = value.family = "input";
      value.is_input = true;
      for (size_t n = 0; n < method_.num_inputs(); ++n) {
        const DeviceTensor& input = method_.info().inputs[n];
        if (input.name != tensors[i].name || input.bytes != tensors[i].bytes) continue;
        const auto* data = static_cast<const uint8_t*>(method_.get_input(n)->const_data_ptr());
        value.array = array_of(tensors[i], Bytes(data, data + input.bytes));
      }
      value.is_seen = !value.array.data.empty();
      places_[i] = trace_.values.size();
      trace_.values.push_back(std::move(value));
    }
  }

  absl::Status add(uint32_t index) {
    const DeviceStep& step = method_.info().steps[index];
    std::vector<size_t> inputs;
    for (const uint16_t tensor : step.reads) {
      const auto found = places_.find(tensor);
      if (found != places_.end()) inputs.push_back(found->second);
    }
    for (const uint16_t tensor : step.writes) {
      const DevicePlanTensor& wanted = method_.info().tensors[tensor];
      TraceValue value;
      value.place = step.source.empty() ? step.name : absl::StrCat(step.name, ", ", step.source);
      value.op = step.kernel;
      value.family = operator_family(step.kernel);
      value.inputs = inputs;
      value.is_rounded = absl::StartsWith(step.kernel, "quantized_decomposed::");
      for (const size_t input : inputs) {
        value.is_rounded = value.is_rounded || trace_.values[input].is_rounded;
      }
      PETREL_ASSIGN_OR_RETURN(
          Bytes bytes,
          method_.device().read({PETREL_RPC_TENSOR, method_.index(), tensor}, wanted.bytes));
      value.array = array_of(wanted, std::move(bytes));
      places_[tensor] = trace_.values.size();
      trace_.values.push_back(std::move(value));
    }
    return absl::OkStatus();
  }

  DeviceMethod& method_;
  ValueTrace trace_;
  std::map<size_t, size_t> places_;  // of tensors in the trace
};

}  // namespace

absl::StatusOr<ValueTrace> trace_device(DeviceMethod& method) { return Tracer(method).trace(); }

}  // namespace petrel::extension
