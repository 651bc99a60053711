// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/process_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

namespace petrel::runtime {
namespace {

#if !defined(__SANITIZE_THREAD__)  // which ends children of programs with threads
// The exit code of a child in which `body` runs; -1 where that does not end.
template <typename Body>
int exit_code_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // what waits for a thread that is gone waits for ever
    _exit(body());
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessMutex, IsFreeInAChildWhoeverHeldIt) {
  ProcessMutex mutex;
  int guarded[2] = {0, 0};  // which agree while nobody holds the mutex
  std::promise<void> is_held;
  std::thread holder([&] {
    const std::lock_guard<ProcessMutex> lock(mutex);
    guarded[0] = 1;
    is_held.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    guarded[1] = 1;
  });
  is_held.get_future().wait();
  EXPECT_EQ(exit_code_of_child([&] {
              const std::lock_guard<ProcessMutex> lock(mutex);
              return guarded[0] == guarded[1] ? 0 : 1;
            }),
            0);
  holder.join();
  const std::lock_guard<ProcessMutex> lock(mutex);  // and in the parent
}

TEST(ProcessMutex, TellsAChildThatItIsOne) {
  int told = 0;
  ProcessMutex other;
  ProcessMutex mutex([](void* context) { ++*static_cast<int*>(context); }, &told);
  EXPECT_EQ(exit_code_of_child([&] { return told; }), 1);
  EXPECT_EQ(exit_code_of_child([&] { return told; }), 1);
  EXPECT_EQ(told, 0);
}

TEST(ProcessMutex, MayGo) {
  ProcessMutex first;
  {
    ProcessMutex second;
    const ProcessMutex third;
    const std::lock_guard<ProcessMutex> lock(second);
  }
  const ProcessMutex fourth;
  EXPECT_EQ(exit_code_of_child([&] {
              const std::lock_guard<ProcessMutex> lock(first);
              return 0;
            }),
            0);
}
#endif

}  // namespace
}  // namespace petrel::runtime
