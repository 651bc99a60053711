// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/thread_pool.h"

#include <mutex>

#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

struct State {
  std::mutex mutex;
  size_t count = 1;  // that `pool` was made for
  SharedThreadPool pool;
};

State& state() {
  // Never destroyed: its threads must not be joined after main returned.
  static State* const state = new State;
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
