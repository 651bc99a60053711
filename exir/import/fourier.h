// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms as products with matrices of cosines and sines, which backends
// compute as linear layers:
//
//   X[k] = sum over t of x[t] exp(-2 pi i t k / n)
//
//   re X = re x C + im x S        C[t,k] = cos(2 pi t k / n)
//   im X = im x C - re x S        S[t,k] = sin(2 pi t k / n)
//
// A transform of n elements takes n * n multiply-adds; n is at most kMostTransformed, which
// keeps the matrices small. It must be known when the program is compiled.
//
//   PETREL_ASSIGN_OR_RETURN(ComplexPair X, transform(b, x, {-1, 64, true, 1.0}));
#ifndef PETREL_EXIR_IMPORT_FOURIER_H_
#define PETREL_EXIR_IMPORT_FOURIER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

inline constexpr int64_t kMostTransformed = 2048;

// A tensor of complex numbers as two of real ones; of a real tensor, itself and null.
struct ComplexPair {
  Value* real = nullptr;
  Value* imaginary = nullptr;

  bool is_complex() const { return imaginary != nullptr; }
};

// One dim of a tensor, not negative, cut or filled with zeros to `size` elements first.
struct Transform {
  size_t dim = 0;
  int64_t size = 0;
  bool forward = true;
  double scale = 1;
};

// Elements of `dim`; an error where it varies.
absl::StatusOr<int64_t> transformed_size(const Value& x, size_t dim);

absl::StatusOr<ComplexPair> transform(Builder& b, const ComplexPair& x, const Transform& how);

// Of real numbers: the first size / 2 + 1 elements, which tell all.
absl::StatusOr<ComplexPair> half_transform(Builder& b, Value* x, const Transform& how);

// The inverse of it: `how.size` real elements from size / 2 + 1 complex ones.
absl::StatusOr<Value*> from_half(Builder& b, const ComplexPair& x, const Transform& how);

// Transforms of parts of `x` [batch, samples] that begin every `hop` samples, each of
// `window` [n]: a convolution of n taps. The result is [batch, n / 2 + 1 or n, parts].
absl::StatusOr<ComplexPair> short_transforms(Builder& b, Value* x, Value* window, int64_t hop,
                                             bool one_sided, double scale);

// The inverse: parts [batch, n / 2 + 1, count] added up where they overlap, over the sum of
// the squared windows there; [batch, n + (count - 1) * hop].
absl::StatusOr<Value*> overlap_add(Builder& b, const ComplexPair& x, Value* window, int64_t hop,
                                   double scale);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_FOURIER_H_
