// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/whole_ranges.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/quantize/integer_roles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// What is looked at behind one value.
constexpr size_t kMostMoves = 64;

struct Part {
  double scale = 1;
  int64_t zero_point = 0, least = 0, most = 0;

  bool operator==(const Part& other) const {
    return scale == other.scale && zero_point == other.zero_point && least == other.least &&
           most == other.most;
  }
  double number(int64_t level) const { return static_cast<double>(level - zero_point) * scale; }
};

// nullopt where `node` makes no levels of a part of int8.
std::optional<Part> part_of(const Node& node) {
  if (!node.is(quantized_decomposed::quantize_per_tensor)) return std::nullopt;
  const Argument& scale = node.argument(arg::scale);
  const Argument* const numbers[] = {&node.argument(arg::zero_point),
                                     &node.argument(arg::quant_min),
                                     &node.argument(arg::quant_max)};
  const bool is_known =
      scale.is_number() && std::all_of(std::begin(numbers), std::end(numbers), [](const auto* one) {
        return one->is_int() && one->as_int() >= INT8_MIN && one->as_int() <= INT8_MAX;
      });
  if (!is_known || node.argument(arg::dtype) != Argument(ScalarType::kChar)) return std::nullopt;
  const Part part{scale.as_number(), numbers[0]->as_int(), numbers[1]->as_int(),
                  numbers[2]->as_int()};
  const bool is_part = part.least > INT8_MIN + 1 || part.most < INT8_MAX;
  const bool has_zero = part.least <= part.zero_point && part.zero_point <= part.most;
  // What is 0 or far out as a float is no end to clamp to.
  const bool is_scale = part.scale >= std::numeric_limits<float>::min() &&
                        part.scale * 255 < std::numeric_limits<float>::max();
  return is_part && has_zero && is_scale ? std::optional(part) : std::nullopt;
}

void widen(Node& node) {
  for (const auto& [name, end] :
       {std::pair(arg::quant_min, INT8_MIN), std::pair(arg::quant_max, INT8_MAX)}) {
    node.set_argument(static_cast<size_t>(node.op().find_arg(name)), Argument(int64_t{end}));
  }
}

class Widener {
 public:
  explicit Widener(Graph& graph) : graph_(graph) {}

  absl::StatusOr<bool> run() {
    for (Node* node : graph_.node_pointers()) {
      const std::optional<Part> part = part_of(*node);
      if (!part) continue;
      if (!lies_within(*node->input(arg::input), *part)) {
        PETREL_RETURN_IF_ERROR(clamp_input(*node, *part));
      }
      widen(*node);
      for (Node* user : node->result()->users()) {
        if (!user->is(quantized_decomposed::dequantize_per_tensor)) continue;
        if (user->argument(arg::scale) == node->argument(arg::scale) &&
            user->argument(arg::zero_point) == node->argument(arg::zero_point)) {
          known_[user->result()] = *part;
        }
        widen(*user);
      }
      changed_ = true;
    }
    return changed_;
  }

 private:
  // Whether a value is moved from numbers that `part` has.
  bool lies_within(const Value& value, const Part& part) const {
    std::vector<const Value*> open = {&value};
    for (size_t i = 0; i < open.size(); ++i) {
      if (open.size() > kMostMoves) return false;
      const auto found = known_.find(open[i]);
      if (found != known_.end() && found->second == part) continue;
      const Node* const node = open[i]->producer();
      if (node == nullptr || role_of(*node, QuantTarget::kBackends) != IntegerRole::kMove) {
        return false;
      }
      for (const Value* input : level_inputs(*node, QuantTarget::kBackends)) open.push_back(input);
    }
    return true;
  }

  // With the clamp that is there, where nothing else reads that: backends merge one.
  absl::Status clamp_input(Node& quantize, const Part& part) {
    double least = part.number(part.least), most = part.number(part.most);
    Value* input = quantize.input(arg::input);
    double inner_least = -std::numeric_limits<double>::infinity(), inner_most = -inner_least;
    Node* merged = input->producer();
    if (merged != nullptr && input->has_single_user() &&
        read_clamp(*merged, &inner_least, &inner_most)) {
      const double outer_least = least, outer_most = most;
      least = std::min(std::max(inner_least, outer_least), outer_most);
      most = std::min(std::max(inner_most, outer_least), outer_most);
      input = merged->input(arg::self);
    } else {
      merged = nullptr;
    }
    Builder b(graph_, &quantize);
    PETREL_ASSIGN_OR_RETURN(Value * clamped, b.call(aten::clamp, {input, least, most}));
    quantize.set_argument(0, Argument(clamped));
    if (merged != nullptr) graph_.erase(merged);
    return absl::OkStatus();
  }

  Graph& graph_;
  bool changed_ = false;
  std::unordered_map<const Value*, Part> known_;  // what is dequantised from a part
};

}  // namespace

absl::StatusOr<bool> take_whole_ranges(Graph& graph) { return Widener(graph).run(); }

}  // namespace petrel::exir
