// SPDX-License-Identifier: Apache-2.0

// A table counts where it was made for this processor, and nothing else that a file may be does.
#include "backends/xnnpack/runtime/tile_table.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "backends/xnnpack/runtime/start.h"

namespace petrel::backends::xnnpack {
namespace {

class TileTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(start_xnnpack(), xnn_status_success);
    const auto tiles = third_party::xnnpack::possible_tiles();
    if (tiles.empty()) GTEST_SKIP() << "this processor has no candidates";
    tile_ = tiles.back();
    machine_ = this_machine();
    text_ = format_tile_table(machine_, measured());
    std::string pattern = testing::TempDir() + "/tile_table_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  Trial measured() const {
    Trial trial = {{}, tile_, 0};
    for (const petrel_tile* tile : third_party::xnnpack::possible_tiles()) {
      trial.figures.push_back({tile, {}, 1.25, 1.25, 1.25});
      trial.figures.back().rates.fill(1.25);
    }
    return trial;
  }

  // The table with one text for another.
  std::string with(const std::string& old, const std::string& text) const {
    std::string table = text_;
    const size_t at = table.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return at == std::string::npos ? table : table.replace(at, old.size(), text);
  }

  std::string reason_of(std::string_view text) const {
    const TableReading table = parse_tile_table(text, machine_);
    EXPECT_EQ(table.tile == nullptr, table.reason != nullptr);
    return table.reason == nullptr ? "" : table.reason;
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  TableReading read(const std::string& path) const {
    return read_tile_table(path, TableOwner::kAnyone, machine_);
  }

  const petrel_tile* tile_ = nullptr;
  TileMachine machine_;
  std::string text_, folder_;
};

TEST_F(TileTableTest, SaysWhatItWasMadeWith) {
  EXPECT_EQ(parse_tile_table(text_, machine_).tile, tile_);
  EXPECT_LT(text_.size(), kMaxTableBytes / 2);
  EXPECT_NE(text_.find("1.25"), std::string::npos);
}

TEST_F(TileTableTest, OfAnotherMachineDoesNotCount) {
  TileMachine other = machine_;
  other.model += 1;
  const auto reason = [this](const TileMachine& machine) {
    return std::string(parse_tile_table(format_tile_table(machine, measured()), machine_).reason);
  };
  EXPECT_EQ(reason(other), "was made on another processor");
  other = machine_;
  other.family += 1;
  EXPECT_EQ(reason(other), "was made on another processor");
  other = machine_;
  other.vendor = "GenuineOther";
  EXPECT_EQ(reason(other), "was made on another processor");
  for (uint64_t TileMachine::*cache : {&TileMachine::l1d, &TileMachine::l2, &TileMachine::l3}) {
    other = machine_;
    other.*cache += 1;
    EXPECT_EQ(reason(other), "was made on a processor with other caches");
  }
  other = machine_;
  other.level = "sse2";
  EXPECT_EQ(reason(other), "was made at another level of --isa");
}

TEST_F(TileTableTest, DamagedDoesNotCount) {
  for (size_t size = 0; size + 2 < text_.size(); size += 7) {
    EXPECT_EQ(reason_of(std::string_view(text_).substr(0, size)), "is not JSON") << size;
  }
  for (const std::string text :
       {"[]", "7", "null", "{}", "\"petrel tiles\"", "[[[[[[[[[[[]]]]]]]]]]]"}) {
    EXPECT_EQ(reason_of(text), "is no table of tiles") << text;
  }
  EXPECT_EQ(reason_of(with("petrel tiles", "petrel tilez")), "is no table of tiles");
  EXPECT_EQ(reason_of(std::string(40'000, '[')), "is not JSON");
  EXPECT_EQ(reason_of(text_ + std::string(kMaxTableBytes, ' ')),
            "has more bytes than a table of tiles");
}

TEST_F(TileTableTest, OfAnotherVersionDoesNotCount) {
  for (const std::string version :
       {"0", "2", "-1", "1.5", "\"1\"", "null", "99999999999999999999"}) {
    EXPECT_EQ(reason_of(with("\"version\": 1", "\"version\": " + version)),
              "is of another version");
  }
}

TEST_F(TileTableTest, WithOtherTypesDoesNotCount) {
  const std::string damaged = "is a damaged table of tiles";
  for (const std::string key : {"processor", "caches", "level", "tile", "multiply_adds_per_ns"}) {
    EXPECT_EQ(reason_of(with("\"" + key + "\":", "\"" + key + "s\":")), damaged) << key;
    EXPECT_EQ(reason_of(with("\"" + key + "\":", "\"" + key + "\": 7, \"x\":")), damaged) << key;
  }
  EXPECT_EQ(reason_of(with("1.25", "-1.25")), damaged);
  EXPECT_EQ(reason_of(with("1.25", "\"fast\"")), damaged);
  EXPECT_EQ(reason_of(with("\"1x16\": {", "\"1x16\": 3, \"other\": {")), damaged);
  EXPECT_EQ(reason_of(with("\"family\": ", "\"family\": -")), "was made on another processor");
  EXPECT_EQ(reason_of(with("\"l2\": ", "\"l2\": 0.")), "was made on a processor with other caches");
}

TEST_F(TileTableTest, WithATileThatIsNotKnownDoesNotCount) {
  const std::string name = std::string("\"tile\": \"") + tile_->name;
  for (const std::string tile :
       {"", "1000x1000-avx512f", "14x32", "8x8-fma3\\u0000", "\\n\\u001b[2J"}) {
    EXPECT_EQ(reason_of(with(name, "\"tile\": \"" + tile)), "chooses a tile that is not known");
  }
}

TEST_F(TileTableTest, IsForeignUnlessItBeginsAsOneDoes) {
  EXPECT_FALSE(parse_tile_table("", machine_).is_foreign);
  EXPECT_FALSE(parse_tile_table(text_.substr(0, 100), machine_).is_foreign);
  EXPECT_FALSE(parse_tile_table(with("\"version\": 1", "\"version\": 2"), machine_).is_foreign);
  EXPECT_TRUE(parse_tile_table("{}", machine_).is_foreign);
  EXPECT_TRUE(parse_tile_table("my letters", machine_).is_foreign);
}

TEST_F(TileTableTest, IsAFileOfBoundedSize) {
  EXPECT_EQ(read(write("right", text_)).tile, tile_);
  EXPECT_EQ(read(folder_ + "/none").reason, nullptr);
  EXPECT_EQ(read(folder_ + "/none").tile, nullptr);
  EXPECT_STREQ(read(folder_).reason, "is not a regular file");
  EXPECT_STREQ(read("/dev/zero").reason, "is not a regular file");
  EXPECT_STREQ(read(write("empty", "")).reason, "is not JSON");
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_STREQ(read(fifo).reason, "is not a regular file");
  // Three gigabytes, of which the disk has none.
  const std::string large = write("large", text_);
  ASSERT_EQ(truncate(large.c_str(), int64_t{3} << 30), 0);
  EXPECT_STREQ(read(large).reason, "has more bytes than a table of tiles");
}

TEST_F(TileTableTest, IsTheUsersOwnWhereThatIsAskedFor) {
  const std::string path = folder_ + "/mine";
  ASSERT_TRUE(write_tile_table(path, text_));
  EXPECT_EQ(read_tile_table(path, TableOwner::kUser, machine_).tile, tile_);
  ASSERT_EQ(chmod(path.c_str(), 0622), 0);
  const TableReading shared = read_tile_table(path, TableOwner::kUser, machine_);
  EXPECT_EQ(shared.tile, nullptr);
  EXPECT_NE(shared.reason, nullptr);
  EXPECT_TRUE(shared.is_foreign);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
