// SPDX-License-Identifier: Apache-2.0
//
// Compares the rules of the table with what eager PyTorch gives, and feeds them
// arguments that no rule should trust.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/graph.h"
#include "exir/ir/text.h"
#include "exir/ops/any_arguments.h"
#include "exir/ops/table.h"
#include "test/eager/case_file.h"

namespace petrel::exir {
namespace {

std::string join_types(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) absl::StrAppend(&text, to_string(type), " ");
  return text;
}

TEST(Infer, AgreesWithEagerPyTorch) {
  std::set<const OpInfo*> covered;
  for (const test::EagerCase& one : test::load_eager_cases("test/eager/cases/inference.txt")) {
    SCOPED_TRACE(one.name);
    const auto graph = parse_graph(one.graph, find_op, nullptr);
    ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << one.graph;
    for (const auto& node : (*graph)->nodes()) {
      std::vector<Type> expected;
      for (size_t i = 0; i < node->num_results(); ++i) {
        expected.push_back(node->result(i)->type());
      }
      covered.insert(&node->op());
      const auto inferred = node->op().infer(node->op(), node->arguments());
      ASSERT_TRUE(inferred.ok()) << inferred.status() << "\n" << one.graph;
      EXPECT_EQ(join_types(*inferred), join_types(expected)) << one.graph;
    }
  }
  // Rows without a case: those that no exported program can use yet.
  std::set<std::string> missing;
  for (const OpInfo* row : all_ops()) {
    // Numbers are not tensors; ComputesWithSizesThatVary has them.
    if (row->name.rfind("executorch_prim::", 0) == 0) continue;
    // Those of complex numbers have no rule; //test/complex has programs.
    if (row->infer == nullptr && row->name.rfind("aten::", 0) == 0) continue;
    if (covered.count(row) == 0) missing.insert(row->full_name());
  }
  EXPECT_EQ(
      missing,
      (std::set<std::string>{
          // Sizes of results depend on data; models of test/models/varying have them.
          "aten.argwhere.default", "aten.masked_select.default", "aten.nonzero.default",
          "aten.nonzero_numpy.default", "aten.repeat_interleave.Tensor",
          "aten.repeat_interleave.self_Tensor", "aten.unique_consecutive.default",
          "aten.where.default", "petrel.attention.default", "petrel.cond.default",
          "petrel.delegate_call.default", "petrel.map.default", "petrel.scan.default",
          "petrel.while_loop.default",
          // What torch computes between levels has no types of integers.
          "petrel.int8_add.default", "petrel.int8_average.default",
          "petrel.int8_convolution.default", "petrel.int8_linear.default",
          "petrel.int8_masked_softmax.default", "petrel.int8_matmul.default",
          "petrel.int8_max_pool.default", "petrel.int8_mul.default", "petrel.int8_norm.default",
          "petrel.int8_softmax.default", "petrel.int8_table.default",
          // Kernels of ExecuTorch that torch has no functions for.
          "quantized_decomposed.add.default", "quantized_decomposed.mixed_linear.default",
          "quantized_decomposed.mixed_mm.default",
          // Eager torch returns other types than it declares.
          "quantized_decomposed.choose_qparams_per_token.default"}));
}

// What Python makes of n, as expressions.
TEST(Infer, ComputesWithSizesThatVary) {
  const auto graph = parse_graph(
      "method @m<n: 1..16>(%x: f32[n,6]) {\n"
      "  %n = aten.sym_size.int(%x, 0)\n"
      "  %a = executorch_prim.sub.Scalar(3, %n)\n"
      "  %b = executorch_prim.floordiv.Scalar(%a, 2)\n"
      "  %c = executorch_prim.mod.Scalar(%a, 4)\n"
      "  %d = executorch_prim.sym_max.Scalar(%n, 6)\n"
      "  %e = executorch_prim.mul.Scalar(%d, 2)\n"
      "  %f = executorch_prim.neg.Scalar(%n)\n"
      "  %g = executorch_prim.truediv.Scalar(%n, 2)\n"
      "  %h = executorch_prim.lt.Scalar(%n, 2)\n"
      "  %y = aten.view.default(%x, [3, %n, -1])\n"
      "  %z = aten.slice.Tensor(%y, 1, 1, %d, 1)\n"
      "  return %z\n}\n",
      find_op, nullptr);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::map<std::string, std::string> types;
  for (const auto& node : (*graph)->nodes()) {
    types[node->result()->name()] = to_string(node->result()->type());
  }
  EXPECT_EQ(types["n"], "int(n)");
  EXPECT_EQ(types["a"], "int(-n + 3)");
  EXPECT_EQ(types["b"], "int(-n + (n + 1)//2 + 1)");
  EXPECT_EQ(types["c"], "int(3*n - 4*((3*n + 3)//4) + 3)");
  EXPECT_EQ(types["d"], "int(max(6, n))");
  EXPECT_EQ(types["e"], "int(2*max(6, n))");
  EXPECT_EQ(types["f"], "int(-n)");
  EXPECT_EQ(types["g"], "float");
  EXPECT_EQ(types["h"], "bool");
  EXPECT_EQ(types["y"], "f32[3,n,2]");
  EXPECT_EQ(types["z"], "f32[3,n - 1,2]");
}

std::map<std::string, std::string> types_of(const std::string& text) {
  const auto graph = parse_graph(text, find_op, nullptr);
  std::map<std::string, std::string> types;
  if (!graph.ok()) return {{"error", std::string(graph.status().message())}};
  for (const auto& node : (*graph)->nodes()) {
    types[node->result()->name()] = to_string(node->result()->type());
  }
  return types;
}

// A position and a count of tokens go together in the model, and each may be as large as the
// cache is.
TEST(Infer, TakesAPositionFoundAtRunTime) {
  auto types = types_of(
      "method @m<s: 1..31, p: 0..30>(%x: f32[32,8], %t: i64[s], %q: i64[p]) {\n"
      "  %n = aten.sym_size.int(%t, 0)\n"
      "  %i = aten.sym_size.int(%q, 0)\n"
      "  %y = aten.narrow.default(%x, 0, %i, %n)\n"
      "  return %y\n}\n");
  EXPECT_EQ(types["error"], "");
  EXPECT_EQ(types["y"], "f32[s,8]");
  EXPECT_NE(types_of("method @m(%x: f32[32,8]) {\n"
                     "  %y = aten.narrow.default(%x, 0, 30, 31)\n  return %y\n}\n")["error"],
            "");
}

// At the last place nothing is left of the slice; a row is a row all the same.
TEST(Infer, TakesARowForASliceFoundAtRunTime) {
  const auto error_of = [](const std::string& row) {
    return types_of("method @m<p: 0..32>(%x: f32[32,8], %r: " + row +
                    ", %q: i64[p]) {\n"
                    "  %i = aten.sym_size.int(%q, 0)\n"
                    "  %e = executorch_prim.add.Scalar(%i, 1)\n"
                    "  %y = aten.slice_scatter.default(%x, %r, 0, %i, %e, 1)\n"
                    "  return %y\n}\n")["error"];
  };
  EXPECT_EQ(error_of("f32[1,8]"), "");
  EXPECT_NE(error_of("f32[1,1]"), "");
  EXPECT_NE(error_of("f32[8]"), "");
}

// Each rule decides by sizes that vary and is right for all of them.
TEST(Infer, ProvesSizesOnEveryPath) {
  auto types = types_of(
      "method @m<n: 1..16, h: 3..64, w: 3..64>(%x: f32[n,h,w,8], %k: f32[4,8,3,3], %r: f32[8], "
      "%one: f32[1,h,1,8]) {\n"
      "  %a = aten.add.Tensor(%x, %r)\n"
      "  %b = aten.add.Tensor(%x, %one)\n"
      "  %c = aten.permute.default(%x, [0, 3, 1, 2])\n"
      "  %d = aten.convolution.default(%c, %k, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1)\n"
      "  %e = aten.view.default(%x, [-1, 8])\n"
      "  %f = aten.slice.Tensor(%x, 1, 1, -1)\n"
      "  %g = aten.cat.default([%x, %f], 1)\n"
      "  %h = aten.matmul.default(%x, %r)\n"
      "  %i = aten.sum.dim_IntList(%x, [1], true)\n"
      "  %j = aten.slice.Tensor(%x, 2, 0, 5, 2)\n"
      "  %l = aten.sym_numel.default(%x)\n"
      "  %m = aten.arange.default(%l)\n"
      "  %o = aten.repeat.default(%x, [2, 1, 1, 1])\n"
      "  %p = aten.constant_pad_nd.default(%x, [0, 0, 1, 2], 0)\n"
      "  return %a\n}\n");
  EXPECT_EQ(types["error"], "");
  EXPECT_EQ(types["a"], "f32[n,h,w,8]");
  EXPECT_EQ(types["b"], "f32[n,h,w,8]");
  EXPECT_EQ(types["d"], "f32[n,4,(h + 1)//2,(w + 1)//2]");
  EXPECT_EQ(types["e"], "f32[h*n*w,8]");
  EXPECT_EQ(types["f"], "f32[n,h - 2,w,8]");
  EXPECT_EQ(types["g"], "f32[n,2*h - 2,w,8]");
  EXPECT_EQ(types["h"], "f32[n,h,w]");
  EXPECT_EQ(types["i"], "f32[n,1,w,8]");
  EXPECT_EQ(types["j"], "f32[n,h,(min(5, w) + 1)//2,8]");
  EXPECT_EQ(types["l"], "int(8*h*n*w)");
  EXPECT_EQ(types["m"], "i64[8*h*n*w]");
  EXPECT_EQ(types["o"], "f32[2*n,h,w,8]");
  EXPECT_EQ(types["p"], "f32[n,h,w + 3,8]");
}

// The sizes of n and m are the same at every sample point.
TEST(Infer, TakesNoSizesForTheSameThatAgreeAtSamplePoints) {
  const std::string symbols =
      "method @m<m: 1..16 at 16|1|2|5|7|10|12|14, n: 1..16 at 16|1|2|5|7|10|12|14>(";
  auto types = types_of(symbols +
                        "%x: f32[n,6], %y: f32[m,6]) {\n"
                        "  %a = aten.add.Tensor(%x, %y)\n"
                        "  %k = aten.sym_size.int(%y, 0)\n"
                        "  %b = aten.slice.Tensor(%x, 0, 0, %k)\n"
                        "  return %a\n}\n");
  EXPECT_EQ(types["error"], "");
  EXPECT_EQ(types["a"].substr(0, 6), "f32[u_") << "one of them may be 1";
  EXPECT_EQ(types["b"], "f32[min(m, n),6]");
  // From 2 on, the kernel refuses what is not equal.
  types = types_of(
      "method @m<m: 2..16 at 16|2|2|5|7|10|12|14, n: 2..16 at 16|2|2|5|7|10|12|14>("
      "%x: f32[n,6], %y: f32[m,6]) {\n"
      "  %a = aten.add.Tensor(%x, %y)\n"
      "  return %a\n}\n");
  EXPECT_EQ(types["a"], "f32[n,6]");
}

TEST(Infer, NamesWhatNoRuleExpressesByItsArguments) {
  auto types = types_of(
      "method @m<n: 4..16>(%x: f32[1,2,n], %y: f32[1,2,n]) {\n"
      "  %a = aten.max_pool1d.default(%x, [2], [3], [0], [1], true)\n"
      "  %b = aten.max_pool1d.default(%y, [2], [3], [0], [1], true)\n"
      "  %c = aten.max_pool1d.default(%y, [2], [4], [0], [1], true)\n"
      "  %d = aten.max_pool1d.default(%y, [3], [2], [1], [1], true)\n"
      "  return %a\n}\n");
  EXPECT_EQ(types["error"], "");
  EXPECT_EQ(types["a"].substr(0, 10), "f32[1,2,u_");
  EXPECT_EQ(types["a"], types["b"]);
  EXPECT_NE(types["a"], types["c"]);
  EXPECT_EQ(types["d"], "f32[1,2,n//2 + 1]");
}

TEST(Infer, NamesTheSizesThatDoNotFit) {
  const auto graph = parse_graph(
      "method @m<n: 1..16 at 16|1|2|5|7|10|12|14>(%x: f32[n], %y: f32[16]) {\n"
      "  %z = aten.add.Tensor(%x, %y)\n"
      "  return %z\n}\n",
      find_op, nullptr);
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(std::string(graph.status().message()).find("when 'x' is f32[2], 'y' is f32[16]"),
            std::string::npos)
      << graph.status();
}

TEST(Infer, KnowsTheMostOfASizeThatDependsOnData) {
  const auto graph = parse_graph(
      "method @m(%x: f32[4]) {\n"
      "  %r = aten.nonzero.default(%x) : i64[4,1]\n"
      "  %s = aten.nonzero.default(%r) : i64[4,2]\n"
      "  return %s\n}\n",
      find_op, nullptr);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<TensorType> types;
  for (const auto& node : (*graph)->nodes()) {
    const auto inferred = node->op().infer(node->op(), node->arguments());
    ASSERT_TRUE(inferred.ok()) << inferred.status();
    types.push_back((*inferred)[0].tensor);
    EXPECT_EQ(types.back().sizes[0], 4);
    EXPECT_EQ(types.back().size(0).range().low, 0);
    EXPECT_TRUE(types.back().size(0).has_unknown());
    EXPECT_FALSE(types.back().varies(1));
  }
  // Each has its own.
  EXPECT_NE(types[0].size(0), types[1].size(0));
  // Any size up to the most is one that it may have.
  EXPECT_TRUE(agrees_by_data(TensorType::contiguous(ScalarType::kLong, {3, 1}), types[0]));
  EXPECT_FALSE(agrees_by_data(TensorType::contiguous(ScalarType::kLong, {5, 1}), types[0]));
  EXPECT_FALSE(agrees_by_data(TensorType::contiguous(ScalarType::kLong, {3, 2}), types[0]));
}

TEST(Infer, TakesIndicesThatLieInWhatTheyWalkOver) {
  for (const char* call : {
           "aten.gather.default(%x, 1, %i)",       // farther along the dim
           "aten.gather.default(%s, 0, %l)",       // a number is a list of one
           "aten.scatter.value(%x, 1, %i, 1)",     //
           "aten.scatter.value(%s, -1, %n, 1)",    //
           "aten.scatter.src(%x, 1, %i, %y)",      // src may be larger
           "aten.fill.Tensor(%x, %o)",             //
           "aten.roll.default(%x, [5], [])",       //
           "aten.roll.default(%x, [1,2], [0,0])",  // one after the other
           "aten.roll.default(%s, [3], [])",       //
       }) {
    const auto graph = parse_graph(
        absl::StrCat("method @m(%x: f32[2,3], %y: f32[3,9], %i: i32[2,9], %s: f32[], %n: i64[], "
                     "%l: i64[7], %o: f32[1,1]) {\n  %r = ",
                     call, "\n  return %r\n}\n"),
        find_op, nullptr);
    EXPECT_TRUE(graph.ok()) << call << ": " << graph.status();
  }
}

TEST(Infer, SurvivesAnyArguments) {
  size_t accepted = 0;
  for (const uint32_t seed : {20240607, 1, 2, 3}) {
    AnyArguments any(seed);
    for (const OpInfo* row : all_ops()) {
      if (row->infer == nullptr) continue;
      for (int round = 0; round < 300; ++round) {
        Graph graph("m");
        const auto inferred = row->infer(*row, any.make(*row, &graph));
        if (!inferred.ok()) {
          EXPECT_FALSE(inferred.status().message().empty()) << row->full_name();
          continue;
        }
        ++accepted;
        for (const Type& type : *inferred) {
          if (!type.is_tensor()) continue;
          EXPECT_TRUE(check_tensor_type(type.tensor).ok()) << row->full_name();
        }
      }
    }
  }
  // Else the arguments were too wild to reach the rules.
  EXPECT_GT(accepted, 40000u);
}

TEST(Infer, RefusesAnotherNumberOfArguments) {
  for (const OpInfo* row : all_ops()) {
    if (row->infer == nullptr) continue;
    const std::vector<Argument> arguments(row->args.size() + 1);
    EXPECT_FALSE(row->infer(*row, arguments).ok()) << row->full_name();
  }
}

absl::StatusOr<TensorType> type_of_call(const std::string& call) {
  const auto graph = parse_graph(
      "method @m(%x: f32[1,1,1,1,1,1,1,1,2]) { %y = " + call + " return %y }", find_op, nullptr);
  if (!graph.ok()) return graph.status();
  return (*graph)->outputs()[0]->tensor();
}

TEST(Infer, PlacesOfTrianglesAreCounted) {
  for (int rows = 0; rows < 5; ++rows) {
    for (int columns = 0; columns < 5; ++columns) {
      for (int shift = -6; shift <= 6; ++shift) {
        int64_t lower = 0, upper = 0;
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < columns; ++j) {
            lower += j <= i + shift;
            upper += j >= i + shift;
          }
        }
        const std::string with = absl::StrCat("(", rows, ", ", columns, ", ", shift, ")");
        EXPECT_EQ(type_of_call("aten.tril_indices.default" + with)->sizes[1], lower) << with;
        EXPECT_EQ(type_of_call("aten.triu_indices.default" + with)->sizes[1], upper) << with;
      }
    }
  }
}

// Each call of 40 bytes has 2^25 rows of nothing.
TEST(Infer, RowsOfTrianglesAreNotWalked) {
  for (int i = 0; i < 4000; ++i) {
    EXPECT_EQ(type_of_call("aten.tril_indices.default(33554432, 0, 0)")->sizes[1], 0);
  }
}

// Before as many sizes are put into a list, one by one.
TEST(Infer, ProductsOfThreeHaveNoMoreDimsThanATensor) {
  std::string dims = "1";
  for (int i = 2; i < 4000; ++i) dims += ", " + std::to_string(i);
  const auto status =
      type_of_call("aten._trilinear.default(%x, %x, %x, [" + dims + "], [0], [0], [1])").status();
  EXPECT_TRUE(absl::StrContains(status.message(), "with 'expand1', must be at most")) << status;
}

// Before there are as many results of as many sizes.
TEST(Infer, GridsOfMoreTensorsThanDimsAreRefused) {
  std::string tensors = "%x";
  for (int i = 1; i < 4000; ++i) tensors += ", %x";
  const auto status = type_of_call("aten.meshgrid.default([" + tensors + "])").status();
  EXPECT_TRUE(absl::StrContains(status.message(), "a grid of 4000 tensors, must be at most"))
      << status;
}

TEST(Infer, RanksThatDoubleAreRefused) {
  EXPECT_FALSE(type_of_call("aten.kron.default(%x, %x)").ok());
}

}  // namespace
}  // namespace petrel::exir
