// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/pages.h"

namespace petrel::runtime {

// Memory is what phones lack.
bool huge_pages_are_cheap() { return false; }

}  // namespace petrel::runtime
