// SPDX-License-Identifier: Apache-2.0
//
// Which values of a planned method lie with channels innermost, where sums of levels run over
// neighbours:
//
//   i8[1,64,25,5]     place 0: 64 channels | place 1: 64 channels | ...
//
// A value may, where all that write and read its memory take either order: convolutions, pools,
// and what computes element by element, all of whose tensors then lie alike. Values that are
// viewed otherwise, lie in one another, or cross the border of the method in the order of the
// program, stay. Bytes and places are the same, so the memory plan stands.
#ifndef PETREL_EXIR_EMIT_C_CHANNEL_LAYOUT_H_
#define PETREL_EXIR_EMIT_C_CHANNEL_LAYOUT_H_

#include <functional>
#include <set>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

// Gives the types of such values their order. With `io`, inputs and outputs that have channels and
// places must be among them: InvalidArgument names one that cannot. Nodes of which `is_plain` holds
// take the order of the program. Returns the inputs and outputs that have another.
absl::StatusOr<std::set<const Value*>> lay_out_channels(
    PlannedMethod& method, bool io, const std::function<bool(const Node&)>& is_plain);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_CHANNEL_LAYOUT_H_
