// SPDX-License-Identifier: Apache-2.0
//
// From floats to 4 bits with the least error of a layer's results, not of its weights:
// levels are chosen one column after another, and what rounding a column costs is made good
// by the columns that are still to be rounded, as far as inputs go together.
//
//   error = sum over inputs x of |w x - (scale * level) x|^2      = d G d^T,  d = w - scale * level
//   G     = sum of x^T x, the Gram matrix of the inputs
//
//   GramMatrix gram(k);
//   gram.add(rows, count);                               // count rows of k elements
//   const RoundedWeight rounded = round_with_inputs(weight, n, k, group, gram);
//
// The greedy solution of this least-squares problem over integers, with the damping that it
// needs where inputs are fewer than their elements. Scales are those of group_scheme.h.
#ifndef PETREL_EXIR_QUANTIZE_ROUND_WITH_INPUTS_H_
#define PETREL_EXIR_QUANTIZE_ROUND_WITH_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exir/quantize/group_scheme.h"

namespace petrel::exir {

class GramMatrix {
 public:
  explicit GramMatrix(size_t size) : size_(size), sums_(size * size, 0) {}

  // Precondition: finite numbers.
  void add(const float* rows, size_t count);
  // Precondition: of the same size.
  void add(const GramMatrix& other);

  size_t size() const { return size_; }
  // Row by row, of which what lies below the diagonal is not filled: it is symmetric.
  const std::vector<double>& sums() const { return sums_; }

 private:
  size_t size_;
  std::vector<double> sums_;
};

// Precondition: `weight` holds n * k finite numbers, gram.size() is k, `group` divides k.
// Inputs that were never anything but 0 leave their columns to rounding.
RoundedWeight round_with_inputs(const std::vector<float>& weight, size_t n, size_t k, size_t group,
                                const GramMatrix& gram);

// To the nearest level, whatever the inputs. Same precondition.
RoundedWeight round_to_nearest(const std::vector<float>& weight, size_t k, size_t group);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_ROUND_WITH_INPUTS_H_
