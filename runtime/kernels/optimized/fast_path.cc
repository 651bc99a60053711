// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/fast_path.h"

namespace petrel::runtime::optimized {

bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.sizes().size() != b.sizes().size()) return false;
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] != b.sizes()[d]) return false;
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;  // strides follow a dim order, so there are no gaps
}

}  // namespace petrel::runtime::optimized
