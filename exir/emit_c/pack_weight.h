// SPDX-License-Identifier: Apache-2.0
//
// The constants of a product in the form that a variant of its kernel reads.
//
//   const PackedProduct packed = pack_product(product, Packing::kPairWords);
//   packed.weight        i32: words of two filters
//   packed.offset        biases with what the zero point of the input adds
//   packed.shift         less kNearShift where `packed.is_near`
//
// Constants that are equal get equal names, and constants that differ others: a name ends in what
// it holds, but that of the weight, which stays its own.
#ifndef PETREL_EXIR_EMIT_C_PACK_WEIGHT_H_
#define PETREL_EXIR_EMIT_C_PACK_WEIGHT_H_

#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/kernel_variants.h"
#include "exir/ir/constant.h"

namespace petrel::exir::emit_c {

struct PackedProduct {
  ConstantPtr weight, offset, multiplier, shift;
  bool is_near = false;
};

// Precondition: it is not kAsStored.
PackedProduct pack_product(const Int8Product& product, Packing packing);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PACK_WEIGHT_H_
