// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/share_state.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

// Two methods; constants are mutable where their FQN starts with "state".
Program two(const std::string& a, const std::string& b) {
  Program program;
  program.methods["a"].graph = graph_of(a);
  program.methods["b"].graph = graph_of(b);
  return program;
}

const Graph& graph(const Program& program, const char* method) {
  return *program.methods.at(method).graph;
}

constexpr char kWrites[] = R"(method @m(%x: f32[2]) {
  %s = state @state.total : f32[2]
  %y = aten.add.Tensor(%s, %x)
  write %y to %s
  return %y })";

// The graph of kWrites with its state as a constant of another kind or value.
std::unique_ptr<Graph> with_state(Constant::Kind kind, std::vector<uint8_t> bytes, Sizes sizes) {
  auto graph = std::make_unique<Graph>("m");
  auto made = std::make_shared<Constant>();
  made->fqn = "state.total";
  made->kind = kind;
  made->type = TensorType::contiguous(ScalarType::kFloat, std::move(sizes));
  made->data = Blob::owned(std::move(bytes));
  graph->set_outputs({graph->add_constant(std::move(made))});
  return graph;
}

TEST(ShareState, EqualBuffersBecomeOneConstant) {
  Program program = two(kWrites, kWrites);
  ASSERT_NE(graph(program, "a").constants()[0]->constant(),
            graph(program, "b").constants()[0]->constant());
  ASSERT_TRUE(share_state(program).ok());
  EXPECT_EQ(graph(program, "a").constants()[0]->constant(),
            graph(program, "b").constants()[0]->constant());
  for (const char* method : {"a", "b"}) {
    EXPECT_EQ(plain_text(graph(program, method)), expected(kWrites));
  }
}

TEST(ShareState, WhatOneMethodChangesIsStateInTheOtherThatReadsIt) {
  Program program = two(kWrites, kWrites);
  const Blob::Bytes bytes = graph(program, "a").constants()[0]->constant()->data.bytes();
  program.methods["b"].graph =
      with_state(Constant::Kind::kBuffer, {bytes.data(), bytes.data() + bytes.size()}, {2});
  ASSERT_TRUE(share_state(program).ok());
  const Graph& reader = graph(program, "b");
  ASSERT_EQ(reader.constants().size(), 1u);
  EXPECT_TRUE(reader.constants()[0]->constant()->is_mutable());
  EXPECT_EQ(reader.outputs()[0], reader.constants()[0]);
  EXPECT_EQ(reader.constants()[0]->constant(), graph(program, "a").constants()[0]->constant());
}

TEST(ShareState, RefusesOneNameForTwoTypes) {
  Program program = two(kWrites, kWrites);
  program.methods["b"].graph =
      with_state(Constant::Kind::kBuffer, std::vector<uint8_t>(12, 0), {3});
  const absl::Status status = share_state(program);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("method 'b': state 'state.total' is f32[3], in method "
                        "'a' it is f32[2]"));
}

TEST(ShareState, RefusesOneNameForTwoInitialValues) {
  Program program = two(kWrites, kWrites);
  program.methods["b"].graph =
      with_state(Constant::Kind::kMutableBuffer, std::vector<uint8_t>(8, 1), {2});
  EXPECT_THAT(std::string(share_state(program).message()),
              HasSubstr("state 'state.total' starts with other values than in "
                        "method 'a'"));
}

TEST(ShareState, LeavesConstantsThatNobodyChangesAlone) {
  constexpr char kReads[] = R"(method @m(%x: f32[2]) {
    %w = constant @w : f32[2]
    %y = aten.add.Tensor(%w, %x)
    return %y })";
  Program program = two(kReads, kReads);
  ASSERT_TRUE(share_state(program).ok());
  EXPECT_NE(graph(program, "a").constants()[0]->constant(),
            graph(program, "b").constants()[0]->constant());
}

}  // namespace
}  // namespace petrel::exir
