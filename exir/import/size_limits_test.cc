// SPDX-License-Identifier: Apache-2.0
#include "exir/import/size_limits.h"

#include <string>
#include <vector>

#include "exir/import/json.h"
#include "exir/import/tensor_meta.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

SizeLimits limits_of(const std::vector<std::string>& words) {
  absl::StatusOr<SizeLimits> limits = SizeLimits::read(words);
  EXPECT_TRUE(limits.ok()) << limits.status();
  return limits.ok() ? *std::move(limits) : SizeLimits();
}

TEST(SizeLimits, ANameComesBeforeAllOthers) {
  const SizeLimits limits = limits_of({"*=64", "s77=512"});
  EXPECT_EQ(limits.find("s77"), 512);
  EXPECT_EQ(limits.find("s33"), 64);
  EXPECT_TRUE(limits.check().ok());
  EXPECT_EQ(limits_of({"s77=512"}).find("s33"), std::nullopt);
  EXPECT_EQ(SizeLimits().find("s33"), std::nullopt);
}

TEST(SizeLimits, RefusesWordsThatAreNoLimit) {
  for (const char* word : {"", "s77", "s77=", "=7", "s77=0", "s77=-1", "s77=2147483648",
                           "s77=99999999999999999999", "s77=many", "s77=7=8", "s77=1.5"}) {
    const absl::StatusOr<SizeLimits> limits = SizeLimits::read({word});
    ASSERT_FALSE(limits.ok()) << word;
    EXPECT_NE(limits.status().message().find("must be NAME=N with N from 1 to 2147483647"),
              std::string::npos)
        << limits.status();
  }
  EXPECT_EQ(SizeLimits::read({"a=1", "a=2"}).status().message(), "max-size a is given twice");
}

TEST(SizeLimits, RefusesWhatWasOfNoUse) {
  const SizeLimits limits = limits_of({"s77=512", "*=4"});
  EXPECT_EQ(limits.check().message(), "max-size *: every size of the model has an upper bound");
  limits.find("s33");
  EXPECT_EQ(limits.check().message(), "max-size s77: the sizes without an upper bound are s33");
}

// Of sizes of inputs alone, and no further down than they go.
TEST(SizeLimits, BoundSizesOfInputs) {
  const std::string text = R"({
      "s0": {"min_val": 2, "max_val": 7}, "s1": {"min_val": 2, "max_val": null},
      "s2": {"min_val": null, "max_val": null}, "u0": {"min_val": 0, "max_val": null},
      "s3": {"min_val": 2, "max_val": 6}, "8*s3": {"min_val": 8, "max_val": 48},
      "s4": {"min_val": 2, "max_val": null}, "2*s4 + 1": {"min_val": 3, "max_val": null},
      "s5": {"min_val": 2, "max_val": 6}, "8*s5": {"min_val": 9, "max_val": 48},
      "s6": {"min_val": 3, "max_val": 6}, "8*s6": {"min_val": 8, "max_val": 48},
      "s7": {"min_val": 2, "max_val": 6}, "8*s7**2": {"min_val": 8, "max_val": 48},
      "s8": {"min_val": 2, "max_val": 6}, "0*s8": {"min_val": 0, "max_val": 48},
      "s9": {"min_val": 2, "max_val": 6}, "3000000000*s9": {"min_val": 3, "max_val": 48},
      "s10": {"min_val": 2, "max_val": 6}, "8*s9*s10": {"min_val": 8, "max_val": 48},
      "s11": {"min_val": 2, "max_val": 6}, "s9 + s11": {"min_val": 2, "max_val": 48},
      "s12": {"min_val": 2, "max_val": 6}, "8* + s12": {"min_val": 2, "max_val": 48}})";
  const auto range_of = [&](const std::vector<std::string>& words, const std::string& name) {
    const auto document =
        JsonDocument::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "ranges");
    absl::StatusOr<Symbols> symbols = Symbols::read(document->root());
    EXPECT_TRUE(symbols.ok()) << symbols.status();
    const absl::Status limited = symbols->limit(limits_of(words));
    if (!limited.ok()) return std::string(limited.message());
    const std::string size =
        "{\"as_expr\": {\"expr_str\": \"Symbol('" + name + "', integer=True)\"}}";
    const auto parsed =
        JsonDocument::parse({reinterpret_cast<const uint8_t*>(size.data()), size.size()}, "size");
    const absl::StatusOr<SizeExpression> made = symbols->resolve(parsed->root());
    if (!made.ok()) return std::string(made.status().message());
    return std::to_string(made->range().low) + ".." + std::to_string(made->range().high);
  };
  EXPECT_EQ(range_of({"*=9"}, "s0"), "2..7");
  EXPECT_EQ(range_of({"*=9"}, "s1"), "2..9");
  EXPECT_EQ(range_of({"*=9"}, "s2"), "0..9");
  EXPECT_NE(range_of({"*=9"}, "u0").find("has no upper bound"), std::string::npos);
  EXPECT_NE(range_of({"s1=9"}, "s2").find("say one with max-size s2=N"), std::string::npos);
  // Calls may be of sizes for an s of 1, though torch says that it is at least 2.
  EXPECT_EQ(range_of({"*=9"}, "s3"), "1..6");
  EXPECT_EQ(range_of({"*=9"}, "s4"), "1..9");
  EXPECT_EQ(range_of({"*=9"}, "s5"), "2..6");  // 8 is too small
  EXPECT_EQ(range_of({"*=9"}, "s6"), "3..6");  // as the graph wants
  for (const char* name : {"s7", "s8", "s9", "s10", "s11", "s12"}) {
    EXPECT_EQ(range_of({"*=9"}, name), "2..6") << name;
  }
  EXPECT_EQ(range_of({"s1=1"}, "s1"), "max-size s1=1: it is at least 2");
}

}  // namespace
}  // namespace petrel::exir
