// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "runtime/platform/processors.h"

namespace petrel::runtime {

size_t processor_quota(const char*) { return 0; }

size_t usable_processors() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace petrel::runtime
