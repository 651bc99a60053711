// SPDX-License-Identifier: Apache-2.0
#include "exir/import/graph_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/import/node_names.h"
#include "exir/ir/size_difference.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {

absl::StatusOr<std::string> name_in(const Json& holder) {
  PETREL_ASSIGN_OR_RETURN(Json name, holder.at("name"));
  return name.text();
}

absl::StatusOr<std::vector<std::string>> output_names(const Json& holder) {
  std::vector<std::string> names;
  PETREL_ASSIGN_OR_RETURN(Json output_list, holder.at("outputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> outputs, output_list.items());
  for (const Json& output : outputs) {
    PETREL_ASSIGN_OR_RETURN(auto tagged, output.tagged());
    const auto& [tag, payload] = tagged;
    if (tag == "as_none") {
      names.emplace_back();
    } else if (tag == "as_tensor") {
      PETREL_ASSIGN_OR_RETURN(std::string name, name_in(payload));
      names.push_back(std::move(name));
    } else if (tag == "as_tensors") {
      PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
      for (const Json& item : items) {
        PETREL_ASSIGN_OR_RETURN(std::string name, name_in(item));
        names.push_back(std::move(name));
      }
    } else if (absl::StartsWith(tag, "as_sym_")) {
      PETREL_ASSIGN_OR_RETURN(Json name, payload.at("as_name"));
      PETREL_ASSIGN_OR_RETURN(std::string text, name.text());
      names.push_back(std::move(text));
    } else {
      return output.error(absl::StrCat("a result of kind '", tag, "' is not supported"));
    }
  }
  return names;
}

namespace {

// {"as_int": 3}, {"as_bool": true}, {"as_float": 1.5}, {"as_expr": ...}; none
// when it is computed at run time.
absl::StatusOr<Argument> scalar_value(const Json& json, bool is_int, const Symbols& symbols) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, json.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_bool") {
    PETREL_ASSIGN_OR_RETURN(bool value, payload.boolean());
    return Argument(value);
  }
  if (tag == "as_float") {
    PETREL_ASSIGN_OR_RETURN(double value, payload.number());
    return Argument(value);
  }
  if (tag == "as_expr" && !is_int) return Argument();
  // A number without bounds is known to nobody and may be used all the same.
  const absl::StatusOr<SizeExpression> value = symbols.resolve(json);
  if (!value.ok() && tag != "as_expr") return value.status();
  if (!value.ok() || !value->is_constant()) return Argument();
  return Argument(value->constant());
}

// Autocast changes dtypes inside of its region unless it is switched off.
absl::Status check_autocast(const std::vector<Json>& inputs) {
  if (inputs.size() < 3) return absl::InvalidArgumentError("lacks arguments");
  PETREL_ASSIGN_OR_RETURN(Json argument, inputs[2].at("arg"));
  const std::optional<Json> enabled = argument.find("as_bool");
  if (enabled) {
    PETREL_ASSIGN_OR_RETURN(bool on, enabled->boolean());
    if (!on) return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "a region under autocast is not supported; export the model after "
      "casting it");
}

}  // namespace

GraphReader::GraphReader(Graph* graph, const Symbols* symbols)
    : graph_(graph),
      symbols_(symbols),
      arguments_(graph, [this](const std::string& name) { return lookup(name); }) {
  scopes_.emplace_back();
}

void GraphReader::bind(const std::string& name, Argument argument) {
  scopes_.back().bound[name] = std::move(argument);
}

absl::Status GraphReader::define(const std::string& name, Named meaning) {
  Scope& scope = scopes_.back();
  if (scope.lazy.count(name) != 0 || scope.bound.count(name) != 0 ||
      scope.complex.count(name) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("value '", name, "' is defined twice"));
  }
  meaning.bind_in(&scope, name);
  return absl::OkStatus();
}

void GraphReader::bind_lazily(const std::string& name, MakeValue make) {
  scopes_.back().lazy[name] = std::move(make);
}

absl::StatusOr<Argument> GraphReader::known_scalar(const std::string& name) {
  const auto it = scopes_.back().scalars.find(name);
  if (it == scopes_.back().scalars.end()) {
    return absl::InvalidArgumentError(absl::StrCat("nothing is called '", name, "'"));
  }
  absl::StatusOr<Argument> known =
      scalar_value(it->second, scopes_.back().ints.count(name) != 0, *symbols_);
  if (!known.ok()) {
    return annotate(known.status(), absl::StrCat("value '", name, "'"));
  }
  return known;
}

absl::StatusOr<Argument> GraphReader::lookup(const std::string& name) {
  Scope& scope = scopes_.back();
  const auto it = scope.bound.find(name);
  if (it != scope.bound.end()) return it->second;
  if (scope.complex_names.count(name) != 0) {
    PETREL_ASSIGN_OR_RETURN(const ComplexPair parts, complex_parts(name));
    if (part_ == ArgumentReader::Part::kReal) return Argument(parts.real);
    if (part_ == ArgumentReader::Part::kImaginary) return Argument(parts.imaginary);
    return absl::UnimplementedError(
        absl::StrCat("'", name,
                     "' is a tensor of complex numbers, which is not supported here; "
                     "torch.view_as_real makes it one of real numbers"));
  }
  const auto lazy = scope.lazy.find(name);
  if (lazy == scope.lazy.end()) {
    PETREL_ASSIGN_OR_RETURN(Argument known, known_scalar(name));
    if (!known.is_none()) return known;
    const auto reason = scope.unreadable.find(name);
    return absl::UnimplementedError(
        absl::StrCat("'", name, "' is computed at run time",
                     reason == scope.unreadable.end()
                         ? " outside of this graph"
                         : absl::StrCat(" by ", reason->second, ", which is not supported")));
  }
  PETREL_ASSIGN_OR_RETURN(Value * made, lazy->second());
  PETREL_RETURN_IF_ERROR(check_recorded(name, *made));
  scope.bound.emplace(name, Argument(made));
  return Argument(made);
}

absl::StatusOr<Value*> GraphReader::value(const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(Argument argument, lookup(name));
  if (argument.is_value()) return argument.value();
  return absl::UnimplementedError(
      absl::StrCat("value '", name, "' is not a tensor, which is not supported"));
}

absl::StatusOr<Argument> GraphReader::number(const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(Argument argument, lookup(name));
  const bool is_scalar = argument.is_value() && !argument.value()->type().is_tensor();
  if (is_scalar || argument.is_number()) return argument;
  return absl::InvalidArgumentError(absl::StrCat("value '", name, "' is not a number"));
}

absl::Status GraphReader::read(const Json& graph) {
  PETREL_RETURN_IF_ERROR(check_operators(graph));
  PETREL_RETURN_IF_ERROR(read_metas(graph, &scopes_.back()));
  return read_nodes(graph);
}

absl::Status GraphReader::read_metas(const Json& graph, Scope* scope) {
  PETREL_ASSIGN_OR_RETURN(Json tensors, graph.at("tensor_values"));
  PETREL_ASSIGN_OR_RETURN(auto metas, tensors.members());
  for (auto& [name, meta] : metas) {
    if (is_complex(meta)) scope->complex_names.insert(name);
    scope->tensor_metas.emplace(name, std::move(meta));
  }
  for (const char* kind : {"sym_int_values", "sym_bool_values", "sym_float_values"}) {
    const std::optional<Json> scalars = graph.find(kind);
    if (!scalars) continue;
    PETREL_ASSIGN_OR_RETURN(auto members, scalars->members());
    for (auto& [name, scalar] : members) {
      if (std::string(kind) == "sym_int_values") scope->ints.insert(name);
      scope->scalars.emplace(name, std::move(scalar));
    }
  }
  return absl::OkStatus();
}

absl::Status GraphReader::read_nodes(const Json& graph) {
  PETREL_ASSIGN_OR_RETURN(Json node_list, graph.at("nodes"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> nodes, node_list.items());
  for (const Json& node : nodes) PETREL_RETURN_IF_ERROR(read_node(node));
  return absl::OkStatus();
}

// True when every result is a scalar that the exporter knew: the node needs not
// be executed.
absl::StatusOr<bool> GraphReader::bind_known_scalars(const Json& node) {
  PETREL_ASSIGN_OR_RETURN(Json output_list, node.at("outputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> outputs, output_list.items());
  if (outputs.empty()) return false;
  for (const Json& output : outputs) {
    PETREL_ASSIGN_OR_RETURN(auto tagged, output.tagged());
    if (!absl::StartsWith(tagged.first, "as_sym_")) return false;
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  std::vector<Argument> known;
  for (const std::string& name : names) {
    PETREL_ASSIGN_OR_RETURN(Argument scalar, known_scalar(name));
    if (scalar.is_none()) return false;
    known.push_back(std::move(scalar));
  }
  for (size_t i = 0; i < names.size(); ++i)
    PETREL_RETURN_IF_ERROR(define(names[i], {known[i], {}}));
  return true;
}

absl::Status GraphReader::read_node(const Json& node) {
  PETREL_ASSIGN_OR_RETURN(Json target_json, node.at("target"));
  PETREL_ASSIGN_OR_RETURN(std::string target, target_json.text());
  const std::string name = node_name(node);
  const Source source = read_source(node);
  std::string place = absl::StrCat("node '", name, "' (", operator_name(target), ")");
  const std::string location = source.location();
  if (!location.empty()) absl::StrAppend(&place, " at ", location);

  if (target == kSetGradEnabled || target == kAutocast) {
    return annotate(read_region(node, target), place);
  }
  if (target == kWithEffects) return absl::OkStatus();  // a check, says check_operators()
  const absl::StatusOr<bool> known = bind_known_scalars(node);
  if (!known.ok()) return annotate(known.status(), place);
  if (*known || is_ignored(operator_name(target))) return absl::OkStatus();
  if (target == kCond) return annotate(read_cond(node, source, name), place);
  if (target == kMap || target == kScan) {
    const OpHandle loop = target == kMap ? petrel_ops::map : petrel_ops::scan;
    return annotate(read_rows(node, loop, source, name), place);
  }
  if (target == kWhileLoop) return annotate(read_while_loop(node, source, name), place);
  const OpInfo* op = find_torch_op(operator_name(target));
  const absl::StatusOr<bool> scalar = has_scalar_results_only(node);
  if (target == kPower && read_power(node, source, name).ok()) return absl::OkStatus();
  if (op == nullptr && scalar.ok() && *scalar) {
    // Often only an assertion uses it.
    PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
    for (const std::string& result : names) {
      scopes_.back().unreadable[result] = place;
    }
    return absl::OkStatus();
  }
  if (const OpInfo* of_out = find_op_of_out(node, operator_name(target)); of_out != nullptr) {
    return annotate(read_out_call(*of_out, node, source), place);
  }
  if (op == nullptr) {
    return annotate(absl::UnimplementedError("the operator is not supported"), place);
  }
  const absl::StatusOr<bool> of_complex = is_of_complex(*op, node);
  if (!of_complex.ok()) return annotate(of_complex.status(), place);
  if (*of_complex) return annotate(read_complex(*op, node, source), place);
  return annotate(is_made_of_others(*op) ? read_made_of_others(*op, node, source)
                                         : read_operator(*op, node, source, name),
                  place);
}

absl::Status GraphReader::read_operator(const OpInfo& op, const Json& node, const Source& source,
                                        const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(Json inputs, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, arguments_.read(op, inputs));
  if (op.is(aten::as_strided)) PETREL_RETURN_IF_ERROR(check_strided_self(inputs, arguments));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, op.infer(op, arguments));
  const Node* made = graph_->append(op, std::move(arguments), std::move(types), name, source);
  return bind_results(*made, node);
}

// Strides count in the storage of self, which is the one of the exporter. Here every value
// has a storage of its own, in the order of its sizes.
absl::Status GraphReader::check_strided_self(const Json& inputs,
                                             const std::vector<Argument>& arguments) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, inputs.items());
  if (items.empty()) return inputs.error("is empty");
  PETREL_ASSIGN_OR_RETURN(Json argument, items[0].at("arg"));
  PETREL_ASSIGN_OR_RETURN(Json tensor, argument.at("as_tensor"));
  PETREL_ASSIGN_OR_RETURN(Json name_json, tensor.at("name"));
  PETREL_ASSIGN_OR_RETURN(const std::string name, name_json.text());
  const auto meta = scopes_.back().tensor_metas.find(name);
  if (meta == scopes_.back().tensor_metas.end()) {
    return absl::InvalidArgumentError(absl::StrCat("value '", name, "' has no type"));
  }
  const bool has_offset = arguments.size() > 3 && !arguments[3].is_none();
  const absl::Status status = check_row_major(meta->second, *symbols_, has_offset);
  if (status.ok()) return status;
  return annotate(status, absl::StrCat("value '", name,
                                       "' is a view of other memory; clone it or "
                                       "use other operators"));
}

absl::Status GraphReader::bind_results(const Node& made, const Json& node) {
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  if (names.size() != made.num_results()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", names.size(), " results, its operator gives ", made.num_results()));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    PETREL_RETURN_IF_ERROR(take_recorded_int(names[i], made.result(i)));
    // What nothing reads the exporter calls so; the types that it records there
    // need not be those of eager torch (statistics of halves are floats).
    if (!absl::EndsWith(names[i], absl::StrCat("_unused_", i))) {
      PETREL_RETURN_IF_ERROR(made.op().has(kDataSized)
                                 ? take_sizes_by_data(names[i], *made.result(i))
                                 : check_recorded(names[i], *made.result(i)));
    }
    PETREL_RETURN_IF_ERROR(define(names[i], {Argument(made.result(i)), {}}));
  }
  return absl::OkStatus();
}

// What a number read from data may be, the exporter knows from assertions.
absl::Status GraphReader::take_recorded_int(const std::string& name, Value* value) {
  const Type& type = value->type();
  if (type.kind != Type::Kind::kInt || (type.number && !type.number->has_unknown())) {
    return absl::OkStatus();
  }
  const auto it = scopes_.back().scalars.find(name);
  if (it == scopes_.back().scalars.end()) return absl::OkStatus();
  const absl::StatusOr<SizeExpression> recorded = symbols_->resolve(it->second);
  if (recorded.ok() && (!type.number || SizeExpression::agree(*type.number, *recorded))) {
    value->set_type(Type::integer(*recorded));
  }
  return absl::OkStatus();
}

// What a rule finds is the size; the exporter's expression is taken where no rule
// can express it. The exporter simplifies with what it knows (of strides, say), so
// that both need not have one normal form.
absl::Status GraphReader::take_recorded_sizes(const std::string& name, const TensorType& recorded,
                                              Value& value) {
  const TensorType& type = value.tensor();
  std::vector<SizeExpression> sizes = type.all_sizes();
  Sizes bounds = type.sizes;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    const SizeExpression other = recorded.size(dim);
    if (const std::optional<SymbolValues> at = find_difference(sizes[dim], other)) {
      return absl::InvalidArgumentError(
          absl::StrCat("value '", name, "': dim ", dim, " is ", to_string(other),
                       " in the archive, but its operator gives ", to_string(sizes[dim]),
                       ", which differs when ", to_string(*at)));
    }
    if (sizes[dim].has_unknown()) sizes[dim] = other;
    bounds[dim] = std::max(bounds[dim], recorded.sizes[dim]);
  }
  TensorType made = TensorType::dynamic(type.dtype, std::move(sizes), bounds);
  made.dim_order = type.dim_order;
  value.set_type(std::move(made));
  return absl::OkStatus();
}

absl::Status GraphReader::check_recorded(const std::string& name, Value& value) {
  if (!value.type().is_tensor()) return absl::OkStatus();
  const auto it = scopes_.back().tensor_metas.find(name);
  if (it == scopes_.back().tensor_metas.end()) return absl::OkStatus();
  const absl::StatusOr<TensorType> recorded = read_part_tensor_type(it->second, *symbols_);
  if (!recorded.ok()) {
    return annotate(recorded.status(), absl::StrCat("value '", name, "'"));
  }
  if (agree(*recorded, value.tensor())) {
    const bool varies = recorded->is_dynamic() || value.tensor().is_dynamic();
    return varies ? take_recorded_sizes(name, *recorded, value) : absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "value '", name, "' is ", to_string(*recorded), " in the archive, but its ",
      value.is_constant() ? "payload is " : "operator gives ", to_string(value.type())));
}

absl::Status GraphReader::read_region(const Json& node, const std::string& target) {
  PETREL_ASSIGN_OR_RETURN(Json input_list, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
  if (target == kAutocast) PETREL_RETURN_IF_ERROR(check_autocast(inputs));
  std::optional<Json> region;
  std::vector<Named> operands;
  for (const Json& input : inputs) {
    PETREL_ASSIGN_OR_RETURN(Json argument, input.at("arg"));
    PETREL_ASSIGN_OR_RETURN(auto tagged, argument.tagged());
    const auto& [tag, payload] = tagged;
    if (tag == "as_graph") {
      PETREL_ASSIGN_OR_RETURN(region, payload.at("graph"));
    } else if (region && tag == "as_tensor") {
      PETREL_ASSIGN_OR_RETURN(std::string name, name_in(payload));
      PETREL_ASSIGN_OR_RETURN(Named operand, named(name));
      operands.push_back(std::move(operand));
    } else if (region && absl::StartsWith(tag, "as_sym_")) {
      // One that nobody can read is an error where it is used; often only assertions do.
      absl::StatusOr<Argument> number = arguments_.scalar_or_name(payload);
      operands.push_back({number.ok() ? *std::move(number) : Argument(), {}});
    } else if (region) {
      return argument.error(absl::StrCat("an operand of kind '", tag, "' is not supported"));
    }
  }
  if (!region) return input_list.error("has no 'as_graph'");

  PETREL_ASSIGN_OR_RETURN(Json region_inputs, region->at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> parameters, region_inputs.items());
  if (parameters.size() != operands.size()) {
    return region_inputs.error(absl::StrCat("has ", parameters.size(), " items, the node has ",
                                            operands.size(), " operands"));
  }
  Scope scope;
  PETREL_RETURN_IF_ERROR(read_metas(*region, &scope));
  for (size_t i = 0; i < operands.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(auto tagged, parameters[i].tagged());
    const auto& [tag, payload] = tagged;
    const bool is_number = absl::StartsWith(tag, "as_sym_");
    if (!is_number && tag != "as_tensor") {
      return parameters[i].error(absl::StrCat("an input of kind '", tag, "' is not supported"));
    }
    const std::optional<Json> number = payload.find("as_name");
    if (is_number && (!number || (operands[i].argument.is_none()))) continue;
    PETREL_ASSIGN_OR_RETURN(const std::string name, is_number ? number->text() : name_in(payload));
    operands[i].bind_in(&scope, name);
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> inner_names, output_names(*region));
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  if (names.size() != inner_names.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", names.size(), " results, its region gives ", inner_names.size()));
  }
  scopes_.push_back(std::move(scope));
  absl::Status status = read_nodes(*region);
  std::vector<Named> results;
  for (const std::string& name : inner_names) {
    if (!status.ok()) break;
    absl::StatusOr<Named> result = named(name);
    status = result.status();
    if (result.ok()) results.push_back(*std::move(result));
  }
  scopes_.pop_back();
  PETREL_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) PETREL_RETURN_IF_ERROR(define(names[i], results[i]));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
