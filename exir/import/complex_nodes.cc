// SPDX-License-Identifier: Apache-2.0
//
// The nodes of an archive that have to do with complex numbers. Names of complex tensors are
// bound to pairs of values; complex_rules.h says what their operators become.
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/import/complex_rules.h"
#include "exir/import/graph_reader.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Part = ArgumentReader::Part;

// The names of the tensors in an argument of a node, or in an item of a list.
absl::Status collect_names(const Json& union_, std::vector<std::string>* names) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, union_.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_tensor") {
    PETREL_ASSIGN_OR_RETURN(std::string name, name_in(payload));
    names->push_back(std::move(name));
  } else if (tag == "as_optional_tensor") {
    return collect_names(payload, names);
  } else if (tag == "as_tensors") {
    PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
    for (const Json& item : items) {
      PETREL_ASSIGN_OR_RETURN(std::string name, name_in(item));
      names->push_back(std::move(name));
    }
  } else if (tag == "as_optional_tensors") {
    PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
    for (const Json& item : items) PETREL_RETURN_IF_ERROR(collect_names(item, names));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> GraphReader::is_of_complex(const OpInfo& op, const Json& node) {
  if (op.infer == nullptr && has_complex_rule(op)) return true;
  const std::set<std::string>& complex = scopes_.back().complex_names;
  if (complex.empty()) return false;
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  PETREL_ASSIGN_OR_RETURN(Json input_list, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
  for (const Json& input : inputs) {
    PETREL_ASSIGN_OR_RETURN(Json argument, input.at("arg"));
    PETREL_RETURN_IF_ERROR(collect_names(argument, &names));
  }
  for (const std::string& name : names) {
    if (complex.count(name) != 0) return true;
  }
  return false;
}

absl::Status GraphReader::read_complex(const OpInfo& op, const Json& node, const Source& source) {
  PETREL_ASSIGN_OR_RETURN(Json inputs, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> results, output_names(node));
  const std::set<std::string>& complex = scopes_.back().complex_names;
  ComplexCall call{op, {}, {}, std::vector<bool>(op.args.size(), false), false};
  for (const std::string& result : results) {
    call.gives_complex = call.gives_complex || complex.count(result) != 0;
  }
  for (const auto& [part, arguments] : {std::make_pair(Part::kReal, &call.real),
                                        std::make_pair(Part::kImaginary, &call.imaginary)}) {
    part_ = part;
    arguments_.set_part(part);
    absl::StatusOr<std::vector<Argument>> read = arguments_.read(op, inputs);
    part_ = Part::kWhole;
    arguments_.set_part(Part::kWhole);
    if (!read.ok()) return read.status();
    *arguments = *std::move(read);
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, inputs.items());
  for (const Json& item : items) {
    PETREL_ASSIGN_OR_RETURN(Json argument, item.at("arg"));
    PETREL_ASSIGN_OR_RETURN(auto tagged, argument.tagged());
    std::vector<std::string> names;
    PETREL_RETURN_IF_ERROR(collect_names(argument, &names));
    bool is_complex = tagged.first == "as_complex";
    for (const std::string& one : names) is_complex = is_complex || complex.count(one) != 0;
    PETREL_ASSIGN_OR_RETURN(const std::string argument_name, name_in(item));
    call.is_complex[static_cast<size_t>(op.find_arg(argument_name))] = is_complex;
  }
  Builder b(*graph_, source);
  PETREL_ASSIGN_OR_RETURN(const std::vector<ComplexPair> made, expand_complex(b, call));
  if (made.size() != results.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", results.size(), " results, its operator gives ", made.size()));
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (results[i].empty()) continue;
    PETREL_ASSIGN_OR_RETURN(Named meaning, checked_parts(results[i], made[i]));
    PETREL_RETURN_IF_ERROR(define(results[i], std::move(meaning)));
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphReader::Named> GraphReader::checked_parts(const std::string& name,
                                                              const ComplexPair& parts) {
  const bool is_complex = scopes_.back().complex_names.count(name) != 0;
  if (is_complex != parts.is_complex()) {
    return absl::InvalidArgumentError(absl::StrCat("value '", name, "' is",
                                                   is_complex ? "" : " not",
                                                   " of complex numbers in the archive, what its "
                                                   "operator gives is",
                                                   is_complex ? " not" : ""));
  }
  PETREL_RETURN_IF_ERROR(check_recorded(name, *parts.real));
  if (!is_complex) return Named{Argument(parts.real), {}};
  PETREL_RETURN_IF_ERROR(check_recorded(name, *parts.imaginary));
  Named meaning{Argument(), parts};
  if (parts.real == parts.imaginary) {  // which part a node reads is seen by its value
    Builder b(*graph_, nullptr);
    PETREL_ASSIGN_OR_RETURN(meaning.parts.imaginary, b.call(aten::clone, {parts.imaginary}));
  }
  return meaning;
}

// Parameters and buffers are loaded as pairs in a last dim.
absl::StatusOr<ComplexPair> GraphReader::complex_parts(const std::string& name) {
  Scope& scope = scopes_.back();
  const auto made = scope.complex.find(name);
  if (made != scope.complex.end()) return made->second;
  const auto lazy = scope.lazy.find(name);
  if (lazy == scope.lazy.end()) {
    return absl::InvalidArgumentError(absl::StrCat("nothing is called '", name, "'"));
  }
  PETREL_ASSIGN_OR_RETURN(Value * pairs, lazy->second());
  Builder b(*graph_, nullptr);
  ComplexPair parts;
  PETREL_ASSIGN_OR_RETURN(parts.real, b.call(aten::select_int, {pairs, -1, 0}));
  PETREL_ASSIGN_OR_RETURN(parts.imaginary, b.call(aten::select_int, {pairs, -1, 1}));
  PETREL_ASSIGN_OR_RETURN(const Named meaning, checked_parts(name, parts));
  meaning.bind_in(&scope, name);
  return meaning.parts;
}

absl::StatusOr<GraphReader::Named> GraphReader::named(const std::string& name) {
  Named found;
  if (scopes_.back().complex_names.count(name) != 0) {
    PETREL_ASSIGN_OR_RETURN(found.parts, complex_parts(name));
  } else {
    PETREL_ASSIGN_OR_RETURN(found.argument, lookup(name));
  }
  return found;
}

void GraphReader::Named::bind_in(Scope* scope, const std::string& name) const {
  if (parts.is_complex()) {
    scope->complex[name] = parts;
  } else {
    scope->bound[name] = argument;
  }
}

}  // namespace petrel::exir
