// SPDX-License-Identifier: Apache-2.0
//
// Branches and loops of archives: nodes that hold graphs.
//
//   cond        pred, graph of the true branch, graph of the false one, operands
//   map_impl    graph of the body, tensors to map over, operands
//   scan        graph of the body, first values, tensors to map over, operands
//   while_loop  graph of the condition, graph of the body, first values, operands
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/import/graph_reader.h"
#include "exir/ir/region_values.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

struct ArchivedRegion {
  std::string name;
  Json graph;
};

// The inputs of one control-flow node.
struct ArchivedInputs {
  std::vector<ArchivedRegion> regions;
  std::vector<Json> others;  // unions, in order
};

absl::StatusOr<ArchivedInputs> split_inputs(const Json& node) {
  PETREL_ASSIGN_OR_RETURN(Json input_list, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
  ArchivedInputs split;
  for (const Json& input : inputs) {
    PETREL_ASSIGN_OR_RETURN(Json argument, input.at("arg"));
    const std::optional<Json> region = argument.find("as_graph");
    if (!region) {
      split.others.push_back(argument);
      continue;
    }
    ArchivedRegion found;
    PETREL_ASSIGN_OR_RETURN(found.name, name_in(*region));
    PETREL_ASSIGN_OR_RETURN(found.graph, region->at("graph"));
    split.regions.push_back(std::move(found));
  }
  return split;
}

absl::Status check_counts(const ArchivedInputs& inputs, size_t regions, size_t others) {
  if (inputs.regions.size() == regions && inputs.others.size() == others) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("has ", inputs.regions.size(), " graphs and ",
                                                 inputs.others.size(), " other inputs, must have ",
                                                 regions, " and ", others));
}

Argument list_of(const std::vector<Value*>& values) {
  return values.empty() ? Argument(Argument::Ints()) : Argument::of_values(values);
}

// As many of it as `rows` has.
Type stack_of(const TensorType& row, const TensorType& rows) {
  Sizes bounds = row.sizes;
  bounds.insert(bounds.begin(), rows.sizes[0]);
  std::vector<SizeExpression> sizes = row.all_sizes();
  sizes.insert(sizes.begin(), rows.size(0));
  return TensorType::dynamic(row.dtype, std::move(sizes), bounds);
}

// What a round gives must be what the next one takes.
absl::Status check_carried(const Graph& body, const std::vector<Type>& types, size_t carried) {
  if (body.outputs().size() < carried) {
    return absl::InvalidArgumentError(absl::StrCat("graph '", body.name(), "' gives ",
                                                   body.outputs().size(), " results, carried are ",
                                                   carried));
  }
  for (size_t i = 0; i < carried; ++i) {
    const Type& given = body.outputs()[i]->type();
    if (types[i].is_tensor() && given == types[i]) continue;
    return absl::UnimplementedError(absl::StrCat("value ", i, " is ", to_string(types[i]),
                                                 " before a round and ", to_string(given),
                                                 " behind it; only tensors of one type can be "
                                                 "carried"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Value*>> GraphReader::region_operands(const Json& union_) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, union_.tagged());
  const auto& [tag, payload] = tagged;
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
  PETREL_RETURN_IF_ERROR(check_value_count(payload, items.size()));
  std::vector<Value*> operands;
  for (const Json& item : items) {
    if (tag == "as_tensors") {
      PETREL_ASSIGN_OR_RETURN(std::string name, name_in(item));
      PETREL_ASSIGN_OR_RETURN(Value * operand, value(name));
      operands.push_back(operand);
      continue;
    }
    if (tag != "as_sym_ints") {
      return union_.error(absl::StrCat("operands of kind '", tag, "' are not supported"));
    }
    PETREL_ASSIGN_OR_RETURN(Argument number, arguments_.scalar_or_name(item));
    if (!number.is_value()) {
      return item.error("a number that is known is not supported here");
    }
    operands.push_back(number.value());
  }
  return operands;
}

absl::StatusOr<std::unique_ptr<Graph>> GraphReader::read_body(const std::string& name,
                                                              const Json& graph,
                                                              const std::vector<Type>& types) {
  auto region = std::make_unique<Graph>(region_prefix_ + name);
  GraphReader inner(region.get(), symbols_);
  inner.region_prefix_ = region->name() + "_";
  PETREL_ASSIGN_OR_RETURN(Json input_list, graph.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
  if (inputs.size() != types.size()) {
    return input_list.error(
        absl::StrCat("has ", inputs.size(), " items, the node has ", types.size(), " operands"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(auto tagged, inputs[i].tagged());
    std::string input;
    if (tagged.first == "as_tensor") {
      PETREL_ASSIGN_OR_RETURN(input, name_in(tagged.second));
    } else {
      PETREL_ASSIGN_OR_RETURN(Json as_name, tagged.second.at("as_name"));
      PETREL_ASSIGN_OR_RETURN(input, as_name.text());
    }
    inner.bind(input, Argument(region->add_input(types[i], input)));
  }
  const absl::Status status = inner.read_inner(graph);
  if (!status.ok()) return annotate(status, absl::StrCat("graph '", name, "'"));
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(graph));
  std::vector<Value*> outputs;
  for (const std::string& output : names) {
    absl::StatusOr<Value*> value = inner.value(output);
    if (!value.ok()) {
      return annotate(value.status(), absl::StrCat("graph '", name, "'"));
    }
    outputs.push_back(*value);
  }
  region->set_outputs(std::move(outputs));
  return region;
}

absl::Status GraphReader::read_inner(const Json& graph) {
  PETREL_RETURN_IF_ERROR(read_metas(graph, &scopes_.back()));
  return read_nodes(graph);
}

absl::Status GraphReader::read_cond(const Json& node, const Source& source,
                                    const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(ArchivedInputs inputs, split_inputs(node));
  PETREL_RETURN_IF_ERROR(check_counts(inputs, 2, 2));
  // The predicate: a tensor, or a number that becomes one.
  PETREL_ASSIGN_OR_RETURN(auto tagged, inputs.others[0].tagged());
  Argument predicate;
  if (tagged.first == "as_tensor") {
    PETREL_ASSIGN_OR_RETURN(predicate, arguments_.named_tensor(tagged.second));
  } else if (tagged.first == "as_sym_bool") {
    PETREL_ASSIGN_OR_RETURN(predicate, arguments_.scalar_or_name(tagged.second));
  } else {
    PETREL_ASSIGN_OR_RETURN(predicate, arguments_.scalar_or_name(inputs.others[0]));
  }
  if (predicate.is_value() && !predicate.value()->type().is_tensor()) {
    PETREL_ASSIGN_OR_RETURN(predicate, arguments_.number_tensor(predicate, ScalarType::kBool));
  }
  if (predicate.is_value() && (predicate.value()->tensor().dtype != ScalarType::kBool ||
                               predicate.value()->tensor().numel() != 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the predicate is ", to_string(predicate.value()->type()), ", must be bool[]"));
  }
  if (!predicate.is_value() && !predicate.is_bool()) {
    return absl::InvalidArgumentError("the predicate is not a bool");
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Value*> operands, region_operands(inputs.others[1]));
  std::vector<Type> types;
  for (const Value* operand : operands) types.push_back(operand->type());
  std::vector<std::shared_ptr<Graph>> regions;
  for (const ArchivedRegion& region : inputs.regions) {
    PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Graph> body,
                            read_body(region.name, region.graph, types));
    regions.push_back(std::move(body));
  }
  std::vector<Type> results;
  for (const Value* output : regions[0]->outputs()) {
    results.push_back(output->type());
  }
  const std::vector<Value*>& other = regions[1]->outputs();
  if (other.size() != results.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the branches give ", results.size(), " and ", other.size(), " results"));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (other[i]->type() == results[i]) continue;
    return absl::UnimplementedError(absl::StrCat("the branches give result ", i,
                                                 " different types: ", to_string(results[i]),
                                                 " and ", to_string(other[i]->type())));
  }
  if (predicate.is_bool()) {
    // The exporter did not decide; nothing keeps us from it.
    PETREL_ASSIGN_OR_RETURN(Argument made,
                            arguments_.number_constant_value(predicate, ScalarType::kBool));
    predicate = std::move(made);
  }
  Node* made = graph_->append(op(petrel_ops::cond), {predicate, Argument::of_values(operands)},
                              std::move(results), name, source);
  made->set_regions(std::move(regions));
  return bind_results(*made, node);
}

absl::Status GraphReader::read_rows(const Json& node, OpHandle loop, const Source& source,
                                    const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(ArchivedInputs inputs, split_inputs(node));
  const bool carries = loop == petrel_ops::scan;
  PETREL_RETURN_IF_ERROR(check_counts(inputs, 1, carries ? 3 : 2));
  std::vector<std::vector<Value*>> given;
  std::vector<Argument> arguments;
  for (const Json& list : inputs.others) {
    PETREL_ASSIGN_OR_RETURN(std::vector<Value*> values, region_operands(list));
    arguments.push_back(list_of(values));
    given.push_back(std::move(values));
  }
  if (!carries) given.insert(given.begin(), std::vector<Value*>());
  std::vector<Type> results;
  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Graph> body,
                          read_row_body(inputs.regions[0].name, inputs.regions[0].graph, given[0],
                                        given[1], given[2], &results));
  Node* made = graph_->append(op(loop), std::move(arguments), std::move(results), name, source);
  made->set_regions({std::shared_ptr<Graph>(std::move(body))});
  return bind_results(*made, node);
}

absl::StatusOr<std::unique_ptr<Graph>> GraphReader::read_row_body(
    const std::string& name, const Json& graph, const std::vector<Value*>& carried,
    const std::vector<Value*>& rows, const std::vector<Value*>& operands,
    std::vector<Type>* results) {
  if (rows.empty()) return absl::InvalidArgumentError("maps over nothing");
  std::vector<Type> types;
  for (const Value* value : carried) types.push_back(value->type());
  for (const Value* tensor : rows) {
    if (tensor->tensor().rank() == 0) {  // or a number
      return absl::InvalidArgumentError(
          absl::StrCat("maps over '", tensor->name(), "', which has no rows"));
    }
    types.push_back(row_of(tensor->tensor()));
  }
  if (const Value* other = find_other_row_count(rows); other != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("maps over '", rows[0]->name(), "' of ", to_string(rows[0]->tensor().size(0)),
                     " rows and '", other->name(), "' of ", to_string(other->tensor().size(0)),
                     ", where each round takes one of each"));
  }
  for (const Value* operand : operands) types.push_back(operand->type());
  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Graph> body, read_body(name, graph, types));
  PETREL_RETURN_IF_ERROR(check_carried(*body, types, carried.size()));
  for (const Value* output : body->outputs()) {
    if (results->size() < carried.size()) {
      results->push_back(output->type());
      continue;
    }
    if (!output->type().is_tensor()) {
      return absl::UnimplementedError(
          absl::StrCat("result '", output->name(), "' of its graph is not a tensor"));
    }
    results->push_back(stack_of(output->tensor(), rows[0]->tensor()));
  }
  return body;
}

absl::Status GraphReader::read_while_loop(const Json& node, const Source& source,
                                          const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(ArchivedInputs inputs, split_inputs(node));
  PETREL_RETURN_IF_ERROR(check_counts(inputs, 2, 2));
  PETREL_ASSIGN_OR_RETURN(std::vector<Value*> carried, region_operands(inputs.others[0]));
  PETREL_ASSIGN_OR_RETURN(std::vector<Value*> operands, region_operands(inputs.others[1]));
  std::vector<Type> types;
  for (const Value* value : carried) types.push_back(value->type());
  const std::vector<Type> results = types;
  for (const Value* operand : operands) types.push_back(operand->type());
  std::vector<std::shared_ptr<Graph>> regions;
  for (const ArchivedRegion& region : inputs.regions) {
    PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Graph> body,
                            read_body(region.name, region.graph, types));
    regions.push_back(std::move(body));
  }
  const std::vector<Value*>& condition = regions[0]->outputs();
  const Type wanted = TensorType::contiguous(ScalarType::kBool, {});
  if (condition.size() != 1 || condition[0]->type() != wanted) {
    return absl::UnimplementedError(absl::StrCat("the condition gives ",
                                                 condition.size() == 1
                                                     ? to_string(condition[0]->type())
                                                     : absl::StrCat(condition.size(), " results"),
                                                 ", must give bool[]"));
  }
  PETREL_RETURN_IF_ERROR(check_carried(*regions[1], types, carried.size()));
  if (regions[1]->outputs().size() != carried.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the body gives ", regions[1]->outputs().size(),
                                                   " results, must give ", carried.size()));
  }
  Node* made = graph_->append(op(petrel_ops::while_loop), {list_of(carried), list_of(operands)},
                              results, name, source);
  made->set_regions(std::move(regions));
  return bind_results(*made, node);
}

// A branch sees parameters as operands; as constants of its own they can be
// folded and delegated.
void bind_region_constants(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (node->regions().empty()) continue;
    const std::vector<Value*> operands = region_values(*node).operands;
    std::vector<Value*> kept;
    std::vector<size_t> bound;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_known = operands[i]->is_constant() && !operands[i]->constant()->is_mutable();
      if (is_known) {
        bound.push_back(i);
      } else {
        kept.push_back(operands[i]);
      }
    }
    for (const std::shared_ptr<Graph>& region : node->regions()) {
      const size_t first = region->inputs().size() - operands.size();
      for (auto i = bound.rbegin(); i != bound.rend(); ++i) {
        Value* input = region->inputs()[first + *i];
        Value* constant = region->add_constant(operands[*i]->constant());
        region->replace_all_uses(input, constant);
        region->erase_input(input);
      }
      bind_region_constants(*region);
    }
    node->set_argument(node->op().find_arg(arg::operands), list_of(kept));
  }
}

}  // namespace petrel::exir
