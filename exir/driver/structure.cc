// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/structure.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/backend/backend.h"
#include "exir/ir/text.h"

namespace petrel::exir {
namespace {

std::vector<Value*> values_of(const Graph& graph) {
  std::vector<Value*> values = graph.inputs();
  for (Value* constant : graph.constants()) values.push_back(constant);
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      values.push_back(node->result(i));
    }
  }
  return values;
}

// The text of `graph` with its values numbered.
std::string numbered_text(const Graph& graph) {
  const std::unique_ptr<Graph> copy = graph.clone();
  const std::vector<Value*> values = values_of(*copy);
  // In two steps: a number may be the name of another value.
  for (const char* prefix : {"\x01", "v"}) {
    for (size_t i = 0; i < values.size(); ++i) {
      copy->rename(values[i], absl::StrCat(prefix, i));
    }
  }
  return print_graph(*copy);
}

void append_digest(const std::string& what, const Blob& blob, std::string* text) {
  absl::StrAppend(text, what, " ", to_hex(blob.sha256()), "\n");
}

void append_delegate(const LoweredPartition& part, std::string* text) {
  absl::StrAppend(text, "delegate ", part.backend_id, "\n");
  for (const CompileSpec& spec : part.compile_specs) {
    absl::StrAppend(text, "  ", spec.key, "=", spec.value, "\n");
  }
  append_digest("  payload", part.payload, text);
}

}  // namespace

Sha256 structure_of(const Program& program) {
  std::string text;
  for (const auto& [name, method] : program.methods) {
    absl::StrAppend(&text, "method ", name, "\n", numbered_text(*method.graph));
    for (const Value* value : method.graph->constants()) {
      const Constant& constant = *value->constant();
      if (constant.kind == Constant::Kind::kLiteral || constant.is_mutable()) {
        append_digest(constant.fqn, constant.data, &text);
      }
    }
    for (const auto& node : method.graph->nodes()) {
      if (node->delegate() != nullptr) append_delegate(*node->delegate(), &text);
    }
  }
  return sha256_of(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace petrel::exir
