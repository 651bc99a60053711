// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

uint64_t count_elements(const Dims& dims) {
  uint64_t count = 1;
  for (const uint32_t dim : dims) {
    if (__builtin_mul_overflow(count, uint64_t{dim}, &count)) return 0;
  }
  return count;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace petrel::backends::xnnpack
