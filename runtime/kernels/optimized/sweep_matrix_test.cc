// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and attention.
#include "runtime/kernels/optimized/sweep.h"

#include <cmath>
#include <limits>

namespace petrel::runtime {
namespace {

TEST_P(Sweep, MatrixProducts) {
  for (const int32_t m : {1, 2, 5, 6, 12, 13, 29, 200}) {
    for (const int32_t n : {1, 7, 16, 33, 100, 129}) {
      for (const int32_t k : {0, 1, 5, 64, 257, 600}) {
        const double tolerance = 1e-6 * (4 + k / 16);
        Array *a = floats({m, k}), *b = floats({k, n}), *w = floats({n, k}), *row = floats({n});
        compare("aten::mm.out", {value(a), value(b)}, {{kFloat, {m, n}}}, tolerance);
        compare("aten::addmm.out",
                {value(row), value(a), value(b), EValue(int64_t{1}), EValue(int64_t{1})},
                {{kFloat, {m, n}}}, tolerance);
        compare("aten::linear.out", {value(a), value(w), value(row)}, {{kFloat, {m, n}}},
                tolerance);
        if (k > 64) continue;
        Array *matrix = floats({m, n}), *column = floats({m, 1});
        for (Array *bias : {matrix, column}) {
          compare("aten::addmm.out",
                  {value(bias), value(a), value(b), EValue(int64_t{1}), EValue(int64_t{1})},
                  {{kFloat, {m, n}}}, tolerance);
        }
        Array *a3 = floats({3, m, k}), *b3 = floats({3, k, n});
        compare("aten::bmm.out", {value(a3), value(b3)}, {{kFloat, {3, m, n}}}, tolerance);
      }
    }
  }
}

TEST_P(Sweep, NarrowMatrixProducts) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    const double tolerance = type == ScalarType::Half ? 2e-3 : 1.6e-2;
    for (const int32_t m : {1, 5, 100}) {
      for (const int32_t n : {1, 33, 129}) {
        for (const int32_t k : {0, 1, 64, 300}) {
          Array *a = random(type, {m, k}, -1, 1), *b = random(type, {k, n}, -1, 1);
          Array *row = random(type, {n}, -1, 1);
          compare("aten::mm.out", {value(a), value(b)}, {{type, {m, n}}}, tolerance);
          compare("aten::addmm.out",
                  {value(row), value(a), value(b), EValue(int64_t{1}), EValue(int64_t{1})},
                  {{type, {m, n}}}, tolerance);
          Array *a3 = random(type, {2, m, k}, -1, 1), *b3 = random(type, {2, k, n}, -1, 1);
          compare("aten::bmm.out", {value(a3), value(b3)}, {{type, {2, m, n}}}, tolerance);
        }
      }
    }
  }
}

struct AttentionSizes {
  int32_t batch, heads, groups, rows, columns, depth, width;
};

TEST_P(Sweep, Attention) {
  const AttentionSizes all[] = {{1, 1, 1, 1, 1, 1, 1},       {2, 3, 3, 5, 7, 4, 6},
                                {1, 4, 2, 1, 300, 16, 16},   {1, 2, 1, 9, 129, 17, 33},
                                {1, 1, 1, 197, 197, 64, 32}, {2, 2, 2, 100, 128, 16, 20},
                                {1, 2, 2, 8, 256, 65, 33},   {1, 2, 1, 3, 1000, 16, 64}};
  for (const AttentionSizes &s : all) {
    Array *q = floats({s.batch, s.heads, s.rows, s.depth});
    Array *k = floats({s.batch, s.groups, s.columns, s.depth});
    Array *v = floats({s.batch, s.groups, s.columns, s.width});
    const auto check = [&](EValue mask, bool causal, double tolerance = 1e-5) {
      compare("petrel::attention.out",
              {value(q), value(k), value(v), mask, EValue(causal), EValue(0.3)},
              {{kFloat, {s.batch, s.heads, s.rows, s.width}}}, tolerance);
    };
    check(EValue(), false);
    check(EValue(), true);
    check(value(random(kBool, {s.rows, s.columns}, -1, 1)), false);
    check(value(random(kBool, {s.batch, 1, 1, s.columns}, -1, 1)), true);
    check(value(random(kBool, {s.heads, s.rows, 1}, -1, 1)), false);
    check(value(floats({s.batch, s.heads, s.rows, s.columns})), false);
    check(value(floats({s.rows, 1})), false);
    // The part of a cache that is filled, as bools and as numbers.
    Array *seen = make(kBool, {1, s.columns}), *low = make(kFloat, {1, s.columns});
    for (int32_t i = 0; i < s.columns; ++i) {
      const bool is_seen = i <= s.columns / 3;
      seen->set(static_cast<size_t>(i), is_seen);
      low->set(static_cast<size_t>(i), is_seen ? 0.0 : -std::numeric_limits<double>::infinity());
    }
    check(value(seen), false);
    check(value(low), false);
  }
}

// Rows of heads lie side by side, and caches are longer than what is seen of them.
TEST_P(Sweep, AttentionOverCaches) {
  const AttentionSizes all[] = {{1, 1, 1, 1, 9, 8, 8},     {2, 4, 2, 5, 40, 17, 17},
                                {1, 4, 1, 1, 300, 64, 64}, {1, 2, 2, 33, 200, 16, 16},
                                {1, 2, 1, 9, 160, 33, 33}, {1, 2, 1, 3, 70, 257, 257}};
  for (const AttentionSizes &s : all) {
    const int32_t filled = s.columns - s.rows;
    const Sizes rows = {s.batch, s.rows, s.heads, s.depth};
    const Sizes cache = {s.batch, s.columns, s.groups, s.depth};
    Array *q = floats(rows), *k = floats(cache), *v = floats(cache);
    const auto check = [&](int64_t start, EValue mask, bool causal) {
      compare("llama::custom_sdpa.out",
              {value(q), value(k), value(v), EValue(start), mask, EValue(0.0), EValue(causal),
               EValue()},
              {{kFloat, rows}}, 1e-5);
    };
    check(0, EValue(), true);
    check(filled / 2, EValue(), true);
    check(filled, EValue(), false);
    check(3, value(floats({s.rows, s.columns})), false);
    for (const bool heads_first : {false, true}) {
      Sizes of_query = rows, of_cache = cache;
      if (heads_first) std::swap(of_query[1], of_query[2]), std::swap(of_cache[1], of_cache[2]);
      std::vector<EValue> arguments, numbers;
      for (const Sizes &sizes : {of_query, of_cache, of_cache}) {
        Sizes one = sizes;
        one[3] = 1;
        arguments.push_back(value(random(ScalarType::Char, sizes, -128, 127)));
        numbers.push_back(value(random(ScalarType::Char, one, -20, 20)));
        numbers.push_back(value(floats(one, 0.005, 0.02)));
      }
      for (const EValue &argument :
           {EValue(int64_t{filled / 2}), EValue(), EValue(0.0), EValue(true), EValue()}) {
        arguments.push_back(argument);
      }
      arguments.insert(arguments.end(), numbers.begin(), numbers.end());
      arguments.push_back(EValue(heads_first));
      compare("llama::custom_quantized_sdpa.out", arguments, {{kFloat, of_query}}, 2e-5);
    }
  }
}

// Scores that are NaN or infinite, in a row of their own.
TEST_P(Sweep, AttentionKeepsWhatIsNotFinite) {
  for (const int32_t rows : {3, 20}) {
    Array *q = floats({1, 1, rows, 8}), *k = floats({1, 1, 150, 8}), *v = floats({1, 1, 150, 8});
    q->set(3, std::nan(""));
    q->set(8 + 2, std::numeric_limits<double>::infinity());
    compare("petrel::attention.out",
            {value(q), value(k), value(v), EValue(), EValue(false), EValue(0.5)},
            {{kFloat, {1, 1, rows, 8}}}, 1e-5);
    v->set(5, std::nan(""));
    compare("petrel::attention.out",
            {value(q), value(k), value(v), EValue(), EValue(false), EValue(0.5)},
            {{kFloat, {1, 1, rows, 8}}}, 1e-5);
  }
}

PETREL_SWEEP_ALL();

}  // namespace
}  // namespace petrel::runtime
