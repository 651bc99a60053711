// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/process_mutex.h"

#include "runtime/platform/fork_handlers.h"

namespace petrel::runtime {
namespace {

// Neither is destroyed: mutexes may outlive static objects.
std::mutex& list_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

ProcessMutex* first = nullptr;

}  // namespace

ProcessMutex::ProcessMutex(InChild in_child, void* context)
    : in_child_(in_child), context_(context), place_(&first) {
  // Without room for these functions only fork() suffers.
  static const bool has_handlers =
      add_fork_handlers(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  static_cast<void>(has_handlers);
  const std::lock_guard<std::mutex> lock(list_mutex());
  next_ = first;
  if (next_ != nullptr) next_->place_ = &next_;
  first = this;
}

ProcessMutex::~ProcessMutex() {
  const std::lock_guard<std::mutex> lock(list_mutex());
  *place_ = next_;
  if (next_ != nullptr) next_->place_ = place_;
}

void ProcessMutex::before_fork() {
  list_mutex().lock();
  for (ProcessMutex* each = first; each != nullptr; each = each->next_) each->lock();
}

void ProcessMutex::after_fork_in_parent() {
  for (ProcessMutex* each = first; each != nullptr; each = each->next_) each->unlock();
  list_mutex().unlock();
}

void ProcessMutex::after_fork_in_child() {
  for (ProcessMutex* each = first; each != nullptr; each = each->next_) {
    if (each->in_child_ != nullptr) each->in_child_(each->context_);
  }
  after_fork_in_parent();
}

}  // namespace petrel::runtime
