// SPDX-License-Identifier: Apache-2.0
//
// What an arm64 processor can do beyond ARMv8.0, as far as the system tells programs.
//
//   if (find_arm64_features().dot_product) ...

#ifndef PETREL_RUNTIME_PLATFORM_ARM64_FEATURES_H_
#define PETREL_RUNTIME_PLATFORM_ARM64_FEATURES_H_

namespace petrel::runtime {

struct Arm64Features {
  bool fp16;  // of vectors and scalars
  bool dot_product;
  bool i8mm;
  bool sha2;
};

Arm64Features find_arm64_features();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_ARM64_FEATURES_H_
