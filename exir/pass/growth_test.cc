// SPDX-License-Identifier: Apache-2.0
//
// Work grows as the number of weights does. It is counted in bytes that are
// allocated, which every run repeats exactly.
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/allocated_bytes.h"
#include "exir/ir/verifier.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/fold_constants.h"
#include "exir/pass/passes/join_cache_attention.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "exir/pass/pipeline.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// A chain of additions of transposed weights, one each.
std::string chain(int weights) {
  std::string text = "method @m(%x: f32[3,2]) {\n";
  std::string previous = "x";
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%w", i, " = constant @w", i, " : f32[2,3]\n");
    absl::StrAppend(&text, "%p", i, " = aten.permute.default(%w", i, ", [1, 0])\n");
    absl::StrAppend(&text, "%a", i, " = aten.add.Tensor(%", previous, ", %p", i, ")\n");
    previous = absl::StrCat("a", i);
  }
  return absl::StrCat(text, "return %", previous, " }");
}

size_t bytes_to_fold(int weights) {
  const auto graph = graph_of(chain(weights));
  if (graph == nullptr) return 0;
  const size_t before = allocated_bytes();
  EXPECT_TRUE(*fold_constants(*graph, {}));
  EXPECT_TRUE(*remove_dead_code(*graph, {}));
  EXPECT_TRUE(verify_graph(*graph).ok());
  EXPECT_EQ(graph->constants().size(), static_cast<size_t>(weights));
  return allocated_bytes() - before;
}

// A chain of linear layers with a weight each, as passes find it.
std::string layers(int weights) {
  std::string text = "method @m(%x: f32[1,8]) {\n";
  std::string previous = "x";
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%w", i, " = constant @w", i, " : f32[8,8]\n");
    absl::StrAppend(&text, "%l", i, " = aten.linear.default(%", previous, ", %w", i, ")\n");
    absl::StrAppend(&text, "%r", i, " = aten.relu.default(%l", i, ")\n");
    previous = absl::StrCat("r", i);
  }
  return absl::StrCat(text, "return %", previous, " }");
}

struct Bytes {
  size_t first = 0;   // all passes
  size_t again = 0;   // all passes before partitioning once more: nothing is left to do
  size_t verify = 0;  // the verifier once
};

Bytes bytes_to_run_passes(int weights) {
  Program program;
  program.methods["m"].graph = graph_of(layers(weights));
  const Graph& graph = *program.methods["m"].graph;
  const auto run = [&](absl::Span<const Pass> passes) {
    const size_t before = allocated_bytes();
    EXPECT_EQ(run_passes(program, passes, {}, "", nullptr), absl::OkStatus());
    return allocated_bytes() - before;
  };
  Bytes bytes;
  bytes.first = run(passes_before_partitioning());
  bytes.again = run(passes_before_partitioning());
  bytes.first += run(passes_after_partitioning());
  const size_t before = allocated_bytes();
  EXPECT_EQ(verify_graph(graph), absl::OkStatus());
  bytes.verify = allocated_bytes() - before;
  return bytes;
}

// A weight that is moved again and again.
std::string moves(int rounds) {
  std::string text = "method @m() {\n%w = constant @w : f32[2,3]\n";
  std::string last = "%w";
  for (int i = 0; i < rounds; ++i) {
    absl::StrAppend(&text, "%p", i, " = aten.permute.default(", last, ", [1, 0])\n");
    absl::StrAppend(&text, "%v", i, " = aten.view.default(%p", i, ", [2, 3])\n");
    last = absl::StrCat("%v", i);
  }
  return absl::StrCat(text, "return ", last, " }");
}

// Attentions whose caches are written at the same constant places.
std::string attentions(int count, int places) {
  std::string text = absl::StrCat("method @m(%q: f32[1,", places, ",2,2], %k: f32[1,", places,
                                  ",2,2]) {\n%p = constant @p : i64[", places, "]\n");
  std::string writes;
  std::string returned;
  for (int i = 0; i < count; ++i) {
    for (const char* cache : {"s", "t"}) {
      const std::string name = absl::StrCat(cache, i);
      absl::StrAppend(&text, "%", name, " = state @state.", name, " : f32[1,", places, ",2,2]\n");
      absl::StrAppend(&text, "%u", name, " = aten.index_put.default(%", name,
                      ", [none, %p], %k)\n");
      absl::StrAppend(&writes, "write %u", name, " to %", name, "\n");
    }
    absl::StrAppend(&text, "%y", i, " = llama.custom_sdpa.default(%q, %us", i, ", %ut", i,
                    ", 3)\n");
    absl::StrAppend(&returned, i > 0 ? ", " : "", "%y", i);
  }
  return absl::StrCat(text, writes, "return ", returned, " }");
}

size_t bytes_of(PassFn pass, const std::string& text) {
  const auto graph = graph_of(text);
  if (graph == nullptr) return 0;
  const size_t before = allocated_bytes();
  EXPECT_TRUE(pass(*graph, {}).ok());
  return allocated_bytes() - before;
}

TEST(Growth, MovingAWeightIsLinearInTheNumberOfMoves) {
  const size_t few = bytes_of(fold_constants, moves(1000));
  EXPECT_GT(few, 0u);
  EXPECT_LT(bytes_of(fold_constants, moves(4000)), 5 * few);
}

TEST(Growth, PlacesThatAttentionsShareAreReadOnce) {
  const size_t few = bytes_of(join_cache_attention, attentions(50, 1000));
  EXPECT_GT(few, 0u);
  EXPECT_LT(bytes_of(join_cache_attention, attentions(200, 4000)), 5 * few);
}

TEST(Growth, AllPassesAreLinearInTheNumberOfWeights) {
  const Bytes few = bytes_to_run_passes(250);
  const Bytes many = bytes_to_run_passes(1000);
  EXPECT_GT(few.first, 0u);
  EXPECT_LT(many.first, 5 * few.first);
}

TEST(Growth, PassesThatFindNothingNeitherWalkNorVerifyAgain) {
  const Bytes bytes = bytes_to_run_passes(1000);
  // The verifier ran once. Each walk that a pass makes holds a list of the nodes.
  EXPECT_LT(bytes.again, 2 * bytes.verify);
}

TEST(Growth, FoldingAndVerifyingAreLinearInTheNumberOfWeights) {
  const size_t few = bytes_to_fold(250);
  const size_t many = bytes_to_fold(1000);
  EXPECT_GT(few, 0u);
  EXPECT_LT(many, 5 * few);
}

}  // namespace
}  // namespace petrel::exir
