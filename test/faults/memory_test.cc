// SPDX-License-Identifier: Apache-2.0
//
// Memory that loading a program and looking into it take, by doubling the file:
// lines that are straight and not steep, whatever the file says.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"
#include "test/faults/shapes.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

// Written by another process, so that this one stays small: what a child has used
// at most begins with what its parent had.
size_t write_shape(const Shape& shape, size_t units, const std::string& path) {
  const pid_t writer = fork();
  if (writer == 0) {
    const std::vector<uint8_t> bytes = build_shape(shape, units);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    _exit(0);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  return static_cast<size_t>(file.tellg());
}

struct Peak {
  double bytes;
  int code;
};

// Of the command.
Peak peak_of(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = {"extension/cli/petrel"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int to : {1, 2}) {
    posix_spawn_file_actions_addopen(&actions, to, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  return {static_cast<double>(usage.ru_maxrss) * 1024,
          WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

class MemoryTest : public ::testing::TestWithParam<Shape> {};

// Bytes of memory for each byte by which the file grows. The command describes a
// program as JSON, a line of text for each part.
TEST_P(MemoryTest, OfTheCommandGrowsWithTheFile) {
  const std::string path = ::testing::TempDir() + "shape.pte";
  const struct {
    std::vector<std::string> verb;
    double most;
  } rows[] = {
      {{"verify", path}, 4},
      {{"inspect", path}, GetParam().is_refused ? 4.0 : 12.0},
      {{"data", "list", path}, GetParam().is_refused ? 4.0 : 8.0},
  };
  for (const auto& row : rows) {
    double size[3], peak[3];
    for (int i = 0; i < 3; ++i) {
      size[i] = static_cast<double>(write_shape(GetParam(), size_t{20'000} << i, path));
      const Peak measured = peak_of(row.verb);
      peak[i] = measured.bytes;
      EXPECT_EQ(measured.code, GetParam().is_refused ? 1 : 0) << row.verb[0];
    }
    for (int i = 0; i < 2; ++i) {
      const double slope = (peak[i + 1] - peak[i]) / (size[i + 1] - size[i]);
      EXPECT_LE(slope, row.most) << row.verb[0] << " of " << size[i + 1] << " bytes";
      std::printf("%s %s: %.1f bytes for each byte beyond %.1f MB\n", GetParam().name,
                  row.verb[0].c_str(), slope, size[i] / 1e6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemoryTest, ::testing::ValuesIn(shapes()),
                         [](const auto& info) { return std::string(info.param.name); });

// How an app gives a program to the library.
enum class Way { kMapped, kRead, kBuffer };

// Of a process that loads the program and its method.
Peak peak_of_load(const std::string& path, Way way) {
  const pid_t child = fork();
  if (child == 0) {
    const QuietLog quiet;
    extension::Module::Options options;
    options.registry = &test_registry();
    if (way == Way::kRead) options.load_mode = extension::Module::LoadMode::File;
    std::vector<char> bytes;
    if (way == Way::kBuffer) {
      std::ifstream file(path, std::ios::binary | std::ios::ate);
      bytes.resize(static_cast<size_t>(file.tellg()));
      file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    auto module = way == Way::kBuffer ? extension::Module::load(bytes.data(), bytes.size(), options)
                                      : extension::Module::load(path, options);
    _exit(module.ok() && (*module)->load_method("forward") == Error::Ok ? 0 : 1);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  return {static_cast<double>(usage.ru_maxrss) * 1024,
          WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

class LoadMemoryTest : public ::testing::TestWithParam<Shape> {};

// The system may give a process more pages than it needs, never fewer.
Peak least_peak_of_load(const std::string& path, Way way) {
  Peak least = peak_of_load(path, way);
  for (int i = 0; i < 2; ++i) {
    const Peak other = peak_of_load(path, way);
    if (other.code != least.code) return other;
    if (other.bytes < least.bytes) least = other;
  }
  return least;
}

// A file that is mapped, read or in a buffer of the app, its structure and its method.
TEST_P(LoadMemoryTest, GrowsWithTheFileWhicheverWayItComes) {
  const std::string path = ::testing::TempDir() + "loaded_shape.pte";
  for (const Way way : {Way::kMapped, Way::kRead, Way::kBuffer}) {
    double size[3], peak[3];
    for (int i = 0; i < 3; ++i) {
      size[i] = static_cast<double>(write_shape(GetParam(), size_t{20'000} << i, path));
      const Peak measured = least_peak_of_load(path, way);
      peak[i] = measured.bytes;
      EXPECT_EQ(measured.code, GetParam().is_refused ? 1 : 0);
    }
    for (int i = 0; i < 2; ++i) {
      const double slope = (peak[i + 1] - peak[i]) / (size[i + 1] - size[i]);
      EXPECT_LE(slope, 4) << static_cast<int>(way) << " of " << size[i + 1] << " bytes";
      std::printf("%s way %d: %.1f bytes for each byte beyond %.1f MB\n", GetParam().name,
                  static_cast<int>(way), slope, size[i] / 1e6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LoadMemoryTest, ::testing::ValuesIn(shapes()),
                         [](const auto& info) { return std::string(info.param.name); });

// Adds up what a method takes.
class CountingAllocator final : public runtime::MemoryAllocator {
 public:
  CountingAllocator() : MemoryAllocator(0, nullptr) {}
  ~CountingAllocator() override { reset(); }
  void* allocate(size_t size, size_t alignment) override {
    bytes += size;
    blocks_.push_back(
        std::aligned_alloc(std::max<size_t>(alignment, 16), (size + alignment + 15) / 16 * 16));
    return blocks_.back();
  }
  void reset() override {
    for (void* block : blocks_) std::free(block);
    blocks_.clear();
  }
  size_t bytes = 0;

 private:
  std::vector<void*> blocks_;
};

class MethodMemoryTest : public ::testing::TestWithParam<Shape> {};

TEST_P(MethodMemoryTest, IsAFewTimesTheFile) {
  if (GetParam().is_refused) return;
  for (const size_t units : {1000u, 2000u, 4000u}) {
    const std::vector<uint8_t> bytes = build_shape(GetParam(), units);
    const AlignedLoader loader(bytes);
    ProgramOptions options;
    options.registry = &test_registry();
    const Result<Program> program = Program::load(const_cast<AlignedLoader*>(&loader), options);
    ASSERT_TRUE(program.ok());
    CountingAllocator allocator;
    MemoryManager memory(&allocator);
    const Result<Method> method = program->load_method("forward", &memory);
    ASSERT_TRUE(method.ok());
    const double times = static_cast<double>(allocator.bytes) / static_cast<double>(bytes.size());
    EXPECT_LE(times, 4.0) << bytes.size();
    std::printf("%s: %.1f times %zu bytes\n", GetParam().name, times, bytes.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, MethodMemoryTest, ::testing::ValuesIn(shapes()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
