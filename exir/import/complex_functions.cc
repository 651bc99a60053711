// SPDX-License-Identifier: Apache-2.0
#include "exir/import/complex_functions.h"

#include <cmath>
#include <utility>

#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Made = MadeOfComplex;

Made one_value(BuiltValue value) {
  if (!value.ok()) return value.status();
  return std::vector<ComplexPair>{{*value, nullptr}};
}

BuiltValue times(Builder& b, Value* x, Value* y) { return b.call(aten::mul_Tensor, {x, y}); }

BuiltValue times(Builder& b, Value* x, double factor) {
  if (factor == 1) return x;
  PETREL_ASSIGN_OR_RETURN(Value * number, b.scalar(factor, x->tensor().dtype));
  return times(b, x, number);
}

BuiltValue length_of(Builder& b, const ComplexPair& z) {
  return b.call(aten::hypot, {z.real, z.imaginary});
}

BuiltValue angle_of(Builder& b, const ComplexPair& z) {
  return b.call(aten::atan2, {z.imaginary, z.real});
}

// `length` (cos angle + i sin angle)
Made from_polar(Builder& b, Value* length, Value* angle) {
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(Value * cosine, b.call(aten::cos, {angle}));
  PETREL_ASSIGN_OR_RETURN(Value * sine, b.call(aten::sin, {angle}));
  PETREL_ASSIGN_OR_RETURN(made.real, times(b, length, cosine));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, times(b, length, sine));
  return std::vector<ComplexPair>{made};
}

// In terms of t = tanh x, s = sin y and c = cos y, which do not overflow:
//   (t + i s c (1 - t^2)) / (c^2 + t^2 s^2)
absl::StatusOr<ComplexPair> hyperbolic_tangent(Builder& b, Value* x, Value* y) {
  PETREL_ASSIGN_OR_RETURN(Value * t, b.call(aten::tanh, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call(aten::sin, {y}));
  PETREL_ASSIGN_OR_RETURN(Value * c, b.call(aten::cos, {y}));
  PETREL_ASSIGN_OR_RETURN(Value * ts, times(b, t, s));
  PETREL_ASSIGN_OR_RETURN(Value * below, times(b, c, c));
  PETREL_ASSIGN_OR_RETURN(ts, times(b, ts, ts));
  PETREL_ASSIGN_OR_RETURN(below, b.call(aten::add_Tensor, {below, ts}));
  PETREL_ASSIGN_OR_RETURN(Value * rest, times(b, t, t));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::rsub_Scalar, {rest, 1.0}));
  PETREL_ASSIGN_OR_RETURN(Value * sc, times(b, s, c));
  PETREL_ASSIGN_OR_RETURN(sc, times(b, sc, rest));
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::div_Tensor, {t, below}));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::div_Tensor, {sc, below}));
  return made;
}

// The truth of each part, whose other operand has the imaginary part 0 where it is real.
Made truths(Builder& b, const ComplexCall& call, OpHandle join) {
  Value* parts[2] = {};
  for (int part = 0; part < 2; ++part) {
    std::vector<Argument> arguments = part == 0 ? call.real : call.imaginary;
    for (size_t i = 0; part == 1 && i < arguments.size(); ++i) {
      if (call.is_complex[i]) continue;
      const bool is_tensor = arguments[i].is_value() && arguments[i].value()->type().is_tensor();
      if (!is_tensor) {  // a number
        arguments[i] = Argument(0.0);
        continue;
      }
      PETREL_ASSIGN_OR_RETURN(Value * zeros, b.call(aten::zeros_like, {arguments[i].value()}));
      arguments[i] = Argument(zeros);
    }
    PETREL_ASSIGN_OR_RETURN(Node * node, b.node(call.op, std::move(arguments)));
    parts[part] = node->result();
  }
  return one_value(b.call(join, {parts[0], parts[1]}));
}

}  // namespace

absl::StatusOr<ComplexPair> complex_self(const ComplexCall& call) {
  const ComplexPair z = call.parts(arg::self);
  if (z.is_complex()) return z;
  return absl::InvalidArgumentError("takes complex numbers, its input is real");
}

Made polar(Builder& b, const ComplexCall& call) {
  return from_polar(b, call.parts(arg::abs).real, call.parts(arg::angle).real);
}

Made absolute(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  return one_value(length_of(b, z));
}

Made angle(Builder& b, const ComplexCall& call) {
  ComplexPair z = call.parts(arg::self);
  if (!z.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(z.imaginary, b.call(aten::zeros_like, {z.real}));
  }
  return one_value(angle_of(b, z));
}

Made exponential(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  PETREL_ASSIGN_OR_RETURN(Value * length, b.call(aten::exp, {z.real}));
  return from_polar(b, length, z.imaginary);
}

Made logarithm(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  const double base = call.op.is(aten::log2) ? 2 : 10;
  const double factor = call.op.is(aten::log) ? 1 : 1 / std::log(base);
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, length_of(b, z));
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::log, {made.real}));
  PETREL_ASSIGN_OR_RETURN(made.real, times(b, made.real, factor));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, angle_of(b, z));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, times(b, made.imaginary, factor));
  return std::vector<ComplexPair>{made};
}

Made power(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  double exponent = call.op.is(aten::sqrt) ? 0.5 : -0.5;
  if (call.op.is(aten::pow_Tensor_Scalar)) {
    if (!call.argument(arg::exponent).is_number()) {
      return absl::UnimplementedError("a power of complex numbers is computed at run time");
    }
    exponent = call.argument(arg::exponent).as_number();
  }
  PETREL_ASSIGN_OR_RETURN(Value * length, length_of(b, z));
  PETREL_ASSIGN_OR_RETURN(length, b.call(aten::pow_Tensor_Scalar, {length, exponent}));
  PETREL_ASSIGN_OR_RETURN(Value * turn, angle_of(b, z));
  PETREL_ASSIGN_OR_RETURN(turn, times(b, turn, exponent));
  return from_polar(b, length, turn);
}

// sinh(x + iy) = sinh x cos y + i cosh x sin y, and sin(x + iy) as -i sinh(-y + ix).
Made wave(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  const bool turns = call.op.is(aten::sin, aten::cos);
  const bool is_odd = call.op.is(aten::sin, aten::sinh);
  Value* const x = turns ? z.imaginary : z.real;
  Value* const y = turns ? z.real : z.imaginary;
  PETREL_ASSIGN_OR_RETURN(Value * sinh, b.call(aten::sinh, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * cosh, b.call(aten::cosh, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * sin, b.call(aten::sin, {y}));
  PETREL_ASSIGN_OR_RETURN(Value * cos, b.call(aten::cos, {y}));
  PETREL_ASSIGN_OR_RETURN(Value * even, times(b, is_odd ? sinh : cosh, cos));
  PETREL_ASSIGN_OR_RETURN(Value * odd, times(b, is_odd ? cosh : sinh, sin));
  ComplexPair made{even, odd};
  if (turns && is_odd) std::swap(made.real, made.imaginary);
  if (turns && !is_odd) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::neg, {odd}));
  }
  return std::vector<ComplexPair>{made};
}

Made tangent(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(ComplexPair z, complex_self(call));
  if (call.op.is(aten::tan)) {  // v + iu, where tanh(y + ix) is u + iv
    PETREL_ASSIGN_OR_RETURN(const ComplexPair made, hyperbolic_tangent(b, z.imaginary, z.real));
    return std::vector<ComplexPair>{{made.imaginary, made.real}};
  }
  if (call.op.is(aten::tanh)) {
    PETREL_ASSIGN_OR_RETURN(z, hyperbolic_tangent(b, z.real, z.imaginary));
    return std::vector<ComplexPair>{z};
  }
  // sigmoid(z) = (1 + tanh(z / 2)) / 2
  PETREL_ASSIGN_OR_RETURN(z.real, times(b, z.real, 0.5));
  PETREL_ASSIGN_OR_RETURN(z.imaginary, times(b, z.imaginary, 0.5));
  PETREL_ASSIGN_OR_RETURN(z, hyperbolic_tangent(b, z.real, z.imaginary));
  PETREL_ASSIGN_OR_RETURN(z.real, times(b, z.real, 0.5));
  PETREL_ASSIGN_OR_RETURN(z.real, b.call(aten::add_Scalar, {z.real, 0.5}));
  PETREL_ASSIGN_OR_RETURN(z.imaginary, times(b, z.imaginary, 0.5));
  return std::vector<ComplexPair>{z};
}

Made of_both_parts(Builder& b, const ComplexCall& call) {
  return truths(b, call, aten::logical_and);
}

Made of_one_part(Builder& b, const ComplexCall& call) { return truths(b, call, aten::logical_or); }

Made variance(Builder& b, const ComplexCall& call) {
  PETREL_RETURN_IF_ERROR(complex_self(call).status());
  const bool is_root = call.op.is(aten::std, aten::std_dim, aten::std_correction);
  std::vector<Value*> parts;
  for (const std::vector<Argument>* arguments : {&call.real, &call.imaginary}) {
    PETREL_ASSIGN_OR_RETURN(Node * node, b.node(call.op, *arguments));
    PETREL_ASSIGN_OR_RETURN(Value * squared, is_root ? times(b, node->result(), node->result())
                                                     : BuiltValue(node->result()));
    parts.push_back(squared);
  }
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.call(aten::add_Tensor, {parts[0], parts[1]}));
  return one_value(is_root ? b.call(aten::sqrt, {sum}) : BuiltValue(sum));
}

}  // namespace petrel::exir
