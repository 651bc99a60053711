// SPDX-License-Identifier: Apache-2.0
//
// The memory between the nodes of a partition. Partitions that never run at the
// same time share it: it is as large as the largest of them needs.
//
//   partition 0 --.
//   partition 1 ---+--> Workspace { memory, mutex }     freed with its last user
//   partition 2 --'
//
// When it grows, what it was goes once there is the new memory, which has no pages yet: nothing
// is copied, and together they take no more than what is paid.
//
// Whoever makes, sets up, runs or deletes an XNNPACK runtime of the workspace
// holds its mutex, so sharing is always right; it costs time only where several
// threads use one workspace.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WORKSPACE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WORKSPACE_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/xnnpack/runtime/paid_call.h"
#include "runtime/core/budget.h"
#include "runtime/core/result.h"

namespace petrel::backends::xnnpack {

class Workspace {
 public:
  // Null when there is no memory. Precondition: XNNPACK is initialised.
  static std::shared_ptr<Workspace> make();

  // The one of `owner`: what has it been made for, as long as somebody uses it,
  // or else a new one. The owner is never looked into.
  static std::shared_ptr<Workspace> of(const void* owner);

  ~Workspace() { xnn_release_workspace(workspace_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  xnn_workspace_t get() const { return workspace_; }
  std::mutex& mutex() { return mutex_; }

  // Touches the memory from its front, as far as `bytes` and what earlier calls left of
  // theirs reach. Precondition: its mutex is held.
  void touch(uint64_t bytes, pthreadpool_t threads);

  // Takes from `memory` by how many bytes this grows when values need `bytes`.
  runtime::Error grow_to(uint64_t bytes, runtime::Budget* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pay_for(bytes, memory);
  }

  // While it lives, runtimes that are reshaped by this thread pay for what they plan beyond what
  // was paid for and `free` bytes: values that do not fit into the gaps between others take more
  // than they need together. What is paid, `call` may take. Precondition: the mutex is held;
  // `memory` may be null, then nothing limits them.
  class Payment {
   public:
    Payment(Workspace* workspace, uint64_t free, runtime::Budget* memory, PaidCall* call);
    ~Payment();
    Payment(const Payment&) = delete;
    Payment& operator=(const Payment&) = delete;

    // Whether a runtime has come so far as to need more memory.
    bool was_asked() const { return was_asked_; }
    // Why it did not get that.
    runtime::Error error() const { return error_; }

   private:
    static bool pay(void* context, size_t bytes);

    Workspace* workspace_;
    uint64_t free_;
    runtime::Budget* memory_;
    PaidCall* call_;
    bool was_asked_ = false;
    runtime::Error error_ = runtime::Error::Ok;
  };

 private:
  explicit Workspace(xnn_workspace_t workspace) : workspace_(workspace) {}
  runtime::Error pay_for(uint64_t bytes, runtime::Budget* memory) {
    if (bytes <= bytes_) return runtime::Error::Ok;
    PETREL_RETURN_IF_ERROR(
        memory->take("what lies between the nodes of an XNNPACK payload", bytes - bytes_));
    bytes_ = bytes;
    return runtime::Error::Ok;
  }

  xnn_workspace_t workspace_;
  std::mutex mutex_;
  uint64_t bytes_ = 0;
  const void* touched_ = nullptr;  // how much of what memory was touched
  size_t touched_bytes_ = 0;
  uint64_t touchable_bytes_ = 0;  // how much more may be
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WORKSPACE_H_
