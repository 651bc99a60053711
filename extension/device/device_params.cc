// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_params.h"

#include <cstddef>
#include <cstdint>
#include <set>

#include "exir/ir/blob.h"
#include "exir/ir/scalar_type.h"
#include "extension/device/frame.h"

namespace petrel::extension {
namespace {

constexpr size_t kIdBytes = 4;
constexpr int kCrcBits = 32;

// As generated C has it: the first bytes of the digest of the name.
uint32_t id_of(const std::string& name) {
  const auto digest = exir::sha256_of({reinterpret_cast<const uint8_t*>(name.data()), name.size()});
  uint32_t id = 0;
  for (size_t i = 0; i < kIdBytes; ++i) id = id << 8 | digest[i];
  return id;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> other_parameters(
    Device& device, const std::vector<exir::ConstantPtr>& constants) {
  std::vector<std::string> others;
  std::set<std::string> known;
  for (const exir::ConstantPtr& constant : constants) {
    const bool is_asked = exir::is_floating_point(constant->type.dtype) &&
                          !constant->is_mutable() && known.insert(constant->fqn).second;
    if (!is_asked) continue;
    const absl::StatusOr<DeviceParam> there = device.lookup_param(id_of(constant->fqn));
    if (absl::IsUnimplemented(there.status())) break;  // it has no plan, and knows no names
    if (absl::IsNotFound(there.status())) continue;
    if (!there.ok()) return there.status();
    const exir::Blob::Bytes bytes = constant->data.bytes();
    if (there->bytes != bytes.size() || there->crc != device_crc(bytes.span(), kCrcBits)) {
      others.push_back(constant->sources()[0]);
    }
  }
  return others;
}

}  // namespace petrel::extension
