// SPDX-License-Identifier: Apache-2.0
//
// Functions that run around fork(), on systems that have it.
//
//   if (!add_fork_handlers(&lock, &unlock, &forget)) ...     // no room for them

#ifndef PETREL_RUNTIME_PLATFORM_FORK_HANDLERS_H_
#define PETREL_RUNTIME_PLATFORM_FORK_HANDLERS_H_

namespace petrel::runtime {

bool add_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_FORK_HANDLERS_H_
