// SPDX-License-Identifier: Apache-2.0
//
// What a node of attention computes (third_party/xnnpack/attention): two products with a softmax
// between them, and steps of one element by one. Files have none: joined_attention.h makes it of
// other nodes.
//
//   node.kind        ScaledDotProductAttention
//   node.inputs      queries, keys, values, operands of steps
//   node.attention   steps: queries multiply by input 3, scores add input 4
//
// A node shares it with copies of itself, which never change it.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_ATTENTION_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_ATTENTION_H_

#include <cstdint>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"
#include "third_party/xnnpack/attention/program.h"

namespace petrel::backends::xnnpack {

struct AttentionStep {
  petrel_attention_stage stage = petrel_attention_scores;
  petrel_attention_function function = petrel_attention_add;
  bool operand_is_first = false;
  uint32_t input = 0;  // place of the operand in Node::inputs
  Dims view;           // of the scores, where they were reshaped; else empty
  bool has_range = false;
  float min = 0;
  float max = 0;
};

struct Attention {
  bool turns_keys = false;    // which are [.., columns, depth]
  bool turns_values = false;  // which are [.., width, columns]
  std::vector<AttentionStep> steps;
  uint32_t threads = 1;
  uint64_t block_bytes = 0;  // of the scores that a thread computes at once, if a tile is no more
};

// Decides the last two, for so many threads and a cache of the second level for each.
void choose_attention_blocks(Graph* graph, uint32_t threads, uint64_t cache_bytes);

// For the operator. By input: where the floats of a constant are, or the place of another one among
// those that are no constants.
petrel_attention attention_program(const Graph& graph, const Node& node,
                                   const std::vector<const void*>& constants,
                                   const std::vector<uint32_t>& places);

// The dims of its output. Of views it says nothing: they are of sizes that never vary.
Problem infer_attention(const Attention& attention, const std::vector<const Dims*>& inputs,
                        Dims* out);

// What its operator needs while it runs. Saturates, as the next one does. Precondition, here and
// there: the node passes infer_attention.
uint64_t attention_scratch_bytes(const Graph& graph, const Node& node);

// Of its products, and one for each element of a step and of the softmax.
uint64_t attention_multiply_adds(const Graph& graph, const Node& node);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_ATTENTION_H_
