// SPDX-License-Identifier: Apache-2.0
#include <sys/auxv.h>

#include "runtime/platform/arm64_features.h"

namespace petrel::runtime {

Arm64Features find_arm64_features() {
  constexpr unsigned long kFp16 = (1ul << 9) | (1ul << 10);
  constexpr unsigned long kDotProduct = 1ul << 20;
  constexpr unsigned long kSha2 = 1ul << 6;
  constexpr unsigned long kI8mm = 1ul << 13;  // of the second word
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  return {(first & kFp16) == kFp16, (first & kDotProduct) != 0, (second & kI8mm) != 0,
          (first & kSha2) != 0};
}

}  // namespace petrel::runtime
