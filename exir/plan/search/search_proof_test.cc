// SPDX-License-Identifier: Apache-2.0
//
// What the search calls refuted has no plan. Problems whose answers are known,
// tiny ones from an exhaustive search of another kind, are searched again and
// again in different orders by one Search, which must not carry anything from
// one run or stretch of rows to another that does not hold there.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/model/bound.h"
#include "exir/plan/search/random.h"
#include "exir/plan/search/search.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

// Every plan can be lowered until each buffer stands at zero or, but for its
// alignment, on the end of another: all such plans, buffers by their offsets.
class Exhaustive {
 public:
  explicit Exhaustive(const Problem& problem)
      : buffers_(problem.buffers), offset_(buffers_.size(), -1) {}

  bool fits(int64_t capacity) {
    capacity_ = capacity;
    return place_from(0, 0);
  }

 private:
  bool place_from(size_t count, int64_t lowest) {
    if (count == buffers_.size()) return true;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (offset_[i] >= 0) continue;
      const Buffer& b = buffers_[i];
      int64_t at = 0;
      for (size_t j = 0; j < buffers_.size(); ++j) {
        if (offset_[j] >= 0 && meet(b, buffers_[j]))
          at = std::max(at, offset_[j] + buffers_[j].size);
      }
      at = (at + b.alignment - 1) / b.alignment * b.alignment;
      if (at < lowest) continue;
      // Bounds only grow, so what does not fit now never will.
      if (at + b.size > capacity_) return false;
      offset_[i] = at;
      const bool found = place_from(count + 1, at);
      offset_[i] = -1;
      if (found) return true;
    }
    return false;
  }

  static bool meet(const Buffer& a, const Buffer& b) {
    return a.lifetime.begin < b.lifetime.end && b.lifetime.begin < a.lifetime.end;
  }

  std::vector<Buffer> buffers_;
  std::vector<int64_t> offset_;
  int64_t capacity_ = 0;
};

// A rectangle cut into a few buffers, some of which then change, so that what is
// left to place has little room and placing some of it splits the rest.
Problem tiny(Random* random) {
  CutOptions cut;
  cut.num_buffers = static_cast<int>(6 + random->below(4));
  cut.capacity = 5 + random->below(12);
  cut.horizon = 5 + random->below(10);
  Problem problem = cut_rectangle(cut, random->next());
  problem.pools[0].capacity.reset();
  const bool aligned = random->chance(25);
  for (Buffer& buffer : problem.buffers) {
    if (random->chance(40)) buffer.lifetime.end += 1;
    if (random->chance(25)) buffer.lifetime.begin -= 1;
    if (random->chance(15)) buffer.size += 1;
    if (random->chance(15) && buffer.size > 1) buffer.size -= 1;
    if (aligned && random->chance(40)) buffer.alignment = 1 + random->below(3);
  }
  return problem;
}

Search::Guide any_guide(size_t num_buffers, Random* random) {
  Search::Guide guide;
  for (size_t i = 0; i < num_buffers; ++i) {
    guide.priority.push_back(static_cast<double>(random->below(100)));
  }
  guide.focus = random->chance(50) ? 0 : 0.5;
  guide.settle_pairs = random->chance(50);
  if (random->chance(30)) guide.max_visits = random->below(50);
  return guide;
}

// Six runs, of which all but the last may give up and leave what they remember.
std::vector<Search::Outcome> answers(const Problem& problem, int64_t capacity, Random* random,
                                     Search* search) {
  constexpr int64_t kPlenty = 300'000;
  std::vector<Search::Outcome> outcomes;
  for (int run = 0; run < 6; ++run) {
    const int64_t limit = run == 5 ? kPlenty : 1 + random->below(100);
    Effort effort(kPlenty, 0);
    const Search::Guide guide = any_guide(problem.buffers.size(), random);
    outcomes.push_back(search->run(capacity, guide, limit, &effort));
  }
  return outcomes;
}

TEST(SearchProofTest, WhatFitsIsFoundAndWhatIsRefutedDoesNotFit) {
  int refuted = 0;
  for (uint64_t seed = 0; seed < 8000; ++seed) {
    Random random(seed);
    const Problem problem = tiny(&random);
    const ConflictGraph graph(problem);
    Search search(problem, graph);
    Exhaustive exhaustive(problem);
    bool fits = false;
    for (int64_t capacity = BoundFinder(problem, graph).bound({}); !fits; ++capacity) {
      fits = exhaustive.fits(capacity);
      refuted += fits ? 0 : 1;
      const Search::Outcome right = fits ? Search::Outcome::kFound : Search::Outcome::kRefuted;
      const std::vector<Search::Outcome> outcomes = answers(problem, capacity, &random, &search);
      for (const Search::Outcome outcome : outcomes) {
        if (outcome == Search::Outcome::kGaveUp) continue;
        ASSERT_EQ(outcome, right) << "problem " << seed << ", capacity " << capacity;
      }
      ASSERT_EQ(outcomes.back(), right) << "problem " << seed << ", capacity " << capacity;
    }
  }
  EXPECT_GT(refuted, 80);
}

// Larger ones, where more is remembered; that they fit is known from how they are
// made.
TEST(SearchProofTest, ACutRectangleIsNeverRefuted) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    CutOptions cut;
    cut.num_buffers = static_cast<int>(8 + random.below(25));
    cut.capacity = 8 + random.below(24);
    cut.horizon = 6 + random.below(20);
    Problem problem = cut_rectangle(cut, seed);
    const int shrunk = static_cast<int>(random.below(30));
    for (Buffer& buffer : problem.buffers) {
      if (buffer.size > 1 && random.chance(shrunk)) buffer.size -= 1;
    }
    const ConflictGraph graph(problem);
    Search search(problem, graph);
    for (const Search::Outcome outcome : answers(problem, cut.capacity, &random, &search)) {
      ASSERT_NE(outcome, Search::Outcome::kRefuted) << "problem " << seed;
    }
  }
}

}  // namespace
}  // namespace petrel::exir::plan
