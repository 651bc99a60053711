// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/varying_int.h"

#include <cstddef>
#include <utility>

#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Values = std::vector<int64_t>;

constexpr int64_t kMaxDivisor = 64;

Values general(const SizeExpression& size) {
  Values values;
  for (size_t k = kFirstGeneralSample; k < kSamples; ++k) values.push_back(size.sample(k));
  return values;
}

struct Line {
  int64_t factor;
  int64_t offset;
};

// values = factor * of + offset
std::optional<Line> line_through(const Values& values, const Values& of) {
  for (size_t k = 1; k < of.size(); ++k) {
    const int64_t step = of[k] - of[0];
    if (step == 0) continue;
    if ((values[k] - values[0]) % step != 0) return std::nullopt;
    Line line;
    line.factor = (values[k] - values[0]) / step;
    line.offset = values[0] - line.factor * of[0];
    for (size_t i = 0; i < of.size(); ++i) {
      if (values[i] != line.factor * of[i] + line.offset) return std::nullopt;
    }
    return line;
  }
  return std::nullopt;
}

// values = factor * of; 0 when they are not.
int64_t factor_of(const Values& values, const Values& of) {
  if (of[0] == 0 || values[0] % of[0] != 0) return 0;
  const int64_t factor = values[0] / of[0];
  for (size_t k = 0; k < of.size(); ++k) {
    if (values[k] != factor * of[k]) return 0;
  }
  return factor;
}

Values times(const Values& a, const Values& b) {
  Values product = a;
  for (size_t k = 0; k < b.size(); ++k) product[k] *= b[k];
  return product;
}

BuiltValue multiply(Builder& b, Value* x, int64_t factor) {
  if (factor == 1) return x;
  return b.call(executorch_prim::mul_Scalar, {x, factor});
}

BuiltValue add(Builder& b, Value* x, int64_t offset) {
  if (offset == 0) return x;
  return b.call(executorch_prim::add_Scalar, {x, offset});
}

absl::StatusOr<std::optional<Argument>> found(const BuiltValue& value) {
  PETREL_RETURN_IF_ERROR(value.status());
  return std::optional<Argument>(Argument(*value));
}

}  // namespace

VaryingInts::VaryingInts(const Node& node) {
  std::vector<Source> sizes;
  for (Value* operand : node.operands()) {
    const Type& type = operand->type();
    if (type.kind == Type::Kind::kInt && type.number) {
      sources_.push_back({operand, -1, general(*type.number)});
    }
    if (!type.is_tensor()) continue;
    for (size_t dim = 0; dim < type.tensor.rank(); ++dim) {
      if (!type.tensor.varies(dim)) continue;
      sizes.push_back({operand, static_cast<int64_t>(dim), general(type.tensor.size(dim))});
    }
  }
  sources_.insert(sources_.end(), sizes.begin(), sizes.end());
}

BuiltValue VaryingInts::value_of(Builder& b, const Source& source) const {
  if (source.dim < 0) return source.value;
  return b.call(aten::sym_size_int, {source.value, source.dim});
}

bool VaryingInts::is_known(const Values& values) const {
  for (const Source& source : sources_) {
    if (source.values == values) return true;
  }
  return false;
}

absl::StatusOr<std::optional<Argument>> VaryingInts::make(Builder& b, const Values& values) const {
  for (const Source& source : sources_) {
    if (source.values == values) return found(value_of(b, source));
  }
  for (const Source& source : sources_) {
    const std::optional<Line> line = line_through(values, source.values);
    if (!line) continue;
    PETREL_ASSIGN_OR_RETURN(Value * x, value_of(b, source));
    PETREL_ASSIGN_OR_RETURN(x, multiply(b, x, line->factor));
    return found(add(b, x, line->offset));
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    for (size_t j = i; j < sources_.size(); ++j) {
      const Values two = times(sources_[i].values, sources_[j].values);
      for (size_t l = j; l <= sources_.size(); ++l) {
        const bool has_third = l < sources_.size();
        const Values all = has_third ? times(two, sources_[l].values) : two;
        const int64_t factor = factor_of(values, all);
        if (factor == 0) continue;
        PETREL_ASSIGN_OR_RETURN(Value * x, value_of(b, sources_[i]));
        PETREL_ASSIGN_OR_RETURN(Value * y, value_of(b, sources_[j]));
        PETREL_ASSIGN_OR_RETURN(x, b.call(executorch_prim::mul_Scalar, {x, y}));
        if (has_third) {
          PETREL_ASSIGN_OR_RETURN(y, value_of(b, sources_[l]));
          PETREL_ASSIGN_OR_RETURN(x, b.call(executorch_prim::mul_Scalar, {x, y}));
        }
        return found(multiply(b, x, factor));
      }
    }
  }
  for (const Source& source : sources_) {
    for (int64_t divisor = 2; divisor <= kMaxDivisor; ++divisor) {
      for (int64_t offset = -divisor; offset <= divisor; ++offset) {
        bool fits = true;
        for (size_t k = 0; fits && k < values.size(); ++k) {
          fits = values[k] == floor_divide(source.values[k] + offset, divisor);
        }
        if (!fits) continue;
        PETREL_ASSIGN_OR_RETURN(Value * x, value_of(b, source));
        PETREL_ASSIGN_OR_RETURN(x, add(b, x, offset));
        return found(b.call(executorch_prim::floordiv_Scalar, {x, divisor}));
      }
    }
  }
  return std::optional<Argument>();
}

}  // namespace petrel::exir
