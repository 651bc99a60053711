// SPDX-License-Identifier: Apache-2.0

// Joins and cuts of channels in place compute what they compute with memory of their own for
// each value, in every bit, whatever memory held before.
#include <gtest/gtest.h>
#include <petrel/fill.h>

#include <array>
#include <memory>
#include <vector>

#include "third_party/xnnpack/joined_graph.h"
#include "xnnpack/subgraph.h"

namespace petrel::third_party::xnnpack {
namespace {

class Fill {
 public:
  explicit Fill(int byte) { xnn_set_fill(byte); }
  ~Fill() { xnn_set_fill(-1); }
};

struct Ids {
  std::vector<Id> parts;
  std::vector<Id> wholes;  // what each lies in
  std::vector<Id> alone;   // values with memory of their own
};

// Joins of joins, cuts that are joined again, a value that two joins read, values that
// are read before and after they are joined, and readers that take no stride.
Ids build(JoinedGraph* graph) {
  const Id x = graph->input(20);
  const Id a = graph->convolution(x, 1, 24);
  const Id b = graph->convolution(a, 3, 40);
  const Id c = graph->max_pool(a);
  const Id d = graph->depthwise(b);
  const Id ac = graph->join({a, c});
  const Id all = graph->join({ac, b, d});
  const Id scaled = graph->scale(ac);
  const Id low = graph->cut(all, 0, 61);
  const Id high = graph->cut(all, 61, 67);
  const Id e = graph->convolution(low, 3, 48);
  const Id f = graph->depthwise(high);
  const Id g = graph->average_pool(b);
  const Id h = graph->convolution(a, 1, 8);
  const Id k = graph->convolution(a, 1, 5);
  const Id lone = graph->negate(k);
  const Id twice = graph->join({h, low, h});
  const Id mixed = graph->join({k, lone, scaled});
  const Id fg = graph->join({f, g});
  const Id last = graph->join({e, fg, twice});
  const Id more = graph->join({last, mixed});
  graph->finish(graph->convolution(graph->negate(more), 1, 3));
  return {{a, c, ac, b, d, low, high, f, g, h, fg, twice, last},
          {ac, ac, all, all, all, all, all, fg, fg, twice, last, last, more},
          {k, lone}};
}

std::vector<float> run(JoinedGraph* graph, size_t batch, size_t height, size_t width) {
  graph->reshape(batch, height, width);
  graph->run();
  return graph->output();
}

const char* data_of(const JoinedGraph& graph, Id id) {
  return static_cast<const char*>(graph.runtime()->values[id].data);
}

TEST(InPlaceTest, ComputesTheSameForAllSizesWhateverMemoryHeld) {
  for (const size_t threads : {1, 2}) {
    const std::unique_ptr<pthreadpool, void (*)(pthreadpool_t)> pool(pthreadpool_create(threads),
                                                                     &pthreadpool_destroy);
    JoinedGraph copies(Placing::kCopies, pool.get());
    build(&copies);
    for (const int byte : {-1, 0x00, 0x7F, 0xFF}) {
      const Fill fill(byte);
      JoinedGraph in_place(Placing::kInPlace, pool.get());
      build(&in_place);
      for (const auto& [batch, height, width] :
           {std::array<size_t, 3>{1, 9, 7}, {1, 23, 31}, {3, 8, 5}, {1, 1, 1}}) {
        EXPECT_EQ(run(&in_place, batch, height, width), run(&copies, batch, height, width))
            << threads << " threads, fill " << byte << ", " << batch << " x " << height << " x "
            << width;
      }
    }
  }
}

TEST(InPlaceTest, PutsPartsIntoTheirWholes) {
  JoinedGraph graph(Placing::kInPlace, nullptr);
  const Ids ids = build(&graph);
  graph.reshape(1, 9, 7);
  for (size_t i = 0; i < ids.parts.size(); ++i) {
    const char* part = data_of(graph, ids.parts[i]);
    const char* whole = data_of(graph, ids.wholes[i]);
    const size_t row = graph.runtime()->values[ids.wholes[i]].shape.dim[3] * sizeof(float);
    EXPECT_TRUE(part >= whole && part < whole + row) << "part " << i;
  }
  for (const Id id : ids.alone) {
    for (const Id whole : ids.wholes) {
      const char* begin = data_of(graph, whole);
      const size_t size = xnn_tensor_get_size(&graph.runtime()->values[whole]);
      EXPECT_TRUE(data_of(graph, id) < begin || data_of(graph, id) >= begin + size) << id;
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
