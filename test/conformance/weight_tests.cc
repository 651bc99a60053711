// SPDX-License-Identifier: Apache-2.0
//
// What the store promises to whoever exports, if the backend declares its weights:
// rules say where they go, names call them, and other weights can take their place.
#include <map>
#include <string>

#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using ::testing::HasSubstr;

exir::WeightRoutes by_name(const std::string& default_file) {
  exir::WeightRoutes routes;
  routes.keys = exir::WeightKeys::kName;
  routes.default_file = default_file;
  return routes;
}

TEST_F(Conformance, WeightsGoWhereRulesSayUnderTheirNames) {
  if (!fixture_.stores_weights) return;
  exir::WeightRoutes routes = by_name("");
  routes.rules = {{"a", "a.ptd"}};
  const Methods methods = {{"forward", steps({"a", "b"})}};
  if (fixture_.packs_weights) {
    const auto refused = compile(methods, backend(), routes);
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("'a.ptd'"));
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("the program"));
    routes.rules = {{"[ab]", "a.ptd"}};
  }
  const Compiled made = compiled(methods, routes);
  std::map<std::string, std::string> files;
  for (const auto& [key, weight] : made.store.ledger().weights()) {
    for (const std::string& source : weight.sources) files[source] = weight.destination;
  }
  const std::map<std::string, std::string> expected = {
      {"a", "a.ptd"}, {"b", fixture_.packs_weights ? "a.ptd" : ""}};
  EXPECT_EQ(files, expected);
  EXPECT_TRUE(made.store.check_all_rules_matched().ok());
  expect_as_kernels(methods, made);
}

// Whether the backend keeps weights to itself is found without asking it.
TEST_F(Conformance, WeightsThatAreNotDeclaredCannotGoToAFileByName) {
  const Methods methods = {{"forward", steps({"a", "b"})}, {"other", steps({"b"})}};
  const Compiled inside = compiled(methods, by_name(""));
  EXPECT_EQ(inside.store.bypassed().empty(), fixture_.stores_weights);
  exir::WeightRoutes some = by_name(""), all = by_name("");
  some.rules = {{"[ab]", "weights.ptd"}};
  all.rules = {{"*", "weights.ptd"}};
  for (const exir::WeightRoutes& routes : {some, all, by_name("weights.ptd")}) {
    const auto outside = compile(methods, backend(), routes);
    if (fixture_.stores_weights) {
      EXPECT_TRUE(outside.ok()) << outside.status();
    } else {
      EXPECT_THAT(std::string(outside.status().message()), HasSubstr("stores it by itself"));
    }
  }
}

// The programs are equal, so that the data of one do for the other.
TEST_F(Conformance, OtherWeightsOfTheSameNamesTakeTheirPlace) {
  if (!fixture_.stores_weights) return;
  const Methods methods = {{"forward", steps({"a", "", "b"})}, {"other", steps({"b", "c"})}};
  const Compiled first = compiled(methods, by_name("weights.ptd"));
  const Compiled second = compiled(methods, by_name("weights.ptd"), "trained again");
  ASSERT_EQ(first.files.at(""), second.files.at(""));
  ASSERT_NE(first.files.at("weights.ptd"), second.files.at("weights.ptd"));
  Files swapped = first.files;
  swapped["weights.ptd"] = second.files.at("weights.ptd");
  for (const auto& [name, unused] : methods) {
    for (uint32_t seed = 0; seed < 3; ++seed) {
      const std::vector<Elements> inputs = make_inputs(first.inputs, seed);
      const std::vector<Elements> outputs = load_and_run(swapped, name, inputs);
      EXPECT_EQ(outputs, load_and_run(second.files, name, inputs));
      EXPECT_NE(outputs, load_and_run(first.files, name, inputs));
    }
  }
  // Those of kernels alone, too.
  const auto kernels = compile({{"forward", methods.at("other")}}, {}, {}, "trained again");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::vector<Elements> inputs = make_inputs(kernels->inputs, 1);
  expect_near(load_and_run(swapped, "other", inputs),
              load_and_run(kernels->files, "forward", inputs));
}

}  // namespace
}  // namespace petrel::conformance
