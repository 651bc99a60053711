// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace petrel::exir {
namespace {

const ArgSpec& arg(const OpInfo& op, const std::string& name) {
  return op.args.at(static_cast<size_t>(op.find_arg(name)));
}

TEST(Table, FindsOperatorsByFullName) {
  ASSERT_NE(find_op("aten.add.Tensor"), nullptr);
  EXPECT_EQ(&op("aten.conv2d.default"), find_op("aten.conv2d.default"));
  EXPECT_EQ(find_op("aten.add"), nullptr);
  EXPECT_EQ(find_op(""), nullptr);
}

TEST(Table, IsSortedAndWide) {
  const auto& all = all_ops();
  ASSERT_GE(all.size(), 600u);
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(all[i - 1]->full_name(), all[i]->full_name());
  }
}

TEST(Table, EveryRowInfersItsResultsButThoseThatHoldGraphs) {
  std::set<std::string> without;
  for (const OpInfo* row : all_ops()) {
    // Those of complex numbers become others when they are read (exir/import/complex_rules.h).
    if (row->infer == nullptr && row->name.rfind("aten::", 0) != 0) without.insert(row->name);
  }
  EXPECT_EQ(without, (std::set<std::string>{"petrel::cond", "petrel::delegate_call", "petrel::map",
                                            "petrel::scan", "petrel::while_loop"}));
}

TEST(Table, TraitsAreConsistent) {
  for (const OpInfo* row : all_ops()) {
    const std::string name = row->full_name();
    bool writes = false;
    for (const ArgSpec& spec : row->args) writes = writes || spec.is_written;
    // Batch norm in training mode writes its statistics, not its input.
    if (row->name.find("batch_norm") == std::string::npos) {
      EXPECT_EQ(row->has(kInPlace), writes) << name;
    }
    EXPECT_FALSE(row->has(kPure) && row->has(kInPlace)) << name;
    EXPECT_FALSE(row->has(kPure) && writes) << name;
    EXPECT_EQ(row->has(kEffect), row->num_results == 0) << name;
    if (row->has(kView) || row->has(kIdentity)) {
      ASSERT_FALSE(row->args.empty()) << name;
      EXPECT_EQ(row->args[0].kind, ArgKind::kTensor) << name;
    }
    // Two kernels that give numbers are overloads without a name.
    if (row->out_name != "aten::sym_numel" && row->out_name != "aten::_local_scalar_dense") {
      EXPECT_EQ(row->out_name.empty(), row->out_overload.empty()) << name;
    }
  }
}

TEST(Table, WhatWritesHasATwinThatDoesNot) {
  std::set<std::string> without;
  for (const OpInfo* row : all_ops()) {
    if (row->twin == nullptr) {
      if (row->has(kInPlace)) without.insert(row->name);
      continue;
    }
    EXPECT_TRUE(row->twin->has(kPure) || row->twin->has(kRandom)) << row->full_name();
    EXPECT_EQ(row->twin->num_results, row->num_results) << row->full_name();
    ASSERT_EQ(row->twin->args.size(), row->args.size()) << row->full_name();
    for (size_t i = 0; i < row->args.size(); ++i) {
      EXPECT_EQ(row->twin->args[i].kind, row->args[i].kind) << row->full_name() << " " << i;
    }
  }
  EXPECT_EQ(op("aten.add_.Tensor").twin, &op("aten.add.Tensor"));
  EXPECT_EQ(op("aten.pow_.Scalar").twin, &op("aten.pow.Tensor_Scalar"));
  EXPECT_EQ(op("aten.view_copy.default").twin, &op("aten.view.default"));
  // functionalize writes the first as a diagonal_scatter; cache_writes takes the caches of the
  // last ones apart.
  EXPECT_EQ(without, (std::set<std::string>{"aten::fill_diagonal_", "aten::requires_grad_",
                                            "llama::sdpa_with_kv_cache", "llama::update_cache",
                                            "llama::update_cache_with_indices"}));
}

// These alone: dropout of every other kind is refused in training mode.
TEST(Table, RandomOperatorsAreNotPure) {
  std::set<std::string> random;
  for (const OpInfo* row : all_ops()) {
    if (!row->has(kRandom)) continue;
    random.insert(row->name);
    EXPECT_FALSE(row->has(kPure) || row->has(kView) || row->has(kIdentity)) << row->full_name();
  }
  EXPECT_EQ(random, (std::set<std::string>{
                        "aten::bernoulli", "aten::cauchy", "aten::exponential", "aten::geometric",
                        "aten::log_normal", "aten::multinomial", "aten::native_dropout",
                        "aten::normal", "aten::normal_functional", "aten::rand", "aten::rand_like",
                        "aten::randint", "aten::randint_like", "aten::randn", "aten::randn_like",
                        "aten::randperm", "aten::uniform"}));
}

TEST(Table, TheDelegateCallTakesAndGivesTensorLists) {
  const OpInfo& call = op("petrel.delegate_call.default");
  EXPECT_TRUE(call.has_list_result);
  EXPECT_TRUE(call.args.at(0).is_list);
}

TEST(Schema, ReadsEveryPartOfAnOperator) {
  const OpInfo& conv = op("aten.conv2d.default");
  EXPECT_EQ(conv.name, "aten::conv2d");
  EXPECT_EQ(conv.overload, "");
  EXPECT_EQ(conv.args.size(), 7u);
  EXPECT_TRUE(arg(conv, "bias").is_optional);
  EXPECT_TRUE(arg(conv, "bias").default_value.is_none());
  EXPECT_TRUE(arg(conv, "stride").is_list);
  EXPECT_EQ(arg(conv, "stride").fixed_length, 2u);
  EXPECT_EQ(arg(conv, "padding").default_value, Argument(Argument::Ints{0, 0}));
  EXPECT_FALSE(arg(conv, "weight").has_default);

  const OpInfo& add = op("aten.add_.Tensor");
  EXPECT_TRUE(arg(add, "self").is_written);
  EXPECT_FALSE(arg(add, "other").is_written);
  EXPECT_EQ(arg(add, "alpha").default_value, Argument(int64_t{1}));

  EXPECT_TRUE(arg(op("aten.index.Tensor"), "indices").has_optional_items);
  EXPECT_TRUE(op("aten.unbind.int").has_list_result);
  EXPECT_EQ(op("aten.native_layer_norm.default").num_results, 3u);
  EXPECT_EQ(arg(op("aten.gelu.default"), "approximate").default_value,
            Argument(std::string("none")));
  EXPECT_EQ(arg(op("aten.layer_norm.default"), "eps").default_value, Argument(1e-5));
}

TEST(Schema, TensorOptionsAreThoseOfFactories) {
  EXPECT_TRUE(arg(op("aten.full.default"), "dtype").is_tensor_option);
  EXPECT_TRUE(arg(op("aten._to_copy.default"), "dtype").is_tensor_option);
  EXPECT_FALSE(arg(op("aten._to_copy.default"), "memory_format").is_tensor_option);
  EXPECT_FALSE(arg(op("aten.sum.dim_IntList"), "dtype").is_tensor_option);
}

TEST(Schema, OnlySymbolicNumbersAndScalarsAreComputedAtRunTime) {
  const OpInfo& slice = op("aten.slice.Tensor");
  EXPECT_TRUE(arg(slice, "step").takes_computed_number());
  EXPECT_FALSE(arg(slice, "dim").takes_computed_number());
  EXPECT_TRUE(arg(op("aten.view.default"), "size").takes_computed_number());
  EXPECT_FALSE(arg(op("aten.permute.default"), "dims").takes_computed_number());
  EXPECT_TRUE(arg(op("aten.add.Tensor"), "alpha").takes_computed_number());
  EXPECT_FALSE(arg(op("aten.layer_norm.default"), "eps").takes_computed_number());
}

TEST(Schema, ShowsThePlaceThatIsWrong) {
  for (const char* wrong :
       {"", "add() -> Tensor", "aten::add", "aten::add(", "aten::add(Tensor) -> Tensor",
        "aten::add(Tensor self)", "aten::add(Tensor self) -> ",
        "aten::add(Tensor self) -> Tensor x", "aten::add(Thing self) -> Tensor",
        "aten::add(int[x] a) -> Tensor", "aten::add(int a=x) -> Tensor",
        "aten::add(bool a=1) -> Tensor", "aten::add(int[2] a=[1) -> Tensor",
        "aten::add(str a=\"x) -> Tensor", "aten::add(Tensor self,) -> Tensor"}) {
    const auto parsed = parse_schema(wrong);
    ASSERT_FALSE(parsed.ok()) << wrong;
    EXPECT_NE(parsed.status().message().find("-->"), std::string::npos);
  }
}

}  // namespace
}  // namespace petrel::exir
