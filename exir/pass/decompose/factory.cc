// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

BuiltValue filled(Builder& b, const TensorType& type, const Argument& value) {
  return b.call(aten::full, {sizes_of(type), value, type.dtype});
}

// full with an explicit dtype and nothing else said.
Rewritten full(Builder& b, Node& node) {
  const TensorType& type = node.result()->tensor();
  bool normal = holds(node.argument(arg::size), sizes_of(type)) &&
                node.argument(arg::dtype) == Argument(type.dtype);
  normal = normal && node.argument(arg::layout).is_none() && node.argument(arg::device).is_none() &&
           node.argument(arg::pin_memory).is_none();
  if (normal) return false;
  return done(b, node, filled(b, type, node.argument(arg::fill_value)));
}

// A literal, or a number that is computed at run time.
bool is_number(const Argument& argument) {
  return argument.is_number() || (argument.is_value() && !argument.value()->type().is_tensor());
}

Rewritten full_of_argument(Builder& b, Node& node) {
  const Argument& value = node.argument(arg::fill_value, arg::value);
  if (!is_number(value)) return false;
  return done(b, node, filled(b, node.result()->tensor(), value));
}

// Also what is not initialised: some value is as good as any.
Rewritten zeros(Builder& b, Node& node) {
  return done(b, node, filled(b, node.result()->tensor(), Argument(int64_t{0})));
}

Rewritten ones(Builder& b, Node& node) {
  return done(b, node, filled(b, node.result()->tensor(), Argument(int64_t{1})));
}

Rewritten scalar_tensor(Builder& b, Node& node) {
  if (!is_number(node.argument(arg::s))) return false;
  return done(b, node, filled(b, node.result()->tensor(), node.argument(arg::s)));
}

Rewritten arange(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  if (node.is(aten::arange)) {
    return done(b, node, b.call(aten::arange_start_step, {0, node.argument(arg::end), 1, dtype}));
  }
  const bool has_step = node.is(aten::arange_start_step);
  // How many numbers there are does not follow from a start with a fraction where the end varies:
  // so many as the node says. Eager adds up in double, too.
  const Size count = sizes_of(node.result())[0];
  if (!has_step && is_floating_point(dtype) && !count.expression().is_constant() &&
      !is_size(node.argument(arg::start))) {
    const double start = fixed_number(node.argument(arg::start));
    PETREL_ASSIGN_OR_RETURN(Value * y,
                            b.call(aten::arange_start_step, {0, count, 1, ScalarType::kDouble}));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, start}));
    return done(b, node, b.cast(y, dtype));
  }
  if (has_step && node.argument(arg::dtype) == Argument(dtype) &&
      node.argument(arg::layout).is_none() && node.argument(arg::device).is_none() &&
      node.argument(arg::pin_memory).is_none()) {
    return false;
  }
  return done(b, node,
              b.call(aten::arange_start_step,
                     {node.argument(arg::start), node.argument(arg::end),
                      has_step ? node.argument(arg::step) : Argument(int64_t{1}), dtype}));
}

// Row number equals column number.
Rewritten eye(Builder& b, Node& node) {
  const TensorType type = node.result()->tensor();
  const Sizes sizes = sizes_of(type);
  PETREL_ASSIGN_OR_RETURN(Value * rows,
                          b.call(aten::arange_start_step, {0, sizes[0], 1, ScalarType::kLong}));
  PETREL_ASSIGN_OR_RETURN(rows, b.view(rows, {sizes[0], 1}));
  PETREL_ASSIGN_OR_RETURN(Value * columns,
                          b.call(aten::arange_start_step, {0, sizes[1], 1, ScalarType::kLong}));
  PETREL_ASSIGN_OR_RETURN(columns, b.view(columns, {1, sizes[1]}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::eq_Tensor, rows, columns));
  return done(b, node, b.cast(y, type.dtype));
}

// The number at an end of a range, written in the program or computed: of `dtype`, as torch
// has it there, and from then on a double.
BuiltValue end_of_range(Builder& b, const Argument& end, ScalarType dtype) {
  Value* x = tensor_in(end);
  if (x == nullptr) {
    const double number = fixed_number(end);
    const double whole = std::trunc(number);
    return b.scalar(is_floating_point(dtype) ? number : whole, ScalarType::kDouble);
  }
  if (!is_floating_point(dtype)) {
    PETREL_ASSIGN_OR_RETURN(x, b.cast(x, dtype));
  }
  return b.cast(x, ScalarType::kDouble);
}

// start + i * step in the first half, end - (n - 1 - i) * step in the second: both ends are
// exact. In doubles.
BuiltValue even_steps(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const int64_t n = numel_of(node.result());
  PETREL_ASSIGN_OR_RETURN(Value * start, end_of_range(b, node.argument(arg::start), dtype));
  if (n < 2) return b.expand(start, {n});
  PETREL_ASSIGN_OR_RETURN(Value * end, end_of_range(b, node.argument(arg::end), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * step, b.binary(aten::sub_Tensor, end, start));
  PETREL_ASSIGN_OR_RETURN(step, b.call(aten::div_Scalar, {step, static_cast<double>(n - 1)}));
  PETREL_ASSIGN_OR_RETURN(Value * i,
                          b.call(aten::arange_start_step, {0, n, 1, ScalarType::kDouble}));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.binary(aten::mul_Tensor, i, step));
  PETREL_ASSIGN_OR_RETURN(low, b.binary(aten::add_Tensor, low, start));
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call(aten::add_Scalar, {i, -static_cast<double>(n - 1)}));
  PETREL_ASSIGN_OR_RETURN(high, b.binary(aten::mul_Tensor, high, step));
  PETREL_ASSIGN_OR_RETURN(high, b.binary(aten::add_Tensor, high, end));
  PETREL_ASSIGN_OR_RETURN(Value * first, b.call(aten::lt_Scalar, {i, n / 2}));
  return b.call(aten::where_self, {first, low, high});
}

Rewritten linspace(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, even_steps(b, node));
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

// base to the power of each of linspace.
Rewritten logspace(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, even_steps(b, node));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::pow_Scalar, {fixed_number(node.argument(arg::base)), y}));
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

// i / (n d) for i = 0, 1, ... and, behind the middle, from -n/2 on to -1.
Rewritten frequencies(Builder& b, Node& node) {
  const int64_t n = fixed_int(node.argument(arg::n));
  const int64_t count = numel_of(node.result());
  PETREL_RETURN_IF_ERROR(check_table({count}));
  const double spacing = fixed_number(node.argument(arg::d));
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = node.is(aten::fft_fftfreq) && i >= (n + 1) / 2 ? i - n : i;
    values.push_back(static_cast<double>(k) / (static_cast<double>(n) * spacing));
  }
  return done(b, node,
              computed_constant(b, "table", node.result()->tensor().dtype, {count}, values));
}

// The modified Bessel function of order 0: the sum of ((x/2)^k / k!)^2, which ends where nothing
// is added any more. From 20 on that of
//
//   e^x / sqrt(2 pi x) * (1 * 3 * ... * (2k - 1))^2 / (k! (8 x)^k)
//
// whose terms shrink up to k = 2 x, to e^-2x of the first. Both take at most some 45 terms.
double bessel_i0(double x) {
  constexpr double kPi = 3.141592653589793;
  x = std::abs(x);
  const bool is_small = x < 20;
  double sum = 1, term = 1;
  for (int k = 1; k < 100; ++k) {
    const double odd = 2 * k - 1;
    term *= is_small ? (x / 2) / k * ((x / 2) / k) : odd * odd / (k * 8 * x);
    if (!(sum + term > sum)) break;
    sum += term;
  }
  if (is_small) return sum;
  // In halves, as the whole overflows a little before the product does.
  const double root = std::exp(x / 2);
  return root / std::sqrt(2 * kPi * x) * sum * root;
}

// A window as a function of how far a sample is from the middle, 0 to 1 at the ends.
template <typename Fn>
Rewritten symmetric_window(Builder& b, Node& node, const Fn& fn) {
  const int64_t count = numel_of(node.result());
  if (count < 2) return ones(b, node);
  PETREL_RETURN_IF_ERROR(check_table({count}));
  const Argument* periodic = find_argument(node, arg::periodic);
  const bool is_whole = periodic == nullptr || *periodic == Argument(true);
  const auto last = static_cast<double>(is_whole ? count : count - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(fn(std::abs(2 * static_cast<double>(i) / last - 1)));
  }
  return done(b, node,
              computed_constant(b, "table", node.result()->tensor().dtype, {count}, values));
}

Rewritten bartlett_window(Builder& b, Node& node) {
  return symmetric_window(b, node, [](double r) { return 1 - r; });
}

Rewritten kaiser_window(Builder& b, Node& node) {
  const Argument* given = find_argument(node, arg::beta);
  const double beta = given == nullptr ? 12 : fixed_number(*given);
  const double middle = bessel_i0(beta);
  return symmetric_window(b, node, [beta, middle](double r) {
    return bessel_i0(beta * std::sqrt(1 - r * r)) / middle;
  });
}

// level - first * cos(t) + second * cos(2 t), where t goes round once in the samples of a
// period: as many as the window has, or one less.
Rewritten window(Builder& b, Node& node, double level, double first, double second) {
  constexpr double kTurn = 6.283185307179586;
  const TensorType type = node.result()->tensor();
  const int64_t count = numel_of(node.result());
  if (count < 2) return ones(b, node);
  const Argument* periodic = find_argument(node, arg::periodic);
  const bool is_whole = periodic == nullptr || *periodic == Argument(true);
  const double step = kTurn / static_cast<double>(is_whole ? count : count - 1);
  PETREL_ASSIGN_OR_RETURN(Value * i,
                          b.call(aten::arange_start_step, {0, count, 1, ScalarType::kDouble}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::mul_Scalar, {i, step}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::cos, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, -first}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, level}));
  if (second != 0) {
    PETREL_ASSIGN_OR_RETURN(Value * twice, b.call(aten::mul_Scalar, {i, 2 * step}));
    PETREL_ASSIGN_OR_RETURN(twice, b.call(aten::cos, {twice}));
    PETREL_ASSIGN_OR_RETURN(twice, b.call(aten::mul_Scalar, {twice, second}));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, twice));
  }
  return done(b, node, b.cast(y, type.dtype));
}

Rewritten hann_window(Builder& b, Node& node) { return window(b, node, 0.5, 0.5, 0); }

Rewritten hamming_window(Builder& b, Node& node) {
  const Argument* alpha = find_argument(node, arg::alpha);
  const Argument* beta = find_argument(node, arg::beta);
  return window(b, node, alpha == nullptr ? 0.54 : fixed_number(*alpha),
                beta == nullptr ? 0.46 : fixed_number(*beta), 0);
}

Rewritten blackman_window(Builder& b, Node& node) { return window(b, node, 0.42, 0.5, 0.08); }

// x where the element is on or above the diagonal.
Rewritten triu(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = sizes_of(x);
  const Sizes matrix(sizes.end() - 2, sizes.end());
  if (!is_size(node.argument(arg::diagonal))) return false;
  PETREL_ASSIGN_OR_RETURN(Value * below, b.call(aten::full, {matrix, true, ScalarType::kBool}));
  PETREL_ASSIGN_OR_RETURN(below,
                          b.call(aten::tril, {below, size_in(node.argument(arg::diagonal)) - 1}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {below, zero, x}));
}

constexpr Rewrite kRows[] = {
    {aten::full, full, true},
    {aten::full_like, full_of_argument},
    {aten::new_full, full_of_argument},
    {aten::fill_Scalar, full_of_argument},
    {aten::zeros, zeros},
    {aten::zeros_like, zeros},
    {aten::new_zeros, zeros},
    {aten::zero, zeros},
    {aten::empty_memory_format, zeros},
    {aten::empty_like, zeros},
    {aten::empty_permuted, zeros},
    {aten::new_empty, zeros},
    {aten::ones, ones},
    {aten::ones_like, ones},
    {aten::new_ones, ones},
    {aten::scalar_tensor, scalar_tensor},
    {aten::arange, arange},
    {aten::arange_start, arange},
    {aten::arange_start_step, arange, true},
    {aten::eye, eye},
    {aten::eye_m, eye},
    {aten::linspace, linspace},
    {aten::logspace, logspace},
    {aten::linspace_Tensor_Tensor, linspace},
    {aten::linspace_Tensor_Scalar, linspace},
    {aten::linspace_Scalar_Tensor, linspace},
    {aten::logspace_Tensor_Tensor, logspace},
    {aten::logspace_Tensor_Scalar, logspace},
    {aten::logspace_Scalar_Tensor, logspace},
    {aten::fft_fftfreq, frequencies},
    {aten::fft_rfftfreq, frequencies},
    {aten::bartlett_window, bartlett_window},
    {aten::bartlett_window_periodic, bartlett_window},
    {aten::kaiser_window, kaiser_window},
    {aten::kaiser_window_periodic, kaiser_window},
    {aten::kaiser_window_beta, kaiser_window},
    {aten::hann_window, hann_window},
    {aten::hann_window_periodic, hann_window},
    {aten::hamming_window, hamming_window},
    {aten::hamming_window_periodic, hamming_window},
    {aten::hamming_window_periodic_alpha, hamming_window},
    {aten::hamming_window_periodic_alpha_beta, hamming_window},
    {aten::blackman_window, blackman_window},
    {aten::blackman_window_periodic, blackman_window},
    {aten::triu, triu},
};

}  // namespace

Rewrites factory_decompositions() { return kRows; }

}  // namespace petrel::exir
