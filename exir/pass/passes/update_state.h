// SPDX-License-Identifier: Apache-2.0
//
// Writes to a part of a state as the one operator that can write where it is:
// index_put with a single list of places and values of the shape that these
// give. slice_scatter becomes that, and so does index_put where its values
// broadcast or lack a dim. The emitter lets it work in place where nobody needs
// the state as it was before.
//
//   before  %new = aten.slice_scatter.default(%cache, %rows, 2, 0, 8, 1)
//           write %new to %cache
//   after   %at = constant @indices.0.8.1 : i64[8]
//           %new = aten.index_put.default(%cache, [none, none, %at], %rows, false)
//           write %new to %cache
//
// A write-back can name a value that went through several such writes; all of
// them change. Values that never get into a state stay as they are, and so does
// index_put with several indices.
#ifndef PETREL_EXIR_PASS_PASSES_UPDATE_STATE_H_
#define PETREL_EXIR_PASS_PASSES_UPDATE_STATE_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> update_state(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_UPDATE_STATE_H_
