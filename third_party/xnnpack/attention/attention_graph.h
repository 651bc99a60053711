// SPDX-License-Identifier: Apache-2.0

// Attention as nodes of XNNPACK and as one node, for its test and benchmark only.
//
//   Case c;                                     // one head of one row and column
//   AttentionGraph graph(c, pool);
//   graph.define_attention();                   // or define_nodes()
//   const Floats output = graph.run();
//
// A graph refers to its case, which outlives it.
#ifndef PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ATTENTION_GRAPH_H_
#define PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ATTENTION_GRAPH_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "third_party/xnnpack/attention/attention.h"

namespace petrel::third_party::xnnpack {

using Dims = std::vector<size_t>;
using Floats = std::vector<float>;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
// That are no constants.
inline constexpr size_t kMostOperands = 2;

struct DeletePool {
  void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
};
using Pool = std::unique_ptr<pthreadpool, DeletePool>;

size_t count(const Dims& dims);

// With what kernels may read behind the last one.
Floats padded(Floats list);
Floats random_floats(size_t size, float scale, std::mt19937* random);

struct Step {
  petrel_attention_stage stage = petrel_attention_scores;
  petrel_attention_function function = petrel_attention_add;
  bool operand_is_first = false;
  Dims operand_dims;
  bool is_constant = true;
  Floats operand;  // padded
  bool has_range = false;
  float min = -kInfinity, max = kInfinity;
};

// Matrices are [groups, heads, ..], or one dim of both that scores are reshaped from and to.
struct Case {
  size_t groups = 1, heads = 1, rows = 1, depth = 1, columns = 1, width = 1;
  bool is_joint = false;
  bool turns_keys = true, turns_values = false;
  size_t block_bytes = 4096;
  std::vector<Step> steps;  // in the order of stages
  Floats queries, keys, values;

  Dims matrices(size_t a, size_t b) const {
    return is_joint ? Dims{groups * heads, a, b} : Dims{groups, heads, a, b};
  }
  Dims query_dims() const { return matrices(rows, depth); }
  Dims key_dims() const { return turns_keys ? matrices(columns, depth) : matrices(depth, columns); }
  Dims value_dims() const {
    return turns_values ? matrices(width, columns) : matrices(columns, width);
  }
  Dims score_dims() const { return {groups, heads, rows, columns}; }
  Dims output_dims() const { return matrices(rows, width); }
};

class AttentionGraph {
 public:
  AttentionGraph(const Case& of, pthreadpool_t pool);
  ~AttentionGraph();
  AttentionGraph(const AttentionGraph&) = delete;
  AttentionGraph& operator=(const AttentionGraph&) = delete;

  // One of them, once.
  void define_nodes();
  void define_attention();

  // Reshapes, sets up and runs.
  Floats run();
  // What run() set up.
  void run_again();
  xnn_status reshape_keys(const Dims& dims);

 private:
  uint32_t value(const Dims& dims, const void* data, uint32_t external_id, uint32_t flags);
  uint32_t external(const Dims& dims, uint32_t flags);
  uint32_t inner(const Dims& dims);
  void define_product(uint32_t a, uint32_t b, uint32_t y, bool is_turned);
  uint32_t reshape(uint32_t id, const Dims& dims);
  uint32_t define_steps(petrel_attention_stage stage, uint32_t id);
  void make();

  const Case& case_;
  const pthreadpool_t pool_;
  petrel_attention program_ = {};
  xnn_subgraph_t graph_ = nullptr;
  xnn_runtime_t runtime_ = nullptr;
  uint32_t num_externals_ = 0;
  uint32_t queries_ = 0, keys_ = 0, values_ = 0, output_ = 0;
  std::vector<uint32_t> operands_;
  Floats result_;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ATTENTION_GRAPH_H_
