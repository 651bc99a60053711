// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/rule.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ir/graph.h"
#include "exir/ops/paths.h"

namespace petrel::exir::rules {
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
    const Value* value = argument.values()[0];
    if (value->type().kind == Type::Kind::kInt && !value->type().number.has_value()) {
      return invalid("argument '", spec.name, "' is computed at run time as '", value->name(),
                     "', which has no bounds; say them in the model, as in torch._check(",
                     value->name(), " <= N)");
    }
    return invalid("argument '", spec.name, "' is computed at run time as '",
                   argument.values()[0]->name(), "'; only literals are supported there");
  }
  const bool fits = spec.is_list ? fits_list(spec, argument) : fits_single(spec, argument);
  if (fits) return absl::OkStatus();
  return invalid("argument '", spec.name, "' has the wrong kind");
}

}  // namespace

TensorType::TensorType(const exir::TensorType& type) : dtype(type.dtype) {
  for (size_t dim = 0; dim < type.rank(); ++dim) sizes.emplace_back(type.size(dim));
}

TensorType TensorType::contiguous(ScalarType dtype, Sizes sizes) {
  TensorType type;
  type.dtype = dtype;
  type.sizes = std::move(sizes);
  return type;
}

Size TensorType::numel() const {
  // The other sizes of an empty tensor may have any product.
  for (const Size& size : sizes) {
    if (size.is(0)) return 0;
  }
  Size product = 1;
  for (const Size& size : sizes) product *= size;
  return product;
}

TensorType::operator Type() const {
  std::vector<SizeExpression> expressions;
  for (const Size& size : sizes) expressions.push_back(size.expression());
  return exir::TensorType::dynamic(dtype, std::move(expressions));
}

BoundArguments::BoundArguments(const OpInfo& op, absl::Span<const Argument> arguments,
                               absl::Span<const Argument> varying)
    : op_(&op), arguments_(arguments), varying_(varying) {
  for (const Argument& argument : varying) {
    for (const Value* value : argument.values()) {
      if (value->type().is_tensor()) types_.emplace(value, value->tensor());
    }
  }
}

absl::StatusOr<BoundArguments> BoundArguments::bind(const OpInfo& op,
                                                    absl::Span<const Argument> arguments) {
  return bind(op, arguments, arguments);
}

absl::StatusOr<BoundArguments> BoundArguments::bind(const OpInfo& op,
                                                    absl::Span<const Argument> arguments,
                                                    absl::Span<const Argument> varying) {
  if (arguments.size() != op.args.size()) {
    return invalid("has ", arguments.size(), " arguments, its schema has ", op.args.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    PETREL_RETURN_IF_ERROR(check_argument(op.args[i], arguments[i]));
  }
  return BoundArguments(op, arguments, varying);
}

int BoundArguments::index_of(absl::string_view name) const {
  for (size_t i = 0; i < op_->args.size(); ++i) {
    if (op_->args[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

const Argument* BoundArguments::find(absl::string_view name) const {
  const int index = index_of(name);
  return index < 0 ? nullptr : &arguments_[static_cast<size_t>(index)];
}

bool BoundArguments::is_sample(absl::string_view name) const {
  const int index = index_of(name);
  return index >= 0 && static_cast<size_t>(index) < node_.size() &&
         node_[static_cast<size_t>(index)].is_value();
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
  const int index = index_of(name);
  if (index < 0) return *kEmpty;
  const auto place = static_cast<size_t>(index);
  if (varying_[place].is_none()) read_none_ = &op_->args[place];
  if (!varying_[place].is_value()) return *kEmpty;
  const auto found = types_.find(varying_[place].value());
  return found == types_.end() ? *kEmpty : found->second;
}

absl::Status BoundArguments::check_read() const {
  if (read_none_ == nullptr) return absl::OkStatus();
  return invalid("argument '", read_none_->name, "' is none");
}

std::vector<const TensorType*> BoundArguments::tensors(absl::string_view name) const {
  std::vector<const TensorType*> types;
  const int index = index_of(name);
  if (index < 0 || op_->args[static_cast<size_t>(index)].kind != ArgKind::kTensor ||
      !varying_[static_cast<size_t>(index)].is_list()) {
    return types;  // numbers are lists as well, where they are computed
  }
  for (const Argument& item : varying_[static_cast<size_t>(index)].as_list()) {
    types.push_back(item.is_value() ? &types_.at(item.value()) : nullptr);
  }
  return types;
}

std::vector<const TensorType*> BoundArguments::all_tensors() const {
  std::vector<const TensorType*> types;
  for (const Argument& argument : varying_) {
    for (const Value* value : argument.values()) {
      const auto found = types_.find(value);
      if (found != types_.end()) types.push_back(&found->second);
    }
  }
  return types;
}

Size BoundArguments::size_of(const Argument& argument) const {
  if (argument.is_int()) return argument.as_int();
  if (argument.is_bool()) return argument.as_bool() ? 1 : 0;
  if (!argument.is_value()) return 0;
  const Type& type = argument.value()->type();
  if (type.number) return Size(*type.number);
  Paths::lose();  // a number that nothing is known about
  return 0;
}

Size BoundArguments::integer(absl::string_view name) const {
  const int index = index_of(name);
  return index < 0 ? Size(0) : size_of(varying_[static_cast<size_t>(index)]);
}

double BoundArguments::number(absl::string_view name) const {
  const int index = index_of(name);
  if (index < 0) return 0.0;
  const Argument& varying = varying_[static_cast<size_t>(index)];
  if (varying.is_value()) return static_cast<double>(static_cast<int64_t>(size_of(varying)));
  return varying.is_number() ? varying.as_number() : 0.0;
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
  Sizes sizes;
  const int index = index_of(name);
  if (index < 0 || !(at(name).is_int() || at(name).is_ints())) return sizes;
  const Argument& varying = varying_[static_cast<size_t>(index)];
  if (varying.is_ints()) return Sizes(varying.as_ints().begin(), varying.as_ints().end());
  if (!varying.is_list()) return {size_of(varying)};
  for (const Argument& item : varying.as_list()) sizes.push_back(size_of(item));
  return sizes;
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
  for (Size& dim : dims) {
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
  for (const Size& value : values) {
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
      Size& size = result[shift + i];
      // What is known first: it asks nothing.
      if (sizes[i].is(1)) continue;
      if (!size.is(1) && (sizes[i] == size || sizes[i] == 1)) continue;
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

bool is_index_dtype(ScalarType dtype) {
  return dtype == ScalarType::kLong || dtype == ScalarType::kInt;
}

absl::Status check_index_dtype(const TensorType& index) {
  if (is_index_dtype(index.dtype)) return absl::OkStatus();
  return invalid("an index is ", std::string(scalar_type_name(index.dtype)),
                 ", must be i64 or i32");
}

Size ceil_divide(const Size& a, const Size& b) { return (a + b - 1) / b; }

// Arguments 'dim' and 'dims', where there are such, are dimensions of it.
Inferred same_as_self(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  for (const Size& dim : in.ints("dim")) {
    PETREL_RETURN_IF_ERROR(normalize_dim(dim, self.rank(), "dim").status());
  }
  for (const Size& dim : in.ints("dims")) {
    PETREL_RETURN_IF_ERROR(normalize_dim(dim, self.rank(), "dims").status());
  }
  return one(self);
}

// infer.cc gives it the name of its node. Where `most` varies, it makes one of what `most`
// is at the sample points.
Size size_by_data(const Size& most) {
  if (!most.expression().is_constant() || most <= 0) return most;
  const SizeRange range = {0, most};
  return SizeExpression(std::make_shared<const SizeSymbol>(
      "by_data", range, SizeSymbol("by_data", range).samples, /*is_unknown=*/true));
}

Inferred refuse_data_dependent(const BoundArguments&) {
  return absl::UnimplementedError("the size of its result depends on data, which is not supported");
}

}  // namespace petrel::exir::rules
