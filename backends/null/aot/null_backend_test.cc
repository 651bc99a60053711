// SPDX-License-Identifier: Apache-2.0
#include "backends/null/aot/null_backend.h"

#include <memory>
#include <string>
#include <vector>

#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "exir/partition/partition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::null::aot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

exir::ConstantPtr ones(const std::string& fqn, const exir::TensorType& type) {
  auto constant = std::make_shared<exir::Constant>();
  constant->fqn = fqn;
  constant->type = type;
  constant->data = exir::Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes()), 1));
  return constant;
}

TEST(NullBackend, WritesWhatItTakesAndSaysWhyNotTheRest) {
  auto graph = exir::parse_graph(R"(
    method @forward(%x: f32[2,3], %y: f32[3], %n: i64[2,3]) {
      %w = constant @w : f32[2,3]
      %a = aten.add.Tensor(%x, %w, 1) : f32[2,3]
      %b = aten.mul.Tensor(%a, %x) : f32[2,3]
      %c = aten.add.Tensor(%b, %x, 2) : f32[2,3]
      %d = aten.mul.Tensor(%c, %y) : f32[2,3]
      %e = aten.add.Tensor(%n, %n, 1) : i64[2,3]
      %f = aten.relu.default(%d) : f32[2,3]
      return %a, %f, %e
    })",
                                 exir::find_op, ones);
  ASSERT_TRUE(graph.ok()) << graph.status();
  exir::Program program;
  program.methods["forward"].graph = *std::move(graph);
  exir::RoutedBlobStore store;
  auto report = exir::lower_to_backend(program, *null_backend(), {}, store);
  ASSERT_TRUE(report.ok()) << report.status();

  const auto nodes = program.methods["forward"].graph->node_pointers();
  ASSERT_NE(nodes[0]->delegate(), nullptr);
  EXPECT_EQ(nodes[0]->delegate()->backend_id, "NullBackend");
  const exir::Blob::Bytes payload = nodes[0]->delegate()->payload.bytes();
  const std::string key = exir::to_hex(exir::sha256_of(std::vector<uint8_t>(24, 1)));
  EXPECT_EQ(std::string(payload.span().begin(), payload.span().end()),
            "null 1\n"
            "input 6\n"
            "blob 6 " +
                key +
                "\n"
                "add 0 1\n"
                "mul 2 0\n"
                "output 2\n"
                "output 3\n");
  ASSERT_EQ(store.blobs().destinations().at("").entries.size(), 1u);
  EXPECT_EQ(store.blobs().destinations().at("").entries[0].key, key);
  std::vector<std::string> reasons;
  for (const exir::LeftBehind& left : report->left_behind) {
    reasons.push_back(left.reason);
  }
  EXPECT_THAT(reasons, ElementsAre("alpha is not 1", "an operand is not of the type of the result",
                                   "the result is not a contiguous float tensor",
                                   "only aten.add.Tensor and aten.mul.Tensor are taken"));
}

// Under names, keys are whatever the model calls its weights.
TEST(NullBackend, WritesNamesAsKeysAndRefusesLineBreaks) {
  exir::WeightRoutes routes;
  routes.keys = exir::WeightKeys::kName;
  for (const std::string& name : {std::string("a weight"), std::string("a\nweight")}) {
    exir::Graph graph("forward");
    exir::Value* x =
        graph.add_input(exir::TensorType::contiguous(exir::ScalarType::kFloat, {2}), "x");
    exir::Value* w = graph.add_constant(ones(name, x->tensor()));
    graph.set_outputs({graph
                           .append(*exir::find_op("aten.mul.Tensor"),
                                   {exir::Argument(x), exir::Argument(w)}, {x->type()}, "y")
                           ->result()});
    exir::RoutedBlobStore store(routes);
    const auto result = null_backend()->preprocess({"forward", 0, &graph, {}}, store);
    if (name == "a weight") {
      ASSERT_TRUE(result.ok()) << result.status();
      const exir::Blob::Bytes payload = result->payload.bytes();
      EXPECT_THAT(std::string(payload.span().begin(), payload.span().end()),
                  HasSubstr("\nblob 2 a weight\n"));
    } else {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(result.status().message()),
                  HasSubstr("'a\\nweight' has a line break"));
    }
  }
}

TEST(NullBackend, TakesNoCompileSpecs) {
  EXPECT_EQ(null_backend()->check_compile_specs({{"k", "v"}}).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace petrel::backends::null::aot
