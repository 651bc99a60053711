// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/graph.h"

#include <memory>
#include <string>
#include <vector>

#include "exir/ir/test_ops.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Type f32(Sizes sizes) { return TensorType::contiguous(ScalarType::kFloat, std::move(sizes)); }

class GraphTest : public ::testing::Test {
 protected:
  Node* add(Value* a, Value* b, const std::string& name) {
    return graph_.append(*find_test_op("aten.add.Tensor"),
                         {Argument(a), Argument(b), Argument(int64_t{1})}, {a->type()}, name);
  }

  Graph graph_{"m"};
  Value* x_ = graph_.add_input(f32({2}), "x");
};

TEST_F(GraphTest, NamesAreMadeUnique) {
  EXPECT_EQ(add(x_, x_, "x")->result()->name(), "x_1");
  EXPECT_EQ(add(x_, x_, "x_1")->result()->name(), "x_1_1");
  EXPECT_EQ(add(x_, x_, "x")->result()->name(), "x_2");
  EXPECT_EQ(graph_.add_input(f32({}), "")->name(), "v");
}

TEST_F(GraphTest, AnErasedNameIsFree) {
  Node* node = add(x_, x_, "y");
  graph_.erase(node);
  EXPECT_EQ(add(x_, x_, "y")->result()->name(), "y");
}

TEST_F(GraphTest, RenameFreesTheOldName) {
  Value* y = add(x_, x_, "y")->result();
  graph_.rename(y, "z");
  EXPECT_EQ(y->name(), "z");
  EXPECT_EQ(add(x_, x_, "y")->result()->name(), "y");
  graph_.rename(y, "x");
  EXPECT_EQ(y->name(), "x_1");
  graph_.rename(y, "x_1");
  EXPECT_EQ(y->name(), "x_1");
}

TEST_F(GraphTest, CountsEveryEdit) {
  uint64_t before = graph_.edits();
  const auto edited = [&] {
    const bool more = graph_.edits() > before;
    before = graph_.edits();
    return more;
  };
  auto constant = std::make_shared<Constant>();
  constant->fqn = "w";
  constant->type = TensorType::contiguous(ScalarType::kFloat, {2});
  Value* w = graph_.add_constant(constant);
  EXPECT_TRUE(edited());
  EXPECT_EQ(graph_.add_constant(constant), w);
  EXPECT_FALSE(edited());
  Value* input = graph_.add_input(f32({2}), "input");
  EXPECT_TRUE(edited());
  Node* a = add(x_, x_, "a");
  EXPECT_TRUE(edited());
  Node* b = add(x_, w, "b");
  graph_.move_before(b, a);
  EXPECT_TRUE(edited());
  a->set_argument(1, Argument(w));
  EXPECT_TRUE(edited());
  a->result()->set_type(f32({1}));
  EXPECT_TRUE(edited());
  w->set_type(f32({1}));
  EXPECT_TRUE(edited());
  graph_.rename(w, "v");
  EXPECT_TRUE(edited());
  graph_.set_outputs({b->result()});
  EXPECT_TRUE(edited());
  graph_.replace_all_uses(b->result(), a->result());
  EXPECT_TRUE(edited());
  graph_.set_outputs({});
  graph_.set_buffer_writes({{w, a->result()}});
  EXPECT_TRUE(edited());
  graph_.set_buffer_writes({});
  a->set_delegate(nullptr);
  EXPECT_TRUE(edited());
  a->set_regions({std::make_shared<Graph>("region")});
  EXPECT_TRUE(edited());
  EXPECT_EQ(graph_.nodes_with_regions(), 1u);
  graph_.erase(a);
  EXPECT_TRUE(edited());
  EXPECT_EQ(graph_.nodes_with_regions(), 0u);
  graph_.erase(b);
  graph_.erase_constant(w);
  EXPECT_TRUE(edited());
  graph_.erase_input(input);
  EXPECT_TRUE(edited());
  EXPECT_EQ(graph_.constants().size(), 0u);
  EXPECT_EQ(graph_.inputs().size(), 1u);
  EXPECT_FALSE(edited());
}

TEST_F(GraphTest, KnowsWhichOperatorsItHas) {
  const auto has = [&](const std::string& name) {
    return graph_.any_operator([&](const OpInfo& op) { return op.full_name() == name; });
  };
  EXPECT_FALSE(has("aten.add.Tensor"));
  Node* first = add(x_, x_, "first");
  Node* second = add(x_, x_, "second");
  graph_.erase(first);
  EXPECT_TRUE(has("aten.add.Tensor"));
  EXPECT_FALSE(has("aten.relu.default"));
  graph_.erase(second);
  EXPECT_FALSE(has("aten.add.Tensor"));
}

TEST_F(GraphTest, AUserThatUsesTwiceIsListedTwice) {
  Node* node = add(x_, x_, "y");
  EXPECT_THAT(x_->users(), ElementsAre(node, node));
  EXPECT_FALSE(x_->has_single_user());
  node->set_argument(1, Argument(node->arguments()[2]));
  EXPECT_THAT(x_->users(), ElementsAre(node));
  EXPECT_TRUE(x_->has_single_user());
}

TEST_F(GraphTest, OutputsCountAsUses) {
  Node* node = add(x_, x_, "y");
  EXPECT_FALSE(node->result()->is_used());
  graph_.set_outputs({node->result(), node->result()});
  EXPECT_EQ(node->result()->output_uses(), 2);
  graph_.set_outputs({});
  EXPECT_FALSE(node->result()->is_used());
}

TEST_F(GraphTest, ReplaceAllUsesCoversNodesListsOutputsAndWrites) {
  Value* state =
      graph_.add_constant(test_constant("state", TensorType::contiguous(ScalarType::kFloat, {2})));
  Node* y = add(x_, x_, "y");
  Node* cat =
      graph_.append(*find_test_op("aten.cat.default"),
                    {Argument::of_values({y->result(), x_, y->result()}), Argument(int64_t{0})},
                    {f32({6})}, "cat");
  graph_.set_outputs({y->result(), cat->result()});
  graph_.set_buffer_writes({{state, y->result()}});
  graph_.replace_all_uses(y->result(), x_);
  EXPECT_FALSE(y->result()->is_used());
  EXPECT_THAT(cat->operands(), ElementsAre(x_, x_, x_));
  EXPECT_THAT(graph_.outputs(), ElementsAre(x_, cat->result()));
  EXPECT_EQ(graph_.buffer_writes()[0].value, x_);
  graph_.erase(y);
  EXPECT_TRUE(verify_graph(graph_).ok()) << verify_graph(graph_);
}

TEST_F(GraphTest, ABufferThatIsWrittenToItselfKeepsItsUse) {
  Value* state =
      graph_.add_constant(test_constant("state", TensorType::contiguous(ScalarType::kFloat, {2})));
  graph_.set_outputs({state});
  graph_.set_buffer_writes({{state, state}});
  EXPECT_EQ(state->output_uses(), 3);
  graph_.replace_all_uses(state, x_);
  EXPECT_EQ(state->output_uses(), 1);
  EXPECT_EQ(x_->output_uses(), 2);
  graph_.set_buffer_writes({});
  graph_.set_outputs({});
  EXPECT_FALSE(state->is_used());
  EXPECT_FALSE(x_->is_used());
}

TEST_F(GraphTest, TheSameConstantIsOneValue) {
  const ConstantPtr w = test_constant("w", TensorType::contiguous(ScalarType::kFloat, {2}));
  Value* value = graph_.add_constant(w);
  EXPECT_EQ(graph_.add_constant(w), value);
  EXPECT_EQ(value->name(), "w");
  graph_.erase_constant(value);
  EXPECT_THAT(graph_.constants(), IsEmpty());
  EXPECT_NE(graph_.add_constant(w), nullptr);
}

TEST_F(GraphTest, AConstantIsFoundByItsName) {
  const TensorType type = TensorType::contiguous(ScalarType::kFloat, {2});
  EXPECT_EQ(graph_.find_constant("w"), nullptr);
  Value* old = graph_.add_constant(test_constant("w", type));
  Value* newest =
      graph_.add_constant(test_constant("w", TensorType::contiguous(ScalarType::kFloat, {3})));
  EXPECT_EQ(graph_.find_constant("w"), newest);
  EXPECT_EQ(graph_.find_constant("x"), nullptr);
  EXPECT_EQ(graph_.clone()->find_constant("w")->name(), newest->name());
  graph_.erase_constant(newest);
  EXPECT_EQ(graph_.find_constant("w"), old);
  EXPECT_THAT(graph_.constants(), ElementsAre(old));
  graph_.erase_constant(old);
  EXPECT_EQ(graph_.find_constant("w"), nullptr);
}

TEST_F(GraphTest, InsertAndMoveKeepTheOrderAsked) {
  Node* a = add(x_, x_, "a");
  Node* c = add(x_, x_, "c");
  Node* b = graph_.insert_before(c, a->op(), a->arguments(), {x_->type()}, "b");
  Node* d = graph_.insert_after(c, a->op(), a->arguments(), {x_->type()}, "d");
  EXPECT_THAT(graph_.node_pointers(), ElementsAre(a, b, c, d));
  graph_.move_before(d, a);
  EXPECT_THAT(graph_.node_pointers(), ElementsAre(d, a, b, c));
  EXPECT_EQ(graph_.next(d), a);
  EXPECT_EQ(graph_.next(c), nullptr);
  EXPECT_EQ(graph_.previous(a), d);
  EXPECT_EQ(graph_.previous(d), nullptr);
}

TEST_F(GraphTest, ACloneIsEqualAndApart) {
  constexpr char kText[] = R"(method @m(%w: f32[2], %v: f32[2]) {
    %w_1 = constant @w : f32[2]
    %s = state @state : f32[2]
    %v_1 = aten.add.Tensor(%w, %w_1)
    %a, %b = aten.max.dim(%v, 0, false) : f32[], i64[]
    %v_1_1 = aten.cat.default([%v_1, %v_1, %s], 0) : f32[6]
    write %v_1 to %s
    return %v_1_1, %a, %w
  })";
  auto graph = parse_graph(kText, find_test_op, test_constant);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string printed = print_graph(**graph);
  std::map<const Value*, Value*> map;
  std::unique_ptr<Graph> copy = (*graph)->clone(&map);
  EXPECT_EQ(map.at((*graph)->inputs()[1]), copy->inputs()[1]);
  graph->reset();
  EXPECT_EQ(print_graph(*copy), printed);
  EXPECT_TRUE(verify_graph(*copy).ok()) << verify_graph(*copy);
}

// Once for each operand, not for each pair of them: that would take hours.
TEST_F(GraphTest, ClonesOperandsOfLongLists) {
  const std::vector<Value*> many(1'000'000, x_);
  Node* cat =
      graph_.append(*find_test_op("aten.cat.default"),
                    {Argument::of_values(many), Argument(int64_t{0})}, {f32({2'000'000})}, "c");
  graph_.set_outputs({cat->result(0)});
  const std::unique_ptr<Graph> copy = graph_.clone();
  const Argument& list = copy->outputs()[0]->producer()->arguments()[0];
  ASSERT_EQ(list.as_list().size(), many.size());
  EXPECT_EQ(list.as_list().back().value(), copy->inputs()[0]);
}

TEST(Source, LocationIsTheInnermostFrame) {
  Source source;
  source.module = "features.0";
  EXPECT_EQ(source.location(), "features.0");
  source.stack_trace =
      "File \"a.py\", line 3, in forward\n    return f(x)\n"
      "  File \"b.py\", line 12, in f\n    return x + 1";
  EXPECT_EQ(source.location(), "b.py:12, in f");
}

TEST(Source, LocationSkipsFramesInsideOfTorch) {
  const std::string inner = "  File \"/x/site-packages/torch/nn/linear.py\", line 7, in forward\n";
  Source source;
  source.stack_trace = inner;
  EXPECT_EQ(source.location(), "/x/site-packages/torch/nn/linear.py:7, in forward");
  source.stack_trace = "File \"a.py\", line 3, in forward\n    y\n" + inner;
  EXPECT_EQ(source.location(), "a.py:3, in forward");
  source.stack_trace =
      "File \"a.py\", line 3, in forward\n    y\n"
      "  File \"<eval_with_key>.5\", line 9, in forward\n    z\n";
  EXPECT_EQ(source.location(), "a.py:3, in forward");
}

}  // namespace
}  // namespace petrel::exir
