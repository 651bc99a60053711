// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/ir/verifier.h"
#include "exir/partition/cut.h"
#include "exir/partition/partition.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// What one backend gets: its partitions of all methods, and the calls that stand for
// them in the same order and own their graphs.
struct Share {
  const Backend* backend = nullptr;
  SubprogramMap partitions;
  std::map<std::string, std::vector<Node*>> calls;
};

bool is_used(const Node& node) {
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) return true;
  }
  return false;
}

// All nodes as one group; none when there is no node.
absl::StatusOr<std::vector<std::vector<Node*>>> whole_graph(const Graph& graph,
                                                            const Backend& backend) {
  std::vector<Node*> group;
  for (Node* node : graph.node_pointers()) {
    if (!is_used(*node)) continue;
    const Support support = support_of(backend.partitioner(), *node);
    if (!support.supported) {
      return absl::InvalidArgumentError(
          absl::StrCat("backend '", backend.id(),
                       "' cannot take the whole method: ", node->describe(), ": ", support.reason));
    }
    group.push_back(node);
  }
  if (group.empty()) return std::vector<std::vector<Node*>>();
  return std::vector<std::vector<Node*>>{std::move(group)};
}

absl::Status check_width(const Backend& backend, const std::string& method,
                         const Partition& partition) {
  const size_t most = backend.partitioner().most_inputs_and_outputs();
  if (partition.inputs.size() + partition.outputs.size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "method '", method, "': a partition has ", partition.inputs.size(), " inputs and ",
      partition.outputs.size(), " outputs, backend '", backend.id(), "' takes at most ", most));
}

// Cuts the parts of `use` out of a graph of `method`, its own or that of a
// region, and leaves calls without payloads in their place. Partitions are numbered
// through the whole method.
absl::Status cut(const std::string& method, Graph& graph, const BackendUse& use, Share* share,
                 PartitionReport::Taken* taken, std::vector<LeftBehind>* out_left_behind) {
  const Backend& backend = *use.backend;
  std::vector<std::vector<Node*>> groups;
  if (use.whole_method) {
    absl::StatusOr<std::vector<std::vector<Node*>>> whole = whole_graph(graph, backend);
    if (!whole.ok()) return annotate(whole.status(), absl::StrCat("method '", method, "'"));
    groups = *std::move(whole);
  } else {
    groups = propose_partitions(graph, backend.partitioner(), out_left_behind, use.delegate);
  }
  std::vector<Partition> partitions;
  for (const std::vector<Node*>& group : groups) {
    partitions.push_back(copy_partition(group, absl::StrCat(method, "_", taken->partitions++),
                                        backend.partitioner()));
    PETREL_RETURN_IF_ERROR(check_width(backend, method, partitions.back()));
    taken->nodes += group.size();
    auto costs = backend.partitioner().costs(*partitions.back().graph);
    if (costs) taken->costs.push_back(*std::move(costs));
  }
  make_contiguous(graph, groups);
  const std::vector<Node*> calls = replace_partitions(graph, groups, partitions);
  for (size_t i = 0; i < calls.size(); ++i) {
    auto lowered = std::make_shared<LoweredPartition>();
    lowered->backend_id = backend.id();
    lowered->backend = &backend;
    lowered->compile_specs = use.compile_specs;
    lowered->graph = std::move(partitions[i].graph);
    Subprogram partition;
    partition.method = method;
    partition.index = share->partitions[method].size();
    partition.graph = lowered->graph.get();
    partition.compile_specs = use.compile_specs;
    share->partitions[method].push_back(std::move(partition));
    share->calls[method].push_back(calls[i]);
    calls[i]->set_delegate(std::move(lowered));
  }
  return absl::OkStatus();
}

// Nodes that the last of several backends left, with the reasons of all.
// `by_backend` is in order of priority.
std::vector<LeftBehind> join_reasons(
    const std::vector<std::pair<std::string, std::vector<LeftBehind>>>& by_backend) {
  if (by_backend.empty()) return {};
  std::vector<LeftBehind> left = by_backend.back().second;
  if (by_backend.size() == 1) return left;
  std::vector<std::map<std::string, std::string>> reasons;  // by node
  for (const auto& [id, nodes] : by_backend) {
    reasons.emplace_back();
    for (const LeftBehind& node : nodes) {
      reasons.back()[node.node] = absl::StrCat(id, ": ", node.reason);
    }
  }
  for (LeftBehind& node : left) {
    std::vector<std::string> all;
    for (const std::map<std::string, std::string>& of_backend : reasons) {
      const auto found = of_backend.find(node.node);
      if (found != of_backend.end()) all.push_back(found->second);
    }
    node.reason = absl::StrJoin(all, "; ");
  }
  return left;
}

// A payload, and debug ids that name values of the partition.
absl::Status check_result(const Backend& backend, const Subprogram& partition,
                          const PreprocessResult& result) {
  if (result.payload.size() == 0) {
    return absl::InternalError(absl::StrCat(
        "backend '", backend.id(), "' returned an empty payload for ", partition.describe()));
  }
  if (result.debug_handles.empty()) return absl::OkStatus();
  std::set<std::string> names;
  for (const auto& node : partition.graph->nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      names.insert(node->result(i)->name());
    }
  }
  for (const auto& [handle, name] : result.debug_handles) {
    if (names.count(name) != 0) continue;
    return absl::InternalError(absl::StrCat("backend '", backend.id(), "' maps debug id ", handle,
                                            " of ", partition.describe(), " to value '", name,
                                            "', which no node of the partition computes"));
  }
  return absl::OkStatus();
}

// One result for every Subprogram and no other.
absl::Status check_results(const Backend& backend, const SubprogramMap& partitions,
                           const ResultMap& results) {
  for (const auto& [method, subprograms] : partitions) {
    auto it = results.find(method);
    const size_t count = it == results.end() ? 0 : it->second.size();
    if (count < subprograms.size()) {
      return absl::InternalError(absl::StrCat("backend '", backend.id(), "' returned ", count,
                                              " of ", subprograms.size(), " results: none for ",
                                              subprograms[count].describe()));
    }
    if (count > subprograms.size()) {
      return absl::InternalError(absl::StrCat("backend '", backend.id(), "' returned ", count,
                                              " results for method '", method, "', which has ",
                                              subprograms.size(), " partitions"));
    }
    for (size_t i = 0; i < count; ++i) {
      PETREL_RETURN_IF_ERROR(check_result(backend, subprograms[i], it->second[i]));
    }
  }
  for (const auto& [method, unused] : results) {
    if (partitions.count(method) == 0) {
      return absl::InternalError(absl::StrCat("backend '", backend.id(),
                                              "' returned results for method '", method,
                                              "', of which it was given no partition"));
    }
  }
  return absl::OkStatus();
}

absl::Status check_declared(const Backend& backend, const SubprogramMap& partitions,
                            RoutedBlobStore& store) {
  for (const auto& [method, subprograms] : partitions) {
    for (const Subprogram& partition : subprograms) {
      for (const Value* constant : partition.graph->constants()) {
        const absl::Status status = store.check_declared(*constant->constant(), backend.id());
        if (!status.ok()) return annotate(status, partition.describe());
      }
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

absl::StatusOr<PartitionReport> lower_to_backends(Program& program,
                                                  const BackendSelection& selection,
                                                  RoutedBlobStore& store) {
  std::set<std::string> methods;
  for (const auto& [name, unused] : program.methods) methods.insert(name);
  PETREL_RETURN_IF_ERROR(selection.check(methods));

  PartitionReport report;
  // In the order in which backends come up, so that output is deterministic.
  std::vector<Share> shares;
  for (auto& [name, method] : program.methods) {
    const std::vector<Graph*> graphs = with_regions(*method.graph);
    // By graph: names of nodes are unique in one.
    std::vector<std::vector<std::pair<std::string, std::vector<LeftBehind>>>> left(graphs.size());
    for (const BackendUse& use : selection.of(name)) {
      auto share = std::find_if(shares.begin(), shares.end(),
                                [&](const Share& known) { return known.backend == use.backend; });
      if (share == shares.end()) {
        share = shares.insert(share, Share{use.backend, {}, {}});
      }
      PartitionReport::Taken taken;
      taken.method = name;
      taken.backend_id = use.backend->id();
      for (size_t g = 0; g < graphs.size(); ++g) {
        left[g].emplace_back(use.backend->id(), std::vector<LeftBehind>());
        PETREL_RETURN_IF_ERROR(cut(name, *graphs[g], use, &*share, &taken, &left[g].back().second));
      }
      report.taken.push_back(std::move(taken));
    }
    for (const auto& of_graph : left) {
      for (LeftBehind& node : join_reasons(of_graph)) {
        node.method = name;
        report.left_behind.push_back(std::move(node));
      }
    }
    for (Graph* graph : graphs) erase_unused_constants(*graph);
    PETREL_RETURN_IF_ERROR(verify_graph(*method.graph));
  }

  for (const Share& share : shares) {
    if (share.partitions.empty()) continue;
    store.begin_backend(share.backend->id());
    PETREL_ASSIGN_OR_RETURN(ResultMap results,
                            share.backend->preprocess_all(share.partitions, store));
    PETREL_RETURN_IF_ERROR(check_results(*share.backend, share.partitions, results));
    PETREL_RETURN_IF_ERROR(check_declared(*share.backend, share.partitions, store));
    for (const auto& [method, calls] : share.calls) {
      for (size_t i = 0; i < calls.size(); ++i) {
        PreprocessResult& result = results.at(method)[i];
        calls[i]->delegate()->payload = std::move(result.payload);
        calls[i]->delegate()->debug_handles = std::move(result.debug_handles);
      }
      for (PartitionReport::Taken& taken : report.taken) {
        if (taken.method != method || taken.backend_id != share.backend->id()) {
          continue;
        }
        for (const Node* call : calls) {
          taken.debug_handles.push_back(call->delegate()->debug_handles);
        }
      }
    }
  }
  return report;
}

absl::StatusOr<PartitionReport> lower_to_backend(Program& program, const Backend& backend,
                                                 const std::vector<CompileSpec>& compile_specs,
                                                 RoutedBlobStore& store) {
  BackendSelection selection;
  selection.for_all.push_back({&backend, compile_specs});
  return lower_to_backends(program, selection, store);
}

}  // namespace petrel::exir
