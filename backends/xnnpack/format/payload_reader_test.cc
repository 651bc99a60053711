// SPDX-License-Identifier: Apache-2.0
//
// What a payload may state of its contents, a field at a time; payload_test.cc has whole
// payloads.
#include "backends/xnnpack/format/payload_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/xnnpack/format/header.h"
#include "backends/xnnpack/format/structure_bytes.h"
#include "schema/xnnpack_generated.h"

namespace petrel::backends::xnnpack {
namespace {

namespace fbs = schema::xnnpack;
using ::testing::HasSubstr;

// y = |x|, with a filter that nobody reads: each field once.
struct Contents {
  std::string version = "0";
  NodeKind kind = NodeKind::Abs;
  uint32_t num_externs = 2;
  int16_t datatype = static_cast<int16_t>(Datatype::FP32);
  uint32_t num_dims = 1;
  uint32_t output_id = 8;
  uint32_t read_id = 7;
  uint64_t offset = 0;
  uint64_t size = 16;
  // Of the filter.
  size_t filters = 1;  // tables that share their scales
  int32_t axis = 0;
  int32_t group_size = 0;  // groups when not 0
  size_t scales = 2;
  uint32_t scale_constant = 0;
  int32_t nonbatch_dims = 0;  // quantised at run time when not 0
};

constexpr uint64_t kRegion = 64;

flatbuffers::Offset<void> quantization(flatbuffers::FlatBufferBuilder& b, const Contents& c,
                                       flatbuffers::Offset<flatbuffers::Vector<float>> scales,
                                       fbs::QuantParams* type) {
  if (c.nonbatch_dims != 0) {
    *type = fbs::QuantParams::PerTokenDynamicQuant;
    return fbs::CreatePerTokenDynamicQuant(b, c.nonbatch_dims).Union();
  }
  if (c.group_size != 0) {
    *type = fbs::QuantParams::PerChannelGroupQuant;
    return fbs::CreatePerChannelGroupQuant(b, scales, c.axis, c.group_size, 0, c.scale_constant, 2)
        .Union();
  }
  *type = fbs::QuantParams::PerChannelQuant;
  return fbs::CreatePerChannelQuant(b, scales, c.axis, c.scale_constant, 2).Union();
}

std::vector<flatbuffers::Offset<fbs::Value>> write_values(flatbuffers::FlatBufferBuilder& b,
                                                          const Contents& c) {
  const auto dims = b.CreateVector(std::vector<uint32_t>{2});
  std::vector<flatbuffers::Offset<fbs::Value>> values;
  const auto tensor = [&](int16_t datatype, uint32_t constant, uint32_t external, uint32_t flags,
                          uint32_t id) {
    return fbs::CreateTensorValue(b, static_cast<Datatype>(datatype), c.num_dims, dims, constant,
                                  external, flags, id);
  };
  const auto add = [&](flatbuffers::Offset<fbs::TensorValue> value) {
    values.push_back(fbs::CreateValue(b, fbs::ValueUnion::TensorValue, value.Union()));
  };
  add(tensor(c.datatype, 0, 0, kExternalInput, 7));
  add(tensor(c.datatype, 0, 1, kExternalOutput, c.output_id));
  const auto scales = b.CreateVector(std::vector<float>(c.scales, 1.0f));
  for (size_t i = 0; i < c.filters; ++i) {
    fbs::QuantParams type = fbs::QuantParams::NONE;
    const auto quant = quantization(b, c, scales, &type);
    const auto filter =
        tensor(static_cast<int16_t>(Datatype::QCINT8), 1, kNoId, 0, static_cast<uint32_t>(100 + i));
    const auto value = fbs::CreateQuantizedTensorValue(b, filter, type, quant);
    values.push_back(fbs::CreateValue(b, fbs::ValueUnion::QuantizedTensorValue, value.Union()));
  }
  return values;
}

std::vector<uint8_t> payload_of(const Contents& c) {
  flatbuffers::FlatBufferBuilder b;
  const auto values = b.CreateVector(write_values(b, c));
  const auto abs = fbs::CreateNode1x1(b, c.read_id, 8, 0);
  const auto nodes = b.CreateVector(
      std::vector<flatbuffers::Offset<fbs::Node>>{fbs::CreateNode(b, c.kind, abs.Union())});
  const auto constants = b.CreateVector(std::vector<flatbuffers::Offset<fbs::ConstantData>>{
      fbs::CreateConstantData(b), fbs::CreateConstantData(b, c.offset, c.size)});
  const auto version = b.CreateString(c.version);
  b.Finish(fbs::CreateGraph(b, version, nodes, values, c.num_externs, 0, 0, 0, 0, constants),
           "XN01");
  const uint32_t region = kPaddedHeaderSize + b.GetSize();
  std::vector<uint8_t> payload(region + kRegion);
  write_header({kPaddedHeaderSize, b.GetSize(), region, kRegion}, payload.data());
  std::memcpy(payload.data() + kPaddedHeaderSize, b.GetBufferPointer(), b.GetSize());
  return payload;
}

std::string problem_of(const std::vector<uint8_t>& payload) {
  Graph graph;
  return read_payload(payload.data(), payload.size(), &graph).text();
}

TEST(PayloadReader, ReadsContentsAsTheyAreStated) {
  const std::vector<uint8_t> payload = payload_of({});
  Graph graph;
  ASSERT_EQ(read_payload(payload.data(), payload.size(), &graph).text(), "");
  ASSERT_EQ(graph.values.size(), 3u);
  EXPECT_EQ(graph.values[2].quant.scales.count, 2u);
  EXPECT_EQ(graph.constants[1].data, payload.data() + payload.size() - kRegion);
}

TEST(PayloadReader, AsksForMemoryBeforeItBuilds) {
  const std::vector<uint8_t> payload = payload_of({});
  Graph graph;
  uint64_t asked = 0;
  const auto deny = [&](uint64_t bytes) {
    asked = bytes;
    return false;
  };
  EXPECT_FALSE(read_payload(payload.data(), payload.size(), &graph, deny).ok());
  EXPECT_EQ(asked, structure_bytes(3, 1, 2));
  EXPECT_TRUE(graph.values.empty());
}

TEST(PayloadReader, RefusesAHeaderThatIsCut) {
  std::vector<uint8_t> payload = payload_of({});
  payload.resize(20);
  EXPECT_EQ(problem_of(payload), "payload has 20 bytes, its header needs 30");
}

struct Case {
  const char* name;
  std::function<void(Contents&)> change;
  const char* problem;
};

class WrongContents : public ::testing::TestWithParam<Case> {};

TEST_P(WrongContents, AreRefusedByName) {
  Contents contents;
  GetParam().change(contents);
  EXPECT_THAT(problem_of(payload_of(contents)), HasSubstr(GetParam().problem));
}

const Case kCases[] = {
    {"Version", [](Contents& c) { c.version = "1"; }, "version is '1', must be '0'"},
    {"Externals", [](Contents& c) { c.num_externs = 4097; },
     "num_externs is 4097, must be at most 4096"},
    {"ConstantBeyond", [](Contents& c) { c.offset = kRegion + 1, c.size = 0; },
     "constant 1: it is at 65 and has 0 bytes, the constant region has 64"},
    {"ConstantTooLong", [](Contents& c) { c.offset = 16, c.size = kRegion; },
     "constant 1: it is at 16 and has 64 bytes, the constant region has 64"},
    {"ConstantThatWraps", [](Contents& c) { c.offset = 16, c.size = UINT64_MAX - 8; },
     "constant 1: it is at 16 and has 18446744073709551607 bytes"},
    {"NoDatatype", [](Contents& c) { c.datatype = 0; }, "value 0: datatype is 0, must be in [1, "},
    {"NegativeDatatype", [](Contents& c) { c.datatype = -1; }, "value 0: datatype is -1"},
    {"UnknownDatatype", [](Contents& c) { c.datatype = 100; }, "value 0: datatype is 100"},
    {"NumberOfDims", [](Contents& c) { c.num_dims = 2; },
     "value 0: num_dims is 2, dims has 1 entries"},
    {"IdTwice", [](Contents& c) { c.output_id = 7; }, "value 1: id_out 7 is taken"},
    {"IdOfNothing", [](Contents& c) { c.read_id = 9; },
     "node 0 (Abs): input 0 is value 9, which is not there"},
    {"KindThatOnlyLoadedGraphsHave", [](Contents& c) { c.kind = kNorm; },
     "kind is 48, must be in [1, 47]"},
    {"SharedScales", [](Contents& c) { c.filters = 100, c.scales = 1000; },
     "the scales up to it have more bytes than the payload"},
    {"NoScales", [](Contents& c) { c.scales = 0; }, "value 2: it has no scales"},
    {"ScalesOfNoConstant", [](Contents& c) { c.scale_constant = 2; },
     "value 2: scale_buffer_idx is 2, must be below 2"},
    {"NegativeChannel", [](Contents& c) { c.axis = -1; },
     "value 2: channel_dim is -1, must not be negative"},
    {"NegativeChannelOfGroups", [](Contents& c) { c.axis = -1, c.group_size = 32; },
     "value 2: channel_dim is -1, must not be negative"},
    {"NegativeGroup", [](Contents& c) { c.group_size = -32; },
     "value 2: group_size is -32, must not be negative"},
    {"NegativeTokens", [](Contents& c) { c.nonbatch_dims = -1; },
     "value 2: num_nonbatch_dims is -1, must not be negative"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongContents, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::backends::xnnpack
