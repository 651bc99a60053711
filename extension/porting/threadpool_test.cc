// SPDX-License-Identifier: Apache-2.0
#include "extension/porting/threadpool.h"

#include <gtest/gtest.h>

namespace petrel::porting::extension {
namespace {

TEST(ThreadPoolTest, SetsTheThreadsOfTheProcess) {
  ASSERT_TRUE(threadpool::get_threadpool()->_unsafe_reset_threadpool(3));
  EXPECT_EQ(threadpool::get_threadpool()->get_thread_count(), 3u);
  EXPECT_EQ(::petrel::runtime::thread_count(), 3u);
  EXPECT_FALSE(threadpool::get_threadpool()->_unsafe_reset_threadpool(1 << 20));
  EXPECT_EQ(threadpool::get_threadpool()->get_thread_count(), 3u);
  EXPECT_TRUE(
      threadpool::get_threadpool()->_unsafe_reset_threadpool(cpuinfo::get_num_performant_cores()));
  EXPECT_GE(threadpool::get_threadpool()->get_thread_count(), 1u);
}

}  // namespace
}  // namespace petrel::porting::extension
