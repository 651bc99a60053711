// SPDX-License-Identifier: Apache-2.0
//
// Whether a device has the parameters of a program: those of floats, by their CRC. Integers are
// packed for the kernels of a device, and are not compared.
//
//   other_parameters(device, program->constants());   // {"conv1.weight"}
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_PARAMS_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_PARAMS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/constant.h"
#include "extension/device/device.h"

namespace petrel::extension {

// The names, as in the archive, of those that the device knows and has with other bytes.
absl::StatusOr<std::vector<std::string>> other_parameters(
    Device& device, const std::vector<exir::ConstantPtr>& constants);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_PARAMS_H_
