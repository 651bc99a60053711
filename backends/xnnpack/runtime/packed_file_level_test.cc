// SPDX-License-Identifier: Apache-2.0
//
// Weights that were packed under one cap on instruction sets are not used under
// another, and those of one tile not in another. A process has one cap and one tile, so every
// step is a process of its own.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/packed_file.h"
#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/tile_table.h"
#include "backends/xnnpack/runtime/tiles.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr char kFilter[] = "filter";
constexpr int kFound = 10, kNotFound = 11;

// Looks for one blob under a level, in a tile or the usual one, adds it when it is not there,
// and ends the process.
[[noreturn]] void find_or_add(const std::string& path, const char* level,
                              const char* tile = nullptr) {
  if (runtime::set_isa_level(level) != runtime::Error::Ok) _exit(1);
  if (tile != nullptr) {
    if (start_xnnpack() != xnn_status_success) _exit(2);
    const std::string table = path + ".table";
    const auto text = format_tile_table(this_machine(), {{}, petrel_find_tile(tile), 0});
    if (!write_tile_table(table, text)) _exit(3);
    if (settle_tiles({TileRequest::Kind::kTable, table}).name != tile) _exit(4);
  }
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

TEST(PackedFileLevelDeathTest, FileOfOneTileIsNotUsedInAnother) {
  bool has_choice = false;
  for (const runtime::IsaLevel& level : runtime::isa_levels()) {
    has_choice = has_choice || (level.name == std::string("avx2") && is_available(level));
  }
  if (!has_choice) GTEST_SKIP() << "this processor has one tile";
  std::string pattern = ::testing::TempDir() + "/packed_tile_XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::string path = pattern + "/weights";
  const auto found = ::testing::ExitedWithCode(kFound);
  const auto not_found = ::testing::ExitedWithCode(kNotFound);
  EXPECT_EXIT(find_or_add(path, "avx2"), not_found, "");
  // The one of the rule.
  EXPECT_EXIT(find_or_add(path, "avx2", "6x16-fma3"), found, "");
  // Whose weights lie in the same order; that is not looked at.
  EXPECT_EXIT(find_or_add(path, "avx2", "4x16-fma3"), not_found, "");
  EXPECT_EXIT(find_or_add(path, "avx2", "4x16-fma3"), found, "");
  EXPECT_EXIT(find_or_add(path, "avx2", "8x8-fma3"), not_found, "");
  EXPECT_EXIT(find_or_add(path, "avx2"), not_found, "");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
