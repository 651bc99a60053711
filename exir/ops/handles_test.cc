// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/handles.h"

#include <cstddef>
#include <string>

#include "exir/ir/graph.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

TEST(Handles, NameRowsOfTheTable) {
  EXPECT_EQ(op(aten::add_Tensor).full_name(), "aten.add.Tensor");
  EXPECT_EQ(op(aten::relu).full_name(), "aten.relu.default");
  EXPECT_EQ(op(aten::relu_).full_name(), "aten.relu_.default");
  EXPECT_EQ(op(aten::add_Tensor_).full_name(), "aten.add_.Tensor");
  EXPECT_EQ(op(aten::_and_Scalar).full_name(), "aten.__and__.Scalar");
  EXPECT_EQ(op(aten::_softmax).full_name(), "aten._softmax.default");
  EXPECT_EQ(op(petrel_ops::map).full_name(), "petrel.map.default");
  EXPECT_EQ(op(quantized_decomposed::quantize_per_tensor).full_name(),
            "quantized_decomposed.quantize_per_tensor.default");
  for (size_t row = 0; row < all_ops().size(); ++row) EXPECT_EQ(all_ops()[row]->handle.row, row);
}

TEST(Handles, NameArguments) {
  EXPECT_EQ(op(aten::layer_norm).find_arg(arg::eps), op(aten::layer_norm).find_arg("eps"));
  EXPECT_EQ(op(aten::relu).find_arg(arg::eps), -1);
  for (const OpInfo* row : all_ops()) {
    for (const ArgSpec& spec : row->args) {
      EXPECT_EQ(all_arg_names().at(spec.handle.name), spec.name) << row->full_name();
    }
  }
}

TEST(Handles, ASchemaOutsideOfTheTableHasNone) {
  auto parsed = parse_schema("aten::relu(Tensor self) -> Tensor");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->is(aten::relu));
  EXPECT_EQ(parsed->find_arg(arg::self), -1);
}

class OfANode : public ::testing::Test {
 protected:
  const Type type_ = TensorType::contiguous(ScalarType::kFloat, {2});
  Graph graph_{"m"};
  Value* x_ = graph_.add_input(type_, "x");
  Node* node_ =
      graph_.append(op(aten::add_Scalar),
                    {Argument(x_), Argument(int64_t{3}), Argument(int64_t{2})}, {type_}, "y");
};

TEST_F(OfANode, IsOneOfTheNamedOperators) {
  EXPECT_TRUE(node_->is(aten::add_Scalar));
  EXPECT_TRUE(node_->is(aten::sub_Scalar, aten::add_Scalar));
  EXPECT_FALSE(node_->is(aten::add_Tensor, aten::sub_Scalar));
}

TEST_F(OfANode, ArgumentsAreReadByName) {
  EXPECT_EQ(node_->argument(arg::other), Argument(int64_t{3}));
  EXPECT_EQ(node_->argument(arg::alpha), Argument(int64_t{2}));
  EXPECT_EQ(node_->input(arg::self), x_);
  // Schemas do not agree on what the first tensor is called.
  EXPECT_EQ(node_->input(arg::input, arg::self), x_);
}

TEST_F(OfANode, ANameThatTheSchemaLacksEndsTheProgram) {
  EXPECT_DEATH(node_->argument(arg::eps), "aten.add.Scalar.* has no argument 'eps'");
}

}  // namespace
}  // namespace petrel::exir
