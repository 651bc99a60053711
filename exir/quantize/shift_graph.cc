// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/shift_graph.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/int8_form.h"
#include "exir/quantize/product_shape.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

int bias_place(const Node& product) {
  if (product.is(aten::addmm)) return product.op().find_arg(arg::self);
  return product.is(aten::mm) ? -1 : product.op().find_arg(arg::bias);
}

// A place for a bias, which is empty or has a constant with a number for each channel.
bool takes_shifts(const Node& product) {
  if (product_weight(product) == nullptr || bias_place(product) < 0) return false;
  const Argument& bias = product.arguments()[static_cast<size_t>(bias_place(product))];
  if (bias.is_none()) return true;
  const Value& value = *bias.value();
  return value.is_constant() && !value.constant()->is_mutable() &&
         value.tensor().dtype == ScalarType::kFloat && value.tensor().rank() == 1 &&
         value.tensor().sizes[0] == static_cast<int64_t>(ProductShape(product).outputs());
}

// The mean of `value` for each index along `dim`.
Value* mean_of_channels(Graph& graph, Value* value, size_t dim) {
  Argument::Ints dims;
  for (size_t d = 0; d < value->tensor().rank(); ++d) {
    if (d != dim) dims.push_back(static_cast<int64_t>(d));
  }
  if (dims.empty()) return value;
  const TensorType type = TensorType::contiguous(ScalarType::kFloat, {value->tensor().sizes[dim]});
  return graph
      .append(op(aten::mean_dim), {Argument(value), Argument(dims), Argument(false), Argument()},
              {Type(type)}, value->name() + "_mean")
      ->result();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> show_shifts(Graph& graph, const MethodQuantization& method,
                                                     StoredWeights* weights) {
  const std::set<const Node*> nodes = annotate_method(graph, method).nodes;
  std::vector<std::string> names;
  std::vector<Value*> outputs;
  std::map<const Value*, Value*> shown;  // by what products read
  for (Node* node : graph.node_pointers()) {
    if (nodes.count(node) == 0 || !takes_shifts(*node)) continue;
    Value* const input = product_input(*node);
    const auto numbers = method.values.find(input->name());
    if (numbers == method.values.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the record has no numbers for value '", input->name(), "'"));
    }
    Value*& levels = shown[input];
    if (levels == nullptr) levels = shown_in_levels(node, input, numbers->second.numbers);
    PETREL_ASSIGN_OR_RETURN(Value * weight, weight_in_levels(*node, weights));
    std::vector<Argument> arguments = node->arguments();
    for (Argument& argument : arguments) {
      argument.replace(input, levels);
      argument.replace(product_weight(*node), weight);
    }
    const std::string& name = node->result()->name();
    Node* const other = graph.insert_after(node, node->op(), std::move(arguments),
                                           {node->result()->type()}, name + "_shifted");
    Node* const off = graph.insert_after(
        other, op(aten::sub_Tensor),
        {Argument(node->result()), Argument(other->result()), Argument(int64_t{1})},
        {node->result()->type()}, name + "_shift");
    names.push_back(name);
    outputs.push_back(mean_of_channels(graph, off->result(), ProductShape(*node).channel_dim()));
  }
  graph.set_outputs(std::move(outputs));
  return names;
}

std::string weight_digest(const Node& product) {
  return to_hex(product_weight(product)->constant()->data.sha256());
}

absl::Status check_shifts(const Graph& graph, const MethodQuantization& method) {
  std::map<std::string, const Node*> products;
  for (const auto& node : graph.nodes()) {
    if (product_weight(*node) != nullptr) products[node->result()->name()] = node.get();
  }
  for (const auto& [name, shifts] : method.shifts) {
    const auto found = products.find(name);
    if (found == products.end() || !takes_shifts(*found->second)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the record shifts '", name, "', which is not a product with a bias"));
    }
    if (shifts.digest != weight_digest(*found->second)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the record's shifts of '", name,
                       "' are of a weight with other numbers; they hold for one training"));
    }
    const size_t channels = ProductShape(*found->second).outputs();
    if (shifts.of_channels.size() == channels) continue;
    return absl::InvalidArgumentError(absl::StrCat("the record has ", shifts.of_channels.size(),
                                                   " shifts for '", name, "', which has ", channels,
                                                   " channels"));
  }
  return absl::OkStatus();
}

absl::Status add_shifts(Node& product, const std::vector<float>& shifts) {
  const auto place = static_cast<size_t>(bias_place(product));
  const Argument& bias = product.arguments()[place];
  const ConstantPtr weight = product_weight(product)->constant();
  auto made = std::make_shared<Constant>();
  made->made_of = weight->sources();
  std::vector<double> values(shifts.begin(), shifts.end());
  std::string name = absl::StrCat(weight->fqn, "@shift.", product.result()->name());
  Value* const old = bias.is_none() ? nullptr : bias.value();
  if (old != nullptr) {
    PETREL_ASSIGN_OR_RETURN(const std::vector<double> before, decode_constant(*old->constant()));
    for (size_t i = 0; i < values.size(); ++i) values[i] += before[i];
    name = absl::StrCat(old->constant()->fqn, "@shifted.", product.result()->name());
    for (const std::string& source : old->constant()->sources()) made->made_of.push_back(source);
  }
  made->type = TensorType::contiguous(ScalarType::kFloat, {static_cast<int64_t>(shifts.size())});
  PETREL_ASSIGN_OR_RETURN(made->data, encode_constant(values, ScalarType::kFloat));
  // Products of other methods may have the same names and other shifts.
  made->fqn = absl::StrCat(name, "_", to_hex(made->data.sha256()).substr(0, 8));
  product.set_argument(place, Argument(product.graph().add_constant(std::move(made))));
  if (old != nullptr && !old->is_used()) product.graph().erase_constant(old);
  return absl::OkStatus();
}

}  // namespace petrel::exir
