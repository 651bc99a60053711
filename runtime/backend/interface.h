// SPDX-License-Identifier: Apache-2.0
//
// BackendInterface: runs the partitions of a method that were compiled for it.
// One object serves a whole process; a handle stands for one partition.
//
//            load_method                 execute                ~Method
//   payload --> init --> handle --> execute(handle, args) ... destroy(handle)
//
// A payload comes from a file: init checks everything it uses and returns
// DelegateInvalidCompatibility (not made for this backend) or InvalidProgram
// (damaged). args are values of the method: the inputs of the partition, then its
// outputs. Their number and types come from the file, too, so execute checks them:
// EValue::tryToTensor, Tensor::is_constant for outputs, data that is not null,
// sizes within the bounds of the partition.
//
// init, execute and destroy of different handles may run at the same time.
// Out-of-tree backends link like those in the tree: see runtime/registry.bzl.

#ifndef PETREL_RUNTIME_BACKEND_INTERFACE_H_
#define PETREL_RUNTIME_BACKEND_INTERFACE_H_

#include <cstddef>
#include <string_view>

#include "runtime/backend/options.h"
#include "runtime/core/budget.h"
#include "runtime/core/error.h"
#include "runtime/core/evalue.h"
#include "runtime/core/event_tracer.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/log.h"
#include "runtime/core/memory_allocator.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

// Bytes inside the program; not owned.
struct SizedBuffer {
  const void* buffer;
  size_t nbytes;
};

// An option that the payload was compiled with. `key` ends with a NUL.
struct CompileSpec {
  const char* key;
  SizedBuffer value;
};

// What a backend keeps of one partition.
using DelegateHandle = void;

// What init may use. Lives during the call only.
class BackendInitContext final {
 public:
  BackendInitContext(MemoryAllocator* runtime_allocator, EventTracer* event_tracer,
                     const char* method_name, const NamedDataMap* named_data_map,
                     Span<const BackendOption> runtime_specs, Budget* memory = nullptr,
                     bool sizes_are_fixed = false)
      : runtime_allocator_(runtime_allocator),
        event_tracer_(event_tracer),
        method_name_(method_name),
        named_data_map_(named_data_map),
        runtime_specs_(runtime_specs),
        memory_(memory),
        sizes_are_fixed_(sizes_are_fixed) {}

  // Memory that lives as long as the Method and is never given back earlier.
  MemoryAllocator* get_runtime_allocator() const { return runtime_allocator_; }

  // May be null.
  EventTracer* event_tracer() const { return event_tracer_; }

  const char* get_method_name() const { return method_name_; }

  // Named data of the program and of the map given to load_method; null when
  // there is neither. Lives as long as the Method.
  const NamedDataMap* get_named_data_map() const { return named_data_map_; }

  // Options of this load, see LoadBackendOptionsMap.
  Span<const BackendOption> runtime_specs() const { return runtime_specs_; }
  template <typename T>
  Result<T> get_runtime_spec(std::string_view key) const {
    return get_option_value<T>(runtime_specs_, key);
  }

  // What is left of Limits::max_delegate_bytes for all delegates of the method: a
  // backend takes from it what it keeps beyond the payload and each constant once.
  // Lives as long as the call; null where nothing limits it.
  Budget* memory() const { return memory_; }

  // Whether each call of execute gets tensors of the same sizes, those that the program states.
  bool sizes_are_fixed() const { return sizes_are_fixed_; }

 private:
  MemoryAllocator* runtime_allocator_;
  EventTracer* event_tracer_;
  const char* method_name_;
  const NamedDataMap* named_data_map_;
  Span<const BackendOption> runtime_specs_;
  Budget* memory_;
  bool sizes_are_fixed_;
};

// What execute may use. Lives during the call only.
class BackendExecutionContext final {
 public:
  // `planned_memory`, `work` and `memory` may be null.
  BackendExecutionContext(EventTracer* event_tracer, MemoryAllocator* temp_allocator,
                          const char* method_name, const HierarchicalAllocator* planned_memory,
                          Budget* work = nullptr, Budget* memory = nullptr)
      : event_tracer_(event_tracer),
        temp_allocator_(temp_allocator),
        method_name_(method_name),
        planned_memory_(planned_memory),
        work_(work),
        memory_(memory) {}

  // May be null.
  EventTracer* event_tracer() const { return event_tracer_; }

  // Memory until execute returns; NotSupported when the application gave no
  // temporary allocator.
  Result<void*> allocate(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment);

  const char* get_method_name() const { return method_name_; }

  // How many bytes from `data` on are known to be readable, because they lie
  // in a planned arena; 0 for memory of the application and for constants.
  // For backends that read a little past the end of their inputs.
  size_t readable_bytes(const void* data) const;

  // What is left of Limits::max_element_operations: a backend takes from it what
  // it computes beyond one pass over each argument. Null where nothing limits it.
  Budget* work() const { return work_; }

  // That of BackendInitContext, where inputs of other sizes need more than init
  // has taken.
  Budget* memory() const { return memory_; }

 private:
  EventTracer* event_tracer_;
  MemoryAllocator* temp_allocator_;
  const char* method_name_;
  const HierarchicalAllocator* planned_memory_;
  Budget* work_;
  Budget* memory_;
};

class BackendInterface {
 public:
  virtual ~BackendInterface() = default;

  // False when this machine lacks what the backend needs; loading a method
  // that uses it then fails with NotSupported.
  virtual bool is_available() const = 0;

  // Makes a handle from a payload. `processed` may be moved from or freed when
  // the backend has no more use for it; otherwise it lives as long as the
  // handle. Its data is aligned to kDataAlignment.
  virtual Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                       Span<const CompileSpec> compile_specs) const = 0;

  virtual Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                        Span<EValue*> args) const = 0;

  // How many arguments of execute the part writes, the last ones: a method is
  // not made when one of them shares memory with another argument. Where a
  // backend does not say (NotImplemented), the last one counts.
  virtual Result<size_t> num_outputs(DelegateHandle* /*handle*/) const {
    return Error::NotImplemented;
  }

  // Called once for every handle that init returned.
  virtual void destroy(DelegateHandle* handle) const = 0;

  // Process-wide options (optional: NotImplemented). get_option fills in the
  // values of the keys given.
  virtual Error set_option(Span<const BackendOption> /*options*/) { return Error::NotImplemented; }
  virtual Error get_option(Span<BackendOption> /*options*/) { return Error::NotImplemented; }
};

// A backend and the name that programs call it by.
struct Backend {
  const char* name;
  BackendInterface* backend;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_BACKEND_INTERFACE_H_
