// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/emit.h"

#include <cstring>
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
using testing::constant;
using testing::decode;
using testing::delegate_call;
using testing::emit_files;
using testing::f32;
using testing::f32_constant;
using testing::Files;
using testing::program_of;
using testing::relu;
using testing::test_op;
using testing::view;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename T>
T read(const std::string& bytes, size_t offset) {
  T value;
  EXPECT_LE(offset + sizeof(T), bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
std::vector<T> list(const flatbuffers::Vector<T>* items) {
  return {items->begin(), items->end()};
}

const fb::Tensor* tensor(const fb::ExecutionPlan* plan, int32_t entry) {
  return plan->values()->Get(entry)->val_as_Tensor();
}

const fb::KernelCall* kernel_call(const fb::ExecutionPlan* plan, size_t i) {
  return plan->chains()->Get(0)->instructions()->Get(i)
      ->instr_args_as_KernelCall();
}

std::string kernel_name(const fb::ExecutionPlan* plan, size_t i) {
  const fb::Operator* op =
      plan->operators()->Get(kernel_call(plan, i)->op_index());
  return op->name()->str() + "." + op->overload()->str();
}

size_t instruction_count(const fb::ExecutionPlan* plan) {
  return plan->chains()->Get(0)->instructions()->size();
}

uint64_t offset_of(const fb::Tensor* tensor) {
  return tensor->allocation_info()->memory_offset_low() |
         static_cast<uint64_t>(
             tensor->allocation_info()->memory_offset_high()) << 32;
}

uint64_t segment_base(const std::string& pte) { return read<uint64_t>(pte, 24); }

std::string segment(const std::string& pte, const fb::Program* program,
                    uint32_t index) {
  const fb::DataSegment* s = program->segments()->Get(index);
  return pte.substr(segment_base(pte) + s->offset(), s->size());
}

std::string emit_one(std::unique_ptr<Graph> graph) {
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

TEST(Emit, WritesAPlainFlatbufferWhenThereAreNoSegmentBytes) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3}), "x");
  graph->set_outputs({relu(*graph, x)});
  const std::string pte = emit_one(std::move(graph));
  EXPECT_EQ(pte.substr(4, 4), "ET12");
  EXPECT_NE(pte.substr(8, 4), "eh00");
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->version(), 0u);
  ASSERT_EQ(program->segments()->size(), 1u);
  EXPECT_EQ(program->segments()->Get(0)->size(), 0u);
  EXPECT_THAT(list(program->constant_segment()->offsets()), ElementsAre(0));
}

TEST(Emit, SplicesTheHeaderAndPlacesConstants) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({5}), "x");
  Value* w = graph->add_constant(f32_constant("w", {5}, {1, 2, 3, 4, 5}));
  Value* b = graph->add_constant(f32_constant("b", {5}, {6, 7, 8, 9, 10}));
  graph->set_outputs({add(*graph, add(*graph, x, w), b)});
  const std::string pte = emit_one(std::move(graph));

  EXPECT_EQ(pte.substr(8, 4), "eh00");
  EXPECT_EQ(read<uint32_t>(pte, 12), 32u);
  const uint64_t program_bytes = read<uint64_t>(pte, 16);
  const uint64_t base = segment_base(pte);
  EXPECT_EQ(base, (program_bytes + 127) / 128 * 128);
  EXPECT_EQ(read<uint64_t>(pte, 32), 52u);  // 20, padded to 32, and 20
  EXPECT_EQ(pte.size(), base + 52);

  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(list(program->constant_segment()->offsets()),
              ElementsAre(0, 0, 32));
  EXPECT_EQ(program->constant_segment()->segment_index(), 0u);
  EXPECT_EQ(read<float>(pte, base + 4), 2.0f);
  EXPECT_EQ(read<float>(pte, base + 32), 6.0f);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const int32_t entry = kernel_call(plan, 1)->args()->Get(1);
  EXPECT_EQ(tensor(plan, entry)->data_buffer_idx(), 2u);
  EXPECT_EQ(tensor(plan, entry)->allocation_info(), nullptr);
}

TEST(Emit, KernelCallsRepeatTheResult) {
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

TEST(Emit, SeveralResultsAreRepeatedAsOneList) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3}), "x");
  Node* node = graph->append(
      test_op("aten.max.dim"),
      {Argument(x), Argument(int64_t{1}), Argument(false)},
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

TEST(Emit, AListResultIsItsOwnOutArgument) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({4}), "x");
  Node* node = graph->append(
      test_op("aten.split_copy.Tensor"),
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
  const auto items =
      list(plan->values()->Get(args[3])->val_as_TensorList()->items());
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1], plan->outputs()->Get(0));
}

TEST(Emit, LiteralsAreBoxedAndShared) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3, 3}), "x");
  Value* p = graph
                 ->append(test_op("aten.permute.default"),
                          {Argument(x), Argument(Argument::Ints{2, 1, 0})},
                          {f32({3, 3, 2})}, "p")
                 ->result();
  Value* q = graph
                 ->append(test_op("aten.permute.default"),
                          {Argument(p), Argument(Argument::Ints{2, 1, 0})},
                          {f32({2, 3, 3})}, "q")
                 ->result();
  graph->set_outputs({q});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  EXPECT_EQ(kernel_call(plan, 0)->args()->Get(1),
            kernel_call(plan, 1)->args()->Get(1));
  std::vector<int64_t> dims;
  for (int64_t item : list(plan->values()
                               ->Get(kernel_call(plan, 0)->args()->Get(1))
                               ->val_as_IntList()
                               ->items())) {
    dims.push_back(plan->values()->Get(item)->val_as_Int()->int_val());
  }
  EXPECT_THAT(dims, ElementsAre(2, 1, 0));
  EXPECT_EQ(plan->operators()->size(), 1u);
}

TEST(Emit, ArgumentsOfEveryKindTakeTheirForm) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1, 1, 2, 2}), "x");
  Value* u =
      graph
          ->append(test_op("aten.upsample_bilinear2d.vec"),
                   {Argument(x), Argument(), Argument(true),
                    Argument(Argument::Floats{2.0, 0.5})},
                   {f32({1, 1, 4, 1})}, "u")
          ->result();
  Value* g = graph
                 ->append(test_op("aten.gelu.default"),
                          {Argument(u), Argument(std::string("tanh"))},
                          {u->type()}, "g")
                 ->result();
  Value* c =
      graph
          ->append(test_op("aten.clone.default"),
                   {Argument(g), Argument(MemoryFormat::kPreserve)},
                   {u->type()}, "c")
          ->result();
  Value* i = graph->add_input(
      TensorType::contiguous(ScalarType::kLong, {2}), "i");
  Value* picked =
      graph
          ->append(test_op("aten.index.Tensor"),
                   {Argument(c), Argument(Argument::List{Argument(),
                                                         Argument(i)})},
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
  EXPECT_THAT(list(value(0, 3)->val_as_DoubleList()->items()),
              ElementsAre(2.0, 0.5));
  EXPECT_EQ(value(1, 1)->val_as_String()->string_val()->str(), "tanh");
  EXPECT_EQ(value(2, 1)->val_as_Int()->int_val(), 1);
  EXPECT_THAT(list(value(3, 1)->val_as_OptionalTensorList()->items()),
              ElementsAre(-1, plan->inputs()->Get(1)));
}

TEST(Emit, FactoriesDropTheOptionsThatTheOutTensorSays) {
  auto graph = std::make_unique<Graph>("forward");
  Node* node = graph->append(
      test_op("aten.full.default"),
      {Argument(Argument::Ints{2}), Argument(0.5),
       Argument(ScalarType::kFloat), Argument(), Argument(), Argument(false)},
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

TEST(Emit, ComputedScalarsHaveNoOutArgument) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3}), "x");
  Value* n = graph
                 ->append(test_op("aten.sym_size.int"),
                          {Argument(x), Argument(int64_t{0})},
                          {Type::scalar(Type::Kind::kInt)}, "n")
                 ->result();
  Value* p = graph
                 ->append(test_op("aten.permute.default"),
                          {Argument(x), Argument(Argument::List{
                                            Argument(n), Argument(int64_t{0})})},
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
  const auto* sizes =
      plan->values()->Get(kernel_call(plan, 1)->args()->Get(1))
          ->val_as_IntList();
  EXPECT_EQ(sizes->items()->Get(0), args[2]);
}

TEST(Emit, ViewsAreOtherNamesOfTheirBase) {
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
  const fb::Tensor* base =
      tensor(plan, kernel_call(plan, 0)->args()->Get(1));
  const fb::Tensor* seen = tensor(plan, kernel_call(plan, 1)->args()->Get(0));
  EXPECT_THAT(list(base->sizes()), ElementsAre(2, 6));
  EXPECT_THAT(list(seen->sizes()), ElementsAre(12));
  EXPECT_EQ(offset_of(base), offset_of(seen));
}

TEST(Emit, AViewOfAConstantIsTheConstantWithOtherSizes) {
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

TEST(Emit, OutputsThatWouldAliasInputsOrConstantsAreCopies) {
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
  EXPECT_EQ(offset_of(tensor(plan, outputs[3])),
            offset_of(tensor(plan, outputs[4])));
}

TEST(Emit, ArenaHasAReservedEntryAndSlack) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({3}), "x");
  graph->set_outputs({relu(*graph, x)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  // Two tensors of 12 bytes at multiples of 16, and 64 bytes.
  EXPECT_THAT(list(plan->non_const_buffer_sizes()), ElementsAre(0, 96));
  EXPECT_EQ(tensor(plan, 0)->allocation_info()->memory_id(), 1u);
}

TEST(Emit, MethodsWithoutTensorsNeedNoArena) {
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

TEST(Emit, ScalarAndEmptyTensorsKeepTheirSizes) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({}), "x");
  Value* e = graph->add_input(f32({2, 0}), "e");
  Value* w = graph->add_constant(f32_constant("w", {}, {3}));
  Value* z = graph->add_constant(f32_constant("z", {2, 0}, {}));
  graph->set_outputs({add(*graph, x, w), add(*graph, e, z)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const fb::Tensor* scalar = tensor(plan, plan->outputs()->Get(0));
  ASSERT_NE(scalar->sizes(), nullptr);
  ASSERT_NE(scalar->dim_order(), nullptr);
  EXPECT_EQ(scalar->sizes()->size(), 0u);
  const fb::Tensor* empty = tensor(plan, plan->outputs()->Get(1));
  EXPECT_THAT(list(empty->sizes()), ElementsAre(2, 0));
  EXPECT_LE(offset_of(empty), 96u + 64u);
  EXPECT_THAT(list(program->constant_segment()->offsets()),
              ElementsAre(0, 0, 16));
  EXPECT_EQ(program->segments()->Get(0)->size(), 4u);
}

TEST(Emit, ChannelsLastConstantsKeepTheirOrder) {
  TensorType type = f32({1, 2, 1, 2});
  type.dim_order = {0, 2, 3, 1};
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(type, "x");
  Value* w = graph->add_constant(
      constant("w", type, std::vector<uint8_t>(16, 1)));
  graph->set_outputs({add(*graph, x, w)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const fb::Tensor* w_entry =
      tensor(plan, kernel_call(plan, 0)->args()->Get(1));
  EXPECT_THAT(list(w_entry->dim_order()), ElementsAre(0, 2, 3, 1));
}

TEST(Emit, EqualConstantsOfAllMethodsAreStoredOnce) {
  Program program;
  for (const char* name : {"a", "b"}) {
    auto graph = std::make_unique<Graph>(name);
    Value* x = graph->add_input(f32({2}), "x");
    Value* w = graph->add_constant(f32_constant("w", {2}, {1, 2}));
    graph->set_outputs({add(*graph, x, w)});
    program.methods[name].graph = std::move(graph);
    program.methods[name].signature.in_spec = std::string("in of ") + name;
    program.methods[name].signature.out_spec = std::string("out of ") + name;
  }
  NamedBlobStore store;
  EmitReport report;
  auto files = emit_files(program, store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::Program* decoded = decode(files->at(""));
  ASSERT_NE(decoded, nullptr);
  ASSERT_EQ(decoded->execution_plan()->size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const fb::ExecutionPlan* plan = decoded->execution_plan()->Get(i);
    const std::string name = i == 0 ? "a" : "b";
    EXPECT_EQ(plan->name()->str(), name);
    EXPECT_EQ(plan->container_meta_type()->encoded_inp_str()->str(),
              "in of " + name);
    EXPECT_EQ(plan->container_meta_type()->encoded_out_str()->str(),
              "out of " + name);
  }
  EXPECT_EQ(decoded->constant_segment()->offsets()->size(), 2u);
  EXPECT_EQ(report.weight_bytes, 8u);
  EXPECT_EQ(report.shared_weight_bytes, 8u);
  EXPECT_EQ(report.file_bytes.at(""), files->at("").size());
  EXPECT_EQ(report.kernels.at("a").at("aten::add.out"), 1u);
}

TEST(Emit, DelegateCallsTakeInputsThenOutputs) {
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
  EXPECT_EQ(first->processed()->index(),
            plan->delegates()->Get(1)->processed()->index());
  const fb::CompileSpec* spec = first->compile_specs()->Get(0);
  EXPECT_EQ(spec->key()->str(), "mode");
  EXPECT_EQ(spec->value()->size(), 4u);
  const auto* third = plan->delegates()->Get(2)->processed();
  EXPECT_EQ(third->location(), fb::DataLocation::INLINE);
  ASSERT_EQ(program->backend_delegate_data()->size(), 1u);
  EXPECT_EQ(program->backend_delegate_data()->Get(0)->data()->size(), 0u);

  const auto* call = plan->chains()->Get(0)->instructions()->Get(0)
                         ->instr_args_as_DelegateCall();
  EXPECT_EQ(call->delegate_index(), 0);
  const auto args = list(call->args());
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(args[0], plan->inputs()->Get(1));
  EXPECT_EQ(args[1], plan->inputs()->Get(0));
}

TEST(Emit, NamedDataOfConstantsLieInTheConstantSegment) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1}), "x");
  Value* a = graph->add_constant(f32_constant("a", {1}, {1}));
  Value* b = graph->add_constant(f32_constant("b", {1}, {2}));
  graph->set_outputs({add(*graph, add(*graph, x, a), b)});
  NamedBlobStore store;
  const Blob of_b = f32_constant("b", {1}, {2})->data;
  ASSERT_TRUE(*store.add_named_blob("k", of_b, 16, ""));
  ASSERT_TRUE(*store.add_named_blob("other", Blob::owned({9, 9, 9}), 256, ""));
  EmitReport report;
  auto files = emit_files(program_of(std::move(graph)), store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string& pte = files->at("");
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(list(program->constant_segment()->offsets()),
              ElementsAre(0, 0, 128));
  ASSERT_EQ(program->named_data()->size(), 2u);
  const fb::NamedData* k = program->named_data()->Get(0);
  EXPECT_EQ(k->key()->str(), "k");
  EXPECT_EQ(program->segments()->Get(k->segment_index())->offset(), 128u);
  EXPECT_EQ(segment(pte, program, k->segment_index()),
            std::string("\0\0\0\x40", 4));
  const fb::NamedData* other = program->named_data()->Get(1);
  const uint64_t offset =
      program->segments()->Get(other->segment_index())->offset();
  EXPECT_EQ(segment(pte, program, other->segment_index()), "\t\t\t");
  EXPECT_EQ((segment_base(pte) + offset) % 256, 0u);
  EXPECT_EQ(report.weight_bytes, 11u);
  EXPECT_EQ(report.shared_weight_bytes, 4u);
}

TEST(Emit, RejectsWhatNoKernelExecutesAllAtOnce) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1}), "x");
  Source source;
  source.stack_trace = "  File \"model.py\", line 12, in forward";
  Value* a = graph
                 ->append(test_op("aten.nowhere.default"), {Argument(x)},
                          {f32({1})}, "a", source)
                 ->result();
  Value* b = graph
                 ->append(test_op("aten.relu_.default"), {Argument(a)},
                          {f32({1})}, "b")
                 ->result();
  graph->set_outputs({b});
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kUnimplemented);
  const std::string message(bytes.status().message());
  EXPECT_THAT(message, HasSubstr("method 'forward'"));
  EXPECT_THAT(message, HasSubstr("node 'a' (aten.nowhere.default) at "
                                 "model.py:12, in forward has no kernel"));
  EXPECT_THAT(message, HasSubstr("node 'b' (aten.relu_.default) works in place"));
}

TEST(Emit, RejectsScalarInputsAndBadAlignments) {
  auto graph = std::make_unique<Graph>("forward");
  graph->set_outputs(
      {graph->add_input(Type::scalar(Type::Kind::kInt), "n")});
  const Program program = program_of(std::move(graph));
  auto bytes = emit_to_memory(program);
  EXPECT_THAT(std::string(bytes.status().message()),
              HasSubstr("input 'n' is of type int"));

  auto empty = std::make_unique<Graph>("forward");
  const Program valid = program_of(std::move(empty));
  for (uint64_t alignment : {uint64_t{0}, uint64_t{8}, uint64_t{100},
                             uint64_t{1} << 40}) {
    NamedBlobStore store;
    EmitOptions options;
    options.segment_alignment = alignment;
    EXPECT_EQ(emit_files(valid, store, options).status().code(),
              absl::StatusCode::kInvalidArgument)
        << alignment;
  }
}

TEST(Emit, RejectsArgumentsThatDoNotFitTheSchema) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1}), "x");
  graph->set_outputs({graph
                          ->append(test_op("aten.add.Tensor"),
                                   {Argument(x), Argument(int64_t{2}),
                                    Argument(int64_t{1})},
                                   {f32({1})}, "sum")
                          ->result()});
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bytes.status().message()),
              HasSubstr("node 'sum' (aten.add.Tensor): argument 'other' is "
                        "not a tensor"));
}

TEST(Emit, PassesOnWhatTheSinkSays) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({5}), "x");
  Value* w = graph->add_constant(f32_constant("w", {5}, {1, 2, 3, 4, 5}));
  graph->set_outputs({add(*graph, x, w)});
  const Program program = program_of(std::move(graph));
  NamedBlobStore counting;
  auto whole = emit_files(program, counting);
  ASSERT_TRUE(whole.ok());
  // A disk that is full after n bytes fails the export for every n.
  for (size_t room = 0; room < whole->at("").size(); room += 61) {
    NamedBlobStore store;
    size_t written = 0;
    auto report = emit_program(
        program, store, {},
        [&](const std::string&) -> absl::StatusOr<ByteSink> {
          return ByteSink([&](absl::Span<const uint8_t> part) {
            written += part.size();
            return written > room ? absl::ResourceExhaustedError("full")
                                  : absl::OkStatus();
          });
        });
    EXPECT_EQ(report.status().code(), absl::StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace petrel::exir
