// SPDX-License-Identifier: Apache-2.0
//
// For tests: a partition of two products in a row, so that there is a value between
// them, which gives the mean of each row if every weight is 1 / width.
//
//   TestMap map;
//   map.data["w"] = std::vector<float>(width * width, 1.0f / width);
//   ... a delegate of write_payload(chain_graph(4, width)) ...
//   run_chain(*delegate, 4, width);
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_CHAIN_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_CHAIN_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {

inline Graph chain_graph(uint32_t rows, uint32_t width) {
  GraphBuilder b;
  const uint32_t x = b.input({rows, width});
  const uint32_t w = b.constant({width, width}, "w");
  const uint32_t between = b.inner({rows, width});
  const uint32_t y = b.output({rows, width});
  b.node(NodeKind::FullyConnected, {x, w, kNoId}, {between});
  b.node(NodeKind::FullyConnected, {between, w, kNoId}, {y});
  return std::move(b.graph);
}

// Fails unless each row gives its mean.
inline void run_chain(Delegate& delegate, int32_t rows, int32_t width) {
  Arguments args;
  float* in = args.add({rows, width});
  const float* out = args.add({rows, width});
  for (int32_t i = 0; i < rows * width; ++i) in[i] = static_cast<float>(i / width + 1);
  ASSERT_EQ(args.run(delegate), runtime::Error::Ok);
  for (int32_t i = 0; i < rows * width; ++i) {
    ASSERT_NEAR(out[i], static_cast<float>(i / width + 1), 1e-3 * rows) << i;
  }
}

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_CHAIN_H_
