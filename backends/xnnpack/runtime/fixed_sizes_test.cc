// SPDX-License-Identifier: Apache-2.0
//
// Delegates whose sizes never vary compute small nodes as one; all else is as it was.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/random_steps.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

Delegate::Options fixed_sizes() {
  Delegate::Options options;
  options.sizes_are_fixed = true;
  return options;
}

// Inputs, then outputs, by external id.
std::vector<Dims> externals_of(const Graph& graph) {
  std::vector<Dims> list(graph.num_externs);
  for (const Value& value : graph.values) {
    if (value.external_id != kNoId) list[value.external_id] = value.dims;
  }
  return list;
}

std::vector<std::vector<float>> run(const Graph& graph, const TestMap& map,
                                    const Delegate::Options& options, float scale) {
  const auto delegate = Delegate::create(graph, 0, &map, options);
  EXPECT_TRUE(delegate.ok());
  if (!delegate.ok()) return {};
  Arguments args;
  std::vector<std::pair<const float*, size_t>> outputs;
  for (const Dims& dims : externals_of(graph)) {
    float* const data = args.add({dims.begin(), dims.end()});
    const size_t count = count_elements(dims);
    for (size_t i = 0; i < count; ++i) data[i] = scale * std::sin(static_cast<float>(3 * i + 1));
    outputs.emplace_back(data, count);
  }
  EXPECT_EQ(args.run(**delegate), runtime::Error::Ok);
  EXPECT_EQ(args.run(**delegate), runtime::Error::Ok);
  std::vector<std::vector<float>> lists;
  for (const auto& [data, count] : outputs) lists.emplace_back(data, data + count);
  return lists;
}

TEST(FixedSizes, GiveTheSameBits) {
  TestMap map;
  map.data["c"] = {0.5f, -1, 2, 0.25f, -0.125f, 3, 1, -2};
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomSteps(seed).graph();
    const auto varying = run(graph, map, {}, 0.7f), fixed = run(graph, map, fixed_sizes(), 0.7f);
    ASSERT_EQ(varying.size(), fixed.size());
    for (size_t i = 0; i < fixed.size(); ++i) {
      ASSERT_EQ(std::memcmp(varying[i].data(), fixed[i].data(), fixed[i].size() * sizeof(float)), 0)
          << "value " << i;
    }
  }
}

Graph three_steps() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 8}), y = b.output({1, 8});
  const uint32_t u = b.inner({1, 8}), v = b.inner({1, 8});
  b.node(NodeKind::Tanh, {x}, {u});
  b.node(NodeKind::Negate, {u}, {v});
  b.node(NodeKind::Add, {v, x}, {y});
  return std::move(b.graph);
}

TEST(FixedSizes, OtherOnesAreRefusedAndLoseNothing) {
  const auto delegate = Delegate::create(three_steps(), 0, nullptr, fixed_sizes());
  ASSERT_TRUE(delegate.ok());
  Arguments wide, right;
  wide.add({2, 8});
  wide.add({2, 8});
  EXPECT_EQ(wide.run(**delegate), runtime::Error::InvalidArgument);
  const float* const in = right.add({1, 8});
  const float* const out = right.add({1, 8});
  const_cast<float*>(in)[3] = 1;
  EXPECT_EQ(right.run(**delegate), runtime::Error::Ok);
  EXPECT_NEAR(out[3], 1 - std::tanh(1.0f), 1e-6);
  EXPECT_EQ(wide.run(**delegate), runtime::Error::InvalidArgument);
  EXPECT_EQ(right.run(**delegate), runtime::Error::Ok);
}

TEST(FixedSizes, AreNotTakenForGranted) {
  const auto delegate = Delegate::create(three_steps(), 0, nullptr, {});
  ASSERT_TRUE(delegate.ok());
  Arguments wide;
  float* const in = wide.add({2, 8});
  const float* const out = wide.add({2, 8});
  in[11] = 1;
  EXPECT_EQ(wide.run(**delegate), runtime::Error::Ok);
  EXPECT_NEAR(out[11], 1 - std::tanh(1.0f), 1e-6);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
