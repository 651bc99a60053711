// SPDX-License-Identifier: Apache-2.0
//
// What XNNPACK allocates in a call is paid for: by counts of what it will need, which were paid
// before, or else by the budget; where that does not suffice it gets no memory. So what no count
// knows of is paid as well.
//
//   PaidCall call(counted_bytes, memory);
//   const xnn_status status = xnn_create_runtime_v4(...);
//   if (call.was_refused()) return Error::OutOfResources;
//
// Of the thread that makes it, in which XNNPACK allocates. What a call frees counts for it.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_PAID_CALL_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_PAID_CALL_H_

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>

#include "runtime/core/budget.h"

namespace petrel::backends::xnnpack {

// For xnn_initialize. Without a call of this thread it refuses nothing.
const xnn_allocator* paying_allocator();

class PaidCall {
 public:
  // `counted` bytes are paid for; `memory` pays for more, and is null where nothing limits it.
  PaidCall(uint64_t counted, runtime::Budget* memory);
  ~PaidCall();
  PaidCall(const PaidCall&) = delete;
  PaidCall& operator=(const PaidCall&) = delete;

  // More is paid for.
  void allow(uint64_t bytes) { paid_ = runtime::saturating_sum(paid_, bytes); }
  bool was_refused() const { return was_refused_; }

  // For the allocator: before `bytes` are taken, whether they may be, and after they were freed.
  bool take(uint64_t bytes);
  void give(uint64_t bytes) { taken_ -= bytes < taken_ ? bytes : taken_; }

 private:
  uint64_t paid_;
  uint64_t taken_ = 0;
  runtime::Budget* const memory_;
  bool was_refused_ = false;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_PAID_CALL_H_
