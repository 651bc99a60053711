// SPDX-License-Identifier: Apache-2.0
//
// The end state: every node is a delegate call, a view, or has a kernel.
// Changes nothing; names all nodes that are none of these at once, with their
// places in the user's model.
//
//   error    2 operators have no kernel: aten.sort.default (1 node, the first
//            is 'sort' at model.py:12, in forward), aten.lstm.input (...)
#ifndef PETREL_EXIR_PASS_LOWER_REQUIRE_KERNELS_H_
#define PETREL_EXIR_PASS_LOWER_REQUIRE_KERNELS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> require_kernels(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_LOWER_REQUIRE_KERNELS_H_
