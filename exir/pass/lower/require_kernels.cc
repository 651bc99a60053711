// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/lower/require_kernels.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"

namespace petrel::exir {

namespace {

// An operator that has kernels with fixed sizes may have none with others.
std::string varying_dims(const Node& node) {
  for (const Value* operand : node.operands()) {
    if (!operand->type().is_tensor()) continue;
    for (size_t dim = 0; dim < operand->tensor().rank(); ++dim) {
      if (!operand->tensor().varies(dim)) continue;
      return absl::StrCat(", node '", node.num_results() > 0 ? node.result()->name() : "",
                          "': dim ", dim, " of '", operand->name(),
                          "' varies; export it with a fixed size");
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<bool> require_kernels(Graph& graph, const PassContext&) {
  struct Missing {
    int count = 0;
    std::string first;
    std::string varying;
  };
  std::map<std::string, Missing> missing;
  for (const auto& node : graph.nodes()) {
    const OpInfo& op = node->op();
    if (op.is(petrel_ops::delegate_call) || !op.out_name.empty() || !node->regions().empty()) {
      continue;
    }
    Missing& entry = missing[op.full_name()];
    if (entry.count++ > 0) continue;
    entry.varying = varying_dims(*node);
    const std::string location = node->source().location();
    if (location.empty()) continue;
    entry.first =
        absl::StrCat(", the first is '", node->num_results() > 0 ? node->result()->name() : op.name,
                     "' at ", location);
  }
  if (missing.empty()) return false;
  std::string text = absl::StrCat(
      missing.size(), missing.size() == 1 ? " operator has" : " operators have", " no kernel: ");
  bool first = true;
  for (const auto& [name, entry] : missing) {
    absl::StrAppend(&text, first ? "" : ", ", name, " (", entry.count,
                    entry.count == 1 ? " node" : " nodes", entry.first, entry.varying, ")");
    first = false;
  }
  return absl::UnimplementedError(text);
}

}  // namespace petrel::exir
