// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/header.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

namespace fbs = schema::xnnpack;
using ::testing::HasSubstr;

Problem read(const std::vector<uint8_t>& payload, Graph* graph) {
  return read_payload(payload.data(), payload.size(), graph);
}

std::string problem_of(const std::vector<uint8_t>& payload) {
  Graph graph;
  return read(payload, &graph).text();
}

void expect_equal(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.num_externs, b.num_externs);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_EQ(a.values[i].dims, b.values[i].dims) << i;
    EXPECT_EQ(a.values[i].constant, b.values[i].constant) << i;
    EXPECT_EQ(a.values[i].external_id, b.values[i].external_id) << i;
    EXPECT_EQ(a.values[i].flags, b.values[i].flags) << i;
    EXPECT_EQ(a.values[i].datatype, b.values[i].datatype) << i;
  }
  ASSERT_EQ(a.constants.size(), b.constants.size());
  for (size_t i = 0; i < a.constants.size(); ++i) EXPECT_EQ(a.constants[i].key, b.constants[i].key);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const Node& x = a.nodes[i];
    const Node& y = b.nodes[i];
    EXPECT_EQ(x.kind, y.kind) << i;
    EXPECT_EQ(x.inputs, y.inputs) << i;
    EXPECT_EQ(x.outputs, y.outputs) << i;
    EXPECT_EQ(x.flags, y.flags) << i;
    EXPECT_EQ(x.debug_handle, y.debug_handle) << i;
    EXPECT_EQ(x.output_min, y.output_min) << i;
    EXPECT_EQ(x.output_max, y.output_max) << i;
    EXPECT_TRUE(x.window == y.window) << i;
    EXPECT_TRUE(x.channels == y.channels) << i;
    EXPECT_EQ(x.list, y.list) << i;
    EXPECT_EQ(x.list2, y.list2) << i;
    EXPECT_EQ(x.scalar, y.scalar) << i;
    EXPECT_EQ(x.axis, y.axis) << i;
    EXPECT_EQ(x.new_height, y.new_height) << i;
    EXPECT_EQ(x.new_width, y.new_width) << i;
  }
}

TEST(Payload, ReadsBackEveryKindOfNode) {
  const Graph graph = graph_of_all_kinds();
  std::vector<bool> seen(static_cast<size_t>(NodeKind::MAX) + 1);
  for (const Node& node : graph.nodes) seen[static_cast<size_t>(node.kind)] = true;
  for (size_t kind = 1; kind < seen.size(); ++kind) {
    EXPECT_TRUE(seen[kind]) << find_node_kind(static_cast<NodeKind>(kind))->name;
  }
  Graph again;
  const Problem problem = read(write_payload(graph), &again);
  ASSERT_TRUE(problem.ok()) << problem.text();
  expect_equal(again, graph);
}

TEST(Payload, KeepsTheSignOfZero) {
  Graph graph = graph_of_all_kinds();
  for (Node& node : graph.nodes) {
    node.scalar = -0.0f;
    node.output_max = -0.0f;
  }
  Graph again;
  const Problem problem = read(write_payload(graph), &again);
  ASSERT_TRUE(problem.ok()) << problem.text();
  size_t with_scalars = 0;
  for (const Node& node : again.nodes) {
    EXPECT_TRUE(std::signbit(node.output_max)) << find_node_kind(node.kind)->name;
    with_scalars += std::signbit(node.scalar) ? 1 : 0;
  }
  EXPECT_EQ(with_scalars, 3u);  // the number behind the edges, the slope, the factor of ELU
}

TEST(Payload, IsTheSameEveryTime) {
  EXPECT_EQ(write_payload(graph_of_all_kinds()), write_payload(graph_of_all_kinds()));
}

TEST(Payload, HasItsPartsWhereTheHeaderSays) {
  const std::vector<uint8_t> payload = write_payload(small_cnn());
  EXPECT_EQ(payload.size() % 16, 0u);
  EXPECT_EQ(std::memcmp(payload.data(), "\0\0\0\0XH00\x1e\0\x20\0\0\0", 14), 0);
  EXPECT_EQ(std::memcmp(payload.data() + 36, "XN01", 4), 0);
  Header header;
  ASSERT_TRUE(read_header(payload.data(), payload.size(), &header).ok());
  EXPECT_EQ(header.flatbuffer_offset, 32u);
  EXPECT_EQ(header.constants_offset, payload.size());
  EXPECT_EQ(header.constants_size, 0u);
}

TEST(Payload, NamesValuesInputsAndKeysAsExecuTorchDoes) {
  const std::vector<uint8_t> payload = write_payload(small_cnn());
  const fbs::Graph* graph = fbs::GetGraph(payload.data() + 32);
  EXPECT_EQ(graph->version()->str(), "0");
  EXPECT_EQ(graph->num_externs(), 2u);
  for (uint32_t i = 0; i < graph->values()->size(); ++i) {
    EXPECT_EQ(graph->values()->Get(i)->value_as_TensorValue()->id_out(), i);
  }
  EXPECT_EQ(graph->input_ids()->Get(0), 0u);
  ASSERT_GE(graph->constant_data()->size(), 2u);
  EXPECT_EQ(graph->constant_data()->Get(0)->named_key()->str(), "");
  EXPECT_EQ(graph->constant_data()->Get(1)->named_key()->str(), "filter");
  EXPECT_EQ(graph->constant_data()->Get(1)->offset(), UINT64_MAX);
}

TEST(Payload, MayStartAtAnyAddress) {
  const std::vector<uint8_t> payload = write_payload(small_cnn());
  for (size_t shift = 0; shift < 16; ++shift) {
    std::vector<uint8_t> shifted(shift, 0xAA);
    shifted.insert(shifted.end(), payload.begin(), payload.end());
    Graph graph;
    const Problem problem = read_payload(shifted.data() + shift, payload.size(), &graph);
    ASSERT_TRUE(problem.ok()) << shift << ": " << problem.text();
    expect_equal(graph, small_cnn());
  }
}

// --- older payloads ---

std::vector<uint8_t> finish(flatbuffers::FlatBufferBuilder& b, flatbuffers::Offset<fbs::Graph> root,
                            const char* identifier) {
  b.Finish(root, identifier);
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

// y = x + [1, 2], the constant inside the flatbuffer.
std::vector<uint8_t> bare_flatbuffer(const char* identifier, size_t constant_bytes = 8) {
  flatbuffers::FlatBufferBuilder b;
  const std::vector<uint8_t> bytes(constant_bytes, 1);
  const auto storage = b.CreateVector(bytes);
  const auto buffers = b.CreateVector(std::vector<flatbuffers::Offset<fbs::Buffer>>{
      fbs::CreateBuffer(b), fbs::CreateBuffer(b, storage)});
  std::vector<flatbuffers::Offset<fbs::Value>> values;
  const struct {
    uint32_t constant, external_id, flags, id;
  } kValues[] = {{0, 0, 1, 7}, {1, kNoId, 0, 9}, {0, 1, 2, 8}};
  for (const auto& v : kValues) {
    const auto tensor =
        fbs::CreateTensorValue(b, Datatype::FP32, 1, b.CreateVector(std::vector<uint32_t>{2}),
                               v.constant, v.external_id, v.flags, v.id);
    values.push_back(fbs::CreateValue(b, fbs::ValueUnion::TensorValue, tensor.Union()));
  }
  const auto add = fbs::CreateNode2x1(b, 7, 9, 8, 0);
  const auto nodes = b.CreateVector(
      std::vector<flatbuffers::Offset<fbs::Node>>{fbs::CreateNode(b, NodeKind::Add, add.Union())});
  const auto all_values = b.CreateVector(values);
  return finish(b, fbs::CreateGraph(b, 0, nodes, all_values, 2, 0, 0, buffers), identifier);
}

TEST(Payload, WithoutHeaderIsABareFlatbuffer) {
  for (const char* identifier : {"XN00", "XN01"}) {
    const std::vector<uint8_t> payload = bare_flatbuffer(identifier);
    Graph graph;
    const Problem problem = read(payload, &graph);
    ASSERT_TRUE(problem.ok()) << problem.text();
    EXPECT_TRUE(check_graph(graph).ok());
    // Ids are places, whatever the file called them.
    EXPECT_EQ(graph.nodes[0].inputs, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(graph.nodes[0].outputs, (std::vector<uint32_t>{2}));
    ASSERT_EQ(graph.constants.size(), 2u);
    EXPECT_EQ(graph.constants[1].size, 8u);
    EXPECT_EQ(graph.constants[1].data[7], 1);
  }
}

// What was verified cannot change any more, whatever happens to the payload.
TEST(Payload, IsCopiedAsFarAsItIsVerified) {
  std::vector<uint8_t> payload = bare_flatbuffer("XN01");
  Graph graph;
  ASSERT_TRUE(read(payload, &graph).ok());
  std::fill(payload.begin(), payload.end(), uint8_t{0xEE});
  EXPECT_EQ(graph.constants[1].data[7], 1);
}

// A list that many tables share would be copied for each of them.
TEST(Payload, RefusesLongListsBeforeItCopiesThem) {
  flatbuffers::FlatBufferBuilder b;
  const auto dims = b.CreateVector(std::vector<uint32_t>(7, 1));
  const auto tensor = fbs::CreateTensorValue(b, Datatype::FP32, 7, dims, 0, 0, 1, 7);
  const auto values = b.CreateVector(std::vector<flatbuffers::Offset<fbs::Value>>{
      fbs::CreateValue(b, fbs::ValueUnion::TensorValue, tensor.Union())});
  EXPECT_THAT(problem_of(finish(b, fbs::CreateGraph(b, 0, 0, values, 1), "XN01")),
              HasSubstr("value 0: dims has 7 entries, must have at most 6"));
}

TEST(Payload, RefusesKeysThatAreSharedWithoutEnd) {
  flatbuffers::FlatBufferBuilder b;
  const auto key = b.CreateString(std::string(1000, 'k'));
  const auto constant = fbs::CreateConstantData(b, 0, 0, key);
  const auto constants =
      b.CreateVector(std::vector<flatbuffers::Offset<fbs::ConstantData>>(100, constant));
  fbs::GraphBuilder graph(b);
  graph.add_constant_data(constants);
  EXPECT_THAT(problem_of(finish(b, graph.Finish(), "XN01")),
              HasSubstr("the keys up to it have more bytes than the payload"));
}

TEST(Payload, RefusesNodesThatOutnumberValues) {
  Graph graph = small_cnn();
  while (graph.nodes.size() <= graph.values.size()) graph.nodes.push_back(graph.nodes[0]);
  const std::vector<uint8_t> payload = write_payload(graph);
  Graph read;
  const Problem problem = read_payload(payload.data(), payload.size(), &read);
  EXPECT_FALSE(problem.ok());
  EXPECT_NE(problem.text().find("6 nodes for 5 values"), std::string::npos) << problem.text();
}

// Multiples of a number that hash tables have as their size.
TEST(Payload, FindsValuesWhateverTheirIds) {
  constexpr uint32_t kValues = 42'000, kPlaces = 42'043;
  flatbuffers::FlatBufferBuilder b;
  const auto dims = b.CreateVector(std::vector<uint32_t>{1});
  std::vector<flatbuffers::Offset<fbs::Value>> values;
  std::vector<flatbuffers::Offset<fbs::Node>> nodes;
  for (uint32_t i = 0; i < kValues; ++i) {
    const uint32_t id = i * kPlaces;
    const auto tensor = fbs::CreateTensorValue(b, Datatype::FP32, 1, dims, 0, kNoId, 0, id);
    values.push_back(fbs::CreateValue(b, fbs::ValueUnion::TensorValue, tensor.Union()));
    if (i == 0) continue;
    const auto abs = fbs::CreateNode1x1(b, id - kPlaces, id, 0);
    nodes.push_back(fbs::CreateNode(b, NodeKind::Abs, abs.Union()));
  }
  const auto all_values = b.CreateVector(values);
  const std::vector<uint8_t> payload =
      finish(b, fbs::CreateGraph(b, 0, b.CreateVector(nodes), all_values, 0), "XN01");
  const auto start = std::chrono::steady_clock::now();
  Graph graph;
  EXPECT_TRUE(read_payload(payload.data(), payload.size(), &graph).ok());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(graph.nodes.size(), kValues - 1);
  EXPECT_EQ(graph.nodes.back().outputs[0], kValues - 1);
  EXPECT_LT(seconds.count(), 2.0);
}

TEST(Payload, RefusesAnInlineConstantThatIsTooSmall) {
  const std::vector<uint8_t> payload = bare_flatbuffer("XN00", 7);
  Graph graph;
  ASSERT_TRUE(read(payload, &graph).ok());
  EXPECT_THAT(check_graph(graph).text(),
              HasSubstr("value 1: its constant has 7 bytes, [2] needs 8"));
}

TEST(Payload, RefusesOtherIdentifiers) {
  EXPECT_THAT(problem_of(bare_flatbuffer("XN02")), HasSubstr("neither XN00 nor XN01"));
}

// --- damaged headers ---

TEST(Payload, RefusesPartsOutsideOfIt) {
  std::vector<uint8_t> payload = write_payload(small_cnn());
  Header header;
  ASSERT_TRUE(read_header(payload.data(), payload.size(), &header).ok());
  const auto with = [&](Header changed) {
    std::vector<uint8_t> copy = payload;
    write_header(changed, copy.data());
    return problem_of(copy);
  };
  Header h = header;
  h.flatbuffer_size = static_cast<uint32_t>(payload.size());
  EXPECT_THAT(with(h), HasSubstr("the flatbuffer is at 32"));
  h = header;
  h.flatbuffer_offset = 0xFFFFFFFF;
  EXPECT_THAT(with(h), HasSubstr("the flatbuffer is at 4294967295"));
  h = header;
  h.constants_size = 1;
  EXPECT_THAT(with(h), HasSubstr("the constant region"));
  h = header;
  h.constants_offset = 16;
  h.constants_size = UINT64_MAX - 8;
  EXPECT_THAT(with(h), HasSubstr("the constant region"));
  h = header;
  h.flatbuffer_size = 7;
  EXPECT_THAT(with(h), HasSubstr("must be in [8, 2^31)"));
  payload[8] = 29;
  EXPECT_THAT(problem_of(payload), HasSubstr("its length is 29, must be at least 30"));
}

// Reading and checking must end, with or without a problem, and never leave
// the bytes given; sanitizers watch.
size_t read_damaged(const std::vector<uint8_t>& payload) {
  Graph graph;
  if (!read(payload, &graph).ok()) return 0;
  return check_graph(graph).ok() && check_implemented(graph).ok() ? 1 : 0;
}

TEST(Payload, SurvivesEveryDamagedByte) {
  for (const Graph& graph : {small_cnn(), graph_of_all_kinds()}) {
    const std::vector<uint8_t> good = write_payload(graph);
    size_t accepted = 0;
    for (size_t i = 0; i < good.size(); ++i) {
      for (const int change : {0, 0xFF, good[i] ^ 0x01, good[i] ^ 0x80, ~good[i]}) {
        std::vector<uint8_t> bad = good;
        bad[i] = static_cast<uint8_t>(change);
        accepted += read_damaged(bad);
      }
    }
    // Padding and hints may be anything; all else is noticed.
    EXPECT_LT(accepted, good.size() * 5 / 2);
  }
}

TEST(Payload, SurvivesEveryTruncation) {
  const std::vector<uint8_t> good = write_payload(small_cnn());
  for (size_t size = 0; size < good.size(); ++size) {
    const std::vector<uint8_t> bad(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(read_damaged(bad), 0u) << size;
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
