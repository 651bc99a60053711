// SPDX-License-Identifier: Apache-2.0
//
// What a device tells of its model: the metadata and the plan of a generated package, as the
// INFO message carries them.
//
//   PETREL_ASSIGN_OR_RETURN(const DeviceInfo info, parse_device_info("serial:...", bytes));
//   info.methods[0].inputs[0].name
//
// Invariant: sizes agree with bytes, and indices of tensors, pools and steps are in range,
// whatever the bytes say. Owns all of it.
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_INFO_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_INFO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/core/scalar_type.h"

namespace petrel::extension {

struct DeviceTensor {
  std::string name;
  std::string c_name;
  runtime::ScalarType type = runtime::ScalarType::Byte;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  size_t bytes = 0;
  std::vector<int32_t> least_sizes;  // empty where none varies
  bool varies = false;
};

struct DevicePool {
  std::string name;
  size_t bytes = 0;
  bool is_kept = false;
};

// Of the plan.
struct DevicePlanTensor {
  std::string name;
  runtime::ScalarType type = runtime::ScalarType::Byte;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  uint16_t pool = 0;
  size_t offset = 0;
  size_t bytes = 0;
  uint16_t written_by = 0;
  uint16_t alive_until = 0;
};

struct DeviceStep {
  std::string name;
  std::string kernel;
  std::string source;
  std::vector<uint16_t> reads;
  std::vector<uint16_t> writes;
};

struct DeviceMethodInfo {
  std::string name;
  std::vector<DeviceTensor> inputs;
  std::vector<DeviceTensor> outputs;
  size_t arena_bytes = 0;
  bool keeps_inputs = false;
  std::vector<DevicePlanTensor> tensors;  // empty without a plan
  std::vector<DeviceStep> steps;
};

struct DeviceInfo {
  std::string board;
  std::string model;
  std::string sha256;
  size_t constant_bytes = 0;
  std::vector<DevicePool> pools;
  std::vector<DeviceMethodInfo> methods;

  bool has_state() const;
};

// DataLoss for bytes that make no sense, or inputs and outputs of more than `max_input_bytes`;
// messages begin with `device`.
absl::StatusOr<DeviceInfo> parse_device_info(const std::string& device,
                                             absl::Span<const uint8_t> bytes,
                                             uint64_t max_input_bytes = uint64_t{1} << 30);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_INFO_H_
