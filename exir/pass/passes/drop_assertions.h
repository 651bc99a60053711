// SPDX-License-Identifier: Apache-2.0
//
// Drops the checks that the exporter put into the graph: they held for the
// traced shapes, which are the only ones a program takes, and no kernel runs
// them.
//
//   before   aten._assert_tensor_metadata.default(%x, none, none, f32)
//   after
#ifndef PETREL_EXIR_PASS_PASSES_DROP_ASSERTIONS_H_
#define PETREL_EXIR_PASS_PASSES_DROP_ASSERTIONS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> drop_assertions(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_DROP_ASSERTIONS_H_
