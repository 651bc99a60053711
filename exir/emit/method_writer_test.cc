// SPDX-License-Identifier: Apache-2.0
//
// The values and instructions of one method, as they stand in the file.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/test_graphs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;
using testing::add;
using testing::arena_offset;
using testing::decode;
using testing::delegate_call;
using ::testing::ElementsAre;
using testing::emit_one;
using testing::f32;
using testing::f32_constant;
using ::testing::HasSubstr;
using testing::instruction_count;
using ::testing::IsEmpty;
using testing::kernel_call;
using testing::kernel_name;
using testing::list;
using testing::program_of;
using testing::relu;
using testing::segment;
using testing::tensor;
using testing::test_op;
using testing::view;

TEST(MethodWriter, KernelCallsRepeatTheResult) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2}), "x");
  Value* y = graph->add_input(f32({2}), "y");
  graph->set_outputs({add(*graph, x, y)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  EXPECT_EQ(plan->name()->str(), "forward");
  EXPECT_EQ(kernel_name(plan, 0), "aten::add.out");
  const auto args = list(kernel_call(plan, 0)->args());
  ASSERT_EQ(args.size(), 5u);
  EXPECT_EQ(args[0], plan->inputs()->Get(0));
  EXPECT_EQ(args[1], plan->inputs()->Get(1));
  EXPECT_EQ(plan->values()->Get(args[2])->val_as_Int()->int_val(), 1);
  EXPECT_EQ(args[3], plan->outputs()->Get(0));
  EXPECT_EQ(args[4], args[3]);
}

TEST(MethodWriter, SeveralResultsAreRepeatedAsOneList) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3}), "x");
  Node* node =
      graph->append(test_op("aten.max.dim"), {Argument(x), Argument(int64_t{1}), Argument(false)},
                    {f32({2}), TensorType::contiguous(ScalarType::kLong, {2})}, "max");
  graph->set_outputs({node->result(0), node->result(1)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  EXPECT_EQ(kernel_name(plan, 0), "aten::max.dim_max");
  const auto args = list(kernel_call(plan, 0)->args());
  ASSERT_EQ(args.size(), 6u);
  EXPECT_EQ(args[3], plan->outputs()->Get(0));
  EXPECT_EQ(args[4], plan->outputs()->Get(1));
  EXPECT_THAT(list(plan->values()->Get(args[5])->val_as_TensorList()->items()),
              ElementsAre(args[3], args[4]));
  EXPECT_EQ(tensor(plan, args[4])->scalar_type(), fb::ScalarType::LONG);
}

TEST(MethodWriter, AListResultIsItsOwnOutArgument) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({4}), "x");
  Node* node = graph->append(test_op("aten.split_copy.Tensor"),
                             {Argument(x), Argument(int64_t{2}), Argument(int64_t{0})},
                             {f32({2}), f32({2})}, "split");
  graph->set_outputs({node->result(1)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto args = list(kernel_call(plan, 0)->args());
  ASSERT_EQ(args.size(), 5u);
  EXPECT_EQ(args[3], args[4]);
  const auto items = list(plan->values()->Get(args[3])->val_as_TensorList()->items());
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1], plan->outputs()->Get(0));
}

TEST(MethodWriter, LiteralsAreBoxedAndShared) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3, 3}), "x");
  Value* p = graph
                 ->append(test_op("aten.permute.default"),
                          {Argument(x), Argument(Argument::Ints{2, 1, 0})}, {f32({3, 3, 2})}, "p")
                 ->result();
  Value* q = graph
                 ->append(test_op("aten.permute.default"),
                          {Argument(p), Argument(Argument::Ints{2, 1, 0})}, {f32({2, 3, 3})}, "q")
                 ->result();
  graph->set_outputs({q});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  EXPECT_EQ(kernel_call(plan, 0)->args()->Get(1), kernel_call(plan, 1)->args()->Get(1));
  std::vector<int64_t> dims;
  for (int64_t item :
       list(plan->values()->Get(kernel_call(plan, 0)->args()->Get(1))->val_as_IntList()->items())) {
    dims.push_back(plan->values()->Get(item)->val_as_Int()->int_val());
  }
  EXPECT_THAT(dims, ElementsAre(2, 1, 0));
  EXPECT_EQ(plan->operators()->size(), 1u);
}

TEST(MethodWriter, ArgumentsOfEveryKindTakeTheirForm) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1, 1, 2, 2}), "x");
  Value* u =
      graph
          ->append(test_op("aten.upsample_bilinear2d.vec"),
                   {Argument(x), Argument(), Argument(true), Argument(Argument::Floats{2.0, 0.5})},
                   {f32({1, 1, 4, 1})}, "u")
          ->result();
  Value* g = graph
                 ->append(test_op("aten.gelu.default"),
                          {Argument(u), Argument(std::string("tanh"))}, {u->type()}, "g")
                 ->result();
  Value* c = graph
                 ->append(test_op("aten.clone.default"),
                          {Argument(g), Argument(MemoryFormat::kPreserve)}, {u->type()}, "c")
                 ->result();
  Value* i = graph->add_input(TensorType::contiguous(ScalarType::kLong, {2}), "i");
  Value* picked = graph
                      ->append(test_op("aten.index.Tensor"),
                               {Argument(c), Argument(Argument::List{Argument(), Argument(i)})},
                               {f32({1, 2, 4, 1})}, "picked")
                      ->result();
  graph->set_outputs({picked});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto value = [&](size_t call, size_t arg) {
    return plan->values()->Get(kernel_call(plan, call)->args()->Get(arg));
  };
  EXPECT_EQ(value(0, 1)->val_type(), fb::KernelTypes::Null);
  EXPECT_TRUE(value(0, 2)->val_as_Bool()->bool_val());
  EXPECT_THAT(list(value(0, 3)->val_as_DoubleList()->items()), ElementsAre(2.0, 0.5));
  EXPECT_EQ(value(1, 1)->val_as_String()->string_val()->str(), "tanh");
  EXPECT_EQ(value(2, 1)->val_as_Int()->int_val(), 1);
  EXPECT_THAT(list(value(3, 1)->val_as_OptionalTensorList()->items()),
              ElementsAre(-1, plan->inputs()->Get(1)));
}

TEST(MethodWriter, FactoriesDropTheOptionsThatTheOutTensorSays) {
  auto graph = std::make_unique<Graph>("forward");
  Node* node =
      graph->append(test_op("aten.full.default"),
                    {Argument(Argument::Ints{2}), Argument(0.5), Argument(ScalarType::kFloat),
                     Argument(), Argument(), Argument(false)},
                    {f32({2})}, "full");
  graph->set_outputs({node->result()});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto args = list(kernel_call(plan, 0)->args());
  ASSERT_EQ(args.size(), 4u);
  EXPECT_EQ(plan->values()->Get(args[1])->val_as_Double()->double_val(), 0.5);
}

TEST(MethodWriter, NumbersKeepTheSignOfZero) {
  auto graph = std::make_unique<Graph>("forward");
  const auto full = [&graph](double number, const char* name) {
    return graph
        ->append(test_op("aten.full.default"),
                 {Argument(Argument::Ints{2}), Argument(number), Argument(ScalarType::kFloat),
                  Argument(), Argument(), Argument(false)},
                 {f32({2})}, name)
        ->result();
  };
  graph->set_outputs({full(-0.0, "below"), full(0.0, "above")});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto number = [plan](size_t call) {
    return plan->values()->Get(kernel_call(plan, call)->args()->Get(1))->val_as_Double();
  };
  EXPECT_TRUE(std::signbit(number(0)->double_val()));
  EXPECT_FALSE(std::signbit(number(1)->double_val()));
}

TEST(MethodWriter, ComputedScalarsHaveNoOutArgument) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3}), "x");
  Value* n = graph
                 ->append(test_op("aten.sym_size.int"), {Argument(x), Argument(int64_t{0})},
                          {Type::scalar(Type::Kind::kInt)}, "n")
                 ->result();
  Value* p =
      graph
          ->append(test_op("aten.permute.default"),
                   {Argument(x), Argument(Argument::List{Argument(n), Argument(int64_t{0})})},
                   {f32({3, 2})}, "p")
          ->result();
  graph->set_outputs({p, n});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  EXPECT_EQ(kernel_name(plan, 0), "aten::sym_size.int");
  const auto args = list(kernel_call(plan, 0)->args());
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(plan->values()->Get(args[2])->val_type(), fb::KernelTypes::Int);
  EXPECT_EQ(plan->outputs()->Get(1), args[2]);
  const auto* sizes = plan->values()->Get(kernel_call(plan, 1)->args()->Get(1))->val_as_IntList();
  EXPECT_EQ(sizes->items()->Get(0), args[2]);
}

TEST(MethodWriter, ViewsAreOtherNamesOfTheirBase) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 6}), "x");
  Value* a = relu(*graph, x);
  Value* v = view(*graph, a, {3, 4});
  Value* w = view(*graph, v, {12});
  graph->set_outputs({relu(*graph, w)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  ASSERT_EQ(instruction_count(plan), 2u);
  const fb::Tensor* base = tensor(plan, kernel_call(plan, 0)->args()->Get(1));
  const fb::Tensor* seen = tensor(plan, kernel_call(plan, 1)->args()->Get(0));
  EXPECT_THAT(list(base->sizes()), ElementsAre(2, 6));
  EXPECT_THAT(list(seen->sizes()), ElementsAre(12));
  EXPECT_EQ(arena_offset(base), arena_offset(seen));
}

TEST(MethodWriter, AViewOfAConstantIsTheConstantWithOtherSizes) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({4}), "x");
  Value* w = graph->add_constant(f32_constant("w", {2, 2}, {1, 2, 3, 4}));
  graph->set_outputs({add(*graph, x, view(*graph, w, {4}))});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const fb::Tensor* seen = tensor(plan, kernel_call(plan, 0)->args()->Get(1));
  EXPECT_EQ(seen->data_buffer_idx(), 1u);
  EXPECT_THAT(list(seen->sizes()), ElementsAre(4));
}

TEST(MethodWriter, OutputsThatWouldAliasInputsOrConstantsAreCopies) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 2}), "x");
  Value* w = graph->add_constant(f32_constant("w", {2}, {1, 2}));
  Value* a = relu(*graph, x);
  graph->set_outputs({x, view(*graph, x, {4}), w, a, view(*graph, a, {4}), x});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto outputs = list(plan->outputs());
  ASSERT_EQ(outputs.size(), 6u);
  EXPECT_EQ(outputs[0], outputs[5]);
  EXPECT_NE(outputs[0], plan->inputs()->Get(0));
  ASSERT_EQ(instruction_count(plan), 4u);  // relu and three copies
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(kernel_name(plan, i), "aten::view_copy.out");
    EXPECT_EQ(kernel_call(plan, i)->args()->Get(2), outputs[i - 1]);
  }
  for (int32_t output : outputs) {
    EXPECT_NE(tensor(plan, output)->allocation_info(), nullptr);
    EXPECT_EQ(tensor(plan, output)->data_buffer_idx(), 0u);
  }
  EXPECT_EQ(arena_offset(tensor(plan, outputs[3])), arena_offset(tensor(plan, outputs[4])));
}

TEST(MethodWriter, ArenasHaveAReservedEntry) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({3}), "x");
  graph->set_outputs({relu(*graph, x)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  // Two tensors of 12 bytes at multiples of 16.
  EXPECT_THAT(list(plan->non_const_buffer_sizes()), ElementsAre(0, 32));
  EXPECT_EQ(tensor(plan, 0)->allocation_info()->memory_id(), 1u);
}

TEST(MethodWriter, MethodsWithoutTensorsNeedNoArena) {
  auto graph = std::make_unique<Graph>("forward");
  graph->set_outputs({});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  EXPECT_THAT(list(plan->non_const_buffer_sizes()), ElementsAre(0));
  // Readers take absent vectors for damage.
  ASSERT_NE(plan->values(), nullptr);
  ASSERT_NE(plan->inputs(), nullptr);
  ASSERT_NE(plan->outputs(), nullptr);
  ASSERT_NE(plan->operators(), nullptr);
  ASSERT_NE(plan->delegates(), nullptr);
  ASSERT_EQ(plan->chains()->size(), 1u);
  EXPECT_THAT(list(plan->chains()->Get(0)->inputs()), IsEmpty());
  EXPECT_THAT(list(plan->chains()->Get(0)->outputs()), IsEmpty());
  EXPECT_EQ(instruction_count(plan), 0u);
}

TEST(MethodWriter, DelegateCallsTakeInputsThenOutputs) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2}), "x");
  Value* y = graph->add_input(f32({2}), "y");
  Value* d = delegate_call(*graph, {y, x}, f32({2}), "Null", "payload");
  Value* e = delegate_call(*graph, {d}, f32({2}), "Null", "payload");
  Value* f = delegate_call(*graph, {e}, f32({2}), "Null", "");
  graph->set_outputs({f});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  ASSERT_EQ(plan->delegates()->size(), 3u);
  const fb::BackendDelegate* first = plan->delegates()->Get(0);
  EXPECT_EQ(first->id()->str(), "Null");
  EXPECT_EQ(first->processed()->location(), fb::DataLocation::SEGMENT);
  EXPECT_EQ(segment(pte, program, first->processed()->index()), "payload");
  EXPECT_EQ(first->processed()->index(), plan->delegates()->Get(1)->processed()->index());
  const fb::CompileSpec* spec = first->compile_specs()->Get(0);
  EXPECT_EQ(spec->key()->str(), "mode");
  EXPECT_EQ(spec->value()->size(), 4u);
  const auto* third = plan->delegates()->Get(2)->processed();
  EXPECT_EQ(third->location(), fb::DataLocation::INLINE);
  ASSERT_EQ(program->backend_delegate_data()->size(), 1u);
  EXPECT_EQ(program->backend_delegate_data()->Get(0)->data()->size(), 0u);

  const auto* call = plan->chains()->Get(0)->instructions()->Get(0)->instr_args_as_DelegateCall();
  EXPECT_EQ(call->delegate_index(), 0);
  const auto args = list(call->args());
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(args[0], plan->inputs()->Get(1));
  EXPECT_EQ(args[1], plan->inputs()->Get(0));
}

TEST(MethodWriter, RejectsWhatNoKernelExecutesAllAtOnce) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1}), "x");
  Source source;
  source.stack_trace = "  File \"model.py\", line 12, in forward";
  Value* a = graph->append(test_op("aten.nowhere.default"), {Argument(x)}, {f32({1})}, "a", source)
                 ->result();
  Value* b = graph->append(test_op("aten.relu_.default"), {Argument(a)}, {f32({1})}, "b")->result();
  graph->set_outputs({b});
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kUnimplemented);
  const std::string message(bytes.status().message());
  EXPECT_THAT(message, HasSubstr("method 'forward'"));
  EXPECT_THAT(message, HasSubstr("node 'a' (aten.nowhere.default) at "
                                 "model.py:12, in forward has no kernel"));
  EXPECT_THAT(message, HasSubstr("node 'b' (aten.relu_.default) works in place"));
}

TEST(MethodWriter, RejectsArgumentsThatDoNotFitTheSchema) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1}), "x");
  graph->set_outputs(
      {graph
           ->append(test_op("aten.add.Tensor"),
                    {Argument(x), Argument(int64_t{2}), Argument(int64_t{1})}, {f32({1})}, "sum")
           ->result()});
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bytes.status().message()),
              HasSubstr("node 'sum' (aten.add.Tensor): argument 'other' is "
                        "not a tensor"));
}

}  // namespace
}  // namespace petrel::exir
