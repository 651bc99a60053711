// SPDX-License-Identifier: Apache-2.0
//
// A table is what the program itself computes of all 256 levels, by the reference kernels.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/fold/evaluate.h"
#include "exir/integer/forms.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/quantize/of_bytes.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// More are no function that anybody writes.
constexpr size_t kMostNodes = 64;

// The nodes between one dequantised value and a quantised one, in the order of the graph.
class Cone {
 public:
  explicit Cone(bool takes_channels) : takes_channels_(takes_channels) {}

  // False where there is no such value, or what is between has others. Looks no deeper than
  // there may be nodes, however many stand in a row.
  bool find(const Value* number, size_t depth = 0) {
    if (depth > kMostNodes) return false;
    if (const Node* const node = dequantising(number); node != nullptr) {
      const Value* const levels = node->input(arg::input);
      if (levels->is_constant()) return takes(*levels) && add(*node);
      if (source_ == nullptr) source_ = levels;
      return source_ == levels && add(*node);
    }
    if (number->is_constant()) return !number->constant()->is_mutable() && takes(*number);
    const Node* const node = number->producer();
    if (node == nullptr || !node->op().has(kElementwise) || !node->is_pure() ||
        node->num_results() != 1) {
      return false;
    }
    if (seen_.count(node) != 0) return true;
    for (const Argument& argument : node->arguments()) {
      if (argument.is_list()) return false;
    }
    for (const Value* operand : node->operands()) {
      if (!find(operand, depth + 1)) return false;
    }
    return add(*node);
  }

  const Value* source() const { return source_; }
  const std::vector<const Node*>& nodes() const { return nodes_; }
  const Channels& channels() const { return channels_; }

 private:
  // Constants of more than one element are of the same channels.
  bool takes(const Value& constant) {
    if (constant.tensor().numel() == 1) return true;
    const std::optional<Channels> its =
        takes_channels_ ? channels_of(constant.tensor()) : std::nullopt;
    if (!its) return false;
    if (channels_.count == 1) channels_ = *its;
    return channels_.count == its->count && channels_.from_last == its->from_last;
  }

  bool add(const Node& node) {
    if (seen_.insert(&node).second) nodes_.push_back(&node);
    return nodes_.size() <= kMostNodes;
  }

  const bool takes_channels_;
  Channels channels_;
  const Value* source_ = nullptr;
  std::set<const Node*> seen_;
  std::vector<const Node*> nodes_;
};

// All levels of `dtype`, the least first.
absl::StatusOr<ConstantPtr> all_levels(ScalarType dtype) {
  std::vector<double> levels;
  for (int i = 0; i < 256; ++i) levels.push_back(i - (dtype == ScalarType::kChar ? 128 : 0));
  auto constant = std::make_shared<Constant>();
  constant->fqn = "levels";
  constant->kind = Constant::Kind::kLiteral;
  constant->type = TensorType::contiguous(dtype, {256});
  PETREL_ASSIGN_OR_RETURN(constant->data, encode_constant(levels, dtype));
  return ConstantPtr(std::move(constant));
}

// A constant, of which `channel` is left where it has more than one.
absl::StatusOr<ConstantPtr> of_channel(const ConstantPtr& constant, size_t channel) {
  if (constant->type.numel() == 1) return constant;
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, decode_constant(*constant));
  auto one = std::make_shared<Constant>();
  one->fqn = absl::StrCat(constant->fqn, "@", channel);
  one->kind = constant->kind;
  one->type = TensorType::contiguous(constant->type.dtype, {1});
  PETREL_ASSIGN_OR_RETURN(one->data, encode_constant({numbers[channel]}, constant->type.dtype));
  return ConstantPtr(std::move(one));
}

absl::StatusOr<Blob> table_of(const Cone& cone, const Node& quantize, size_t channel) {
  auto graph = std::make_unique<Graph>("table");
  PETREL_ASSIGN_OR_RETURN(ConstantPtr levels, all_levels(cone.source()->tensor().dtype));
  std::map<const Value*, Value*> copies = {{cone.source(), graph->add_constant(std::move(levels))}};
  Builder b(*graph, nullptr);
  const auto copy = [&](const Node& node) -> absl::StatusOr<Value*> {
    std::vector<Argument> arguments = node.arguments();
    for (Argument& argument : arguments) {
      if (!argument.is_value()) continue;
      Value* const old = argument.value();
      auto [found, is_new] = copies.emplace(old, nullptr);
      if (is_new) {
        PETREL_ASSIGN_OR_RETURN(ConstantPtr number, of_channel(old->constant(), channel));
        found->second = graph->add_constant(std::move(number));
      }
      argument = Argument(found->second);
    }
    PETREL_ASSIGN_OR_RETURN(Node * made, b.node(node.op(), std::move(arguments)));
    copies[node.result()] = made->result();
    return made->result();
  };
  for (const Node* node : cone.nodes()) PETREL_RETURN_IF_ERROR(copy(*node).status());
  PETREL_ASSIGN_OR_RETURN(Value * result, copy(quantize));
  graph->set_outputs({result});
  PETREL_RETURN_IF_ERROR(lower_to_kernels(*graph, PassContext()).status());
  PETREL_ASSIGN_OR_RETURN(const std::vector<Blob> outputs, evaluate(std::move(graph)));
  return outputs[0];
}

// Whether `quantize` rounds what is computed of one tensor of its sizes.
bool has_cone(Cone& cone, const Node& quantize) {
  return cone.find(quantize.input(arg::input)) && cone.source() != nullptr &&
         cone.source()->tensor().without_order().all_sizes() ==
             quantize.result()->tensor().all_sizes();
}

absl::StatusOr<Value*> look_up(Builder& b, const Cone& cone, const Node& quantize, size_t channel,
                               Value* levels) {
  PETREL_ASSIGN_OR_RETURN(Blob data, table_of(cone, quantize, channel));
  if (data.size() != 256) return cannot("its numbers are more than one");
  PETREL_ASSIGN_OR_RETURN(
      Value * table,
      add_numbers(b, "int8_table", quantize.result()->tensor().dtype, std::move(data), {}));
  return b.call(petrel_ops::int8_table, {levels, table});
}

}  // namespace

absl::StatusOr<Value*> table_form(Builder& b, const Node& quantize) {
  Cone cone(false);
  if (!has_cone(cone, quantize)) return nullptr;
  return look_up(b, cone, quantize, 0, const_cast<Value*>(cone.source()));
}

absl::StatusOr<Value*> channel_tables_form(Builder& b, const Node& quantize) {
  Cone cone(true);
  if (!has_cone(cone, quantize)) return nullptr;
  auto* const source = const_cast<Value*>(cone.source());
  const auto [from_last, count] = cone.channels();
  const size_t rank = source->tensor().rank();
  if (from_last >= rank) return nullptr;
  const auto dim = static_cast<int64_t>(rank - 1 - from_last);
  std::vector<Value*> parts;
  for (int64_t i = 0; i < count; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * part, b.slice(source, dim, i, i + 1));
    PETREL_ASSIGN_OR_RETURN(part, look_up(b, cone, quantize, static_cast<size_t>(i), part));
    parts.push_back(part);
  }
  return b.call(aten::cat, {parts, dim});
}

}  // namespace petrel::exir
