// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/wide_graph.h"

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/retype_graph.h"

namespace petrel::exir {
namespace {

bool is_product(const Node& node) {
  return node.is(aten::convolution, aten::linear, aten::mm, aten::addmm, aten::bmm,
                 aten::scaled_dot_product_attention);
}

// `narrow` in f32, lying as it does.
ConstantPtr in_floats(const Constant& narrow) {
  auto wide = std::make_shared<Constant>();
  wide->kind = narrow.kind;
  wide->fqn = absl::StrCat(narrow.fqn, "@f32");
  wide->type = narrow.type;
  wide->type.dtype = ScalarType::kFloat;
  wide->made_of = narrow.sources();
  const auto count = static_cast<size_t>(narrow.type.numel());
  const auto produce = [data = narrow.data, type = narrow.type.dtype,
                        count](absl::Span<uint8_t> out) {
    const Blob::Bytes bytes = data.bytes();
    for (size_t i = 0; i < count; ++i) {
      const auto value =
          static_cast<float>(decode_element(bytes.data() + i * item_size(type), type));
      std::memcpy(out.data() + i * sizeof(value), &value, sizeof(value));
    }
  };
  wide->data = Blob::produced(count * sizeof(float), produce);
  return wide;
}

}  // namespace

absl::Status widen_floats(Program& program, ScalarType type, const MayWiden& may_widen) {
  std::map<ConstantPtr, ConstantPtr> made;
  const auto constant = [&](const ConstantPtr& narrow) -> absl::StatusOr<ConstantPtr> {
    ConstantPtr& wide = made[narrow];
    if (wide == nullptr) wide = in_floats(*narrow);
    return wide;
  };
  for (auto& [name, method] : program.methods) {
    std::vector<const Node*> candidates;
    for (const auto& node : method.graph->nodes()) {
      if (computes_in(*node, type) && node->regions().empty() && may_widen(name, node->op())) {
        candidates.push_back(node.get());
      }
    }
    const std::set<const Node*> connected = connected_to(candidates, is_product);
    if (connected.empty()) continue;
    std::vector<Node*> nodes;
    for (Node* node : method.graph->node_pointers()) {
      if (connected.count(node) != 0) nodes.push_back(node);
    }
    const absl::Status done = retype(*method.graph, nodes, {type, ScalarType::kFloat, constant});
    if (!done.ok()) return annotate(done, absl::StrCat("method '", name, "'"));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
