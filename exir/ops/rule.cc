// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/rule.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ir/graph.h"

namespace petrel::exir {
namespace {

bool is_tensor_value(const Argument& argument) {
  return argument.is_value() && argument.value()->type().is_tensor();
}

bool is_empty_list(const Argument& argument) {
  return (argument.is_ints() && argument.as_ints().empty()) ||
         (argument.is_list() && argument.as_list().empty());
}

bool fits_list(const ArgSpec& spec, const Argument& argument) {
  if (is_empty_list(argument)) return true;
  switch (spec.kind) {
    case ArgKind::kTensor:
      if (!argument.is_list()) return false;
      for (const Argument& item : argument.as_list()) {
        if (item.is_none() ? !spec.has_optional_items : !is_tensor_value(item)) {
          return false;
        }
      }
      return true;
    case ArgKind::kInt:
      return argument.is_ints();
    case ArgKind::kFloat:
      return argument.is_floats();
    case ArgKind::kBool:
      return argument.is_bools();
    case ArgKind::kScalar:
      return argument.is_ints() || argument.is_floats();
    default:
      return false;
  }
}

bool fits_single(const ArgSpec& spec, const Argument& argument) {
  switch (spec.kind) {
    case ArgKind::kTensor:
      return is_tensor_value(argument);
    case ArgKind::kScalar:
      return argument.is_number();
    case ArgKind::kInt:
      return argument.is_int();
    case ArgKind::kFloat:
      return argument.is_float() || argument.is_int();
    case ArgKind::kBool:
      return argument.is_bool();
    case ArgKind::kString:
      return argument.is_string();
    case ArgKind::kScalarType:
      return argument.is_scalar_type();
    case ArgKind::kMemoryFormat:
      return argument.is_memory_format();
    case ArgKind::kLayout:
    case ArgKind::kDevice:
      return argument.is_none() || argument.is_int();
  }
  return false;
}

bool may_be_none(const ArgSpec& spec) {
  return spec.is_optional || spec.kind == ArgKind::kLayout || spec.kind == ArgKind::kDevice;
}

absl::Status check_argument(const ArgSpec& spec, const Argument& argument) {
  if (argument.is_none()) {
    if (may_be_none(spec)) return absl::OkStatus();
    return invalid("argument '", spec.name, "' is none");
  }
  if (spec.kind != ArgKind::kTensor && !argument.values().empty()) {
    return invalid("argument '", spec.name, "' is computed at run time as '",
                   argument.values()[0]->name(), "'; only literals are supported there");
  }
  const bool fits = spec.is_list ? fits_list(spec, argument) : fits_single(spec, argument);
  if (fits) return absl::OkStatus();
  return invalid("argument '", spec.name, "' has the wrong kind");
}

// What `value` is at sample point `k`; at kSamples, what it is at most.
Argument at_sample(const ArgSpec& spec, Value* value, size_t k,
                   std::vector<std::unique_ptr<Value>>* shadows) {
  const Type& type = value->type();
  if (type.is_tensor()) {
    if (!type.tensor.is_dynamic()) return Argument(value);
    TensorType at = type.tensor;
    if (k < kSamples) at = at.at_sample(k);
    at.samples.clear();
    shadows->push_back(std::make_unique<Value>());
    shadows->back()->set_type(std::move(at));
    return Argument(shadows->back().get());
  }
  if (type.kind == Type::Kind::kInt && !type.samples.empty()) {
    const int64_t at = k < kSamples ? type.samples[k]
                                    : *std::max_element(type.samples.begin(), type.samples.end());
    return Argument(at);
  }
  // The value of a Scalar decides no type, only its kind does.
  if (spec.kind != ArgKind::kScalar) return Argument(value);
  switch (type.kind) {
    case Type::Kind::kInt:
      return Argument(int64_t{1});
    case Type::Kind::kBool:
      return Argument(true);
    default:
      return Argument(1.0);
  }
}

Argument at_sample(const ArgSpec& spec, const Argument& argument, size_t k,
                   std::vector<std::unique_ptr<Value>>* shadows) {
  if (argument.is_value()) {
    return at_sample(spec, argument.value(), k, shadows);
  }
  if (!argument.is_list()) return argument;
  Argument::List items;
  Argument::Ints ints;
  for (const Argument& item : argument.as_list()) {
    items.push_back(at_sample(spec, item, k, shadows));
    if (items.back().is_int()) ints.push_back(items.back().as_int());
  }
  return ints.size() == items.size() ? Argument(std::move(ints)) : Argument(std::move(items));
}

Inferred run_static(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments) {
  PETREL_ASSIGN_OR_RETURN(BoundArguments in, BoundArguments::bind(op, arguments));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, rule(in));
  for (size_t i = 0; i < types.size(); ++i) {
    if (!types[i].is_tensor()) continue;
    const absl::Status status = check_tensor_type(types[i].tensor);
    if (!status.ok()) return invalid("result ", i, ": ", status.message());
  }
  return types;
}

Inferred run_at(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments, size_t k) {
  std::vector<std::unique_ptr<Value>> shadows;
  std::vector<Argument> at;
  for (size_t i = 0; i < arguments.size(); ++i) {
    at.push_back(at_sample(op.args[i], arguments[i], k, &shadows));
  }
  return run_static(rule, op, at);
}

// The sizes of the arguments at point `k`, for error messages.
std::string sizes_at(absl::Span<const Argument> arguments, size_t k) {
  std::string text;
  for (const Argument& argument : arguments) {
    for (const Value* value : argument.values()) {
      const Type& type = value->type();
      if (type.is_tensor()) {
        absl::StrAppend(&text, text.empty() ? "" : ", ", "'", value->name(), "' is ",
                        to_string(type.tensor.at_sample(k)));
      } else if (!type.samples.empty()) {
        absl::StrAppend(&text, text.empty() ? "" : ", ", "'", value->name(), "' is ",
                        type.samples[k]);
      }
    }
  }
  return text;
}

// Every size of every result, as a function of the symbols: the rule at each
// sample point.
Inferred run_dynamic(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments) {
  std::vector<std::vector<Type>> points;
  for (size_t k = 0; k < kSamples; ++k) {
    Inferred types = run_at(rule, op, arguments, k);
    if (!types.ok()) {
      return absl::Status(types.status().code(), absl::StrCat(types.status().message(), ", when ",
                                                              sizes_at(arguments, k)));
    }
    points.push_back(*std::move(types));
    if (points[k].size() != points[0].size()) {
      return invalid("gives ", points[0].size(), " or ", points[k].size(),
                     " results, depending on sizes: when ", sizes_at(arguments, k));
    }
  }
  // Bounds of operands that come together only at other points fit no rule.
  const Inferred bounds = run_at(rule, op, arguments, kSamples);
  std::vector<Type> result;
  for (size_t i = 0; i < points[0].size(); ++i) {
    const Type& first = points[0][i];
    if (!first.is_tensor()) {
      if (first.samples.empty()) {
        result.push_back(first);
        continue;
      }
      std::vector<int64_t> samples;
      for (size_t k = 0; k < kSamples; ++k) {
        samples.push_back(points[k][i].samples[k]);
      }
      result.push_back(Type::integer(std::move(samples)));
      continue;
    }
    std::vector<Sizes> samples;
    for (size_t k = 0; k < kSamples; ++k) {
      const Type& at = points[k][i];
      if (!at.is_tensor() || at.tensor.rank() != first.tensor.rank() ||
          at.tensor.dtype != first.tensor.dtype) {
        return invalid("result ", i, " is ", to_string(first), " or ", to_string(at),
                       ", depending on sizes");
      }
      samples.push_back(at.tensor.sizes);
    }
    Sizes largest = first.tensor.sizes;
    if (bounds.ok() && bounds->size() > i && (*bounds)[i].is_tensor() &&
        (*bounds)[i].tensor.rank() == first.tensor.rank()) {
      largest = (*bounds)[i].tensor.sizes;
    }
    TensorType type =
        TensorType::dynamic(first.tensor.dtype, std::move(largest), std::move(samples));
    const absl::Status status = check_tensor_type(type);
    if (!status.ok()) return invalid("result ", i, ": ", status.message());
    result.push_back(std::move(type));
  }
  return result;
}

}  // namespace

absl::StatusOr<BoundArguments> BoundArguments::bind(const OpInfo& op,
                                                    absl::Span<const Argument> arguments) {
  if (arguments.size() != op.args.size()) {
    return invalid("has ", arguments.size(), " arguments, its schema has ", op.args.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    PETREL_RETURN_IF_ERROR(check_argument(op.args[i], arguments[i]));
  }
  return BoundArguments(op, arguments);
}

const Argument* BoundArguments::find(absl::string_view name) const {
  for (size_t i = 0; i < op_->args.size(); ++i) {
    if (op_->args[i].name == name) return &arguments_[i];
  }
  return nullptr;
}

bool BoundArguments::given(absl::string_view name) const {
  const Argument* argument = find(name);
  return argument != nullptr && !argument->is_none();
}

const Argument& BoundArguments::at(absl::string_view name) const {
  static const Argument* const kNone = new Argument();
  const Argument* argument = find(name);
  return argument == nullptr ? *kNone : *argument;
}

const TensorType& BoundArguments::tensor(absl::string_view name) const {
  static const TensorType* const kEmpty = new TensorType();
  const Argument& argument = at(name);
  return argument.is_value() ? argument.value()->tensor() : *kEmpty;
}

std::vector<const TensorType*> BoundArguments::tensors(absl::string_view name) const {
  std::vector<const TensorType*> types;
  const Argument& argument = at(name);
  if (!argument.is_list()) return types;
  for (const Argument& item : argument.as_list()) {
    types.push_back(item.is_value() ? &item.value()->tensor() : nullptr);
  }
  return types;
}

std::vector<const TensorType*> BoundArguments::all_tensors() const {
  std::vector<const TensorType*> types;
  for (const Argument& argument : arguments_) {
    for (const Value* value : argument.values()) {
      types.push_back(&value->tensor());
    }
  }
  return types;
}

int64_t BoundArguments::integer(absl::string_view name) const {
  const Argument& argument = at(name);
  return argument.is_int() ? argument.as_int() : 0;
}

double BoundArguments::number(absl::string_view name) const {
  const Argument& argument = at(name);
  return argument.is_number() ? argument.as_number() : 0.0;
}

bool BoundArguments::flag(absl::string_view name) const {
  const Argument& argument = at(name);
  return argument.is_bool() && argument.as_bool();
}

std::string BoundArguments::text(absl::string_view name) const {
  const Argument& argument = at(name);
  return argument.is_string() ? argument.as_string() : std::string();
}

std::optional<ScalarType> BoundArguments::dtype(absl::string_view name) const {
  const Argument& argument = at(name);
  if (!argument.is_scalar_type()) return std::nullopt;
  return argument.as_scalar_type();
}

Sizes BoundArguments::ints(absl::string_view name) const {
  const Argument& argument = at(name);
  if (argument.is_int()) return {argument.as_int()};
  return argument.is_ints() ? argument.as_ints() : Sizes();
}

std::vector<double> BoundArguments::floats(absl::string_view name) const {
  const Argument& argument = at(name);
  return argument.is_floats() ? argument.as_floats() : std::vector<double>();
}

absl::StatusOr<int64_t> BoundArguments::dim(absl::string_view name, size_t rank) const {
  return normalize_dim(integer(name), rank, name);
}

absl::StatusOr<Sizes> BoundArguments::dims(absl::string_view name, size_t rank) const {
  Sizes dims = ints(name);
  std::set<int64_t> seen;
  for (int64_t& dim : dims) {
    PETREL_ASSIGN_OR_RETURN(dim, normalize_dim(dim, rank, name));
    if (!seen.insert(dim).second) {
      return invalid("argument '", name, "' has dimension ", dim, " twice");
    }
  }
  return dims;
}

absl::StatusOr<Sizes> BoundArguments::window(absl::string_view name, size_t length,
                                             int64_t low) const {
  Sizes values = ints(name);
  if (values.size() == 1 && length > 1) values.resize(length, values[0]);
  if (values.size() != length) {
    return invalid("argument '", name, "' has ", values.size(), " items, must have ", length);
  }
  for (int64_t value : values) {
    if (value < low || value > std::numeric_limits<int32_t>::max()) {
      return invalid("argument '", name, "' has ", value, ", must be in [", low, ", 2^31)");
    }
  }
  return values;
}

Inferred one(TensorType type) { return one(type.dtype, std::move(type.sizes)); }

Inferred one(ScalarType dtype, Sizes sizes) {
  return std::vector<Type>{TensorType::contiguous(dtype, std::move(sizes))};
}

absl::StatusOr<int64_t> normalize_dim(int64_t dim, size_t rank, absl::string_view name) {
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -count || dim >= count) {
    return invalid("argument '", name, "' is ", dim, ", must be in [", -count, ", ", count, ")");
  }
  return dim < 0 ? dim + count : dim;
}

absl::StatusOr<Sizes> broadcast_sizes(absl::Span<const Sizes> all) {
  size_t rank = 0;
  for (const Sizes& sizes : all) rank = std::max(rank, sizes.size());
  Sizes result(rank, 1);
  for (const Sizes& sizes : all) {
    const size_t shift = rank - sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t& size = result[shift + i];
      if (sizes[i] == size || sizes[i] == 1) continue;
      if (size != 1) {
        return invalid("sizes [", absl::StrJoin(sizes, ","), "] do not broadcast: dim ", i,
                       " meets ", size);
      }
      size = sizes[i];
    }
  }
  return result;
}

absl::StatusOr<Sizes> broadcast(absl::Span<const TensorType* const> types) {
  std::vector<Sizes> all;
  for (const TensorType* type : types) all.push_back(type->sizes);
  return broadcast_sizes(all);
}

Inferred same_as_self(const BoundArguments& in) { return one(in.tensor("self")); }

Inferred refuse_data_dependent(const BoundArguments&) {
  return absl::UnimplementedError("the size of its result depends on data, which is not supported");
}

Inferred run_rule(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments) {
  if (arguments.size() == op.args.size()) {
    for (const Argument& argument : arguments) {
      for (const Value* value : argument.values()) {
        if (value->type().is_dynamic()) {
          return run_dynamic(rule, op, arguments);
        }
      }
    }
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, run_static(rule, op, arguments));
  // What does not vary needs no samples.
  for (Type& type : types) type.samples.clear();
  return types;
}

}  // namespace petrel::exir
