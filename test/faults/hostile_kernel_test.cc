// SPDX-License-Identifier: Apache-2.0
//
// Programs that call the shipped kernels in ways that no exporter writes, so
// that a kernel that trusted its arguments would read or write where the file
// says.

#include <gtest/gtest.h>

#include "extension/module/module.h"
#include "test/faults/attack.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

const Attack kAttacks[] = {
    {"FullOfAViewOfNothing",
     [](Recipe& r) {
       const EmptyView made = add_empty_view(r);
       add_value(r, list_value(Types::IntList, {made.index}));
       // full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out)
       add_kernel_call(r, "aten::full", "out", {made.index + 1, made.index, made.view, made.view});
     },
     Error::NotSupported, "aten::full.out"},
    {"ScatterOverItsIndex",
     [](Recipe& r) {
       plan(r).arenas[1] = 512;
       ValueRecipe longs = planned_tensor({8}, 64);
       longs.scalar_type = static_cast<int8_t>(fb::ScalarType::LONG);
       for (const uint64_t offset : {64u, 96u, 256u}) {
         longs.place->offset = offset;
         add_value(r, longs);
       }
       add_value(r, number_value(Types::Int, 0));
       // scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out)
       add_kernel_call(r, "aten::scatter", "src_out", {6, 7, 5, 6, 4, 4});
     },
     kInvalid,
     "aten::scatter.src_out, writes argument 4 (value 4), which shares memory with "
     "argument 2 (value 5)"},
    {"TopkWithOneMemoryForBothOutputs",
     [](Recipe& r) {
       plan(r).arenas[1] = 512;
       ValueRecipe longs = planned_tensor({8}, 64);
       longs.scalar_type = static_cast<int8_t>(fb::ScalarType::LONG);
       add_value(r, longs);
       longs.place->offset = 128;
       longs.sizes = {1};
       add_value(r, longs);
       add_value(r, longs);
       add_value(r, number_value(Types::Int, 0));
       add_value(r, number_value(Types::Bool, 1));
       // topk.values(Tensor self, SymInt k, int dim, bool largest, bool sorted, *,
       //   Tensor(a!) values, Tensor(b!) indices)
       add_kernel_call(r, "aten::topk", "values", {4, 2, 7, 8, 8, 5, 6});
     },
     kInvalid,
     "aten::topk.values, writes argument 5 (value 5), which shares memory with "
     "argument 6 (value 6)"},
    {"SplitWithOnePieceTwice",
     [](Recipe& r) {
       plan(r).arenas[1] = 512;
       add_value(r, planned_tensor({1, 3}, 64));
       add_value(r, planned_tensor({1, 3}, 68));
       add_value(r, list_value(Types::TensorList, {4, 5}));
       add_value(r, number_value(Types::Int, 0));
       // split_copy.Tensor_out(Tensor self, SymInt split_size, int dim, *, Tensor(a!)[] out)
       add_kernel_call(r, "aten::split_copy", "Tensor_out", {0, 2, 7, 6, 6});
     },
     kInvalid,
     "aten::split_copy.Tensor_out, writes argument 3 (value 4), which shares memory "
     "with argument 3 (value 5)"},
    {"AverageOfNothingButPadding",
     [](Recipe& r) {
       plan(r).arenas[1] = 512;
       add_value(r, planned_tensor({1, 1, 0, 4}, 64));
       add_value(r, planned_tensor({1, 1, 1, 3}, 128));
       add_value(r, number_value(Types::Int, 2));
       add_value(r, number_value(Types::Int, 1));
       add_value(r, list_value(Types::IntList, {6, 6}));
       add_value(r, list_value(Types::IntList, {7, 7}));
       add_value(r, number_value(Types::Bool, 1));
       add_value(r, number_value(Types::Null, 0));
       // avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
       //   bool ceil_mode, bool count_include_pad, int? divisor_override, *, Tensor(a!) out)
       add_kernel_call(r, "aten::avg_pool2d", "out", {4, 8, 8, 9, 10, 10, 11, 5, 5});
     },
     Error::InvalidArgument, "aten::avg_pool2d.out, failed"},
};

class HostileKernelTest : public ::testing::TestWithParam<Attack> {};

TEST_P(HostileKernelTest, IsStoppedWithItsReason) {
  QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  ASSERT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_EQ(report.methods[0], GetParam().error) << to_string(report.methods[0]);
  EXPECT_NE(QuietLog::last().find(GetParam().words), std::string::npos) << QuietLog::last();
}

INSTANTIATE_TEST_SUITE_P(All, HostileKernelTest, ::testing::ValuesIn(kAttacks),
                         [](const auto& info) { return std::string(info.param.name); });

// tensor[indices] has 2^22 (2^42 + 1) elements, which is 2^22 in 64 bits: as many as
// the values have.
TEST(HostileIndexPutTest, OfMoreElementsThanNumbersIsRefused) {
  QuietLog quiet;
  constexpr int32_t kRows = 2095105, kColumns = 2099201, kSide = 1 << 11;
  Recipe recipe;
  ValueRecipe bytes = planned_tensor({1, 1, kSide, kSide}, 64);
  bytes.scalar_type = static_cast<int8_t>(fb::ScalarType::BYTE);
  add_value(recipe, bytes);
  bytes.place->offset += kSide * kSide;
  add_value(recipe, bytes);
  ValueRecipe longs = planned_tensor({kRows, 1}, bytes.place->offset + kSide * kSide);
  longs.scalar_type = static_cast<int8_t>(fb::ScalarType::LONG);
  add_value(recipe, longs);
  longs.place->offset += 8 * kRows;
  longs.sizes = {1, kColumns};
  add_value(recipe, longs);
  plan(recipe).arenas[1] = static_cast<int64_t>(longs.place->offset + 8 * kColumns);
  add_value(recipe, list_value(Types::OptionalTensorList, {6, 7}));
  add_value(recipe, number_value(Types::Bool, 0));
  plan(recipe).inputs.clear();
  plan(recipe).operators.clear();
  plan(recipe).chains = {{}};
  // index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate)
  add_kernel_call(recipe, "aten::index_put_", "", {4, 8, 5, 9, 4});
  const std::vector<uint8_t> file = build(recipe);
  extension::Module::Options options;
  options.registry = &test_registry();
  auto module = extension::Module::load(file.data(), file.size(), options);
  ASSERT_TRUE(module.ok()) << QuietLog::last();
  EXPECT_EQ((*module)->execute("forward", {}).error(), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::faults
