// SPDX-License-Identifier: Apache-2.0
//
// Weights that were packed under one cap on instruction sets are not used under
// another. A process has one cap, so every step is a process of its own.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/packed_file.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr char kFilter[] = "filter";
constexpr int kFound = 10, kNotFound = 11;

// Looks for one blob under a level, adds it when it is not there, and ends the
// process.
[[noreturn]] void find_or_add(const std::string& path, const char* level) {
  if (runtime::set_isa_level(level) != runtime::Error::Ok) _exit(1);
  const std::shared_ptr<PackedFile> file = PackedFile::open(path);
  const PackedFile::Key key = file->key_of(kFilter, sizeof(kFilter), nullptr, 0, "product");
  if (file->find(key, PackedFile::Verify::kFirstUse) != nullptr) _exit(kFound);
  const auto bytes = std::make_shared<std::vector<uint8_t>>(256, uint8_t{1});
  file->add(key, PackedRegion::view(bytes, bytes->data(), bytes->size()));
  file->write();
  _exit(kNotFound);
}

TEST(PackedFileLevelDeathTest, FileOfOneLevelIsNotUsedAtAnother) {
  std::string pattern = ::testing::TempDir() + "/packed_level_XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::string path = pattern + "/weights";
  const char* const lowest = runtime::isa_levels()[0].name;
  const auto found = ::testing::ExitedWithCode(kFound);
  const auto not_found = ::testing::ExitedWithCode(kNotFound);
  EXPECT_EXIT(find_or_add(path, "native"), not_found, "");
  EXPECT_EXIT(find_or_add(path, "native"), found, "");
  EXPECT_EXIT(find_or_add(path, lowest), not_found, "");
  EXPECT_EXIT(find_or_add(path, lowest), found, "");
  EXPECT_EXIT(find_or_add(path, "native"), not_found, "");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
