// SPDX-License-Identifier: Apache-2.0
//
// out[i] = f(x[i]).
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

KernelCall& map(const OperatorRow& row, NodeCalls& calls, Arithmetic arithmetic,
                std::string expression) {
  const Value* x = calls.node().input(arg::self);
  const Value* out = calls.out();
  KernelCall& call = calls.add("kernels/map.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", out->tensor().dtype, arithmetic);
  call.tokens["EXPRESSION"] = std::move(expression);
  call.arguments = {calls.read(x), calls.write(out), calls.count(numel_of(out->tensor()))};
  return call;
}

// `in_doubles`, or in floats where they may be `in_floats`, of functions that compilers compute
// many of at once.
void map_exponentials(const OperatorRow& row, NodeCalls& calls, std::string in_doubles,
                      std::string in_floats) {
  KernelCall& call = map(row, calls, Arithmetic::kDouble, std::move(in_doubles));
  const bool has_floats = calls.node().input(arg::self)->tensor().dtype == ScalarType::kFloat &&
                          calls.out()->tensor().dtype == ScalarType::kFloat;
  if (!calls.is_fast() || !has_floats) return;
  call.tokens["EXPRESSION"] = std::move(in_floats);
  call.tokens["ARITHMETIC"] = "float";
  call.tokens["LOAD_IN"] = call.tokens["STORE_OUT"] = "(float)";
}

absl::Status exponential(const OperatorRow& row, NodeCalls& calls) {
  map_exponentials(row, calls, row.expression, absl::StrCat("petrel_fast_", row.name(), "(x)"));
  return absl::OkStatus();
}

// In integers where input and output are and the row says how.
absl::Status unary(const OperatorRow& row, NodeCalls& calls) {
  const bool floating = is_floating(calls.node().input(arg::self)) || is_floating(calls.out());
  if (floating || row.integer_expression[0] == '\0') {
    map(row, calls, Arithmetic::kDouble, row.expression);
  } else {
    map(row, calls, Arithmetic::kInteger, row.integer_expression);
  }
  return absl::OkStatus();
}

absl::Status bitwise_not(const OperatorRow& row, NodeCalls& calls) {
  const bool is_bool = calls.out()->tensor().dtype == ScalarType::kBool;
  map(row, calls, Arithmetic::kInteger, is_bool ? "x == 0" : "~x");
  return absl::OkStatus();
}

absl::Status gelu(const OperatorRow& row, NodeCalls& calls) {
  const bool is_tanh = calls.node().argument(arg::approximate).as_string() == "tanh";
  map_exponentials(
      row, calls,
      is_tanh ? "0.5 * x * (1.0 + petrel_tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)))"
              : "0.5 * x * (1.0 + petrel_erf(x * 0.70710678118654752440))",
      is_tanh ? "0.5f * x * (1.0f + petrel_fast_tanh(0.797884561f * (x + 0.044715f * x * x * x)))"
              : "0.5f * x * (1.0f + petrel_fast_erf(x * 0.707106781f))");
  return absl::OkStatus();
}

std::string real(const Argument& argument) { return number(argument.as_number()); }

absl::Status hardtanh(const OperatorRow& row, NodeCalls& calls) {
  KernelCall& call = map(row, calls, Arithmetic::kDouble, "");
  const std::string low = NodeCalls::real(call, "LEAST", calls.node().argument(arg::min_val));
  const std::string high = NodeCalls::real(call, "MOST", calls.node().argument(arg::max_val));
  call.tokens["EXPRESSION"] =
      absl::StrCat("x < ", low, " ? ", low, " : x > ", high, " ? ", high, " : x");
  return absl::OkStatus();
}

// Where min > max the result is max; a bound that is not a number is the result.
absl::Status clamp(const OperatorRow& row, NodeCalls& calls) {
  const Argument& min = calls.node().argument(arg::min);
  const Argument& max = calls.node().argument(arg::max);
  const bool floating = is_floating(calls.out());
  KernelCall& call = map(row, calls, floating ? Arithmetic::kDouble : Arithmetic::kInteger, "");
  const auto text = [&](const char* token, const Argument& bound) {
    return floating ? NodeCalls::real(call, token, bound) : NodeCalls::integer(call, token, bound);
  };
  std::string expression = "x";
  if (!min.is_none()) {
    const std::string low = text("LEAST", min);
    expression = absl::StrCat("(x < ", low, " ? ", low, " : x)");
  }
  if (!max.is_none()) {
    const std::string high = text("MOST", max);
    expression = absl::StrCat(expression, " > ", high, " ? ", high, " : ", expression);
  }
  for (const Argument* bound : {&min, &max}) {
    const bool is_nan = floating && bound->is_number() && std::isnan(bound->as_number());
    if (is_nan) expression = real(*bound);
  }
  call.tokens["EXPRESSION"] = std::move(expression);
  return absl::OkStatus();
}

absl::Status leaky_relu(const OperatorRow& row, NodeCalls& calls) {
  KernelCall& call = map(row, calls, Arithmetic::kDouble, "");
  const Argument& slope = calls.node().argument(arg::negative_slope);
  call.tokens["EXPRESSION"] =
      absl::StrCat("x > 0.0 ? x : x * ", NodeCalls::real(call, "SLOPE", slope));
  return absl::OkStatus();
}

// What elements below 0 are multiplied with is a float unless they are doubles.
absl::Status elu(const OperatorRow& row, NodeCalls& calls) {
  const double scale = calls.node().argument(arg::scale).as_number();
  const double alpha = calls.node().argument(arg::alpha).as_number();
  const bool is_double = calls.node().input(arg::self)->tensor().dtype == ScalarType::kDouble;
  const double below =
      is_double ? scale * alpha : static_cast<float>(scale) * static_cast<float>(alpha);
  const std::string exponent = absl::StrCat("x * ", real(calls.node().argument(arg::input_scale)));
  std::string power = absl::StrCat("petrel_expm1(", exponent, ")");
  // From here on it is no float.
  if (!is_double) {
    power = absl::StrCat("(", exponent, " > 88.72283905206835 ? ",
                         number(std::numeric_limits<double>::infinity()), " : ", power, ")");
  }
  map(row, calls, Arithmetic::kDouble,
      absl::StrCat("x > 0.0 ? x * ", number(scale), " : ", number(below), " * ", power));
  return absl::OkStatus();
}

// The bounds are elements of the tensor's type, so that 1 - eps may be 1.
absl::Status logit(const OperatorRow& row, NodeCalls& calls) {
  const Argument& eps = calls.node().argument(arg::eps);
  const Value* self = calls.node().input(arg::self);
  const ScalarType type = (is_floating(self) ? self : calls.out())->tensor().dtype;
  std::string x = "x";
  if (!eps.is_none()) {
    const double low = NodeCalls::rounded(eps.as_number(), type);
    const std::string high = number(NodeCalls::rounded(1.0 - low, type));
    x = absl::StrCat("(x < ", number(low), " ? ", number(low), " : x > ", high, " ? ", high,
                     " : x)");
  }
  map(row, calls, Arithmetic::kDouble, absl::StrCat("petrel_log(", x, " / (1.0 - ", x, "))"));
  return absl::OkStatus();
}

absl::Status glu(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Split split = split_at(x->tensor(), dim_of(calls.node().argument(arg::dim), x->tensor()));
  KernelCall& call = calls.add("kernels/gated.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "OUTER", split.outer);
  NodeCalls::bind(call, "INNER", split.size / 2 * split.inner);
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::exp.out", exponential, "petrel_exp(x)"},
    {"aten::expm1.out", unary, "petrel_expm1(x)"},
    {"aten::log.out", unary, "petrel_log(x)"},
    {"aten::log1p.out", unary, "petrel_log1p(x)"},
    {"aten::log2.out", unary, "petrel_log2(x)"},
    {"aten::log10.out", unary, "petrel_log10(x)"},
    {"aten::sin.out", unary, "petrel_sin(x)"},
    {"aten::cos.out", unary, "petrel_cos(x)"},
    {"aten::tan.out", unary, "petrel_tan(x)"},
    {"aten::asin.out", unary, "petrel_asin(x)"},
    {"aten::acos.out", unary, "petrel_acos(x)"},
    {"aten::atan.out", unary, "petrel_atan(x)"},
    {"aten::sinh.out", unary, "petrel_sinh(x)"},
    {"aten::cosh.out", unary, "petrel_cosh(x)"},
    {"aten::tanh.out", exponential, "petrel_tanh(x)"},
    {"aten::asinh.out", unary, "petrel_asinh(x)"},
    {"aten::acosh.out", unary, "petrel_acosh(x)"},
    {"aten::atanh.out", unary, "petrel_atanh(x)"},
    {"aten::erf.out", unary, "petrel_erf(x)"},
    {"aten::sigmoid.out", exponential, "petrel_sigmoid(x)"},
    {"aten::sqrt.out", unary, "sqrt(x)"},
    {"aten::rsqrt.out", unary, "1.0 / sqrt(x)"},
    {"aten::reciprocal.out", unary, "1.0 / x"},
    {"aten::abs.out", unary, "fabs(x)", "x < 0 ? (int64_t)(0u - (uint64_t)x) : x"},
    {"aten::neg.out", unary, "-x", "(int64_t)(0u - (uint64_t)x)"},
    {"aten::ceil.out", unary, "ceil(x)", "x"},
    {"aten::floor.out", unary, "floor(x)", "x"},
    {"aten::trunc.out", unary, "trunc(x)", "x"},
    {"aten::round.out", unary, "petrel_rounded(x)", "x"},
    {"aten::sign.out", unary, "x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0", "(x > 0) - (x < 0)"},
    {"aten::relu.out", unary, "x < 0.0 ? 0.0 : x", "x < 0 ? 0 : x"},
    {"aten::isinf.out", unary, "x == (double)INFINITY || x == -(double)INFINITY"},
    {"aten::isnan.out", unary, "x != x"},
    {"aten::logical_not.out", unary, "x == 0.0", "x == 0"},
    {"aten::bitwise_not.out", bitwise_not},
    {"aten::gelu.out", gelu},
    {"aten::hardtanh.out", hardtanh},
    {"aten::clamp.out", clamp},
    {"aten::leaky_relu.out", leaky_relu},
    {"aten::elu.out", elu},
    {"aten::logit.out", logit},
    {"aten::glu.out", glu},
};

}  // namespace

absl::Span<const OperatorRow> elementwise_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
