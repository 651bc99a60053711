// SPDX-License-Identifier: Apache-2.0
//
// What passes make of a function computes what eager torch computes: functions
// as torch.export traced them, brought to operators with kernels and run by the
// runtime. The cases are in test/eager/cases/passes.txt.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/fold/evaluate.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/pipeline.h"
#include "gtest/gtest.h"
#include "test/eager/case_file.h"

namespace petrel::exir {
namespace {

using test::EagerCase;
using test::EagerTensor;

TensorType type_of(const EagerTensor& tensor) {
  return TensorType::contiguous(static_cast<ScalarType>(tensor.scalar_type), tensor.sizes);
}

std::unique_ptr<Graph> graph_of(const EagerCase& one) {
  std::map<std::string, const EagerTensor*> tensors;
  for (const EagerTensor& tensor : one.constants) tensors[tensor.name] = &tensor;
  auto graph = parse_graph(
      one.graph, [](absl::string_view name) { return find_op(name); },
      [&](const std::string& fqn, const TensorType&) -> ConstantPtr {
        auto found = tensors.find(fqn);
        if (found == tensors.end()) return nullptr;
        auto made = std::make_shared<Constant>();
        made->fqn = fqn;
        made->type = type_of(*found->second);
        auto data = encode_constant(found->second->elements, made->type.dtype);
        EXPECT_TRUE(data.ok()) << data.status();
        made->data = *std::move(data);
        return made;
      });
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << one.graph;
  return graph.ok() ? *std::move(graph) : nullptr;
}

double tolerance(ScalarType type, double largest) {
  if (!is_floating_point(type)) return 0;
  const bool half = type == ScalarType::kHalf || type == ScalarType::kBFloat16;
  return (half ? 2e-3 : 4e-6) * std::max(largest, 1.0);
}

void expect_same(const EagerTensor& wanted, const std::vector<double>& found,
                 const std::string& where) {
  ASSERT_EQ(found.size(), wanted.elements.size()) << where;
  double largest = 0;
  for (double value : wanted.elements) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const double allowed = tolerance(type_of(wanted).dtype, largest);
  for (size_t i = 0; i < found.size(); ++i) {
    const double a = wanted.elements[i];
    const double b = found[i];
    const bool same = (std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) <= allowed;
    EXPECT_TRUE(same) << where << ", element " << i << ": " << b << ", torch " << a;
    if (!same) return;
  }
}

// Runs all passes; without `fold` all but folding, which would leave nothing to
// run.
void run_all(Graph* graph, bool fold, bool allow_petrel_ops) {
  PassContext context;
  context.allow_petrel_ops = allow_petrel_ops;
  for (absl::Span<const Pass> passes :
       {passes_before_partitioning(), passes_after_partitioning()}) {
    for (const Pass& pass : passes) {
      if (!fold && std::string(pass.name) == "fold_constants") continue;
      const auto changed = pass.run(*graph, context);
      ASSERT_TRUE(changed.ok()) << pass.name << ": " << changed.status();
      const absl::Status valid = verify_graph(*graph);
      ASSERT_TRUE(valid.ok()) << pass.name << ": " << valid;
      const auto again = pass.run(*graph, context);
      ASSERT_TRUE(again.ok()) << pass.name << ": " << again.status();
      EXPECT_FALSE(*again) << pass.name << " is not idempotent";
    }
  }
}

class Eager : public ::testing::TestWithParam<EagerCase> {};

TEST_P(Eager, PassesKeepWhatIsComputed) {
  const EagerCase& one = GetParam();
  const bool attends = one.graph.find("scaled_dot_product") != std::string::npos;
  const std::pair<bool, bool> ways[] = {{false, false}, {true, false}, {false, true}};
  for (const auto& [fold, allow_petrel_ops] : ways) {
    if (allow_petrel_ops && !attends) continue;  // nothing else would change
    std::unique_ptr<Graph> graph = graph_of(one);
    ASSERT_NE(graph, nullptr);
    run_all(graph.get(), fold, allow_petrel_ops);
    if (HasFatalFailure()) {
      ADD_FAILURE() << print_graph(*graph);
      return;
    }
    const std::string text = print_graph(*graph);
    if (allow_petrel_ops) {
      EXPECT_NE(text.find("petrel.attention.default"), std::string::npos);
    }
    ASSERT_EQ(graph->outputs().size(), one.expected.size());
    std::vector<TensorType> types;
    for (const Value* output : graph->outputs()) {
      types.push_back(output->tensor());
    }
    auto outputs = evaluate(std::move(graph));
    ASSERT_TRUE(outputs.ok()) << outputs.status() << "\n" << text;
    for (size_t i = 0; i < outputs->size(); ++i) {
      EXPECT_EQ(types[i], type_of(one.expected[i])) << "output " << i;
      Constant constant;
      constant.type = types[i];
      constant.data = (*outputs)[i];
      auto elements = decode_constant(constant);
      ASSERT_TRUE(elements.ok()) << elements.status();
      expect_same(one.expected[i], *elements,
                  absl::StrCat("output ", i, fold ? " (folded)" : "",
                               allow_petrel_ops ? " (own operators)" : ""));
    }
    if (HasFailure()) {
      ADD_FAILURE() << text;
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Eager,
                         ::testing::ValuesIn(test::load_eager_cases("test/eager/cases/passes.txt")),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::exir
