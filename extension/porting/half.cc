// SPDX-License-Identifier: Apache-2.0
#include "extension/porting/half.h"

#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::porting::aten {

Half::Half(float value) : x(::petrel::runtime::half_bits(value)) {}
Half::operator float() const { return ::petrel::runtime::half_value(x); }

BFloat16::BFloat16(float value) : x(::petrel::runtime::bfloat16_bits(value)) {}
BFloat16::operator float() const { return ::petrel::runtime::bfloat16_value(x); }

}  // namespace petrel::porting::aten
