// SPDX-License-Identifier: Apache-2.0
//
// Runs rules: once where nothing varies; else at each sample point and on every
// path.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ir/blob.h"
#include "exir/ir/graph.h"
#include "exir/ops/paths.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

using Shadows = std::vector<std::unique_ptr<Value>>;

// What `value` is at sample point `k`; at kSamples, what it is at most.
Argument at_sample(const ArgSpec& spec, Value* value, size_t k, Shadows* shadows) {
  const Type& type = value->type();
  if (type.is_tensor()) {
    if (!type.tensor.is_dynamic()) return Argument(value);
    exir::TensorType at = type.tensor;
    if (k < kSamples) at = at.at_sample(k);
    at.expressions.clear();
    shadows->push_back(std::make_unique<Value>());
    shadows->back()->set_type(std::move(at));
    return Argument(shadows->back().get());
  }
  // Of what stands where the schema has literals nothing is known: no rule and no pass gets one.
  if (!spec.takes_computed_number()) return Argument(value);
  if (type.kind == Type::Kind::kInt && type.number) {
    int64_t at = type.number->sample(k % kSamples);
    for (size_t i = 0; k == kSamples && i < kSamples; ++i) {
      at = std::max(at, type.number->sample(i));
    }
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

Argument at_sample(const ArgSpec& spec, const Argument& argument, size_t k, Shadows* shadows) {
  if (argument.is_value()) return at_sample(spec, argument.value(), k, shadows);
  if (!argument.is_list()) return argument;
  Argument::List items;
  Argument::Ints ints;
  for (const Argument& item : argument.as_list()) {
    items.push_back(at_sample(spec, item, k, shadows));
    if (items.back().is_int()) ints.push_back(items.back().as_int());
  }
  return ints.size() == items.size() ? Argument(std::move(ints)) : Argument(std::move(items));
}

std::vector<Argument> at_sample(const OpInfo& op, absl::Span<const Argument> arguments, size_t k,
                                Shadows* shadows) {
  std::vector<Argument> at;
  for (size_t i = 0; i < arguments.size(); ++i) {
    at.push_back(at_sample(op.args[i], arguments[i], k, shadows));
  }
  return at;
}

// `node`: what the arguments are a sample of, if they are.
Inferred run_static(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments,
                    absl::Span<const Argument> node = {}) {
  PETREL_ASSIGN_OR_RETURN(BoundArguments in, BoundArguments::bind(op, arguments));
  in.set_sample_of(node);
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, rule(in));
  PETREL_RETURN_IF_ERROR(in.check_read());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!types[i].is_tensor()) continue;
    const absl::Status status = check_tensor_type(types[i].tensor);
    if (!status.ok()) return invalid("result ", i, ": ", status.message());
  }
  return types;
}

Inferred run_at(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments, size_t k) {
  Shadows shadows;
  return run_static(rule, op, at_sample(op, arguments, k, &shadows), arguments);
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
      } else if (type.number) {
        absl::StrAppend(&text, text.empty() ? "" : ", ", "'", value->name(), "' is ",
                        type.number->sample(k));
      }
    }
  }
  return text;
}

// The results at each sample point: of one form, or an error.
absl::StatusOr<std::vector<std::vector<Type>>> run_at_samples(
    Rule rule, const OpInfo& op, absl::Span<const Argument> arguments) {
  std::vector<std::vector<Type>> points;
  for (size_t k = 0; k < kSamples; ++k) {
    Inferred types = run_at(rule, op, arguments, k);
    if (!types.ok()) {
      const std::string sizes = sizes_at(arguments, k);
      if (sizes.empty()) return types.status();
      return absl::Status(types.status().code(),
                          absl::StrCat(types.status().message(), ", when ", sizes));
    }
    points.push_back(*std::move(types));
    const std::vector<Type>& first = points[0];
    const std::vector<Type>& at = points[k];
    if (at.size() != first.size()) {
      return invalid("gives ", first.size(), " or ", at.size(),
                     " results, depending on sizes: when ", sizes_at(arguments, k));
    }
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i].kind == first[i].kind && at[i].tensor.rank() == first[i].tensor.rank() &&
          at[i].tensor.dtype == first[i].tensor.dtype) {
        continue;
      }
      return invalid("result ", i, " is ", to_string(first[i]), " or ", to_string(at[i]),
                     ", depending on sizes");
    }
  }
  return points;
}

// The results on every path.
std::vector<std::vector<MaybeSize>> run_on_paths(Rule rule, const OpInfo& op,
                                                 absl::Span<const Argument> arguments) {
  Shadows shadows;
  const std::vector<Argument> at = at_sample(op, arguments, kFirstGeneralSample, &shadows);
  return proven_sizes(Paths::explore([&]() -> Inferred {
    PETREL_ASSIGN_OR_RETURN(BoundArguments in, BoundArguments::bind(op, at, arguments));
    in.set_sample_of(arguments);
    return rule(in);
  }));
}

void append_identity(const Argument& argument, std::string* out) {
  if (argument.is_value()) {
    const Type& type = argument.value()->type();
    const bool is_known = type.is_tensor() || type.number;
    absl::StrAppend(out, to_string(type), is_known ? "" : argument.value()->name());
  } else if (argument.is_number()) {
    absl::StrAppend(out, argument.is_int() ? argument.as_int() : 0, "/", argument.as_number());
  } else if (argument.is_string()) {
    absl::StrAppend(out, "'", argument.as_string(), "'");
  } else if (argument.is_scalar_type()) {
    absl::StrAppend(out, static_cast<int>(argument.as_scalar_type()));
  } else if (argument.is_ints()) {
    for (const int64_t item : argument.as_ints()) absl::StrAppend(out, item, " ");
  } else if (argument.is_floats()) {
    for (const double item : argument.as_floats()) absl::StrAppend(out, item, " ");
  } else if (argument.is_list()) {
    for (const Argument& item : argument.as_list()) append_identity(item, out);
  }
  absl::StrAppend(out, ";");
}

SizeExpression unknown(const std::string& identity, SizeRange range, const SampleValues& samples) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(identity.data());
  const std::string digest = to_hex(sha256_of(absl::MakeConstSpan(bytes, identity.size())));
  return SizeExpression(std::make_shared<const SizeSymbol>(absl::StrCat("u_", digest.substr(0, 32)),
                                                           range, samples, true));
}

// What an operator gives is the same whenever its arguments are: a symbol named
// by all of them.
SizeExpression unknown(const OpInfo& op, absl::Span<const Argument> arguments, size_t result,
                       size_t dim, SizeRange range, const SampleValues& samples) {
  std::string identity = absl::StrCat(op.full_name(), ";", result, ";", dim, ";");
  for (const Argument& argument : arguments) append_identity(argument, &identity);
  return unknown(identity, range, samples);
}

constexpr SizeRange kAnySize = {0, std::numeric_limits<int32_t>::max()};

// A size that depends on data: equal types have others, so its symbol is named by the values.
SizeExpression by_data(const OpInfo& op, absl::Span<const Argument> arguments, size_t result,
                       size_t dim, Size most) {
  std::string identity = absl::StrCat(op.full_name(), ";", result, ";", dim, ";data;");
  for (const Argument& argument : arguments) {
    for (const Value* value : argument.values()) absl::StrAppend(&identity, value->name(), ";");
  }
  const SizeRange range = {0, most};
  return unknown(identity, range, SizeSymbol("by_data", range).samples);
}

Inferred run_varying(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments) {
  PETREL_ASSIGN_OR_RETURN(const auto points, run_at_samples(rule, op, arguments));
  const std::vector<std::vector<MaybeSize>> proven = run_on_paths(rule, op, arguments);
  // Bounds of operands that come together only at other points fit no rule.
  const Inferred bounds = run_at(rule, op, arguments, kSamples);
  // The proven size unless a sample refutes it.
  const auto size_at = [&](size_t i, size_t dim, SizeRange range, auto sample) {
    SampleValues samples{};
    for (size_t k = 0; k < kSamples; ++k) samples[k] = sample(points[k][i]);
    const MaybeSize made =
        i < proven.size() && dim < proven[i].size() ? proven[i][dim] : std::nullopt;
    bool agrees = made.has_value();
    for (size_t k = 0; agrees && k < kSamples; ++k) agrees = made->sample(k) == samples[k];
    return agrees ? *made : unknown(op, arguments, i, dim, range, samples);
  };
  const auto most = [&](size_t i, size_t dim) {
    Size size = 0;
    for (const std::vector<Type>& types : points) {
      size = std::max<Size>(size, types[i].tensor.sizes[dim]);
    }
    return size;
  };
  std::vector<Type> result;
  for (size_t i = 0; i < points[0].size(); ++i) {
    const Type& first = points[0][i];
    if (!first.is_tensor()) {
      result.push_back(first.number ? Type::integer(size_at(
                                          i, 0, SizeRange(),
                                          [](const Type& at) { return at.number->constant(); }))
                                    : first);
      continue;
    }
    std::vector<SizeExpression> sizes;
    for (size_t dim = 0; dim < first.tensor.rank(); ++dim) {
      const bool is_by_data = std::any_of(points.begin(), points.end(), [&](const auto& types) {
        return types[i].tensor.varies(dim);
      });
      sizes.push_back(is_by_data ? by_data(op, arguments, i, dim, most(i, dim))
                                 : size_at(i, dim, kAnySize,
                                           [dim](const Type& at) { return at.tensor.sizes[dim]; }));
    }

    const bool has_bounds = bounds.ok() && bounds->size() > i && (*bounds)[i].is_tensor() &&
                            (*bounds)[i].tensor.rank() == first.tensor.rank();
    exir::TensorType type =
        exir::TensorType::dynamic(first.tensor.dtype, std::move(sizes),
                                  has_bounds ? (*bounds)[i].tensor.sizes : exir::Sizes());
    const absl::Status status = check_tensor_type(type);
    if (!status.ok()) return invalid("result ", i, ": ", status.message());
    result.emplace_back(std::move(type));
  }
  return result;
}

}  // namespace

Inferred run_rule(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments) {
  if (arguments.size() == op.args.size()) {
    for (const Argument& argument : arguments) {
      for (const Value* value : argument.values()) {
        if (value->type().is_dynamic()) return run_varying(rule, op, arguments);
      }
    }
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, run_static(rule, op, arguments));
  // A number that does not vary is a literal's, of which nothing is recorded.
  for (size_t i = 0; i < types.size(); ++i) {
    types[i].number.reset();
    exir::TensorType& type = types[i].tensor;
    if (!types[i].is_tensor() || !type.is_dynamic()) continue;
    std::vector<SizeExpression> sizes = type.all_sizes();
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      if (type.varies(dim)) sizes[dim] = by_data(op, arguments, i, dim, type.sizes[dim]);
    }
    type = exir::TensorType::dynamic(type.dtype, std::move(sizes), type.sizes);
  }
  return types;
}

}  // namespace petrel::exir::rules
