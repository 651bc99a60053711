// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/quantize_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/quantize/dynamic_graph.h"
#include "exir/quantize/equalise_graph.h"
#include "exir/quantize/half_graph.h"
#include "exir/quantize/int8_form.h"
#include "exir/quantize/scale_groups.h"
#include "exir/quantize/shift_graph.h"
#include "exir/quantize/stored_weights.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

TensorType with_dtype(TensorType type, ScalarType dtype) {
  type.dtype = dtype;
  return type;
}

absl::Status check_kept(const Graph& graph, const MethodQuantization& method) {
  std::set<std::string> known;
  for (const auto& node : graph.nodes()) {
    if (node->num_results() > 0) known.insert(node->result()->name());
  }
  for (const auto& [name, why] : method.keep_float) {
    if (known.count(name) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the record keeps '", name, "' float, which is not a node"));
  }
  for (const auto& [name, form] : method.on_backends) {
    if (known.count(name) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the record says how backends compute '", name, "', which is not a node"));
  }
  return absl::OkStatus();
}

constexpr char kOfAnother[] =
    "; it is of another model, or was made for a backend that has other operators whole: then "
    "quantise the model for this one";

std::string made_by(const Value& value) {
  if (value.producer() == nullptr) return "";
  const Node& node = *value.producer();
  const std::string location = node.source().location();
  return absl::StrCat(", which ", node.op().full_name(), " makes",
                      location.empty() ? "" : " at " + location);
}

// The static scheme.
class Rewriter {
 public:
  Rewriter(Graph& graph, const MethodQuantization& method, QuantTarget target,
           StoredWeights* weights)
      : graph_(graph), method_(method), target_(target), weights_(*weights) {}

  absl::StatusOr<std::vector<LeftFloat>> run() {
    QuantAnnotation annotation = annotate_method(graph_, method_, target_);
    PETREL_RETURN_IF_ERROR(check_rows(annotation.rows));
    PETREL_RETURN_IF_ERROR(check_values(annotation));
    for (const std::vector<Value*>& group : annotation.groups) {
      for (Value* value : group) {
        const auto found = method_.values.find(value->name());
        if (found == method_.values.end()) {
          // Samples need not tell of what integers alone would take (scale_groups.h).
          if (target_ == QuantTarget::kIntegers) continue;
          return absl::InvalidArgumentError(absl::StrCat("the record has no numbers for value '",
                                                         value->name(), "'", made_by(*value),
                                                         kOfAnother));
        }
        if (value->is_constant() && !value->constant()->is_mutable()) {
          PETREL_RETURN_IF_ERROR(convert_constant(value, found->second.numbers, annotation.nodes));
        } else {
          convert(value, found->second.numbers, annotation.nodes);
        }
      }
    }
    for (Node* node : graph_.node_pointers()) {
      if (annotation.nodes.count(node) == 0) continue;
      if (Value* weight = product_weight(*node); weight != nullptr) {
        PETREL_RETURN_IF_ERROR(store(*node, weight));
      }
    }
    PETREL_RETURN_IF_ERROR(quantize_layers(graph_, annotation.rows, method_, &weights_));
    return std::move(annotation.left);
  }

 private:
  absl::Status check_rows(const std::vector<Node*>& rows) const {
    for (const Node* node : rows) {
      const std::string misfit = product_weight(*node) == nullptr
                                     ? "is not a product with a constant weight"
                                     : misfit_of_rows(*node, method_);
      if (misfit.empty()) continue;
      return absl::InvalidArgumentError(absl::StrCat("the record has '", node->result()->name(),
                                                     "' computed by rows, which ", misfit));
    }
    return absl::OkStatus();
  }

  // Of a record that serves other targets, too.
  absl::Status check_values(const QuantAnnotation& annotation) const {
    std::set<std::string> known;
    for (const std::vector<Value*>& group : annotation.groups) {
      for (const Value* value : group) known.insert(value->name());
    }
    const auto find_unknown = [&] {
      return std::find_if(method_.values.begin(), method_.values.end(),
                          [&](const auto& entry) { return known.count(entry.first) == 0; });
    };
    if (find_unknown() == method_.values.end()) return absl::OkStatus();
    PETREL_ASSIGN_OR_RETURN(known, names_of_record(graph_, method_.keep_float));
    const auto unknown = find_unknown();
    if (unknown == method_.values.end()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the record has numbers for '", unknown->first, "', ",
                     why_unknown(unknown->first, annotation.left), kOfAnother));
  }

  // What is told of a name that no integers stand for.
  std::string why_unknown(const std::string& name, const std::vector<LeftFloat>& left) const {
    for (const auto& node : graph_.nodes()) {
      if (node->num_results() == 0 || node->result()->name() != name) continue;
      const auto reason = std::find_if(left.begin(), left.end(),
                                       [&](const LeftFloat& one) { return one.node == name; });
      return absl::StrCat("which ", node->op().full_name(), " makes in floats",
                          reason == left.end() ? "" : ": it " + reason->reason);
    }
    const auto is_it = [&](const Value* value) { return value->name() == name; };
    const std::vector<Value*>& inputs = graph_.inputs();
    return std::any_of(inputs.begin(), inputs.end(), is_it) ? "an input that only floats read"
                                                            : "which is not a value of the graph";
  }

  // Makes `by` what nodes of integers among `users` take.
  void replace_in(const std::vector<Node*>& users, const std::set<const Node*>& nodes, Value* value,
                  Value* by) const {
    for (Node* user : users) {
      const bool chooses = target_ == QuantTarget::kIntegers && chooses_among_levels(*user);
      if (nodes.count(user) == 0 && !chooses) continue;
      for (size_t i = 0; i < user->arguments().size(); ++i) {
        Argument argument = user->arguments()[i];
        argument.replace(value, by);
        user->set_argument(i, std::move(argument));
      }
    }
  }

  // A node that was quantised makes integers for all its users; of others, and of inputs,
  // integers are made for nodes that take them.
  void convert(Value* value, const Affine& numbers, const std::set<const Node*>& nodes) {
    const std::vector<Argument> of_value = level_arguments(value, numbers);
    const Type integers(with_dtype(value->tensor(), ScalarType::kChar));
    const std::vector<Node*> users = value->users();
    Node* const quantize =
        value->producer() != nullptr
            ? graph_.insert_after(value->producer(), op(quantized_decomposed::quantize_per_tensor),
                                  of_value, {integers}, value->name() + "_quantized")
            : graph_.insert_before(graph_.nodes().front().get(),
                                   op(quantized_decomposed::quantize_per_tensor), of_value,
                                   {integers}, value->name() + "_quantized");
    std::vector<Argument> of_integers = level_arguments(quantize->result(), numbers);
    of_integers.emplace_back();
    Node* const dequantize =
        graph_.insert_after(quantize, op(quantized_decomposed::dequantize_per_tensor), of_integers,
                            {value->type()}, value->name() + "_dequantized");
    if (value->producer() != nullptr && nodes.count(value->producer()) != 0) {
      graph_.replace_all_uses(value, dequantize->result());
      quantize->set_argument(0, Argument(value));
      return;
    }
    replace_in(users, nodes, value, dequantize->result());
  }

  // An operand that is no weight: all its elements have the scale that the record has.
  absl::Status convert_constant(Value* value, const Affine& numbers,
                                const std::set<const Node*>& nodes) {
    PETREL_ASSIGN_OR_RETURN(const ConstantPtr levels,
                            weights_.per_tensor(value->constant(), numbers));
    std::vector<Argument> arguments = level_arguments(graph_.add_constant(levels), numbers);
    arguments.emplace_back();
    Node* const dequantize = graph_.insert_before(
        graph_.nodes().front().get(), op(quantized_decomposed::dequantize_per_tensor),
        std::move(arguments), {value->type()}, value->name() + "_dequantized");
    std::vector<Node*> users;
    for (Node* user : value->users()) {
      if (product_weight(*user) == nullptr) users.push_back(user);
    }
    replace_in(users, nodes, value, dequantize->result());
    if (!value->is_used()) graph_.erase_constant(value);
    return absl::OkStatus();
  }

  absl::Status store(Node& product, Value* weight) {
    const auto shifts = method_.shifts.find(product.result()->name());
    if (shifts != method_.shifts.end()) {
      PETREL_RETURN_IF_ERROR(add_shifts(product, shifts->second.of_channels));
    }
    PETREL_ASSIGN_OR_RETURN(Value * levels, weight_in_levels(product, &weights_));
    for (size_t i = 0; i < product.arguments().size(); ++i) {
      Argument argument = product.arguments()[i];
      argument.replace(weight, levels);
      product.set_argument(i, std::move(argument));
    }
    if (!weight->is_used()) graph_.erase_constant(weight);
    return absl::OkStatus();
  }

  Graph& graph_;
  const MethodQuantization& method_;
  const QuantTarget target_;
  StoredWeights& weights_;
};

absl::StatusOr<std::vector<LeftFloat>> quantize_graph(Graph& graph,
                                                      const MethodQuantization& method,
                                                      const SharedConstants& shared,
                                                      QuantTarget target, StoredWeights* weights) {
  PETREL_RETURN_IF_ERROR(check_kept(graph, method));
  if (method.scheme == QuantScheme::kStaticInt8) {
    PETREL_RETURN_IF_ERROR(check_shifts(graph, method));
    PETREL_RETURN_IF_ERROR(equalise_graph(graph, method.equalised, shared));
    return Rewriter(graph, method, target, weights).run();
  }
  if (!method.equalised.empty() || !method.shifts.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the record has numbers for channels, and its scheme ",
                     scheme_name(method.scheme), " needs none"));
  }
  if (!method.values.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the record has numbers for '", method.values.begin()->first,
                     "', and its scheme ", scheme_name(method.scheme), " needs none"));
  }
  if (method.scheme == QuantScheme::kHalf) {
    HalfAnnotation half = annotate_half(graph, method.keep_float);
    PETREL_RETURN_IF_ERROR(store_in_half(graph, half.nodes, weights));
    return std::move(half.left);
  }
  DynamicAnnotation annotation = annotate_dynamic(graph, method);
  PETREL_RETURN_IF_ERROR(quantize_layers(graph, annotation.layers, method, weights));
  return std::move(annotation.left);
}

// Of a constant, what its elements lie in.
absl::StatusOr<Range> range_seen(const Value& value, const Ranges& ranges) {
  if (value.is_constant()) return range_of(*value.constant());
  const auto found = ranges.find(value.name());
  if (found != ranges.end()) return found->second;
  return absl::InvalidArgumentError(absl::StrCat("nothing was seen of value '", value.name(), "'"));
}

struct SeenValue {
  const Value* value = nullptr;
  Range range;
};

// Without those that samples left out, and may.
absl::StatusOr<std::vector<SeenValue>> seen_of(const ScaleGroup& group, const Ranges& ranges) {
  std::vector<SeenValue> seen;
  for (const Value* value : group.values) {
    const absl::StatusOr<Range> range = range_seen(*value, ranges);
    if (range.ok()) {
      seen.push_back({value, *range});
    } else if (group.optional.count(value) == 0) {
      return range.status();
    }
  }
  return seen;
}

Range range_of_all(const std::vector<SeenValue>& seen) {
  Range all;
  for (const SeenValue& one : seen) all.include(one.range);
  return all;
}

// Takes out those that one scale for all shows. It would leave the others less than a level each,
// such as what is chosen beside a mask of -1e9. 0 any scale shows.
std::vector<SeenValue> take_wide(std::vector<SeenValue>* seen) {
  constexpr double kLevels = 255;
  const auto reach = [](const Range& range) {
    if (range.is_empty()) return 0.0;
    return std::max(static_cast<double>(range.max), 0.0) -
           std::min(static_cast<double>(range.min), 0.0);
  };
  const double all = reach(range_of_all(*seen));
  const auto is_narrow = [&](const SeenValue& one) {
    const double own = reach(one.range);
    return own > 0 && own * kLevels < all;
  };
  const auto middle = std::stable_partition(seen->begin(), seen->end(), is_narrow);
  std::vector<SeenValue> wide(middle, seen->end());
  seen->erase(middle, seen->end());
  return wide;
}

void put_numbers(const Affine& numbers, const std::vector<SeenValue>& seen,
                 MethodQuantization* method) {
  for (const SeenValue& one : seen) {
    method->values[one.value->name()] = {one.range.is_empty() ? Range{0, 0} : one.range, numbers};
  }
}

}  // namespace

std::vector<const Node*> quantizable_nodes(const Graph& graph, const MethodQuantization& method,
                                           QuantTarget target) {
  std::vector<const Node*> nodes;
  if (method.scheme == QuantScheme::kHalf) {
    const HalfAnnotation half = annotate_half(graph, method.keep_float);
    nodes.assign(half.nodes.begin(), half.nodes.end());
    return nodes;
  }
  if (method.scheme != QuantScheme::kStaticInt8) {
    const DynamicAnnotation annotation = annotate_dynamic(graph, method);
    nodes.assign(annotation.layers.begin(), annotation.layers.end());
    return nodes;
  }
  QuantAnnotation annotation = annotate_method(graph, method, target);
  annotation.nodes.insert(annotation.rows.begin(), annotation.rows.end());
  for (const auto& node : graph.nodes()) {
    if (annotation.nodes.count(node.get()) != 0) nodes.push_back(node.get());
  }
  return nodes;
}

ObservedValues observed_values(const Graph& graph, const KeptFloat& keep_float) {
  ObservedValues observed;
  for (const ScaleGroup& group : scale_groups(graph, keep_float)) {
    for (Value* value : group.values) {
      if (value->is_constant()) continue;
      observed.values.push_back(value);
      if (group.optional.count(value) != 0) observed.optional.insert(value->name());
    }
  }
  return observed;
}

absl::StatusOr<Ranges> shared_ranges(const Graph& graph, const Ranges& ranges,
                                     const KeptFloat& keep_float) {
  Ranges shared;
  for (const ScaleGroup& group : scale_groups(graph, keep_float)) {
    PETREL_ASSIGN_OR_RETURN(const std::vector<SeenValue> seen, seen_of(group, ranges));
    Range all = range_of_all(seen);
    // Values without elements were seen, but nothing of them.
    if (all.is_empty()) all = {0, 0};
    for (const SeenValue& one : seen) shared[one.value->name()] = all;
  }
  return shared;
}

absl::StatusOr<MethodQuantization> choose_numbers(const Graph& graph, const Ranges& ranges,
                                                  const Histograms& histograms,
                                                  const RangeChoice& choice,
                                                  const KeptFloat& keep_float) {
  PETREL_ASSIGN_OR_RETURN(const Ranges shared, shared_ranges(graph, ranges, keep_float));
  MethodQuantization method;
  method.keep_float = keep_float;
  for (const ScaleGroup& group : scale_groups(graph, keep_float)) {
    PETREL_ASSIGN_OR_RETURN(const std::vector<SeenValue> seen, seen_of(group, ranges));
    if (seen.empty()) continue;
    std::vector<SeenValue> narrow = seen;
    const std::vector<SeenValue> wide = take_wide(&narrow);
    Histogram all(shared.at(seen[0].value->name()));
    for (const SeenValue& one : wide) {
      const auto found = histograms.find(one.value->name());
      if (found != histograms.end()) all.add(found->second);
    }
    put_numbers(affine_of(all.part(choice)), wide, &method);
    while (!narrow.empty()) {
      const Affine numbers = affine_of(range_of_all(narrow));
      put_numbers(numbers, take_wide(&narrow), &method);
    }
  }
  return method;
}

absl::StatusOr<std::map<std::string, std::vector<LeftFloat>>> quantize_program(
    Program& program, const QuantizationRecord& record, QuantTarget target) {
  std::map<std::string, std::vector<LeftFloat>> left;
  StoredWeights weights(record.roundings);
  const SharedConstants shared = shared_constants(program);
  for (const auto& [name, method] : program.methods) {
    if (record.methods.count(name) != 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("the record has no method '", name, "'"));
  }
  for (const auto& [name, quantization] : record.methods) {
    const auto method = program.methods.find(name);
    if (method == program.methods.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the record is of a method '", name, "', which the program has not"));
    }
    auto kept = quantize_graph(*method->second.graph, quantization, shared, target, &weights);
    if (!kept.ok()) return annotate(kept.status(), absl::StrCat("method '", name, "'"));
    left[name] = *std::move(kept);
  }
  PETREL_RETURN_IF_ERROR(weights.check_all_taken());
  return left;
}

}  // namespace petrel::exir
