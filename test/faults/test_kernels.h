// SPDX-License-Identifier: Apache-2.0
//
// The few kernels that the golden programs call, for float32 and as small as
// can be, and a backend that stands in for the delegates: it reads every named
// blob it can find and fills its outputs with 0.5. Tests of the runtime so
// depend on no kernel library.

#ifndef PETREL_TEST_FAULTS_TEST_KERNELS_H_
#define PETREL_TEST_FAULTS_TEST_KERNELS_H_

#include "runtime/executor/registry.h"

namespace petrel::faults {

const runtime::Registry& test_registry();

// What the backend writes.
inline constexpr float kBackendOutput = 0.5f;

// Handles of the backend that exist now.
int live_handles();

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_TEST_KERNELS_H_
