// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "runtime/platform/fork_handlers.h"

namespace petrel::runtime {

bool add_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  return pthread_atfork(before, in_parent, in_child) == 0;
}

}  // namespace petrel::runtime
