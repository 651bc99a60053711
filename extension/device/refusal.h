// SPDX-License-Identifier: Apache-2.0
//
// What a device says instead of an answer, as a status that tells a person what to do.
//
//   refusal_status("serial:/dev/ttyACM0", payload, &detail);
//   Aborted          the device was started anew, and knows of no session
//   NotFound, ...    as the refusals of petrel_rpc_protocol.h are
#ifndef PETREL_EXTENSION_DEVICE_REFUSAL_H_
#define PETREL_EXTENSION_DEVICE_REFUSAL_H_

#include <string>

#include "absl/status/status.h"
#include "extension/device/frame.h"

namespace petrel::extension {

// `detail` may be null.
absl::Status refusal_status(const std::string& device, const Bytes& payload, uint32_t* detail);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_REFUSAL_H_
