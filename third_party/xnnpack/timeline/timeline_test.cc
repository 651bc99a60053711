// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/timeline/timeline.h"

#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

struct Value {
  uint32_t first, last;
  size_t size;
  size_t offset = 0;
};

bool live_together(const Value& a, const Value& b) {
  return a.first <= b.last && b.first <= a.last;
}

class Timeline : public testing::Test {
 protected:
  Timeline() { EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  static void place(uint32_t num_nodes, std::vector<Value>* values) {
    const std::unique_ptr<petrel_timeline, decltype(&petrel_delete_timeline)> timeline(
        petrel_make_timeline(num_nodes, PETREL_MAX_PLACING_STEPS), &petrel_delete_timeline);
    ASSERT_NE(timeline, nullptr);
    for (Value& value : *values) {
      ASSERT_TRUE(petrel_place(timeline.get(), value.first, value.last, value.size, &value.offset));
    }
  }
};

// The rule of the header, by comparing with each value before.
size_t expected_offset(const std::vector<Value>& values, size_t index) {
  const Value& value = values[index];
  std::vector<Value> taken;
  for (size_t i = 0; i < index; ++i) {
    if (live_together(values[i], value)) taken.push_back(values[i]);
  }
  std::sort(taken.begin(), taken.end(),
            [](const Value& a, const Value& b) { return a.offset < b.offset; });
  size_t end = 0, best = SIZE_MAX, offset = SIZE_MAX;
  for (const Value& other : taken) {
    if (other.offset > end && other.offset - end >= value.size && other.offset - end < best) {
      best = other.offset - end;
      offset = end;
    }
    end = std::max(end, other.offset + other.size);
  }
  return offset == SIZE_MAX ? end : offset;
}

TEST_F(Timeline, TakesTheSmallestGapThatFits) {
  std::vector<Value> values = {{0, 9, 64}, {0, 3, 100}, {0, 9, 64},  {0, 3, 40},
                               {0, 9, 64}, {5, 6, 30},  {5, 6, 100}, {4, 4, 200}};
  place(10, &values);
  std::vector<size_t> offsets;
  for (const Value& value : values) offsets.push_back(value.offset);
  EXPECT_EQ(offsets, (std::vector<size_t>{0, 64, 164, 228, 268, 228, 64, 332}));
}

TEST_F(Timeline, OneNode) {
  std::vector<Value> values = {{0, 0, 16}, {0, 0, 8}};
  place(1, &values);
  EXPECT_EQ(values[1].offset, 16u);
}

TEST_F(Timeline, PlacesAsComparingAllPairsDoes) {
  std::mt19937 random(1);
  for (const uint32_t num_nodes : {1u, 2u, 3u, 7u, 8u, 9u, 64u, 100u}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<Value> values;
      for (int i = 0; i < 150; ++i) {
        const uint32_t first = random() % num_nodes;
        const uint32_t life = random() % (random() % 4 == 0 ? num_nodes : 4);
        values.push_back({first, std::min(num_nodes - 1, first + life), 1 + random() % 40});
      }
      place(num_nodes, &values);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i].offset, expected_offset(values, i))
            << "value " << i << " of nodes " << values[i].first << " to " << values[i].last
            << " of " << num_nodes;
      }
    }
  }
}

// Places `num_values` that live for one node in ten thousand, or to the end.
bool place_many(int num_values, bool live_on, uint64_t max_steps) {
  const std::unique_ptr<petrel_timeline, decltype(&petrel_delete_timeline)> timeline(
      petrel_make_timeline(10'000, max_steps), &petrel_delete_timeline);
  for (int i = 0; i < num_values; ++i) {
    const uint32_t node = static_cast<uint32_t>(i) % 10'000;
    size_t offset = 0;
    if (!petrel_place(timeline.get(), node, live_on ? 9'999 : node, 64, &offset)) return false;
  }
  return true;
}

TEST_F(Timeline, TakesFewStepsForWhatNetworksHave) {
  EXPECT_TRUE(place_many(20'000, false, 3'000'000));
  EXPECT_TRUE(place_many(20'000, true, 3'000'000));
}

TEST_F(Timeline, EndsAfterTooManySteps) {
  const uint32_t num_nodes = 4'000;
  const std::unique_ptr<petrel_timeline, decltype(&petrel_delete_timeline)> timeline(
      petrel_make_timeline(num_nodes, 1'000'000), &petrel_delete_timeline);
  std::mt19937 random(1);
  int placed = 0;
  size_t offset = 0;
  while (placed < 100'000) {
    const uint32_t first = random() % num_nodes;
    const uint32_t last = first + random() % (num_nodes - first);
    if (!petrel_place(timeline.get(), first, last, 1'000'000 - placed, &offset)) break;
    ++placed;
  }
  EXPECT_GT(placed, 100);
  EXPECT_LT(placed, 5'000);
  EXPECT_FALSE(petrel_place(timeline.get(), 0, num_nodes - 1, 1, &offset));
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
