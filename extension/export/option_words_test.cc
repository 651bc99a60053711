// SPDX-License-Identifier: Apache-2.0
#include "extension/export/option_words.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ExportOption& row(const char* name) {
  const ExportOption* option = find_export_option(name);
  EXPECT_NE(option, nullptr) << name;
  return *option;
}

TEST(ExportOptions, RowsAreConsistent) {
  std::set<std::string> names;
  for (const ExportOption& option : export_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name << " is there twice";
    EXPECT_EQ(option.kind == OptionKind::kChoice, !option.choices.empty()) << option.name;
    if (option.default_word[0] != '\0') {
      EXPECT_EQ(check_word(option, option.default_word), "") << option.name;
    }
  }
}

TEST(ExportOptions, DefaultsAreThoseOfTheDriver) {
  exir::ExportOptions given, none;
  OptionWords defaults;
  for (const ExportOption& option : export_options()) {
    if (option.default_word[0] != '\0') defaults[option.name] = {option.default_word};
  }
  given.backends.for_all.emplace_back();
  none.backends.for_all.emplace_back();
  apply_options(defaults, &given);
  EXPECT_EQ(given.weight_keys, none.weight_keys);
  EXPECT_EQ(given.backends.for_all[0].delegate, none.backends.for_all[0].delegate);
  EXPECT_EQ(given.planning.planner == nullptr, none.planning.planner == nullptr);
}

TEST(ExportOptions, WordsReachTheDriver) {
  exir::ExportOptions options;
  options.backends.for_all.emplace_back();
  options.backends.for_method["decode"].emplace_back();
  apply_options({{"whole-methods", {}},
                 {"partition", {"supported"}},
                 {"allow-petrel-ops", {}},
                 {"external-weights", {"all.ptd"}},
                 {"external", {"a=b=c.ptd", "*=d.ptd"}},
                 {"shard-size", {"2GiB"}},
                 {"weight-keys", {"name"}},
                 {"bind-data", {}},
                 {"replace-data", {}},
                 {"reorder", {}},
                 {"max-arena-bytes", {"16KiB"}},
                 {"planner-command", {"true"}}},
                &options);
  for (const auto& uses : {options.backends.for_all, options.backends.for_method["decode"]}) {
    EXPECT_TRUE(uses[0].whole_method);
    EXPECT_EQ(uses[0].delegate, exir::Delegate::kSupported);
  }
  EXPECT_TRUE(options.allow_petrel_ops);
  EXPECT_EQ(options.external_weights, "all.ptd");
  ASSERT_EQ(options.external.size(), 2u);
  EXPECT_EQ(options.external[0].glob, "a=b");
  EXPECT_EQ(options.external[0].path, "c.ptd");
  EXPECT_EQ(options.shard_bytes, uint64_t{1} << 31);
  EXPECT_EQ(options.weight_keys, exir::WeightKeys::kName);
  EXPECT_TRUE(options.bind_data);
  EXPECT_TRUE(options.replace_data);
  EXPECT_TRUE(options.reorder);
  EXPECT_EQ(options.max_arena_bytes, 16'384u);
  EXPECT_EQ(options.planning.planner_name, "true");
}

TEST(ExportOptions, WrongWordsAreTold) {
  EXPECT_EQ(check_word(row("weight-keys"), "sha"), "must be content or name, is 'sha'");
  EXPECT_THAT(check_word(row("planner"), "best"), HasSubstr("orderings, search or unshared"));
  EXPECT_THAT(check_word(row("external"), "=b.ptd"), HasSubstr("GLOB=FILE.ptd"));
  EXPECT_THAT(check_word(row("external"), "*="), HasSubstr("GLOB=FILE.ptd"));
  EXPECT_THAT(check_word(row("external-weights"), ""), HasSubstr("name of a file"));
  EXPECT_THAT(check_word(row("reorder"), "yes"), HasSubstr("without a value"));
}

TEST(ExportOptions, HaveAsManyWordsAsTheirKindTakes) {
  for (const ExportOption& option : export_options()) {
    const bool is_flag = option.kind == OptionKind::kFlag;
    EXPECT_EQ(check_words(option, {}).empty(), is_flag) << option.name;
    EXPECT_NE(check_words(option, {"", ""}), "") << option.name;
  }
  EXPECT_EQ(check_words(row("weight-keys"), {}), "must be content|name, has no value");
  EXPECT_EQ(check_words(row("weight-keys"), {"name"}), "");
  EXPECT_EQ(check_words(row("weight-keys"), {"name", "name"}), "must be one value, is 2 of them");
  EXPECT_EQ(check_words(row("external"), {"a=b.ptd", "c=d.ptd"}), "");
  EXPECT_THAT(check_words(row("external"), {"a=b.ptd", "c"}), HasSubstr("GLOB=FILE.ptd"));
}

TEST(ExportOptions, PathsAndCommandsHaveNoZeroByte) {
  const std::string zero("a\0b", 3);
  for (const char* name : {"quantize", "external-weights", "planner-command"}) {
    EXPECT_EQ(check_word(row(name), zero), "must have no zero byte") << name;
  }
  EXPECT_EQ(check_word(row("external"), "*=" + zero), "must have no zero byte");
  // Values of compile specs are any bytes.
  EXPECT_EQ(check_word(row("compile-spec"), "key=" + zero), "");
}

TEST(ExportOptions, SizesHaveUnits) {
  EXPECT_EQ(bytes_of("1"), 1u);
  EXPECT_EQ(bytes_of("500MB"), 500'000'000u);
  EXPECT_EQ(bytes_of("500mb"), 500'000'000u);
  EXPECT_EQ(bytes_of("3k"), 3'000u);
  EXPECT_EQ(bytes_of("3KiB"), 3'072u);
  EXPECT_EQ(bytes_of("4611686018427387904"), uint64_t{1} << 62);
  for (const char* wrong : {"", "0", "-1", "MB", "1.5GB", "2 GB", "2xB", "2GiiB",
                            "4611686018427387905", "4611686018427388kB", "99999999999999999999"}) {
    EXPECT_FALSE(bytes_of(wrong).has_value()) << wrong;
  }
}

TEST(Recipe, HoldsWhatChangesTheGraph) {
  const OptionWords given = {{"backend", {"xnnpack", "decode=none"}},
                             {"allow-petrel-ops", {}},
                             {"reorder", {}},
                             {"weight-keys", {"name"}}};
  const std::vector<std::string> recipe = make_recipe(given);
  EXPECT_THAT(recipe, ElementsAre("backend=xnnpack", "backend=decode=none", "partition=cost",
                                  "allow-petrel-ops"));
  const auto read = read_recipe(recipe);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(make_recipe(*read), recipe);
}

TEST(Recipe, RefusesWhatItDoesNotKnow) {
  for (const char* line :
       {"speed=11", "reorder", "whole-methods=yes", "partition", "partition=most", "", "=",
        // A program must not choose a file of the reader's.
        "quantize=/etc/passwd"}) {
    const auto read = read_recipe({line});
    EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition) << line;
  }
}

}  // namespace
}  // namespace petrel::extension
