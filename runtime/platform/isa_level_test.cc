// SPDX-License-Identifier: Apache-2.0
//
// One process fixes one level, so the tests here are one story in order.
#include "runtime/platform/isa_level.h"

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

class IsaLevelTest : public ::testing::Test {
 protected:
  IsaLevelTest() : before_(set_log_hook({&keep, this})) {}
  ~IsaLevelTest() override { set_log_hook(before_); }

  std::string message_;

 private:
  static void keep(void* context, LogLevel, const char* message) {
    static_cast<IsaLevelTest*>(context)->message_ = message;
  }
  LogHook before_;
};

TEST_F(IsaLevelTest, NamesAreUniqueAndTheLowestAndNativeAreEverywhere) {
  std::set<std::string> names;
  for (const IsaLevel& level : isa_levels()) {
    EXPECT_TRUE(names.insert(level.name).second) << level.name;
    EXPECT_EQ(level.needed & ~level.features, 0u) << level.name << " needs what it does not allow";
  }
  EXPECT_TRUE(is_available(isa_levels()[0]));
  const IsaLevel& last = isa_levels()[isa_levels().size() - 1];
  EXPECT_STREQ(last.name, "native");
  EXPECT_TRUE(is_available(last));
  EXPECT_EQ(last.processor, nullptr);
}

#if defined(__x86_64__)

bool machine_has(uint32_t features) { return is_available({"", features, features, ""}); }

// The built-in of gcc, whose library asks the processor.
TEST_F(IsaLevelTest, FeaturesAreThoseOfTheBuiltIn) {
  __builtin_cpu_init();
#define EXPECT_SAME(feature, name) \
  EXPECT_EQ(machine_has(feature), __builtin_cpu_supports(name) != 0) << name
  EXPECT_SAME(kSsse3, "ssse3");
  EXPECT_SAME(kSse41, "sse4.1");
  EXPECT_SAME(kAvx, "avx");
  EXPECT_SAME(kFma3, "fma");
  EXPECT_SAME(kAvx2, "avx2");
  EXPECT_SAME(kAvx512f, "avx512f");
  EXPECT_SAME(kAvx512vbmi, "avx512vbmi");
  EXPECT_SAME(kAvx512vnni, "avx512vnni");
  EXPECT_SAME(kGfni, "gfni");
#undef EXPECT_SAME
  EXPECT_EQ(machine_has(kAvx512skx),
            __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0);
}

// What gcc 12 has no name for, the system has.
TEST_F(IsaLevelTest, OtherFeaturesAreThoseOfTheSystem) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; flags.empty() && std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    flags.insert(std::istream_iterator<std::string>(words), {});
  }
  ASSERT_FALSE(flags.empty());
  EXPECT_EQ(machine_has(kF16c), flags.count("f16c") != 0);
  EXPECT_EQ(machine_has(kAvxVnni), flags.count("avx_vnni") != 0);
  EXPECT_EQ(machine_has(kAmxInt8), flags.count("amx_int8") != 0);
}

#endif

TEST_F(IsaLevelTest, UnknownLevelIsRefusedWithThoseThatThisProcessorHas) {
  EXPECT_EQ(set_isa_level("avx9"), Error::InvalidArgument);
  EXPECT_NE(message_.find("'avx9' is unknown"), std::string::npos) << message_;
  for (const IsaLevel& level : isa_levels()) {
    const std::string word = std::string(level.name) + (level.processor == nullptr ? "" : ",");
    EXPECT_EQ(message_.find(" " + word) != std::string::npos, is_available(level))
        << level.name << ": " << message_;
  }
  EXPECT_EQ(set_isa_level(""), Error::InvalidArgument);
  EXPECT_EQ(set_isa_level(std::string(300, 'x')), Error::InvalidArgument);
}

TEST_F(IsaLevelTest, LevelThatTheProcessorLacksIsRefused) {
  for (const IsaLevel& level : isa_levels()) {
    if (is_available(level)) continue;
    EXPECT_EQ(set_isa_level(level.name), Error::InvalidArgument);
    EXPECT_NE(message_.find(std::string("'") + level.name + "' is not there"), std::string::npos)
        << message_;
  }
}

TEST_F(IsaLevelTest, LastLevelSetBeforeUseCountsAndNoneAfter) {
  const std::string lowest = isa_levels()[0].name;
  EXPECT_EQ(set_isa_level("native"), Error::Ok);
  EXPECT_EQ(set_isa_level(lowest), Error::Ok);
  EXPECT_EQ(isa_level().name, lowest);
  EXPECT_EQ(set_isa_level("native"), Error::InvalidState);
  EXPECT_EQ(message_, "instruction set is '" + lowest + "' and in use, cannot become 'native'");
  EXPECT_EQ(set_isa_level(lowest), Error::Ok);
  EXPECT_EQ(isa_level().name, lowest);
}

}  // namespace
}  // namespace petrel::runtime
