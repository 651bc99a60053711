// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on numbers computed at run time: sizes, and what is computed from
// them. Rules know the value of every int at a sample point, so that the sizes
// that depend on it are known there too.
#include <algorithm>
#include <cmath>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir {
namespace {

using Kind = Type::Kind;

Inferred kind(Kind kind) { return std::vector<Type>{Type::scalar(kind)}; }

Inferred integer(int64_t value) { return std::vector<Type>{Type::integer({value})}; }

bool is_integral(const Argument& argument) { return argument.is_int() || argument.is_bool(); }

int64_t as_int(const Argument& argument) {
  return argument.is_bool() ? (argument.as_bool() ? 1 : 0) : argument.as_int();
}

// Op(a, b, &result): false when there is no result.
using IntOp = bool (*)(int64_t a, int64_t b, int64_t* result);

template <IntOp op>
Inferred arithmetic(const BoundArguments& in) {
  const Argument& a = in.at("a");
  const Argument& b = in.at("b");
  if (!is_integral(a) || !is_integral(b)) return kind(Kind::kFloat);
  int64_t result = 0;
  if (op(as_int(a), as_int(b), &result)) return integer(result);
  return invalid("numbers ", as_int(a), " and ", as_int(b), " have no result");
}

bool add(int64_t a, int64_t b, int64_t* r) { return !__builtin_add_overflow(a, b, r); }
bool sub(int64_t a, int64_t b, int64_t* r) { return !__builtin_sub_overflow(a, b, r); }
bool mul(int64_t a, int64_t b, int64_t* r) { return !__builtin_mul_overflow(a, b, r); }
bool smaller(int64_t a, int64_t b, int64_t* r) {
  *r = std::min(a, b);
  return true;
}
bool larger(int64_t a, int64_t b, int64_t* r) {
  *r = std::max(a, b);
  return true;
}
// Towards minus infinity, as Python divides.
bool floor_divide(int64_t a, int64_t b, int64_t* r) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *r = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return true;
}
bool modulo(int64_t a, int64_t b, int64_t* r) {
  if (b == 0 || b == -1) return *r = 0, b == -1;
  *r = a % b;
  if (*r != 0 && (*r < 0) != (b < 0)) *r += b;
  return true;
}

Inferred to_float(const BoundArguments&) { return kind(Kind::kFloat); }
Inferred to_bool(const BoundArguments&) { return kind(Kind::kBool); }

Inferred negate(const BoundArguments& in) {
  const Argument& a = in.at("a");
  if (!is_integral(a)) return kind(Kind::kFloat);
  int64_t result = 0;
  if (sub(0, as_int(a), &result)) return integer(result);
  return invalid("number ", as_int(a), " has no negative");
}

// Of a float only the kind of its result is known.
Inferred to_int(const BoundArguments& in) {
  const Argument& a = in.at("a");
  return is_integral(a) ? integer(as_int(a)) : kind(Kind::kInt);
}

Inferred choose(const BoundArguments& in) {
  return kind(is_integral(in.at("b")) && is_integral(in.at("c")) ? Kind::kInt : Kind::kFloat);
}

constexpr OpRow kRows[] = {
    {"executorch_prim::add.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::add.Scalar",
     kPure, infer<arithmetic<add>>},
    {"executorch_prim::sub.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::sub.Scalar",
     kPure, infer<arithmetic<sub>>},
    {"executorch_prim::mul.Scalar(Scalar a, Scalar b) -> Scalar", "executorch_prim::mul.Scalar",
     kPure, infer<arithmetic<mul>>},
    {"executorch_prim::floordiv.Scalar(Scalar a, Scalar b) -> Scalar",
     "executorch_prim::floordiv.Scalar", kPure, infer<arithmetic<floor_divide>>},
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

}  // namespace petrel::exir
