// SPDX-License-Identifier: Apache-2.0

// Times attention as nodes of XNNPACK and by blocks, in turns:
//
//   attention_bench [THREADS [KB]]      1 thread and blocks of at most 128 KB without them
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "third_party/xnnpack/attention/attention_graph.h"

namespace petrel::third_party::xnnpack {
namespace {

struct Shape {
  size_t heads, rows, columns, depth;
};

Case case_of(const Shape& shape, size_t block_bytes) {
  std::mt19937 random(1);
  Case c;
  c.heads = shape.heads;
  c.rows = shape.rows;
  c.columns = shape.columns;
  c.depth = c.width = shape.depth;
  c.block_bytes = block_bytes;
  c.queries = random_floats(count(c.query_dims()), 1, &random);
  c.keys = random_floats(count(c.key_dims()), 1, &random);
  c.values = random_floats(count(c.value_dims()), 1, &random);
  Step scale;
  scale.stage = petrel_attention_queries;
  scale.function = petrel_attention_multiply;
  scale.operand = padded({0.125f});
  c.steps.push_back(scale);
  return c;
}

double time_of(AttentionGraph* graph) {
  const auto start = std::chrono::steady_clock::now();
  graph->run_again();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void compare(const Shape& shape, pthreadpool_t pool, size_t block_bytes) {
  const Case c = case_of(shape, block_bytes);
  AttentionGraph nodes(c, pool), blocks(c, pool);
  nodes.define_nodes();
  blocks.define_attention();
  nodes.run();
  blocks.run();
  const double products = 2.0 * static_cast<double>(shape.heads * shape.rows * shape.columns) *
                          static_cast<double>(shape.depth);
  const int rounds = std::clamp(static_cast<int>(1e10 / products), 10, 2000);
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < rounds; ++round) {
    best[0] = std::min(best[0], time_of(&nodes));
    best[1] = std::min(best[1], time_of(&blocks));
  }
  std::printf("%5zu %6zu %7zu %5zu %10.1f %10.1f %7.2f\n", shape.heads, shape.rows, shape.columns,
              shape.depth, 1e6 * best[0], 1e6 * best[1], best[0] / best[1]);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main(int argc, char** argv) {
  using namespace petrel::third_party::xnnpack;
  const size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const size_t block_kb = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 128;
  if (xnn_initialize(nullptr) != xnn_status_success) return 1;
  const Pool pool(threads > 1 ? pthreadpool_create(threads) : nullptr);
  std::printf("%5s %6s %7s %5s %10s %10s %7s\n", "heads", "rows", "columns", "depth", "nodes us",
              "blocks us", "ratio");
  for (const Shape& shape : {Shape{6, 1500, 1500, 64},
                             {6, 500, 500, 64},
                             {3, 197, 197, 64},
                             {8, 128, 128, 64},
                             {4, 50, 50, 64},
                             {8, 64, 64, 32},
                             {192, 64, 64, 32},
                             {192, 49, 49, 32},
                             {12, 64, 64, 32},
                             {1, 2304, 36, 32},
                             {8, 144, 36, 32},
                             {1, 576, 576, 48},
                             {4, 196, 196, 16},
                             {8, 16, 16, 16},
                             {8, 16, 1024, 64},
                             {8, 4, 1024, 64},
                             {8, 1, 1024, 64},
                             {1, 32, 2000, 64},
                             {2, 20, 20, 200}}) {
    compare(shape, pool.get(), block_kb << 10);
  }
}
