// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/real_text.h"

#include <gtest/gtest.h>

#include "exir/ops/table.h"

namespace petrel::exir::emit_c {
namespace {

// The number 64.0, and what so many of `op` make of it, one behind the other.
const Value* made_by(Graph* graph, const char* op, int count) {
  const Type type = Type::scalar(Type::Kind::kFloat);
  const OpInfo& begin = *find_op("executorch_prim.sym_float.Scalar");
  Value* value = graph->append(begin, {Argument(int64_t{64})}, {type}, "f")->result();
  for (int i = 0; i < count; ++i) {
    std::vector<Argument> arguments = {Argument(value)};
    if (find_op(op)->args.size() == 2) arguments.insert(arguments.begin(), Argument(1.0));
    value = graph->append(*find_op(op), std::move(arguments), {type}, "f")->result();
  }
  return value;
}

TEST(RealText, IsOfAFewSteps) {
  Graph graph("m");
  const auto text = real_text(made_by(&graph, "executorch_prim.neg.Scalar", 2));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->substr(0, 4), "(-(-");
}

// Each step is a call inside of a call.
TEST(RealText, EndsForAsManyStepsAsAnArchiveHas) {
  for (const char* op : {"executorch_prim.neg.Scalar", "executorch_prim.add.Scalar",
                         "executorch_prim.truediv.Scalar", "executorch_prim.sym_float.Scalar"}) {
    Graph graph("m");
    EXPECT_FALSE(real_text(made_by(&graph, op, 50000)).ok()) << op;
  }
  Graph graph("m");
  const Value* divisor = made_by(&graph, "executorch_prim.neg.Scalar", 50000);
  const Node* quotient = graph.append(*find_op("executorch_prim.truediv.Scalar"),
                                      {Argument(1.0), Argument(const_cast<Value*>(divisor))},
                                      {Type::scalar(Type::Kind::kFloat)}, "q");
  EXPECT_FALSE(real_text(quotient->result()).ok());
}

}  // namespace
}  // namespace petrel::exir::emit_c
