// SPDX-License-Identifier: Apache-2.0
#include "exir/import/complex_rules.h"

#include <algorithm>
#include <utility>

#include "exir/import/complex_functions.h"
#include "exir/import/complex_products.h"
#include "exir/import/complex_transforms.h"
#include "exir/ops/handles.h"
#include "exir/ops/rule.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {

namespace {

using Made = absl::StatusOr<std::vector<ComplexPair>>;
using PairOr = absl::StatusOr<ComplexPair>;
using Rule = Made (*)(Builder& b, const ComplexCall& call);

// Each part, where a real tensor beside a complex one has zeros as its imaginary part.
Made with_zeros(Builder& b, const ComplexCall& call) {
  const auto zeros_of = [&](Value* x) { return b.call(aten::zeros_like, {x}); };
  ComplexCall whole = call;
  for (size_t i = 0; i < call.real.size(); ++i) {
    Argument& argument = whole.imaginary[i];
    if (argument.is_value() && !call.is_complex[i] && argument.value()->type().is_tensor()) {
      PETREL_ASSIGN_OR_RETURN(Value * zeros, zeros_of(argument.value()));
      argument = Argument(zeros);
    } else if (argument.is_list()) {
      Argument::List items = argument.as_list();
      for (size_t k = 0; k < items.size(); ++k) {
        if (!items[k].is_value() || items[k] != call.real[i].as_list()[k]) continue;
        PETREL_ASSIGN_OR_RETURN(Value * zeros, zeros_of(items[k].value()));
        items[k] = Argument(zeros);
      }
      argument = Argument(std::move(items));
    }
  }
  return each_part(b, whole);
}

PairOr product(Builder& b, const ComplexPair& x, const ComplexPair& y) {
  return bilinear(b, x, y, [&](Value* u, Value* v) { return b.call(aten::mul_Tensor, {u, v}); });
}

// re z re z + im z im z
BuiltValue squared_length(Builder& b, const ComplexPair& z) {
  PETREL_ASSIGN_OR_RETURN(Value * real, b.call(aten::mul_Tensor, {z.real, z.real}));
  PETREL_ASSIGN_OR_RETURN(Value * imaginary, b.call(aten::mul_Tensor, {z.imaginary, z.imaginary}));
  return b.call(aten::add_Tensor, {real, imaginary});
}

PairOr conjugate(Builder& b, const ComplexPair& z) {
  ComplexPair made = z;
  PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::neg, {z.imaginary}));
  return made;
}

PairOr divided(Builder& b, const ComplexPair& z, Value* by) {
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::div_Tensor, {z.real, by}));
  if (z.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::div_Tensor, {z.imaginary, by}));
  }
  return made;
}

Made one_result(PairOr parts) {
  if (!parts.ok()) return parts.status();
  return std::vector<ComplexPair>{*parts};
}

Made divide(Builder& b, const ComplexCall& call) {
  const ComplexPair x = call.parts(arg::self);
  const ComplexPair y = call.parts(arg::other);
  if (!y.is_complex()) return one_result(divided(b, x, y.real));
  PETREL_ASSIGN_OR_RETURN(ComplexPair turned, conjugate(b, y));
  PETREL_ASSIGN_OR_RETURN(turned, product(b, x, turned));
  PETREL_ASSIGN_OR_RETURN(Value * length, squared_length(b, y));
  return one_result(divided(b, turned, length));
}

Made reciprocal(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  PETREL_ASSIGN_OR_RETURN(const ComplexPair turned, conjugate(b, z));
  PETREL_ASSIGN_OR_RETURN(Value * length, squared_length(b, z));
  return one_result(divided(b, turned, length));
}

Made whole_power(Builder& b, const ComplexCall& call) {
  const Argument& exponent = call.argument(arg::exponent);
  if (!exponent.is_number() || exponent.as_number() != 2) return power(b, call);
  const ComplexPair z = call.parts(arg::self);
  return one_result(product(b, z, z));
}

Made square(Builder& b, const ComplexCall& call) {
  const ComplexPair z = call.parts(arg::self);
  return one_result(product(b, z, z));
}

Made join_parts(Builder& b, const ComplexCall& call) {
  Value* const real = call.parts(arg::real).real;
  Value* const imaginary = call.parts(arg::imag).real;
  PETREL_ASSIGN_OR_RETURN(const rules::Sizes sizes,
                          rules::broadcast_sizes({sizes_of(real), sizes_of(imaginary)}));
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, b.expand(real, sizes));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, b.expand(imaginary, sizes));
  return std::vector<ComplexPair>{made};
}

Made part_of_pair(Builder& b, const ComplexCall& call) {
  Value* pairs = call.parts(arg::self).real;
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::select_int, {pairs, -1, 0}));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::select_int, {pairs, -1, 1}));
  return std::vector<ComplexPair>{made};
}

Made pair_of_parts(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  PETREL_ASSIGN_OR_RETURN(Value * pairs,
                          b.call(aten::stack, {std::vector<Value*>{z.real, z.imaginary}, -1}));
  return std::vector<ComplexPair>{{pairs, nullptr}};
}

Made real_part(Builder&, const ComplexCall& call) {
  return std::vector<ComplexPair>{{call.parts(arg::self).real, nullptr}};
}

Made imaginary_part(Builder&, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  return std::vector<ComplexPair>{{z.imaginary, nullptr}};
}

Made conjugated(Builder& b, const ComplexCall& call) {
  const ComplexPair z = call.parts(arg::self);
  if (!z.is_complex()) return std::vector<ComplexPair>{z};
  return one_result(conjugate(b, z));
}

// Another width, or complex numbers of real ones. What is made real keeps its real part.
Made cast(Builder& b, const ComplexCall& call) {
  const ComplexPair z = call.parts(arg::self);
  PETREL_ASSIGN_OR_RETURN(Node * real, b.node(call.op, call.real));
  ComplexPair made{real->result(), nullptr};
  if (call.gives_complex && z.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(Node * imaginary, b.node(call.op, call.imaginary));
    made.imaginary = imaginary->result();
  } else if (call.gives_complex) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::zeros_like, {made.real}));
  }
  return std::vector<ComplexPair>{made};
}

Made pad(Builder& b, const ComplexCall& call) {
  const int i = call.op.find_arg(arg::value);
  const Argument& value = call.real[static_cast<size_t>(i)];
  if (value.is_number() && value.as_number() != 0) {
    return absl::UnimplementedError("complex numbers are padded with zeros alone");
  }
  return each_part(b, call);
}

// Of one number, which may be complex itself.
Made filled(Builder& b, const ComplexCall& call) {
  const int value = std::max(call.op.find_arg(arg::fill_value), call.op.find_arg(arg::s));
  if (value >= 0 && call.is_complex[static_cast<size_t>(value)]) return each_part(b, call);
  PETREL_ASSIGN_OR_RETURN(Node * real, b.node(call.op, call.real));
  ComplexPair made{real->result(), nullptr};
  if (call.gives_complex) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::zeros_like, {made.real}));
  }
  return std::vector<ComplexPair>{made};
}

// Parts of the mask, which has none, are itself.
Made where(Builder& b, const ComplexCall& call) {
  ComplexCall whole = call;
  for (const ArgHandle name : {arg::self, arg::other}) {
    const ComplexPair z = call.parts(name);
    if (z.is_complex()) continue;
    PETREL_ASSIGN_OR_RETURN(Value * zeros, b.call(aten::zeros_like, {z.real}));
    whole.imaginary[static_cast<size_t>(call.op.find_arg(name))] = Argument(zeros);
  }
  return each_part(b, whole);
}

// A real number beside the tensor, which is 0 to the imaginary part.
Made with_number(Builder& b, const ComplexCall& call) {
  ComplexCall whole = call;
  const int i = std::max(call.op.find_arg(arg::value), call.op.find_arg(arg::other));
  whole.imaginary[static_cast<size_t>(i)] = Argument(0.0);
  return each_part(b, whole);
}

// Dims exchanged, and conjugated.
Made adjoint(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(std::vector<ComplexPair> made, each_part(b, call));
  if (!made[0].is_complex()) return made;
  return one_result(conjugate(b, made[0]));
}

Made times_number(Builder& b, const ComplexCall& call) {
  if (!call.is_complex[1]) return each_part(b, call);
  const ComplexPair z = call.parts(arg::self);
  ComplexPair factor;
  for (const auto& [number, part] : {std::make_pair(&call.real[1], &factor.real),
                                     std::make_pair(&call.imaginary[1], &factor.imaginary)}) {
    if (!number->is_number()) return absl::UnimplementedError("a complex factor varies");
    PETREL_ASSIGN_OR_RETURN(*part, b.scalar(*number, z.real->tensor().dtype));
  }
  return one_result(product(b, z, factor));
}

// Into the tensor itself.
Made multiplied(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  PETREL_ASSIGN_OR_RETURN(ComplexPair made, product(b, z, call.parts(arg::other)));
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::copy_, {z.real, made.real}));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::copy_, {z.imaginary, made.imaginary}));
  return std::vector<ComplexPair>{made};
}

// Of the absolute values.
Made norm(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(const ComplexPair z, complex_self(call));
  PETREL_ASSIGN_OR_RETURN(Value * lengths, b.call(aten::hypot, {z.real, z.imaginary}));
  std::vector<Argument> arguments = call.real;
  arguments[0] = Argument(lengths);
  PETREL_ASSIGN_OR_RETURN(Node * node, b.node(call.op, std::move(arguments)));
  return std::vector<ComplexPair>{{node->result(), nullptr}};
}

Made nothing(Builder&, const ComplexCall&) { return std::vector<ComplexPair>{}; }

struct RuleRow {
  OpHandle op;
  Rule rule;
};

constexpr RuleRow kRules[] = {
    // Elements in other places, sums of them, and what is linear with real factors.
    {aten::view, each_part},
    {aten::_unsafe_view, each_part},
    {aten::reshape, each_part},
    {aten::view_as, each_part},
    {aten::reshape_as, each_part},
    {aten::unsqueeze, each_part},
    {aten::squeeze, each_part},
    {aten::squeeze_dim, each_part},
    {aten::squeeze_dims, each_part},
    {aten::transpose_int, each_part},
    {aten::swapaxes, each_part},
    {aten::permute, each_part},
    {aten::movedim_int, each_part},
    {aten::movedim_intlist, each_part},
    {aten::t, each_part},
    {aten::numpy_T, each_part},
    {aten::mT, each_part},
    {aten::mH, adjoint},
    {aten::matrix_H, adjoint},
    {aten::adjoint, adjoint},
    {aten::tril, each_part},
    {aten::triu, each_part},
    {aten::unfold, each_part},
    {aten::trace, each_part},
    {aten::diag_embed, each_part},
    {aten::flatten_using_ints, each_part},
    {aten::unflatten_int, each_part},
    {aten::slice_Tensor, each_part},
    {aten::narrow, each_part},
    {aten::select_int, each_part},
    {aten::index_Tensor, each_part},
    {aten::index_select, each_part},
    {aten::gather, each_part},
    {aten::expand, each_part},
    {aten::expand_as, each_part},
    {aten::repeat, each_part},
    {aten::tile, each_part},
    {aten::repeat_interleave_self_int, each_part},
    {aten::flip, each_part},
    {aten::roll, each_part},
    {aten::diagonal, each_part},
    {aten::clone, each_part},
    {aten::contiguous, each_part},
    {aten::alias, each_part},
    {aten::detach, each_part},
    {aten::lift_fresh_copy, each_part},
    {aten::resolve_conj, each_part},
    {aten::resolve_neg, each_part},
    {aten::split_Tensor, each_part},
    {aten::split_with_sizes, each_part},
    {aten::chunk, each_part},
    {aten::unbind_int, each_part},
    {aten::sum, each_part},
    {aten::sum_dim_IntList, each_part},
    {aten::mean, each_part},
    {aten::mean_dim, each_part},
    {aten::cumsum, each_part},
    {aten::neg, each_part},
    {aten::mul_Scalar, times_number},
    {aten::div_Scalar, each_part},
    {aten::zeros, each_part},
    {aten::zeros_like, each_part},
    {aten::new_zeros, each_part},
    {aten::index_put, each_part},
    {aten::index_add, each_part},
    {aten::full, filled},
    {aten::full_like, filled},
    {aten::scalar_tensor, filled},
    {aten::ones, filled},
    {aten::ones_like, filled},
    {aten::constant_pad_nd, pad},
    {aten::pad, pad},
    {aten::cat, with_zeros},
    {aten::stack, with_zeros},
    {aten::copy_, with_zeros},
    {aten::copy, with_zeros},
    {aten::where_self, where},
    {aten::masked_fill_Scalar, with_number},
    {aten::masked_fill_Scalar_, with_number},
    {aten::fill_Scalar_, with_number},
    {aten::rsub_Scalar, with_number},
    {aten::fill_Tensor_, with_zeros},
    {aten::slice_scatter, with_zeros},
    {aten::select_scatter, with_zeros},
    {aten::add_Tensor, with_zeros},
    {aten::sub_Tensor, with_zeros},
    {aten::add_Tensor_, with_zeros},
    {aten::sub_Tensor_, with_zeros},
    // Arithmetic.
    {aten::mul_Tensor, product_of_two},
    {aten::matmul, product_of_two},
    {aten::mm, product_of_two},
    {aten::bmm, product_of_two},
    {aten::mv, product_of_two},
    {aten::outer, product_of_two},
    {aten::dot, product_of_two},
    {aten::linear, layer},
    {aten::addmm, sum_with_product},
    {aten::conv1d, layer},
    {aten::conv2d, layer},
    {aten::mul_Tensor_, multiplied},
    {aten::einsum, einsum},
    {aten::div_Tensor, divide},
    {aten::reciprocal, reciprocal},
    {aten::pow_Tensor_Scalar, whole_power},
    {aten::square, square},
    {aten::exp, exponential},
    {aten::log, logarithm},
    {aten::log2, logarithm},
    {aten::log10, logarithm},
    {aten::sqrt, power},
    {aten::rsqrt, power},
    {aten::sin, wave},
    {aten::cos, wave},
    {aten::sinh, wave},
    {aten::cosh, wave},
    {aten::tan, tangent},
    {aten::tanh, tangent},
    {aten::sigmoid, tangent},
    {aten::eq_Tensor, of_both_parts},
    {aten::eq_Scalar, of_both_parts},
    {aten::ne_Tensor, of_one_part},
    {aten::ne_Scalar, of_one_part},
    {aten::isfinite, of_both_parts},
    {aten::isnan, of_one_part},
    {aten::isinf, of_one_part},
    {aten::var, variance},
    {aten::var_dim, variance},
    {aten::var_correction, variance},
    {aten::std, variance},
    {aten::std_dim, variance},
    {aten::std_correction, variance},
    // From real numbers and back.
    {aten::view_as_complex, part_of_pair},
    {aten::view_as_real, pair_of_parts},
    {aten::complex, join_parts},
    {aten::polar, polar},
    {aten::real, real_part},
    {aten::imag, imaginary_part},
    {aten::abs, absolute},
    {aten::linalg_vector_norm, norm},
    {aten::angle, angle},
    {aten::_conj, conjugated},
    {aten::_conj_physical, conjugated},
    {aten::conj_physical, conjugated},
    {aten::to_dtype, cast},
    {aten::to_dtype_layout, cast},
    {aten::_to_copy, cast},
    {aten::_assert_tensor_metadata, nothing},
    // Transforms.
    {aten::fft_fft, transform_one},
    {aten::fft_ifft, transform_one},
    {aten::fft_rfft, transform_one},
    {aten::fft_irfft, transform_one},
    {aten::fft_fft2, transform_many},
    {aten::fft_ifft2, transform_many},
    {aten::fft_rfft2, transform_many},
    {aten::fft_irfft2, transform_many},
    {aten::fft_fftn, transform_many},
    {aten::fft_ifftn, transform_many},
    {aten::fft_rfftn, transform_many},
    {aten::fft_irfftn, transform_many},
    {aten::_fft_r2c, transform_decomposed},
    {aten::_fft_c2c, transform_decomposed},
    {aten::_fft_c2r, transform_decomposed},
    {aten::fft_fftshift, shift},
    {aten::fft_ifftshift, shift},
    {aten::stft, short_time},
    {aten::istft, from_short_time},
};

const RuleRow* find_rule(const OpInfo& op) {
  for (const RuleRow& row : kRules) {
    if (op.is(row.op)) return &row;
  }
  return nullptr;
}

}  // namespace

bool has_complex_rule(const OpInfo& op) { return find_rule(op) != nullptr; }

absl::StatusOr<std::vector<ComplexPair>> expand_complex(Builder& b, const ComplexCall& call) {
  const RuleRow* row = find_rule(call.op);
  if (row == nullptr) {
    return absl::UnimplementedError("is not supported with complex numbers");
  }
  PETREL_RETURN_IF_ERROR(call.check());
  return row->rule(b, call);
}

}  // namespace petrel::exir
