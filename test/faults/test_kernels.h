// SPDX-License-Identifier: Apache-2.0
//
// What the golden programs run with. There are two implementations, of which
// a test links one:
//
//   test_kernels.cc  the few kernels that they call, for float32 and as small as
//                    can be, and a backend that stands in for the delegates: it
//                    reads every named blob it can find and fills its outputs
//                    with 0.5. Tests of the runtime so depend on no kernels.
//   real_kernels.cc  the portable kernels and the XNNPACK backend.

#ifndef PETREL_TEST_FAULTS_TEST_KERNELS_H_
#define PETREL_TEST_FAULTS_TEST_KERNELS_H_

#include <optional>

#include "runtime/executor/registry.h"

namespace petrel::faults {

const runtime::Registry& test_registry();

// What the backend writes instead of the right values; none if it is real.
std::optional<float> backend_output();

// Handles of the backend that exist now; 0 if it is real.
int live_handles();

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_TEST_KERNELS_H_
