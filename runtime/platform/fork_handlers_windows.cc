// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/fork_handlers.h"

namespace petrel::runtime {

// There is no fork().
bool add_fork_handlers(void (*)(), void (*)(), void (*)()) { return true; }

}  // namespace petrel::runtime
