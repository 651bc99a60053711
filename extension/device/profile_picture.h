// SPDX-License-Identifier: Apache-2.0
//
// How long the steps of a method take on a device as a picture: one row for each, in their order,
// with a bar as long as its share of the longest.
//
//   profile_svg(*method, steps, device.hello().timer_hz)      a whole SVG document
#ifndef PETREL_EXTENSION_DEVICE_PROFILE_PICTURE_H_
#define PETREL_EXTENSION_DEVICE_PROFILE_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "extension/device/device_time.h"

namespace petrel::extension {

std::string profile_svg(const DeviceMethod& method, const std::vector<DeviceStepTime>& steps,
                        uint32_t timer_hz);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_PROFILE_PICTURE_H_
