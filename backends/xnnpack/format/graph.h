// SPDX-License-Identifier: Apache-2.0
//
// The contents of an XNNPACK payload in memory: what the compiler fills and
// write_payload stores, and what read_payload gives back. A value's id is its place
// in `values`; nodes are in the order in which they run.
//
//   values   0: f32[1,3,224,224] argument 0     nodes   0: StaticTranspose 0 -> 1
//            1: f32[1,224,224,3]                        1: Conv2d 1, 2, 3 -> 4
//            2: f32[32,3,3,3]    constant 1
//            3: f32[32]          constant 2     constants   0: reserved
//            4: f32[1,112,112,32] argument 1                1: key "9f86d0..."
//                                                           2: key "60303a..."
//
// A Graph owns all it says except the bytes of inline constants and scales, which lie
// in the payload that it was read from (or in `storage`). It promises nothing by
// itself: a Graph that read_payload returned has been checked, see there.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_GRAPH_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "schema/xnnpack_generated.h"

namespace petrel::backends::xnnpack {

using Dims = std::vector<uint32_t>;
using Datatype = schema::xnnpack::Datatype;
using NodeKind = schema::xnnpack::NodeUnion;

// Of graphs that were made ready to run alone (norms.h): payloads have none.
inline constexpr auto kNorm = static_cast<NodeKind>(static_cast<uint8_t>(NodeKind::MAX) + 1);

// "no value", "no external id".
inline constexpr uint32_t kNoId = 0xFFFFFFFF;
inline constexpr uint32_t kExternalInput = 1;
inline constexpr uint32_t kExternalOutput = 2;
// XNN_MAX_TENSOR_DIMS.
inline constexpr size_t kMaxValueRank = 6;
inline constexpr uint32_t kMaxExternals = 4096;

// Flags of nodes, in XNNPACK's numbering.
inline constexpr uint32_t kTransposeWeights = 0x01;
inline constexpr uint32_t kAlignCorners = 0x08;
inline constexpr uint32_t kKeepDims = 0x40;

enum class Quantization : uint8_t { kNone, kPerTensor, kPerChannel, kPerTokenDynamic, kPerGroup };

// The scales of a value with one for each channel or group: an entry of
// Graph::constants, or `count` floats that lie in the payload.
struct Scales {
  uint32_t constant = 0;                 // 0 for none
  const uint8_t* inline_data = nullptr;  // little-endian
  uint32_t count = 0;
};

// What a quantised element stands for: (element - zero_point) * scale. Which members
// mean something depends on Value::quantization.
struct QuantParams {
  float scale = 0;             // per tensor
  int32_t zero_point = 0;      // per tensor
  uint32_t axis = 0;           // per channel and group: the dim of channels
  uint32_t group_size = 0;     // per group, along the other dim
  uint32_t nonbatch_dims = 0;  // per token: the last dims, which have one scale
  Scales scales;               // per channel: f32; per group: bf16, f32 when inline
};

struct Value {
  Datatype datatype = Datatype::FP32;
  Dims dims;
  uint32_t constant = 0;  // entry of Graph::constants; 0 for none
  uint32_t external_id = kNoId;
  uint32_t flags = 0;
  Quantization quantization = Quantization::kNone;
  QuantParams quant;

  bool is_constant() const { return constant != 0; }
  bool is_input() const { return (flags & kExternalInput) != 0; }
  bool is_output() const { return (flags & kExternalOutput) != 0; }
};

// How a convolution or pooling walks over the image.
struct Window {
  uint32_t padding_top = 0;
  uint32_t padding_right = 0;
  uint32_t padding_bottom = 0;
  uint32_t padding_left = 0;
  uint32_t kernel_height = 1;
  uint32_t kernel_width = 1;
  uint32_t stride_height = 1;
  uint32_t stride_width = 1;
  uint32_t dilation_height = 1;
  uint32_t dilation_width = 1;

  bool operator==(const Window& o) const {
    return padding_top == o.padding_top && padding_right == o.padding_right &&
           padding_bottom == o.padding_bottom && padding_left == o.padding_left &&
           kernel_height == o.kernel_height && kernel_width == o.kernel_width &&
           stride_height == o.stride_height && stride_width == o.stride_width &&
           dilation_height == o.dilation_height && dilation_width == o.dilation_width;
  }
};

struct Channels {
  uint32_t groups = 1;
  uint32_t group_input_channels = 0;
  uint32_t group_output_channels = 0;
  uint32_t adjustment_height = 0;  // transposed convolution: extra output rows
  uint32_t adjustment_width = 0;

  bool operator==(const Channels& o) const {
    return groups == o.groups && group_input_channels == o.group_input_channels &&
           group_output_channels == o.group_output_channels &&
           adjustment_height == o.adjustment_height && adjustment_width == o.adjustment_width;
  }
};

// How a convolution is computed by Winograd's algorithm (winograd.h).
struct Winograd {
  uint32_t threads = 0;              // 0 for direct convolution and all other nodes
  uint32_t tile = 0;                 // outputs along its side, 2 or 4
  bool transforms_each_run = false;  // its filter, which is not packed for it then
};

struct Attention;  // attention.h

// Which of the parameters mean something depends on the kind's family, see
// node_kind.h.
struct Node {
  NodeKind kind = NodeKind::NONE;
  std::vector<uint32_t> inputs;  // value ids; a missing bias is kNoId
  std::vector<uint32_t> outputs;
  uint32_t flags = 0;
  uint32_t debug_handle = 0;
  float output_min = -std::numeric_limits<float>::infinity();
  float output_max = std::numeric_limits<float>::infinity();

  Window window;               // convolutions and pools
  Channels channels;           // convolutions, norms
  std::vector<uint32_t> list;  // perm, new_shape, offsets, pre_paddings
  // Slice sizes, post_paddings, sizes of the input of a reshape or norm: 0 for any, empty if all
  // are any.
  std::vector<uint32_t> list2;
  float scalar = 0;         // negative_slope, alpha, padding_value, epsilon
  uint32_t axis = 0;        // concatenation; of a norm: the first dim that is not batch
  uint32_t new_height = 0;  // resizing
  uint32_t new_width = 0;

  // Decided when it is made ready to run: whether it is computed by Winograd's algorithm.
  Winograd winograd;
  // How many threads compute it row by row, and whether from planes (images.h).
  uint32_t image_threads = 0;
  bool reads_planes = false;
  // And whether its floats are split for units that multiply bfloat16.
  bool is_split = false;
  // And whether its weights stay as they are stored (unpacked.h).
  bool is_unpacked = false;
  // What a node of attention computes, which no file has.
  std::shared_ptr<const Attention> attention;

  // Without a range that its results are kept in.
  bool is_unbounded() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return output_min == -kInfinity && output_max == kInfinity;
  }
};

struct ConstantData {
  std::string key;  // of the named data map; "" when the bytes are inline
  const uint8_t* data = nullptr;
  size_t size = 0;

  bool is_named() const { return !key.empty(); }
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ConstantData> constants = std::vector<ConstantData>(1);  // entry 0 is reserved
  uint32_t num_externs = 0;
  std::shared_ptr<const void> storage;
};

// Elements of a value; 0 when they do not fit in 64 bits.
uint64_t count_elements(const Dims& dims);

// Bytes of a value, as it lies in memory: 4-bit rows end at a byte. Precondition: its
// dims pass check_dims.
uint64_t count_bytes(const Value& value);

// Bytes of one scale that a constant holds: of a group, bfloat16.
size_t scale_bytes(const Value& value);

// "[1,3,224,224]".
std::string to_string(const Dims& dims);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_GRAPH_H_
