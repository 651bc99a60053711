// SPDX-License-Identifier: Apache-2.0
//
// Operators between levels of int8 are nodes of integers, and their results are at most
// one level beside those of eager PyTorch, which computes between them in floats.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "exir/ir/text.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"
#include "test/eager/case_file.h"
#include "test/xnnpack/blob_map.h"
#include "test/xnnpack/delegate_run.h"

namespace petrel::test {
namespace {

using backends::xnnpack::Datatype;
using backends::xnnpack::NodeKind;

// With integers XNNPACK would compute other levels of these than PyTorch.
bool is_of_floats(const std::string& name) {
  return name.rfind("silu_", 0) == 0 || name.rfind("leaky_relu_", 0) == 0 ||
         name.rfind("hardsigmoid_", 0) == 0 || name.rfind("gelu_tanh_", 0) == 0;
}

std::unique_ptr<exir::Graph> parse(const EagerCase& c) {
  const auto resolver = [&c](const std::string& fqn, const exir::TensorType& type) {
    auto constant = std::make_shared<exir::Constant>();
    constant->fqn = fqn;
    constant->type = type;
    for (const EagerTensor& tensor : c.constants) {
      if (tensor.name != fqn) continue;
      // All are levels.
      EXPECT_EQ(type.dtype, exir::ScalarType::kChar);
      std::vector<uint8_t> levels;
      for (const double level : tensor.elements)
        levels.push_back(static_cast<uint8_t>(static_cast<int8_t>(level)));
      constant->data = exir::Blob::owned(std::move(levels));
    }
    return exir::ConstantPtr(constant);
  };
  auto parsed = exir::parse_graph(c.graph, &exir::find_op, resolver);
  EXPECT_TRUE(parsed.ok()) << parsed.status() << "\n" << c.graph;
  return parsed.ok() ? *std::move(parsed) : nullptr;
}

CaseTensor tensor_of(const EagerTensor& tensor) {
  CaseTensor made;
  made.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  for (const double element : tensor.elements) made.values.push_back(static_cast<float>(element));
  return made;
}

bool is_of_integers(const std::vector<uint8_t>& payload) {
  backends::xnnpack::Graph graph;
  EXPECT_TRUE(backends::xnnpack::read_payload(payload.data(), payload.size(), &graph).ok());
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    // The pool's input comes in floats, and is transposed as such.
    return node.kind == NodeKind::Convert || node.kind == NodeKind::StaticTranspose ||
           graph.values[node.outputs[0]].datatype == Datatype::QINT8;
  });
}

class Integers : public ::testing::TestWithParam<EagerCase> {};

TEST_P(Integers, AreWithinALevelOfPyTorch) {
  const EagerCase& c = GetParam();
  const std::unique_ptr<exir::Graph> graph = parse(c);
  ASSERT_NE(graph, nullptr);
  const exir::Partitioner& partitioner = backends::xnnpack::aot::xnnpack_backend()->partitioner();
  for (const auto& node : graph->nodes()) {
    const exir::Support support = partitioner.supports(*node);
    EXPECT_TRUE(support.supported) << node->describe() << ": " << support.reason;
  }
  absl::StatusOr<Lowered> lowered = lower(*graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_NE(is_of_integers(lowered->payload), is_of_floats(c.name));

  const BlobMap map(lowered->store.blobs());
  Handle handle(lowered->payload, &map);
  ASSERT_EQ(handle.error(), runtime::Error::Ok);
  const CaseTensor wanted = tensor_of(c.expected[0]);
  std::vector<CaseTensor> outputs = {wanted};
  for (float& value : outputs[0].values) value = std::numeric_limits<float>::quiet_NaN();
  ASSERT_EQ(handle.execute({tensor_of(c.inputs[0])}, &outputs), runtime::Error::Ok);
  const exir::Node& last = *graph->outputs()[0]->producer();
  const double scale = last.argument(exir::arg::scale).as_number();
  ASSERT_EQ(outputs[0].values.size(), wanted.values.size());
  size_t others = 0;
  for (size_t i = 0; i < wanted.values.size(); ++i) {
    const double difference = std::fabs(double{outputs[0].values[i]} - double{wanted.values[i]});
    EXPECT_LE(difference, 1.001 * scale) << "element " << i << " of\n" << c.graph;
    if (difference > 0.5 * scale) ++others;
  }
  // Numbers halfway between two levels go either way; where scales are even there are some,
  // and a sixth of hardsigmoid is no float.
  const bool has_halves = c.name == "hardsigmoid_even" || !is_of_floats(c.name);
  EXPECT_LE(others, has_halves ? c.expected[0].elements.size() / 32 : 0) << "of\n" << c.graph;
}

INSTANTIATE_TEST_SUITE_P(All, Integers,
                         ::testing::ValuesIn(load_eager_cases("test/eager/cases/integers.txt")),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::test
