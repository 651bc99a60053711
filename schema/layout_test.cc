// SPDX-License-Identifier: Apache-2.0
//
// The layout on disk is shared with others and can never change: the place of
// every field in its table's vtable (4 + 2 * id), the numbers of enumerators and
// of union members, identifiers and alignment.

#include <gtest/gtest.h>

#include <cstring>

#include "schema/formats.h"
#include "schema/additions_generated.h"
#include "schema/flat_data_generated.h"
#include "schema/program_generated.h"
#include "schema/xnnpack_generated.h"

namespace petrel::schema {
namespace {

constexpr int slot(int id) { return 4 + 2 * id; }

TEST(FormatsTest, KeepsMagicNumbersKeysAndAlignment) {
  EXPECT_STREQ(kProgramIdentifier, "ET12");
  EXPECT_STREQ(kProgramHeaderMagic, "eh00");
  EXPECT_STREQ(kDataFileIdentifier, "FT01");
  EXPECT_STREQ(kDataFileHeaderMagic, "FH01");
  EXPECT_STREQ(kXnnpackHeaderMagic, "XH00");
  EXPECT_STREQ(kXnnpackIdentifier, "XN01");
  EXPECT_STREQ(kXnnpackOldIdentifier, "XN00");
  EXPECT_EQ(sizeof(kPackedWeightsMagic) - 1, kPackedWeightsMagicBytes);
  EXPECT_STREQ(kAdditionsKey, "petrel.program");
  EXPECT_EQ(kIdentifierOffset, 4u);
  EXPECT_EQ(kHeaderOffset, 8u);
  EXPECT_EQ(kDataAlignment, 16u);
}

TEST(ProgramLayoutTest, KeepsFieldIds) {
  using P = program::Program;
  EXPECT_EQ(P::VT_VERSION, slot(0));
  EXPECT_EQ(P::VT_EXECUTION_PLAN, slot(1));
  EXPECT_EQ(P::VT_CONSTANT_BUFFER, slot(2));
  EXPECT_EQ(P::VT_BACKEND_DELEGATE_DATA, slot(3));
  EXPECT_EQ(P::VT_SEGMENTS, slot(4));
  EXPECT_EQ(P::VT_CONSTANT_SEGMENT, slot(5));
  EXPECT_EQ(P::VT_MUTABLE_DATA_SEGMENTS, slot(6));
  EXPECT_EQ(P::VT_NAMED_DATA, slot(7));
  using E = program::ExecutionPlan;
  EXPECT_EQ(E::VT_NAME, slot(0));
  EXPECT_EQ(E::VT_CONTAINER_META_TYPE, slot(1));
  EXPECT_EQ(E::VT_VALUES, slot(2));
  EXPECT_EQ(E::VT_INPUTS, slot(3));
  EXPECT_EQ(E::VT_OUTPUTS, slot(4));
  EXPECT_EQ(E::VT_CHAINS, slot(5));
  EXPECT_EQ(E::VT_OPERATORS, slot(6));
  EXPECT_EQ(E::VT_DELEGATES, slot(7));
  EXPECT_EQ(E::VT_NON_CONST_BUFFER_SIZES, slot(8));
  EXPECT_EQ(E::VT_NON_CONST_BUFFER_DEVICE, slot(9));
  using T = program::Tensor;
  EXPECT_EQ(T::VT_SCALAR_TYPE, slot(0));
  EXPECT_EQ(T::VT_STORAGE_OFFSET, slot(1));
  EXPECT_EQ(T::VT_SIZES, slot(2));
  EXPECT_EQ(T::VT_DIM_ORDER, slot(3));
  EXPECT_EQ(T::VT_REQUIRES_GRAD, slot(4));
  EXPECT_EQ(T::VT_DATA_BUFFER_IDX, slot(5));
  EXPECT_EQ(T::VT_ALLOCATION_INFO, slot(6));
  EXPECT_EQ(T::VT_LAYOUT, slot(7));
  EXPECT_EQ(T::VT_SHAPE_DYNAMISM, slot(8));
  EXPECT_EQ(T::VT_EXTRA_TENSOR_INFO, slot(9));
  using X = program::ExtraTensorInfo;
  EXPECT_EQ(X::VT_MUTABLE_DATA_SEGMENTS_IDX, slot(0));
  EXPECT_EQ(X::VT_FULLY_QUALIFIED_NAME, slot(1));
  EXPECT_EQ(X::VT_LOCATION, slot(2));
  EXPECT_EQ(X::VT_DEVICE_TYPE, slot(3));
  EXPECT_EQ(X::VT_DEVICE_INDEX, slot(4));
  using A = program::AllocationDetails;
  EXPECT_EQ(A::VT_MEMORY_ID, slot(0));
  EXPECT_EQ(A::VT_MEMORY_OFFSET_LOW, slot(1));
  EXPECT_EQ(A::VT_MEMORY_OFFSET_HIGH, slot(2));
  // A union takes two ids: its tag, then its table.
  EXPECT_EQ(program::EValue::VT_VAL_TYPE, slot(0));
  EXPECT_EQ(program::EValue::VT_VAL, slot(1));
  EXPECT_EQ(program::Chain::VT_INSTRUCTIONS, slot(2));
  EXPECT_EQ(program::Chain::VT_STACKTRACE, slot(3));
  EXPECT_EQ(program::BackendDelegate::VT_ID, slot(0));
  EXPECT_EQ(program::BackendDelegate::VT_PROCESSED, slot(1));
  EXPECT_EQ(program::BackendDelegate::VT_COMPILE_SPECS, slot(2));
  EXPECT_EQ(program::BackendDelegateDataReference::VT_LOCATION, slot(0));
  EXPECT_EQ(program::BackendDelegateDataReference::VT_INDEX, slot(1));
  EXPECT_EQ(program::SubsegmentOffsets::VT_SEGMENT_INDEX, slot(0));
  EXPECT_EQ(program::SubsegmentOffsets::VT_OFFSETS, slot(1));
  EXPECT_EQ(program::NamedData::VT_KEY, slot(0));
  EXPECT_EQ(program::NamedData::VT_SEGMENT_INDEX, slot(1));
}

TEST(ProgramLayoutTest, KeepsNumbers) {
  EXPECT_EQ(static_cast<int>(program::KernelTypes::Null), 1);
  EXPECT_EQ(static_cast<int>(program::KernelTypes::Tensor), 5);
  EXPECT_EQ(static_cast<int>(program::KernelTypes::OptionalTensorList), 11);
  EXPECT_EQ(static_cast<int>(program::InstructionArguments::KernelCall), 1);
  EXPECT_EQ(static_cast<int>(program::InstructionArguments::FreeCall), 5);
  EXPECT_EQ(static_cast<int>(program::ScalarType::DOUBLE), 7);
  EXPECT_EQ(static_cast<int>(program::ScalarType::BOOL), 11);
  EXPECT_EQ(static_cast<int>(program::ScalarType::BFLOAT16), 15);
  EXPECT_EQ(static_cast<int>(program::ScalarType::BITS16), 22);
  EXPECT_EQ(static_cast<int>(program::ScalarType::UINT64), 29);
  EXPECT_STREQ(program::ProgramIdentifier(), kProgramIdentifier);
}

TEST(FlatDataLayoutTest, KeepsFieldIdsAndNumbers) {
  EXPECT_EQ(flat_data::FlatData::VT_VERSION, slot(0));
  EXPECT_EQ(flat_data::FlatData::VT_SEGMENTS, slot(1));
  EXPECT_EQ(flat_data::FlatData::VT_NAMED_DATA, slot(2));
  EXPECT_EQ(flat_data::NamedData::VT_KEY, slot(0));
  EXPECT_EQ(flat_data::NamedData::VT_SEGMENT_INDEX, slot(1));
  EXPECT_EQ(flat_data::NamedData::VT_TENSOR_LAYOUT, slot(2));
  EXPECT_EQ(flat_data::TensorLayout::VT_SCALAR_TYPE, slot(0));
  EXPECT_EQ(flat_data::TensorLayout::VT_SIZES, slot(1));
  EXPECT_EQ(flat_data::TensorLayout::VT_DIM_ORDER, slot(2));
  EXPECT_STREQ(flat_data::FlatDataIdentifier(), kDataFileIdentifier);
  for (const program::ScalarType type : program::EnumValuesScalarType()) {
    EXPECT_STREQ(flat_data::EnumNameScalarType(static_cast<flat_data::ScalarType>(type)),
                 program::EnumNameScalarType(type));
  }
}

TEST(AdditionsLayoutTest, KeepsFieldIdsAndStructs) {
  using A = additions::Additions;
  EXPECT_EQ(A::VT_VERSION, slot(0));
  EXPECT_EQ(A::VT_METHODS, slot(1));
  EXPECT_EQ(A::VT_WEIGHTS, slot(2));
  EXPECT_EQ(A::VT_STRUCTURE, slot(3));
  EXPECT_EQ(A::VT_RECIPE, slot(4));
  using W = additions::Weight;
  EXPECT_EQ(W::VT_KEY, slot(0));
  EXPECT_EQ(W::VT_SCALAR_TYPE, slot(1));
  EXPECT_EQ(W::VT_SIZES, slot(2));
  EXPECT_EQ(W::VT_DIM_ORDER, slot(3));
  EXPECT_EQ(W::VT_BYTES, slot(4));
  EXPECT_EQ(W::VT_SHA256, slot(5));
  EXPECT_EQ(additions::MethodAdditions::VT_SCRATCH, slot(0));
  EXPECT_STREQ(additions::AdditionsIdentifier(), "PA01");
  const additions::ScratchPlace place(0x11, 0x22, 0x33, 0x44, 0x55);
  uint8_t bytes[32] = {};
  ASSERT_EQ(sizeof(place), sizeof(bytes));
  std::memcpy(bytes, &place, sizeof(bytes));
  EXPECT_EQ(bytes[0], 0x11);
  EXPECT_EQ(bytes[8], 0x22);
  EXPECT_EQ(bytes[16], 0x33);
  EXPECT_EQ(bytes[20], 0x44);
  EXPECT_EQ(bytes[24], 0x55);
}

TEST(XnnpackLayoutTest, KeepsFieldIdsAndNumbers) {
  using G = xnnpack::Graph;
  EXPECT_EQ(G::VT_VERSION, slot(0));
  EXPECT_EQ(G::VT_NODES, slot(1));
  EXPECT_EQ(G::VT_VALUES, slot(2));
  EXPECT_EQ(G::VT_NUM_EXTERNS, slot(3));
  EXPECT_EQ(G::VT_INPUT_IDS, slot(4));
  EXPECT_EQ(G::VT_OUTPUT_IDS, slot(5));
  EXPECT_EQ(G::VT_CONSTANT_BUFFER, slot(6));
  EXPECT_EQ(G::VT_CONSTANT_DATA, slot(8));
  using V = xnnpack::TensorValue;
  EXPECT_EQ(V::VT_DATATYPE, slot(0));
  EXPECT_EQ(V::VT_DIMS, slot(2));
  EXPECT_EQ(V::VT_CONSTANT_BUFFER_IDX, slot(3));
  EXPECT_EQ(V::VT_EXTERNAL_ID, slot(4));
  EXPECT_EQ(V::VT_FLAGS, slot(5));
  EXPECT_EQ(V::VT_ID_OUT, slot(6));
  EXPECT_EQ(V::VT_DQ_DATATYPE, slot(7));
  EXPECT_EQ(xnnpack::Node::VT_NODE_TYPE, slot(0));
  EXPECT_EQ(xnnpack::Node::VT_DEBUG_HANDLE, slot(2));
  EXPECT_EQ(xnnpack::Node::VT_OUTPUT_MIN_MAX, slot(3));
  EXPECT_EQ(xnnpack::Conv::VT_PADDING_TOP, slot(0));
  EXPECT_EQ(xnnpack::Conv::VT_FLAGS, slot(19));
  EXPECT_EQ(xnnpack::Concatenate::VT_INPUT5_ID, slot(7));
  EXPECT_EQ(xnnpack::PerChannelGroupQuant::VT_SCALE_BUFFER_IDX, slot(4));
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::Add), 1);
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::Softmax), 3);
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::DepthwiseConv2d), 13);
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::StaticReshape), 20);
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::Elu), 29);
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::ConvTranspose2d), 39);
  EXPECT_EQ(static_cast<int>(xnnpack::NodeUnion::Cos), 47);
  EXPECT_EQ(static_cast<int>(xnnpack::QuantParams::PerChannelGroupQuant), 4);
  EXPECT_EQ(static_cast<int>(xnnpack::Datatype::BF16), 14);
  EXPECT_STREQ(xnnpack::GraphIdentifier(), kXnnpackIdentifier);
}

// Bytes inside a flatbuffer are aligned for any kernel.
TEST(ProgramLayoutTest, AlignsBytesTo16) {
  for (size_t length = 1; length < 20; ++length) {
    flatbuffers::FlatBufferBuilder builder;
    const std::vector<uint8_t> bytes(length, 1);
    const auto buffer = program::CreateBufferDirect(builder, &bytes);
    const auto payload = program::CreateBackendDelegateInlineDataDirect(builder, &bytes);
    const std::vector<flatbuffers::Offset<program::Buffer>> buffers = {buffer};
    const std::vector<flatbuffers::Offset<program::BackendDelegateInlineData>> payloads = {payload};
    program::FinishProgramBuffer(
        builder, program::CreateProgramDirect(builder, 0, nullptr, &buffers, &payloads));
    const uint8_t* const start = builder.GetBufferPointer();
    const program::Program* const read = program::GetProgram(start);
    EXPECT_EQ((read->constant_buffer()->Get(0)->storage()->data() - start) % 16, 0);
    EXPECT_EQ((read->backend_delegate_data()->Get(0)->data()->data() - start) % 16, 0);
  }
}

}  // namespace
}  // namespace petrel::schema
