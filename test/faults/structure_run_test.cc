// SPDX-License-Identifier: Apache-2.0
//
// Programs that load and are wrong all the same, and programs that are odd and
// right.

#include <gtest/gtest.h>

#include "test/faults/attack.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

// What load cannot know: refused by load_method, or when it is run.
const Attack kRunAttacks[] = {
    {"UnknownOperator", [](Recipe& r) { plan(r).operators[0].name = "aten::unheard_of"; },
     Error::OperatorMissing,
     "kernel is missing: aten::unheard_of.out (1 call in method 'forward')"},
    {"UnknownOverload", [](Recipe& r) { plan(r).operators[0].overload = "other"; },
     Error::OperatorMissing, "aten::add.other"},
    {"OperatorNameAsFormat", [](Recipe& r) { plan(r).operators[0].name = "%n%s%n::%s"; },
     Error::OperatorMissing, "%n%s%n::%s.out"},
    {"UnknownBackend", [](Recipe& r) { add_delegate(r, [](auto& d) { d.id = "Nobody"; }); },
     Error::NotFound, "backend is missing: Nobody (delegate 0 of method 'forward'); there are "},
    {"MissingExternalData",
     [](Recipe& r) {
       constant(r).extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
     },
     Error::InvalidExternalData, "value 1"},
    {"NoArguments", [](Recipe& r) { call(r).args.clear(); }, kInvalid, "add.out"},
    {"OneArgumentLess",
     [](Recipe& r) {
       call(r).args = {0, 1, 2};
     },
     kInvalid, "add.out"},
    {"IntForTensor", [](Recipe& r) { call(r).args[0] = 2; }, kInvalid, "add.out"},
    {"TensorForScalar", [](Recipe& r) { call(r).args[2] = 0; }, kInvalid, "add.out"},
    {"ConstantAsOutput", [](Recipe& r) { call(r).args[3] = 1; }, kInvalid, "add.out"},
    {"ListAsOutput",
     [](Recipe& r) {
       add_value(r, list_value(Types::IntList, {2}));
       call(r).args[3] = 4;
     },
     kInvalid, "add.out"},
    {"DynamicOutputIsAlsoInput",
     [](Recipe& r) {
       output(r).dynamism = 1;
       call(r).args[0] = 3;
     },
     kInvalid, "add.out"},
    {"OutputWithoutMemory",
     [](Recipe& r) {
       plan(r).outputs.clear();
       output(r).place.reset();
     },
     Error::InvalidState, "add.out"},
    {"RowOfAViewOfNothing",
     [](Recipe& r) {
       const EmptyView made = add_empty_view(r);
       ValueRecipe number = planned_tensor({}, 0);
       add_value(r, number);
       add_kernel_call(r, "executorch_prim::et_copy_index", "tensor",
                       {made.view, made.index + 1, made.index});
     },
     Error::NotSupported, "et_copy_index"},
    {"JumpToItself",
     [](Recipe& r) {
       add_value(r, number_value(Types::Bool, 0));
       add_instruction(r, Arguments::JumpFalseCall, 4, 1);
     },
     Error::OutOfResources, "limit"},
    {"JumpBackForEver",
     [](Recipe& r) {
       add_value(r, number_value(Types::Bool, 0));
       add_instruction(r, Arguments::JumpFalseCall, 4, 0);
     },
     Error::OutOfResources, "limit"},
    {"JumpOnInt", [](Recipe& r) { add_instruction(r, Arguments::JumpFalseCall, 2, 0); }, kInvalid,
     "condition of instruction 0:1 is Int"},
    {"JumpOnFloats", [](Recipe& r) { add_instruction(r, Arguments::JumpFalseCall, 0, 0); },
     kInvalid, "condition of instruction 0:1 is Tensor"},
    {"JumpOnNoBools",
     [](Recipe& r) {
       add_value(r, planned_tensor({0}, 0));
       plan(r).values[4].scalar_type = static_cast<int8_t>(fb::ScalarType::BOOL);
       add_instruction(r, Arguments::JumpFalseCall, 4, 0);
     },
     kInvalid, "condition"},
    {"JumpOnBoolsWithoutMemory",
     [](Recipe& r) {
       add_value(r, planned_tensor({2}, 0));
       plan(r).values[4].scalar_type = static_cast<int8_t>(fb::ScalarType::BOOL);
       plan(r).values[4].place.reset();
       plan(r).values[4].dynamism = 1;
       add_instruction(r, Arguments::JumpFalseCall, 4, 0);
     },
     kInvalid,
     "condition of instruction 0:1 is Tensor, must be a bool or a tensor of bools that has some"},
};

class RunAttackTest : public ::testing::TestWithParam<Attack> {};

TEST_P(RunAttackTest, IsStoppedWithItsReason) {
  QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  ASSERT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_EQ(report.methods[0], GetParam().error) << to_string(report.methods[0]);
  EXPECT_NE(QuietLog::last().find(GetParam().words), std::string::npos) << QuietLog::last();
  EXPECT_EQ(report.leaked_buffers, 0);
  EXPECT_EQ(live_handles(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, RunAttackTest, ::testing::ValuesIn(kRunAttacks),
                         [](const auto& info) { return std::string(info.param.name); });

// Odd, but right: must run.
const Attack kOddities[] = {
    {"OperatorListedButNotCalled",
     [](Recipe& r) {
       plan(r).operators.push_back({"aten::unheard_of", "out"});
     },
     Error::Ok, ""},
    {"MethodNameIsAFormat", [](Recipe& r) { plan(r).name = "../%n%s"; }, Error::Ok, ""},
    {"RankAtLimit", [](Recipe& r) { add_value(r, planned_tensor(std::vector<int32_t>(16, 1), 0)); },
     Error::Ok, ""},
    {"RankZero", [](Recipe& r) { add_value(r, planned_tensor({}, 0)); }, Error::Ok, ""},
    {"DimZeroBesideHugeDim",
     [](Recipe& r) {
       add_value(r, planned_tensor({INT32_MAX, 0}, 64));
     },
     Error::Ok, ""},
    {"ArgumentsInAbundance", [](Recipe& r) { call(r).args.resize(1000, 2); }, Error::Ok, ""},
    {"InputUsedTwice",
     [](Recipe& r) {
       plan(r).inputs = {0, 0};
     },
     Error::Ok, ""},
    {"ManyNamesForOneSegment",
     [](Recipe& r) {
       r.named_data = {{"a", 0}, {"b", 0}, {"b", 0}};
     },
     Error::Ok, ""},
    {"MoveOntoItself", [](Recipe& r) { add_instruction(r, Arguments::MoveCall, 3, 3); }, Error::Ok,
     ""},
    {"UseAfterFree",
     [](Recipe& r) {
       add_instruction(r, Arguments::FreeCall, 3, 0);
       add_instruction(r, Arguments::FreeCall, 3, 0);
       plan(r).chains[0].push_back(plan(r).chains[0][0]);
     },
     Error::Ok, ""},
    {"JumpToTheEnd",
     [](Recipe& r) {
       add_value(r, number_value(Types::Bool, 0));
       add_instruction(r, Arguments::JumpFalseCall, 4, 2);
     },
     Error::Ok, ""},
    {"ValuesOverlap",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 4));
     },
     Error::Ok, ""},
    {"OutputIsTheInput",
     [](Recipe& r) {
       call(r).args = {0, 1, 2, 0, 0};
     },
     Error::Ok, ""},
    {"NoHeaderNoSegments",
     [](Recipe& r) {
       r.with_header = false;
       r.segments.clear();
       r.constants.reset();
       r.constant_buffers = {{}, std::vector<uint8_t>(12)};
     },
     Error::Ok, ""},
    {"OldHeader", [](Recipe& r) { r.header_length = 24; }, Error::Ok, ""},
    {"NewerHeader", [](Recipe& r) { r.header_length = 1000; }, Error::Ok, ""},
    {"EmptyInlinePayload",
     [](Recipe& r) {
       r.inline_payloads = {{}};
       add_delegate(r, [](auto& d) { d.location = 0; });
     },
     Error::Ok, ""},
    {"SegmentsOverlapAndShare",
     [](Recipe& r) {
       r.segments.push_back(r.segments[0]);
       r.change_segment = [](size_t i, uint64_t* offset, uint64_t*) {
         if (i == 1) *offset = 0;
       };
     },
     Error::Ok, ""},
    {"UnknownTextInStringIsNotUtf8",
     [](Recipe& r) {
       ValueRecipe text = number_value(Types::String, 0);
       text.text = "\xff\xfe\x80";
       add_value(r, text);
     },
     Error::Ok, ""},
    {"BoolListOfOddBytes",
     [](Recipe& r) {
       add_value(r, list_value(Types::BoolList, {0, 1, 2, 255}));
     },
     Error::Ok, ""},
};

class OddityTest : public ::testing::TestWithParam<Attack> {};

TEST_P(OddityTest, Runs) {
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  EXPECT_TRUE(report.all_ok());
  EXPECT_EQ(report.leaked_buffers, 0);
}

INSTANTIATE_TEST_SUITE_P(All, OddityTest, ::testing::ValuesIn(kOddities),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
