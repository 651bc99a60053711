// SPDX-License-Identifier: Apache-2.0
#include "exir/board/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_replace.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kMine[] = R"({
  "format": 1, "name": "mine", "family": "mps2",
  "cores": [{"name": "cpu0", "cpu": "cortex-m7", "extensions": ["dsp"]}],
  "accelerators": [{"name": "npu"}],
  "memories": [
    {"name": "flash", "kind": "ro", "address": "0x08000000", "size": "1M"},
    {"name": "dtcm", "kind": "rw", "address": 536870912, "size": 65536, "reserved": "4K"},
    {"name": "shared", "kind": "rw", "address": "0x24000000", "size": "512K",
     "section": ".bss.shared", "reached_by": ["cpu0", "npu"], "cacheable": true,
     "needs_flush": true, "needs_prefetch": true}],
  "timer": {"name": "TIM2", "width": 32, "hz": 240000000, "stops_in_sleep": true},
  "clock": {"configuration": "480 MHz", "core_hz": 480000000},
  "toolchain": {"prefix": "arm-none-eabi-", "flags": ["-mcpu=cortex-m7"]}})";

// What is said of kMine where one piece of it is another one.
std::string said_of(const std::string& piece, const std::string& other) {
  const std::string text = absl::StrReplaceAll(kMine, {{piece, other}});
  EXPECT_NE(text, kMine) << piece;
  const auto board = parse_board(text, "mine.json");
  return board.ok() ? "" : std::string(board.status().message());
}

TEST(BoardTest, EveryShippedBoardIsReadAndCalledAsItsFile) {
  ASSERT_EQ(board_names().size(), 8u);
  for (const std::string& name : board_names()) {
    const auto board = read_board(name);
    ASSERT_TRUE(board.ok()) << board.status();
    EXPECT_EQ(board->name, name);
  }
}

TEST(BoardTest, FilesSayAllThatThereIs) {
  const auto board = parse_board(kMine, "mine.json");
  ASSERT_TRUE(board.ok()) << board.status();
  EXPECT_TRUE(board->cores[0].has("dsp"));
  EXPECT_FALSE(board->cores[0].has("mve"));
  EXPECT_EQ(board->accelerators[0].name, "npu");
  ASSERT_EQ(board->memories.size(), 3u);
  EXPECT_EQ(board->memories[0].kind, plan::PoolKind::kReadOnly);
  EXPECT_EQ(board->memories[1].address, 0x20000000u);
  EXPECT_EQ(board->memories[1].free_bytes(), 61440);
  EXPECT_EQ(board->memories[2].size, 524288);
  EXPECT_TRUE(board->memories[2].cacheable);
  EXPECT_TRUE(board->memories[2].needs_flush);
  EXPECT_TRUE(board->memories[2].needs_prefetch);
  EXPECT_THAT(board->memories[2].reached_by, ::testing::ElementsAre("cpu0", "npu"));
  EXPECT_EQ(board->timer.width, 32);
  EXPECT_TRUE(board->timer.stops_in_sleep);
  EXPECT_EQ(board->clock, "480 MHz");
  EXPECT_EQ(board->core_hz, 480000000);
}

TEST(BoardTest, WhatIsWrongIsNamedWithItsValue) {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"\"size\": 65536", "\"size\": -4"}, "memories[1].size: is -4, must be 4096, \"64K\""},
      {{"\"size\": 65536", "\"size\": 1e30"}, "memories[1].size: is 1e+30"},
      {{"\"size\": 65536", "\"sizes\": 65536"}, "memories[1].size: is missing"},
      {{"\"4K\"", "\"65K\""}, "memories[1].reserved: is \"65K\", must be"},
      {{"\"stops_in_sleep\"", "\"sleeps\""}, "timer.sleeps: is no key that is known here"},
      {{"\"width\": 32", "\"width\": 65"}, "timer.width: is 65, must be a whole number in [8, 64]"},
      {{"\"kind\": \"ro\"", "\"kind\": \"rom\""}, "memories[0].kind: is 'rom', must be ro or rw"},
      {{"\"0x24000000\"", "\"0x2000ff00\""}, "memories 'dtcm' and 'shared' overlap at 0x2000ff00"},
      {{"\"section\": \".bss.shared\",", ""}, "memory 'shared' has no section"},
      {{"[\"cpu0\", \"npu\"]", "[\"cpu1\"]"}, "memory 'shared' is reached by 'cpu1'"},
      {{"\"dtcm\"", "\"shared\""}, "two memories are called 'shared'"},
      {{"\"npu\"}", "\"cpu0\"}"}, "two cores are called 'cpu0'"},
      {{"\"format\": 1", "\"format\": 2"}, "format: is 2, must be a whole number in [1, 1]"},
      {{"\"mine\"", "\"../mine\""}, "name: is '../mine', must be at most 60 letters"},
      {{"-mcpu=cortex-m7", "-mcpu=m7; rm -r x"}, "toolchain.flags: holds '-mcpu=m7; rm -r x'"},
      {{"\"cacheable\": true", "\"cacheable\": 1"}, "memories[2].cacheable: is 1, must be true"},
      {{"{\"name\": \"npu\"}", "7"}, "accelerators[0]: is 7, must be an object"},
      {{"\"cores\": [", "\"cores\": {"}, "is not JSON"},
  };
  for (const auto& [change, expected] : cases) {
    const std::string said = said_of(change.first, change.second);
    EXPECT_THAT(said, HasSubstr("board mine.json: "));
    EXPECT_THAT(said, HasSubstr(expected)) << change.second;
  }
}

TEST(BoardTest, ABoardThatThereIsNotIsToldWithThoseThatThereAre) {
  EXPECT_THAT(std::string(read_board("qemu-mps2").status().message()),
              HasSubstr("there is no board 'qemu-mps2'; there are cmake-generic, host, qemu-"));
  EXPECT_THAT(std::string(read_board("no/such.json").status().message()),
              HasSubstr("board no/such.json: No such file"));
}

}  // namespace
}  // namespace petrel::exir
