// SPDX-License-Identifier: Apache-2.0

// A graph of convolutions, pools, joins and cuts of channels in XNNPACK, which runs them in place
// or, when the values between nodes are outputs as well, with memory of their own for
// each. Data is random with a fixed seed. For the test and the benchmark of in_place.patch only.
//
//   JoinedGraph graph(Placing::kInPlace, pool);
//   const Id x = graph.input(/*channels=*/16);
//   const Id y = graph.join({graph.convolution(x, 1, 24), graph.convolution(x, 3, 40)});
//   graph.finish(graph.convolution(y, 1, 16));
//   graph.reshape(1, 28, 28);
//   graph.run();
//   graph.output();
#ifndef PETREL_THIRD_PARTY_XNNPACK_JOINED_GRAPH_H_
#define PETREL_THIRD_PARTY_XNNPACK_JOINED_GRAPH_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace petrel::third_party::xnnpack {

using Id = uint32_t;

enum class Placing { kInPlace, kCopies };

// Aborts when XNNPACK refuses: graphs come from our code.
class JoinedGraph {
 public:
  JoinedGraph(Placing placing, pthreadpool_t pool);
  ~JoinedGraph();
  JoinedGraph(const JoinedGraph&) = delete;
  JoinedGraph& operator=(const JoinedGraph&) = delete;

  Id input(size_t channels);
  // Of `size` x `size`, padded to keep the sides, with a rectifier.
  Id convolution(Id x, size_t size, size_t channels);
  Id depthwise(Id x);
  // Each channel times a number, and another one added; with a rectifier.
  Id scale(Id x);
  Id max_pool(Id x);
  Id average_pool(Id x);
  Id join(const std::vector<Id>& parts);
  Id cut(Id x, size_t first, size_t channels);
  // A unary operator, which takes no strides.
  Id negate(Id x);

  void finish(Id output);
  void reshape(size_t batch, size_t height, size_t width);
  void run();

  const std::vector<float>& output() const { return outputs_.back().data; }
  xnn_runtime_t runtime() const { return runtime_; }

 private:
  struct Output {
    uint32_t external_id;
    Id value;
    std::vector<float> data;
  };

  static constexpr size_t kSide = 8;  // until reshape()

  Id define(size_t channels);
  Id constant(const std::vector<size_t>& dims, float range);

  const Placing placing_;
  pthreadpool_t const pool_;
  std::mt19937 random_{1};
  xnn_subgraph_t subgraph_ = nullptr;
  xnn_runtime_t runtime_ = nullptr;
  std::vector<size_t> channels_;  // by value
  std::vector<std::unique_ptr<std::vector<float>>> constants_;
  std::vector<float> input_;
  std::vector<Output> outputs_;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_JOINED_GRAPH_H_
