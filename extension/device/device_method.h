// SPDX-License-Identifier: Apache-2.0
//
// DeviceMethod: a method that runs on a device, used as one that runs here
// (extension/compiled/compiled_method.h).
//
//   PETREL_RETURN_IF_ERROR(method->set_input("image", image));
//   PETREL_RETURN_IF_ERROR(method->execute());
//   PETREL_ASSIGN_OR_RETURN(Tensor scores, method->get_output(0));
//
// Inputs and outputs lie in memory of its own; execute() carries them over. When the device is
// started anew meanwhile, the call is made again, unless the model has state, which is lost.
// Tensors are called by their names in the model or in C.
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_METHOD_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_METHOD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "extension/device/device.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {

// Told after each step: its index.
using OnDeviceStep = std::function<absl::Status(uint32_t step)>;

class DeviceMethod {
 public:
  DeviceMethod(Device& device, uint8_t index);
  DeviceMethod(const DeviceMethod&) = delete;
  DeviceMethod& operator=(const DeviceMethod&) = delete;

  const std::string& name() const { return info_.name; }
  const DeviceMethodInfo& info() const { return info_; }
  Device& device() { return device_; }
  uint8_t index() const { return index_; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }

  // NotFound, with the names that there are.
  absl::StatusOr<size_t> input_index(std::string_view name) const;
  absl::StatusOr<size_t> output_index(std::string_view name) const;

  // To be written; 0 at first. Stays valid until sizes change.
  absl::StatusOr<runtime::Tensor> get_input(size_t index);
  absl::StatusOr<runtime::Tensor> get_input(std::string_view name);
  // Copies. InvalidArgument for another dtype, other sizes or another dim order.
  absl::Status set_input(size_t index, const runtime::Tensor& tensor);
  absl::Status set_input(std::string_view name, const runtime::Tensor& tensor);
  // Of the last execute().
  absl::StatusOr<runtime::Tensor> get_output(size_t index);
  absl::StatusOr<runtime::Tensor> get_output(std::string_view name);

  // One run, by the device alone.
  absl::Status execute();
  // The same step by step, driven from here.
  absl::Status execute_steps(const OnDeviceStep& on_step);
  // Sizes and inputs, without a run.
  absl::Status upload();

 private:
  struct Slot {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    std::vector<int64_t> strides;
    std::vector<uint64_t> data;  // aligned for every type
    std::unique_ptr<runtime::TensorImpl> impl;
  };
  void make(const DeviceTensor& tensor, Slot* slot);
  absl::Status resize(const DeviceTensor& tensor, std::vector<int32_t> sizes, Slot* slot);
  absl::StatusOr<size_t> find(const std::vector<DeviceTensor>& tensors, const char* role,
                              std::string_view name) const;
  absl::Status check_index(size_t index, size_t count, const char* role) const;
  absl::Status call(const std::function<absl::Status()>& run);
  absl::Status download();

  Device& device_;
  const DeviceMethodInfo& info_;
  const uint8_t index_;
  std::vector<Slot> inputs_, outputs_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_METHOD_H_
