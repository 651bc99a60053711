// SPDX-License-Identifier: Apache-2.0
#include "exir/partition/partition.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Takes additions and rectifiers; a group of rectifiers alone is not
// worthwhile unless `takes_relu_alone`.
class AddPartitioner : public Partitioner {
 public:
  Support supports(const Node& node) const override {
    const std::string& name = node.op().name;
    if (name == "aten::add" || name == "aten::relu") return Support::yes();
    return Support::no(absl::StrCat("knows no ", name));
  }
  bool worthwhile(const std::vector<const Node*>& nodes) const override {
    for (const Node* node : nodes) {
      if (takes_relu_alone || node->op().name == "aten::add") return true;
    }
    return false;
  }
  bool takes_relu_alone = true;
};

// Remembers what it was given; the payload says which part it is for.
class RecordingBackend : public Backend {
 public:
  std::string id() const override { return "Recording"; }
  const Partitioner& partitioner() const override { return partitioner_; }
  absl::Status check_compile_specs(
      const std::vector<CompileSpec>& specs) const override {
    for (const CompileSpec& spec : specs) {
      if (spec.key != "known") {
        return absl::InvalidArgumentError("unknown spec");
      }
    }
    return absl::OkStatus();
  }
  absl::StatusOr<ResultMap> preprocess_all(
      const SubprogramMap& parts, NamedBlobStore& store) const override {
    ++calls;
    ResultMap results;
    for (const auto& [method, subprograms] : parts) {
      for (const Subprogram& part : subprograms) {
        seen.push_back(part.describe());
        texts.push_back(print_graph(*part.graph));
        EXPECT_TRUE(verify_graph(*part.graph).ok());
        const std::string payload = part.describe();
        PreprocessResult result;
        result.payload = Blob::owned({payload.begin(), payload.end()});
        result.debug_handles[7] =
            part.graph->outputs()[0]->name();
        results[method].push_back(std::move(result));
        EXPECT_TRUE(
            store.add_named_blob(payload, Blob::owned({1}), 1, "").ok());
      }
    }
    if (tamper) tamper(results);
    return results;
  }

  mutable int calls = 0;
  mutable std::vector<std::string> seen;
  mutable std::vector<std::string> texts;
  std::function<void(ResultMap&)> tamper;
  AddPartitioner partitioner_;
};

ConstantPtr zeros(const std::string& fqn, const TensorType& type) {
  auto constant = std::make_shared<Constant>();
  constant->fqn = fqn;
  constant->type = type;
  constant->kind = fqn == "state" ? Constant::Kind::kMutableBuffer
                                  : Constant::Kind::kParameter;
  constant->data =
      Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes())));
  return constant;
}

std::unique_ptr<Graph> parse(const std::string& text) {
  auto graph = parse_graph(text, find_op, zeros);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : nullptr;
}

std::vector<std::vector<std::string>> names(
    const std::vector<std::vector<Node*>>& groups) {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<Node*>& group : groups) {
    names.emplace_back();
    for (const Node* node : group) {
      names.back().push_back(node->result(0)->name());
    }
  }
  return names;
}

TEST(ProposePartitions, CutsWhereAPathLeavesTheBackend) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %a, 1) : f32[2]
      return %b
    })");
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  const auto groups = propose_partitions(*graph, AddPartitioner(), &left);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a"), ElementsAre("b")));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].node, "s");
  EXPECT_EQ(left[0].op, "aten.sigmoid.default");
  EXPECT_EQ(left[0].reason, "knows no aten::sigmoid");
}

TEST(ProposePartitions, TakesBranchesTogether) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2], %y: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%y) : f32[2]
      %b = aten.relu.default(%s) : f32[2]
      %c = aten.add.Tensor(%a, %b, 1) : f32[2]
      return %c
    })");
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, AddPartitioner(), nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a", "b", "c")));
}

TEST(ProposePartitions, RefusesGroupsThatAreNotWorthwhile) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %r = aten.relu.default(%s) : f32[2]
      %t = aten.sigmoid.default(%r) : f32[2]
      %b = aten.add.Tensor(%t, %t, 1) : f32[2]
      return %b
    })");
  ASSERT_NE(graph, nullptr);
  AddPartitioner partitioner;
  partitioner.takes_relu_alone = false;
  std::vector<LeftBehind> left;
  const auto groups = propose_partitions(*graph, partitioner, &left);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a"), ElementsAre("b")));
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[1].reason,
            "its group of 1 node is not worth a delegate call");
}

// Additions and rectifiers of one shape per part.
class ShapePartitioner final : public AddPartitioner {
 public:
  std::string group(const Node& node) const override {
    return to_string(node.result()->tensor());
  }
};

TEST(ProposePartitions, KeepsGroupsApart) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2], %y: f32[3,2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %b = aten.add.Tensor(%y, %y, 1) : f32[3,2]
      %c = aten.add.Tensor(%b, %a, 1) : f32[3,2]
      %d = aten.relu.default(%a) : f32[2]
      %e = aten.add.Tensor(%c, %d, 1) : f32[3,2]
      return %e
    })");
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(names(propose_partitions(*graph, ShapePartitioner(), nullptr)),
              ElementsAre(ElementsAre("a", "d"), ElementsAre("b"),
                          ElementsAre("c", "e")));
  EXPECT_THAT(names(propose_partitions(*graph, AddPartitioner(), nullptr)),
              ElementsAre(ElementsAre("a", "b", "c", "d", "e")));
}

// As AddPartitioner, with 1 us for each node as a kernel, `node` delegated and
// `call` for the call.
class WeighingPartitioner : public AddPartitioner {
 public:
  std::optional<GroupCosts> costs(const Graph& part) const override {
    GroupCosts costs;
    const auto nodes = static_cast<double>(part.node_pointers().size());
    costs.nodes = absl::StrCat(nodes, " nodes");
    costs.kernels = nodes;
    costs.delegated = node * nodes;
    costs.call = call;
    return costs;
  }
  double node = 0.5;
  double call = 1.5;
};

constexpr char kOneAndFour[] = R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %s, 1) : f32[2]
      %c = aten.relu.default(%b) : f32[2]
      %d = aten.add.Tensor(%c, %c, 1) : f32[2]
      %e = aten.relu.default(%d) : f32[2]
      return %e
    })";

TEST(ProposePartitions, LeavesToKernelsWhatTheyDoFaster) {
  const auto graph = parse(kOneAndFour);
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  const auto groups = propose_partitions(*graph, WeighingPartitioner(), &left);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("b", "c", "d", "e")));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].node, "a");
  EXPECT_EQ(left[0].reason,
            "left to kernels: 1 nodes: 1.0 us as kernels, 2.0 us delegated");
}

TEST(ProposePartitions, DelegatesAllThatIsSupportedWhenAsked) {
  const auto graph = parse(kOneAndFour);
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, WeighingPartitioner(), nullptr,
                                         Delegate::kSupported);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a"),
                                         ElementsAre("b", "c", "d", "e")));
}

TEST(ProposePartitions, DelegatesAMethodThatNeedsNoKernelsWhole) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      return %a
    })");
  ASSERT_NE(graph, nullptr);
  WeighingPartitioner partitioner;
  partitioner.node = 100;
  const auto groups = propose_partitions(*graph, partitioner, nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a")));
}

TEST(ProposePartitions, GroupsOfOneLevelShareTheirCall) {
  // Neither is worth a call of its own.
  const auto graph = parse(R"(
    method @forward(%x: f32[2], %y: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %b = aten.add.Tensor(%y, %y, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      return %s, %b
    })");
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, WeighingPartitioner(), nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a", "b")));
}

TEST(LowerToBackend, ReportsWhatPartitionsCost) {
  class WeighingBackend : public RecordingBackend {
   public:
    const Partitioner& partitioner() const override { return weighing_; }
    WeighingPartitioner weighing_;
  };
  Program program;
  program.methods["forward"].graph = parse(kOneAndFour);
  WeighingBackend backend;
  NamedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->taken.size(), 1u);
  ASSERT_EQ(report->taken[0].costs.size(), 1u);
  EXPECT_EQ(describe_costs(report->taken[0].costs[0]),
            "4 nodes: 4.0 us as kernels, 3.5 us delegated");
}

TEST(ProposePartitions, LeavesDeadNodesBehind) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      return %x
    })");
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  EXPECT_THAT(propose_partitions(*graph, AddPartitioner(), &left), IsEmpty());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].reason, "has no results that are used");
}

Program program_of(
    const std::vector<std::pair<std::string, std::string>>& methods) {
  Program program;
  for (const auto& [name, text] : methods) {
    program.methods[name].graph = parse(text);
  }
  return program;
}

TEST(LowerToBackend, ReplacesPartsByCalls) {
  Program program = program_of({{"forward", R"(
    method @forward(%x: f32[2], %unused: f32[2]) {
      %w = constant @w : f32[2]
      %v = constant @v : f32[2]
      %a = aten.add.Tensor(%x, %w, 1) : f32[2]
      %b = aten.relu.default(%a) : f32[2]
      %s = aten.mul.Tensor(%b, %v) : f32[2]
      %c = aten.add.Tensor(%s, %w, 1) : f32[2]
      %d = aten.add.Tensor(%c, %a, 1) : f32[2]
      return %d, %a
    })"}});
  RecordingBackend backend;
  NamedBlobStore store;
  auto report = lower_to_backend(program, backend, {{"known", "1"}}, store);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(backend.calls, 1);
  EXPECT_EQ(print_graph(*program.methods["forward"].graph),
            R"(method @forward(%x: f32[2], %unused: f32[2]) {
  %v = constant @v : f32[2]
  %delegate_r0, %delegate_r1 = petrel.delegate_call.default([%x]) : f32[2], f32[2]
  %s = aten.mul.Tensor(%delegate_r1, %v) : f32[2]
  %delegate = petrel.delegate_call.default([%s, %delegate_r0]) : f32[2]
  return %delegate, %delegate_r0
}
)");
  ASSERT_EQ(backend.texts.size(), 2u);
  EXPECT_EQ(backend.texts[0], R"(method @forward_0(%x: f32[2]) {
  %w = constant @w : f32[2]
  %a = aten.add.Tensor(%x, %w, 1) : f32[2]
  %b = aten.relu.default(%a) : f32[2]
  return %a, %b
}
)");
  EXPECT_EQ(backend.texts[1], R"(method @forward_1(%s: f32[2], %a: f32[2]) {
  %w = constant @w : f32[2]
  %c = aten.add.Tensor(%s, %w, 1) : f32[2]
  %d = aten.add.Tensor(%c, %a, 1) : f32[2]
  return %d
}
)");
  const auto nodes = program.methods["forward"].graph->node_pointers();
  const auto& lowered = nodes[2]->delegate();
  ASSERT_NE(lowered, nullptr);
  EXPECT_EQ(lowered->backend_id, "Recording");
  const Blob::Bytes payload = lowered->payload.bytes();
  EXPECT_EQ(std::string(payload.span().begin(), payload.span().end()),
            "method 'forward', partition 1");
  EXPECT_EQ(lowered->compile_specs[0].key, "known");
  EXPECT_EQ(lowered->debug_handles.at(7), "d");
  EXPECT_NE(lowered->graph, nullptr);
  ASSERT_EQ(report->taken.size(), 1u);
  EXPECT_EQ(report->taken[0].partitions, 2u);
  ASSERT_EQ(report->taken[0].debug_handles.size(), 2u);
  EXPECT_EQ(report->taken[0].debug_handles[1].at(7), "d");
  EXPECT_EQ(report->taken[0].nodes, 4u);
  EXPECT_EQ(report->left_behind.size(), 1u);
}

TEST(LowerToBackend, PassesStateAsAnInput) {
  Program program = program_of({{"forward", R"(
    method @forward(%x: f32[2]) {
      %state = state @state : f32[2]
      %a = aten.add.Tensor(%x, %state, 1) : f32[2]
      write %a to %state
      return %a
    })"}});
  ASSERT_NE(program.methods["forward"].graph, nullptr);
  RecordingBackend backend;
  NamedBlobStore store;
  ASSERT_TRUE(lower_to_backend(program, backend, {}, store).ok());
  ASSERT_EQ(backend.texts.size(), 1u);
  EXPECT_THAT(backend.texts[0],
              HasSubstr("@forward_0(%x: f32[2], %state: f32[2])"));
  const Graph& graph = *program.methods["forward"].graph;
  ASSERT_EQ(graph.buffer_writes().size(), 1u);
  EXPECT_EQ(graph.buffer_writes()[0].value->producer()->op().name,
            "petrel::delegate_call");
}

constexpr char kOneAdd[] = R"(
    method @m(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      return %a
    })";
constexpr char kTwoParts[] = R"(
    method @m(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %s, 1) : f32[2]
      return %b
    })";
constexpr char kNone[] = R"(
    method @m(%x: f32[2]) {
      %a = aten.sigmoid.default(%x) : f32[2]
      return %a
    })";

TEST(LowerToBackend, HandsAllMethodsOverInOneCall) {
  Program program =
      program_of({{"b", kTwoParts}, {"a", kOneAdd}, {"c", kNone}});
  RecordingBackend backend;
  NamedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(backend.calls, 1);
  EXPECT_THAT(backend.seen, ElementsAre("method 'a', partition 0",
                                        "method 'b', partition 0",
                                        "method 'b', partition 1"));
  EXPECT_EQ(report->taken.size(), 3u);
  EXPECT_EQ(store.destinations().at("").entries.size(), 3u);
}

TEST(LowerToBackend, AsksNothingWhenThereIsNothingToTake) {
  Program program = program_of({{"c", kNone}});
  RecordingBackend backend;
  NamedBlobStore store;
  ASSERT_TRUE(lower_to_backend(program, backend, {}, store).ok());
  EXPECT_EQ(backend.calls, 0);
}

std::string error_when(const std::function<void(ResultMap&)>& tamper) {
  Program program = program_of({{"a", kOneAdd}, {"b", kTwoParts}});
  RecordingBackend backend;
  backend.tamper = tamper;
  NamedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  EXPECT_FALSE(report.ok());
  return std::string(report.status().message());
}

TEST(LowerToBackend, RefusesResultsThatDoNotMatchTheParts) {
  EXPECT_EQ(error_when([](ResultMap& r) { r["b"].pop_back(); }),
            "backend 'Recording' returned 1 of 2 results: none for method "
            "'b', partition 1");
  EXPECT_EQ(error_when([](ResultMap& r) { r.erase("a"); }),
            "backend 'Recording' returned 0 of 1 results: none for method "
            "'a', partition 0");
  EXPECT_EQ(error_when([](ResultMap& r) { r["a"].push_back(r["a"][0]); }),
            "backend 'Recording' returned 2 results for method 'a', which has "
            "1 partitions");
  EXPECT_EQ(error_when([](ResultMap& r) { r["z"].emplace_back(); }),
            "backend 'Recording' returned results for method 'z', of which it "
            "was given no partition");
}

TEST(LowerToBackend, RefusesUnknownCompileSpecsBeforeAnything) {
  Program program = program_of({{"a", kOneAdd}});
  RecordingBackend backend;
  NamedBlobStore store;
  EXPECT_FALSE(lower_to_backend(program, backend, {{"x", "1"}}, store).ok());
  EXPECT_EQ(backend.calls, 0);
  EXPECT_EQ(program.methods["a"].graph->node_pointers()[0]->op().name,
            "aten::add");
}

// A backend that only has what the base class gives.
class BareBackend : public RecordingBackend {
 public:
  absl::StatusOr<ResultMap> preprocess_all(
      const SubprogramMap& parts, NamedBlobStore& store) const override {
    return Backend::preprocess_all(parts, store);
  }
};

TEST(LowerToBackend, NamesThePartThatABackendFailedOn) {
  Program program = program_of({{"b", kTwoParts}});
  BareBackend backend;
  NamedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(report.status().message()),
              HasSubstr("method 'b', partition 0: backend 'Recording' has "
                        "neither preprocess nor preprocess_all"));
}

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
      return values[values.size() - 1 -
                    random() % std::min(reach, values.size())];
    };
    if (random() % 3 != 0) {
      values.push_back(graph
                           ->append(op("aten.add.Tensor"),
                                    {Argument(pick()), Argument(pick()),
                                     Argument(int64_t{1})},
                                    {type}, "add")
                           ->result());
    } else {
      values.push_back(graph
                           ->append(op("aten.mul.Tensor"),
                                    {Argument(pick()), Argument(pick())},
                                    {type}, "mul")
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
    NamedBlobStore store;
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
    NamedBlobStore store;
    auto report = lower_to_backend(program, backend, {}, store);
    ASSERT_TRUE(report.ok()) << seed << ": " << report.status();
    for (const auto& node : program.methods["forward"].graph->nodes()) {
      EXPECT_NE(node->delegate(), nullptr);
    }
    for (const std::string& text : backend.texts) {
      const auto part = parse_graph(text, find_op, zeros);
      ASSERT_TRUE(part.ok());
      std::set<std::string> groups;
      for (const auto& node : (*part)->nodes()) groups.insert(TwoKinds().group(*node));
      EXPECT_EQ(groups.size(), 1u) << text;
    }
  }
}

// Quadratic work on so many nodes would run into the test's time limit.
TEST(ProposePartitions, TakesLargeGraphs) {
  const auto graph = random_graph(1, 100000);
  const auto parts = propose_partitions(*graph, AddPartitioner(), nullptr);
  size_t taken = 0;
  size_t supported = 0;
  for (const auto& part : parts) taken += part.size();
  for (const Node* node : graph->node_pointers()) {
    supported += AddPartitioner().supports(*node).supported;
  }
  EXPECT_EQ(taken, supported);
}

}  // namespace
}  // namespace petrel::exir
