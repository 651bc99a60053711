// SPDX-License-Identifier: Apache-2.0
//
// Device as ExecuTorch's apps name it where they make tensors:
//
//   from_blob(pixels, {1, 3, 224, 224}, ScalarType::Float, Device(DeviceType::CPU));
//
// Petrel computes on the CPU; what is asked for on another device is refused.
#ifndef PETREL_EXTENSION_PORTING_DEVICE_H_
#define PETREL_EXTENSION_PORTING_DEVICE_H_

#include <cstdint>

namespace petrel::porting::aten {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
using DeviceIndex = int8_t;

class Device final {
 public:
  using Type = DeviceType;

  Device(DeviceType type, DeviceIndex index = 0) : type_(type), index_(index) {}

  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

}  // namespace petrel::porting::aten

#endif  // PETREL_EXTENSION_PORTING_DEVICE_H_
