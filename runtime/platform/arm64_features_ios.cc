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

// iOS 15 runs on processors that have none of these, and knows all by these names.
Arm64Features find_arm64_features() {
  return {has("hw.optional.arm.FEAT_FP16"), has("hw.optional.arm.FEAT_DotProd"),
          has("hw.optional.arm.FEAT_I8MM"), has("hw.optional.arm.FEAT_SHA256")};
}

}  // namespace petrel::runtime
