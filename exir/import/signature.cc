// SPDX-License-Identifier: Apache-2.0
#include "exir/import/signature.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/import/scalar_literal.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::StatusOr<std::string> text_at(const Json& object, const char* key) {
  PETREL_ASSIGN_OR_RETURN(Json member, object.at(key));
  return member.text();
}

// {"arg": {"name": "p_weight"}}
absl::StatusOr<std::string> arg_name(const Json& spec) {
  PETREL_ASSIGN_OR_RETURN(Json arg, spec.at("arg"));
  return text_at(arg, "name");
}

absl::Status refuse(const std::string& what) {
  return absl::UnimplementedError(absl::StrCat(what, " is not supported"));
}

// The name in {"arg": {"as_tensor": {"name": "x"}}}.
absl::StatusOr<std::string> user_tensor(const Json& spec, const std::string& which) {
  PETREL_ASSIGN_OR_RETURN(Json arg, spec.at("arg"));
  PETREL_ASSIGN_OR_RETURN(auto tagged, arg.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_tensor") return text_at(payload, "name");
  if (tag == "as_none") return refuse(absl::StrCat(which, ", which is None,"));
  return refuse(absl::StrCat(which, ", which is not a tensor but '", tag, "',"));
}

// The fixed output in {"arg": {"as_int": 3}}; nullopt for what is not a literal.
absl::StatusOr<std::optional<Argument>> fixed_output(const Json& spec) {
  PETREL_ASSIGN_OR_RETURN(Json arg, spec.at("arg"));
  PETREL_ASSIGN_OR_RETURN(auto tagged, arg.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_none") return Argument();
  if (tag == "as_string") {
    PETREL_ASSIGN_OR_RETURN(std::string value, payload.text());
    return Argument(std::move(value));
  }
  return read_scalar(tag, payload);
}

// The name in {"arg": {"as_sym_int": {"as_name": "sym_size_int"}}}, the number in
// {"arg": {"as_sym_int": {"as_int": 3}}}; nullopt for what is not a number.
absl::StatusOr<std::optional<OutputSpec>> number_output(const Json& spec) {
  PETREL_ASSIGN_OR_RETURN(Json arg, spec.at("arg"));
  PETREL_ASSIGN_OR_RETURN(auto tagged, arg.tagged());
  if (tagged.first != "as_sym_int" && tagged.first != "as_sym_float" &&
      tagged.first != "as_sym_bool") {
    return std::optional<OutputSpec>();
  }
  PETREL_ASSIGN_OR_RETURN(auto number, tagged.second.tagged());
  OutputSpec output;
  if (number.first == "as_name") {
    output.kind = OutputSpec::Kind::kNumber;
    PETREL_ASSIGN_OR_RETURN(output.value, number.second.text());
    return std::optional<OutputSpec>(std::move(output));
  }
  PETREL_ASSIGN_OR_RETURN(std::optional<Argument> known, read_scalar(number.first, number.second));
  if (!known) {
    return arg.error(absl::StrCat("is '", number.first, "', must be a name or a number"));
  }
  output.kind = OutputSpec::Kind::kFixed;
  output.fixed = *std::move(known);
  return std::optional<OutputSpec>(std::move(output));
}

absl::StatusOr<InputSpec> read_input(const Json& json, size_t index) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, json.tagged());
  const auto& [tag, spec] = tagged;
  InputSpec input;
  if (tag == "user_input") {
    input.kind = InputSpec::Kind::kUser;
    PETREL_ASSIGN_OR_RETURN(input.value, user_tensor(spec, absl::StrCat("input ", index)));
  } else if (tag == "constant_input") {
    input.kind = InputSpec::Kind::kLiteral;
    PETREL_ASSIGN_OR_RETURN(input.value, text_at(spec, "name"));
  } else if (tag == "parameter") {
    input.kind = InputSpec::Kind::kParameter;
    PETREL_ASSIGN_OR_RETURN(input.value, arg_name(spec));
    PETREL_ASSIGN_OR_RETURN(input.fqn, text_at(spec, "parameter_name"));
  } else if (tag == "buffer") {
    input.kind = InputSpec::Kind::kBuffer;
    PETREL_ASSIGN_OR_RETURN(input.value, arg_name(spec));
    PETREL_ASSIGN_OR_RETURN(input.fqn, text_at(spec, "buffer_name"));
    if (const std::optional<Json> persistent = spec.find("persistent")) {
      PETREL_ASSIGN_OR_RETURN(input.persistent, persistent->boolean());
    }
  } else if (tag == "tensor_constant") {
    input.kind = InputSpec::Kind::kTensorConstant;
    PETREL_ASSIGN_OR_RETURN(input.value, arg_name(spec));
    PETREL_ASSIGN_OR_RETURN(input.fqn, text_at(spec, "tensor_constant_name"));
  } else if (tag == "token") {
    input.kind = InputSpec::Kind::kToken;
    PETREL_ASSIGN_OR_RETURN(input.value, arg_name(spec));
  } else {
    return refuse(absl::StrCat(json.place(), ": an input of kind '", tag, "'"));
  }
  return input;
}

absl::StatusOr<OutputSpec> read_output(const Json& json, size_t index) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, json.tagged());
  const auto& [tag, spec] = tagged;
  OutputSpec output;
  if (tag == "user_output") {
    PETREL_ASSIGN_OR_RETURN(std::optional<Argument> fixed, fixed_output(spec));
    if (fixed) {
      output.kind = OutputSpec::Kind::kFixed;
      output.value = absl::StrCat("output_", index);
      output.fixed = *std::move(fixed);
      return output;
    }
    PETREL_ASSIGN_OR_RETURN(std::optional<OutputSpec> number, number_output(spec));
    if (number) {
      if (number->value.empty()) number->value = absl::StrCat("output_", index);
      return *std::move(number);
    }
    PETREL_ASSIGN_OR_RETURN(output.value, user_tensor(spec, absl::StrCat("output ", index)));
  } else if (tag == "buffer_mutation" || tag == "parameter_mutation") {
    output.kind = OutputSpec::Kind::kStateWrite;
    PETREL_ASSIGN_OR_RETURN(output.value, arg_name(spec));
    PETREL_ASSIGN_OR_RETURN(
        output.fqn, text_at(spec, tag == "buffer_mutation" ? "buffer_name" : "parameter_name"));
  } else if (tag == "user_input_mutation") {
    output.kind = OutputSpec::Kind::kInputWrite;
    PETREL_ASSIGN_OR_RETURN(output.value, arg_name(spec));
    PETREL_ASSIGN_OR_RETURN(output.input, text_at(spec, "user_input_name"));
  } else if (tag == "token") {
    output.kind = OutputSpec::Kind::kToken;
    PETREL_ASSIGN_OR_RETURN(output.value, arg_name(spec));
  } else {
    return refuse(absl::StrCat(json.place(), ": an output of kind '", tag, "'"));
  }
  return output;
}

// The keys of a flat dict in a pytree spec; empty for any other spec.
std::vector<std::string> flat_dict_keys(const std::string& spec) {
  const auto parse = [](const std::string& text) {
    return JsonDocument::parse(
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()), "spec");
  };
  const absl::StatusOr<JsonDocument> document = parse(spec);
  if (!document.ok()) return {};
  const auto parts = document->root().items();
  if (!parts.ok() || parts->size() != 2) return {};
  const std::optional<Json> type = (*parts)[1].find("type");
  const std::optional<Json> context = (*parts)[1].find("context");
  const std::optional<Json> children = (*parts)[1].find("children_spec");
  if (!type || !context || !children) return {};
  if (type->text().value_or("") != "builtins.dict") return {};
  const auto leaves = children->items();
  if (!leaves.ok()) return {};
  for (const Json& leaf : *leaves) {
    if (leaf.find("type")) return {};
  }
  const absl::StatusOr<JsonDocument> keys = parse(context->text().value_or(""));
  if (!keys.ok()) return {};
  const auto items = keys->root().items();
  if (!items.ok() || items->size() != leaves->size()) return {};
  std::vector<std::string> names;
  for (const Json& item : *items) {
    const absl::StatusOr<std::string> name = item.text();
    if (!name.ok() || name->empty()) return {};
    names.push_back(*name);
  }
  return names;
}

// The signature of the root module; nullopt when the archive has none.
absl::StatusOr<std::optional<Json>> root_signature(const Json& graph_module) {
  const std::optional<Json> calls = graph_module.find("module_call_graph");
  if (!calls) return std::optional<Json>();
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> entries, calls->items());
  for (const Json& entry : entries) {
    PETREL_ASSIGN_OR_RETURN(std::string fqn, text_at(entry, "fqn"));
    if (fqn.empty()) return entry.find("signature");
  }
  return std::optional<Json>();
}

}  // namespace

absl::StatusOr<GraphIo> read_graph_io(const Json& graph_module) {
  PETREL_ASSIGN_OR_RETURN(Json signature, graph_module.at("signature"));
  PETREL_ASSIGN_OR_RETURN(Json input_specs, signature.at("input_specs"));
  PETREL_ASSIGN_OR_RETURN(Json output_specs, signature.at("output_specs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_specs.items());
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> outputs, output_specs.items());
  GraphIo io;
  size_t user_index = 0;
  for (const Json& json : inputs) {
    PETREL_ASSIGN_OR_RETURN(InputSpec input, read_input(json, user_index));
    if (input.kind == InputSpec::Kind::kUser) ++user_index;
    io.inputs.push_back(std::move(input));
  }
  user_index = 0;
  for (const Json& json : outputs) {
    PETREL_ASSIGN_OR_RETURN(OutputSpec output, read_output(json, user_index));
    if (output.is_returned()) ++user_index;
    io.outputs.push_back(std::move(output));
  }
  return io;
}

absl::StatusOr<Signature> read_signature(const Json& graph_module, const GraphIo& io) {
  Signature signature;
  // Arguments of forward(): user inputs and literals, in order.
  std::vector<const InputSpec*> arguments;
  for (const InputSpec& input : io.inputs) {
    if (input.kind == InputSpec::Kind::kUser || input.kind == InputSpec::Kind::kLiteral) {
      arguments.push_back(&input);
    }
  }
  std::vector<std::string> names;
  PETREL_ASSIGN_OR_RETURN(std::optional<Json> root, root_signature(graph_module));
  if (root) {
    if (const std::optional<Json> spec = root->find("in_spec")) {
      PETREL_ASSIGN_OR_RETURN(signature.in_spec, spec->text());
    }
    if (const std::optional<Json> spec = root->find("out_spec")) {
      PETREL_ASSIGN_OR_RETURN(signature.out_spec, spec->text());
    }
    if (const std::optional<Json> list = root->find("forward_arg_names")) {
      PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, list->items());
      for (const Json& item : items) {
        PETREL_ASSIGN_OR_RETURN(std::string name, item.text());
        names.push_back(std::move(name));
      }
    }
  }
  const bool named = names.size() == arguments.size();
  std::map<std::string, std::string> input_names;  // by name in the graph
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]->kind != InputSpec::Kind::kUser) continue;
    signature.input_names.push_back(named ? names[i] : arguments[i]->value);
    input_names[arguments[i]->value] = signature.input_names.back();
  }
  const std::vector<std::string> keys = flat_dict_keys(signature.out_spec);
  const auto returned = static_cast<size_t>(
      std::count_if(io.outputs.begin(), io.outputs.end(),
                    [](const OutputSpec& output) { return output.is_returned(); }));
  auto key = keys.begin();
  for (const OutputSpec& output : io.outputs) {
    if (output.kind == OutputSpec::Kind::kStateWrite) continue;
    if (output.kind == OutputSpec::Kind::kToken) continue;
    if (output.kind == OutputSpec::Kind::kFixed) {
      signature.fixed_outputs.emplace(signature.output_names.size(), output.fixed);
    } else if (output.kind == OutputSpec::Kind::kNumber) {
      signature.number_outputs.insert(signature.output_names.size());
    }
    signature.output_names.push_back(!output.is_returned()     ? input_names[output.input]
                                     : keys.size() == returned ? *key++
                                                               : output.value);
  }
  return signature;
}

}  // namespace petrel::exir
