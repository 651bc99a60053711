// SPDX-License-Identifier: Apache-2.0
//
// What delegates share is other in the child of fork() where a thread of the parent may have
// locked it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>

#include "backends/xnnpack/runtime/packed_file.h"
#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/workspace.h"

namespace petrel::backends::xnnpack {
namespace {

#if !defined(__SANITIZE_THREAD__)  // which ends children of programs with threads
template <typename Body>
bool holds_in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // what waits for a thread that is gone waits for ever
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(Fork, AWorkspaceIsNotOneThatTheParentWorksIn) {
  ASSERT_EQ(start_xnnpack(), xnn_status_success);
  const int owner = 0;
  const std::shared_ptr<Workspace> at_work = Workspace::of(&owner);
  const std::lock_guard<std::mutex> lock(at_work->mutex());
  EXPECT_TRUE(holds_in_child([&] {
    const std::shared_ptr<Workspace> own = Workspace::of(&owner);
    const std::lock_guard<std::mutex> lock_of_child(own->mutex());
    return own != at_work && Workspace::of(&owner) == own;
  }));
  EXPECT_EQ(Workspace::of(&owner), at_work);
}

TEST(Fork, APackedFileIsNotOneThatTheParentReads) {
  const std::string path = ::testing::TempDir() + "/packed_of_fork_test";
  const std::shared_ptr<PackedFile> file = PackedFile::open(path);
  EXPECT_EQ(PackedFile::open(path), file);
  EXPECT_TRUE(holds_in_child([&] {
    const std::shared_ptr<PackedFile> own = PackedFile::open(path);
    return own != file && PackedFile::open(path) == own;
  }));
  EXPECT_EQ(PackedFile::open(path), file);
}
#endif

}  // namespace
}  // namespace petrel::backends::xnnpack
