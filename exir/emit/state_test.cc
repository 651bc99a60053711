// SPDX-License-Identifier: Apache-2.0
//
// Where state lies and how it is updated: graphs by hand, programs decoded with
// the schema.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/test_graphs.h"
#include "exir/memory/storage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;
using namespace testing;  // NOLINT: graphs by hand
using ::testing::ElementsAre;

TensorType i64(Sizes sizes) { return TensorType::contiguous(ScalarType::kLong, std::move(sizes)); }

Value* state(Graph& graph, const std::string& name, Sizes sizes) {
  const TensorType type = f32(std::move(sizes));
  return graph.add_constant(constant(name, type,
                                     std::vector<uint8_t>(static_cast<size_t>(type.nbytes()), 0),
                                     Constant::Kind::kMutableBuffer));
}

Value* put(Graph& graph, Value* self, Value* index, Value* values) {
  return graph
      .append(test_op("aten.index_put.default"),
              {Argument(self), Argument(Argument::List{Argument(index)}), Argument(values),
               Argument(false)},
              {self->type()}, "put")
      ->result();
}

// A method that puts a row into the state `s`.
struct Update {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>("forward");
  Value* i = graph->add_input(i64({1}), "i");
  Value* row = graph->add_input(f32({1, 4}), "row");
  Value* s = state(*graph, "s", {8, 4});
};

// "aten::add.out" of every kernel call.
std::vector<std::string> kernels(const std::string& bytes) {
  const fb::Program* program = decode(bytes);
  if (program == nullptr) return {};
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  std::vector<std::string> names;
  for (size_t i = 0; i < instruction_count(plan); ++i) {
    names.push_back(kernel_name(plan, i));
  }
  return names;
}

TEST(StateInPlace, AnUpdateThatIsWrittenBackNeedsNoCopy) {
  Update m;
  Value* next = put(*m.graph, m.s, m.i, m.row);
  m.graph->set_outputs({relu(*m.graph, next)});
  m.graph->set_buffer_writes({{m.s, next}});
  const std::string bytes = emit_one(std::move(m.graph));
  EXPECT_THAT(kernels(bytes), ElementsAre("aten::index_put_.", "aten::relu.out"));
  const fb::ExecutionPlan* plan = decode(bytes)->execution_plan()->Get(0);
  const auto args = list(kernel_call(plan, 0)->args());
  ASSERT_EQ(args.size(), 5u);
  EXPECT_NE(args[0], args[4]);
  EXPECT_EQ(arena_offset(tensor(plan, args[0])), arena_offset(tensor(plan, args[4])));
  EXPECT_EQ(tensor(plan, args[0])->extra_tensor_info()->fully_qualified_name()->str(), "s");
  EXPECT_EQ(arena_offset(tensor(plan, kernel_call(plan, 1)->args()->Get(0))),
            arena_offset(tensor(plan, args[0])));
}

TEST(StateInPlace, AChainOfUpdatesThroughViewsIsInPlace) {
  Update m;
  Value* first = put(*m.graph, m.s, m.i, m.row);
  Value* flat = view(*m.graph, first, {4, 8});
  Value* wide = m.graph->add_input(f32({1, 8}), "wide");
  Value* second = put(*m.graph, flat, m.i, wide);
  m.graph->set_outputs({});
  m.graph->set_buffer_writes({{m.s, view(*m.graph, second, {8, 4})}});
  EXPECT_THAT(kernels(emit_one(std::move(m.graph))),
              ElementsAre("aten::index_put_.", "aten::index_put_."));
}

TEST(StateInPlace, AnEarlierReaderOfTheOldStateIsNoHindrance) {
  Update m;
  Value* old = relu(*m.graph, m.s);
  Value* next = put(*m.graph, m.s, m.i, m.row);
  m.graph->set_outputs({old});
  m.graph->set_buffer_writes({{m.s, next}});
  EXPECT_THAT(kernels(emit_one(std::move(m.graph))),
              ElementsAre("aten::relu.out", "aten::index_put_."));
}

TEST(StateInPlace, ALaterReaderOfTheOldStateForbidsIt) {
  Update m;
  Value* next = put(*m.graph, m.s, m.i, m.row);
  Value* old = relu(*m.graph, view(*m.graph, m.s, {32}));
  m.graph->set_outputs({old});
  m.graph->set_buffer_writes({{m.s, next}});
  EXPECT_THAT(kernels(emit_one(std::move(m.graph))),
              ElementsAre("aten::index_put.out", "aten::relu.out", "aten::copy_."));
}

TEST(StateInPlace, ReturningTheOldStateForbidsIt) {
  Update m;
  Value* next = put(*m.graph, m.s, m.i, m.row);
  m.graph->set_outputs({m.s});
  m.graph->set_buffer_writes({{m.s, next}});
  EXPECT_THAT(kernels(emit_one(std::move(m.graph))),
              ElementsAre("aten::index_put.out", "aten::view_copy.out", "aten::copy_."));
}

TEST(StateInPlace, ReturningTheNewStateReturnsACopy) {
  Update m;
  Value* next = put(*m.graph, m.s, m.i, m.row);
  m.graph->set_outputs({next});
  m.graph->set_buffer_writes({{m.s, next}});
  EXPECT_THAT(kernels(emit_one(std::move(m.graph))),
              ElementsAre("aten::index_put_.", "aten::view_copy.out"));
}

TEST(StateInPlace, ValuesFromTheStateItselfForbidIt) {
  auto graph = std::make_unique<Graph>("forward");
  Value* i = graph->add_input(i64({8}), "i");
  Value* s = state(*graph, "s", {8, 4});
  Value* next = put(*graph, s, i, s);
  graph->set_outputs({});
  graph->set_buffer_writes({{s, next}});
  EXPECT_THAT(kernels(emit_one(std::move(graph))),
              ElementsAre("aten::index_put.out", "aten::copy_."));
}

TEST(StateInPlace, WritingTheOldStateToAnotherForbidsIt) {
  Update m;
  Value* other = state(*m.graph, "other", {8, 4});
  Value* next = put(*m.graph, m.s, m.i, m.row);
  m.graph->set_outputs({});
  m.graph->set_buffer_writes({{m.s, next}, {other, m.s}});
  EXPECT_THAT(
      kernels(emit_one(std::move(m.graph))),
      ElementsAre("aten::index_put.out", "aten::view_copy.out", "aten::copy_.", "aten::copy_."));
}

TEST(StateInPlace, BroadcastValuesAndSeveralIndicesForbidIt) {
  for (const bool several : {false, true}) {
    auto graph = std::make_unique<Graph>("forward");
    Value* i = graph->add_input(i64({2}), "i");
    Value* s = state(*graph, "s", {8, 4});
    Value* row = graph->add_input(f32(several ? Sizes{2} : Sizes{4}), "row");
    Argument::List indices = {Argument(i)};
    if (several) indices.push_back(Argument(i));
    Value* next = graph
                      ->append(test_op("aten.index_put.default"),
                               {Argument(s), Argument(indices), Argument(row), Argument(false)},
                               {s->type()}, "put")
                      ->result();
    graph->set_outputs({});
    graph->set_buffer_writes({{s, next}});
    EXPECT_THAT(kernels(emit_one(std::move(graph))),
                ElementsAre("aten::index_put.out", "aten::copy_."));
  }
}

TEST(StateInPlace, AnUpdateOfAnotherStateIsCopied) {
  Update m;
  Value* other = state(*m.graph, "other", {8, 4});
  Value* next = put(*m.graph, m.s, m.i, m.row);
  m.graph->set_outputs({});
  m.graph->set_buffer_writes({{other, next}});
  EXPECT_THAT(kernels(emit_one(std::move(m.graph))),
              ElementsAre("aten::index_put.out", "aten::copy_."));
}

// Methods "a" and "b", each with a state of its own and one in common.
Program two_methods() {
  Program program;
  for (const std::string name : {"a", "b"}) {
    auto graph = std::make_unique<Graph>(name);
    Value* x = graph->add_input(f32({16}), "x");
    Value* own = state(*graph, "own." + name, {16});
    Value* common = state(*graph, "common", {5});
    Value* y = graph->add_input(f32({5}), "y");
    Value* sum = add(*graph, common, y);
    graph->set_outputs({add(*graph, own, x), sum});
    graph->set_buffer_writes({{common, sum}});
    program.methods[name].graph = std::move(graph);
  }
  auto graph = std::make_unique<Graph>("c");
  Value* x = graph->add_input(f32({16}), "x");
  graph->set_outputs({relu(*graph, x)});
  program.methods["c"].graph = std::move(graph);
  return program;
}

// By name: arena and offset of the states of a method.
std::map<std::string, std::pair<uint32_t, uint64_t>> places(const fb::ExecutionPlan* plan) {
  std::map<std::string, std::pair<uint32_t, uint64_t>> found;
  const auto& inputs = *plan->inputs();
  for (uint32_t i = 0; i < plan->values()->size(); ++i) {
    const fb::Tensor* tensor = plan->values()->Get(i)->val_as_Tensor();
    if (tensor == nullptr || tensor->extra_tensor_info() == nullptr) continue;
    if (std::count(inputs.begin(), inputs.end(), static_cast<int32_t>(i)) > 0) continue;
    found[tensor->extra_tensor_info()->fully_qualified_name()->str()] = {
        tensor->allocation_info()->memory_id(), arena_offset(tensor)};
  }
  return found;
}

TEST(SharedState, LiesInASecondArenaThatAllMethodsSeeAlike) {
  RoutedBlobStore store;
  EmitReport report;
  auto files = emit_files(two_methods(), store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::Program* program = decode(files->at(""));
  ASSERT_NE(program, nullptr);
  const auto* plans = program->execution_plan();
  const auto a = places(plans->Get(0));
  const auto b = places(plans->Get(1));
  ASSERT_EQ(a.size(), 2u);
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(a.at("common"), b.at("common"));
  for (const auto& [name, place] : a) EXPECT_EQ(place.first, 2u) << name;
  // 5 floats, then 16 and 16, none over another.
  EXPECT_EQ(a.at("common").second, 0u);
  EXPECT_EQ(a.at("own.a").second, 64u);
  EXPECT_EQ(b.at("own.b").second, 128u);
  EXPECT_EQ(report.state_bytes, 256);
  for (int i = 0; i < 2; ++i) {
    const auto* arenas = plans->Get(i)->non_const_buffer_sizes();
    ASSERT_EQ(arenas->size(), 3u);
    EXPECT_EQ(arenas->Get(0), 0);
    EXPECT_EQ(arenas->Get(2), 256);
  }
  EXPECT_EQ(plans->Get(2)->non_const_buffer_sizes()->size(), 2u);
}

TEST(SharedState, OfASingleMethodLiesAmongTheOthers) {
  Program program;
  program.methods["a"] = std::move(two_methods().methods["a"]);
  RoutedBlobStore store;
  EmitReport report;
  auto files = emit_files(program, store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::Program* decoded = decode(files->at(""));
  ASSERT_NE(decoded, nullptr);
  EXPECT_EQ(report.state_bytes, 0);
  for (const auto& [name, place] : places(decoded->execution_plan()->Get(0))) {
    EXPECT_EQ(place.first, 1u) << name;
  }
}

// Whether an output shows the state was asked for each update, through all views before the output.
TEST(StateInPlace, ManyUpdatesBesideManyOutputsOfManyViews) {
  constexpr size_t kMany = 1000;
  Update m;
  Value* next = m.s;
  for (size_t i = 0; i < kMany; ++i) next = put(*m.graph, next, m.i, m.row);
  Value* shown = relu(*m.graph, m.row);
  for (size_t i = 0; i < kMany; ++i)
    shown = view(*m.graph, shown, i % 2 == 0 ? Sizes{4} : Sizes{2, 2});
  m.graph->set_outputs(std::vector<Value*>(kMany, shown));
  m.graph->set_buffer_writes({{m.s, next}});
  const Storage storage(*m.graph);
  EXPECT_TRUE(storage.is_in_place(*next->producer()));
  EXPECT_EQ(storage.root(next), m.s);
}

}  // namespace
}  // namespace petrel::exir
