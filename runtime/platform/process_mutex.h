// SPDX-License-Identifier: Apache-2.0
//
// ProcessMutex: the lock of something that all of the process shares, which the child of fork()
// finds free.
//
//   struct Registry {
//     ProcessMutex mutex;
//     ...
//   };
//   const std::lock_guard<ProcessMutex> lock(all.mutex);
//
// The child has none of the other threads: a plain mutex that one of them held stays taken there
// for ever. fork() waits until every ProcessMutex is free, and the child goes on with what they
// guard whole. So whoever holds one does little: takes or makes no other, calls nobody who may
// want a lock (as a log hook may), and does not wait. What threads of the parent were about to do,
// `in_child` forgets; it runs in the child, with the mutex held.
//
// Locks of one object, such as a method or a workspace, are none of these: a child makes its own
// objects, and does not use those that other threads worked with.
#ifndef PETREL_RUNTIME_PLATFORM_PROCESS_MUTEX_H_
#define PETREL_RUNTIME_PLATFORM_PROCESS_MUTEX_H_

#include <mutex>

namespace petrel::runtime {

class ProcessMutex final {
 public:
  using InChild = void (*)(void* context);

  explicit ProcessMutex(InChild in_child = nullptr, void* context = nullptr);
  ~ProcessMutex();
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::mutex mutex_;
  const InChild in_child_;
  void* const context_;
  ProcessMutex* next_;  // of all that live
  ProcessMutex** place_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_PROCESS_MUTEX_H_
