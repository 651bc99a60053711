// SPDX-License-Identifier: Apache-2.0
//
// Operators of integers beside what eager PyTorch computes between the same levels: at most one
// level apart, over random cases. Prints how far for each operator; docs/int8.md has the table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/fold/evaluate.h"
#include "exir/integer/integer_graph.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "gtest/gtest.h"
#include "test/eager/case_file.h"

namespace petrel::exir {
namespace {

using test::EagerCase;
using test::EagerTensor;

ConstantPtr constant_of(const EagerTensor& tensor) {
  auto made = std::make_shared<Constant>();
  made->fqn = tensor.name;
  made->type = TensorType::contiguous(static_cast<ScalarType>(tensor.scalar_type), tensor.sizes);
  auto data = encode_constant(tensor.elements, made->type.dtype);
  EXPECT_TRUE(data.ok()) << data.status();
  made->data = *std::move(data);
  return made;
}

Program program_of(const EagerCase& one) {
  auto graph = parse_graph(
      one.graph, [](absl::string_view name) { return find_op(name); },
      [&](const std::string& fqn, const TensorType&) -> ConstantPtr {
        for (const EagerTensor& tensor : one.constants) {
          if (tensor.name == fqn) return constant_of(tensor);
        }
        return nullptr;
      });
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << one.graph;
  Program program;
  if (graph.ok()) program.methods["forward"].graph = *std::move(graph);
  return program;
}

// What kernels make of the inputs of the case.
std::vector<double> run(std::unique_ptr<Graph> graph, const EagerCase& one) {
  const std::vector<Value*> inputs = graph->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph->replace_all_uses(inputs[i], graph->add_constant(constant_of(one.inputs[i])));
    graph->erase_input(inputs[i]);
  }
  const TensorType type = graph->outputs()[0]->tensor();
  const auto lowered = lower_to_kernels(*graph, PassContext());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  auto outputs = evaluate(std::move(graph));
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return {};
  Constant constant;
  constant.type = type;
  constant.data = (*outputs)[0];
  auto elements = decode_constant(constant);
  EXPECT_TRUE(elements.ok()) << elements.status();
  return elements.ok() ? *elements : std::vector<double>();
}

struct Found {
  int cases = 0;
  size_t elements = 0;
  size_t apart = 0;
  double worst = 0;
};

TEST(RandomCases, AreAtMostOneLevelFromPyTorch) {
  std::map<std::string, Found> all;
  for (const EagerCase& one : test::load_eager_cases("test/eager/cases/int8.txt")) {
    SCOPED_TRACE(one.name + "\n" + one.graph);
    Program program = program_of(one);
    ASSERT_FALSE(HasFailure());
    const absl::Status made = integer_program(program);
    ASSERT_TRUE(made.ok()) << made;
    const std::vector<double> levels = run(std::move(program.methods["forward"].graph), one);
    const std::vector<double>& wanted = one.expected[0].elements;
    ASSERT_EQ(levels.size(), wanted.size());
    Found& found = all[one.name.substr(0, one.name.rfind('_'))];
    ++found.cases;
    found.elements += levels.size();
    for (size_t i = 0; i < levels.size(); ++i) {
      const double difference = std::fabs(levels[i] - wanted[i]);
      found.apart += difference > 0 ? 1 : 0;
      found.worst = std::max(found.worst, difference);
    }
    EXPECT_LE(found.worst, 1);
  }
  ASSERT_EQ(all.size(), 49u);
  std::printf(
      "| operator | cases | elements | worst difference | elements that differ |\n"
      "|---|---|---|---|---|\n");
  for (const auto& [name, found] : all) {
    std::printf("| %s | %d | %zu | %.0f | %zu |\n", name.c_str(), found.cases, found.elements,
                found.worst, found.apart);
  }
}

}  // namespace
}  // namespace petrel::exir
