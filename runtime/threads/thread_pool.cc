// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/thread_pool.h"

#include <mutex>
#include <utility>

#include "runtime/core/log.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::runtime {
namespace {

struct State {
  // The threads of a pool do not come along into the child of fork(): there it is
  // left as it is, unused, and who asks gets a new one.
  static void forget(void* self) {
    State& state = *static_cast<State*>(self);
    static_cast<void>(new SharedThreadPool(std::move(state.pool)));
    state.pool = nullptr;
    state.count = 1;
  }

  ProcessMutex mutex{&forget, this};
  size_t count = 1;  // that `pool` was made for
  SharedThreadPool pool;
};

State& state() {
  // Never destroyed: its threads must not be joined after main returned.
  static State* const state = new State;
  return *state;
}

SharedThreadPool make_pool(size_t count) {
  if (count == 1) return nullptr;
  const pthreadpool_t pool = pthreadpool_create(count);
  return pool == nullptr ? nullptr : SharedThreadPool(pool, &pthreadpool_destroy);
}

}  // namespace

SharedThreadPool shared_thread_pool() {
  State& s = state();
  const size_t count = thread_count();
  bool is_new = false;
  SharedThreadPool pool, old;  // which ends without the lock
  {
    const std::lock_guard<ProcessMutex> lock(s.mutex);
    is_new = s.count != count;
    if (is_new) {
      s.count = count;
      old = std::exchange(s.pool, make_pool(count));
    }
    pool = s.pool;
  }
  if (is_new && pool == nullptr && count > 1) {
    PETREL_LOG(Warning, "cannot start %zu threads, computing on one", count);
  }
  return pool;
}

}  // namespace petrel::runtime
