// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/thread_pool.h"

#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

TEST(ThreadPool, IsSharedUntilTheCountChanges) {
  ASSERT_EQ(set_thread_count(2), Error::Ok);
  const SharedThreadPool pool = shared_thread_pool();
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pthreadpool_get_threads_count(pool.get()), 2u);
  EXPECT_EQ(shared_thread_pool(), pool);
  ASSERT_EQ(set_thread_count(1), Error::Ok);
  EXPECT_EQ(shared_thread_pool(), nullptr) << "one thread is the caller's own";
  // Whoever holds the old pool may go on using it.
  size_t sum[4] = {};
  pthreadpool_parallelize_1d(
      pool.get(), [](void* context, size_t i) { static_cast<size_t*>(context)[i] = i; }, sum, 4,
      0);
  EXPECT_EQ(sum[3], 3u);
}

TEST(ThreadCount, ZeroMeansOneForEachProcessor) {
  ASSERT_EQ(set_thread_count(0), Error::Ok);
  EXPECT_GE(thread_count(), 1u);
  ASSERT_EQ(set_thread_count(3), Error::Ok);
  EXPECT_EQ(thread_count(), 3u);
}

TEST(ThreadCount, RefusesMoreThanTheLimit) {
  set_log_hook(LogHook{});
  ASSERT_EQ(set_thread_count(2), Error::Ok);
  EXPECT_EQ(set_thread_count(kMaxThreads + 1), Error::InvalidArgument);
  EXPECT_EQ(thread_count(), 2u);
}

}  // namespace
}  // namespace petrel::runtime
