// SPDX-License-Identifier: Apache-2.0
//
// Files that are wrong around the flatbuffer, and flatbuffers that are wrong as
// such: header, sizes, offsets, alignment in memory, and structures that are
// small on disk and large to visit.

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

#include "runtime/core/data_loader.h"
#include "runtime/executor/program.h"
#include "runtime/program/program_verifier.h"
#include "test/faults/recipe.h"
#include "test/faults/runner.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Program;
using runtime::ProgramOptions;
using runtime::Result;

using Bytes = std::vector<uint8_t>;

Report run(const Bytes& bytes) {
  const Golden golden;
  Faults faults;
  return run_program(bytes, golden, &faults);
}

Error load(const Bytes& bytes) { return run(bytes).load; }

void write(Bytes* bytes, size_t position, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    (*bytes)[position + i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

uint64_t read(const Bytes& bytes, size_t position, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | bytes[position + i];
  return value;
}

// Places in the header.
constexpr size_t kRoot = 0;
constexpr size_t kLength = 12;
constexpr size_t kProgramSize = 16;
constexpr size_t kBase = 24;
constexpr size_t kDataSize = 32;

class ContainerTest : public ::testing::Test {
 protected:
  // Loads the file with one number changed.
  Error load_with(size_t position, uint64_t value, size_t size) {
    Bytes bytes = bytes_;
    write(&bytes, position, value, size);
    return load(bytes);
  }
  bool message_has(const char* words) const {
    return QuietLog::last().find(words) != std::string::npos;
  }

  const Bytes bytes_ = build(Recipe());
  QuietLog quiet_;
};

TEST_F(ContainerTest, RefusesEmptyAndTinyFiles) {
  for (size_t size = 0; size < 64; ++size) {
    EXPECT_EQ(load(Bytes(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size))),
              Error::InvalidProgram);
    EXPECT_TRUE(message_has("at least 64")) << QuietLog::last();
    EXPECT_EQ(load(Bytes(size, 0)), Error::InvalidProgram);
  }
}

TEST_F(ContainerTest, RefusesFilesOfOneByteRepeated) {
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(load(Bytes(256, static_cast<uint8_t>(byte))), Error::InvalidProgram);
  }
}

TEST_F(ContainerTest, RefusesOtherIdentifiers) {
  for (const char* identifier : {"ET11", "ET13", "XN01", "FT01", "12TE", "    "}) {
    Bytes bytes = bytes_;
    std::memcpy(bytes.data() + 4, identifier, 4);
    EXPECT_EQ(load(bytes), Error::InvalidProgram);
    EXPECT_TRUE(message_has("ET12")) << QuietLog::last();
  }
}

TEST_F(ContainerTest, RefusesBadHeaderLengths) {
  for (const uint64_t length : {0, 1, 8, 23}) {
    EXPECT_EQ(load_with(kLength, length, 4), Error::InvalidProgram);
    EXPECT_TRUE(message_has("header's length")) << QuietLog::last();
  }
}

TEST_F(ContainerTest, TakesAnyLongerHeaderLength) {
  for (const uint64_t length : {24, 25, 31, 32, 33, 100000, 0x7fffffff}) {
    EXPECT_EQ(load_with(kLength, length, 4), Error::Ok) << length;
  }
  EXPECT_EQ(load_with(kLength, UINT32_MAX, 4), Error::Ok);
}

TEST_F(ContainerTest, RefusesBadProgramSizes) {
  const uint64_t size = bytes_.size();
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{63}, size + 1, uint64_t{1} << 31,
                               uint64_t{1} << 32, UINT64_MAX}) {
    EXPECT_EQ(load_with(kProgramSize, value, 8), Error::InvalidProgram) << value;
    EXPECT_TRUE(message_has("program size")) << QuietLog::last();
  }
  // Inside the flatbuffer: cut off.
  for (uint64_t value = 64; value < read(bytes_, kProgramSize, 8); ++value) {
    EXPECT_EQ(load_with(kProgramSize, value, 8), Error::InvalidProgram) << value;
  }
}

TEST_F(ContainerTest, RefusesBadSegmentBases) {
  const uint64_t program_size = read(bytes_, kProgramSize, 8);
  for (const uint64_t value : {uint64_t{1}, program_size - 1, uint64_t{bytes_.size()} + 1,
                               uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 11}) {
    EXPECT_EQ(load_with(kBase, value, 8), Error::InvalidProgram) << value;
    EXPECT_TRUE(message_has("segment base")) << QuietLog::last();
  }
  EXPECT_EQ(load_with(kBase, 0, 8), Error::InvalidProgram);
  EXPECT_TRUE(message_has("not where they are")) << QuietLog::last();
  // Possible, but the segment is then misaligned.
  EXPECT_EQ(load_with(kDataSize, 0, 8), Error::Ok);
  Bytes bytes = bytes_;
  bytes.resize(bytes.size() + 16);
  write(&bytes, kBase, read(bytes_, kBase, 8) + 1, 8);
  EXPECT_EQ(load(bytes), Error::InvalidProgram);
  EXPECT_TRUE(message_has("multiple of 16")) << QuietLog::last();
}

TEST_F(ContainerTest, RefusesSegmentsWithoutABase) {
  Bytes bytes = bytes_;
  write(&bytes, kBase, 0, 8);
  write(&bytes, kDataSize, 0, 8);
  EXPECT_EQ(load(bytes), Error::InvalidProgram);
  EXPECT_TRUE(message_has("segment 0")) << QuietLog::last();
}

TEST_F(ContainerTest, RefusesBadDataSizes) {
  for (const uint64_t value :
       {uint64_t{13}, uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - read(bytes_, kBase, 8) + 1}) {
    EXPECT_EQ(load_with(kDataSize, value, 8), Error::InvalidProgram) << value;
    EXPECT_TRUE(message_has("cut off")) << QuietLog::last();
  }
  EXPECT_EQ(load_with(kDataSize, 11, 8), Error::InvalidProgram);
  EXPECT_TRUE(message_has("segment 0")) << QuietLog::last();
}

TEST_F(ContainerTest, RefusesBadRootOffsets) {
  const uint64_t program_size = read(bytes_, kProgramSize, 8);
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{1}, uint64_t{4}, uint64_t{8}, program_size - 1, program_size,
        program_size + 4, uint64_t{0x7fffffff}, uint64_t{0x80000000}, uint64_t{0xffffffff}}) {
    EXPECT_EQ(load_with(kRoot, value, 4), Error::InvalidProgram) << value;
  }
}

TEST_F(ContainerTest, RefusesVtablesOutside) {
  const uint64_t root = read(bytes_, kRoot, 4);
  for (const uint32_t offset : {0x7fffffffu, 0x80000000u, 0xffffffffu, 0x00010001u, 1u, 3u,
                                static_cast<uint32_t>(root) + 1}) {
    EXPECT_EQ(load_with(root, offset, 4), Error::InvalidProgram) << offset;
  }
}

TEST_F(ContainerTest, RefusesBigEndianFiles) {
  Bytes bytes = bytes_;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    if (i == 4 || i == 8) continue;  // The magic words.
    std::swap(bytes[i], bytes[i + 3]);
    std::swap(bytes[i + 1], bytes[i + 2]);
  }
  EXPECT_NE(load(bytes), Error::Ok);
}

// Hands out a pointer into the buffer itself.
class DirectLoader final : public DataLoader {
 public:
  DirectLoader(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    return FreeableBuffer(data_ + offset, size, nullptr);
  }
  Result<size_t> size() const override { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

TEST_F(ContainerTest, RefusesMemoryThatIsNotAligned) {
  alignas(64) static uint8_t memory[4096];
  ASSERT_LT(bytes_.size() + 64, sizeof(memory));
  ProgramOptions options;
  options.registry = &test_registry();
  for (size_t shift = 0; shift < 64; ++shift) {
    std::memcpy(memory + shift, bytes_.data(), bytes_.size());
    DirectLoader loader(memory + shift, bytes_.size());
    const Result<Program> program = Program::load(&loader, options);
    EXPECT_EQ(program.error(), shift % 16 == 0 ? Error::Ok : Error::AccessFailed) << shift;
  }
}

TEST_F(ContainerTest, TellsProgramsFromOtherFiles) {
  using Status = Program::HeaderStatus;
  EXPECT_EQ(Program::check_header(bytes_.data(), 63), Status::ShortData);
  EXPECT_EQ(Program::check_header(bytes_.data(), 64), Status::CompatibleVersion);
  Bytes bytes = bytes_;
  bytes[7] = '3';
  EXPECT_EQ(Program::check_header(bytes.data(), 64), Status::IncompatibleVersion);
  bytes[4] = 'X';
  EXPECT_EQ(Program::check_header(bytes.data(), 64), Status::NotPresent);
}

// A delegate payload, an image of another program, is only bytes.
TEST_F(ContainerTest, TakesAProgramAsPayloadOfAProgram) {
  Recipe recipe;
  recipe.inline_payloads = {bytes_};
  DelegateRecipe delegate;
  delegate.location = 0;
  recipe.plans[0].delegates = {delegate};
  EXPECT_TRUE(run(build(recipe)).all_ok());
}

double seconds_to_load(const Bytes& bytes, Error* error) {
  const auto start = std::chrono::steady_clock::now();
  *error = load(bytes);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Generous: a sanitizer build on a busy machine must pass, time that grows with
// the square of the size must not.
constexpr double kSecondsPerMegabyte = 3;

TEST_F(ContainerTest, TakesLinearTimeForManyOfEverything) {
  Recipe recipe;
  PlanRecipe& plan = recipe.plans[0];
  for (int i = 0; i < 20000; ++i) {
    plan.values.push_back(number_value(fb::KernelTypes::Int, i));
    plan.operators.push_back({"aten::never_called", std::to_string(i)});
    recipe.named_data.push_back({std::to_string(19999 - i), 0});
  }
  for (int i = 0; i < 1000; ++i) plan.chains[0].push_back(plan.chains[0][0]);
  const Bytes bytes = build(recipe);
  Error error;
  const double seconds = seconds_to_load(bytes, &error);
  EXPECT_EQ(error, Error::Ok);
  EXPECT_LT(seconds, kSecondsPerMegabyte * static_cast<double>(bytes.size()) / 1e6);
}

// Named data is hashed and compared key by key, and one segment may have many keys.
TEST_F(ContainerTest, RefusesNamedDataThatSharesTooManyBytes) {
  Recipe recipe;
  recipe.segments.push_back(std::vector<uint8_t>(1 << 17));
  const auto segment = static_cast<uint32_t>(recipe.segments.size() - 1);
  for (int i = 0; i < 8000; ++i) recipe.named_data.push_back({std::to_string(i), segment});
  EXPECT_EQ(load(build(recipe)), Error::Ok);
  for (int i = 8000; i < 20000; ++i) recipe.named_data.push_back({std::to_string(i), segment});
  EXPECT_EQ(load(build(recipe)), Error::InvalidProgram);
}

// One list that 20,000 values share: 40 KB that would be 400,000,000 checks.
TEST_F(ContainerTest, RefusesSmallFilesThatAreLongToVisit) {
  flatbuffers::FlatBufferBuilder builder;
  const auto items = builder.CreateVector(std::vector<int64_t>(20000, 0));
  std::vector<flatbuffers::Offset<fb::EValue>> values;
  values.push_back(
      fb::CreateEValue(builder, fb::KernelTypes::Int, fb::CreateInt(builder, 0).Union()));
  const auto list = fb::CreateIntList(builder, items).Union();
  const auto value = fb::CreateEValue(builder, fb::KernelTypes::IntList, list);
  values.insert(values.end(), 20000, value);
  const auto chain = fb::CreateChain(builder);
  const auto name = builder.CreateString("forward");
  const auto value_vector = builder.CreateVector(values);
  const auto chain_vector =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::Chain>>{chain});
  const auto plan = fb::CreateExecutionPlan(builder, name, 0, value_vector, 0, 0, chain_vector);
  const auto plans =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::ExecutionPlan>>{plan});
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, 0, plans));
  const Bytes bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  Error error;
  const double seconds = seconds_to_load(bytes, &error);
  EXPECT_EQ(error, Error::InvalidProgram);
  EXPECT_TRUE(message_has("refers to its own parts too often")) << QuietLog::last();
  EXPECT_LT(seconds, kSecondsPerMegabyte);
}

using Instructions = std::vector<flatbuffers::Offset<fb::Instruction>>;

// A method of one Int and one backend, whose lists the caller makes.
template <typename MakeLists>
Bytes build_method(MakeLists make_lists) {
  flatbuffers::FlatBufferBuilder builder;
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> inputs, outputs;
  std::vector<flatbuffers::Offset<fb::CompileSpec>> specs;
  Instructions instructions;
  make_lists(builder, &inputs, &outputs, &specs, &instructions);
  const auto value =
      fb::CreateEValue(builder, fb::KernelTypes::Int, fb::CreateInt(builder, 0).Union());
  const auto values = builder.CreateVector(std::vector<flatbuffers::Offset<fb::EValue>>{value});
  const auto chain = fb::CreateChain(builder, 0, 0, builder.CreateVector(instructions));
  const auto chains = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Chain>>{chain});
  const auto op = fb::CreateOperatorDirect(builder, "aten::add", "out");
  const auto operators = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Operator>>{op});
  const auto payload = fb::CreateBackendDelegateDataReference(builder, fb::DataLocation::INLINE, 0);
  const auto delegate = fb::CreateBackendDelegate(builder, builder.CreateString("XnnpackBackend"),
                                                  payload, builder.CreateVector(specs));
  const auto delegates = builder.CreateVector(
      std::vector<flatbuffers::Offset<fb::BackendDelegate>>(specs.empty() ? 1 : 20000, delegate));
  const auto name = builder.CreateString("forward");
  const auto plan = fb::CreateExecutionPlan(builder, name, 0, values, inputs, outputs, chains,
                                            operators, delegates);
  const auto plans =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::ExecutionPlan>>{plan});
  const auto data = fb::CreateBackendDelegateInlineData(builder);
  const auto payloads =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::BackendDelegateInlineData>>{data});
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, 0, plans, 0, payloads));
  return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

TEST_F(ContainerTest, RefusesArgumentsSharedTooOften) {
  const auto make = [](size_t calls) {
    return build_method([calls](auto& builder, auto*, auto*, auto*, Instructions* instructions) {
      const auto args = builder.CreateVector(std::vector<int32_t>(5000, 0));
      const auto call = fb::CreateKernelCall(builder, 0, args).Union();
      const auto instruction =
          fb::CreateInstruction(builder, fb::InstructionArguments::KernelCall, call);
      instructions->assign(calls, instruction);
    });
  };
  EXPECT_EQ(load(make(1)), Error::Ok) << QuietLog::last();
  EXPECT_EQ(load(make(2)), Error::InvalidProgram);
  EXPECT_TRUE(message_has("refers to its own parts too often")) << QuietLog::last();
}

TEST_F(ContainerTest, RefusesInputsSharedWithOutputsTooOften) {
  const auto make = [](bool with_outputs) {
    return build_method([&](auto& builder, auto* inputs, auto* outputs, auto*, Instructions* list) {
      *inputs = builder.CreateVector(std::vector<int32_t>(5000, 0));
      if (with_outputs) *outputs = *inputs;
      const auto call = fb::CreateKernelCall(builder, 0).Union();
      list->assign(3, fb::CreateInstruction(builder, fb::InstructionArguments::KernelCall, call));
    });
  };
  EXPECT_EQ(load(make(false)), Error::Ok) << QuietLog::last();
  EXPECT_EQ(load(make(true)), Error::InvalidProgram);
  EXPECT_TRUE(message_has("refers to its own parts too often")) << QuietLog::last();
}

TEST_F(ContainerTest, RefusesCompileSpecsSharedTooOften) {
  const Bytes bytes = build_method([](auto& builder, auto*, auto*, auto* specs, Instructions*) {
    const std::vector<uint8_t> value = {1};
    specs->assign(1000, fb::CreateCompileSpecDirect(builder, "key", &value));
  });
  Error error;
  EXPECT_LT(seconds_to_load(bytes, &error), kSecondsPerMegabyte);
  EXPECT_EQ(error, Error::InvalidProgram);
}

// Moves the vector in a field by four bytes, so that its elements are not
// aligned; its first element must look like a length.
template <typename T>
void misalign(const T* table, int field) {
  auto* const offset =
      const_cast<uint8_t*>(reinterpret_cast<const flatbuffers::Table*>(table)->GetAddressOf(
          static_cast<flatbuffers::voffset_t>(field)));
  flatbuffers::uoffset_t value;
  std::memcpy(&value, offset, sizeof(value));
  value += 4;
  std::memcpy(offset, &value, sizeof(value));
}

TEST_F(ContainerTest, RefusesMisalignedVectors) {
  Recipe recipe;
  recipe.plans[0].arenas[0] = 1;
  recipe.constants->offsets[0] = 1;
  recipe.plans[0].values.push_back(list_value(fb::KernelTypes::IntList, {2, 2}));
  recipe.constant_buffers = {{1, 0, 0, 0, 1, 1, 1, 1}};
  recipe.inline_payloads = {{1, 0, 0, 0, 1, 1, 1, 1}};
  const Bytes right = build(recipe);
  ASSERT_EQ(load(right), Error::Ok) << QuietLog::last();
  const struct {
    void (*damage)(const fb::Program*);
    const char* words;
  } rows[] = {
      {[](const fb::Program* p) {
         misalign(p->execution_plan()->Get(0), fb::ExecutionPlan::VT_NON_CONST_BUFFER_SIZES);
       },
       "sizes of its arenas"},
      {[](const fb::Program* p) {
         misalign(p->constant_segment(), fb::SubsegmentOffsets::VT_OFFSETS);
       },
       "offsets of constant data"},
      {[](const fb::Program* p) {
         misalign(p->execution_plan()->Get(0)->values()->Get(4)->val_as_IntList(),
                  fb::IntList::VT_ITEMS);
       },
       "list is not aligned"},
      {[](const fb::Program* p) { misalign(p->constant_buffer()->Get(0), fb::Buffer::VT_STORAGE); },
       "constant 0 is not aligned"},
      {[](const fb::Program* p) {
         misalign(p->backend_delegate_data()->Get(0), fb::BackendDelegateInlineData::VT_DATA);
       },
       "delegate payload 0 is not aligned"},
  };
  for (const auto& row : rows) {
    Bytes bytes = right;
    row.damage(fb::GetProgram(bytes.data()));
    EXPECT_EQ(load(bytes), Error::InvalidProgram) << row.words;
    EXPECT_TRUE(message_has(row.words)) << QuietLog::last();
  }
}

TEST_F(ContainerTest, RefusesProgramsBeyondWhatFlatbuffersCanAddress) {
  // The size alone decides: nothing is read.
  runtime::ProgramFile file;
  file.program = {bytes_.data(), size_t{1} << 31};
  EXPECT_EQ(runtime::verify_program(file).error(), Error::InvalidProgram);
  EXPECT_TRUE(message_has("below 2^31")) << QuietLog::last();
}

// A long list of constants that many entries name.
TEST_F(ContainerTest, RefusesSegmentTablesSharedTooOften) {
  flatbuffers::FlatBufferBuilder builder;
  const auto offsets = builder.CreateVector(std::vector<uint64_t>(5000, 0));
  const auto entries = fb::CreateSubsegmentOffsets(builder, 0, offsets);
  const auto mutable_data =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::SubsegmentOffsets>>(5000, entries));
  const auto segments = builder.CreateVector(
      std::vector<flatbuffers::Offset<fb::DataSegment>>{fb::CreateDataSegment(builder)});
  const auto plans = builder.CreateVector(std::vector<flatbuffers::Offset<fb::ExecutionPlan>>());
  fb::FinishProgramBuffer(builder,
                          fb::CreateProgram(builder, 0, plans, 0, 0, segments, 0, mutable_data));
  const Bytes bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  EXPECT_EQ(load(bytes), Error::InvalidProgram);
  EXPECT_TRUE(message_has("refers to its own parts too often")) << QuietLog::last();
}

// A table that 100,000,000 paths lead to is refused once the visits outnumber
// the bytes.
TEST_F(ContainerTest, RefusesTablesSharedTooOften) {
  flatbuffers::FlatBufferBuilder builder;
  const auto frame = fb::CreateFrame(builder, 0, 1);
  const auto frames = fb::CreateFrameList(
      builder, builder.CreateVector(std::vector<flatbuffers::Offset<fb::Frame>>(10000, frame)));
  const auto traces =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::FrameList>>(10000, frames));
  const auto chain = fb::CreateChain(builder, 0, 0, 0, traces);
  const auto chains = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Chain>>{chain});
  const auto name = builder.CreateString("forward");
  const auto plan = fb::CreateExecutionPlan(builder, name, 0, 0, 0, 0, chains);
  const auto plans =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::ExecutionPlan>>{plan});
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, 0, plans));
  const Bytes bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  Error error;
  EXPECT_LT(seconds_to_load(bytes, &error), kSecondsPerMegabyte);
  EXPECT_EQ(error, Error::InvalidProgram);
}

}  // namespace
}  // namespace petrel::faults
