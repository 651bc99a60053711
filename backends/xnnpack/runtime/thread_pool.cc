// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/thread_pool.h"

#include <mutex>
#include <thread>

#include "runtime/core/log.h"

namespace petrel::backends::xnnpack {
namespace {

struct State {
  std::mutex mutex;
  size_t wanted = 0;  // 0: one for each processor
  bool is_made = false;
  SharedThreadPool pool;
};

State& state() {
  // Never destroyed: its threads must not be joined after main returned.
  static State* const state = new State;
  return *state;
}

size_t resolve(size_t wanted) {
  if (wanted != 0) return wanted;
  const size_t processors = std::thread::hardware_concurrency();
  return processors == 0 ? 1 : processors;
}

}  // namespace

SharedThreadPool shared_thread_pool() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (!s.is_made) {
    s.is_made = true;
    const size_t count = resolve(s.wanted);
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

runtime::Error set_thread_count(size_t count) {
  if (count > kMaxThreads) {
    PETREL_LOG(Error, "thread count is %zu, must be at most %zu", count, kMaxThreads);
    return runtime::Error::InvalidArgument;
  }
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.wanted == count) return runtime::Error::Ok;
  s.wanted = count;
  s.is_made = false;
  s.pool.reset();
  return runtime::Error::Ok;
}

size_t thread_count() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return resolve(s.wanted);
}

}  // namespace petrel::backends::xnnpack
