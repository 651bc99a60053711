// SPDX-License-Identifier: Apache-2.0
//
// Programs that Program::load must refuse.

#include <gtest/gtest.h>

#include "test/faults/attack.h"

namespace petrel::faults {
namespace {

// Refused by Program::load.
const Attack kLoadAttacks[] = {
    // Program.
    {"NewerVersion", [](Recipe& r) { r.version = 1; }, kUnsupported, "version 1"},
    {"NewestVersion", [](Recipe& r) { r.version = 0xffffffff; }, kUnsupported, "version"},
    {"NoMethodList", [](Recipe& r) { r.without_plans = true; }, kInvalid, "no list of methods"},
    {"MethodWithoutName", [](Recipe& r) { plan(r).name.reset(); }, kInvalid, "name of method 0"},
    {"MethodWithEmptyName", [](Recipe& r) { plan(r).name = ""; }, kInvalid, "name of method 0"},
    {"MethodNameWithNul", [](Recipe& r) { plan(r).name = std::string("a\0b", 3); }, kInvalid,
     "name of method 0"},
    {"MethodNameOfOneMegabyte", [](Recipe& r) { plan(r).name = std::string(1 << 20, 'a'); },
     kInvalid, "name of method 0"},
    {"TwoMethodsOfOneName", [](Recipe& r) { r.plans.push_back(r.plans[0]); }, kInvalid,
     "both called \"forward\""},
    {"TooManyMethods",
     [](Recipe& r) {
       for (int i = 0; i < 1024; ++i) {
         r.plans.push_back(PlanRecipe());
         r.plans.back().name = std::to_string(i);
       }
     },
     kInvalid, "1025 methods"},

    // Segments.
    {"SegmentPastEnd",
     [](Recipe& r) { r.change_segment = [](size_t, uint64_t*, uint64_t* size) { *size = 13; }; },
     kInvalid, "segment 0 has 13 bytes"},
    {"SegmentOffsetPastEnd",
     [](Recipe& r) {
       r.change_segment = [](size_t, uint64_t* offset, uint64_t*) { *offset = 16; };
     },
     kInvalid, "segment 0"},
    {"SegmentEndWrapsAround",
     [](Recipe& r) {
       r.change_segment = [](size_t, uint64_t* offset, uint64_t* size) {
         *offset = ~uint64_t{15};
         *size = 32;
       };
     },
     kInvalid, "segment 0"},
    {"SegmentOfAllBytesThereAre",
     [](Recipe& r) {
       r.change_segment = [](size_t, uint64_t*, uint64_t* size) { *size = UINT64_MAX; };
     },
     kInvalid, "segment 0"},
    {"SegmentMisaligned",
     [](Recipe& r) {
       r.change_segment = [](size_t, uint64_t* offset, uint64_t* size) {
         *offset = 4;
         *size = 4;
       };
     },
     kInvalid, "multiple of 16"},
    {"SegmentsWithoutHeader", [](Recipe& r) { r.with_header = false; }, kInvalid, "segment 0"},
    {"ConstantSegmentOutOfRange", [](Recipe& r) { r.constants->segment = 1; }, kInvalid,
     "constant data is segment 1"},
    {"ConstantOffsetPastSegment", [](Recipe& r) { r.constants->offsets[1] = 13; }, kInvalid,
     "offset 13"},
    {"ConstantOffsetHuge", [](Recipe& r) { r.constants->offsets[1] = UINT64_MAX; }, kInvalid,
     "entry 1 of constant data"},
    {"MutableSegmentOutOfRange",
     [](Recipe& r) {
       r.mutable_data = {{7, {0}}};
     },
     kInvalid, "mutable data is segment 7"},
    {"MutableOffsetPastSegment",
     [](Recipe& r) {
       r.mutable_data = {{0, {0, 99}}};
     },
     kInvalid, "offset 99"},
    {"NamedDataSegmentOutOfRange",
     [](Recipe& r) {
       r.named_data = {{"key", 1}};
     },
     kInvalid, "\"key\" is segment 1"},
    {"NamedDataWithoutKey",
     [](Recipe& r) {
       r.named_data = {{std::nullopt, 0}};
     },
     kInvalid, "key of named data 0"},
    {"NamedDataWithEmptyKey",
     [](Recipe& r) {
       r.named_data = {{"", 0}};
     },
     kInvalid, "key of named data 0"},
    {"NamedDataKeyWithNul",
     [](Recipe& r) {
       r.named_data = {{std::string("a\0b", 3), 0}};
     },
     kInvalid, "key of named data 0"},

    // Values.
    {"NoValueList", [](Recipe& r) { plan(r).without_values = true; }, kInvalid,
     "no list of values"},
    {"ValueInTheReservedArena",
     [](Recipe& r) {
       plan(r).arenas[0] = 1000;
       input(r).place->memory_id = 0;
     },
     kInvalid, "arena 0, must be in [1, 2)"},
    {"ValueWithoutBody", [](Recipe& r) { input(r).without_body = true; }, kInvalid, "value 0"},
    {"ValueOfTypeNone", [](Recipe& r) { input(r).type = Types::NONE; }, kInvalid, "value 0"},
    {"ValueOfUnknownType", [](Recipe& r) { input(r).type = static_cast<Types>(12); }, kInvalid,
     "type 12"},
    {"StringWithoutText", [](Recipe& r) { add_value(r, number_value(Types::String, 0)); }, kInvalid,
     "value 4"},
    {"ListItemNegative", [](Recipe& r) { add_value(r, list_value(Types::IntList, {-1})); },
     kInvalid, "value -1"},
    {"ListItemPastEnd", [](Recipe& r) { add_value(r, list_value(Types::IntList, {5})); }, kInvalid,
     "value 5"},
    {"ListItemHuge", [](Recipe& r) { add_value(r, list_value(Types::IntList, {INT64_MAX})); },
     kInvalid, "entry 0"},
    {"IntListOfTensor", [](Recipe& r) { add_value(r, list_value(Types::IntList, {0})); }, kInvalid,
     "wrong type"},
    {"IntListOfItself", [](Recipe& r) { add_value(r, list_value(Types::IntList, {4})); }, kInvalid,
     "wrong type"},
    {"TensorListOfInt", [](Recipe& r) { add_value(r, list_value(Types::TensorList, {2})); },
     kInvalid, "wrong type"},
    {"TensorListOfNone", [](Recipe& r) { add_value(r, list_value(Types::TensorList, {-1})); },
     kInvalid, "value -1"},
    {"OptionalListOfInt",
     [](Recipe& r) { add_value(r, list_value(Types::OptionalTensorList, {2})); }, kInvalid,
     "wrong type"},
    {"OptionalListItemTooNegative",
     [](Recipe& r) { add_value(r, list_value(Types::OptionalTensorList, {-2})); }, kInvalid,
     "value -2"},
    {"ListOfMoreTensorsThanAProgramNeeds",
     [](Recipe& r) {
       add_value(r, list_value(Types::OptionalTensorList, std::vector<int64_t>(160'000, -1)));
     },
     Error::OutOfResources, "its list has 160000 tensors, of which the program may have 156"},

    // Tensors.
    {"NoSizes", [](Recipe& r) { input(r).without_sizes = true; }, kInvalid, "without sizes"},
    {"NoDimOrder", [](Recipe& r) { input(r).without_dim_order = true; }, kInvalid,
     "without sizes or dim order"},
    {"RankBeyondLimit",
     [](Recipe& r) { output(r) = planned_tensor(std::vector<int32_t>(17, 1), 0); }, kInvalid,
     "rank 17"},
    {"RankOfMillions",
     [](Recipe& r) { output(r) = planned_tensor(std::vector<int32_t>(1 << 20, 1), 0); }, kInvalid,
     "rank 1048576"},
    {"NegativeDim", [](Recipe& r) { input(r).sizes[1] = -4; }, kInvalid,
     "value 0: dim 1 is -4, must be in [0, 2^31)"},
    {"MostNegativeDim", [](Recipe& r) { input(r).sizes[0] = INT32_MIN; }, kInvalid, "dim 0"},
    {"NumelWrapsToSmall",
     [](Recipe& r) {
       input(r) = planned_tensor({INT32_MAX, INT32_MAX, 5}, 0);
     },
     kInvalid, "overflows"},
    {"NumelWrapsToZero",
     [](Recipe& r) {
       input(r) = planned_tensor({1 << 30, 1 << 30, 16}, 0);
     },
     kInvalid, "overflows"},
    {"NumelWrapsBeforeZero",
     [](Recipe& r) {
       input(r) = planned_tensor({INT32_MAX, INT32_MAX, INT32_MAX, 0}, 0);
     },
     kInvalid, "overflows"},
    {"BytesOverflowOnly",
     [](Recipe& r) {
       input(r) = planned_tensor({1 << 30, 1 << 30, 2}, 0);
       input(r).scalar_type = static_cast<int8_t>(fb::ScalarType::DOUBLE);
     },
     kInvalid, "overflows"},
    {"ScalarTypeReserved", [](Recipe& r) { input(r).scalar_type = 9; }, kInvalid, "scalar type 9"},
    {"ScalarTypeBeyondLast", [](Recipe& r) { input(r).scalar_type = 30; }, kInvalid,
     "scalar type 30"},
    {"ScalarTypeNegative", [](Recipe& r) { input(r).scalar_type = -128; }, kInvalid,
     "scalar type -128"},
    {"DimOrderTooShort", [](Recipe& r) { input(r).dim_order = {0}; }, kInvalid,
     "1 entries in its dim order"},
    {"DimOrderTooLong",
     [](Recipe& r) {
       input(r).dim_order = {0, 1, 2};
     },
     kInvalid, "3 entries in its dim order"},
    {"DimOrderTwice",
     [](Recipe& r) {
       input(r).dim_order = {1, 1};
     },
     kInvalid, "permutation"},
    {"DimOrderPastRank",
     [](Recipe& r) {
       input(r).dim_order = {0, 2};
     },
     kInvalid, "permutation"},
    {"DimOrderPastMask",
     [](Recipe& r) {
       input(r).dim_order = {0, 255};
     },
     kInvalid, "permutation"},
    {"StorageOffsetNegative", [](Recipe& r) { input(r).storage_offset = -1; }, kInvalid,
     "storage offset -1"},
    {"StorageOffset", [](Recipe& r) { input(r).storage_offset = 4; }, kUnsupported,
     "storage offset 4"},
    {"LayoutNotStrided", [](Recipe& r) { input(r).layout = 1; }, kUnsupported, "layout 1"},
    {"UnboundedSizes", [](Recipe& r) { input(r).dynamism = 2; }, kUnsupported, "no bound"},
    {"DynamismUnknown", [](Recipe& r) { input(r).dynamism = 3; }, kInvalid, "dynamism 3"},
    {"DynamismNegative", [](Recipe& r) { input(r).dynamism = -1; }, kInvalid, "dynamism -1"},
    {"OtherDevice",
     [](Recipe& r) {
       input(r).extra = ExtraRecipe{{}, {}, fb::DeviceType::CUDA};
     },
     kUnsupported, "device type 1"},
    {"LocationUnknown",
     [](Recipe& r) {
       input(r).extra = ExtraRecipe{{}, static_cast<fb::TensorDataLocation>(2), {}};
     },
     kInvalid, "data location 2"},
    {"ExternalWithoutName",
     [](Recipe& r) {
       input(r).extra = ExtraRecipe{{}, fb::TensorDataLocation::EXTERNAL, {}};
     },
     kInvalid, "whose name is missing"},
    {"ExternalWithNulInName",
     [](Recipe& r) {
       input(r).extra = ExtraRecipe{std::string("a\0b", 3), fb::TensorDataLocation::EXTERNAL, {}};
     },
     kInvalid, "name"},
    {"InternalTensorWithNulInName",
     [](Recipe& r) {
       input(r).extra = ExtraRecipe{std::string("a\0b", 3), {}, {}};
     },
     kInvalid, "value 0: its name"},
    {"ConstantPastTable", [](Recipe& r) { constant(r).constant = 2; }, kInvalid,
     "entry 2 of constant data"},
    {"ConstantHuge", [](Recipe& r) { constant(r).constant = UINT32_MAX; }, kInvalid,
     "constant data"},
    {"ConstantLongerThanSegment", [](Recipe& r) { constant(r).sizes = {4}; }, kInvalid,
     "16 bytes at offset 0"},
    {"ConstantEndsPastSegment", [](Recipe& r) { r.constants->offsets[1] = 4; }, kInvalid,
     "12 bytes at offset 4"},
    {"ConstantMisaligned",
     [](Recipe& r) {
       r.constants->offsets[1] = 2;
       constant(r).sizes = {2};
     },
     kInvalid, "offset 2 of constant data"},
    {"ConstantWithoutConstants", [](Recipe& r) { r.constants.reset(); }, kInvalid, "constant 1"},
    {"OldConstantTooShort",
     [](Recipe& r) {
       r.constants.reset();
       r.constant_buffers = {{}, std::vector<uint8_t>(11)};
     },
     kInvalid, "12 bytes of constant 1, which has 11"},
    {"ConstantsTwice",
     [](Recipe& r) {
       r.constant_buffers = {{}, std::vector<uint8_t>(12)};
     },
     kInvalid, "declares its constants twice: 1 in a segment, 1 in the flatbuffer"},
    {"InitialValueWithoutAny", [](Recipe& r) { output(r).constant = 1; }, kInvalid,
     "initial value 1"},
    {"InitialValuePastSegment",
     [](Recipe& r) {
       output(r).constant = 1;
       r.mutable_data = {{0, {0, 0}}};
     },
     kInvalid, "24 bytes at offset 0 of mutable data"},
    {"InitialValuePastTable",
     [](Recipe& r) {
       output(r).constant = 2;
       r.mutable_data = {{0, {0, 0}}};
     },
     kInvalid, "entry 2 of mutable data"},

    // Plan and memory.
    {"ArenaZero", [](Recipe& r) { input(r).place->memory_id = 0; }, kInvalid, "arena 0"},
    {"ArenaPastCount", [](Recipe& r) { input(r).place->memory_id = 2; }, kInvalid, "arena 2"},
    {"ArenaHuge", [](Recipe& r) { input(r).place->memory_id = UINT32_MAX; }, kInvalid,
     "arena 4294967295"},
    {"PlacePastArena", [](Recipe& r) { output(r).place->offset = 44; }, kInvalid,
     "24 bytes at offset 44 of arena 1, which has 64"},
    {"PlaceOffsetWraps", [](Recipe& r) { output(r).place->offset = ~uint64_t{3}; }, kInvalid,
     "arena 1"},
    {"PlaceOffsetHighPart", [](Recipe& r) { output(r).place->offset = uint64_t{1} << 32; },
     kInvalid, "offset 4294967296"},
    {"PlaceMisaligned", [](Recipe& r) { output(r).place->offset = 33; }, kInvalid, "multiple of 4"},
    {"ArenaTooSmall", [](Recipe& r) { plan(r).arenas[1] = 55; }, kInvalid, "which has 55"},
    {"NoArenas", [](Recipe& r) { plan(r).arenas.clear(); }, kInvalid, "arena 1"},
    {"ArenaNegative", [](Recipe& r) { plan(r).arenas[1] = -1; }, kInvalid, "-1 bytes"},
    {"ArenaMostNegative", [](Recipe& r) { plan(r).arenas[1] = INT64_MIN; }, kInvalid, "arena 1"},
    {"TooManyArenas", [](Recipe& r) { plan(r).arenas.resize(1025); }, kInvalid,
     "it has 1025 arenas, must have at most 1024"},
    {"TooManyInputs", [](Recipe& r) { plan(r).inputs.resize(16385); }, kInvalid,
     "it has 16385 inputs, must have at most 16384"},
    {"TooManyOutputs", [](Recipe& r) { plan(r).outputs.resize(16385); }, kInvalid,
     "it has 16385 outputs, must have at most 16384"},
    {"ArenaBeyondLimit", [](Recipe& r) { plan(r).arenas[1] = int64_t{100} << 30; },
     Error::OutOfResources, "max_arena_bytes"},
    {"ArenaOfAllMemory", [](Recipe& r) { plan(r).arenas[1] = INT64_MAX; }, Error::OutOfResources,
     "max_arena_bytes"},
    {"ArenasOverflowTogether",
     [](Recipe& r) {
       plan(r).arenas = {0, 64, INT64_MAX, INT64_MAX, INT64_MAX};
     },
     Error::OutOfResources, "arena 2"},
    {"ArenaOnDevice",
     [](Recipe& r) {
       plan(r).devices = {{1, fb::DeviceType::CUDA}};
     },
     kUnsupported, "device type 1"},
    {"DeviceOfUnknownArena",
     [](Recipe& r) {
       plan(r).devices = {{2, fb::DeviceType::CPU}};
     },
     kInvalid, "arena 2"},

    // Instructions.
    {"NoChains", [](Recipe& r) { plan(r).chains.clear(); }, kInvalid, "no chain"},
    {"InputPastEnd", [](Recipe& r) { plan(r).inputs = {4}; }, kInvalid, "input 0 is value 4"},
    {"InputNegative", [](Recipe& r) { plan(r).inputs = {-1}; }, kInvalid, "input 0 is value -1"},
    {"OutputPastEnd",
     [](Recipe& r) {
       plan(r).outputs = {3, 4};
     },
     kInvalid, "output 1 is value 4"},
    {"OperatorPastEnd", [](Recipe& r) { call(r).first = 1; }, kInvalid, "operator 1"},
    {"OperatorNegative", [](Recipe& r) { call(r).first = -1; }, kInvalid, "operator -1"},
    {"ArgumentPastEnd", [](Recipe& r) { call(r).args[1] = 4; }, kInvalid,
     "argument 1 of instruction 0:0 is value 4"},
    {"ArgumentNegative", [](Recipe& r) { call(r).args[4] = -1; }, kInvalid, "argument 4"},
    {"InstructionWithoutBody", [](Recipe& r) { call(r).without_body = true; }, kInvalid,
     "instruction 0:0"},
    {"InstructionOfTypeNone", [](Recipe& r) { call(r).type = Arguments::NONE; }, kInvalid,
     "instruction 0:0"},
    {"InstructionUnknown", [](Recipe& r) { call(r).type = static_cast<Arguments>(6); }, kInvalid,
     "unknown type 6"},
    {"DelegateCallWithoutDelegates", [](Recipe& r) { call(r).type = Arguments::DelegateCall; },
     kInvalid, "delegate 0"},
    {"MoveFromPastEnd", [](Recipe& r) { add_instruction(r, Arguments::MoveCall, 4, 0); }, kInvalid,
     "value 4"},
    {"MoveToNegative", [](Recipe& r) { add_instruction(r, Arguments::MoveCall, 0, -1); }, kInvalid,
     "value -1"},
    {"MoveOfIntToTensor", [](Recipe& r) { add_instruction(r, Arguments::MoveCall, 2, 3); },
     kInvalid, "instruction 0:1 moves value 2 to value 3, which has another type"},
    {"MoveOfNoneToTensor",
     [](Recipe& r) {
       add_value(r, number_value(Types::Null, 0));
       add_instruction(r, Arguments::MoveCall, 4, 3);
     },
     kInvalid, "another type"},
    {"MoveToInput", [](Recipe& r) { add_instruction(r, Arguments::MoveCall, 3, 0); }, kInvalid,
     "value 0, which is an input"},
    {"MoveToConstant",
     [](Recipe& r) {
       add_value(r, planned_tensor({3}, 0));
       add_instruction(r, Arguments::MoveCall, 4, 1);
     },
     kInvalid, "value 1, which is a constant"},
    {"MoveToExternalConstant",
     [](Recipe& r) {
       constant(r).extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
       constant(r).constant = 0;
       add_value(r, planned_tensor({3}, 0));
       add_instruction(r, Arguments::MoveCall, 4, 1);
     },
     kInvalid, "value 1, which is a constant"},
    {"MoveToOtherRank",
     [](Recipe& r) {
       add_value(r, planned_tensor({6}, 0));
       add_instruction(r, Arguments::MoveCall, 4, 3);
     },
     kInvalid, "another rank"},
    {"MoveToOtherScalarType",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 0));
       plan(r).values[4].scalar_type = static_cast<int8_t>(fb::ScalarType::INT);
       add_instruction(r, Arguments::MoveCall, 4, 3);
     },
     kInvalid, "another scalar type"},
    {"MoveToOtherDimOrder",
     [](Recipe& r) {
       add_value(r, planned_tensor({2, 3}, 0));
       plan(r).values[4].dim_order = {1, 0};
       add_instruction(r, Arguments::MoveCall, 4, 3);
     },
     kInvalid, "another dim order"},
    {"JumpPastEnd", [](Recipe& r) { add_instruction(r, Arguments::JumpFalseCall, 0, 3); }, kInvalid,
     "destination 3"},
    {"JumpNegative", [](Recipe& r) { add_instruction(r, Arguments::JumpFalseCall, 0, -1); },
     kInvalid, "destination -1"},
    {"JumpOnUnknownValue", [](Recipe& r) { add_instruction(r, Arguments::JumpFalseCall, 9, 0); },
     kInvalid, "value 9"},
    {"FreeOfUnknownValue", [](Recipe& r) { add_instruction(r, Arguments::FreeCall, 4, 0); },
     kInvalid, "value 4"},
    {"OperatorWithoutName", [](Recipe& r) { plan(r).operators[0].name.reset(); }, kInvalid,
     "name of operator 0"},
    {"OperatorWithNul",
     [](Recipe& r) { plan(r).operators[0].name = std::string("aten::add\0x", 11); }, kInvalid,
     "name of operator 0"},
    {"OverloadWithNul",
     [](Recipe& r) { plan(r).operators[0].overload = std::string("o\0x", 3); }, kInvalid,
     "name of operator 0"},
    {"OperatorNameAndOverloadTooLong",
     [](Recipe& r) {
       plan(r).operators[0] = {std::string(200, 'n'), std::string(200, 'o')};
     },
     kInvalid, "name of operator 0"},
    {"MovesTimesInputs",
     [](Recipe& r) {
       plan(r).inputs.assign(16'384, 0);
       add_value(r, planned_tensor({2, 3}, 0));
       for (int i = 0; i < 200; ++i) add_instruction(r, Arguments::MoveCall, 3, 4);
     },
     kInvalid, "too many moves for its 16384 inputs"},
    {"OperatorNameTooLong",
     [](Recipe& r) { plan(r).operators[0].overload = std::string(1000, 'o'); }, kInvalid,
     "name of operator 0"},

    // Delegates.
    {"DelegateWithoutId", [](Recipe& r) { add_delegate(r, [](auto& d) { d.id.reset(); }); },
     kInvalid, "backend of delegate 0"},
    {"DelegateWithNulInId",
     [](Recipe& r) { add_delegate(r, [](auto& d) { d.id = std::string("X\0Y", 3); }); }, kInvalid,
     "backend of delegate 0"},
    {"DelegateWithoutPayload",
     [](Recipe& r) { add_delegate(r, [](auto& d) { d.without_payload = true; }); }, kInvalid,
     "no payload"},
    {"DelegatePayloadPastEnd", [](Recipe& r) { add_delegate(r, [](auto& d) { d.index = 1; }); },
     kInvalid, "number 1"},
    {"DelegateInlinePayloadPastEnd",
     [](Recipe& r) { add_delegate(r, [](auto& d) { d.location = 0; }); }, kInvalid, "there are 0"},
    {"DelegateLocationUnknown", [](Recipe& r) { add_delegate(r, [](auto& d) { d.location = 2; }); },
     kInvalid, "location 2"},
    {"CompileSpecWithoutKey",
     [](Recipe& r) { add_delegate(r, [](auto& d) {
                       d.specs = {{std::nullopt, "v"}};
                     }); }, kInvalid,
     "key of compile spec 0"},
    {"CompileSpecWithNul",
     [](Recipe& r) { add_delegate(r, [](auto& d) {
                       d.specs = {{std::string("k\0", 2), ""}};
                     }); },
     kInvalid, "key of compile spec 0"},
};

TEST(StructureTest, RunsTheProgramThatTheAttacksStartFrom) { EXPECT_TRUE(run(Recipe()).all_ok()); }

class LoadAttackTest : public ::testing::TestWithParam<Attack> {};

TEST_P(LoadAttackTest, IsRefusedWithItsReason) {
  QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  EXPECT_EQ(report.load, GetParam().error) << to_string(report.load);
  EXPECT_NE(QuietLog::last().find(GetParam().words), std::string::npos) << QuietLog::last();
  EXPECT_EQ(report.leaked_buffers, 0);
}

INSTANTIATE_TEST_SUITE_P(All, LoadAttackTest, ::testing::ValuesIn(kLoadAttacks),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
