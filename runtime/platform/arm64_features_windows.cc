// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include "runtime/platform/arm64_features.h"

namespace petrel::runtime {

// Headers know only the older of these numbers; an older Windows says no to the newer.
Arm64Features find_arm64_features() {
  constexpr DWORD kCrypto = 30;
  constexpr DWORD kDotProduct = 43;
  constexpr DWORD kI8mm = 66;
  constexpr DWORD kFp16 = 67;
  const auto has = [](DWORD feature) { return IsProcessorFeaturePresent(feature) != 0; };
  return {has(kFp16), has(kDotProduct), has(kI8mm), has(kCrypto)};
}

}  // namespace petrel::runtime
