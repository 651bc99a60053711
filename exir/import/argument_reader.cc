// SPDX-License-Identifier: Apache-2.0
#include "exir/import/argument_reader.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/import/number_constant.h"
#include "exir/import/scalar_literal.h"
#include "exir/import/tensor_meta.h"
#include "exir/ops/promotion.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr size_t kMaxValues = size_t{1} << 14;

// A number computed at run time where `spec` takes one: what the schema calls an int, a float
// or a bool is written in the program.
std::optional<Argument> fit_number(const ArgSpec& spec, const Argument& number) {
  const Type::Kind kind = number.value()->type().kind;
  if (kind == Type::Kind::kTensor) return std::nullopt;
  if (spec.is_symbolic) {
    if (kind != Type::Kind::kInt) return std::nullopt;
    if (!spec.is_list) return number;
    const size_t length = spec.fixed_length == 0 ? 1 : spec.fixed_length;
    return Argument(Argument::List(length, number));
  }
  const bool fits = spec.kind == ArgKind::kScalar || spec.kind == ArgKind::kTensor;
  if (spec.is_list || !fits) return std::nullopt;
  return number;
}

// A literal as an argument of the kind that `spec` asks for; nullopt when it
// does not fit. Numbers for tensor slots pass through.
std::optional<Argument> fit_literal(const ArgSpec& spec, const Argument& literal) {
  if (literal.is_value()) return fit_number(spec, literal);
  if (spec.is_list) {
    // One int stands for a list of them.
    if (spec.kind != ArgKind::kInt || !literal.is_int()) return std::nullopt;
    const size_t length = spec.fixed_length == 0 ? 1 : spec.fixed_length;
    return Argument(Argument::Ints(length, literal.as_int()));
  }
  switch (spec.kind) {
    case ArgKind::kTensor:
    case ArgKind::kScalar:
      if (literal.is_number()) return literal;
      return std::nullopt;
    case ArgKind::kFloat:
      if (literal.is_int()) return Argument(literal.as_number());
      if (literal.is_float()) return literal;
      return std::nullopt;
    case ArgKind::kInt:
      if (literal.is_int()) return literal;
      return std::nullopt;
    case ArgKind::kBool:
      if (literal.is_bool()) return literal;
      return std::nullopt;
    case ArgKind::kString:
      if (literal.is_string()) return literal;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

absl::Status does_not_fit(const Json& place, const std::string& tag) {
  return place.error(absl::StrCat("'", tag, "' does not fit the argument's type"));
}

absl::Status computed(const Json& place) {
  return place.error("is computed at run time, where only literals are supported");
}

// Ints that may stand where floats are asked for.
absl::StatusOr<Argument> read_numbers(const ArgSpec& spec, const Json& payload) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
  if (spec.kind == ArgKind::kInt) {
    Argument::Ints ints;
    for (const Json& item : items) {
      PETREL_ASSIGN_OR_RETURN(int64_t value, item.integer());
      ints.push_back(value);
    }
    if (ints.size() == 1 && spec.fixed_length > 1) {
      ints.resize(spec.fixed_length, ints[0]);
    }
    return Argument(std::move(ints));
  }
  Argument::Floats floats;
  for (const Json& item : items) {
    PETREL_ASSIGN_OR_RETURN(double value, item.number());
    floats.push_back(value);
  }
  if (floats.empty()) return Argument(Argument::Ints());
  return Argument(std::move(floats));
}

}  // namespace

absl::Status check_value_count(const Json& place, size_t count) {
  if (count <= kMaxValues) return absl::OkStatus();
  return place.error(absl::StrCat("has ", count, " values, the limit is ", kMaxValues));
}

absl::StatusOr<Argument> ArgumentReader::named_tensor(const Json& holder) {
  PETREL_ASSIGN_OR_RETURN(Json name_json, holder.at("name"));
  PETREL_ASSIGN_OR_RETURN(std::string name, name_json.text());
  PETREL_ASSIGN_OR_RETURN(Argument argument, lookup_(name));
  if (argument.is_value()) return argument;
  return name_json.error(absl::StrCat("'", name, "' is not a tensor"));
}

// {"as_name": "sym_size"}, {"as_int": 3}, {"as_bool": true}, {"as_float": 1.0}
absl::StatusOr<Argument> ArgumentReader::scalar_or_name(const Json& union_) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, union_.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_name") {
    PETREL_ASSIGN_OR_RETURN(std::string name, payload.text());
    return lookup_(name);
  }
  PETREL_ASSIGN_OR_RETURN(std::optional<Argument> number, read_scalar(tag, payload));
  if (number) return *std::move(number);
  return union_.error(absl::StrCat("has the unknown member '", tag, "'"));
}

absl::StatusOr<Argument> ArgumentReader::read_list(const ArgSpec& spec, const std::string& tag,
                                                   const Json& payload) {
  const bool is_tensors = spec.kind == ArgKind::kTensor;
  if (is_tensors && (tag == "as_tensors" || tag == "as_optional_tensors")) {
    PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
    if (items.empty()) return Argument(Argument::Ints());
    PETREL_RETURN_IF_ERROR(check_value_count(payload, items.size()));
    Argument::List list;
    for (const Json& item : items) {
      if (tag == "as_tensors") {
        PETREL_ASSIGN_OR_RETURN(Argument value, named_tensor(item));
        list.push_back(std::move(value));
        continue;
      }
      PETREL_ASSIGN_OR_RETURN(auto tagged, item.tagged());
      if (tagged.first == "as_none") {
        list.emplace_back();
        continue;
      }
      PETREL_ASSIGN_OR_RETURN(Argument value, named_tensor(tagged.second));
      list.push_back(std::move(value));
    }
    return Argument(std::move(list));
  }
  const bool takes_floats = spec.kind == ArgKind::kFloat || spec.kind == ArgKind::kScalar;
  if ((tag == "as_ints" && (spec.kind == ArgKind::kInt || takes_floats)) ||
      (tag == "as_floats" && takes_floats)) {
    return read_numbers(spec, payload);
  }
  if (tag == "as_sym_ints" && spec.kind == ArgKind::kInt) {
    PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
    PETREL_RETURN_IF_ERROR(check_value_count(payload, items.size()));
    Argument::Ints ints;
    Argument::List all;
    for (const Json& item : items) {
      PETREL_ASSIGN_OR_RETURN(Argument scalar, scalar_or_name(item));
      if (scalar.is_int()) {
        ints.push_back(scalar.as_int());
      } else if (!scalar.is_value() || scalar.value()->type().kind != Type::Kind::kInt) {
        return item.error("is not an integer");
      } else if (!spec.is_symbolic) {
        return computed(item);
      }
      all.push_back(std::move(scalar));
    }
    if (ints.size() == all.size()) return Argument(std::move(ints));
    return Argument(std::move(all));
  }
  if (tag == "as_bools" && spec.kind == ArgKind::kBool) {
    PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, payload.items());
    Argument::Bools bools;
    for (const Json& item : items) {
      PETREL_ASSIGN_OR_RETURN(bool value, item.boolean());
      bools.push_back(value);
    }
    if (bools.empty()) return Argument(Argument::Ints());
    return Argument(std::move(bools));
  }
  // The exporter cannot tell of what an empty list is one.
  if (absl::EndsWith(tag, "s")) {
    const auto items = payload.items();
    if (items.ok() && items->empty()) return Argument(Argument::Ints());
  }
  return does_not_fit(payload, tag);
}

absl::StatusOr<Argument> ArgumentReader::read_one(const ArgSpec& spec, const Json& union_) {
  PETREL_ASSIGN_OR_RETURN(auto tagged, union_.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_none") return Argument();

  if (tag == "as_int" || tag == "as_float" || tag == "as_bool") {
    PETREL_ASSIGN_OR_RETURN(Argument literal, scalar_or_name(union_));
    if (auto fitted = fit_literal(spec, literal)) return *std::move(fitted);
    return does_not_fit(union_, tag);
  }
  if (tag == "as_complex" && part_ != Part::kWhole) {
    PETREL_ASSIGN_OR_RETURN(Json number, payload.at(part_ == Part::kReal ? "real" : "imag"));
    PETREL_ASSIGN_OR_RETURN(const double value, number.number());
    if (auto fitted = fit_literal(spec, Argument(value))) return *std::move(fitted);
    return does_not_fit(union_, tag);
  }
  if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool") {
    PETREL_ASSIGN_OR_RETURN(Argument scalar, scalar_or_name(payload));
    if (auto fitted = fit_literal(spec, scalar)) return *std::move(fitted);
    const bool is_computed = scalar.is_value() && !scalar.value()->type().is_tensor();
    return is_computed ? computed(payload) : does_not_fit(payload, tag);
  }
  if (tag == "as_string") {
    PETREL_ASSIGN_OR_RETURN(std::string text, payload.text());
    if (auto fitted = fit_literal(spec, Argument(std::move(text)))) {
      return *std::move(fitted);
    }
    return does_not_fit(payload, tag);
  }
  if (spec.is_list) return read_list(spec, tag, payload);
  if (tag == "as_tensor" && spec.kind == ArgKind::kTensor) {
    return named_tensor(payload);
  }
  if (tag == "as_optional_tensor" && spec.kind == ArgKind::kTensor) {
    PETREL_ASSIGN_OR_RETURN(auto inner, payload.tagged());
    if (inner.first == "as_none") return Argument();
    return named_tensor(inner.second);
  }
  if (tag == "as_scalar_type" && spec.kind == ArgKind::kScalarType) {
    PETREL_ASSIGN_OR_RETURN(ScalarType type, part_ == Part::kWhole ? read_scalar_type(payload)
                                                                   : read_part_type(payload));
    return Argument(type);
  }
  if (tag == "as_memory_format" && spec.kind == ArgKind::kMemoryFormat) {
    PETREL_ASSIGN_OR_RETURN(MemoryFormat format, read_memory_format(payload));
    return Argument(format);
  }
  if (tag == "as_layout" && spec.kind == ArgKind::kLayout) {
    PETREL_RETURN_IF_ERROR(check_layout(payload));
    return Argument();
  }
  // A program has one device, whatever the exporter ran on.
  if (tag == "as_device" && spec.kind == ArgKind::kDevice) return Argument();
  return does_not_fit(payload, tag);
}

absl::StatusOr<Argument> ArgumentReader::number_constant_value(const Argument& number,
                                                               ScalarType dtype) {
  PETREL_ASSIGN_OR_RETURN(ConstantPtr made, number_constant(number, dtype));
  ConstantPtr& known = numbers_[made->fqn];
  if (known == nullptr) known = std::move(made);
  return Argument(graph_->add_constant(known));
}

// A tensor of rank 0 that holds a number computed at run time; of one that was found in such a
// tensor, that tensor as another type.
absl::StatusOr<Argument> ArgumentReader::number_tensor(const Argument& number, ScalarType dtype) {
  const Node* finder = number.value()->producer();
  const bool is_found = finder != nullptr && finder->is(aten::_local_scalar_dense) &&
                        finder->operands()[0]->tensor().rank() == 0;
  const OpInfo& maker = op(is_found ? aten::_to_copy : aten::full);
  std::vector<Argument> arguments = {Argument(Argument::Ints()), number, Argument(dtype)};
  if (is_found) arguments = {Argument(finder->operands()[0]), Argument(dtype)};
  for (size_t i = arguments.size(); i < maker.args.size(); ++i) {
    arguments.push_back(maker.args[i].default_value);
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, maker.infer(maker, arguments));
  return Argument(graph_
                      ->append(maker, std::move(arguments), std::move(types),
                               number.value()->name() + "_tensor")
                      ->result());
}

absl::Status ArgumentReader::replace_numbers(const OpInfo& op, std::vector<Argument>* arguments) {
  const auto is_run_time_number = [](const Argument& argument) {
    return argument.is_value() && !argument.value()->type().is_tensor();
  };
  rules::Promotion promotion;
  bool has_numbers = false;
  bool has_dimensions = false;
  for (size_t i = 0; i < op.args.size(); ++i) {
    const Argument& argument = (*arguments)[i];
    for (const Value* value : argument.values()) {
      if (!value->type().is_tensor()) continue;
      PETREL_RETURN_IF_ERROR(promotion.add(value->tensor()));
      has_dimensions = has_dimensions || value->tensor().rank() > 0;
    }
    if (op.args[i].kind != ArgKind::kTensor) continue;
    if (argument.is_number()) {
      has_numbers = true;
      PETREL_RETURN_IF_ERROR(promotion.add_number(argument));
    } else if (is_run_time_number(argument)) {
      has_numbers = true;
      const Type::Kind kind = argument.value()->type().kind;
      PETREL_RETURN_IF_ERROR(promotion.add_number(kind == Type::Kind::kInt    ? Argument(int64_t{1})
                                                  : kind == Type::Kind::kBool ? Argument(true)
                                                                              : Argument(1.0)));
    }
  }
  if (!has_numbers) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promotion.result());
  // Halves compute with f32 numbers; a tensor of rank 0 beside one with
  // dimensions does not change the dtype of the result.
  if (has_dimensions && is_floating_point(dtype) && item_size(dtype) == 2) {
    dtype = ScalarType::kFloat;
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    Argument& argument = (*arguments)[i];
    if (op.args[i].kind != ArgKind::kTensor) continue;
    if (is_run_time_number(argument)) {
      PETREL_ASSIGN_OR_RETURN(argument, number_tensor(argument, dtype));
    }
    if (!argument.is_number()) continue;
    PETREL_ASSIGN_OR_RETURN(argument, number_constant_value(argument, dtype));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Argument>> ArgumentReader::read(const OpInfo& op, const Json& inputs,
                                                           std::vector<Argument>* places_out) {
  std::vector<Argument> arguments(op.args.size());
  std::vector<bool> given(op.args.size(), false);
  // Functions of Python call their arguments as they like: math.ceil(x), torch.sym_ite(b, t, f).
  const bool by_place = absl::StartsWith(op.name, "executorch_prim::");
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, inputs.items());
  if (by_place && items.size() > op.args.size()) {
    return inputs.error(
        absl::StrCat("has ", items.size(), " arguments, must have ", op.args.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Json& item = items[i];
    PETREL_ASSIGN_OR_RETURN(Json name_json, item.at("name"));
    PETREL_ASSIGN_OR_RETURN(std::string name, name_json.text());
    const int index = by_place ? static_cast<int>(i) : op.find_arg(name);
    if (index < 0 && places_out != nullptr) {
      PETREL_ASSIGN_OR_RETURN(const Json holder, item.at("arg"));
      PETREL_ASSIGN_OR_RETURN(const Json tensor, holder.at("as_tensor"));
      PETREL_ASSIGN_OR_RETURN(Argument place, named_tensor(tensor));
      places_out->push_back(std::move(place));
      continue;
    }
    if (index < 0) {
      return name_json.error(absl::StrCat("the schema has no argument '", name, "'"));
    }
    if (given[index]) return name_json.error("is given twice");
    given[index] = true;
    PETREL_ASSIGN_OR_RETURN(Json union_, item.at("arg"));
    absl::StatusOr<Argument> argument = read_one(op.args[index], union_);
    if (!argument.ok()) {
      return annotate(argument.status(), absl::StrCat("argument '", name, "'"));
    }
    arguments[index] = *std::move(argument);
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (given[i]) continue;
    if (!op.args[i].has_default) {
      return inputs.error(absl::StrCat("argument '", op.args[i].name, "' is missing"));
    }
    arguments[i] = op.args[i].default_value;
  }
  PETREL_RETURN_IF_ERROR(replace_numbers(op, &arguments));
  return arguments;
}

}  // namespace petrel::exir
