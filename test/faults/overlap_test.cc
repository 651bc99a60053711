// SPDX-License-Identifier: Apache-2.0
//
// Calls that write memory which another argument reads: a method with one is not
// made. Views, moves, lists, delegates and what the caller binds count as well.
//
//   values   0 input [2, 3] at 0    1 constant [3]    2 number 1    3 output [2, 3] at 32

#include <gtest/gtest.h>

#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

// A call of mul, which is not for one memory.
void multiply(Recipe& r, int32_t a, int32_t b, int32_t out) {
  add_kernel_call(r, "aten::mul", "out", {a, b, out, out});
}

// Value 4, a view of `self`, with value 6 for its sizes.
void add_view(Recipe& r, int32_t self, bool is_planned = false) {
  ValueRecipe view = planned_tensor({6}, 0);
  if (!is_planned) view.place.reset();
  view.dynamism = 1;
  add_value(r, view);
  add_value(r, number_value(Types::Int, 6));
  add_value(r, list_value(Types::IntList, {5}));
  add_kernel_call(r, "executorch_prim::et_view", "default", {self, 6, 4});
}

void add_delegate_call(Recipe& r, std::vector<int32_t> args) {
  add_delegate(r, [](DelegateRecipe&) {});
  add_instruction(r, Arguments::DelegateCall, 0, 0);
  plan(r).chains[0].back().args = std::move(args);
}

const Attack kAttacks[] = {
    {"OutputOverPartOfAnInput", [](Recipe& r) { output(r).place->offset = 8; }, kInvalid,
     "instruction 0:0, aten::add.out, writes argument 3 (value 3), which shares memory with "
     "argument 0 (value 0) and is not the same bytes"},
    {"OutputOverAnInput", [](Recipe& r) { multiply(r, 0, 1, 0); }, kInvalid,
     "instruction 0:1, aten::mul.out, writes argument 2 (value 0), which shares memory with "
     "argument 0 (value 0)"},
    {"OutputOfOtherSizesInPlace",
     [](Recipe& r) {
       add_value(r, planned_tensor({3}, 0));
       call(r).args = {0, 1, 2, 4, 4};
     },
     kInvalid, "is not the same bytes"},
    {"OutputOfWiderElementsInPlace",
     [](Recipe& r) {
       ValueRecipe longs = planned_tensor({3}, 0);
       longs.scalar_type = static_cast<int8_t>(fb::ScalarType::LONG);
       add_value(r, longs);
       call(r).args = {0, 1, 2, 4, 4};
     },
     kInvalid, "is not the same bytes, elements and order"},
    {"OutputOfAnotherOrderInPlace",
     [](Recipe& r) {
       ValueRecipe turned = planned_tensor({2, 3}, 0);
       turned.dim_order = {1, 0};
       add_value(r, turned);
       call(r).args = {0, 1, 2, 4, 4};
     },
     kInvalid, "is not the same bytes, elements and order"},
    {"OutputOfAnotherShapeInPlace",
     [](Recipe& r) {
       add_value(r, planned_tensor({3, 2}, 0));
       call(r).args = {0, 1, 2, 4, 4};
     },
     kInvalid, "is not the same bytes, elements and order"},
    {"OutputIsAViewOfAnInput",
     [](Recipe& r) {
       add_view(r, 0);
       multiply(r, 0, 1, 4);
     },
     kInvalid, "aten::mul.out, writes argument 2 (value 4)"},
    {"ViewsOfWiderElementsInPlace",
     [](Recipe& r) {
       add_view(r, 0);
       plan(r).values[4].sizes = {2, 3};
       plan(r).values[4].dim_order = {0, 1};
       plan(r).values[4].scalar_type = static_cast<int8_t>(fb::ScalarType::LONG);
       call(r).args = {0, 1, 2, 4, 4};
     },
     kInvalid, "is not the same bytes, elements and order"},
    {"InputIsAViewOfTheOutput",
     [](Recipe& r) {
       add_view(r, 3);
       multiply(r, 4, 1, 3);
     },
     kInvalid, "aten::mul.out, writes argument 2 (value 3)"},
    {"OutputMayBeMovedToAnInput",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 64));
       plan(r).arenas[1] = 128;
       multiply(r, 4, 1, 3);
       add_instruction(r, Arguments::MoveCall, 3, 4);
     },
     kInvalid, "aten::mul.out, writes argument 2 (value 3)"},
    {"ListHasTheOutput",
     [](Recipe& r) {
       add_value(r, list_value(Types::TensorList, {0, 3}));
       add_value(r, number_value(Types::Int, 0));
       add_kernel_call(r, "aten::cat", "out", {4, 5, 3, 3});
     },
     kInvalid, "aten::cat.out, writes argument 2 (value 3)"},
    {"KernelThatDoesNotSayWhatItWrites",
     [](Recipe& r) {
       add_value(r, planned_tensor({6}, 8));
       add_value(r, list_value(Types::IntList, {6}));
       add_value(r, number_value(Types::Int, -1));
       add_kernel_call(r, "aten::view_copy", "out", {0, 5, 4, 4});
     },
     kInvalid, "aten::view_copy.out, writes argument 2 (value 4)"},
    {"DelegateOverItsInput",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 4));
       add_delegate_call(r, {0, 4});
     },
     kInvalid, "XnnpackBackend, writes argument 1 (value 4)"},
    {"DelegateInPlace",
     [](Recipe& r) {
       add_delegate_call(r, {0, 0});
     },
     kInvalid, "XnnpackBackend, writes argument 1 (value 0)"},
    {"MoveOfAList",
     [](Recipe& r) {
       add_value(r, list_value(Types::TensorList, {0}));
       add_value(r, list_value(Types::TensorList, {3}));
       add_instruction(r, Arguments::MoveCall, 4, 5);
     },
     Error::NotSupported, "instruction 0:1 moves value 4, a list of tensors"},
    {"MovesOfVeryMany",
     [](Recipe& r) {
       for (int32_t i = 4; i < 50; ++i) {
         add_value(r, planned_tensor({2, 3}, 0));
         add_instruction(r, Arguments::MoveCall, i, 3);
       }
     },
     Error::NotSupported, "more than 32"},
    {"ViewOfTwoValues",
     [](Recipe& r) {
       add_view(r, 0);
       add_kernel_call(r, "executorch_prim::et_view", "default", {3, 6, 4});
     },
     kInvalid, "instruction 0:2 makes value 4 a view, which is a view of another value already"},
    {"ViewIsAnInput",
     [](Recipe& r) {
       add_view(r, 3);
       plan(r).inputs.push_back(4);
     },
     kInvalid, "makes value 4 a view, which is an input"},
    {"PlannedViewOfMemoryOfTheCaller",
     [](Recipe& r) {
       input(r).place.reset();
       add_view(r, 0, true);
     },
     kInvalid, "value 4 is planned, but a view of value 0"},
};

// Values from 4 on, all of which are moved to one another.
void add_moved(Recipe& r) {
  for (const int32_t first : {4, 24}) {
    for (int32_t i = first; i < first + 20; ++i) {
      add_value(r, planned_tensor({2, 3}, 64));
      add_instruction(r, Arguments::MoveCall, i, first);
    }
  }
  plan(r).arenas[1] = 128;
  add_instruction(r, Arguments::MoveCall, 4, 24);
}

constexpr char kTooMany[] = "shares its memory with more than 32 others";

const Attack kCrowds[] = {
    {"OutputOfMany",
     [](Recipe& r) {
       add_moved(r);
       multiply(r, 0, 1, 4);
     },
     Error::NotSupported, kTooMany},
    {"ArgumentOfMany",
     [](Recipe& r) {
       add_moved(r);
       multiply(r, 4, 1, 3);
     },
     Error::NotSupported, kTooMany},
    {"PlannedViewOfMany",
     [](Recipe& r) {
       add_moved(r);
       ValueRecipe view = planned_tensor({6}, 0);
       view.dynamism = 1;
       add_value(r, view);
       add_value(r, number_value(Types::Int, 6));
       add_value(r, list_value(Types::IntList, {45}));
       add_kernel_call(r, "executorch_prim::et_view", "default", {4, 46, 44});
     },
     Error::NotSupported, kTooMany},
    {"MoveOfAListOfOptionals",
     [](Recipe& r) {
       add_value(r, list_value(Types::OptionalTensorList, {0, -1}));
       add_value(r, list_value(Types::OptionalTensorList, {3}));
       add_instruction(r, Arguments::MoveCall, 4, 5);
     },
     Error::NotSupported, "instruction 0:1 moves value 4, a list of tensors"},
};

class OverlapTest : public ::testing::TestWithParam<Attack> {};

TEST_P(OverlapTest, IsRefused) {
  QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  Loaded loaded(recipe);
  EXPECT_EQ(loaded.method().error(), GetParam().error);
  EXPECT_NE(QuietLog::last().find(GetParam().words), std::string::npos) << QuietLog::last();
  EXPECT_EQ(live_handles(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, OverlapTest, ::testing::ValuesIn(kAttacks),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Crowds, OverlapTest, ::testing::ValuesIn(kCrowds),
                         [](const auto& info) { return std::string(info.param.name); });

// What is read may share memory, and what is dead gives way.
const Attack kAllowed[] = {
    {"OneInputTwice",
     [](Recipe& r) {
       call(r).args = {0, 0, 2, 3, 3};
     },
     Error::Ok, ""},
    {"InputsOverlap",
     [](Recipe& r) {
       add_value(r, planned_tensor({3}, 8));
       call(r).args = {0, 4, 2, 3, 3};
     },
     Error::Ok, ""},
    {"OutputOverAnEarlierValue",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 8));
       plan(r).arenas[1] = 128;
       output(r).place->offset = 64;
       multiply(r, 3, 1, 4);
     },
     Error::Ok, ""},
    {"ViewOfAView",
     [](Recipe& r) {
       add_view(r, 0);
       add_value(r, plan(r).values[4]);
       add_kernel_call(r, "executorch_prim::et_view", "default", {4, 6, 7});
       add_value(r, planned_tensor({6}, 32));
       add_kernel_call(r, "aten::add", "out", {7, 4, 2, 8, 8});
     },
     Error::Ok, ""},
    {"ElementwiseInAViewOfItsInput",
     [](Recipe& r) {
       add_view(r, 0);
       add_value(r, planned_tensor({6}, 0));
       add_kernel_call(r, "aten::add", "out", {8, 4, 2, 8, 8});
       add_value(r, planned_tensor({6}, 0));
     },
     Error::Ok, ""},
    {"DelegateWithInputsThatOverlap",
     [](Recipe& r) {
       add_value(r, planned_tensor({3}, 8));
       add_delegate_call(r, {0, 4, 3});
     },
     Error::Ok, ""},
    {"BranchesMoveTheirResult",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 64));
       add_value(r, planned_tensor({2, 3}, 96));
       plan(r).arenas[1] = 128;
       add_kernel_call(r, "aten::add", "out", {0, 1, 2, 4, 4});
       add_instruction(r, Arguments::MoveCall, 4, 3);
       add_instruction(r, Arguments::MoveCall, 5, 3);
       multiply(r, 3, 1, 0);
     },
     Error::Ok, ""},
};

class SharedMemoryTest : public ::testing::TestWithParam<Attack> {};

TEST_P(SharedMemoryTest, IsAllowed) {
  QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  EXPECT_TRUE(report.all_ok()) << QuietLog::last();
}

INSTANTIATE_TEST_SUITE_P(All, SharedMemoryTest, ::testing::ValuesIn(kAllowed),
                         [](const auto& info) { return std::string(info.param.name); });

// Input and output of the caller.
class CallersMemoryTest : public ::testing::Test {
 protected:
  CallersMemoryTest() {
    input(recipe_).place.reset();
    output(recipe_).place.reset();
  }
  QuietLog quiet_;
  Recipe recipe_;
  Input input_;
};

TEST_F(CallersMemoryTest, OutputLiesApartFromInputs) {
  Loaded loaded(recipe_);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  float out[12];
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->set_output_data_ptr(input_.data, 24, 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "output 0 lies in the memory of input 0");
  ASSERT_EQ(method->set_output_data_ptr(out, 24, 0), Error::Ok);
  TensorImpl over(ScalarType::Float, 2, input_.sizes, out + 5);
  EXPECT_EQ(method->set_input(Tensor(&over), 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 lies in the memory of output 0");
  TensorImpl behind(ScalarType::Float, 2, input_.sizes, out + 6);
  EXPECT_EQ(method->set_input(Tensor(&behind), 0), Error::Ok);
}

TEST_F(CallersMemoryTest, LiesApartFromArenas) {
  Loaded loaded(recipe_);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  uint8_t* const arena = loaded.memory()->planned_memory()->buffer(0).data();
  TensorImpl inside(ScalarType::Float, 2, input_.sizes, arena + 8);
  EXPECT_EQ(method->set_input(Tensor(&inside), 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 lies in memory that the method plans; copy it");
  EXPECT_EQ(method->set_output_data_ptr(arena, 24, 0), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::faults
