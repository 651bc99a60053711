// SPDX-License-Identifier: Apache-2.0
//
// What KernelChoices tells those who plan memory.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/channel_layout.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

constexpr size_t kMostNodes = 6;  // that run together

// One element of the result is made of those of the operands at its place.
bool is_elementwise(const Node& node) {
  if (node.is(petrel_ops::int8_table)) return true;
  if (!node.is(petrel_ops::int8_add, petrel_ops::int8_mul)) return false;
  const TensorType& out = node.result()->tensor();
  const auto is_alike = [&](const TensorType& in) {
    return in.sizes == out.sizes && in.dim_order == out.dim_order && !in.is_dynamic();
  };
  return is_alike(node.input(arg::self)->tensor()) && is_alike(node.input(arg::other)->tensor());
}

bool is_of_bytes(const Value* value) {
  return !value->tensor().is_dynamic() && value->tensor().nbytes() == value->tensor().numel();
}

}  // namespace

absl::Status KernelChoices::lay_out(PlannedMethod* method) {
  auto border = lay_out_channels(*method, options_.channels_last_io, [this](const Node& node) {
    return options_.keeps_order || user_kernel(node) != nullptr;
  });
  if (!border.ok()) return border.status();
  laid_out_.insert(border->begin(), border->end());
  shared_.clear();
  positions_.clear();
  for (const auto& node : method->graph->nodes()) {
    const auto position = static_cast<int64_t>(positions_.size());
    positions_[node.get()] = position;
  }
  return absl::OkStatus();
}

const VariantRow* KernelChoices::row_variant_of(const Node& node,
                                                const Int8Product& product) const {
  if (user_kernel(node) != nullptr) return nullptr;
  const VariantRow* plain = variant_of(node, product);
  if (plain != choose_variant(product, options_.target)) return plain;  // the user says so
  return choose_row_variant(product, options_.target);
}

std::optional<RowBlock> KernelChoices::block_of(const StepNodes& nodes) const {
  const bool has_user = std::any_of(
      nodes.begin(), nodes.end(), [&](const Node* node) { return user_kernel(*node) != nullptr; });
  if (has_user || options_.keeps_order) return std::nullopt;
  return make_row_block(nodes, [this](const Node& node, const Int8Product& product) {
    return row_variant_of(node, product);
  });
}

int64_t KernelChoices::scratch_bytes(const StepNodes& nodes) const {
  if (nodes.size() > 1) return block_of(nodes)->scratch_bytes;
  const Node& node = *nodes[0];
  const auto product = user_kernel(node) == nullptr ? int8_product(node) : std::nullopt;
  return product.has_value() ? variant_of(node, *product)->scratch_bytes(*product) : 0;
}

std::optional<Accesses> KernelChoices::accesses_of_step(const StepNodes& nodes,
                                                        const Value* operand) const {
  if (options_.keeps_order) return std::nullopt;
  if (nodes.size() > 1) {
    const RowBlock block = *block_of(nodes);
    if (block.input != operand) return std::nullopt;
    return emit_c::accesses_of(block);
  }
  const Node& node = *nodes[0];
  if (user_kernel(node) != nullptr || node.num_results() != 1) return std::nullopt;
  Accesses accesses;
  if (is_elementwise(node) && is_of_bytes(operand) && is_of_bytes(node.result())) {
    add_elements(0, node.result()->tensor().numel(), &accesses);
    return accesses;
  }
  const auto product = int8_product(node);
  if (!product.has_value() || product->is_linear || product->batch != 1) return std::nullopt;
  if (operand != node.input(arg::input)) return std::nullopt;
  if (!lies_by_places(operand) || !lies_by_places(node.result())) return std::nullopt;
  const AccessOrder order = variant_of(node, *product)->order;
  if (order == AccessOrder::kUnknown) return std::nullopt;
  add_product({&*product, order, 0, product->out_height}, &accesses);
  return accesses;
}

bool KernelChoices::goes_by_channels(const StepNodes& nodes) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
    const auto product = int8_product(*node);
    if (!product.has_value()) return false;
    const VariantRow* variant =
        nodes.size() > 1 ? row_variant_of(*node, *product) : variant_of(*node, *product);
    return variant->order == AccessOrder::kFourChannels;
  });
}

std::optional<SharedBytes> KernelChoices::shared_bytes(const StepNodes& nodes,
                                                       const Value* operand) const {
  const auto [known, is_new] = shared_.emplace(std::make_pair(nodes, operand), std::nullopt);
  if (!is_new) return known->second;
  const auto accesses = accesses_of_step(nodes, operand);
  if (!accesses.has_value()) return std::nullopt;
  SharedBytes how;
  // Writes between channels that are still read stay clear of them at one address only.
  how.is_exact = goes_by_channels(nodes) || (nodes.size() > 1 && adds_to_input(*block_of(nodes)));
  if (!how.is_exact) {
    how.lead = least_lead(*accesses);
  } else if (!check_lead(*accesses, 0).ok()) {
    return std::nullopt;
  }
  known->second = how;
  return how;
}

absl::Status KernelChoices::check_shared(const StepNodes& nodes, const Value* operand,
                                         int64_t lead) const {
  const auto accesses = accesses_of_step(nodes, operand);
  if (!accesses.has_value()) {
    return absl::InternalError(absl::StrCat("its result would lie over '", operand->name(),
                                            "', and nobody knows in which order it is read"));
  }
  return check_lead(*accesses, lead);
}

std::vector<StepNodes> KernelChoices::blocks_of(const Node& last) const {
  std::vector<StepNodes> blocks;
  if (options_.keeps_order || positions_.count(&last) == 0) return blocks;
  std::set<std::pair<int64_t, const Node*>> nodes = {{positions_.at(&last), &last}};
  while (nodes.size() < kMostNodes) {
    // The producer that comes last among those of what goes in.
    std::pair<int64_t, const Node*> next = {-1, nullptr};
    for (const auto& [position, node] : nodes) {
      if (!node->is(petrel_ops::int8_add, petrel_ops::int8_convolution)) return blocks;
      for (const Value* operand : node->operands()) {
        const Node* producer = operand->producer();
        if (producer == nullptr || !operand->has_single_user()) continue;
        const auto found = positions_.find(producer);
        if (found == positions_.end() || nodes.count({found->second, producer}) != 0) continue;
        next = std::max(next, std::make_pair(found->second, producer));
      }
    }
    if (next.second == nullptr) return blocks;
    nodes.insert(next);
    StepNodes block;
    for (const auto& [position, node] : nodes) block.push_back(node);
    if (block_of(block).has_value()) blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace petrel::exir::emit_c
