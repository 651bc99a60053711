// SPDX-License-Identifier: Apache-2.0
#include <sys/sysctl.h>

#include <cstddef>

#include "runtime/platform/arm64_features.h"

namespace petrel::runtime {
namespace {

bool has(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

}  // namespace

// Every arm64 processor that runs macOS has all but i8mm; macOS 11 has other names for them.
Arm64Features find_arm64_features() { return {true, true, has("hw.optional.arm.FEAT_I8MM"), true}; }

}  // namespace petrel::runtime
