// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/verifier.h"
#include "exir/partition/cut.h"
#include "exir/partition/partition.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// The partitions of one method.
struct Cut {
  std::vector<std::vector<Node*>> groups;
  std::vector<Part> parts;
};

Cut cut(const std::string& method, Graph& graph, const Backend& backend,
        PartitionReport* report) {
  Cut cut;
  std::vector<LeftBehind> left_behind;
  cut.groups = propose_partitions(graph, backend.partitioner(), &left_behind);
  for (LeftBehind& left : left_behind) {
    left.method = method;
    report->left_behind.push_back(std::move(left));
  }
  PartitionReport::Taken taken;
  taken.method = method;
  taken.backend_id = backend.id();
  for (size_t i = 0; i < cut.groups.size(); ++i) {
    cut.parts.push_back(
        copy_part(cut.groups[i], absl::StrCat(method, "_", i)));
    taken.nodes += cut.groups[i].size();
  }
  taken.partitions = cut.groups.size();
  report->taken.push_back(std::move(taken));
  return cut;
}

// One result for every Subprogram and no other.
absl::Status check_results(const Backend& backend, const SubprogramMap& parts,
                           const ResultMap& results) {
  for (const auto& [method, subprograms] : parts) {
    auto it = results.find(method);
    const size_t count = it == results.end() ? 0 : it->second.size();
    if (count < subprograms.size()) {
      return absl::InternalError(absl::StrCat(
          "backend '", backend.id(), "' returned ", count, " of ",
          subprograms.size(), " results: none for ",
          subprograms[count].describe()));
    }
    if (count > subprograms.size()) {
      return absl::InternalError(absl::StrCat(
          "backend '", backend.id(), "' returned ", count,
          " results for method '", method, "', which has ",
          subprograms.size(), " partitions"));
    }
  }
  for (const auto& [method, unused] : results) {
    if (parts.count(method) == 0) {
      return absl::InternalError(
          absl::StrCat("backend '", backend.id(),
                       "' returned results for method '", method,
                       "', of which it was given no partition"));
    }
  }
  return absl::OkStatus();
}

void erase_unused_constants(Graph& graph) {
  for (Value* constant : graph.constants()) {
    if (!constant->is_used()) graph.erase_constant(constant);
  }
}

}  // namespace

absl::StatusOr<PartitionReport> lower_to_backend(
    Program& program, const Backend& backend,
    const std::vector<CompileSpec>& compile_specs, NamedBlobStore& store) {
  PETREL_RETURN_IF_ERROR(backend.check_compile_specs(compile_specs));
  PartitionReport report;
  std::map<std::string, Cut> cuts;
  SubprogramMap parts;
  for (auto& [name, method] : program.methods) {
    Cut& of_method = cuts[name] = cut(name, *method.graph, backend, &report);
    for (size_t i = 0; i < of_method.parts.size(); ++i) {
      Subprogram part;
      part.method = name;
      part.index = i;
      part.graph = of_method.parts[i].graph.get();
      part.compile_specs = compile_specs;
      parts[name].push_back(std::move(part));
    }
  }
  if (parts.empty()) return report;

  PETREL_ASSIGN_OR_RETURN(ResultMap results,
                          backend.preprocess_all(parts, store));
  PETREL_RETURN_IF_ERROR(check_results(backend, parts, results));
  for (auto& [name, method] : program.methods) {
    Graph& graph = *method.graph;
    Cut& of_method = cuts.at(name);
    make_contiguous(graph, of_method.groups);
    const std::vector<Node*> calls =
        replace_parts(graph, of_method.groups, of_method.parts);
    for (size_t i = 0; i < calls.size(); ++i) {
      PreprocessResult& result = results.at(name)[i];
      auto lowered = std::make_shared<LoweredPartition>();
      lowered->backend_id = backend.id();
      lowered->payload = std::move(result.payload);
      lowered->compile_specs = compile_specs;
      lowered->graph = std::move(of_method.parts[i].graph);
      lowered->debug_handles = std::move(result.debug_handles);
      calls[i]->set_delegate(std::move(lowered));
    }
    erase_unused_constants(graph);
    PETREL_RETURN_IF_ERROR(verify_graph(graph));
  }
  return report;
}

}  // namespace petrel::exir
