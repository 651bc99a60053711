// SPDX-License-Identifier: Apache-2.0
//
// Whatever arguments the rules of the operator table take, no C is made of a call or one that
// does what it says: it has no checks of sizes, so that what a kernel refuses must be refused
// before, but for data that a step looks at.
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/any_arguments.h"
#include "exir/ops/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/compile_and_run/calls_in_c.h"

namespace petrel::compile_and_run {
namespace {

using exir::Argument;
using exir::Graph;
using exir::OpInfo;
using exir::Program;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRounds = 20;
// Of one call, whatever it states: kernels are a few thousand bytes, places of tables five each.
constexpr size_t kMostText = size_t{1} << 19;
constexpr int64_t kMostBytes = int64_t{1} << 20;

// The compiler's own operators are refused where archives call them.
bool is_of_archives(const OpInfo& op) {
  return op.infer != nullptr && op.name.rfind("petrel::", 0) != 0;
}

// Null where the rule of `op` refuses the arguments.
std::unique_ptr<Graph> any_call(const OpInfo& op, exir::AnyArguments* any) {
  auto graph = std::make_unique<Graph>("m");
  std::vector<Argument> arguments = any->make(op, graph.get());
  auto types = op.infer(op, arguments);
  if (!types.ok()) return nullptr;
  const exir::Node* const node = graph->append(op, std::move(arguments), *std::move(types), "y");
  std::vector<exir::Value*> outputs;
  for (size_t i = 0; i < node->num_results(); ++i) outputs.push_back(node->result(i));
  graph->set_outputs(std::move(outputs));
  return exir::verify_graph(*graph).ok() ? std::move(graph) : nullptr;
}

// Names of constants are those of one program.
void name_constants(const std::string& method, Graph* graph) {
  for (exir::Value* value : graph->constants()) {
    auto own = std::make_shared<exir::Constant>(*value->constant());
    own->fqn = absl::StrCat(method, ".", own->fqn);
    graph->replace_all_uses(value, graph->add_constant(std::move(own)));
  }
}

Program program_of(const std::string& method, const Graph& graph) {
  Program program;
  program.methods[method].graph = graph.clone();
  return program;
}

// What becomes of one node that makes %y of the inputs.
absl::StatusOr<CallsInC> c_of(const std::string& inputs, const std::string& node) {
  const std::string sizes = inputs[0] == '<' ? inputs.substr(0, inputs.find('>') + 1) : "";
  auto graph = exir::parse_graph(absl::StrCat("method @m", sizes, "(", inputs.substr(sizes.size()),
                                              ") {\n  %y = ", node, "\n  return %y\n}\n"),
                                 exir::find_op, nullptr);
  if (!graph.ok()) return graph.status();
  Program program = program_of("m", **graph);
  return calls_in_c(&program, "calls");
}

std::string repeated(const std::string& item, size_t count) {
  std::vector<std::string> items(count, item);
  return absl::StrCat("[", absl::StrJoin(items, ","), "]");
}

// Each dim that is rolled doubles the pieces; one that is named again does not.
TEST(AnyCalls, PiecesOfRollsAreFew) {
  const auto often = c_of("%x: f32[64]", absl::StrCat("aten.roll.default(%x, ", repeated("1", 40),
                                                      ", ", repeated("0", 40), ")"));
  ASSERT_TRUE(often.ok()) << often.status();
  EXPECT_LT(often->text_bytes, size_t{1} << 14);
  std::string dims = "[0";
  for (int d = 1; d < 16; ++d) absl::StrAppend(&dims, ",", d);
  const std::string inputs = absl::StrCat("%x: f32", repeated("2", 16));
  const auto many =
      c_of(inputs, absl::StrCat("aten.roll.default(%x, ", repeated("1", 16), ", ", dims, "])"));
  EXPECT_THAT(std::string(many.status().message()),
              AllOf(HasSubstr("node 'y' (aten.roll.default)"),
                    HasSubstr("it rolls so many dims that its pieces are more than 64")));
  EXPECT_TRUE(c_of(inputs, "aten.roll.default(%x, [1,1,1,1,1,1], [0,3,6,9,12,15])").ok());
}

// An archive states 2^28 in ten digits.
TEST(AnyCalls, TablesOfPlacesAreNotLarge) {
  for (const char* node : {"aten.upsample_nearest2d.vec(%x, [1,268435456], none)",
                           "aten.upsample_nearest2d.vec(%x, none, [268435456.0,1.0])",
                           "aten.upsample_bilinear2d.vec(%x, [1,268435456], false, none)",
                           "aten.upsample_bilinear2d.vec(%x, [268435456,1], true, none)",
                           "aten.replication_pad2d.default(%x, [0,0,0,268435455])",
                           "aten.replication_pad1d.default(%r, [268435455,0])"}) {
    const auto c = c_of("%x: f32[1,1,1,1], %r: f32[1,1,1]", node);
    ASSERT_TRUE(c.ok()) << c.status();
    EXPECT_LT(c->text_bytes, size_t{1} << 15) << node;
  }
}

// At the points where the rule looks an index lies in what it walks over; C must know of all.
TEST(AnyCalls, IndicesOfSizesThatVaryStayWithinWhatTheyWalkOver) {
  const std::string sizes = "<a: 1..16 at 16|1|2|5|7|10|12|14, b: 1..16 at 16|1|2|4|6|9|11|13>";
  const std::string inputs =
      sizes + "%x: f32[a,3], %i: i64[b,3], %s: f32[b,3], %j: i64[a,3], %n: i64[b,2]";
  for (const char* node :
       {"aten.gather.default(%x, 1, %i)", "aten.scatter.value(%x, 1, %i, 1)",
        "aten.scatter.src(%x, 1, %i, %s)", "aten.scatter_add.default(%x, 1, %i, %s)"}) {
    EXPECT_THAT(std::string(c_of(inputs, node).status().message()),
                AllOf(HasSubstr("node 'y'"), HasSubstr("size 0 of its index is up to 16, of which "
                                                       "C does not know that 'x' has as many")))
        << node;
  }
  EXPECT_THAT(std::string(c_of(inputs, "aten.scatter.src(%x, 0, %i, %x)").status().message()),
              HasSubstr("does not know that 'x' has as many"));
  for (const char* node :
       {"aten.gather.default(%x, 1, %j)", "aten.gather.default(%x, 0, %n)",
        "aten.scatter.src(%x, 0, %i, %s)", "aten.scatter_add.default(%x, 1, %j, %x)"}) {
    EXPECT_TRUE(c_of(inputs, node).ok()) << node << ": " << c_of(inputs, node).status();
  }
}

TEST(AnyCalls, WhatKernelsRefuseIsNoC) {
  exir::AnyArguments any(20261127);
  size_t made = 0, ran = 0;
  std::set<std::string> seen;
  for (const OpInfo* op : exir::all_ops()) {
    if (!is_of_archives(*op)) continue;
    for (int round = 0; round < kRounds; ++round) {
      const std::unique_ptr<Graph> graph = any_call(*op, &any);
      if (graph == nullptr) continue;
      const std::string text = exir::print_graph(*graph);
      if (!seen.insert(text).second) continue;
      Program program = program_of("m", *graph);
      const absl::StatusOr<CallsInC> c = calls_in_c(&program, "calls");
      EXPECT_FALSE(absl::IsInternal(c.status())) << c.status() << "\n" << text;
      EXPECT_EQ(c.ok(), c.status().message().empty());
      if (!c.ok()) continue;
      ++made;
      EXPECT_LT(c->text_bytes, kMostText) << text;
      const Graph& last = *program.methods.at("m").graph;
      if (c->can_fail || io_bytes(last) > kMostBytes || is_harmless(last)) continue;
      const absl::Status status = run_by_kernels(last);
      ran += status.ok();
      EXPECT_FALSE(absl::IsFailedPrecondition(status)) << status << "\n"
                                                       << text << exir::print_graph(last);
    }
  }
  // Else the arguments were too wild to reach C, or all of them refused.
  EXPECT_GT(made, 700u);
  EXPECT_GT(ran, made / 2);
}

// Some of each operator's, many in a file.
TEST(AnyCalls, SanitizersFindNothingInC) {
  constexpr size_t kMethods = 60, kFiles = 2;
  exir::AnyArguments any(20261128);
  std::vector<std::unique_ptr<Graph>> graphs;
  const std::vector<const OpInfo*>& ops = exir::all_ops();
  for (size_t next = 0; graphs.size() < kMethods * kFiles && next < 40 * ops.size(); ++next) {
    // All operators, and none beside those of its family.
    const OpInfo& op = *ops[next * 7919 % ops.size()];
    if (!is_of_archives(op)) continue;
    std::unique_ptr<Graph> graph = any_call(op, &any);
    if (graph == nullptr || io_bytes(*graph) > kMostBytes) continue;
    Program program = program_of("m", *graph);
    if (calls_in_c(&program, "calls").ok()) graphs.push_back(std::move(graph));
  }
  ASSERT_EQ(graphs.size(), kMethods * kFiles);
  for (size_t file = 0; file < kFiles; ++file) {
    Program program;
    for (size_t i = 0; i < kMethods; ++i) {
      const std::string method = absl::StrCat("m", i);
      name_constants(method, graphs[file * kMethods + i].get());
      program.methods[method].graph = std::move(graphs[file * kMethods + i]);
    }
    const absl::StatusOr<CallsInC> c = calls_in_c(&program, "calls");
    ASSERT_TRUE(c.ok()) << c.status();
    const std::string folder = absl::StrCat(testing::TempDir(), "/any_calls_", file);
    std::filesystem::create_directories(folder);
    const absl::Status status = run_with_sanitizers(*c, "calls", folder);
    if (status.ok()) continue;
    const std::string method(status.message().substr(0, status.message().find(':')));
    const auto named = program.methods.find(method);
    ADD_FAILURE() << status << "\n"
                  << (named == program.methods.end() ? ""
                                                     : exir::print_graph(*named->second.graph));
  }
}

}  // namespace
}  // namespace petrel::compile_and_run
