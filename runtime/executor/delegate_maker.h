// SPDX-License-Identifier: Apache-2.0
//
// DelegateMaker: gives a payload to its backend and keeps the handle, when a method
// is made and when other data takes the place of what a delegate has.
//
//   const DelegateMaker maker(program, declared, allocator, tracer, data_map, options);
//   PETREL_RETURN_IF_ERROR(maker.make(index, &budget, &delegate));
//
// Owns nothing: what it makes lies in the allocator and goes with the delegate.

#ifndef PETREL_RUNTIME_EXECUTOR_DELEGATE_MAKER_H_
#define PETREL_RUNTIME_EXECUTOR_DELEGATE_MAKER_H_

#include "runtime/core/budget.h"
#include "runtime/executor/method_step.h"
#include "runtime/executor/program.h"

namespace petrel::runtime {

class DelegateMaker final {
 public:
  // Tracer, data map and options may be null.
  DelegateMaker(const Program& program, const MethodView& declared, MemoryAllocator* allocator,
                EventTracer* event_tracer, const NamedDataMap* data_map,
                const LoadBackendOptionsMap* options)
      : program_(program),
        declared_(declared),
        allocator_(allocator),
        event_tracer_(event_tracer),
        data_map_(data_map),
        options_(options),
        sizes_are_fixed_(have_fixed_sizes(declared)) {}

  Error load_payload(size_t index, MethodDelegate* to) const;
  // What the delegate sees of the data map.
  Error make_data_map(MethodDelegate* to) const;
  // Of a delegate with backend, payload and data map: makes its handle, and counts
  // what that took of the memory.
  Error make_handle(size_t index, Budget* memory, MethodDelegate* to) const;

 private:
  // Whether all arguments of all calls of delegates are tensors whose sizes never change.
  static bool have_fixed_sizes(const MethodView& declared);

  const Program& program_;
  const MethodView declared_;
  MemoryAllocator* allocator_;
  EventTracer* event_tracer_;
  const NamedDataMap* data_map_;
  const LoadBackendOptionsMap* options_;
  bool sizes_are_fixed_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_DELEGATE_MAKER_H_
