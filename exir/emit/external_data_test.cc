// SPDX-License-Identifier: Apache-2.0
//
// Weights outside the program, and state.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/emit.h"
#include "exir/emit/test_graphs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "schema/flat_data_generated.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;
namespace fd = schema::flat_data;
using testing::add;
using testing::decode;
using ::testing::ElementsAre;
using testing::emit_files;
using testing::f32;
using testing::f32_constant;
using ::testing::HasSubstr;
using testing::list;
using testing::program_of;
using testing::read;
using testing::relu;
using testing::view;

// The table of a `.ptd`: the header is taken out and the root moved back.
std::string flatbuffer_of(const std::string& ptd) {
  const uint64_t header = read<uint64_t>(ptd, 16);
  const uint64_t size = read<uint64_t>(ptd, 24);
  std::string table = ptd.substr(0, 8) + ptd.substr(8 + header, size - 8);
  const uint32_t root = read<uint32_t>(ptd, 0) - header;
  std::memcpy(table.data(), &root, sizeof(root));
  return table;
}

std::string segment(const std::string& ptd, const fd::FlatData* data, uint32_t index) {
  const fd::DataSegment* s = data->segments()->Get(index);
  return ptd.substr(read<uint64_t>(ptd, 32) + s->offset(), s->size());
}

EmitOptions outside() {
  EmitOptions options;
  options.external_weights = "w.ptd";
  return options;
}

TEST(ExternalWeights, GoToTheDataFileWithTheirLayout) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({3}), "x");
  Value* w = graph->add_constant(f32_constant("layer.w", {3}, {1, 2, 3}));
  Value* l = graph->add_constant(f32_constant("lifted", {3}, {4, 5, 6}, Constant::Kind::kLiteral));
  TensorType last = f32({1, 3, 1, 1});
  last.dim_order = {0, 2, 3, 1};
  graph->set_outputs({add(*graph, add(*graph, x, w), l)});
  RoutedBlobStore store("w.ptd");
  ASSERT_TRUE(*store.add_named_blob("of a delegate", Blob::owned({1, 2}), 256, ""));
  auto files = emit_files(program_of(std::move(graph)), store, outside());
  ASSERT_TRUE(files.ok()) << files.status();

  const fb::Program* program = decode(files->at(""));
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->named_data(), nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto* call = plan->chains()->Get(0)->instructions()->Get(0)->instr_args_as_KernelCall();
  const fb::Tensor* weight = plan->values()->Get(call->args()->Get(1))->val_as_Tensor();
  ASSERT_NE(weight->extra_tensor_info(), nullptr);
  EXPECT_EQ(weight->extra_tensor_info()->location(), fb::TensorDataLocation::EXTERNAL);
  EXPECT_EQ(weight->extra_tensor_info()->fully_qualified_name()->str(), "layer.w");
  EXPECT_EQ(weight->data_buffer_idx(), 0u);
  EXPECT_EQ(weight->allocation_info(), nullptr);
  // The literal stays: one constant of 12 bytes.
  EXPECT_EQ(program->constant_segment()->offsets()->size(), 2u);
  EXPECT_EQ(program->segments()->Get(0)->size(), 12u);

  const std::string& ptd = files->at("w.ptd");
  EXPECT_EQ(ptd.substr(4, 4), "FT01");
  EXPECT_EQ(ptd.substr(8, 4), "FH01");
  EXPECT_EQ(read<uint32_t>(ptd, 12), 40u);
  EXPECT_EQ(read<uint64_t>(ptd, 16), 48u);
  const uint64_t base = read<uint64_t>(ptd, 32);
  EXPECT_EQ(base % 256, 0u);
  EXPECT_EQ(ptd.size(), base + read<uint64_t>(ptd, 40));
  const std::string table = flatbuffer_of(ptd);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(table.data()), table.size());
  ASSERT_TRUE(fd::VerifyFlatDataBuffer(verifier));
  // And as it stands in the file, where readers see it.
  flatbuffers::Verifier in_place(reinterpret_cast<const uint8_t*>(ptd.data()),
                                 48 + read<uint64_t>(ptd, 24));
  EXPECT_TRUE(fd::VerifyFlatDataBuffer(in_place));
  const fd::FlatData* data = fd::GetFlatData(table.data());
  ASSERT_EQ(data->named_data()->size(), 2u);
  const fd::NamedData* blob = data->named_data()->Get(1);  // by key
  EXPECT_EQ(blob->key()->str(), "of a delegate");
  EXPECT_EQ(blob->tensor_layout(), nullptr);
  EXPECT_EQ(segment(ptd, data, blob->segment_index()), "\x01\x02");
  const fd::NamedData* row = data->named_data()->Get(0);
  EXPECT_EQ(row->key()->str(), "layer.w");
  EXPECT_EQ(row->tensor_layout()->scalar_type(), fd::ScalarType::FLOAT);
  EXPECT_THAT(list(row->tensor_layout()->sizes()), ElementsAre(3));
  EXPECT_THAT(list(row->tensor_layout()->dim_order()), ElementsAre(0));
  EXPECT_EQ(read<float>(segment(ptd, data, row->segment_index()), 8), 3.0f);
}

TEST(ExternalWeights, ViewsOfThemAreCopies) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({4}), "x");
  Value* w = graph->add_constant(f32_constant("w", {2, 2}, {1, 2, 3, 4}));
  Value* v = view(*graph, w, {4, 1});
  graph->set_outputs({add(*graph, x, view(*graph, v, {4}))});
  RoutedBlobStore store("w.ptd");
  auto files = emit_files(program_of(std::move(graph)), store, outside());
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::Program* program = decode(files->at(""));
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  ASSERT_EQ(plan->chains()->Get(0)->instructions()->size(), 2u);
  EXPECT_EQ(plan->operators()->Get(0)->name()->str(), "aten::view_copy");
}

TEST(ExternalWeights, EqualBytesOfTwoNamesAreOneSegment) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2}), "x");
  Value* a = graph->add_constant(f32_constant("a", {2}, {1, 2}));
  Value* b = graph->add_constant(f32_constant("b", {2}, {1, 2}));
  graph->set_outputs({add(*graph, add(*graph, x, a), b)});
  RoutedBlobStore store("w.ptd");
  auto files = emit_files(program_of(std::move(graph)), store, outside());
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string table = flatbuffer_of(files->at("w.ptd"));
  const fd::FlatData* data = fd::GetFlatData(table.data());
  EXPECT_EQ(data->segments()->size(), 1u);
  EXPECT_EQ(data->named_data()->size(), 2u);
}

TEST(ExternalWeights, RefuseOneNameForTwoWeights) {
  Program program;
  for (const char* name : {"a", "b"}) {
    auto graph = std::make_unique<Graph>(name);
    Value* x = graph->add_input(f32({1}), "x");
    Value* w = graph->add_constant(f32_constant("w", {1}, {name[0] == 'a' ? 1.0f : 2.0f}));
    graph->set_outputs({add(*graph, x, w)});
    program.methods[name].graph = std::move(graph);
  }
  RoutedBlobStore store("w.ptd");
  auto files = emit_files(program, store, outside());
  EXPECT_EQ(files.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(files.status().message()), HasSubstr("method 'b': weight 'w'"));
  RoutedBlobStore inside;
  EXPECT_TRUE(emit_files(program, inside).ok());
}

TEST(ExternalWeights, TheFileIsWrittenEvenIfItIsEmpty) {
  auto graph = std::make_unique<Graph>("forward");
  graph->set_outputs({relu(*graph, graph->add_input(f32({1}), "x"))});
  RoutedBlobStore store;
  auto files = emit_files(program_of(std::move(graph)), store, outside());
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string table = flatbuffer_of(files->at("w.ptd"));
  const fd::FlatData* data = fd::GetFlatData(table.data());
  ASSERT_NE(data->segments(), nullptr);
  ASSERT_NE(data->named_data(), nullptr);
  EXPECT_EQ(data->named_data()->size(), 0u);
  EXPECT_EQ(files->at("w.ptd").size(), read<uint64_t>(files->at("w.ptd"), 32));
}

TEST(State, KeepsItsInitialValueAndIsWrittenBack) {
  auto graph = std::make_unique<Graph>("forward");
  constexpr auto kState = Constant::Kind::kMutableBuffer;
  Value* x = graph->add_input(f32({2}), "x");
  Value* count = graph->add_constant(f32_constant("count", {2}, {10, 20}, kState));
  Value* sum = graph->add_constant(f32_constant("sum", {2}, {0, 0}, kState));
  Value* next = add(*graph, count, x);
  Value* total = add(*graph, sum, next);
  graph->set_outputs({total, count});
  graph->set_buffer_writes({{count, next}, {sum, total}});
  RoutedBlobStore store;
  auto files = emit_files(program_of(std::move(graph)), store, outside());
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string& pte = files->at("");
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(program->mutable_data_segments()->size(), 1u);
  const fb::SubsegmentOffsets* states = program->mutable_data_segments()->Get(0);
  EXPECT_THAT(list(states->offsets()), ElementsAre(0, 0));
  const fb::DataSegment* s = program->segments()->Get(states->segment_index());
  EXPECT_EQ(s->size(), 8u);
  EXPECT_EQ(read<float>(pte, read<uint64_t>(pte, 24) + s->offset() + 4), 20.0f);

  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const auto* instructions = plan->chains()->Get(0)->instructions();
  // Two additions, a copy of `count` to return, two writes.
  ASSERT_EQ(instructions->size(), 5u);
  const auto call = [&](size_t i) { return instructions->Get(i)->instr_args_as_KernelCall(); };
  const int32_t count_entry = call(0)->args()->Get(0);
  const fb::Tensor* count_tensor = plan->values()->Get(count_entry)->val_as_Tensor();
  EXPECT_EQ(count_tensor->data_buffer_idx(), 1u);
  ASSERT_NE(count_tensor->allocation_info(), nullptr);
  EXPECT_EQ(count_tensor->extra_tensor_info()->fully_qualified_name()->str(), "count");
  EXPECT_EQ(count_tensor->extra_tensor_info()->location(), fb::TensorDataLocation::SEGMENT);
  const fb::Tensor* sum_tensor = plan->values()->Get(call(1)->args()->Get(0))->val_as_Tensor();
  EXPECT_EQ(sum_tensor->data_buffer_idx(), 0u);

  const auto name = [&](size_t i) {
    const fb::Operator* op = plan->operators()->Get(call(i)->op_index());
    return op->name()->str() + "/" + op->overload()->str();
  };
  EXPECT_EQ(name(2), "aten::view_copy/out");
  EXPECT_EQ(call(2)->args()->Get(0), count_entry);
  EXPECT_EQ(name(3), "aten::copy_/");
  const auto args = list(call(3)->args());
  ASSERT_EQ(args.size(), 4u);
  EXPECT_EQ(args[0], count_entry);
  EXPECT_EQ(args[1], call(0)->args()->Get(3));
  EXPECT_FALSE(plan->values()->Get(args[2])->val_as_Bool()->bool_val());
  EXPECT_EQ(args[3], count_entry);
}

TEST(State, GoesToTheFileOfItsRule) {
  auto graph = std::make_unique<Graph>("forward");
  constexpr auto kState = Constant::Kind::kMutableBuffer;
  Value* x = graph->add_input(f32({2}), "x");
  Value* count = graph->add_constant(f32_constant("count", {2}, {10, 20}, kState));
  Value* sum = graph->add_constant(f32_constant("sum", {2}, {0, 0}, kState));
  Value* total = add(*graph, sum, add(*graph, count, x));
  graph->set_outputs({total});
  graph->set_buffer_writes({{sum, total}, {count, total}});
  WeightRoutes routes;
  routes.rules = {{"*", "state.ptd"}};
  RoutedBlobStore store(routes);
  auto files = emit_files(program_of(std::move(graph)), store);
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::Program* program = decode(files->at(""));
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->mutable_data_segments(), nullptr);
  int outside = 0;
  for (const fb::EValue* value : *program->execution_plan()->Get(0)->values()) {
    const fb::Tensor* tensor = value->val_as_Tensor();
    if (tensor == nullptr || tensor->extra_tensor_info() == nullptr ||
        tensor->extra_tensor_info()->location() != fb::TensorDataLocation::EXTERNAL) {
      continue;
    }
    ++outside;
    EXPECT_EQ(tensor->extra_tensor_info()->fully_qualified_name()->str(), "count");
    EXPECT_EQ(tensor->data_buffer_idx(), 0u);
    EXPECT_NE(tensor->allocation_info(), nullptr);
  }
  EXPECT_EQ(outside, 1);
  const std::string table = flatbuffer_of(files->at("state.ptd"));
  const fd::FlatData* data = fd::GetFlatData(table.data());
  ASSERT_EQ(data->named_data()->size(), 1u);
  EXPECT_EQ(data->named_data()->Get(0)->key()->str(), "count");
}

TEST(State, ExchangedBuffersAreCopiedFirstAndUnchangedOnesNotWritten) {
  auto graph = std::make_unique<Graph>("forward");
  constexpr auto kState = Constant::Kind::kMutableBuffer;
  Value* a = graph->add_constant(f32_constant("a", {1}, {1}, kState));
  Value* b = graph->add_constant(f32_constant("b", {1}, {2}, kState));
  Value* c = graph->add_constant(f32_constant("c", {1}, {3}, kState));
  graph->set_outputs({});
  graph->set_buffer_writes({{a, b}, {b, a}, {c, c}});
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const fb::Program* program = decode(*bytes);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  std::vector<std::string> names;
  for (const fb::Instruction* i : *plan->chains()->Get(0)->instructions()) {
    names.push_back(
        plan->operators()->Get(i->instr_args_as_KernelCall()->op_index())->name()->str());
  }
  EXPECT_THAT(names,
              ElementsAre("aten::view_copy", "aten::view_copy", "aten::copy_", "aten::copy_"));
}

TEST(State, AViewOfItBringsItsInitialValueAlong) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({4}), "x");
  Value* s =
      graph->add_constant(f32_constant("s", {2, 2}, {1, 2, 3, 4}, Constant::Kind::kMutableBuffer));
  graph->set_outputs({add(*graph, x, view(*graph, s, {4}))});
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const fb::Program* program = decode(*bytes);
  ASSERT_NE(program, nullptr);
  int with_value = 0;
  for (const fb::EValue* value : *program->execution_plan()->Get(0)->values()) {
    const fb::Tensor* tensor = value->val_as_Tensor();
    if (tensor == nullptr || tensor->data_buffer_idx() == 0) continue;
    ++with_value;
    EXPECT_THAT(list(tensor->sizes()), ElementsAre(2, 2));
  }
  EXPECT_EQ(with_value, 1);
}

}  // namespace
}  // namespace petrel::exir
