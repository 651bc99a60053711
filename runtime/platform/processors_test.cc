// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/processors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace petrel::runtime {
namespace {

class Machine {
 public:
  Machine() : root_(std::filesystem::path(::testing::TempDir()) / "machine") {
    std::filesystem::remove_all(root_);
  }
  ~Machine() { std::filesystem::remove_all(root_); }

  Machine& file(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
    return *this;
  }
  Machine& unified(const std::string& group, const std::string& text) {
    return file("sys/fs/cgroup/" + group + "cpu.max", text);
  }
  Machine& controller(const std::string& group, const std::string& quota) {
    file("sys/fs/cgroup/" + group + "/cpu.cfs_quota_us", quota);
    return file("sys/fs/cgroup/" + group + "/cpu.cfs_period_us", "100000\n");
  }
  size_t quota() const { return processor_quota(root_.c_str()); }

 private:
  std::filesystem::path root_;
};

TEST(Processors, AreUnlimitedWhereNothingSaysOtherwise) {
  Machine machine;
  EXPECT_EQ(machine.quota(), 0u);
  machine.file("proc/self/cgroup", "0::/\n").unified("", "max 100000\n");
  EXPECT_EQ(machine.quota(), 0u);
  machine.file("proc/self/cgroup", "9:name=systemd:/\nnonsense\n3:cpu").unified("", "garbage");
  EXPECT_EQ(machine.quota(), 0u);
}

TEST(Processors, AreThoseOfTheContainersQuota) {
  Machine machine;
  machine.file("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(machine.unified("", "200000 100000\n").quota(), 2u);
  EXPECT_EQ(machine.unified("", "250000 100000\n").quota(), 2u);
  EXPECT_EQ(machine.unified("", "50000 100000\n").quota(), 1u);
  EXPECT_EQ(machine.unified("", "0 100000\n").quota(), 0u);
  EXPECT_EQ(machine.unified("", "100000 0\n").quota(), 0u);
}

TEST(Processors, AreThoseOfTheLeastOfAllGroupsAbove) {
  Machine machine;
  machine.file("proc/self/cgroup", "0::/pods/one/job\n")
      .unified("pods/", "400000 100000\n")
      .unified("pods/one/", "300000 100000\n")
      .unified("pods/one/job/", "max 100000\n");
  EXPECT_EQ(machine.quota(), 3u);
  EXPECT_EQ(machine.unified("pods/", "100000 100000\n").quota(), 1u);
}

TEST(Processors, AreThoseOfTheFirstVersionOfGroups) {
  Machine machine;
  machine.file("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/docker/1\n0::/elsewhere\n");
  EXPECT_EQ(machine.controller("memory/a", "100000\n").quota(), 0u);
  EXPECT_EQ(machine.controller("cpu/docker/1", "-1\n").quota(), 0u);
  // In the container its group is the topmost one.
  EXPECT_EQ(machine.controller("cpu,cpuacct", "500000\n").quota(), 5u);
  EXPECT_EQ(machine.controller("cpu/docker/1", "200000\n").quota(), 2u);
}

TEST(Processors, AreAtLeastOneAndNoMoreThanThereAre) {
  const size_t count = usable_processors();
  EXPECT_GE(count, 1u);
  EXPECT_LE(count, std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace petrel::runtime
