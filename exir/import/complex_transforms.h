// SPDX-License-Identifier: Apache-2.0
//
// The rules of torch.fft's functions, torch.stft and torch.istft: dims, sizes and norms as
// PyTorch has them; fourier.h has the arithmetic. Only complex_rules.cc calls these.
#ifndef PETREL_EXIR_IMPORT_COMPLEX_TRANSFORMS_H_
#define PETREL_EXIR_IMPORT_COMPLEX_TRANSFORMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/complex_rules.h"

namespace petrel::exir {

// fft, ifft, rfft, irfft.
absl::StatusOr<std::vector<ComplexPair>> transform_one(Builder& b, const ComplexCall& call);
// Those of two and of n dims.
absl::StatusOr<std::vector<ComplexPair>> transform_many(Builder& b, const ComplexCall& call);
// What run_decompositions() makes of these.
absl::StatusOr<std::vector<ComplexPair>> transform_decomposed(Builder& b, const ComplexCall& call);
// fftshift and its inverse, of real numbers as well.
absl::StatusOr<std::vector<ComplexPair>> shift(Builder& b, const ComplexCall& call);
absl::StatusOr<std::vector<ComplexPair>> short_time(Builder& b, const ComplexCall& call);
absl::StatusOr<std::vector<ComplexPair>> from_short_time(Builder& b, const ComplexCall& call);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_COMPLEX_TRANSFORMS_H_
