// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/search.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "exir/plan/model/bound.h"
#include "exir/plan/search/random.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

RefutedStates with_one_hash() {
  return RefutedStates([](const std::string&) { return size_t{7}; });
}

TEST(RefutedStatesTest, StatesOfOneHashAreToldApart) {
  RefutedStates refuted = with_one_hash();
  refuted.add("abc");
  EXPECT_TRUE(refuted.contains("abc"));
  EXPECT_FALSE(refuted.contains("abd"));
  refuted.clear();
  EXPECT_FALSE(refuted.contains("abc"));
}

TEST(RefutedStatesTest, TakesWhatItHasMemoryFor) {
  RefutedStates refuted(std::hash<std::string>(), 1000);
  for (int i = 0; i < 1000; ++i) refuted.add(std::to_string(i));
  EXPECT_TRUE(refuted.contains("0"));
  EXPECT_GT(refuted.size(), 5u);
  EXPECT_LT(refuted.size(), 100u);
  refuted.clear();
  refuted.add("999");
  EXPECT_TRUE(refuted.contains("999"));
}

// Thirty buffers in a row of times, of which some fit under the bound only in an
// order that takes a few wrong steps to find.
Problem crowded(uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.pools.resize(1);
  for (int i = 0; i < 30; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 3 + 2 * random.below(4);
    buffer.lifetime.begin = random.below(20);
    buffer.lifetime.end = buffer.lifetime.begin + 2 + random.below(4);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

struct Answer {
  Search::Outcome outcome;
  int64_t steps = 0;
};

Answer solve(const Problem& problem, RefutedStates refuted) {
  const ConflictGraph graph(problem);
  Search search(problem, graph, std::move(refuted));
  Search::Guide guide;
  guide.priority.assign(problem.buffers.size(), 0);
  Effort effort(1'000'000, 0);
  Answer answer;
  answer.outcome =
      search.run(BoundFinder(problem, graph).bound({}), guide, /*node_limit=*/5000, &effort);
  answer.steps = effort.nodes();
  return answer;
}

TEST(SearchTest, RefutesNothingBecauseOfAHash) {
  int found = 0;
  int remembered = 0;  // answers that memory has helped to
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Problem problem = crowded(seed);
    const Answer answer = solve(problem, RefutedStates());
    const Answer collided = solve(problem, with_one_hash());
    EXPECT_EQ(collided.outcome, answer.outcome) << seed;
    EXPECT_EQ(collided.steps, answer.steps) << seed;
    const Answer forgetful = solve(problem, RefutedStates(std::hash<std::string>(), 0));
    if (answer.outcome != Search::Outcome::kFound) continue;
    ++found;
    remembered += forgetful.steps > answer.steps ? 1 : 0;
  }
  EXPECT_GT(found, 80);
  EXPECT_GT(remembered, 0);
}

}  // namespace
}  // namespace petrel::exir::plan
