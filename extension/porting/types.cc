// SPDX-License-Identifier: Apache-2.0
#include "extension/porting/types.h"

namespace petrel::porting::runtime {

const char* toString(ScalarType type) {
  switch (type) {
#define PETREL_PORTING_CASE(name) \
  case ScalarType::name:          \
    return #name;
    PETREL_PORTING_CASE(Byte)
    PETREL_PORTING_CASE(Char)
    PETREL_PORTING_CASE(Short)
    PETREL_PORTING_CASE(Int)
    PETREL_PORTING_CASE(Long)
    PETREL_PORTING_CASE(Half)
    PETREL_PORTING_CASE(Float)
    PETREL_PORTING_CASE(Double)
    PETREL_PORTING_CASE(Bool)
    PETREL_PORTING_CASE(QInt8)
    PETREL_PORTING_CASE(QUInt8)
    PETREL_PORTING_CASE(QInt32)
    PETREL_PORTING_CASE(BFloat16)
    PETREL_PORTING_CASE(QUInt4x2)
    PETREL_PORTING_CASE(QUInt2x4)
    PETREL_PORTING_CASE(Undefined)
    PETREL_PORTING_CASE(Bits16)
    PETREL_PORTING_CASE(Float8_e5m2)
    PETREL_PORTING_CASE(Float8_e4m3fn)
    PETREL_PORTING_CASE(Float8_e5m2fnuz)
    PETREL_PORTING_CASE(Float8_e4m3fnuz)
    PETREL_PORTING_CASE(UInt16)
    PETREL_PORTING_CASE(UInt32)
    PETREL_PORTING_CASE(UInt64)
#undef PETREL_PORTING_CASE
  }
  return "UNKNOWN_SCALAR";
}

}  // namespace petrel::porting::runtime
