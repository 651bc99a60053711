// SPDX-License-Identifier: Apache-2.0
#include "test/faults/test_kernels.h"

namespace petrel::faults {

const runtime::Registry& test_registry() { return runtime::default_registry(); }

std::optional<float> backend_output() { return std::nullopt; }

int live_handles() { return 0; }

}  // namespace petrel::faults
