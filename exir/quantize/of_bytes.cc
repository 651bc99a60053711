// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/of_bytes.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/quantize/integer_roles.h"

namespace petrel::exir {
namespace {

// Each has a table of 256 bytes and moves its elements.
constexpr int64_t kMostChannels = 16;

bool gives_float(const Node& node) {
  return node.num_results() == 1 && is_float_tensor(*node.result());
}

bool computes_elements(const Node& node) {
  // Levels that a scale was chosen for are no bytes of the model.
  if (!absl::StartsWith(node.op().full_name(), "aten.")) return false;
  if (!node.op().has(kElementwise) || node.op().has(kView) || !node.is_pure()) return false;
  return std::none_of(node.arguments().begin(), node.arguments().end(),
                      [](const Argument& argument) { return argument.is_list(); });
}

}  // namespace

bool is_of_bytes(const Value& value) {
  if (!value.type().is_tensor() || value.is_constant()) return false;
  return value.tensor().dtype == ScalarType::kByte || value.tensor().dtype == ScalarType::kChar;
}

bool takes_bytes_as_numbers(const Node& node) {
  return node.is(aten::_to_copy) && gives_float(node) && is_of_bytes(*node.input(arg::self));
}

bool computes_alike(const Node& node) {
  if (!gives_float(node) || !computes_elements(node)) return false;
  size_t operands = 0;
  for (const Value* operand : node.operands()) {
    if (!operand->is_constant()) ++operands;
    if (operand->is_constant() && operand->tensor().rank() > 0) return false;
  }
  return operands == 1;
}

bool only_moves(const Node& node) {
  return moves_levels(node) && (node.op().has(kView) || picks_elements(node)) &&
         node.arguments()[0].is_value();
}

std::optional<Channels> channels_of(const TensorType& type) {
  Channels channels;
  if (type.is_dynamic()) return std::nullopt;
  for (size_t i = 0; i < type.rank(); ++i) {
    const int64_t size = type.sizes[type.rank() - 1 - i];
    if (size == 1) continue;
    if (channels.count != 1 || size < 1 || size > kMostChannels) return std::nullopt;
    channels = {i, size};
  }
  return channels;
}

BytesInGraph::BytesInGraph(const Graph& graph) {
  for (const auto& node : graph.nodes()) look_at(*node);
}

OfBytes BytesInGraph::kind_of(const Value& value) const {
  const auto found = known_.find(&value);
  return found == known_.end() ? OfBytes::kNone : found->second.kind;
}

void BytesInGraph::look_at(const Node& node) {
  if (!gives_float(node)) return;
  const Value* const result = node.result();
  if (takes_bytes_as_numbers(node)) {
    known_[result] = {OfBytes::kLevels, node.input(arg::self)};
  } else if (only_moves(node)) {
    const auto before = known_.find(node.arguments()[0].value());
    if (before != known_.end() && before->second.kind != OfBytes::kByChannel) {
      known_[result] = {before->second.kind, result};
    }
  } else if (computes_elements(node)) {
    const Known known = computed(node);
    if (known.kind != OfBytes::kNone) known_[result] = known;
  }
}

BytesInGraph::Known BytesInGraph::computed(const Node& node) const {
  Known all{computes_alike(node) ? OfBytes::kAlike : OfBytes::kByChannel, nullptr};
  for (const Value* operand : node.operands()) {
    const auto before = known_.find(operand);
    const Value* source = before != known_.end() ? before->second.source : nullptr;
    if (source == nullptr && is_of_bytes(*operand)) source = operand;
    if (source != nullptr) {
      if (all.source != nullptr && all.source != source) return {};
      all.source = source;
      if (before != known_.end() && before->second.kind == OfBytes::kByChannel) {
        all.kind = OfBytes::kByChannel;
      }
      continue;
    }
    if (!operand->is_constant() || operand->constant()->is_mutable()) return {};
    if (!operand->type().is_tensor() || !channels_of(operand->tensor())) return {};
  }
  const bool has_its_sizes = all.source != nullptr && all.source->tensor().all_sizes() ==
                                                          node.result()->tensor().all_sizes();
  return has_its_sizes ? all : Known{};
}

}  // namespace petrel::exir
