// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/thread_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

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
      pool.get(), [](void* context, size_t i) { static_cast<size_t*>(context)[i] = i; }, sum, 4, 0);
  EXPECT_EQ(sum[3], 3u);
}

#if !defined(__SANITIZE_THREAD__)  // which ends children of programs with threads
TEST(ThreadPool, ChildOfForkGetsAPoolThatWorks) {
  // The emulator dies when the child of a process with threads starts one.
  if (std::getenv("QEMU_LD_PREFIX") != nullptr) GTEST_SKIP() << "not under qemu";
  ASSERT_EQ(set_thread_count(2), Error::Ok);
  const SharedThreadPool of_parent = shared_thread_pool();
  ASSERT_NE(of_parent, nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // what waits for threads that are gone waits forever
    size_t sum[64] = {};
    const SharedThreadPool pool = shared_thread_pool();
    pthreadpool_parallelize_1d(
        pool.get(), [](void* context, size_t i) { static_cast<size_t*>(context)[i] = i; }, sum, 64,
        0);
    _exit(pool != nullptr && pool != of_parent && sum[63] == 63 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(shared_thread_pool(), of_parent);
}
#endif

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
