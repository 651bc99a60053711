// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/size_numbers.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// size = factor * of + offset
struct Line {
  int64_t factor;
  int64_t offset;
};

std::optional<Line> line_through(const SizeExpression& size, const SizeExpression& of) {
  if (size.is_constant() || of.is_constant()) return std::nullopt;
  const int64_t divisor = of.terms()[0].coefficient;
  const int64_t factor = divisor == 0 ? 0 : size.terms()[0].coefficient / divisor;
  if (factor == 0) return std::nullopt;
  const MaybeSize multiple = multiply(of, factor);
  const MaybeSize rest = multiple ? subtract(size, *multiple) : std::nullopt;
  if (!rest || !rest->is_constant()) return std::nullopt;
  return Line{factor, rest->constant()};
}

BuiltValue multiply_by(Builder& b, Value* x, int64_t factor) {
  if (factor == 1) return x;
  return b.call(executorch_prim::mul_Scalar, {x, factor});
}

BuiltValue add_to(Builder& b, Value* x, int64_t offset) {
  if (offset == 0) return x;
  return b.call(executorch_prim::add_Scalar, {x, offset});
}

BuiltValue on_line(Builder& b, Value* x, Line line) {
  PETREL_ASSIGN_OR_RETURN(x, multiply_by(b, x, line.factor));
  return add_to(b, x, line.offset);
}

constexpr Value* kNothing = nullptr;

}  // namespace

SizeNumbers::SizeNumbers(const Node& node) {
  std::vector<Source> sizes;
  for (Value* operand : node.operands()) {
    const Type& type = operand->type();
    if (type.kind == Type::Kind::kInt && type.number) {
      sources_.push_back({operand, -1, *type.number});
    }
    if (!type.is_tensor()) continue;
    for (size_t dim = 0; dim < type.tensor.rank(); ++dim) {
      if (!type.tensor.varies(dim)) continue;
      sizes.push_back({operand, static_cast<int64_t>(dim), type.tensor.size(dim)});
    }
  }
  sources_.insert(sources_.end(), sizes.begin(), sizes.end());
}

bool SizeNumbers::has(const SizeExpression& size) const {
  for (const Source& source : sources_) {
    if (source.size == size) return true;
  }
  return false;
}

BuiltValue SizeNumbers::read(Builder& b, const Source& source) {
  if (source.dim < 0) return source.value;
  return b.call(aten::sym_size_int, {source.value, source.dim});
}

BuiltValue SizeNumbers::from_one(Builder& b, const SizeExpression& size) const {
  for (const bool is_equal : {true, false}) {
    for (const Source& source : sources_) {
      const std::optional<Line> line = line_through(size, source.size);
      if (!line || is_equal != (line->factor == 1 && line->offset == 0)) continue;
      PETREL_ASSIGN_OR_RETURN(Value * x, read(b, source));
      return on_line(b, x, *line);
    }
  }
  return kNothing;
}

// Of two or three of them.
BuiltValue SizeNumbers::from_product(Builder& b, const SizeExpression& size) const {
  for (size_t i = 0; i < sources_.size(); ++i) {
    for (size_t j = i; j < sources_.size(); ++j) {
      const MaybeSize two = multiply(sources_[i].size, sources_[j].size);
      if (!two) continue;
      for (size_t l = sources_.size() + 1; l-- > j;) {
        const bool has_third = l < sources_.size();
        const MaybeSize all = has_third ? multiply(*two, sources_[l].size) : two;
        const std::optional<Line> line = all ? line_through(size, *all) : std::nullopt;
        if (!line) continue;
        PETREL_ASSIGN_OR_RETURN(Value * x, read(b, sources_[i]));
        PETREL_ASSIGN_OR_RETURN(Value * y, read(b, sources_[j]));
        PETREL_ASSIGN_OR_RETURN(x, b.call(executorch_prim::mul_Scalar, {x, y}));
        if (has_third) {
          PETREL_ASSIGN_OR_RETURN(y, read(b, sources_[l]));
          PETREL_ASSIGN_OR_RETURN(x, b.call(executorch_prim::mul_Scalar, {x, y}));
        }
        return on_line(b, x, *line);
      }
    }
  }
  return kNothing;
}

absl::StatusOr<Argument> SizeNumbers::operand(Builder& b, const SizeExpression& size) const {
  if (size.is_constant()) return Argument(size.constant());
  PETREL_ASSIGN_OR_RETURN(Value * made, make(b, size));
  return made == nullptr ? Argument() : Argument(made);
}

BuiltValue SizeNumbers::from_atom(Builder& b, const SizeAtomPtr& atom) const {
  if (atom->kind == SizeAtom::Kind::kSymbol) {
    const SizeExpression symbol(atom->symbol);
    for (const Source& source : sources_) {
      // source = factor * symbol + offset
      const std::optional<Line> line = line_through(source.size, symbol);
      if (!line || line->offset == INT64_MIN) continue;
      PETREL_ASSIGN_OR_RETURN(Value * x, read(b, source));
      PETREL_ASSIGN_OR_RETURN(x, add_to(b, x, -line->offset));
      if (line->factor == 1) return x;
      return b.call(executorch_prim::floordiv_Scalar, {x, line->factor});
    }
    return kNothing;
  }
  const OpHandle op = atom->kind == SizeAtom::Kind::kDivide ? executorch_prim::floordiv_Scalar
                      : atom->kind == SizeAtom::Kind::kMin  ? executorch_prim::sym_min_Scalar
                                                            : executorch_prim::sym_max_Scalar;
  PETREL_ASSIGN_OR_RETURN(Argument left, operand(b, atom->operands[0]));
  for (size_t i = 1; i < atom->operands.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(Argument right, operand(b, atom->operands[i]));
    if (left.is_none() || right.is_none()) return kNothing;
    PETREL_ASSIGN_OR_RETURN(Value * made, b.call(op, {std::move(left), std::move(right)}));
    left = Argument(made);
  }
  return left.value();
}

BuiltValue SizeNumbers::from_term(Builder& b, const SizeTerm& term) const {
  Value* made = nullptr;
  for (const SizeAtomPtr& factor : term.factors) {
    PETREL_ASSIGN_OR_RETURN(Value * x, from_atom(b, factor));
    if (x == nullptr) return kNothing;
    if (made != nullptr) {
      PETREL_ASSIGN_OR_RETURN(x, b.call(executorch_prim::mul_Scalar, {made, x}));
    }
    made = x;
  }
  return multiply_by(b, made, term.coefficient);
}

BuiltValue SizeNumbers::make(Builder& b, const SizeExpression& size) const {
  PETREL_ASSIGN_OR_RETURN(Value * made, from_one(b, size));
  if (made == nullptr) {
    PETREL_ASSIGN_OR_RETURN(made, from_product(b, size));
  }
  if (made == nullptr) {
    for (const SizeTerm& term : size.terms()) {
      PETREL_ASSIGN_OR_RETURN(Value * x, from_term(b, term));
      if (x == nullptr) return kNothing;
      if (made != nullptr) {
        PETREL_ASSIGN_OR_RETURN(x, b.call(executorch_prim::add_Scalar, {made, x}));
      }
      made = x;
    }
    PETREL_ASSIGN_OR_RETURN(made, add_to(b, made, size.constant()));
  }
  const MaybeSize& number = made->type().number;
  return number && *number == size ? made : kNothing;
}

}  // namespace petrel::exir
