// SPDX-License-Identifier: Apache-2.0

// Which tile a process settles on, and what it says of files that do not count. A process settles
// once, so every case is a process of its own, which ends with 10 and the number of warnings.
#include "backends/xnnpack/runtime/tiles.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/tile_table.h"
#include "runtime/core/log.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

using Kind = TileRequest::Kind;

constexpr int kWithoutWarning = 10;
std::atomic<int> warnings{0};

void count(void*, runtime::LogLevel, const char* message) {
  ++warnings;
  std::fprintf(stderr, "%s\n", message);
}

std::string table_of(const petrel_tile* tile, const TileMachine& machine) {
  return format_tile_table(machine, {{}, tile, 0});
}

// A tile that the rule does not take.
const petrel_tile* other_tile() { return third_party::xnnpack::possible_tiles().back(); }

[[noreturn]] void end(const SettledTiles& tiles) {
  std::fprintf(stderr, "settled %s\n", tiles.text().c_str());
  _exit(kWithoutWarning + warnings);
}

[[noreturn]] void settle_and_end(const TileRequest& request) {
  runtime::set_log_hook({&count, nullptr});
  end(settle_tiles(request));
}

// With a private file of `text` that is made of the processor.
template <typename Text>
[[noreturn]] void settle_with(Kind kind, const std::string& path, const char* level, Text text) {
  if (runtime::set_isa_level(level) != runtime::Error::Ok) _exit(1);
  if (start_xnnpack() != xnn_status_success) _exit(2);
  if (!write_tile_table(path, text(this_machine()))) _exit(3);
  settle_and_end({kind, path});
}

testing::ExitedWithCode with_warnings(int number) {
  return testing::ExitedWithCode(kWithoutWarning + number);
}

bool has_level(std::string_view name) {
  for (const runtime::IsaLevel& level : runtime::isa_levels()) {
    if (name == level.name) return is_available(level);
  }
  return false;
}

class TilesDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_level("avx2")) GTEST_SKIP() << "this processor has no candidates";
    std::string pattern = testing::TempDir() + "/tiles_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern + "/table";
  }

  std::string path_;
};

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(TilesDeathTest, AreThoseOfTheRuleUnlessOthersAreAskedFor) {
  const char* const rule = "^settled [0-9]+x[0-9]+-[a-z0-9]+ .rule.\n$";
  EXPECT_EXIT(settle_and_end({}), with_warnings(0), rule);
  EXPECT_EXIT(settle_and_end({Kind::kRule, ""}), with_warnings(0), rule);
}

TEST_F(TilesDeathTest, AreThoseOfATable) {
  const auto text = [](const TileMachine& machine) { return table_of(other_tile(), machine); };
  EXPECT_EXIT(settle_with(Kind::kTable, path_, "native", text), with_warnings(0),
              "^settled 8x8-fma3 .table .*/table.\n$");
}

TEST_F(TilesDeathTest, AreThoseOfTheRuleWhereATableDoesNotCount) {
  const char* const rule = "^tiles '.*/table' [^\n]*; the rule chooses\nsettled [^\n]* .rule.\n$";
  EXPECT_EXIT(settle_and_end({Kind::kTable, path_}), with_warnings(1), rule);
  const auto expect = [&](auto text) {
    EXPECT_EXIT(settle_with(Kind::kTable, path_, "native", text), with_warnings(1), rule);
  };
  expect([](const TileMachine&) { return ""; });
  expect([](const TileMachine&) { return "{\"format\": \"petrel tiles\"}"; });
  expect([](TileMachine machine) {
    ++machine.model;
    return table_of(other_tile(), machine);
  });
  expect([](TileMachine machine) {
    machine.level = "avx2";
    return table_of(other_tile(), machine);
  });
}

TEST_F(TilesDeathTest, AreNoneThatTheLevelForbids) {
  if (!has_level("avx512f")) GTEST_SKIP() << "no level forbids anything here";
  const auto text = [](const TileMachine& machine) {
    return table_of(petrel_find_tile("14x32-avx512f"), machine);
  };
  EXPECT_EXIT(settle_with(Kind::kTable, path_, "avx2", text), with_warnings(1),
              "^tiles '.*' chooses a tile that is not allowed here; the rule chooses\n"
              "settled 6x16-fma3 .rule.\n$");
  EXPECT_EXIT(settle_with(Kind::kTrial, path_, "avx2", text), with_warnings(1),
              "^tiles '.*' chooses a tile that is not allowed here; they are measured again\n"
              "settled [^ ]*-fma3 .trial.\n$");
}

TEST_F(TilesDeathTest, AreTheOnlyOnesWithoutFma) {
  const auto text = [](const TileMachine& machine) { return table_of(other_tile(), machine); };
  const auto settle_low = [&](Kind kind) {
    if (runtime::set_isa_level("sse2") != runtime::Error::Ok) _exit(1);
    settle_and_end({kind, path_});
  };
  EXPECT_EXIT(settle_with(Kind::kTable, path_, "native", text), with_warnings(0), "table");
  for (const Kind kind : {Kind::kAny, Kind::kRule, Kind::kTrial, Kind::kTable}) {
    EXPECT_EXIT(settle_low(kind), with_warnings(0), "^settled no choice .rule.\n$");
  }
}

TEST_F(TilesDeathTest, OfATrialAreKeptAndReadTheNextTime) {
  EXPECT_EXIT(settle_and_end({Kind::kTrial, ""}), with_warnings(0), "^settled .* .trial.\n$");
  EXPECT_EXIT(settle_and_end({Kind::kTrial, path_}), with_warnings(0), "^settled .* .trial.\n$");
  EXPECT_NE(read_file(path_).find("\"multiply_adds_per_ns\""), std::string::npos);
  // What a trial would hardly choose shows that none is made.
  const auto text = [](const TileMachine& machine) { return table_of(other_tile(), machine); };
  EXPECT_EXIT(settle_with(Kind::kTrial, path_, "native", text), with_warnings(0),
              "^settled 8x8-fma3 .trial.\n$");
  EXPECT_EXIT(settle_and_end({Kind::kTrial, path_}), with_warnings(0),
              "^settled 8x8-fma3 .trial.\n$");
}

TEST_F(TilesDeathTest, OfATrialReplaceATableThatDoesNotCount) {
  const auto other = [](TileMachine machine) {
    machine.l2 += 1;
    return table_of(other_tile(), machine);
  };
  EXPECT_EXIT(settle_with(Kind::kTrial, path_, "native", other), with_warnings(1),
              "^tiles '.*' was made on a processor with other caches; they are measured again\n");
  EXPECT_EXIT(settle_and_end({Kind::kTrial, path_}), with_warnings(0), "^settled .* .trial.\n$");
}

TEST_F(TilesDeathTest, OfATrialLeaveFilesOfOthersAlone) {
  const auto letter = [](const TileMachine&) { return "Dear Sir,"; };
  EXPECT_EXIT(settle_with(Kind::kTrial, path_, "native", letter), with_warnings(1),
              "^tiles '.*' is not JSON; they are measured again\nsettled .* .trial.\n$");
  EXPECT_EQ(read_file(path_), "Dear Sir,");
}

TEST_F(TilesDeathTest, OfATrialThatCannotBeKeptAreTakenAllTheSame) {
  EXPECT_EXIT(settle_and_end({Kind::kTrial, "/no/such/folder/x.tiles"}), with_warnings(1),
              "^tiles '/no/such/folder/x.tiles' cannot be written: .*\nsettled .* .trial.\n$");
}

// Requests behind the first one: what is there, and one line for each of another kind.
[[noreturn]] void settle_late(const TileRequest& first, const std::vector<TileRequest>& later) {
  runtime::set_log_hook({&count, nullptr});
  const SettledTiles& tiles = settle_tiles(first);
  for (const TileRequest& request : later) {
    if (&settle_tiles(request) != &tiles) _exit(1);
  }
  end(tiles);
}

TEST_F(TilesDeathTest, StayAsTheyAre) {
  const TileRequest rule = {Kind::kRule, ""}, trial = {Kind::kTrial, ""};
  const TileRequest table = {Kind::kTable, path_};
  EXPECT_EXIT(settle_late({}, {{}, rule, rule}), with_warnings(0), ".rule.\n$");
  EXPECT_EXIT(settle_late(trial, {trial, {}, {Kind::kTrial, "other"}}), with_warnings(0),
              ".trial.\n$");
  EXPECT_EXIT(settle_late({}, {trial, trial, table, table}), with_warnings(2),
              "^tiles 'trial' is asked for too late: this process computes in .* .rule.\n"
              "tiles '.*/table' is asked for too late: this process computes in .* .rule.\n"
              "settled .* .rule.\n$");
}

TEST_F(TilesDeathTest, AreTheSameForAllThreads) {
  const auto settle_by_threads = [this] {
    runtime::set_log_hook({});
    std::vector<const SettledTiles*> settled(8);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < settled.size(); ++i) {
      const auto kind = static_cast<Kind>(i % 4);
      threads.emplace_back([&, i, kind] { settled[i] = &settle_tiles({kind, path_}); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const SettledTiles* one : settled) {
      if (one != settled[0] || one != settled_tiles()) _exit(1);
    }
    end(*settled[0]);
  };
  EXPECT_EXIT(settle_by_threads(), with_warnings(0), "^settled ");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
