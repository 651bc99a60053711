// SPDX-License-Identifier: Apache-2.0

// Attention against the operators that XNNPACK makes of the same products, softmaxes and pairs, and
// against doubles.
#include "third_party/xnnpack/attention/attention.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "third_party/xnnpack/attention/attention_graph.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

std::string describe(const Case& c) {
  std::string text;
  for (const size_t n : {c.groups, c.heads, c.rows, c.depth, c.columns, c.width}) {
    text += std::to_string(n) + " ";
  }
  for (const Step& step : c.steps) {
    text += "step " + std::to_string(step.stage) + "," + std::to_string(step.function) + " of";
    for (const size_t n : step.operand_dims) text += " " + std::to_string(n);
  }
  return text + (c.is_joint ? " joint" : "");
}

size_t between(size_t least, size_t most, std::mt19937* random) {
  return std::uniform_int_distribution<size_t>(least, most)(*random);
}

// An operand of the trailing dims of `dims`, some of which are 1.
Dims some_of(const Dims& dims, std::mt19937* random) {
  Dims some(dims.end() - static_cast<ptrdiff_t>(between(1, dims.size(), random)), dims.end());
  for (size_t& size : some) size = between(0, 2, random) == 0 ? 1 : size;
  return some;
}

Step random_step(const Case& c, petrel_attention_stage stage, std::mt19937* random) {
  Step step;
  step.stage = stage;
  step.function = static_cast<petrel_attention_function>(between(0, 3, random));
  step.operand_is_first = between(0, 1, random) == 1;
  step.operand_dims =
      some_of(stage == petrel_attention_queries ? c.query_dims() : c.score_dims(), random);
  step.operand = random_floats(count(step.operand_dims), 2, random);
  step.has_range = between(0, 3, random) == 0;
  step.min = step.has_range ? -1.5f : -kInfinity;
  return step;
}

Case random_case(uint32_t seed) {
  std::mt19937 random(seed);
  Case c;
  c.groups = between(1, 3, &random);
  c.heads = between(1, 3, &random);
  c.rows = between(0, 5, &random) == 0 ? 1 : between(2, 70, &random);
  c.depth = between(1, 40, &random);
  c.columns = between(0, 5, &random) == 0 ? 256 : between(1, 90, &random);
  c.width = between(1, 70, &random);
  c.is_joint = between(0, 1, &random) == 1;
  c.turns_keys = between(0, 1, &random) == 1;
  c.turns_values = between(0, 1, &random) == 1;
  c.block_bytes = between(0, 20000, &random);
  c.queries = random_floats(count(c.query_dims()), 1, &random);
  c.keys = random_floats(count(c.key_dims()), 1, &random);
  c.values = random_floats(count(c.value_dims()), 1, &random);
  size_t made = 0;
  for (const petrel_attention_stage stage :
       {petrel_attention_queries, petrel_attention_scores, petrel_attention_shares}) {
    for (size_t steps = between(0, 2, &random); steps > 0; --steps) {
      Step step = random_step(c, stage, &random);
      step.is_constant = made == kMostOperands || between(0, 1, &random) == 1;
      made += step.is_constant ? 0 : 1;
      c.steps.push_back(std::move(step));
    }
  }
  if (between(0, 4, &random) == 0) c.queries[between(0, c.depth - 1, &random)] = NAN;
  if (between(0, 4, &random) == 0) c.values[0] = kInfinity;
  return c;
}

// softmax(queries x keys^T x scale + mask) x values, without other steps.
std::vector<double> by_doubles(const Case& c, double scale, const Floats* mask) {
  std::vector<double> output(count(c.output_dims()));
  std::vector<double> scores(c.columns);
  for (size_t batch = 0; batch < c.groups * c.heads; ++batch) {
    for (size_t row = 0; row < c.rows; ++row) {
      const float* const q = &c.queries[(batch * c.rows + row) * c.depth];
      for (size_t column = 0; column < c.columns; ++column) {
        const float* const k = &c.keys[(batch * c.columns + column) * c.depth];
        scores[column] = scale * std::inner_product(q, q + c.depth, k, 0.0);
        if (mask != nullptr) scores[column] += (*mask)[row * c.columns + column];
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& score : scores) sum += score = std::exp(score - most);
      double* const out = &output[(batch * c.rows + row) * c.width];
      for (size_t column = 0; column < c.columns; ++column) {
        const float* const v = &c.values[(batch * c.columns + column) * c.width];
        for (size_t i = 0; i < c.width; ++i) out[i] += scores[column] / sum * v[i];
      }
    }
  }
  return output;
}

class AttentionTest : public ::testing::Test {
 protected:
  AttentionTest() : pool_(pthreadpool_create(2)) {
    EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
  }

  void expect_bits_of_nodes(const Case& c) {
    SCOPED_TRACE(describe(c));
    const size_t bytes = count(c.output_dims()) * sizeof(float);
    AttentionGraph nodes(c, nullptr);
    nodes.define_nodes();
    const Floats expected = nodes.run();
    for (const pthreadpool_t pool : {pthreadpool_t{nullptr}, pool_.get()}) {
      AttentionGraph attention(c, pool);
      attention.define_attention();
      for (int turn = 0; turn < 2; ++turn) {
        const Floats output = attention.run();
        EXPECT_EQ(std::memcmp(output.data(), expected.data(), bytes), 0);
        EXPECT_EQ(output[count(c.output_dims())], 7) << "it writes behind its output";
      }
    }
  }

  Pool pool_;
};

TEST_F(AttentionTest, HasTheBitsOfNodes) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_bits_of_nodes(random_case(seed));
  }
}

Case of_sizes(size_t heads, size_t rows, size_t columns, size_t depth) {
  std::mt19937 random(5);
  Case c;
  c.heads = heads;
  c.rows = rows;
  c.columns = columns;
  c.depth = c.width = depth;
  c.block_bytes = 65536;
  c.queries = random_floats(count(c.query_dims()), 1, &random);
  c.keys = random_floats(count(c.key_dims()), 1, &random);
  c.values = random_floats(count(c.value_dims()), 1, &random);
  return c;
}

// With two threads, of three matrices each thread has blocks of rows, of sixteen whole ones.
TEST_F(AttentionTest, HasTheBitsOfNodesWhereThreadsShareIt) {
  for (const size_t heads : {1, 3, 16}) {
    for (const size_t columns : {197, 256, 600}) {
      expect_bits_of_nodes(of_sizes(heads, 197, columns, 64));
    }
  }
}

Step mask_of(const Case& c, Floats mask) {
  Step step;
  step.operand_dims = {c.rows, c.columns};
  step.operand = padded(std::move(mask));
  step.is_constant = false;
  return step;
}

TEST_F(AttentionTest, IsAsExactAsFloatsAre) {
  Case c = of_sizes(3, 40, 70, 32);
  Step scale;
  scale.stage = petrel_attention_queries;
  scale.function = petrel_attention_multiply;
  scale.operand = padded({0.25f});
  c.steps.push_back(scale);
  Floats mask(c.rows * c.columns);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = i % 7 == 3 ? -kInfinity : 0.01f * (i % 5);
  c.steps.push_back(mask_of(c, mask));
  const std::vector<double> expected = by_doubles(c, 0.25, &mask);
  AttentionGraph graph(c, pool_.get());
  graph.define_attention();
  const Floats output = graph.run();
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(output[i], expected[i], 1e-6) << i;
}

TEST_F(AttentionTest, RowsThatSeeNothingAreAsThoseOfNodes) {
  Case c = of_sizes(2, 20, 33, 16);
  Floats mask(c.rows * c.columns, 0);
  std::fill(mask.begin() + 33, mask.begin() + 99, -kInfinity);
  mask[5] = NAN;
  c.steps.push_back(mask_of(c, mask));
  expect_bits_of_nodes(c);
  // As exported programs have it: bounded, and zero where nothing is seen.
  c.steps[0].has_range = true;
  c.steps[0].min = kLowest;
  Floats seen = mask;
  for (float& x : seen) x = x == -kInfinity ? 0.0f : 1.0f;
  c.steps.push_back(mask_of(c, seen));
  c.steps[1].stage = petrel_attention_shares;
  c.steps[1].function = petrel_attention_multiply;
  expect_bits_of_nodes(c);
  AttentionGraph graph(c, nullptr);
  graph.define_attention();
  const Floats output = graph.run();
  EXPECT_TRUE(std::isnan(output[0]));
  for (size_t i = 16; i < 48; ++i) EXPECT_EQ(output[i], 0) << i;
}

TEST_F(AttentionTest, RefusesInputsThatDoNotFit) {
  const Case c = of_sizes(2, 20, 33, 16);
  AttentionGraph graph(c, nullptr);
  graph.define_attention();
  EXPECT_EQ(graph.reshape_keys({1, 2, 32, 16}), xnn_status_invalid_parameter);
  EXPECT_EQ(graph.reshape_keys({1, 3, 33, 16}), xnn_status_invalid_parameter);
  EXPECT_EQ(graph.reshape_keys({1, 2, 33, 17}), xnn_status_invalid_parameter);
  const xnn_status status = graph.reshape_keys({1, 2, 33, 16});
  EXPECT_TRUE(status == xnn_status_success || status == xnn_status_reallocation_required);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
