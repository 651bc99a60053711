// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_expression.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using Values = std::map<std::string, int64_t>;

const SizeExpression& s0() {
  static const auto* const kSymbol = new SizeExpression("s0", {1, 64});
  return *kSymbol;
}
const SizeExpression& s1() {
  static const auto* const kSymbol = new SizeExpression("s1", {2, 9});
  return *kSymbol;
}

SizeExpression operator+(const SizeExpression& a, const SizeExpression& b) { return *add(a, b); }
SizeExpression operator-(const SizeExpression& a, const SizeExpression& b) {
  return *subtract(a, b);
}
SizeExpression operator*(const SizeExpression& a, const SizeExpression& b) {
  return *multiply(a, b);
}
SizeExpression operator/(const SizeExpression& a, const SizeExpression& b) { return *divide(a, b); }
SizeExpression operator%(const SizeExpression& a, const SizeExpression& b) { return *modulo(a, b); }
SizeExpression max(const SizeExpression& a, const SizeExpression& b) { return *largest({a, b}); }
SizeExpression min(const SizeExpression& a, const SizeExpression& b) { return *smallest({a, b}); }

std::optional<int64_t> value_at(const SizeExpression& x, const Values& values) {
  return x.evaluate([&](const SizeSymbol& symbol) -> std::optional<int64_t> {
    const auto found = values.find(symbol.name);
    return found == values.end() ? std::nullopt : std::optional<int64_t>(found->second);
  });
}

TEST(SizeExpression, ProvesWhatIsEqual) {
  const std::vector<std::pair<SizeExpression, SizeExpression>> equal = {
      {s0() * 2 / 2, s0()},
      {(s0() + s1()) * 2, s1() * 2 + s0() * 2},
      {max(s0(), 1), s0()},
      {min(s0(), 64), s0()},
      {(s0() * 4 + 3) / 4, s0()},
      {(s0() * 4 + 5) / 4, s0() + 1},
      {s0() / 2 / 3, s0() / 6},
      {(s0() / 2 + 1) / 3, (s0() + 2) / 6},
      {(s0() * 6 + 4) / 4, s0() + (s0() + 2) / 2},
      {s0() % 4 + s0() / 4 * 4, s0()},
      {s0() * 6 % 3, 0},
      {(s0() - 1) / 2, (s0() + 1) / 2 - 1},
      {s0() / -2, (s0() * -1) / 2},
      {s0() * s1() / s1(), s0()},
      {(s0() * s1() + s1() * 3) / s1(), s0() + 3},
      {s0() * s1() * 8 / (s1() * 4), s0() * 2},
      {(s0() + 1) * 3 / (s0() + 1), 3},
      {(s0() / 4 + 1) * s1() * 6 / (s0() / 4 * 2 + 2), s1() * 3},
      {(s0() + s1()) * (s0() - s1() * 2 + 9) / (s0() + s1()), s0() - s1() * 2 + 9},
      {(s0() + 1) * (s0() + 1) * (s1() + 5) / (s0() + 1) / (s1() + 5), s0() + 1},
      {(SizeExpression(65) - s0()) * s0() / (SizeExpression(65) - s0()), s0()},
      {s0() / (s0() + 1), 0},
      {max(s0() + 3, s1() + 3), max(s1(), s0()) + 3},
      {max(s0() * 2, s1() * 2), max(s0(), s1()) * 2},
      {max(s0(), max(s1(), 5)), max(max(5, s0()), s1())},
      {max(s0(), s0()), s0()},
      {max(s0() - s1(), 0) + s1(), max(s0(), s1())},
      {min(s0(), s0() + s1()), s0()},
      {s0() - s0(), 0},
      {min(s0(), max(s0(), 6)), s0()},
      {max(s0(), min(s0(), s1())), s0()},
      {(s0() + s1()) * (s0() - s1()), s0() * s0() - s1() * s1()},
      {SizeExpression("one", {7, 7}), 7},
  };
  for (const auto& [a, b] : equal) EXPECT_EQ(a, b) << to_string(a) << " and " << to_string(b);
}

TEST(SizeExpression, DoesNotTakeForEqualWhatDiffers) {
  const std::vector<std::pair<SizeExpression, SizeExpression>> different = {
      {s0() / 2 * 2, s0()},       {max(s0(), 2), s0()},       {s0() % 4, s0()},
      {s0() * s1(), s0() * s0()}, {(s0() * 4 + 4) / 4, s0()}, {s0(), SizeExpression("s0", {1, 65})},
      {s0() / s1() * s1(), s0()},
  };
  for (const auto& [a, b] : different) EXPECT_NE(a, b) << to_string(a) << " and " << to_string(b);
}

// Nothing between the samples is known to a comparison of samples.
TEST(SizeExpression, IsNotEqualToWhatAgreesWithItAtAllSamples) {
  SizeExpression bump(1);  // 0 at every sample, and between them not
  for (size_t k = 0; k < kSamples; ++k) bump = bump * (s0() - s0().sample(k));
  const SizeExpression other = s0() + bump;
  EXPECT_TRUE(SizeExpression::agree(s0(), other));
  EXPECT_NE(s0(), other);
}

TEST(SizeExpression, PrintsAsPythonWritesIt) {
  EXPECT_EQ(to_string(s0() / 2), "s0//2");
  EXPECT_EQ(to_string(s0() / 2 * 4 - 3), "4*(s0//2) - 3");
  EXPECT_EQ(to_string((s0() + 1) / 2), "(s0 + 1)//2");
  EXPECT_EQ(to_string(s1() * s0() * 2 - s0() + 5), "2*s0*s1 - s0 + 5");
  EXPECT_EQ(to_string(max(s0() * -1, s1() - 9)), "-s0 + max(9, s0 + s1) - 9");
  EXPECT_EQ(to_string(min(s0(), 8)), "min(8, s0)");
  EXPECT_EQ(to_string(s0() / s1()), "s0//s1");
  EXPECT_EQ(to_string(SizeExpression(-3)), "-3");
}

TEST(SizeExpression, KnowsItsRange) {
  const auto expect_range = [](const SizeExpression& x, int64_t low, int64_t high) {
    EXPECT_EQ(x.range().low, low) << to_string(x);
    EXPECT_EQ(x.range().high, high) << to_string(x);
  };
  expect_range(s0() * 3 + s1(), 5, 201);
  expect_range(s0() / 4, 0, 16);
  expect_range(s0() % 8, 0, 7);
  expect_range(SizeExpression(8) - s0() % 8, 1, 8);
  expect_range(max(s0(), 10), 10, 64);
  expect_range(s0() / s1(), 0, 32);
  expect_range(s1() - s0(), -62, 8);
  // How many parts of eight there are, the last one filled up: of lengths 1 to 64.
  const SizeExpression parts = (s0() + (SizeExpression(8) - s0() % 8) % 8) / 8;
  expect_range(parts, 1, 8);
  expect_range(s0() - s0() * 7 / 8, 1, 8);
  expect_range((s0() * 2 + 1) / 3 * 2 - s0(), 0, 22);
  EXPECT_EQ(min(parts, 1), SizeExpression(1));
}

TEST(SizeExpression, EndsWhereNumbersOverflowOrItGrowsTooLarge) {
  const SizeExpression large = s0() * (int64_t{1} << 56);
  EXPECT_EQ(multiply(large, large), std::nullopt);
  EXPECT_EQ(multiply(large, SizeExpression(256)), std::nullopt);
  EXPECT_EQ(add(SizeExpression(INT64_MAX), s0()), std::nullopt);
  EXPECT_EQ(divide(s0(), SizeExpression(0)), std::nullopt);
  const SizeExpression bit("bit", {0, 1});
  EXPECT_EQ(to_string(bit * INT64_MIN / (SizeExpression(2) - bit)),
            "(-9223372036854775808*bit)//(-bit + 2)");
  SizeExpression sum = s0();
  MaybeSize power = s0() + s1();
  size_t steps = 0;
  while (power && steps < 1000) {
    power = multiply(*power, s0() + s1() + 1);
    ++steps;
  }
  EXPECT_LT(steps, 100u);
  MaybeSize deep = s0();
  for (steps = 0; deep && steps < 1000; ++steps) {
    deep = multiply(*deep, SizeExpression(3));
    if (deep) deep = divide(*deep, SizeExpression(2));
  }
  EXPECT_LT(steps, 100u);
}

TEST(SizeExpression, SubstitutesASymbol) {
  const SizeSymbol& symbol = *s0().terms()[0].factors[0]->symbol;
  const SizeExpression x = max(s0() / 4, s1()) + s0() * s1();
  EXPECT_EQ(x.substitute(symbol, 8), max(2, s1()) + s1() * 8);
  EXPECT_EQ(x.substitute(symbol, s1() * 4), s1() + s1() * s1() * 4);
}

// A number and the expression that computes it.
struct Pair {
  MaybeSize expression;
  std::vector<std::optional<int64_t>> values;
};

// Random expressions: their values are those of the operations on numbers, they
// lie in their range, and those that are equal have equal values everywhere.
TEST(SizeExpression, OfRandomOperationsHasTheirValues) {
  std::mt19937 random(7);
  const auto pick = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  std::vector<Values> points;
  for (int i = 0; i < 60; ++i) points.push_back({{"s0", pick(1, 64)}, {"s1", pick(2, 9)}});
  size_t equal = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Pair> made;
    const auto add_leaf = [&](const SizeExpression& leaf) {
      Pair pair{leaf, {}};
      for (const Values& at : points) pair.values.push_back(value_at(leaf, at));
      made.push_back(std::move(pair));
    };
    add_leaf(s0());
    add_leaf(s1());
    add_leaf(pick(-4, 9));
    add_leaf(pick(1, 4));
    for (int step = 0; step < 9; ++step) {
      const Pair a = made[static_cast<size_t>(pick(0, static_cast<int64_t>(made.size()) - 1))];
      const Pair b = made[static_cast<size_t>(pick(0, static_cast<int64_t>(made.size()) - 1))];
      const int64_t which = pick(0, 6);
      if (which >= 5 && !b.expression->range().never_zero()) continue;
      const SizeExpression& x = *a.expression;
      const SizeExpression& y = *b.expression;
      Pair pair;
      pair.expression = which == 0   ? add(x, y)
                        : which == 1 ? subtract(x, y)
                        : which == 2 ? multiply(x, y)
                        : which == 3 ? largest({x, y})
                        : which == 4 ? smallest({x, y})
                        : which == 5 ? divide(x, y)
                                     : modulo(x, y);
      if (!pair.expression) continue;
      for (size_t i = 0; i < points.size(); ++i) {
        const int64_t u = *a.values[i];
        const int64_t v = *b.values[i];
        const int64_t wanted = which == 0   ? u + v
                               : which == 1 ? u - v
                               : which == 2 ? u * v
                               : which == 3 ? std::max(u, v)
                               : which == 4 ? std::min(u, v)
                               : which == 5 ? floor_divide(u, v)
                                            : u - v * floor_divide(u, v);
        if (std::abs(wanted) > int64_t{1} << 30) {
          pair.expression = std::nullopt;
          break;
        }
        ASSERT_EQ(value_at(*pair.expression, points[i]), wanted)
            << to_string(*pair.expression) << " of " << to_string(x) << " and " << to_string(y);
        ASSERT_TRUE(pair.expression->range().holds(wanted)) << to_string(*pair.expression);
        pair.values.emplace_back(wanted);
      }
      if (pair.expression) made.push_back(std::move(pair));
    }
    for (const Pair& a : made) {
      for (const Pair& b : made) {
        if (&a == &b || *a.expression != *b.expression) continue;
        ++equal;
        ASSERT_EQ(a.values, b.values) << to_string(*a.expression);
        ASSERT_TRUE(SizeExpression::agree(*a.expression, *b.expression));
      }
    }
  }
  EXPECT_GT(equal, 500u);
}

TEST(SizeRange, HoldsEveryResult) {
  for (int64_t a = -5; a <= 5; ++a) {
    for (int64_t b = a; b <= 5; ++b) {
      for (int64_t c = -5; c <= 5; ++c) {
        for (int64_t d = c; d <= 5; ++d) {
          const SizeRange x{a, b};
          const SizeRange y{c, d};
          for (int64_t u = a; u <= b; ++u) {
            for (int64_t v = c; v <= d; ++v) {
              ASSERT_TRUE((x + y).holds(u + v) && (x - y).holds(u - v) && (x * y).holds(u * v));
              if (v == 0) continue;
              ASSERT_TRUE(floor_divide(x, y).holds(floor_divide(u, v)));
            }
          }
        }
      }
    }
  }
}

TEST(SizeRange, StaysOpenWhereItIs) {
  const SizeRange sizes{0, SizeRange::kOpen};
  EXPECT_FALSE((sizes * SizeRange{2, 2}).has_high());
  EXPECT_EQ((sizes * SizeRange{2, 2}).low, 0);
  EXPECT_EQ((sizes * SizeRange{0, 0}).high, 0);
  EXPECT_FALSE((sizes - SizeRange{5, SizeRange::kOpen}).has_low());
  EXPECT_FALSE((sizes + SizeRange{-SizeRange::kOpen, 3}).has_low());
  EXPECT_FALSE(floor_divide(sizes, {2, 2}).has_high());
  EXPECT_EQ(floor_divide({7, 9}, sizes).high, SizeRange::kOpen);
  EXPECT_EQ(floor_divide({7, 9}, {1, SizeRange::kOpen}).low, 0);
}

TEST(SizeSymbol, ChoosesSamplesByItsNameAndRange) {
  for (const char* name : {"s0", "s1", "s77", "batch"}) {
    for (const SizeRange range : {SizeRange{0, 1}, {1, 16}, {3, 4}, {2, 2048}, {5, 5}}) {
      const SizeSymbol symbol(name, range);
      EXPECT_EQ(symbol.samples[0], range.high);
      EXPECT_EQ(symbol.samples[1], std::max<int64_t>(range.low, 1));
      for (const int64_t sample : symbol.samples) EXPECT_TRUE(range.holds(sample)) << sample;
    }
  }
  EXPECT_NE(SizeSymbol("s0", {1, 16}).samples, SizeSymbol("s1", {1, 16}).samples);
  EXPECT_EQ(to_string(SizeSymbol("s0", {1, 16})), "s0: 1..16");
}

}  // namespace
}  // namespace petrel::exir
