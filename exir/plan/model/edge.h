// SPDX-License-Identifier: Apache-2.0
//
// What keeps two buffers apart, as a distance between their offsets. Lifetimes with gaps,
// extra conflicts, non-conflicts and permitted overlaps all end up in one form, which is
// all that the packing algorithms see:
//
//   offset(other) - offset(buffer)  may not lie strictly between low and high
//
//      other below                          other above
//   -----------------o======= forbidden =======o---------------->  difference
//                   low                       high
//                (-size of other)        (size of buffer)
//
// The values in brackets are those of the plain case.

#ifndef PETREL_EXIR_PLAN_MODEL_EDGE_H_
#define PETREL_EXIR_PLAN_MODEL_EDGE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

struct Edge {
  BufferIdx other = 0;
  int64_t low = 0;
  int64_t high = 0;
};

// The edges of a buffer, in ascending order of `other`, from a ConflictGraph or from
// Neighbours; those of the latter are valid until the next call.
using EdgesOf = absl::FunctionRef<absl::Span<const Edge>(BufferIdx)>;

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_EDGE_H_
