// SPDX-License-Identifier: Apache-2.0
#include "exir/import/fourier.h"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr double kTurn = 6.283185307179586476925286766559;

// cos and sin of 2 pi times step / size, exact at quarters of a turn: what eager's transforms sum
// up to zero is zero, for its sign is an angle of half a turn.
double cosine(int64_t step, int64_t size) {
  constexpr double kQuarters[] = {1, 0, -1, 0};
  if (4 * step % size == 0) return kQuarters[4 * step / size];
  return std::cos(kTurn * static_cast<double>(step) / static_cast<double>(size));
}

double sine(int64_t step, int64_t size) {
  constexpr double kQuarters[] = {0, 1, 0, -1};
  if (4 * step % size == 0) return kQuarters[4 * step / size];
  return std::sin(kTurn * static_cast<double>(step) / static_cast<double>(size));
}

// Of a * b steps: the product is reduced first, so that it is exact.
double turned(double (*function)(int64_t, int64_t), int64_t a, int64_t b, int64_t size) {
  return function(a * b % size, size);
}

absl::Status check_size(int64_t size) {
  if (size >= 1 && size <= kMostTransformed) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("transforms ", size, " elements, must be 1 to ", kMostTransformed));
}

constexpr absl::string_view kNames = "fourier_";

// A constant [rows, columns] of element(row, column). Equal ones are made once: an archive may
// name a transform of 2,048 elements in a few bytes, and as often as it likes.
absl::StatusOr<Value*> matrix(Builder& b, const std::string& name, int64_t rows, int64_t columns,
                              double scale, ScalarType dtype,
                              const std::function<double(int64_t, int64_t)>& element) {
  const TensorType type = TensorType::contiguous(dtype, {rows, columns});
  // Those of another type have another name, so that none hides behind the first of them.
  const std::string suffix =
      dtype == ScalarType::kFloat ? "" : absl::StrCat("_", std::string(scalar_type_name(dtype)));
  const std::string fqn = absl::StrCat(kNames, name, "_", rows, "x", columns, "_", scale, suffix);
  Value* const known = b.graph().find_constant(fqn);
  if (known != nullptr && known->tensor() == type) return known;
  int64_t elements = rows * columns;
  for (const Value* constant : b.graph().constants()) {
    if (absl::StartsWith(constant->constant()->fqn, kNames)) elements += constant->tensor().numel();
  }
  PETREL_RETURN_IF_ERROR(check_table({elements}));
  std::vector<double> values;
  values.reserve(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) values.push_back(element(row, column));
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(values, dtype));
  return add_unique_constant(b.graph(), fqn, type, std::move(data));
}

// The cosines and sines of a transform, [size, kept].
struct Matrices {
  Value* cosines = nullptr;
  Value* sines = nullptr;
};

absl::StatusOr<Matrices> matrices(Builder& b, int64_t size, int64_t kept, double scale,
                                  ScalarType dtype) {
  PETREL_RETURN_IF_ERROR(check_size(size));
  const auto make = [&](const char* name, double (*function)(int64_t, int64_t)) {
    return matrix(b, name, size, kept, scale, dtype,
                  [&](int64_t t, int64_t k) { return scale * turned(function, t, k, size); });
  };
  Matrices made;
  PETREL_ASSIGN_OR_RETURN(made.cosines, make("cosines", cosine));
  PETREL_ASSIGN_OR_RETURN(made.sines, make("sines", sine));
  return made;
}

// The dim cut or filled with zeros.
absl::StatusOr<Value*> fit(Builder& b, Value* x, size_t dim, int64_t size) {
  PETREL_ASSIGN_OR_RETURN(const int64_t now, transformed_size(*x, dim));
  if (now > size) return b.slice(x, static_cast<int64_t>(dim), 0, size);
  if (now == size) return x;
  // From the last dim on, two numbers each.
  Ints pad(2 * (x->tensor().rank() - dim), 0);
  pad.back() = size - now;
  return b.call(aten::constant_pad_nd, {x, pad, 0.0});
}

// x with `dim` and the last one exchanged.
absl::StatusOr<Value*> with_last(Builder& b, Value* x, size_t dim) {
  Ints dims = all_dims(x->tensor().rank());
  std::swap(dims[dim], dims.back());
  return b.permute(x, dims);
}

// The dim of x multiplied with a matrix.
absl::StatusOr<Value*> along(Builder& b, Value* x, size_t dim, Value* by) {
  PETREL_ASSIGN_OR_RETURN(x, with_last(b, x, dim));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::matmul, {x, by}));
  return with_last(b, x, dim);
}

// Of a sum that is zero eager's is zero, not -0.0.
absl::StatusOr<Value*> negated(Builder& b, Value* x) { return b.call(aten::rsub_Scalar, {x, 0.0}); }

// A matrix as the taps of a convolution of one dimension: [kept, 1, size] of [size, kept].
absl::StatusOr<Value*> taps(Builder& b, Value* by) {
  PETREL_ASSIGN_OR_RETURN(by, b.permute(by, {1, 0}));
  return b.call(aten::unsqueeze, {by, 1});
}

}  // namespace

absl::StatusOr<int64_t> transformed_size(const Value& x, size_t dim) {
  const SizeExpression size = x.tensor().size(dim);
  if (size.is_constant()) return size.constant();
  return absl::UnimplementedError(
      absl::StrCat("transforms dim ", dim, ", which varies; it must be fixed"));
}

absl::StatusOr<ComplexPair> transform(Builder& b, const ComplexPair& x, const Transform& how) {
  const ScalarType dtype = x.real->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(const Matrices by, matrices(b, how.size, how.size, how.scale, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * real, fit(b, x.real, how.dim, how.size));
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, along(b, real, how.dim, by.cosines));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, along(b, real, how.dim, by.sines));
  if (how.forward) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, negated(b, made.imaginary));
  }
  if (!x.is_complex()) return made;
  PETREL_ASSIGN_OR_RETURN(Value * imaginary, fit(b, x.imaginary, how.dim, how.size));
  PETREL_ASSIGN_OR_RETURN(Value * crossed, along(b, imaginary, how.dim, by.sines));
  const OpHandle join = how.forward ? aten::add_Tensor : aten::sub_Tensor;
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(join, {made.real, crossed}));
  PETREL_ASSIGN_OR_RETURN(Value * straight, along(b, imaginary, how.dim, by.cosines));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::add_Tensor, {straight, made.imaginary}));
  return made;
}

absl::StatusOr<ComplexPair> half_transform(Builder& b, Value* x, const Transform& how) {
  PETREL_ASSIGN_OR_RETURN(const Matrices by,
                          matrices(b, how.size, how.size / 2 + 1, how.scale, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(x, fit(b, x, how.dim, how.size));
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, along(b, x, how.dim, by.cosines));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, along(b, x, how.dim, by.sines));
  if (how.forward) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, negated(b, made.imaginary));
  }
  return made;
}

namespace {

// What half a spectrum of `size` elements is multiplied with, [size / 2 + 1, size]. Every
// element but the first, and the middle one of an even size, stands for two.
absl::StatusOr<Matrices> inverse_matrices(Builder& b, int64_t size, double scale,
                                          ScalarType dtype) {
  PETREL_RETURN_IF_ERROR(check_size(size));
  const auto make = [&](const char* name, double (*function)(int64_t, int64_t), double sign) {
    return matrix(b, name, size / 2 + 1, size, scale, dtype, [&](int64_t k, int64_t t) {
      const double times = k == 0 || 2 * k == size ? 1 : 2;
      return sign * scale * times * turned(function, k, t, size);
    });
  };
  Matrices made;
  PETREL_ASSIGN_OR_RETURN(made.cosines, make("inverse_cosines", cosine, 1));
  PETREL_ASSIGN_OR_RETURN(made.sines, make("inverse_sines", sine, -1));
  return made;
}

}  // namespace

absl::StatusOr<Value*> from_half(Builder& b, const ComplexPair& x, const Transform& how) {
  const ScalarType dtype = x.real->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(const Matrices by, inverse_matrices(b, how.size, how.scale, dtype));
  const int64_t half = how.size / 2 + 1;
  PETREL_ASSIGN_OR_RETURN(Value * real, fit(b, x.real, how.dim, half));
  PETREL_ASSIGN_OR_RETURN(real, along(b, real, how.dim, by.cosines));
  if (!x.is_complex()) return real;
  PETREL_ASSIGN_OR_RETURN(Value * imaginary, fit(b, x.imaginary, how.dim, half));
  PETREL_ASSIGN_OR_RETURN(imaginary, along(b, imaginary, how.dim, by.sines));
  return b.call(aten::add_Tensor, {real, imaginary});
}

absl::StatusOr<ComplexPair> short_transforms(Builder& b, Value* x, Value* window, int64_t hop,
                                             bool one_sided, double scale) {
  PETREL_ASSIGN_OR_RETURN(const int64_t size, transformed_size(*window, 0));
  const int64_t kept = one_sided ? size / 2 + 1 : size;
  PETREL_ASSIGN_OR_RETURN(const Matrices by, matrices(b, size, kept, scale, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::unsqueeze, {x, 1}));
  const auto convolved = [&](Value* matrix) -> absl::StatusOr<Value*> {
    PETREL_ASSIGN_OR_RETURN(Value * filter, taps(b, matrix));
    PETREL_ASSIGN_OR_RETURN(filter, b.call(aten::mul_Tensor, {filter, window}));
    return b.call(aten::conv1d, {x, filter, none(), Ints{hop}});
  };
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, convolved(by.cosines));
  PETREL_ASSIGN_OR_RETURN(Value * sines, negated(b, by.sines));
  PETREL_ASSIGN_OR_RETURN(made.imaginary, convolved(sines));
  return made;
}

namespace {

// A one for each part: constants where their number is known, else for each batch.
absl::StatusOr<Value*> ones_of_parts(Builder& b, Value* x) {
  const rules::Size count = sizes_of(x)[2];
  if (count.expression().is_constant()) {
    return b.call(aten::ones, {Ints{1, 1, int64_t{count}}, x->tensor().dtype});
  }
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::select_int, {x, 1, 0}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::unsqueeze, {x, 1}));
  return b.call(aten::ones_like, {x});
}

}  // namespace

absl::StatusOr<Value*> overlap_add(Builder& b, const ComplexPair& x, Value* window, int64_t hop,
                                   double scale) {
  const ScalarType dtype = x.real->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(const int64_t size, transformed_size(*window, 0));
  PETREL_ASSIGN_OR_RETURN(const Matrices by, inverse_matrices(b, size, scale, dtype));
  const auto spread = [&](Value* part, Value* matrix) -> absl::StatusOr<Value*> {
    PETREL_ASSIGN_OR_RETURN(Value * filter, b.call(aten::unsqueeze, {matrix, 1}));
    PETREL_ASSIGN_OR_RETURN(filter, b.call(aten::mul_Tensor, {filter, window}));
    return b.call(aten::conv_transpose1d, {part, filter, none(), Ints{hop}});
  };
  PETREL_ASSIGN_OR_RETURN(Value * sum, spread(x.real, by.cosines));
  PETREL_ASSIGN_OR_RETURN(Value * sines, spread(x.imaginary, by.sines));
  PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::add_Tensor, {sum, sines}));
  // How often, and how heavily, each sample was counted.
  PETREL_ASSIGN_OR_RETURN(Value * squares, b.call(aten::mul_Tensor, {window, window}));
  PETREL_ASSIGN_OR_RETURN(squares, b.view(squares, {1, 1, size}));
  PETREL_ASSIGN_OR_RETURN(Value * ones, ones_of_parts(b, x.real));
  PETREL_ASSIGN_OR_RETURN(Value * weights,
                          b.call(aten::conv_transpose1d, {ones, squares, none(), Ints{hop}}));
  PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::div_Tensor, {sum, weights}));
  return b.call(aten::squeeze_dim, {sum, 1});
}

}  // namespace petrel::exir
