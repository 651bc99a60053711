// SPDX-License-Identifier: Apache-2.0
//
// In which order the elements of each value of a partition lie. XNNPACK's
// convolutions, pools and resizes want channels last; matrix products want what
// PyTorch has. Elementwise nodes, concatenation, padding and slicing can do
// either and follow their neighbours, so that a CNN has one transpose where it
// starts and at most one where it ends.
//
//   x --> conv --> add --> conv --> mean --> view --> linear --> y
//   plain  channels last . . . . . . . . .   plain
//
// Channels-last forms of what the IR calls [N,C,H,W] and [N,C,L]:
//
//   [N,C,H,W] -> [N,H,W,C]        [N,C,L] -> [N,1,L,C]        [N,C,D,H,W] -> [N*D,H,W,C]
//
// Planes of a volume are images: its convolutions read it so, and joins of channels are those of
// images. What tells planes of one volume from those of another needs it plain.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_LAYOUT_H_
#define PETREL_BACKENDS_XNNPACK_AOT_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/ops/size.h"

namespace petrel::backends::xnnpack::aot {

// The sizes of a payload value or of one of the IR; those that vary are expressions.
using Extents = exir::rules::Sizes;

enum class Layout : uint8_t { kPlain, kChannelsLast };

// What a node asks of its operands and makes of its result.
enum class LayoutNeed : uint8_t {
  kPlain,         // plain -> plain
  kChannelsLast,  // channels last -> channels last
  kReduces,       // channels last -> plain
  kFollows,       // either, the result as the operands
  kTakesEither,   // either -> plain, at no cost
};

// True for ranks that have a channels-last form.
inline bool has_channels_last_form(size_t rank) { return rank >= 3 && rank <= 5; }

// Precondition of the following: has_channels_last_form(rank).
Extents channels_last_sizes(const Extents& sizes);
// A reshape to other axes works out one size at most.
bool has_one_varying_size(const Extents& sizes);
// Where axis `axis` of the IR is in the channels-last form; that of a volume has neither batch
// nor depth for itself, and `axis` is another.
size_t channels_last_axis(size_t rank, size_t axis);

// Both forms have the same bytes, whatever the sizes are: one channel or one pixel.
bool is_same_in_both_layouts(const Extents& sizes);

// The nodes to place and what they need. `result` is the value that a node
// makes, which is another node's when an activation was merged into it; `nodes`
// leaves the merged ones out.
struct LayoutProblem {
  std::vector<const exir::Node*> nodes;
  std::function<LayoutNeed(const exir::Node&)> need;
  std::function<const exir::Value*(const exir::Node&)> result;
};

// The layout of every node's result; all other values are plain. Groups of
// connected nodes that follow get the layout that converts fewer elements, counted
// at the largest sizes.
std::map<const exir::Value*, Layout> plan_layouts(const LayoutProblem& problem);

// The values that are copied into the layout that they are not made in, once
// each: for a node that asks for it, or because they leave the partition.
std::vector<const exir::Value*> layout_copies(const LayoutProblem& problem,
                                              const std::map<const exir::Value*, Layout>& layouts,
                                              const std::vector<const exir::Value*>& outputs);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_LAYOUT_H_
