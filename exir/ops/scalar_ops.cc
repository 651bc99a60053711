// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on numbers computed at run time: sizes, and what is computed from
// them. Rules know the value of every int at a sample point, so that the sizes
// that depend on it are known there too.
#include <algorithm>
#include <cmath>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

using Kind = Type::Kind;

Inferred kind(Kind kind) { return std::vector<Type>{Type::scalar(kind)}; }

Inferred integer(const Size& value) { return std::vector<Type>{Type::integer(value.expression())}; }

bool is_integral(const BoundArguments& in, const char* name) {
  return in.at(name).is_int() || in.at(name).is_bool();
}

// Op(a, b, &result): false when there is no result.
using IntOp = bool (*)(const Size& a, const Size& b, Size* result);

template <IntOp op>
Inferred arithmetic(const BoundArguments& in) {
  if (!is_integral(in, "a") || !is_integral(in, "b")) return kind(Kind::kFloat);
  const Size a = in.integer("a");
  const Size b = in.integer("b");
  Size result;
  if (op(a, b, &result)) return integer(result);
  return invalid("numbers ", a, " and ", b, " have no result");
}

bool add(const Size& a, const Size& b, Size* r) { return !add_overflows(a, b, r); }
bool mul(const Size& a, const Size& b, Size* r) { return !multiply_overflows(a, b, r); }
bool sub(const Size& a, const Size& b, Size* r) {
  Size negative;
  return !multiply_overflows(b, -1, &negative) && !add_overflows(a, negative, r);
}
bool smaller(const Size& a, const Size& b, Size* r) {
  *r = smallest(a, b);
  return true;
}
bool larger(const Size& a, const Size& b, Size* r) {
  *r = largest(a, b);
  return true;
}
bool floor_quotient(const Size& a, const Size& b, Size* r) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
  *r = floor_divide(a, b);
  return true;
}
// Of the sign of `b`.
bool modulo(const Size& a, const Size& b, Size* r) {
  if (b == 0) return false;
  *r = b == -1 ? Size(0) : a - floor_divide(a, b) * b;
  return true;
}

Inferred to_float(const BoundArguments&) { return kind(Kind::kFloat); }
Inferred to_bool(const BoundArguments&) { return kind(Kind::kBool); }

Inferred negate(const BoundArguments& in) {
  if (!is_integral(in, "a")) return kind(Kind::kFloat);
  Size result;
  if (sub(0, in.integer("a"), &result)) return integer(result);
  return invalid("number ", in.integer("a"), " has no negative");
}

// Of a float only the kind of its result is known.
Inferred to_int(const BoundArguments& in) {
  return is_integral(in, "a") ? integer(in.integer("a")) : kind(Kind::kInt);
}

Inferred choose(const BoundArguments& in) {
  return kind(is_integral(in, "b") && is_integral(in, "c") ? Kind::kInt : Kind::kFloat);
}

constexpr OpRow kRows[] = {
    {"executorch_prim::add.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::add.Scalar",
     kPure, infer<arithmetic<add>>},
    {"executorch_prim::sub.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::sub.Scalar",
     kPure, infer<arithmetic<sub>>},
    {"executorch_prim::mul.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::mul.Scalar",
     kPure, infer<arithmetic<mul>>},
    {"executorch_prim::floordiv.Scalar(Scalar a, Scalar b) -> Scalar",
     "executorch_prim::floordiv.Scalar", kPure, infer<arithmetic<floor_quotient>>},
    {"executorch_prim::mod.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::mod.Scalar",
     kPure, infer<arithmetic<modulo>>},
    {"executorch_prim::truediv.Scalar(Scalar a, Scalar b) -> Scalar",
     "executorch_prim::truediv.Scalar", kPure, infer<to_float>},
    {"executorch_prim::sym_max.Scalar(Scalar a, Scalar b) -> Scalar",
     "executorch_prim::sym_max.Scalar", kPure, infer<arithmetic<larger>>},
    {"executorch_prim::sym_min.Scalar(Scalar a, Scalar b) -> Scalar",
     "executorch_prim::sym_min.Scalar", kPure, infer<arithmetic<smaller>>},
    {"executorch_prim::eq.Scalar(Scalar a, Scalar b) -> bool", "executorch_prim::eq.Scalar", kPure,
     infer<to_bool>},
    {"executorch_prim::lt.Scalar(Scalar a, Scalar b) -> bool", "executorch_prim::lt.Scalar", kPure,
     infer<to_bool>},
    {"executorch_prim::le.Scalar(Scalar a, Scalar b) -> bool", "executorch_prim::le.Scalar", kPure,
     infer<to_bool>},
    {"executorch_prim::gt.Scalar(Scalar a, Scalar b) -> bool", "executorch_prim::gt.Scalar", kPure,
     infer<to_bool>},
    {"executorch_prim::ge.Scalar(Scalar a, Scalar b) -> bool", "executorch_prim::ge.Scalar", kPure,
     infer<to_bool>},
    {"executorch_prim::neg.Scalar(Scalar a) -> Scalar", "executorch_prim::neg.Scalar", kPure,
     infer<negate>},
    {"executorch_prim::sym_not.Scalar(Scalar a) -> bool", "executorch_prim::sym_not.Scalar", kPure,
     infer<to_bool>},
    {"executorch_prim::sym_float.Scalar(Scalar a) -> float", "executorch_prim::sym_float.Scalar",
     kPure, infer<to_float>},
    {"executorch_prim::sym_int.Scalar(Scalar a) -> Scalar", "executorch_prim::sym_int.Scalar",
     kPure, infer<to_int>},
    {"executorch_prim::trunc.Scalar(Scalar a) -> Scalar", "executorch_prim::trunc.Scalar", kPure,
     infer<to_int>},
    {"executorch_prim::ceil.Scalar(Scalar a) -> Scalar", "executorch_prim::ceil.Scalar", kPure,
     infer<to_int>},
    {"executorch_prim::round.Scalar(Scalar a) -> Scalar", "executorch_prim::round.Scalar", kPure,
     infer<to_int>},
    {"executorch_prim::sym_ite.Scalar(Scalar a, Scalar b, Scalar c) -> Scalar",
     "executorch_prim::sym_ite.Scalar", kPure, infer<choose>},
};

}  // namespace

absl::Span<const OpRow> scalar_ops() { return kRows; }

}  // namespace petrel::exir::rules
