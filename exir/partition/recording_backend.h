// SPDX-License-Identifier: Apache-2.0
//
// What tests of the partitioner lower to: a backend that records its partitions,
// partitioners over additions and rectifiers, and graphs from text.
//
//   RecordingBackend backend;
//   Program program = program_of({{"forward", kOneAndFour}});
//   lower_to_backend(program, backend, {}, store);
//   backend.texts;  // the IR of each partition
#ifndef PETREL_EXIR_PARTITION_RECORDING_BACKEND_H_
#define PETREL_EXIR_PARTITION_RECORDING_BACKEND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/partition/partition.h"
#include "gtest/gtest.h"

namespace petrel::exir {

// Takes additions and rectifiers; a group of rectifiers alone is not
// worthwhile unless `takes_relu_alone`.
class AddPartitioner : public Partitioner {
 public:
  Support supports(const Node& node) const override {
    if (node.is(aten::add_Tensor, aten::add_Scalar, aten::relu)) return Support::yes();
    if (takes_dequantised && node.is(quantized_decomposed::dequantize_per_tensor)) {
      return Support::yes();
    }
    return Support::no(absl::StrCat("does not support ", node.op().name));
  }
  bool worthwhile(const std::vector<const Node*>& nodes) const override {
    for (const Node* node : nodes) {
      if (takes_relu_alone || node->is(aten::add_Scalar, aten::add_Tensor)) return true;
    }
    return false;
  }
  size_t most_inputs_and_outputs() const override { return most; }
  bool takes_relu_alone = true;
  size_t most = 1000000;
  bool takes_dequantised = false;
};

// As AddPartitioner, with 1 us for each node as a kernel, `node` delegated and
// `call` for the call.
class WeighingPartitioner : public AddPartitioner {
 public:
  std::optional<GroupCosts> costs(const Graph& partition) const override {
    GroupCosts costs;
    const auto nodes = static_cast<double>(partition.node_pointers().size());
    costs.nodes = absl::StrCat(nodes, " nodes");
    costs.kernels = nodes;
    costs.delegated = node * nodes;
    costs.call = call;
    return costs;
  }
  double node = 0.5;
  double call = 1.5;
};

// Records what it was given; the payload says which partition it is for.
class RecordingBackend : public Backend {
 public:
  std::string id() const override { return "Recording"; }
  const Partitioner& partitioner() const override { return partitioner_; }
  absl::Status check_compile_specs(const std::vector<CompileSpec>& specs) const override {
    for (const CompileSpec& spec : specs) {
      if (spec.key != "known") {
        return absl::InvalidArgumentError("unknown spec");
      }
    }
    return absl::OkStatus();
  }
  absl::StatusOr<ResultMap> preprocess_all(const SubprogramMap& partitions,
                                           RoutedBlobStore& store) const override {
    ++calls;
    ResultMap results;
    for (const auto& [method, subprograms] : partitions) {
      for (const Subprogram& partition : subprograms) {
        seen.push_back(partition.describe());
        texts.push_back(print_graph(*partition.graph));
        EXPECT_TRUE(verify_graph(*partition.graph).ok());
        const std::string payload = partition.describe();
        PreprocessResult result;
        result.payload = Blob::owned({payload.begin(), payload.end()});
        result.debug_handles[7] = partition.graph->outputs()[0]->name();
        results[method].push_back(std::move(result));
        EXPECT_TRUE(store.add_named_blob(payload, Blob::owned({1}), 1, "").ok());
      }
    }
    if (tamper) tamper(results);
    return results;
  }

  mutable int calls = 0;
  mutable std::vector<std::string> seen;
  mutable std::vector<std::string> texts;
  std::function<void(ResultMap&)> tamper;
  AddPartitioner partitioner_;
};

inline ConstantPtr zeros(const std::string& fqn, const TensorType& type) {
  auto constant = std::make_shared<Constant>();
  constant->fqn = fqn;
  constant->type = type;
  constant->kind = fqn == "state" ? Constant::Kind::kMutableBuffer : Constant::Kind::kParameter;
  constant->data = Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes())));
  return constant;
}

inline std::unique_ptr<Graph> parse(const std::string& text) {
  auto graph = parse_graph(text, find_op, zeros);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : nullptr;
}

inline Program program_of(const std::vector<std::pair<std::string, std::string>>& methods) {
  Program program;
  for (const auto& [name, text] : methods) {
    program.methods[name].graph = parse(text);
  }
  return program;
}

inline constexpr char kOneAndFour[] = R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %s, 1) : f32[2]
      %c = aten.relu.default(%b) : f32[2]
      %d = aten.add.Tensor(%c, %c, 1) : f32[2]
      %e = aten.relu.default(%d) : f32[2]
      return %e
    })";

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PARTITION_RECORDING_BACKEND_H_
