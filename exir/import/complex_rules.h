// SPDX-License-Identifier: Apache-2.0
//
// What operators become whose tensors are of complex numbers. The IR has real numbers alone:
// a complex tensor is two values, its real and its imaginary part.
//
//   z: c64[4]  ->  %z_real: f32[4], %z_imaginary: f32[4]
//
//   mul(z, w)            ->  re z re w - im z im w,  re z im w + im z re w
//   reshape(z, [2, 2])   ->  reshape(re z, [2, 2]),  reshape(im z, [2, 2])
//   view_as_real(z)      ->  stack([re z, im z], -1)
//   fft_rfft(x)          ->  products with matrices (fourier.h)
//
//   ComplexCall call{op, real_arguments, imaginary_arguments, gives_complex};
//   if (has_complex_rule(op)) ... = expand_complex(b, call);
#ifndef PETREL_EXIR_IMPORT_COMPLEX_RULES_H_
#define PETREL_EXIR_IMPORT_COMPLEX_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/fourier.h"
#include "exir/ir/op.h"

namespace petrel::exir {

// A call by its schema, once with the real parts of its complex arguments and once with the
// imaginary ones; arguments that are not complex are the same in both.
struct ComplexCall {
  const OpInfo& op;
  std::vector<Argument> real;
  std::vector<Argument> imaginary;
  std::vector<bool> is_complex;  // by argument
  bool gives_complex = false;

  // Whether arguments are of the kinds that the schema has. Numbers are known where only
  // complex ones have the operator, and real but for what fills a tensor.
  absl::Status check() const;
  // Real tensors alone, of which complex ones are to be made, as a sum of another type may.
  bool widens() const;
  const Argument& argument(ArgHandle name) const;
  // Of a tensor. Precondition: it holds one.
  ComplexPair parts(ArgHandle name) const;
};

bool has_complex_rule(const OpInfo& op);

// One for each result. Unimplemented for an operator without a rule, or what its rule does
// not cover; InvalidArgument for arguments that its schema does not take.
absl::StatusOr<std::vector<ComplexPair>> expand_complex(Builder& b, const ComplexCall& call);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_COMPLEX_RULES_H_
