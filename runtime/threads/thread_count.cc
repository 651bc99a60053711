// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/thread_count.h"

#include <atomic>

#include "runtime/core/log.h"
#include "runtime/platform/processors.h"

namespace petrel::runtime {
namespace {

std::atomic<size_t> wanted{0};

size_t processors() {
  const size_t count = usable_processors();
  return count < kMaxThreads ? count : kMaxThreads;
}

}  // namespace

Error set_thread_count(size_t count) {
  if (count > kMaxThreads) {
    PETREL_LOG(Error, "thread count is %zu, must be at most %zu", count, kMaxThreads);
    return Error::InvalidArgument;
  }
  wanted.store(count, std::memory_order_relaxed);
  return Error::Ok;
}

size_t thread_count() {
  const size_t count = wanted.load(std::memory_order_relaxed);
  if (count != 0) return count;
  static const size_t kProcessors = processors();  // asking the system is slow
  return kProcessors;
}

}  // namespace petrel::runtime
