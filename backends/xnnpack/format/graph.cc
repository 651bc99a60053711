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

uint64_t count_bytes(const Value& value) {
  const uint64_t elements = count_elements(value.dims);
  switch (value.datatype) {
    case Datatype::FP16:
    case Datatype::BF16:
      return elements * sizeof(uint16_t);
    case Datatype::QINT8:
    case Datatype::QUINT8:
    case Datatype::QCINT8:
      return elements;
    case Datatype::QDINT8: {
      // With scale and zero point of each row, and of some more for kernels that read on.
      constexpr uint64_t kParamBytes = 8;
      constexpr uint64_t kMoreRows = 64;
      uint64_t rows = 1;
      for (size_t i = 0; i + value.quant.nonbatch_dims < value.dims.size(); ++i) {
        rows *= value.dims[i];
      }
      return elements + (rows + kMoreRows) * kParamBytes;
    }
    case Datatype::QCINT4:
    case Datatype::QBINT4: {
      const uint64_t row = value.dims.empty() ? 1 : value.dims.back();
      return row == 0 ? 0 : elements / row * ((row + 1) / 2);
    }
    default:
      return elements * sizeof(float);
  }
}

size_t scale_bytes(const Value& value) {
  return value.quantization == Quantization::kPerGroup ? sizeof(uint16_t) : sizeof(float);
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
