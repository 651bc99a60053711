// SPDX-License-Identifier: Apache-2.0
//
// For tests of growth: what was allocated so far, which every run repeats exactly. A test that
// links this counts all that its program makes with new.
//
//   const size_t before = allocated_bytes();
//   work();
//   EXPECT_LT(allocated_bytes() - before, 1000u);
#ifndef PETREL_EXIR_IR_ALLOCATED_BYTES_H_
#define PETREL_EXIR_IR_ALLOCATED_BYTES_H_

#include <cstddef>

namespace petrel::exir {

size_t allocated_bytes();

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_ALLOCATED_BYTES_H_
