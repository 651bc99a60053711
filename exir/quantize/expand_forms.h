// SPDX-License-Identifier: Apache-2.0
//
// Operators as sums, products and tables, of which integers have forms:
//
//   a / b               a * (1 / b)
//   log_softmax(x)      (x - amax(x)) - log(sum(exp(x - amax(x))))
//   var(x)              mean((x - mean(x))^2) * n / (n - correction)
//   cumsum(x)           x times a triangle of ones
//   upsample_bilinear   x times a matrix for each dim; of planes that vary and become a whole
//                       number of times as large, a convolution that makes what lies side by side
//   max(x, dim)         amax(x) and argmax(x)
//   topk(x)             gather(x, places), places = topk(x)[1]
//   rows at places      a product with a matrix of 0 and 1 (sums_over_places.h)
//   transposed groups   a convolution of stride 1 (transposed_phases.h)
#ifndef PETREL_EXIR_QUANTIZE_EXPAND_FORMS_H_
#define PETREL_EXIR_QUANTIZE_EXPAND_FORMS_H_

#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

Rewrites expansions_for_integers();

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_EXPAND_FORMS_H_
