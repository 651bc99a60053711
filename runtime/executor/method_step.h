// SPDX-License-Identifier: Apache-2.0
//
// What a Method keeps of a program's instructions and delegates: indices of
// the file have become pointers. All of it lies in the method's allocator.

#ifndef PETREL_RUNTIME_EXECUTOR_METHOD_STEP_H_
#define PETREL_RUNTIME_EXECUTOR_METHOD_STEP_H_

#include <cstddef>
#include <cstdint>

#include "runtime/backend/interface.h"
#include "runtime/core/evalue.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/span.h"
#include "runtime/executor/asked_data_map.h"
#include "runtime/kernel/kernel.h"
#include "runtime/program/program_view.h"

namespace petrel::runtime {

struct MethodStep {
  enum class Kind : uint8_t {
    Kernel,    // kernel(args)
    Delegate,  // delegates[target](args)
    Move,      // *to = *from
    Jump,      // continue at target if *from is false
    Free,      // from is not used again: planned memory needs no freeing
  };

  Kind kind = Kind::Free;
  // Some arguments are the caller's and may be far smaller than their largest
  // sizes: they are counted in every run.
  bool counts_callers = false;
  uint32_t target = 0;
  // A file may have many steps of few bytes: what no kind has together shares memory.
  union {
    const Kernel* kernel = nullptr;
    EValue* from;  // of a move or jump
  };
  Span<EValue*> args;
  union {
    Span<uint8_t> scratch = {};  // of a kernel, in an arena
    EValue* to;                  // of a move
  };
  // One pass over the other arguments, or the condition, of tensors in their largest
  // sizes.
  uint64_t work = 1;
};

// `to` becomes the number that the program has there; stays if it has none.
void set_number(const ValueView& from, EValue* to);

struct MethodChain {
  Span<MethodStep> steps;
};

struct MethodDelegate {
  BackendInterface* backend = nullptr;
  DelegateHandle* handle = nullptr;
  const char* name = nullptr;
  // What the backend sees of named data; null if there is none.
  const AskedDataMap* data_map = nullptr;
  // Of Limits::max_delegate_bytes, since it was made.
  uint64_t memory_taken = 0;
  // Unless the backend freed it.
  FreeableBuffer payload;
};

// A value whose data comes from outside, and which of the method's tensors it is.
struct MethodExternalTensor {
  uint32_t value = 0;
  uint32_t tensor = 0;
};

// All values with data of one key, in Method::external_tensors_, and the data, which they point
// at and which is there once. Null where it is copied to planned memory, or the program's counts.
struct MethodExternal {
  uint32_t first = 0;
  uint32_t count = 0;
  FreeableBuffer data;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_METHOD_STEP_H_
