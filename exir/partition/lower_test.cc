// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>

#include "exir/partition/partition.h"
#include "exir/partition/recording_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LowerToBackend, ReportsWhatPartitionsCost) {
  class WeighingBackend : public RecordingBackend {
   public:
    const Partitioner& partitioner() const override { return weighing_; }
    WeighingPartitioner weighing_;
  };
  Program program;
  program.methods["forward"].graph = parse(kOneAndFour);
  WeighingBackend backend;
  RoutedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->taken.size(), 1u);
  ASSERT_EQ(report->taken[0].costs.size(), 1u);
  EXPECT_EQ(describe_costs(report->taken[0].costs[0]),
            "4 nodes: 4.0 us as kernels, 3.5 us delegated");
}

// What a call computes may come late; what draws random numbers waits for it, and
// so does all that draws after it. Nor may a call need what comes after it.
TEST(LowerToBackend, RandomNumbersAreDrawnInTheOrderOfTheModel) {
  for (const char* last :
       {"%b = aten.add.Tensor(%s, %a, 1) : f32[2]", "%b = aten.add.Tensor(%r, %a, 1) : f32[2]"}) {
    Program program = program_of({{"forward", std::string(R"(
    method @forward(%x: f32[2]) {
      %s = aten.sigmoid.default(%x) : f32[2]
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %d, %m = aten.native_dropout.default(%a, 0.5, none) : f32[2], bool[2]
      %r = aten.rand.default([2], none, none, none, none) : f32[2]
      )") + last + R"(
      return %b, %d, %r, %s
    })"}});
    RecordingBackend backend;
    RoutedBlobStore store;
    auto report = lower_to_backend(program, backend, {}, store);
    ASSERT_TRUE(report.ok()) << report.status();
    std::vector<std::string> order;
    for (const Node* node : program.methods["forward"].graph->node_pointers()) {
      if (node->is_random()) order.push_back(node->op().name);
    }
    EXPECT_THAT(order, ElementsAre("aten::native_dropout", "aten::rand")) << last;
  }
}

// A backend that says it takes everything.
TEST(LowerToBackend, NoBackendDrawsRandomNumbers) {
  class Everything final : public Partitioner {
   public:
    Support supports(const Node&) const override { return Support::yes(); }
  };
  const auto graph = parse(R"(
    method @forward() {
      %r = aten.rand.default([2], none, none, none, none) : f32[2]
      return %r
    })");
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  EXPECT_TRUE(propose_partitions(*graph, Everything(), &left).empty());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_THAT(left[0].reason, HasSubstr("draws random numbers"));
}

TEST(LowerToBackend, ReplacesPartitionsByCalls) {
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
  RoutedBlobStore store;
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
  RoutedBlobStore store;
  ASSERT_TRUE(lower_to_backend(program, backend, {}, store).ok());
  ASSERT_EQ(backend.texts.size(), 1u);
  EXPECT_THAT(backend.texts[0], HasSubstr("@forward_0(%x: f32[2], %state: f32[2])"));
  const Graph& graph = *program.methods["forward"].graph;
  ASSERT_EQ(graph.buffer_writes().size(), 1u);
  EXPECT_EQ(graph.buffer_writes()[0].value->producer()->op().name, "petrel::delegate_call");
}

// A weight of integers that two partitions use.
TEST(LowerToBackend, GetsNoDequantisedWeightThatItDoesNotTake) {
  for (const bool takes : {false, true}) {
    SCOPED_TRACE(takes);
    Program program = program_of({{"forward", R"(
    method @forward(%x: f32[2]) {
      %w = constant @w : i8[2]
      %d = quantized_decomposed.dequantize_per_tensor.default(%w, 0.5, 0, -128, 127, i8, none)
          : f32[2]
      %a = aten.add.Tensor(%x, %d, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %d, 1) : f32[2]
      return %b
    })"}});
    ASSERT_NE(program.methods["forward"].graph, nullptr);
    RecordingBackend backend;
    backend.partitioner_.takes_dequantised = takes;
    RoutedBlobStore store;
    ASSERT_TRUE(lower_to_backend(program, backend, {}, store).ok());
    ASSERT_EQ(backend.texts.size(), 2u);
    for (const std::string& text : backend.texts) {
      EXPECT_EQ(text.find("dequantize_per_tensor") != std::string::npos, takes) << text;
      EXPECT_EQ(text.find("%d: f32[2]") == std::string::npos, takes) << text;
    }
  }
}

constexpr char kOneAdd[] = R"(
    method @m(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      return %a
    })";
constexpr char kTwoPartitions[] = R"(
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
  Program program = program_of({{"b", kTwoPartitions}, {"a", kOneAdd}, {"c", kNone}});
  RecordingBackend backend;
  RoutedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(backend.calls, 1);
  EXPECT_THAT(backend.seen, ElementsAre("method 'a', partition 0", "method 'b', partition 0",
                                        "method 'b', partition 1"));
  EXPECT_EQ(report->taken.size(), 3u);
  EXPECT_EQ(store.blobs().destinations().at("").entries.size(), 3u);
}

TEST(LowerToBackend, AsksNothingWhenThereIsNothingToTake) {
  Program program = program_of({{"c", kNone}});
  RecordingBackend backend;
  RoutedBlobStore store;
  ASSERT_TRUE(lower_to_backend(program, backend, {}, store).ok());
  EXPECT_EQ(backend.calls, 0);
}

std::string error_when(const std::function<void(ResultMap&)>& tamper) {
  Program program = program_of({{"a", kOneAdd}, {"b", kTwoPartitions}});
  RecordingBackend backend;
  backend.tamper = tamper;
  RoutedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  EXPECT_FALSE(report.ok());
  return std::string(report.status().message());
}

TEST(LowerToBackend, RefusesResultsThatDoNotMatchThePartitions) {
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

TEST(LowerToBackend, RefusesWholeMethodsWithMoreInputsAndOutputsThanTheBackendTakes) {
  const auto lower = [](size_t most) {
    RecordingBackend backend;
    backend.partitioner_.most = most;
    BackendSelection selection;
    selection.for_all.push_back({&backend, {}});
    selection.for_all[0].whole_method = true;
    Program program = program_of({{"forward", R"(
      method @forward(%x: f32[2], %y: f32[2]) {
        %a = aten.add.Tensor(%x, %y, 1) : f32[2]
        %b = aten.relu.default(%a) : f32[2]
        return %a, %b
      })"}});
    RoutedBlobStore store("");
    return lower_to_backends(program, selection, store).status();
  };
  EXPECT_TRUE(lower(4).ok()) << lower(4);
  EXPECT_EQ(lower(3).message(),
            "method 'forward': a partition has 2 inputs and 2 outputs, backend 'Recording' takes "
            "at most 3");
}

TEST(LowerToBackend, RefusesUnknownCompileSpecsBeforeAnything) {
  Program program = program_of({{"a", kOneAdd}});
  RecordingBackend backend;
  RoutedBlobStore store;
  EXPECT_FALSE(lower_to_backend(program, backend, {{"x", "1"}}, store).ok());
  EXPECT_EQ(backend.calls, 0);
  EXPECT_EQ(program.methods["a"].graph->node_pointers()[0]->op().name, "aten::add");
}

// A backend that only has what the base class gives.
class BareBackend : public RecordingBackend {
 public:
  absl::StatusOr<ResultMap> preprocess_all(const SubprogramMap& partitions,
                                           RoutedBlobStore& store) const override {
    return Backend::preprocess_all(partitions, store);
  }
};

TEST(LowerToBackend, NamesThePartitionThatABackendFailedOn) {
  Program program = program_of({{"b", kTwoPartitions}});
  BareBackend backend;
  RoutedBlobStore store;
  auto report = lower_to_backend(program, backend, {}, store);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(report.status().message()),
              HasSubstr("method 'b', partition 0: backend 'Recording' has "
                        "neither preprocess nor preprocess_all"));
}

}  // namespace
}  // namespace petrel::exir
