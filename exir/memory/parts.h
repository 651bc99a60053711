// SPDX-License-Identifier: Apache-2.0
//
// Which tensors lie inside other tensors, so that joining and cutting along the
// outermost dim moves no bytes:
//
//   %c = aten.cat.default([%a, %b], 1)          : f32[1,8,4,4]
//   %s = aten.slice_copy.Tensor(%x, 0, 2, 6, 1) : f32[4,9]
//
//   |<-------- c -------->|         |<-------- x -------->|
//   |<-- a -->|<--- b --->|                |<--- s --->|
//
// a and b are written where c needs them, s is read where it lies in x; neither
// node becomes an instruction. What cannot lie inside (a constant, state, a
// tensor that is there twice or already lies elsewhere) is copied into its
// place, as long as at least one operand needs no copy.
//
// Values that are tied to each other by parts form a group with one layout.
// Invariant: each byte of a group is written by one node or input only, so the
// order in which nodes run does not matter for what a byte holds. A group never
// holds both an input and an output of the method: filling the one would change
// the other.
#ifndef PETREL_EXIR_MEMORY_PARTS_H_
#define PETREL_EXIR_MEMORY_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

// A root (exir/memory/storage.h) whose bytes begin `offset` bytes after those of
// `anchor`, the root that begins first in its group.
struct PlacedPart {
  const Value* anchor = nullptr;
  const Value* root = nullptr;
  int64_t offset = 0;
};

struct Parts {
  std::vector<PlacedPart> list;  // anchors left out
  std::unordered_set<const Node*> elided;
  int64_t elided_bytes = 0;  // that need not be moved
};

// Finds the parts of `graph` in one pass over its nodes. Adds the copies that
// are needed to it; the graph computes the same before and after. A graph with
// sizes that vary, branches or loops has none. With `io_apart` no input or output lies
// with anything else.
Parts place_parts(Graph& graph, bool io_apart = false);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_PARTS_H_
