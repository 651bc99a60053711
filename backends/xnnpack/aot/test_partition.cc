// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/test_partition.h"

#include <cstring>
#include <sstream>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

// Elements of 4 bytes are floats; all others are of one.
exir::ConstantPtr make_constant(const std::string& fqn, const exir::TensorType& type,
                                const Counting& element) {
  std::vector<uint8_t> bytes(static_cast<size_t>(type.nbytes()));
  const size_t size = exir::item_size(type.dtype) == 1 ? 1 : sizeof(float);
  for (size_t i = 0; i < bytes.size() / size; ++i) {
    const int64_t number = element(static_cast<int64_t>(i));
    const auto value = static_cast<float>(number);
    const auto byte = static_cast<int8_t>(number);
    std::memcpy(bytes.data() + i * size, size == 1 ? static_cast<const void*>(&byte) : &value,
                size);
  }
  auto constant = std::make_shared<exir::Constant>();
  constant->fqn = fqn;
  constant->type = type;
  constant->data = exir::Blob::owned(std::move(bytes));
  return constant;
}

void write_range(std::ostringstream& out, const Node& node) {
  const float infinity = std::numeric_limits<float>::infinity();
  if (node.output_min == -infinity && node.output_max == infinity) return;
  out << " [" << node.output_min << "," << node.output_max << "]";
}

}  // namespace

std::unique_ptr<exir::Graph> parse_partition(const std::string& text, const Counting& element) {
  auto graph = exir::parse_graph(text, &exir::find_op,
                                 [&](const std::string& fqn, const exir::TensorType& type) {
                                   return make_constant(fqn, type, element);
                                 });
  if (graph.ok()) return *std::move(graph);
  ADD_FAILURE() << graph.status();
  return nullptr;
}

LoweredPartition lower_partition(const exir::Graph& partition) {
  exir::Subprogram subprogram;
  subprogram.method = "forward";
  subprogram.graph = &partition;
  LoweredPartition lowered;
  auto results = xnnpack_backend()->preprocess_all({{"forward", {subprogram}}}, lowered.store);
  if (!results.ok()) {
    ADD_FAILURE() << results.status();
    return lowered;
  }
  lowered.result = (*results)["forward"][0];
  const exir::Blob::Bytes bytes = lowered.result.payload.bytes();
  const Problem problem = read_payload(bytes.data(), bytes.size(), &lowered.graph);
  EXPECT_TRUE(problem.ok()) << problem.text();
  return lowered;
}

std::vector<float> LoweredPartition::constant(uint32_t value) const {
  const std::string& key = graph.constants[graph.values[value].constant].key;
  const auto& destination = store.blobs().destinations().at("");
  for (const auto& entry : destination.entries) {
    if (entry.key != key) continue;
    const exir::Blob::Bytes bytes = destination.buffers[entry.buffer].blob.bytes();
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  ADD_FAILURE() << "no blob has key " << key;
  return {};
}

std::string to_text(const Graph& graph) {
  std::ostringstream out;
  for (const Node& node : graph.nodes) {
    out << find_node_kind(node.kind)->name;
    for (const uint32_t id : node.inputs) {
      if (id == kNoId) continue;
      out << " " << (graph.values[id].is_constant() ? "constant" : "#" + std::to_string(id));
      if (graph.values[id].is_constant()) out << to_string(graph.values[id].dims);
    }
    out << " ->";
    for (const uint32_t id : node.outputs) out << " #" << id << to_string(graph.values[id].dims);
    write_range(out, node);
    out << "\n";
  }
  return out.str();
}

std::string lowered_text(const std::string& text) {
  const std::unique_ptr<exir::Graph> partition = parse_partition(text);
  return partition == nullptr ? "" : to_text(lower_partition(*partition).graph);
}

}  // namespace petrel::backends::xnnpack::aot
