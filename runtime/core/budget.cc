// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/budget.h"

#include <cinttypes>

#include "runtime/core/log.h"

namespace petrel::runtime {

Error Budget::refuse(const char* who, uint64_t units) const {
  PETREL_LOG(Error,
             "%s needs %" PRIu64 " of %s, which is %" PRIu64 ", of which %" PRIu64 " are left", who,
             units, name_, limit_, left_);
  return Error::OutOfResources;
}

}  // namespace petrel::runtime
