// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/contraction.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/search/planner.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

Buffer make(int64_t begin, int64_t end, int64_t size) {
  Buffer buffer;
  buffer.lifetime = {begin, end};
  buffer.size = size;
  return buffer;
}

Problem one_pool(std::vector<Buffer> buffers) {
  Problem problem;
  problem.buffers = std::move(buffers);
  problem.pools.resize(1);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    problem.buffers[i].id = std::to_string(i);
  }
  return problem;
}

std::optional<Contraction> contracted(const Problem& problem, int64_t capacity) {
  std::optional<Contraction> items = Contraction::of(problem, ConflictGraph(problem), capacity);
  if (items.has_value()) items->contract();
  return items;
}

// Bytes and time that two buffers both take.
bool collide(const Problem& problem, const std::vector<int64_t>& offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Buffer& a = problem.buffers[i];
      const Buffer& b = problem.buffers[j];
      if (a.lifetime.begin < b.lifetime.end && b.lifetime.begin < a.lifetime.end &&
          offsets[i] < offsets[j] + b.size && offsets[j] < offsets[i] + a.size) {
        return true;
      }
    }
  }
  return false;
}

TEST(ContractionTest, PutsAPinwheelTogether) {
  const Problem problem =
      one_pool({make(0, 3, 7), make(3, 9, 2), make(3, 6, 5), make(0, 6, 3), make(6, 9, 8)});
  const std::optional<Contraction> items = contracted(problem, 10);
  ASSERT_TRUE(items.has_value());
  EXPECT_EQ(items->num_items(), 1u);
  EXPECT_FALSE(collide(problem, items->expanded({0})));
}

TEST(ContractionTest, LeavesTwinsApartThatMayHaveToBe) {
  // At 4, what dies and what is born are two pairs of equal sizes, which can
  // lie apart; nothing says who is below whom.
  const Problem problem =
      one_pool({make(0, 4, 3), make(0, 4, 5), make(4, 8, 3), make(4, 8, 5), make(0, 8, 2)});
  const std::optional<Contraction> items = contracted(problem, 10);
  ASSERT_TRUE(items.has_value());
  EXPECT_EQ(items->num_items(), 5u);
}

TEST(ContractionTest, ReassemblesWhatWasCutAtInstantsOfItsOwn) {
  int whole = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    CutOptions cut;
    cut.num_buffers = 60;
    const Problem problem = cut_rectangle(cut, seed);
    const std::optional<Contraction> items = contracted(problem, cut.capacity);
    ASSERT_TRUE(items.has_value());
    if (items->num_items() > 1) continue;
    ++whole;
    const std::vector<int64_t> offsets = items->expanded({0});
    EXPECT_FALSE(collide(problem, offsets)) << seed;
    for (size_t i = 0; i < offsets.size(); ++i) {
      EXPECT_GE(offsets[i], 0);
      EXPECT_LE(offsets[i] + problem.buffers[i].size, cut.capacity);
    }
  }
  EXPECT_GT(whole, 25);
}

// Rules must not lose the only plans there are: at coarse instants many sizes
// are equal by chance.
TEST(ContractionTest, ItemsHaveAPlanWhenBuffersHaveOne) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CutOptions cut;
    cut.num_buffers = 24;
    cut.capacity = cut.horizon = 12;
    const Problem problem = cut_rectangle(cut, seed);
    const std::optional<Contraction> items = contracted(problem, cut.capacity);
    if (!items.has_value()) continue;
    Problem reduced = items->reduced();
    for (size_t i = 0; i < reduced.buffers.size(); ++i) {
      reduced.buffers[i].id = std::to_string(i);
    }
    reduced.pools[0] = Pool();
    reduced.pools[0].name = "arena";
    const absl::StatusOr<Solution> solution = plan(reduced);
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_EQ(solution->peak, cut.capacity) << seed;
    std::vector<int64_t> offsets;
    for (const Placement& place : solution->placements) {
      offsets.push_back(place.offset);
    }
    EXPECT_FALSE(collide(problem, items->expanded(offsets))) << seed;
  }
}

TEST(ContractionTest, IsNotForWhatHasAPlaceOfItsOwn) {
  Problem problem = one_pool({make(0, 4, 8), make(4, 8, 8)});
  EXPECT_EQ(contracted(problem, 8)->num_items(), 1u);
  EXPECT_FALSE(contracted(problem, 9).has_value());
  problem.buffers[1].offset = 0;
  EXPECT_FALSE(contracted(problem, 8).has_value());
  problem.buffers[1].offset.reset();
  problem.buffers[1].alignment = 16;
  EXPECT_FALSE(contracted(problem, 8).has_value());
  problem.buffers[1].alignment = 1;
  problem.non_conflicts = {{0, 1}};
  EXPECT_FALSE(contracted(problem, 8).has_value());
}

}  // namespace
}  // namespace petrel::exir::plan
