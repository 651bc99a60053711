// SPDX-License-Identifier: Apache-2.0
//
// The cost of a loop whose sizes are those of no argument: operands that broadcast
// to each other, of [n, 1] and [1, n], are gone through n * n times.
//
//   SizeArray sizes(self.sizes());
//   if (!broadcast_sizes(&sizes, mask.sizes()) || !charge_loop(context, sizes)) return;
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_LOOP_CHARGE_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_LOOP_CHARGE_H_

#include <cstdint>

#include "runtime/core/budget.h"
#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {

// False, and the call has failed, when the execution may not do so much more, or
// there are more turns than a number holds.
inline bool charge_loop(KernelRuntimeContext& context, const SizeArray& sizes) {
  uint64_t turns = 1;
  for (size_t d = 0; d < sizes.rank; ++d) {
    if (sizes[d] != 0) turns = saturating_product(turns, static_cast<uint64_t>(sizes[d]));
  }
  return check(context, turns <= INT64_MAX, "the operands broadcast to too many elements") &&
         context.charge(turns);
}

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_LOOP_CHARGE_H_
