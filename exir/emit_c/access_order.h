// SPDX-License-Identifier: Apache-2.0
//
// What a step does with the bytes of one operand and of its result, in order of time, so that a
// plan may lay the one over the other:
//
//   read [0, 64) of the operand | write [0, 128) of the result | read [64, 128) | write [128, 256)
//
// least_lead() tells how far before the operand the result must begin; check_lead() replays the
// accesses on a bitmap of the bytes that have been written over, and shares nothing with it.
#ifndef PETREL_EXIR_EMIT_C_ACCESS_ORDER_H_
#define PETREL_EXIR_EMIT_C_ACCESS_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "exir/emit_c/int8_product.h"
#include "exir/emit_c/kernel_variants.h"

namespace petrel::exir::emit_c {

struct Access {
  bool is_write = false;
  int64_t begin = 0, end = 0;  // of the operand, or of the result when it is a write
};

using Accesses = std::vector<Access>;

// Of rows [first, end) of a convolution with channels innermost and a batch of 1; of its input,
// its output or both, as asked. Precondition: the order is known.
struct ProductUse {
  const Int8Product* product = nullptr;
  AccessOrder order = AccessOrder::kUnknown;
  int64_t first_row = 0, end_row = 0;
  bool reads = true, writes = true;
};
void add_product(const ProductUse& use, Accesses* accesses);

// Element by element, of which each is read before it is written.
void add_elements(int64_t first, int64_t end, Accesses* accesses);

int64_t least_lead(const Accesses& accesses);

// Internal, with the first byte that would be read after it was written over, when the result
// begins `lead` bytes before the operand.
absl::Status check_lead(const Accesses& accesses, int64_t lead);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_ACCESS_ORDER_H_
