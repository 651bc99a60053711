// SPDX-License-Identifier: Apache-2.0
//
// out = f(x, y) with broadcasting, where y is a tensor or a number. The arithmetic is that
// of the promoted type: integers when both sides are, and then they wrap in it; else operands
// are rounded to it, as runtime/kernels/portable/promotion.h has it.
#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// The second operand: a tensor, or one number for all elements.
struct Operand {
  const Value* tensor = nullptr;
  const Argument* number = nullptr;

  bool floating() const {
    return tensor != nullptr ? is_floating(tensor) : is_float_number(*number);
  }
};

// The type that integers are computed in: tensors with dims count before those without,
// and these before numbers, unless they are all bool.
ScalarType promoted_integer(const TensorType& a, const Operand& b) {
  if (b.tensor == nullptr) {
    return a.dtype == ScalarType::kBool && !b.number->is_bool() ? ScalarType::kLong : a.dtype;
  }
  const TensorType& other = b.tensor->tensor();
  if (a.dtype == other.dtype || other.dtype == ScalarType::kBool) return a.dtype;
  if (a.dtype == ScalarType::kBool) return other.dtype;
  if ((a.rank() == 0) != (other.rank() == 0)) return a.rank() == 0 ? other.dtype : a.dtype;
  const size_t size = item_size(a.dtype), other_size = item_size(other.dtype);
  // Of one size are those with a sign and without; both fit the next.
  if (size == other_size) return size == 1 ? ScalarType::kShort : ScalarType::kLong;
  return size > other_size ? a.dtype : other.dtype;
}

// The floating type that x and y are computed in.
ScalarType promoted_floating(const TensorType& a, const Operand& b) {
  const bool is_real = is_floating_point(a.dtype);
  if (b.tensor == nullptr) return is_real ? a.dtype : ScalarType::kFloat;
  const TensorType& other = b.tensor->tensor();
  if (!is_real) return is_floating_point(other.dtype) ? other.dtype : ScalarType::kFloat;
  if (!is_floating_point(other.dtype) || a.dtype == other.dtype) return a.dtype;
  if ((a.rank() == 0) != (other.rank() == 0)) return a.rank() == 0 ? other.dtype : a.dtype;
  const bool has_double = a.dtype == ScalarType::kDouble || other.dtype == ScalarType::kDouble;
  return has_double ? ScalarType::kDouble : ScalarType::kFloat;
}

// Sums, products and quotients compute with wider floats beside half and bfloat16 as they are.
bool rounds_floats(const Node& node) {
  return !node.is(aten::add_Tensor, aten::add_Scalar, aten::sub_Tensor, aten::sub_Scalar,
                  aten::rsub_Scalar, aten::mul_Tensor, aten::mul_Scalar, aten::div_Tensor,
                  aten::div_Scalar, aten::div_Tensor_mode, aten::div_Scalar_mode,
                  aten::floor_divide, aten::pow_Scalar, aten::clamp_Tensor);
}

// Elements of `type` are rounded when they are loaded, where `as` lacks some of them.
void round_in(KernelCall& call, const std::string& role, ScalarType type, ScalarType as,
              bool with_floats) {
  if (type == as || as == ScalarType::kDouble) return;
  const bool is_narrow = as != ScalarType::kFloat;
  const bool is_wide_integer =
      is_integral(type) && type != ScalarType::kBool && item_size(type) >= (is_narrow ? 2 : 4);
  const bool is_wide_float =
      type == ScalarType::kDouble || (is_narrow && type == ScalarType::kFloat);
  if (is_wide_integer && is_narrow) {
    call.tokens["LOAD_" + role] = absl::StrCat(NodeCalls::rounding(as), "_integer");
  } else if (is_wide_float && is_narrow && type == ScalarType::kFloat && with_floats) {
    call.tokens["LOAD_" + role] = absl::StrCat(NodeCalls::rounding(as), "_float");
  } else if (is_wide_integer || (is_wide_float && (with_floats || !is_narrow))) {
    call.tokens["LOAD_" + role] = NodeCalls::rounding(as);
  }
}

// Loads and stores that go through `type`, where it is narrower than what is computed in.
void wrap_in(KernelCall& call, ScalarType type) {
  // A bool is 0 or 1 already, and is made so where it is stored.
  if (item_size(type) == 8 || type == ScalarType::kBool) return;
  const std::string through = absl::StrCat("(", c_type(type), ")");
  for (const char* role : {"LOAD_IN", "LOAD_OTHER", "STORE_OUT"}) {
    if (call.tokens.count(role) == 0) continue;
    std::string& token = call.tokens[role];
    // What makes a bool is a function, and takes what is compared as it is.
    if (absl::EndsWith(token, ")")) token += through;
  }
}

// In floats a number counts with the precision of `as`; integers wrap in `as`.
std::string number_text(const NodeCalls& calls, const Argument& given, Arithmetic arithmetic,
                        ScalarType as) {
  if (arithmetic == Arithmetic::kDouble) {
    if (!given.is_value()) return number(NodeCalls::rounded(given.as_number(), as));
    return absl::StrCat(NodeCalls::rounding(as), "((double)", calls.computed(given), ")");
  }
  if (given.is_value()) return absl::StrCat("(", c_type(as), ")", calls.computed(given));
  const int64_t value = integer_of(given);
  if (as == ScalarType::kBool) return number(int64_t{value != 0});
  if (item_size(as) == 8) return number(value);
  return absl::StrCat("(int64_t)(", c_type(as), ")", number(value));
}

KernelCall& zip(const OperatorRow& row, NodeCalls& calls, const Value* x, const Operand& y,
                Arithmetic arithmetic, const std::string& expression) {
  const Value* out = calls.out();
  const TensorType& type = out->tensor();
  const bool is_real = arithmetic == Arithmetic::kDouble;
  const bool with_floats = rounds_floats(calls.node());
  const ScalarType as =
      is_real ? promoted_floating(x->tensor(), y) : promoted_integer(x->tensor(), y);
  LoopNest nest(y.tensor == nullptr ? 1 : 2);
  bool same = true;
  if (y.tensor != nullptr) {
    const Extents sizes = extents_of(type);
    const Extents x_strides = broadcast_strides(x->tensor(), sizes);
    const Extents y_strides = broadcast_strides(y.tensor->tensor(), sizes);
    for (size_t d = 0; d < type.rank(); ++d) nest.add(sizes[d], {x_strides[d], y_strides[d]});
    same = nest.is_dense();
    nest.make_not_empty();
  }
  const char* source = y.tensor == nullptr ? "kernels/map_number.h"
                       : same              ? "kernels/zip.h"
                                           : "kernels/zip_broadcast.h";
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  if (is_real) round_in(call, "IN", x->tensor().dtype, as, with_floats);
  NodeCalls::bind_write(call, "OUT", type.dtype, arithmetic);
  call.tokens["EXPRESSION"] = expression;
  call.arguments = {calls.read(x)};
  if (y.tensor == nullptr) {
    const bool is_narrow = as == ScalarType::kHalf || as == ScalarType::kBFloat16;
    const bool in_floats = is_real && is_narrow && !with_floats;
    call.arguments.push_back(
        number_text(calls, *y.number, arithmetic, in_floats ? ScalarType::kFloat : as));
  } else {
    NodeCalls::bind_read(call, "OTHER", y.tensor->tensor().dtype, arithmetic);
    if (is_real) round_in(call, "OTHER", y.tensor->tensor().dtype, as, with_floats);
    call.arguments.push_back(calls.read(y.tensor));
  }
  call.arguments.push_back(calls.write(out));
  if (same) {
    call.arguments.push_back(calls.count(numel_of(type)));
  } else {
    nest.bind_rows(call);
    NodeCalls::bind_list(call, "IN_STRIDES", nest.strides(0));
    NodeCalls::bind_list(call, "OTHER_STRIDES", nest.strides(1));
  }
  if (!is_real) wrap_in(call, as);
  return call;
}

Operand second_of(const Node& node) {
  Operand operand;
  const bool is_power = node.op().find_arg(arg::exponent) >= 0;
  const Argument& other = is_power ? node.argument(arg::exponent) : node.argument(arg::other);
  if (other.is_value() && other.value()->type().is_tensor()) {
    operand.tensor = other.value();
  } else {
    operand.number = &other;
  }
  return operand;
}

// In integers where both sides are and the row says how.
absl::Status binary(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Operand y = second_of(calls.node());
  if (is_floating(x) || y.floating() || row.integer_expression[0] == '\0') {
    zip(row, calls, x, y, Arithmetic::kDouble, row.expression);
  } else {
    zip(row, calls, x, y, Arithmetic::kInteger, row.integer_expression);
  }
  return absl::OkStatus();
}

// Integers divided by zero have no value: a divisor that is data is looked at before.
absl::Status divide(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Operand y = second_of(calls.node());
  if (is_floating(x) || y.floating()) return binary(row, calls);
  if (y.tensor == nullptr) {
    if (!y.number->is_value() && y.number->as_number() != 0) return binary(row, calls);
    const SizeRange size = extent_of(*y.number).range();
    if (y.number->is_value() && (size.low > 0 || size.high < 0)) return binary(row, calls);
    return absl::UnimplementedError("integers are divided by what may be 0");
  }
  // Where there is nothing to compute nothing is divided.
  const Extent count = numel_of(calls.out()->tensor());
  if (count.range().low <= 0 && count != numel_of(y.tensor->tensor())) {
    return absl::UnimplementedError("an empty tensor of integers may be divided by what may be 0");
  }
  KernelCall& call = calls.add("kernels/no_zero.h", "no_zero");
  NodeCalls::bind_elements(call, y.tensor->tensor().dtype);
  call.arguments = {calls.read(y.tensor), calls.count(numel_of(y.tensor->tensor()))};
  call.can_fail = true;
  return binary(row, calls);
}

absl::Status divide_by_mode(const OperatorRow& row, NodeCalls& calls) {
  const Argument& mode = calls.node().argument(arg::rounding_mode);
  OperatorRow chosen = row;
  if (mode.is_none()) {
    chosen.expression = "x / y";
    chosen.integer_expression = "";
    return binary(chosen, calls);
  }
  const bool is_floor = mode.as_string() == "floor";
  chosen.expression = is_floor ? "petrel_floor_divide(x, y)" : "trunc(x / y)";
  chosen.integer_expression =
      is_floor ? "petrel_integer_floor_division(x, y)" : "petrel_integer_division(x, y)";
  return divide(chosen, calls);
}

// x + alpha * y and x - alpha * y; expression has the sign, integer_expression whether x and
// y change places.
absl::Status add(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Operand y = second_of(calls.node());
  const Argument& alpha = calls.node().argument(arg::alpha);
  const bool swapped = row.integer_expression[0] != '\0';
  const char* first = swapped ? "y" : "x";
  const char* second = swapped ? "x" : "y";
  const bool plain = alpha.is_number() && alpha.as_number() == 1;
  if (is_floating(x) || y.floating()) {
    KernelCall& call = zip(row, calls, x, y, Arithmetic::kDouble, "");
    const std::string factor =
        plain ? "" : absl::StrCat(NodeCalls::real(call, "FACTOR", alpha), " * ");
    call.tokens["EXPRESSION"] = absl::StrCat(first, " ", row.expression, " ", factor, second);
    return absl::OkStatus();
  }
  KernelCall& call = zip(row, calls, x, y, Arithmetic::kInteger, "");
  const std::string factor =
      plain ? "" : absl::StrCat("(uint64_t)", NodeCalls::integer(call, "FACTOR", alpha), " * ");
  call.tokens["EXPRESSION"] = absl::StrCat("(int64_t)((uint64_t)", first, " ", row.expression, " ",
                                           factor, "(uint64_t)", second, ")");
  return absl::OkStatus();
}

// Roots where the exponent is a half, as in the kernels.
absl::Status power_of_number(const OperatorRow& row, NodeCalls& calls) {
  const Argument& exponent = calls.node().argument(arg::exponent);
  OperatorRow chosen = row;
  if (!exponent.is_value() && std::fabs(exponent.as_number()) == 0.5) {
    chosen.expression = "y < 0.0 ? 1.0 / sqrt(x) : sqrt(x)";
  }
  return binary(chosen, calls);
}

// A number to the power of a tensor.
absl::Status number_to_power(const OperatorRow& row, NodeCalls& calls) {
  const Value* exponent = calls.node().input(arg::exponent);
  Operand base;
  base.number = &calls.node().argument(arg::self);
  const bool floating = is_floating(exponent) || base.floating();
  zip(row, calls, exponent, base, floating ? Arithmetic::kDouble : Arithmetic::kInteger,
      floating ? row.expression : row.integer_expression);
  return absl::OkStatus();
}

// First the one bound, then the other in place; of x and a bound, x stays unless the bound is
// better or NaN.
absl::Status clamp_by_tensors(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Value* out = calls.out();
  if (x->tensor().dtype != out->tensor().dtype) {
    return absl::UnimplementedError("bounds of another type than the input do not exist in C yet");
  }
  const bool has_nan = is_floating(out);
  for (const auto& [bound, expression] :
       {std::pair{tensor_of(calls.node().argument(arg::min)),
                  has_nan ? "x < y || y != y ? y : x" : "x < y ? y : x"},
        std::pair{tensor_of(calls.node().argument(arg::max)),
                  has_nan ? "x > y || y != y ? y : x" : "x > y ? y : x"}}) {
    if (bound == nullptr) continue;
    Operand y;
    y.tensor = bound;
    zip(row, calls, x, y, has_nan ? Arithmetic::kDouble : Arithmetic::kInteger, expression);
    x = out;
  }
  return absl::OkStatus();
}

constexpr char kAnd[] = "x != 0.0 && y != 0.0";
constexpr char kOr[] = "x != 0.0 || y != 0.0";
constexpr char kXor[] = "(x != 0.0) != (y != 0.0)";
constexpr char kIntegerAnd[] = "x != 0 && y != 0";
constexpr char kIntegerOr[] = "x != 0 || y != 0";
constexpr char kIntegerXor[] = "(x != 0) != (y != 0)";
constexpr char kLeft[] = "y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y)";
constexpr char kRight[] = "x >> (y < 0 || y > 63 ? 63 : y)";

constexpr OperatorRow kRows[] = {
    {"aten::add.out", add, "+"},
    {"aten::add.Scalar_out", add, "+"},
    {"aten::sub.out", add, "-"},
    {"aten::sub.Scalar_out", add, "-"},
    {"aten::rsub.Scalar_out", add, "-", "swapped"},
    {"aten::mul.out", binary, "x * y", "(int64_t)((uint64_t)x * (uint64_t)y)"},
    {"aten::mul.Scalar_out", binary, "x * y", "(int64_t)((uint64_t)x * (uint64_t)y)"},
    {"aten::div.out", binary, "x / y"},
    {"aten::div.Scalar_out", binary, "x / y"},
    {"aten::div.out_mode", divide_by_mode},
    {"aten::div.Scalar_mode_out", divide_by_mode},
    {"aten::floor_divide.out", divide, "petrel_floor_divide(x, y)",
     "petrel_integer_floor_division(x, y)"},
    {"aten::fmod.Tensor_out", divide, "fmod(x, y)", "petrel_integer_fmod(x, y)"},
    {"aten::fmod.Scalar_out", divide, "fmod(x, y)", "petrel_integer_fmod(x, y)"},
    {"aten::remainder.Tensor_out", divide, "petrel_remainder(x, y)",
     "petrel_integer_remainder(x, y)"},
    {"aten::remainder.Scalar_out", divide, "petrel_remainder(x, y)",
     "petrel_integer_remainder(x, y)"},
    {"aten::maximum.out", binary, "x != x || x > y ? x : y", "x > y ? x : y"},
    {"aten::minimum.out", binary, "x != x || x < y ? x : y", "x < y ? x : y"},
    {"aten::atan2.out", binary, "petrel_atan2(x, y)"},
    {"aten::pow.Tensor_Tensor_out", binary, "petrel_pow(x, y)", "petrel_integer_pow(x, y)"},
    {"aten::pow.Tensor_Scalar_out", power_of_number, "petrel_pow(x, y)",
     "petrel_integer_pow(x, y)"},
    {"aten::pow.Scalar_out", number_to_power, "petrel_pow(y, x)", "petrel_integer_pow(y, x)"},
    {"aten::clamp.Tensor_out", clamp_by_tensors},
    {"aten::eq.Tensor_out", binary, "x == y", "x == y"},
    {"aten::eq.Scalar_out", binary, "x == y", "x == y"},
    {"aten::ne.Tensor_out", binary, "x != y", "x != y"},
    {"aten::ne.Scalar_out", binary, "x != y", "x != y"},
    {"aten::lt.Tensor_out", binary, "x < y", "x < y"},
    {"aten::lt.Scalar_out", binary, "x < y", "x < y"},
    {"aten::le.Tensor_out", binary, "x <= y", "x <= y"},
    {"aten::le.Scalar_out", binary, "x <= y", "x <= y"},
    {"aten::gt.Tensor_out", binary, "x > y", "x > y"},
    {"aten::gt.Scalar_out", binary, "x > y", "x > y"},
    {"aten::ge.Tensor_out", binary, "x >= y", "x >= y"},
    {"aten::ge.Scalar_out", binary, "x >= y", "x >= y"},
    {"aten::logical_and.out", binary, kAnd, kIntegerAnd},
    {"aten::logical_or.out", binary, kOr, kIntegerOr},
    {"aten::logical_xor.out", binary, kXor, kIntegerXor},
    {"aten::bitwise_and.Tensor_out", binary, "", "x & y"},
    {"aten::bitwise_and.Scalar_out", binary, "", "x & y"},
    {"aten::bitwise_or.Tensor_out", binary, "", "x | y"},
    {"aten::bitwise_or.Scalar_out", binary, "", "x | y"},
    {"aten::bitwise_xor.Tensor_out", binary, "", "x ^ y"},
    {"aten::bitwise_xor.Scalar_out", binary, "", "x ^ y"},
    {"aten::bitwise_left_shift.Tensor_out", binary, "", kLeft},
    {"aten::bitwise_left_shift.Tensor_Scalar_out", binary, "", kLeft},
    {"aten::bitwise_right_shift.Tensor_out", binary, "", kRight},
    {"aten::bitwise_right_shift.Tensor_Scalar_out", binary, "", kRight},
};

}  // namespace

absl::Span<const OperatorRow> binary_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
