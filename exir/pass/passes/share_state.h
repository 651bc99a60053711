// SPDX-License-Identifier: Apache-2.0
//
// Makes the state of a program one: a buffer that any method changes is state
// in every method that names it, and all of them share one Constant.
//
//   before  @prefill  %keys = state @cache.keys      changed there
//           @decode   %keys = constant @cache.keys   only read there
//   after   @decode   %keys = state @cache.keys      the same Constant
//
// Methods are exported apart, so only names tell what belongs together. Buffers
// of one name that differ in type or initial value are refused: one of them
// would silently start as the other. Runs right behind import, before anything
// reads the value of a constant.
#ifndef PETREL_EXIR_PASS_PASSES_SHARE_STATE_H_
#define PETREL_EXIR_PASS_PASSES_SHARE_STATE_H_

#include "absl/status/status.h"
#include "exir/ir/program.h"

namespace petrel::exir {

absl::Status share_state(Program& program);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_SHARE_STATE_H_
