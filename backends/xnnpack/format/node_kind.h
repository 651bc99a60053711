// SPDX-License-Identifier: Apache-2.0
//
// The kinds of nodes, one row each: name, number of inputs and outputs, which
// table of the schema holds it (its family), and which flags it may carry.
//
//   const NodeKindInfo* info = find_node_kind(NodeKind::Conv2d);
//   info->name           "Conv2d"
//   info->has_bias       true: the last input may be kNoId

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_NODE_KIND_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_NODE_KIND_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

enum class NodeFamily : uint8_t {
  kUnary,           // Node1x1: no parameters
  kBinary,          // Node2x1: no parameters
  kFullyConnected,  // no parameters
  kConvolution,     // window, channels
  kPooling,         // window
  kArgMaxPooling,   // window without strides
  kTranspose,       // list: perm
  kReshape,         // list: new_shape
  kSlice,           // list: offsets, list2: sizes
  kPad,             // list: pre_paddings, list2: post_paddings, scalar: value
  kResize,          // new_height, new_width
  kConcatenate,     // axis
  kLeakyRelu,       // scalar: negative_slope
  kElu,             // scalar: alpha
  kAttention,       // no parameters
  kNorm,            // axis, channels: groups and channels of one, scalar: epsilon, list2
};

struct NodeKindInfo {
  NodeKind kind;
  const char* name;
  NodeFamily family;
  uint8_t num_inputs;
  bool has_bias;
  uint8_t num_outputs;
  uint32_t allowed_flags;
  bool is_implemented;  // by the runtime; others are read but refused
};

// Null for a number that is not a kind. kNorm is one, which no payload has.
const NodeKindInfo* find_node_kind(NodeKind kind);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_NODE_KIND_H_
