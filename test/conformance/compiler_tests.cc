// SPDX-License-Identifier: Apache-2.0
//
// What the compiler's half owes: results in order and number, the same for the
// same partitions, and errors for what it does not know.
#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using ::testing::HasSubstr;

TEST_F(Conformance, BothHalvesHaveOneName) {
  EXPECT_EQ(fixture_.compiler->id(), fixture_.runtime.name);
  EXPECT_LT(fixture_.compiler->id().size(), runtime::kMaxOptionKeyLength);
}

TEST_F(Conformance, TakesTheStepAndLeavesTheBarrierWithAReason) {
  const Compiled made = compiled({{"forward", steps({"a", "", "b"})}});
  EXPECT_EQ(made.delegated_nodes(), 2u);
  ASSERT_EQ(made.report.left_behind.size(), 1u);
  EXPECT_FALSE(made.report.left_behind[0].reason.empty());
}

TEST_F(Conformance, CompilesTheSamePartitionsToTheSameBytes) {
  const Methods methods = {{"forward", steps({"a", "b", "", "a"})}, {"other", steps({"b"})}};
  const Compiled first = compiled(methods);
  const Compiled second = compiled(methods);
  EXPECT_TRUE(first.files == second.files);
}

// The parts of the methods, uncompiled, as preprocess_all gets them.
class Partitions {
 public:
  Partitions(const Methods& methods, const exir::Partitioner& partitioner) {
    auto program = parse_program(methods);
    EXPECT_TRUE(program.ok()) << program.status();
    if (program.ok()) program_ = *std::move(program);
    for (const auto& [name, method] : program_.methods) {
      exir::Subprogram partition;
      partition.method = name;
      partition.graph = method.graph.get();
      map[name].push_back(partition);
      for (const auto& node : method.graph->nodes()) {
        EXPECT_TRUE(partitioner.supports(*node).supported) << node->describe();
      }
    }
  }
  exir::SubprogramMap map;

 private:
  exir::Program program_;
};

TEST_F(Conformance, ReturnsOneResultForEachPartitionInOrder) {
  const Partitions partitions({{"b", steps({"p"})}, {"a", steps({"q", "q"})}},
                              fixture_.compiler->partitioner());
  ASSERT_EQ(partitions.map.size(), 2u);
  exir::SubprogramMap twice = partitions.map;
  twice["a"].push_back(twice["a"][0]);
  twice["a"][1].index = 1;
  exir::RoutedBlobStore store;
  auto results = fixture_.compiler->preprocess_all(twice, store);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(results->at("a").size(), 2u);
  EXPECT_EQ(results->at("b").size(), 1u);
}

TEST_F(Conformance, TakesNoPartitionsAndMethodsWithoutPartitions) {
  exir::RoutedBlobStore store;
  auto none = fixture_.compiler->preprocess_all({}, store);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->empty());
  Partitions partitions({{"a", steps({"q"})}}, fixture_.compiler->partitioner());
  ASSERT_EQ(partitions.map.size(), 1u);
  partitions.map["without"] = {};
  auto some = fixture_.compiler->preprocess_all(partitions.map, store);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->at("a").size(), 1u);
  const auto without = some->find("without");
  EXPECT_TRUE(without == some->end() || without->second.empty());
}

TEST_F(Conformance, AMethodWithNothingToTakeHasNoDelegate) {
  const Compiled made = compiled({{"forward", steps({""})}, {"other", steps({"a"})}});
  ASSERT_EQ(made.partitions.size(), 1u);
  EXPECT_EQ(made.partitions[0].method, "other");
  expect_as_kernels({{"forward", steps({""})}}, made);
}

TEST_F(Conformance, RefusesACompileSpecItDoesNotKnowByName) {
  const absl::Status status = fixture_.compiler->check_compile_specs({{"no such spec", "1"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no such spec"));
}

TEST_F(Conformance, TakesWholeMethodsOrSaysWhichNodeNot) {
  exir::BackendSelection whole = backend();
  whole.for_all[0].whole_method = true;
  const Methods methods = {{"forward", steps({"a", "b"})}, {"other", steps({"a"})}};
  auto made = compile(methods, whole);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->partitions.size(), 2u);
  expect_as_kernels(methods, *made);
  auto refused = compile({{"forward", steps({"a", ""})}}, whole);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("method 'forward'"));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("node 'v1'"));
}

}  // namespace
}  // namespace petrel::conformance
