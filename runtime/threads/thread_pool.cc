// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/thread_pool.h"

#include <mutex>
#include <utility>

#include "runtime/core/log.h"
#include "runtime/platform/fork_handlers.h"

namespace petrel::runtime {
namespace {

struct State {
  std::mutex mutex;
  size_t count = 1;  // that `pool` was made for
  SharedThreadPool pool;
};

State& state();

// The threads of a pool do not come along into the child of fork(): there it is
// left as it is, unused, and who asks gets a new one.
void before_fork() { state().mutex.lock(); }
void after_fork_in_parent() { state().mutex.unlock(); }
void after_fork_in_child() {
  State& s = state();
  static_cast<void>(new SharedThreadPool(std::move(s.pool)));
  s.pool = nullptr;
  s.count = 1;
  s.mutex.unlock();
}

State* make_state() {
  // Without room for these functions only fork() suffers.
  static_cast<void>(add_fork_handlers(&before_fork, &after_fork_in_parent, &after_fork_in_child));
  return new State;
}

State& state() {
  // Never destroyed: its threads must not be joined after main returned.
  static State* const state = make_state();
  return *state;
}

}  // namespace

SharedThreadPool shared_thread_pool() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const size_t count = thread_count();
  if (s.count != count) {
    s.count = count;
    s.pool.reset();
    if (count > 1) {
      pthreadpool_t pool = pthreadpool_create(count);
      if (pool == nullptr) {
        PETREL_LOG(Warning, "cannot start %zu threads, computing on one", count);
      } else {
        s.pool = SharedThreadPool(pool, &pthreadpool_destroy);
      }
    }
  }
  return s.pool;
}

}  // namespace petrel::runtime
