// SPDX-License-Identifier: Apache-2.0
//
// fork() while other threads load, run and destroy modules: the child has none of them, and
// none of what they held may keep it from loading and running modules of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"
#include "runtime/threads/thread_count.h"

namespace petrel::test {
namespace {

using extension::Module;

// Whether a program can be loaded and run, with weights that are read, packed and shared.
bool runs(const std::string& name) {
  Module::Options options;
  options.load_mode = Module::LoadMode::File;
  const auto module = Module::load("test/xnnpack/wheel/" + name + ".pte", options);
  if (!module.ok()) return false;
  const auto meta = (*module)->method_meta("forward");
  if (!meta.ok()) return false;
  const auto info = meta->input_tensor_meta(0);
  if (!info.ok()) return false;
  const std::vector<uint8_t> zeros(info->nbytes());
  const extension::TensorPtr input = extension::tensor_of_bytes(
      std::vector<extension::SizesType>(info->sizes().begin(), info->sizes().end()), zeros.data(),
      zeros.size(), info->scalar_type());
  return input != nullptr && (*module)->forward({runtime::EValue(*input)}).ok();
}

#if !defined(__SANITIZE_THREAD__)  // which ends children of programs with threads
TEST(Fork, ChildrenLoadAndRunWhateverThreadsWereAbout) {
  // The emulator dies when the child of a process with threads starts one.
  if (std::getenv("QEMU_LD_PREFIX") != nullptr) GTEST_SKIP() << "not under qemu";
  constexpr int kChildren = 60;
  ASSERT_EQ(runtime::set_thread_count(2), runtime::Error::Ok);
  ASSERT_TRUE(runs("image") && runs("batch"));
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (const char* name : {"image", "batch", "batch"}) {
    threads.emplace_back([&is_over, name] {
      while (!is_over) runs(name);
    });
  }
  int good = 0;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // what waits for a thread that is gone waits for ever
      _exit(runs(i % 2 == 0 ? "batch" : "image") ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kChildren);
}
#endif

}  // namespace
}  // namespace petrel::test
