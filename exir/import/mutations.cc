// SPDX-License-Identifier: Apache-2.0
#include "exir/import/mutations.h"

namespace petrel::exir {
namespace {

bool aliases_first_argument(const OpInfo& op) { return op.has(kView) || op.has(kInPlace); }

// In-place operators that change what a tensor looks like but not its elements:
// detach_, t_, squeeze_.
bool writes_elements(const OpInfo& op) {
  return op.has(kInPlace) && !op.has(kView) && !op.has(kIdentity);
}

// The value whose memory `value` shares.
const Value* root_of(const Value* value) {
  while (value->producer() != nullptr) {
    const Node& node = *value->producer();
    if (!aliases_first_argument(node.op())) break;
    if (!node.arguments()[0].is_value()) break;
    value = node.arguments()[0].value();
  }
  return value;
}

}  // namespace

std::set<const Value*> written_roots(const Graph& graph) {
  std::set<const Value*> written;
  for (const auto& node : graph.nodes()) {
    const OpInfo& op = node->op();
    bool writes = writes_elements(op);
    // Batch norm in training mode writes its running statistics, which are
    // arguments like any others.
    for (const ArgSpec& spec : op.args) {
      writes = writes || (spec.is_written && !op.has(kInPlace));
    }
    if (!writes) continue;
    for (size_t i = 0; i < op.args.size(); ++i) {
      if (!op.args[i].is_written || !node->arguments()[i].is_value()) continue;
      const Value* root = root_of(node->arguments()[i].value());
      if (root->is_constant() || root->is_input()) written.insert(root);
    }
  }
  return written;
}

}  // namespace petrel::exir
