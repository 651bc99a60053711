// SPDX-License-Identifier: Apache-2.0
//
// One walk over the shape of a schema gives the answer of the functions that flatc makes of the
// schema, whatever is damaged.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "flatbuffers/flatbuffers.h"
#include "runtime/program/table_verifier.h"
#include "schema/additions_generated.h"
#include "schema/additions_shape.h"
#include "schema/program_generated.h"
#include "schema/program_shape.h"
#include "test/faults/golden.h"

namespace petrel::faults {
namespace {

namespace add = schema::additions;
namespace fb = schema::program;
using runtime::TableCheck;

using Generated = bool (*)(flatbuffers::Verifier&);

// In memory that suits its numbers.
class Aligned {
 public:
  explicit Aligned(const std::vector<uint8_t>& bytes)
      : words_(bytes.size() / sizeof(uint64_t) + 1), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), data());
  }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(words_.data()); }
  size_t size() const { return size_; }

 private:
  std::vector<uint64_t> words_;
  size_t size_;
};

struct Schema {
  const schema::SchemaShape& shape;
  const char* identifier;
  Generated generated;
};

TableCheck check(const Schema& schema, Aligned& bytes) {
  return runtime::check_tables({bytes.data(), bytes.size()}, schema.shape, schema.identifier);
}

bool is_good_for_flatbuffers(const Schema& schema, Aligned& bytes) {
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 4 + 1);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  return schema.generated(verifier);
}

struct Answers {
  size_t good = 0;
  size_t bad = 0;
  // Refused for parts that are referred to more than once, which flatbuffers does not count.
  size_t too_many_parts = 0;
};

// Whether ours is flatbuffers' answer, or that there are too many parts.
bool agree(const Schema& schema, Aligned& bytes, Answers* answers) {
  const bool expected = is_good_for_flatbuffers(schema, bytes);
  ++(expected ? answers->good : answers->bad);
  const TableCheck answer = check(schema, bytes);
  if (answer != TableCheck::TooManyParts) return expected == (answer == TableCheck::Good);
  ++answers->too_many_parts;
  return true;
}

// Writes each of some values at each place; counts the answers, which must be the same.
template <typename T>
void compare(const Schema& schema, Aligned& bytes, Answers* answers) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); ++at) {
    T before;
    std::memcpy(&before, bytes.data() + at, sizeof(T));
    const T values[] = {0,
                        1,
                        3,
                        4,
                        static_cast<T>(before + 1),
                        static_cast<T>(before + 4),
                        static_cast<T>(before - 4),
                        static_cast<T>(bytes.size() - at),
                        static_cast<T>(bytes.size() - at - 1),
                        static_cast<T>(T{1} << (8 * sizeof(T) - 1)),
                        static_cast<T>(~T{0})};
    for (const T value : values) {
      std::memcpy(bytes.data() + at, &value, sizeof(T));
      ASSERT_TRUE(agree(schema, bytes, answers)) << +value << " at " << at;
    }
    std::memcpy(bytes.data() + at, &before, sizeof(T));
  }
}

// Also cut off everywhere.
Answers compare(const Schema& schema, const std::vector<uint8_t>& bytes) {
  Answers answers;
  Aligned whole(bytes);
  EXPECT_TRUE(is_good_for_flatbuffers(schema, whole));
  EXPECT_EQ(check(schema, whole), TableCheck::Good);
  compare<uint8_t>(schema, whole, &answers);
  compare<uint16_t>(schema, whole, &answers);
  compare<uint32_t>(schema, whole, &answers);
  for (size_t size = 0; size < bytes.size(); ++size) {
    Aligned part({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)});
    EXPECT_TRUE(agree(schema, part, &answers)) << "cut off at " << size;
  }
  // A damaged byte seldom makes two of one part.
  EXPECT_LT(answers.too_many_parts, (answers.good + answers.bad) / 20);
  return answers;
}

const Schema kProgram = {schema::kProgramShape, fb::ProgramIdentifier(), &fb::VerifyProgramBuffer};
const Schema kAdditions = {schema::kAdditionsShape, add::AdditionsIdentifier(),
                           &add::VerifyAdditionsBuffer};

// The flatbuffer in the first bytes of a program, without what is behind it.
std::vector<uint8_t> tables_of(const std::vector<uint8_t>& program) {
  constexpr size_t kHeader = 8;
  constexpr size_t kSizeInHeader = 16;
  if (std::memcmp(program.data() + kHeader, "eh00", 4) != 0) return program;
  const auto size = flatbuffers::ReadScalar<uint64_t>(program.data() + kSizeInHeader);
  return {program.begin(), program.begin() + static_cast<ptrdiff_t>(size)};
}

TEST(TableVerifier, AnswersAsGeneratedCodeForPrograms) {
  Answers all;
  for (const std::string& name : golden_names()) {
    SCOPED_TRACE(name);
    const Answers answers = compare(kProgram, tables_of(load_golden(name).bytes));
    all.good += answers.good;
    all.bad += answers.bad;
  }
  EXPECT_GT(all.good, 1000u);
  EXPECT_GT(all.bad, 1000u);
}

// Each kind of value and of instruction, and lists of all that a program may have.
std::vector<uint8_t> program_of_everything() {
  flatbuffers::FlatBufferBuilder builder;
  const auto text = builder.CreateString("text");
  const std::vector<int32_t> numbers = {1, 2};
  const std::vector<int64_t> longs = {1, 2};
  const std::vector<uint8_t> bytes = {1, 2};
  const std::vector<double> doubles = {1, 2};
  const auto some = builder.CreateVector(numbers);
  const auto few = builder.CreateVector(bytes);
  const auto many = builder.CreateVector(longs);
  const auto tensor = fb::CreateTensor(
      builder, fb::ScalarType::FLOAT, 0, some, few, false, 1,
      fb::CreateAllocationDetails(builder, 1, 16, 1), 1, fb::TensorShapeDynamism::DYNAMIC_BOUND,
      fb::CreateExtraTensorInfo(builder, 1, text, fb::TensorDataLocation::EXTERNAL));
  std::vector<flatbuffers::Offset<fb::EValue>> values;
  const auto add_value = [&](fb::KernelTypes type, flatbuffers::Offset<void> value) {
    values.push_back(fb::CreateEValue(builder, type, value));
  };
  add_value(fb::KernelTypes::Null, fb::CreateNull(builder).Union());
  add_value(fb::KernelTypes::Int, fb::CreateInt(builder, 5).Union());
  add_value(fb::KernelTypes::Bool, fb::CreateBool(builder, true).Union());
  add_value(fb::KernelTypes::Double, fb::CreateDouble(builder, 2.5).Union());
  add_value(fb::KernelTypes::Tensor, tensor.Union());
  add_value(fb::KernelTypes::String, fb::CreateString(builder, text).Union());
  add_value(fb::KernelTypes::IntList, fb::CreateIntList(builder, many).Union());
  add_value(fb::KernelTypes::DoubleList,
            fb::CreateDoubleList(builder, builder.CreateVector(doubles)).Union());
  add_value(fb::KernelTypes::BoolList, fb::CreateBoolList(builder, few).Union());
  add_value(fb::KernelTypes::TensorList, fb::CreateTensorList(builder, some).Union());
  add_value(fb::KernelTypes::OptionalTensorList,
            fb::CreateOptionalTensorList(builder, some).Union());
  std::vector<flatbuffers::Offset<fb::Instruction>> instructions;
  const auto add_instruction = [&](fb::InstructionArguments type, flatbuffers::Offset<void> args) {
    instructions.push_back(fb::CreateInstruction(builder, type, args));
  };
  using Arguments = fb::InstructionArguments;
  add_instruction(Arguments::KernelCall, fb::CreateKernelCall(builder, 1, some).Union());
  add_instruction(Arguments::DelegateCall, fb::CreateDelegateCall(builder, 1, some).Union());
  add_instruction(Arguments::MoveCall, fb::CreateMoveCall(builder, 1, 2).Union());
  add_instruction(Arguments::JumpFalseCall, fb::CreateJumpFalseCall(builder, 1, 2).Union());
  add_instruction(Arguments::FreeCall, fb::CreateFreeCall(builder, 1).Union());
  const auto frames = fb::CreateFrameList(
      builder, builder.CreateVector(std::vector{fb::CreateFrame(builder, text, 1, text, text)}));
  const auto chain = fb::CreateChain(builder, some, some, builder.CreateVector(instructions),
                                     builder.CreateVector(std::vector{frames}));
  const auto delegate = fb::CreateBackendDelegate(
      builder, text, fb::CreateBackendDelegateDataReference(builder, fb::DataLocation::SEGMENT, 1),
      builder.CreateVector(std::vector{fb::CreateCompileSpec(builder, text, few)}));
  const auto plan = fb::CreateExecutionPlan(
      builder, text, fb::CreateContainerMetadata(builder, text, text), builder.CreateVector(values),
      some, some, builder.CreateVector(std::vector{chain}),
      builder.CreateVector(std::vector{fb::CreateOperator(builder, text, text)}),
      builder.CreateVector(std::vector{delegate}), many,
      builder.CreateVector(std::vector{fb::CreateNonConstBufferDevice(builder, 1)}));
  const auto offsets =
      fb::CreateSubsegmentOffsets(builder, 1, builder.CreateVector(std::vector<uint64_t>{1, 2}));
  fb::FinishProgramBuffer(
      builder,
      fb::CreateProgram(
          builder, 1, builder.CreateVector(std::vector{plan}),
          builder.CreateVector(std::vector{fb::CreateBuffer(builder, few)}),
          builder.CreateVector(std::vector{fb::CreateBackendDelegateInlineData(builder, few)}),
          builder.CreateVector(std::vector{fb::CreateDataSegment(builder, 16, 32)}), offsets,
          builder.CreateVector(std::vector{offsets}),
          builder.CreateVector(std::vector{fb::CreateNamedData(builder, text, 1)})));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(TableVerifier, AnswersAsGeneratedCodeForEverythingInAProgram) {
  const Answers answers = compare(kProgram, program_of_everything());
  EXPECT_GT(answers.good, 1000u);
  EXPECT_GT(answers.bad, 1000u);
}

TEST(TableVerifier, AnswersAsGeneratedCodeForAdditions) {
  flatbuffers::FlatBufferBuilder builder;
  const auto text = [&] { return builder.CreateString("text"); };
  const auto texts = [&] { return builder.CreateVector(std::vector{text(), text()}); };
  const auto some = [&] { return builder.CreateVector(std::vector<int32_t>{1, 2}); };
  const auto few = [&] { return builder.CreateVector(std::vector<uint8_t>{1, 2}); };
  const std::vector<add::ScratchPlace> places(2, add::ScratchPlace(1, 2, 3, 4, 5));
  const std::vector<add::LeastSize> sizes(2, add::LeastSize(1, 2, 3));
  const auto method = add::CreateMethodAdditions(
      builder, builder.CreateVectorOfStructs(places), builder.CreateVectorOfStructs(sizes),
      builder.CreateVector(std::vector<uint32_t>{1, 2}), texts());
  const auto weight = add::CreateWeight(builder, text(), 6, some(), few(), 16, few(), texts());
  add::FinishAdditionsBuffer(
      builder, add::CreateAdditions(builder, 0, builder.CreateVector(std::vector{method}),
                                    builder.CreateVector(std::vector{weight}), few(), texts()));
  const Answers answers = compare(
      kAdditions, {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()});
  EXPECT_GT(answers.good, 100u);
  EXPECT_GT(answers.bad, 100u);
}

}  // namespace
}  // namespace petrel::faults
