// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/table.h"
#include "exir/partition/partition.h"
#include "exir/partition/recording_backend.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// A random graph in which every node may read any earlier value.
std::unique_ptr<Graph> random_graph(uint32_t seed, size_t nodes) {
  std::mt19937 random(seed);
  auto graph = std::make_unique<Graph>("forward");
  const TensorType type = TensorType::contiguous(ScalarType::kFloat, {2});
  std::vector<Value*> values = {graph->add_input(type, "x")};
  for (size_t i = 0; i < nodes; ++i) {
    // Near operands mostly, as in real models, and some far ones.
    const size_t reach = random() % 4 == 0 ? values.size() : 8;
    const auto pick = [&] {
      return values[values.size() - 1 - random() % std::min(reach, values.size())];
    };
    if (random() % 3 != 0) {
      values.push_back(graph
                           ->append(op("aten.add.Tensor"),
                                    {Argument(pick()), Argument(pick()), Argument(int64_t{1})},
                                    {type}, "add")
                           ->result());
    } else {
      values.push_back(
          graph->append(op("aten.mul.Tensor"), {Argument(pick()), Argument(pick())}, {type}, "mul")
              ->result());
    }
  }
  std::vector<Value*> outputs;
  for (Value* value : values) {
    if (value->users().empty()) outputs.push_back(value);
  }
  graph->set_outputs(std::move(outputs));
  return graph;
}

// The most changes from supported to unsupported along any path to a supported
// node, plus one: no set of acyclic partitions can be smaller.
size_t fewest_partitions(const Graph& graph) {
  std::map<const Value*, size_t> depth;
  size_t fewest = 0;
  for (const auto& node : graph.nodes()) {
    size_t& d = depth[node->result()];
    const bool supported = node->op().name == "aten::add";
    for (const Value* operand : node->operands()) {
      const Node* producer = operand->producer();
      if (producer == nullptr) continue;
      const bool leaves = !supported && producer->op().name == "aten::add";
      d = std::max(d, depth.at(operand) + (leaves ? 1 : 0));
    }
    if (supported) fewest = std::max(fewest, d + 1);
  }
  return fewest;
}

TEST(LowerToBackend, RandomGraphsStayAcyclicWithTheFewestPartitions) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Program program;
    program.methods["forward"].graph = random_graph(seed, 5 + seed * 3);
    Graph& graph = *program.methods["forward"].graph;
    const size_t fewest = fewest_partitions(graph);
    RecordingBackend backend;
    RoutedBlobStore store;
    // Verifies the graph, so a use before its definition would show.
    auto report = lower_to_backend(program, backend, {}, store);
    ASSERT_TRUE(report.ok()) << seed << ": " << report.status();
    EXPECT_EQ(report->taken[0].partitions, fewest) << seed;
    size_t calls = 0;
    for (const auto& node : graph.nodes()) {
      EXPECT_NE(node->op().name, "aten::add");
      calls += node->delegate() != nullptr ? 1 : 0;
    }
    EXPECT_EQ(calls, fewest);
  }
}

// Takes all that is of one of two kinds, by the number in a node's name.
class TwoKinds final : public Partitioner {
 public:
  Support supports(const Node&) const override { return Support::yes(); }
  std::string group(const Node& node) const override {
    return node.result()->name().back() % 2 == 0 ? "even" : "odd";
  }
};

class TwoKindsBackend final : public RecordingBackend {
 public:
  const Partitioner& partitioner() const override { return kinds_; }

 private:
  TwoKinds kinds_;
};

TEST(LowerToBackend, RandomGraphsInGroupsStayAcyclicAndAreTakenWhole) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Program program;
    program.methods["forward"].graph = random_graph(seed, 5 + seed * 3);
    TwoKindsBackend backend;
    backend.tamper = [](ResultMap& results) {
      for (PreprocessResult& result : results["forward"]) {
        result.debug_handles.clear();
      }
    };
    RoutedBlobStore store;
    auto report = lower_to_backend(program, backend, {}, store);
    ASSERT_TRUE(report.ok()) << seed << ": " << report.status();
    for (const auto& node : program.methods["forward"].graph->nodes()) {
      EXPECT_NE(node->delegate(), nullptr);
    }
    for (const std::string& text : backend.texts) {
      const auto partition = parse_graph(text, find_op, zeros);
      ASSERT_TRUE(partition.ok());
      std::set<std::string> groups;
      for (const auto& node : (*partition)->nodes()) groups.insert(TwoKinds().group(*node));
      EXPECT_EQ(groups.size(), 1u) << text;
    }
  }
}

// Quadratic work on so many nodes would run into the test's time limit.
TEST(ProposePartitions, TakesLargeGraphs) {
  const auto graph = random_graph(1, 100000);
  const auto partitions = propose_partitions(*graph, AddPartitioner(), nullptr);
  size_t taken = 0;
  size_t supported = 0;
  for (const auto& partition : partitions) taken += partition.size();
  for (const Node* node : graph->node_pointers()) {
    supported += AddPartitioner().supports(*node).supported;
  }
  EXPECT_EQ(taken, supported);
}

// Level by level the loop of refusals goes on: each group that is refused parts one more.
std::string falling_groups(int count) {
  std::string text = "method @forward(%x: f32[2]) {\n  %m0 = aten.add.Tensor(%x, %x, 1) : f32[2]\n";
  for (int i = 1; i < count + 2; ++i) {
    absl::StrAppend(&text, "  %n", i, " = aten.sigmoid.default(%m", i - 1, ") : f32[2]\n  %m", i,
                    " = aten.add.Tensor(%n", i, ", %n", i, ", 1) : f32[2]\n");
  }
  std::string outputs;
  text += "  %b0 = aten.relu.default(%x) : f32[2]\n";
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&text, "  %u", i, " = aten.sigmoid.default(%b", i - 1, ") : f32[2]\n  %w", i,
                    " = aten.add.Tensor(%u", i, ", %u", i, ", 1) : f32[2]\n  %t", i,
                    " = aten.sigmoid.default(%w", i, ") : f32[2]\n  %b", i,
                    " = aten.relu.default(%t", i, ") : f32[2]\n  %v", i,
                    " = aten.sigmoid.default(%m", i + 1, ") : f32[2]\n  %c", i,
                    " = aten.add.Tensor(%b", i, ", %v", i, ", 1) : f32[2]\n");
    absl::StrAppend(&outputs, i == 1 ? "%c" : ", %c", i);
  }
  return text + "  return " + outputs + "\n}\n";
}

class CountingPartitioner final : public AddPartitioner {
 public:
  size_t most_inputs_and_outputs() const override {
    ++times;
    return most;
  }
  mutable int times = 0;  // once whenever groups are refused
};

TEST(ProposePartitions, RefusesThousandsOfGroupsInFewTimes) {
  const auto graph = parse(falling_groups(500));
  ASSERT_NE(graph, nullptr);
  CountingPartitioner partitioner;
  partitioner.takes_relu_alone = false;
  propose_partitions(*graph, partitioner, nullptr);
  EXPECT_LT(partitioner.times, 100);
  EXPECT_GT(partitioner.times, 64);  // as many as are made anew
}

TEST(LowerToBackend, GroupsThatFallStayAcyclic) {
  Program program = program_of({{"forward", falling_groups(100)}});
  RecordingBackend backend;
  backend.partitioner_.takes_relu_alone = false;
  RoutedBlobStore store("");
  const auto report = lower_to_backend(program, backend, {}, store);
  EXPECT_TRUE(report.ok()) << report.status();
}

}  // namespace
}  // namespace petrel::exir
