// SPDX-License-Identifier: Apache-2.0
#include "exir/plan/formats/memory_pool.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::vector<std::string>& words) {
  const auto pools = parse_memory_pools(words);
  return pools.ok() ? "" : std::string(pools.status().message());
}

TEST(MemoryPool, ShortFormIsANameAndASize) {
  const auto pools = parse_memory_pools({"sram=64K", "a b=3", "dram=unlimited"});
  ASSERT_TRUE(pools.ok()) << pools.status();
  ASSERT_EQ(pools->size(), 3u);
  EXPECT_EQ((*pools)[0].name, "sram");
  EXPECT_EQ((*pools)[0].capacity(), 65536);
  EXPECT_EQ((*pools)[1].name, "a b");
  EXPECT_FALSE((*pools)[2].capacity().has_value());
  EXPECT_EQ((*pools)[2].kind, PoolKind::kReadWrite);
}

TEST(MemoryPool, LongFormHasAllKeys) {
  const auto pools = parse_memory_pools(
      {"name=flash,kind=ro,size=1M,limit=512K,prefer=4096,align=64,section=.rodata.a-b_$1,"
       "address=0xFFFFffff00000000,targets=c,npu,dsp-1"});
  ASSERT_TRUE(pools.ok()) << pools.status();
  const MemoryPool& pool = (*pools)[0];
  EXPECT_EQ(pool.kind, PoolKind::kReadOnly);
  EXPECT_EQ(pool.size, 1 << 20);
  EXPECT_EQ(pool.capacity(), 512 << 10);
  EXPECT_EQ(pool.prefer, 4096);
  EXPECT_EQ(pool.alignment, 64);
  EXPECT_EQ(pool.section, ".rodata.a-b_$1");
  EXPECT_EQ(pool.address, 0xFFFFffff00000000u);
  EXPECT_THAT(pool.targets, ElementsAre("c", "npu", "dsp-1"));
  EXPECT_TRUE(pool.reaches("npu"));
  EXPECT_FALSE(pool.reaches("gpu"));
  EXPECT_TRUE(MemoryPool().reaches("gpu"));
  const Pool planned = to_pool(pool);
  EXPECT_EQ(planned.capacity, 512 << 10);
  EXPECT_EQ(planned.preferred_capacity, 4096);
}

TEST(MemoryPool, WrongValuesAreNamed) {
  const struct {
    const char* word;
    const char* message;
  } kCases[] = {
      {"sram", "--pool is 'sram', must be NAME=BYTES"},
      {"5", "--pool is '5'"},
      {"=5", "--pool is '=5'"},
      {"x=", "--pool is 'x='"},
      {"x=K", "--pool is 'x=K'"},
      {"", "--pool is ''"},
      {"x=-5", "--pool is 'x=-5'"},
      {"x= 5", "--pool is 'x= 5'"},
      {"x=5 ", "--pool is 'x=5 '"},
      {"x=9999999999999999999999", "--pool is"},
      {"x=9999999999999M", "--pool is"},
      {"x\n=5", "--pool is 'x\n=5'"},
      {"name=x,", " is '', is no key"},
      {"name=", "name is '', must be a name"},
      {"size=5,kind=rw", "there is no name="},
      {"name=x,colour=red", "colour is 'red', is no key; the keys are name, kind"},
      {"name=x,size", "size is '', must be bytes"},
      {"name=x,size=4K,size=8K", "size is given twice"},
      {"name=x,size=0x10", "size is '0x10', must be bytes"},
      {"name=x,limit=-1", "limit is '-1'"},
      {"name=x,kind=wo", "kind is 'wo', must be rw or ro"},
      {"name=x,align=0", "align is '0', must be a power of two from 1 to 1048576"},
      {"name=x,align=24", "align is '24', must be a power of two"},
      {"name=x,align=2M", "align is '2M', must be a power of two"},
      {"name=x,align=unlimited", "align is 'unlimited'"},
      {"name=x,section=.a\"b", "section is '.a\"b', must be letters"},
      {"name=x,section=.a\nb", "section is '.a\nb', must be letters"},
      {"name=x,section=.a b", "section is '.a b', must be letters"},
      {"name=x,section=", "section is '', must be letters"},
      {"name=x,section=.text.fast", "section is '.text.fast', which kind=rw cannot be"},
      {"section=.rodata,name=x,kind=rw", "section is '.rodata', which kind=rw cannot be"},
      {"name=x,address=12z", "address is '12z', must be 0x"},
      {"name=x,address=0x", "address is '0x', must be 0x"},
      {"name=x,address=", "address is '', must be 0x"},
      {"name=x,address=+1", "address is '+1', must be 0x"},
      {"name=x,address= 12", "address is ' 12', must be 0x"},
      {"name=x,address=0x0x10", "address is '0x0x10', must be 0x"},
      {"name=x,address=-1", "address is '-1', must be 0x"},
      {"name=x,address=0x10000000000000000", "address is '0x10000000000000000'"},
      {"name=x,address=0x1002,align=4", "address is 4098, must be a multiple of 4"},
      {"name=x,targets=", "targets is '', must be names of targets"},
      {"name=x,targets=c,n u", "targets is 'n u', must be names"},
      {"name=x,targets=c,kind=ro,npu", "npu is '', is no key"},
      {"name=x,size=1K,limit=2K", "limit is 2048, more than the size, 1024"},
      {"name=x,size=4K,limit=1K,prefer=2K", "prefer is 2048, more than 1024"},
      {"name=x,size=16,address=0xfffffffffffffff8", "beyond 2^64"},
  };
  for (const auto& [word, message] : kCases) {
    EXPECT_THAT(error_of({word}), HasSubstr(message)) << word;
  }
}

TEST(MemoryPool, PoolsMustNotMeet) {
  EXPECT_THAT(error_of({"x=1", "name=x,size=2"}), HasSubstr("pool 'x' is given twice"));
  const std::string at = "name=b,size=256,address=";
  const std::string a = "name=a,size=4K,address=0x1000";
  EXPECT_THAT(error_of({a, at + "0x1f00"}),
              HasSubstr("pools overlap: 'a' has 4096 bytes at 0x1000, and 'b' has 256 bytes at "
                        "0x1f00"));
  EXPECT_THAT(error_of({at + "0x1fff", a}), HasSubstr("pools overlap: 'b'"));
  EXPECT_THAT(error_of({a, "name=c,address=0x1000"}),
              HasSubstr("pools overlap: 'a' has 4096 bytes at 0x1000, and 'c' begins at 0x1000"));
  EXPECT_EQ(error_of({a, at + "0x2000"}), "");
  EXPECT_EQ(error_of({a, at + "0xf00"}), "");
  EXPECT_EQ(error_of({a, "name=c,size=1M"}), "");
  const std::string shared = "pools 'a' and 'b' share section .x";
  EXPECT_THAT(error_of({"name=a,section=.x", "name=b,section=.x,kind=ro"}), HasSubstr(shared));
  EXPECT_THAT(error_of({"name=a,section=.x", "name=b,section=.x,address=64"}), HasSubstr(shared));
  EXPECT_EQ(error_of({"name=a,section=.x", "name=b,section=.x"}), "");
  // Of those without a size only what is used counts.
  const auto pools = parse_memory_pools({"name=a,address=0", "name=b,address=16"});
  ASSERT_TRUE(pools.ok());
  EXPECT_TRUE(check_addresses(*pools, {16, 1}).ok());
  EXPECT_FALSE(check_addresses(*pools, {17, 1}).ok());
  EXPECT_TRUE(check_addresses(*pools, {17, 0}).ok());
}

}  // namespace
}  // namespace petrel::exir::plan
