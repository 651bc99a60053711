// SPDX-License-Identifier: Apache-2.0
//
// States and parameters of recurrent layers that do not fit each other.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

std::string error_of(const std::string& call, const std::string& results = "%r0") {
  const auto graph = parse_graph(
      absl::StrCat("method @m(%x: f32[5,2,3], %h: f32[1,2,4], %h2: f32[2,2,4], %p: f32[1,2,2], "
                   "%none: f32[], %i4: f32[16,3], %h4: f32[16,4], %hp: f32[16,2], %b4: f32[16], "
                   "%r: f32[2,4], %line: f32[4], %i1: f32[4,3], %h1: f32[4,4], %i3: f32[12,3], "
                   "%h3: f32[12,4], %b3: f32[12], %y: f32[2,3], %s: f32[2,4], %w: f32[4,8]) { ",
                   results, " = ", call, " return %r0 }"),
      find_op, nullptr);
  return graph.ok() ? "" : std::string(graph.status().message());
}

std::string with_flags(const std::string& call, int64_t layers, bool bidirectional = false) {
  return absl::StrCat(call, ", false, ", layers, ", 0.0, false, ", bidirectional ? "true" : "false",
                      ", false)");
}

TEST(RecurrentOps, TakeWhatFits) {
  const std::string kTwo = "%r0, %r1";
  EXPECT_EQ(error_of(with_flags("aten.rnn_tanh.input(%x, %h, [%i1, %h1]", 1), kTwo), "");
  EXPECT_EQ(error_of(with_flags("aten.rnn_tanh.input(%x, %h2, [%i1, %h1, %h1, %h1]", 2), kTwo), "");
  EXPECT_EQ(
      error_of(with_flags("aten.rnn_relu.input(%x, %h2, [%i1, %h1, %i1, %h1]", 1, true), kTwo), "");
  EXPECT_EQ(error_of(with_flags("aten.gru.input(%x, %h, [%i3, %h3]", 1), kTwo), "");
  EXPECT_EQ(error_of("aten.gru_cell.default(%y, %s, %i3, %h3, %b3)"), "");
}

TEST(RecurrentOps, NameWhatDoesNotFit) {
  const struct {
    std::string call;
    const char* message;
  } kWrong[] = {
      {with_flags("aten.gru.input(%x, %h, [%i1, %h3]", 1), "weight 0 is [4,3], must be [12,3]"},
      {with_flags("aten.rnn_tanh.input(%x, %h, [%line, %h1]", 1), "weight 0 is [4], must be [4,3]"},
      {with_flags("aten.rnn_tanh.input(%x, %h, [%i1, %i1]", 1), "weight 1 is [4,3], must be [4,4]"},
      {with_flags("aten.rnn_tanh.input(%x, %h2, [%i1, %h1, %i1, %h1]", 2),
       "weight 2 is [4,3], must be [4,4]"},
      {with_flags("aten.rnn_tanh.input(%x, %h2, [%i1, %h1, %w, %h1]", 2),
       "weight 2 is [4,8], must be [4,4]"},
      {with_flags("aten.rnn_tanh.input(%x, %h2, [%i1, %h1]", 1), "argument 'hx' is [2,2,4]"},
      {with_flags("aten.rnn_tanh.input(%x, %none, [%i1, %h1]", 1), "has rank 0, must be 3"},
      {with_flags("aten.rnn_tanh.input(%x, %h, [%i1, %h1]", int64_t{1} << 62), "has 2 weights for"},
      {with_flags("aten.rnn_tanh.input(%x, %h, [%i1, %h1]", 0), "has 2 weights for 0 layers"},
      {with_flags("aten.rnn_tanh.input(%x, %h, [%i1, %h1, %h1]", 1), "has 3 weights for 1 layers"},
      {"aten.gru_cell.default(%y, %s, %line, %h3)", "argument 'w_ih' is [4], must be [12,3]"},
      {"aten.gru_cell.default(%y, %s, %i3, %i3)", "argument 'w_hh' is [12,3], must be [12,4]"},
      {"aten.gru_cell.default(%y, %s, %i3, %h3, %line)", "argument 'b_ih' is [4], must be [12]"},
      {"aten.rnn_relu_cell.default(%y, %line, %i1, %h1)", "has rank 1, must be 2"},
  };
  for (const auto& [call, message] : kWrong) {
    EXPECT_TRUE(absl::StrContains(error_of(call), message)) << call << ": " << error_of(call);
  }
}

std::string lstm_error(const std::string& states, const std::string& params) {
  return error_of(
      absl::StrCat("aten.neg.default(%x) %r1, %r2, %r3 = ",
                   with_flags("aten.lstm.input(%x, [" + states + "], [" + params + "]", 1)));
}

TEST(RecurrentOps, StatesAndProjectionsOfLstmsAreChecked) {
  EXPECT_EQ(lstm_error("%h, %h", "%i4, %h4"), "");
  EXPECT_EQ(lstm_error("%p, %h", "%i4, %hp, %r"), "");
  for (const auto& [states, params, message] : {
           std::array{"%h, %none", "%i4, %h4", "has rank 0, must be 3"},
           std::array{"%h", "%i4, %h4", "has 1 tensors, must have 2"},
           std::array{"%h, %h2", "%i4, %h4", "argument 'hx' is [2,2,4], must be [1,2,4]"},
           std::array{"%p, %h", "%i4, %hp", "without a projection"},
           std::array{"%p, %h", "%i4, %hp, %line", "weight 2 is [4], must be [2,4]"},
       }) {
    EXPECT_TRUE(absl::StrContains(lstm_error(states, params), message))
        << states << ": " << lstm_error(states, params);
  }
  EXPECT_TRUE(absl::StrContains(
      error_of("aten.neg.default(%x) %r1, %r2 = aten.lstm_cell.default(%y, [%s, %line], %i4, %h4)"),
      "has rank 1, must be 2"));
}

}  // namespace
}  // namespace petrel::exir
