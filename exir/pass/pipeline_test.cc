// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "exir/ir/text.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A residual block as torch.export writes it, with all that a trace leaves.
constexpr char kBlock[] = R"(method @forward(%x: f32[1,4,8,8]) {
  %w = constant @conv.weight : f32[4,4,3,3]
  %g = constant @bn.weight : f32[4]
  %h = constant @bn.bias : f32[4]
  %mean = constant @bn.running_mean : f32[4]
  %var = constant @bn.running_var : f32[4]
  %count = constant @bn.num_batches_tracked : i64[]
  %fc.w = constant @fc.weight : f32[3,4]
  %fc.b = constant @fc.bias : f32[3]
  %c = aten.conv2d.default(%x, %w, none, [1, 1], [1, 1])
  %n = aten.batch_norm.default(%c, %g, %h, %mean, %var, false, 0.1, 1e-05, true)
  %s = aten.add_.Tensor(%n, %x)
  %r = aten.relu_.default(%s)
  %m = aten.max_pool2d.default(%r, [3, 3], [2, 2], [1, 1])
  %a = aten.adaptive_avg_pool2d.default(%m, [1, 1])
  %f = aten.flatten.using_ints(%a, 1)
  %d = aten.dropout.default(%f, 0.5, false)
  %o = aten.linear.default(%d, %fc.w, %fc.b)
  return %o
})";

Program program_of(const std::string& text) {
  Program program;
  program.methods["forward"].graph = graph_of(text);
  return program;
}

std::vector<std::string> ops_of(const Program& program) {
  std::vector<std::string> ops;
  for (const auto& node : program.methods.at("forward").graph->nodes()) {
    ops.push_back(node->op().full_name());
  }
  return ops;
}

TEST(Pipeline, GivesTheNormalFormOfAResidualBlock) {
  Program program = program_of(kBlock);
  ASSERT_EQ(run_passes(program, passes_before_partitioning(), {}, "", nullptr), absl::OkStatus());
  // The input that is added goes into the filters.
  EXPECT_THAT(ops_of(program), ElementsAre("aten.convolution.default", "aten.relu.default",
                                           "aten.max_pool2d.default", "aten.mean.dim",
                                           "aten.view.default", "aten.linear.default"));
  // Statistics and counters are gone.
  EXPECT_EQ(program.methods.at("forward").graph->constants().size(), 4u);
}

TEST(Pipeline, IsIdempotentAsAWhole) {
  Program program = program_of(kBlock);
  for (absl::Span<const Pass> passes :
       {passes_before_partitioning(), passes_after_partitioning()}) {
    ASSERT_EQ(run_passes(program, passes, {}, "", nullptr), absl::OkStatus());
    Graph& graph = *program.methods.at("forward").graph;
    const std::string once = plain_text(graph);
    for (const Pass& pass : passes) {
      const auto changed = pass.run(graph, {});
      ASSERT_TRUE(changed.ok()) << changed.status();
      EXPECT_FALSE(*changed) << pass.name;
    }
    EXPECT_EQ(plain_text(graph), once);
  }
}

// The node goes, and its regions with it, before the pass comes to them.
TEST(Pipeline, PassesOverRegionsThatItHasRemoved) {
  Program program =
      program_of("method @m(%p: bool[], %x: f32[2]) { %y = aten.neg.default(%x) return %y }");
  Graph& graph = *program.methods["forward"].graph;
  std::vector<std::shared_ptr<Graph>> branches;
  for (int i = 0; i < 2; ++i) {
    branches.push_back(graph_of("method @b(%x: f32[2]) { %y = aten.neg.default(%x) return %y }"));
  }
  Value* x = graph.inputs()[1];
  Node* cond = graph.insert_before(graph.nodes().front().get(), op(petrel_ops::cond),
                                   {Argument(graph.inputs()[0]), Argument::of_values({x})},
                                   {x->type()}, "cond");
  cond->set_regions(std::move(branches));
  ASSERT_TRUE(run_passes(program, passes_before_partitioning(), {}, "", nullptr).ok());
  EXPECT_THAT(ops_of(program), ElementsAre("aten.neg.default"));
}

TEST(Pipeline, DumpsAfterTheNamedPass) {
  for (const auto& [name, wanted] : std::map<std::string, int>{{"decompose", 1}, {"nothing", 0}}) {
    Program program = program_of(kBlock);
    int dumps = 0;
    ASSERT_EQ(run_passes(program, passes_before_partitioning(), {}, name,
                         [&](const std::string& pass, const Graph&) {
                           EXPECT_EQ(pass, name);
                           ++dumps;
                         }),
              absl::OkStatus());
    EXPECT_EQ(dumps, wanted);
  }
  Program program = program_of(kBlock);
  size_t dumps = 0;
  ASSERT_EQ(run_passes(program, passes_before_partitioning(), {}, "all",
                       [&](const std::string&, const Graph&) { ++dumps; }),
            absl::OkStatus());
  EXPECT_EQ(dumps, passes_before_partitioning().size());
}

TEST(Pipeline, AnErrorNamesThePassAndTheMethod) {
  Program program = program_of(R"(
      method @forward(%x: f32[4], %y: f32[2]) {
        %a = aten.as_strided_scatter.default(%x, %y, [2], [1])
        return %a })");
  const absl::Status status = run_passes(program, passes_after_partitioning(), {}, "", nullptr);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass require_kernels of method 'forward': 1 operator "
                        "has no kernel: aten.as_strided_scatter.default (1 node)"));
}

absl::StatusOr<bool> break_types(Graph& graph, const PassContext&) {
  graph.nodes().front()->result()->set_type(TensorType::contiguous(ScalarType::kFloat, {99}));
  return true;
}

TEST(Pipeline, APassThatBreaksTheGraphIsCaught) {
  Program program =
      program_of("method @forward(%x: f32[4]) { %a = aten.neg.default(%x) return %a }");
  const Pass passes[] = {{"break_types", "", break_types}};
  const absl::Status status = run_passes(program, passes, {}, "", nullptr);
  EXPECT_THAT(std::string(status.message()), HasSubstr("pass break_types broke method 'forward'"));
}

// The graph in a file of testdata/, its weights all zeros that are never held.
std::unique_ptr<Graph> graph_in(const std::string& file) {
  std::ifstream in("exir/pass/testdata/" + file);
  std::stringstream text;
  text << in.rdbuf();
  auto graph = parse_graph(
      text.str(), [](absl::string_view name) { return find_op(name); },
      [](const std::string& fqn, const TensorType& type) -> ConstantPtr {
        auto made = std::make_shared<Constant>();
        made->fqn = fqn;
        made->type = type;
        made->data = Blob::produced(static_cast<size_t>(type.nbytes()), [](absl::Span<uint8_t>) {});
        return made;
      });
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : nullptr;
}

std::map<std::string, int> histogram(const Program& program) {
  std::map<std::string, int> counts;
  for (const std::string& name : ops_of(program)) ++counts[name];
  return counts;
}

using Histogram = std::map<std::string, int>;

struct Model {
  const char* file;
  Histogram normal_form;
  Histogram kernels;
};

class RealModels : public ::testing::TestWithParam<Model> {};

TEST_P(RealModels, HaveNoNodeTooMany) {
  Program program;
  program.methods["forward"].graph = graph_in(GetParam().file);
  ASSERT_NE(program.methods["forward"].graph, nullptr);
  ASSERT_EQ(run_passes(program, passes_before_partitioning(), {}, "", nullptr), absl::OkStatus());
  EXPECT_EQ(histogram(program), GetParam().normal_form);
  ASSERT_EQ(run_passes(program, passes_after_partitioning(), {}, "", nullptr), absl::OkStatus());
  EXPECT_EQ(histogram(program), GetParam().kernels);
}

INSTANTIATE_TEST_SUITE_P(All, RealModels,
                         ::testing::Values(Model{"resnet18.ir",
                                                 {{"aten.convolution.default", 20},
                                                  {"aten.relu.default", 17},
                                                  {"aten.add.Tensor", 8},
                                                  {"aten.max_pool2d.default", 1},
                                                  {"aten.mean.dim", 1},
                                                  {"aten.view.default", 1},
                                                  {"aten.linear.default", 1}},
                                                 {{"aten.convolution.default", 20},
                                                  {"aten.relu.default", 17},
                                                  {"aten.add.Tensor", 8},
                                                  {"aten.max_pool2d_with_indices.default", 1},
                                                  {"aten.mean.dim", 1},
                                                  {"aten.view.default", 1},
                                                  {"aten.addmm.default", 1}}},
                                           Model{"mobilenet_v2.ir",
                                                 {{"aten.convolution.default", 52},
                                                  {"aten.hardtanh.default", 35},
                                                  {"aten.add.Tensor", 10},
                                                  {"aten.mean.dim", 1},
                                                  {"aten.view.default", 1},
                                                  {"aten.linear.default", 1}},
                                                 {{"aten.convolution.default", 52},
                                                  {"aten.hardtanh.default", 35},
                                                  {"aten.add.Tensor", 10},
                                                  {"aten.mean.dim", 1},
                                                  {"aten.view.default", 1},
                                                  {"aten.addmm.default", 1}}}),
                         [](const auto& info) {
                           const std::string file = info.param.file;
                           return file.substr(0, file.find('.'));
                         });

// A handle that is misspelt does not compile; a string is looked up when its
// pattern occurs, which may be never in the tests.
TEST(Pipeline, NoPassNamesAnOperatorByAString) {
  int files = 0;
  const std::regex op_name(
      "\"(aten|executorch_prim|petrel|quantized_decomposed|torchao)(\\.|::)[a-zA-Z0-9_]+");
  // Bazel runs tests at the root of the repository's files.
  for (const auto& entry : std::filesystem::recursive_directory_iterator("exir/pass")) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".cc" || file.find("_test.cc") != std::string::npos) {
      continue;
    }
    std::ifstream in(entry.path());
    ASSERT_TRUE(in) << file;
    ++files;
    for (std::string line; std::getline(in, line);) {
      EXPECT_FALSE(std::regex_search(line, op_name)) << file << ": " << line;
    }
  }
  EXPECT_GT(files, 40);
}

// Rows run where sizes vary, too: what reads a bound as if it were the size is wrong
// there. They read with exir/ops/read_sizes.h.
TEST(Pipeline, NoRowReadsASizeAsANumber) {
  int files = 0;
  const std::regex number("[.>](sizes\\b|numel\\(\\)|as_int\\(\\)|as_number\\(\\))");
  for (const auto& entry : std::filesystem::recursive_directory_iterator("exir/pass")) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".cc" || file.find("_test.cc") != std::string::npos) continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    // Has rows; those of these two files are of constants, which do not vary.
    if (text.str().find("constexpr Rewrite ") == std::string::npos || file == "fold_constants.cc" ||
        file == "fold_batch_norm.cc") {
      continue;
    }
    ++files;
    for (std::string line; std::getline(text, line);) {
      EXPECT_FALSE(std::regex_search(line, number)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace petrel::exir
