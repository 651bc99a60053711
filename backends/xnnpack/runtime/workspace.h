// SPDX-License-Identifier: Apache-2.0
//
// The memory between the nodes of a partition. Partitions that never run at the
// same time share it: it is as large as the largest of them needs.
//
//   partition 0 --.
//   partition 1 ---+--> Workspace { memory, mutex }     freed with its last user
//   partition 2 --'
//
// Whoever makes, sets up, runs or deletes an XNNPACK runtime of the workspace
// holds its mutex, so sharing is always right; it costs time only where several
// threads use one workspace.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WORKSPACE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WORKSPACE_H_

#include <xnnpack.h>

#include <cstdint>
#include <memory>
#include <mutex>

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

  // By how many bytes its memory grows when values need `bytes`.
  uint64_t grow_to(uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t more = bytes > bytes_ ? bytes - bytes_ : 0;
    bytes_ += more;
    return more;
  }

 private:
  explicit Workspace(xnn_workspace_t workspace) : workspace_(workspace) {}
  xnn_workspace_t workspace_;
  std::mutex mutex_;
  uint64_t bytes_ = 0;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WORKSPACE_H_
