// SPDX-License-Identifier: Apache-2.0
//
// KernelRuntimeContext: what a kernel gets besides its arguments: a way to
// fail, temporary memory and the tracer. Lives during one call.
//
//   void add_out(KernelRuntimeContext& context, Span<EValue*> args) {
//     ...
//     if (sizes_do_not_broadcast) return context.fail(Error::InvalidArgument);
//   }

#ifndef PETREL_RUNTIME_KERNEL_KERNEL_RUNTIME_CONTEXT_H_
#define PETREL_RUNTIME_KERNEL_KERNEL_RUNTIME_CONTEXT_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/budget.h"
#include "runtime/core/error.h"
#include "runtime/core/event_tracer.h"
#include "runtime/core/memory_allocator.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

class KernelRuntimeContext final {
 public:
  explicit KernelRuntimeContext(EventTracer* event_tracer = nullptr,
                                MemoryAllocator* temp_allocator = nullptr,
                                const char* kernel_name = "kernel", Span<uint8_t> scratch = {},
                                Budget* work = nullptr)
      : event_tracer_(event_tracer),
        temp_allocator_(temp_allocator),
        kernel_name_(kernel_name),
        scratch_(scratch),
        work_(work) {}
  KernelRuntimeContext(const KernelRuntimeContext&) = delete;
  KernelRuntimeContext& operator=(const KernelRuntimeContext&) = delete;

  // Marks the call as failed; the first error counts. The method stops when
  // the kernel returns.
  void fail(Error error) {
    if (failure_state_ == Error::Ok) failure_state_ = error;
  }
  Error failure_state() const { return failure_state_; }

  // Pays for work beyond one pass over each argument, such as the multiply-adds of
  // a matrix product, before it is done: the product of the counts, in which 0
  // counts as 1. False, and the call has failed, when that is more than the
  // execution may still do.
  bool charge(uint64_t count, uint64_t of = 1, uint64_t each = 1);

  // Memory until the kernel returns: from the scratch memory that the program
  // planned for this call as long as that lasts, then from the temporary
  // allocator. NotSupported when the application gave none,
  // MemoryAllocationFailed when it has no more. Does not fail the call by itself.
  Result<void*> allocate_temp(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment);

  // The same for kernels that can do without: null where there is none.
  void* try_allocate_temp(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment);

  // May be null.
  EventTracer* event_tracer() const { return event_tracer_; }

  // "aten::add.out", for messages.
  const char* kernel_name() const { return kernel_name_; }

 private:
  void* take_scratch(size_t size, size_t alignment);

  EventTracer* event_tracer_;
  MemoryAllocator* temp_allocator_;
  const char* kernel_name_;
  Span<uint8_t> scratch_;  // what is left of it
  Budget* work_;           // null: without end
  Error failure_state_ = Error::Ok;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNEL_KERNEL_RUNTIME_CONTEXT_H_
