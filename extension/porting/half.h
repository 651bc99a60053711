// SPDX-License-Identifier: Apache-2.0
//
// Half and BFloat16 as ExecuTorch's apps name elements of 16 bits:
//
//   const auto* logits = tensor.const_data_ptr<executorch::aten::Half>();
//   float first = logits[0];
//   TensorPtr mask = make_tensor_ptr({2}, std::vector<executorch::aten::BFloat16>{0.0f, 1.0f});
//
// They become floats where they are computed with, and are rounded from floats to nearest even.
#ifndef PETREL_EXTENSION_PORTING_HALF_H_
#define PETREL_EXTENSION_PORTING_HALF_H_

#include <cstdint>

#include "runtime/core/scalar_type.h"

namespace petrel::porting::aten {

struct Half {
  static constexpr ::petrel::runtime::ScalarType kScalarType = ::petrel::runtime::ScalarType::Half;

  Half() = default;
  Half(float value);
  operator float() const;

  uint16_t x;  // its bits
};

struct BFloat16 {
  static constexpr ::petrel::runtime::ScalarType kScalarType =
      ::petrel::runtime::ScalarType::BFloat16;

  BFloat16() = default;
  BFloat16(float value);
  operator float() const;

  uint16_t x;
};

}  // namespace petrel::porting::aten

#endif  // PETREL_EXTENSION_PORTING_HALF_H_
