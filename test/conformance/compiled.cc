// SPDX-License-Identifier: Apache-2.0
#include "test/conformance/compiled.h"

#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit/emit.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "exir/pass/pipeline.h"
#include "exir/status_macros.h"

namespace petrel::conformance {
namespace {

constexpr float kSteps = 64;  // values are multiples of 1/64: sums stay exact

exir::ConstantPtr make_constant(const std::string& name, const exir::TensorType& type,
                                const std::string& edition) {
  const Elements elements = constant_elements(name + edition, static_cast<size_t>(type.numel()));
  std::vector<uint8_t> bytes(elements.size() * sizeof(float));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  bytes.resize(static_cast<size_t>(type.nbytes()));
  auto constant = std::make_shared<exir::Constant>();
  constant->fqn = name;
  constant->type = type;
  constant->data = exir::Blob::owned(std::move(bytes));
  return constant;
}

std::vector<exir::TensorType> types_of(const std::vector<exir::Value*>& values) {
  std::vector<exir::TensorType> types;
  for (const exir::Value* value : values) types.push_back(value->tensor());
  return types;
}

// Of a graph and of the regions in it.
void collect_partitions(const std::string& method, const exir::Graph& graph,
                        std::vector<CompiledPartition>* out) {
  for (const auto& node : graph.nodes()) {
    for (const auto& region : node->regions()) collect_partitions(method, *region, out);
    if (node->delegate() == nullptr) continue;
    const exir::LoweredPartition& lowered = *node->delegate();
    const exir::Blob::Bytes payload = lowered.payload.bytes();
    CompiledPartition partition;
    partition.method = method;
    partition.payload.assign(payload.span().begin(), payload.span().end());
    partition.compile_specs = lowered.compile_specs;
    partition.inputs = types_of(lowered.graph->inputs());
    partition.outputs = types_of(lowered.graph->outputs());
    out->push_back(std::move(partition));
  }
}

std::vector<CompiledPartition> partitions_of(const exir::Program& program) {
  std::vector<CompiledPartition> partitions;
  for (const auto& [name, method] : program.methods) {
    collect_partitions(name, *method.graph, &partitions);
  }
  return partitions;
}

}  // namespace

size_t Compiled::delegated_nodes() const {
  size_t nodes = 0;
  for (const auto& taken : report.taken) nodes += taken.nodes;
  return nodes;
}

Elements constant_elements(const std::string& name, size_t count) {
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937 random(seed);
  Elements elements(count);
  for (float& element : elements) {
    element = static_cast<float>(random() % 129) / kSteps - 1;
  }
  return elements;
}

std::vector<Elements> make_inputs(const std::vector<exir::TensorType>& types, uint32_t seed) {
  std::vector<Elements> inputs;
  for (size_t i = 0; i < types.size(); ++i) {
    inputs.push_back(constant_elements(absl::StrCat("input ", i, " of ", seed),
                                       static_cast<size_t>(types[i].numel())));
  }
  return inputs;
}

absl::StatusOr<exir::Program> parse_program(const Methods& methods, const std::string& edition) {
  const auto make = [&](const std::string& name, const exir::TensorType& type) {
    return make_constant(name, type, edition);
  };
  exir::Program program;
  for (const auto& [name, text] : methods) {
    PETREL_ASSIGN_OR_RETURN(program.methods[name].graph,
                            exir::parse_graph(text, exir::find_op, make));
  }
  return program;
}

exir::WeightRoutes all_to(const std::string& file) {
  exir::WeightRoutes routes;
  routes.default_file = file;
  return routes;
}

absl::StatusOr<Compiled> compile(const Methods& methods, const exir::BackendSelection& backends,
                                 const exir::WeightRoutes& routes, const std::string& edition) {
  PETREL_ASSIGN_OR_RETURN(exir::Program program, parse_program(methods, edition));
  Compiled compiled;
  compiled.store = exir::RoutedBlobStore(routes);
  const auto forward = program.methods.find("forward");
  if (forward != program.methods.end()) {
    compiled.inputs = types_of(forward->second.graph->inputs());
  }
  PETREL_ASSIGN_OR_RETURN(compiled.report,
                          exir::lower_to_backends(program, backends, compiled.store));
  compiled.partitions = partitions_of(program);
  exir::PassContext context;
  context.keep_whole = [](const exir::OpInfo&) { return false; };
  PETREL_RETURN_IF_ERROR(
      exir::run_passes(program, exir::passes_after_partitioning(), context, "", nullptr));
  exir::EmitOptions options;
  options.external_weights = routes.default_file;
  options.planning.node_budget = 20000;
  exir::RoutedBlobStore store = compiled.store;  // emission adds what kernels use
  PETREL_RETURN_IF_ERROR(
      exir::emit_program(program, store, options,
                         [&](const std::string& name) -> absl::StatusOr<exir::ByteSink> {
                           std::string* file = &compiled.files[name];
                           return exir::ByteSink([file](absl::Span<const uint8_t> partition) {
                             file->append(reinterpret_cast<const char*>(partition.data()),
                                          partition.size());
                             return absl::OkStatus();
                           });
                         })
          .status());
  return compiled;
}

}  // namespace petrel::conformance
