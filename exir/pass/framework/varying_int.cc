// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/varying_int.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Values = std::vector<int64_t>;

constexpr int64_t kMaxDivisor = 64;

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
  for (size_t k = 0; k < b.size(); ++k) {
    if (__builtin_mul_overflow(product[k], b[k], &product[k])) product[k] = 0;  // fits nothing
  }
  return product;
}

BuiltValue multiply_by(Builder& b, Value* x, int64_t factor) {
  if (factor == 1) return x;
  return b.call(executorch_prim::mul_Scalar, {x, factor});
}

BuiltValue add_to(Builder& b, Value* x, int64_t offset) {
  if (offset == 0) return x;
  return b.call(executorch_prim::add_Scalar, {x, offset});
}

// (product * factor + offset) // divisor; nullopt where no expression holds it.
MaybeSize size_of(const VaryingInts::Formula& formula) {
  MaybeSize size = SizeExpression(1);
  for (const VaryingInts::Source* source : formula.sources) {
    if (size) size = multiply(*size, source->size);
  }
  if (size) size = multiply(*size, formula.factor);
  if (size) size = add(*size, formula.offset);
  if (size && formula.divisor != 1) size = divide(*size, formula.divisor);
  return size;
}

void add_formula(VaryingInts::Formula formula, std::vector<VaryingInts::Formula>* out) {
  const MaybeSize size = size_of(formula);
  if (!size) return;
  for (const VaryingInts::Formula& known : *out) {
    if (known.size == *size) return;
  }
  formula.size = *size;
  out->push_back(std::move(formula));
}

}  // namespace

VaryingInts::VaryingInts(const Node& node, const std::vector<SizePoint>& points) {
  const auto source = [&](Value* value, int64_t dim, const SizeExpression& size) {
    Source made{value, dim, size, {}};
    for (const SizePoint& point : points) made.values.push_back(point.value_of(size).value_or(0));
    return made;
  };
  std::vector<Source> sizes;
  for (Value* operand : node.operands()) {
    const Type& type = operand->type();
    if (type.kind == Type::Kind::kInt && type.number) {
      sources_.push_back(source(operand, -1, *type.number));
    }
    if (!type.is_tensor()) continue;
    for (size_t dim = 0; dim < type.tensor.rank(); ++dim) {
      if (!type.tensor.varies(dim)) continue;
      sizes.push_back(source(operand, static_cast<int64_t>(dim), type.tensor.size(dim)));
    }
  }
  sources_.insert(sources_.end(), sizes.begin(), sizes.end());
}

bool VaryingInts::is_known(const Values& values) const {
  for (const Source& source : sources_) {
    if (source.values == values) return true;
  }
  return false;
}

std::vector<VaryingInts::Formula> VaryingInts::formulas(const Values& values) const {
  std::vector<Formula> fitting;
  for (const Source& source : sources_) {
    if (source.values == values) add_formula({{}, {&source}}, &fitting);
  }
  for (const Source& source : sources_) {
    const std::optional<Line> line = line_through(values, source.values);
    if (line) add_formula({{}, {&source}, line->factor, line->offset}, &fitting);
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    for (size_t j = i; j < sources_.size(); ++j) {
      const Values two = times(sources_[i].values, sources_[j].values);
      for (size_t l = j; l <= sources_.size(); ++l) {
        const bool has_third = l < sources_.size();
        const int64_t factor = factor_of(values, has_third ? times(two, sources_[l].values) : two);
        if (factor == 0) continue;
        Formula formula{{}, {&sources_[i], &sources_[j]}, factor};
        if (has_third) formula.sources.push_back(&sources_[l]);
        add_formula(std::move(formula), &fitting);
      }
    }
  }
  if (!fitting.empty()) return fitting;
  for (const Source& source : sources_) {
    for (int64_t divisor = 2; divisor <= kMaxDivisor; ++divisor) {
      for (int64_t offset = -divisor; offset <= divisor; ++offset) {
        bool fits = true;
        for (size_t k = 0; fits && k < values.size(); ++k) {
          fits = values[k] == floor_divide(source.values[k] + offset, divisor);
        }
        if (fits) add_formula({{}, {&source}, 1, offset, divisor}, &fitting);
      }
    }
  }
  return fitting;
}

BuiltValue VaryingInts::make(Builder& b, const Formula& formula) {
  Value* made = nullptr;
  for (const Source* source : formula.sources) {
    Value* x = source->value;
    if (source->dim >= 0) {
      PETREL_ASSIGN_OR_RETURN(x, b.call(aten::sym_size_int, {source->value, source->dim}));
    }
    if (made == nullptr) {
      made = x;
    } else {
      PETREL_ASSIGN_OR_RETURN(made, b.call(executorch_prim::mul_Scalar, {made, x}));
    }
  }
  PETREL_ASSIGN_OR_RETURN(made, multiply_by(b, made, formula.factor));
  PETREL_ASSIGN_OR_RETURN(made, add_to(b, made, formula.offset));
  if (formula.divisor == 1) return made;
  return b.call(executorch_prim::floordiv_Scalar, {made, formula.divisor});
}

}  // namespace petrel::exir
