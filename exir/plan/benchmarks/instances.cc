// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/benchmarks/instances.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/plan/search/random.h"

namespace petrel::exir::plan {
namespace {

struct Rectangle {
  Interval time;
  Interval address;
};

// A random point strictly inside, a multiple of `grain` from the begin; `end`
// when there is none.
int64_t cut_inside(const Interval& interval, int64_t grain, Random* random) {
  const int64_t steps = (interval.end - interval.begin) / grain;
  if (steps < 2) return interval.end;
  return interval.begin + grain * (1 + random->below(steps - 1));
}

bool pinwheel(const Rectangle& r, const CutOptions& options, Random* random,
              std::vector<Rectangle>* pieces) {
  int64_t t1 = cut_inside(r.time, options.time_grain, random);
  int64_t t2 = cut_inside(r.time, options.time_grain, random);
  int64_t a1 = cut_inside(r.address, options.size_grain, random);
  int64_t a2 = cut_inside(r.address, options.size_grain, random);
  if (t1 > t2) std::swap(t1, t2);
  if (a1 > a2) std::swap(a1, a2);
  if (t1 == t2 || a1 == a2 || t2 == r.time.end || a2 == r.address.end) {
    return false;
  }
  pieces->push_back({{r.time.begin, t1}, {r.address.begin, a2}});
  pieces->push_back({{t1, r.time.end}, {r.address.begin, a1}});
  pieces->push_back({{t2, r.time.end}, {a1, r.address.end}});
  pieces->push_back({{r.time.begin, t2}, {a2, r.address.end}});
  pieces->push_back({{t1, t2}, {a1, a2}});
  return true;
}

bool guillotine(const Rectangle& r, const CutOptions& options, Random* random,
                std::vector<Rectangle>* pieces) {
  bool in_time = random->chance(50);
  for (int attempt = 0; attempt < 2; ++attempt, in_time = !in_time) {
    if (in_time) {
      const int64_t t = cut_inside(r.time, options.time_grain, random);
      if (t == r.time.end) continue;
      pieces->push_back({{r.time.begin, t}, r.address});
      pieces->push_back({{t, r.time.end}, r.address});
    } else {
      const int64_t a = cut_inside(r.address, options.size_grain, random);
      if (a == r.address.end) continue;
      pieces->push_back({r.time, {r.address.begin, a}});
      pieces->push_back({r.time, {a, r.address.end}});
    }
    return true;
  }
  return false;
}

void shuffle_buffers(Random* random, std::vector<Buffer>* buffers) {
  for (size_t i = buffers->size(); i > 1; --i) {
    const auto j = static_cast<size_t>(random->below(static_cast<int64_t>(i)));
    std::swap((*buffers)[i - 1], (*buffers)[j]);
  }
}

}  // namespace

Problem cut_rectangle(const CutOptions& options, uint64_t seed) {
  Random random(seed);
  std::vector<Rectangle> pieces = {{{0, options.horizon}, {0, options.capacity}}};
  // Large pieces are cut more often, as allocators see many sizes at once.
  int failures = 0;
  while (static_cast<int>(pieces.size()) < options.num_buffers && failures < 1000) {
    size_t pick = 0;
    double largest = -1;
    for (int tries = 0; tries < 3; ++tries) {
      const auto i = static_cast<size_t>(random.below(static_cast<int64_t>(pieces.size())));
      const double area = static_cast<double>(pieces[i].time.end - pieces[i].time.begin) *
                          static_cast<double>(pieces[i].address.end - pieces[i].address.begin);
      if (area > largest) {
        largest = area;
        pick = i;
      }
    }
    const Rectangle r = pieces[pick];
    std::vector<Rectangle> made;
    const bool done =
        (random.chance(options.pinwheel_percent) && pinwheel(r, options, &random, &made)) ||
        guillotine(r, options, &random, &made);
    if (!done) {
      ++failures;
      continue;
    }
    pieces[pick] = made.back();
    made.pop_back();
    pieces.insert(pieces.end(), made.begin(), made.end());
  }

  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  for (const Rectangle& r : pieces) {
    Buffer buffer;
    buffer.size = r.address.end - r.address.begin;
    buffer.lifetime = r.time;
    problem.buffers.push_back(buffer);
  }
  shuffle_buffers(&random, &problem.buffers);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    problem.buffers[i].id = absl::StrCat(i);
  }
  return problem;
}

Problem random_problem(int num_buffers, int num_pools, uint64_t seed) {
  Random random(seed);
  Problem problem;
  for (int p = 0; p < num_pools; ++p) {
    Pool pool;
    pool.name = absl::StrCat("pool", p);
    // The last one mostly takes what the others cannot.
    if (random.chance(p + 1 == num_pools ? 25 : 75)) {
      pool.capacity = 64 * (4 + random.below(40));
    }
    if (random.chance(25)) pool.preferred_capacity = 64 * random.below(30);
    pool.cost_per_access = random.below(4);
    problem.pools.push_back(pool);
  }
  const int64_t horizon = 4 + random.below(3 * num_buffers);
  for (int i = 0; i < num_buffers; ++i) {
    Buffer buffer;
    buffer.id = absl::StrCat("b", i);
    buffer.size = random.chance(3) ? 0 : 1 + random.below(200);
    buffer.alignment = int64_t{1} << random.below(6);
    if (random.chance(5)) buffer.alignment = 1 + random.below(24);
    buffer.lifetime.begin = random.below(horizon);
    buffer.lifetime.end = buffer.lifetime.begin + 1 + random.below(1 + horizon / 3);
    if (random.chance(20)) {
      const int64_t length = buffer.lifetime.end - buffer.lifetime.begin;
      Gap gap;
      gap.time.begin = buffer.lifetime.begin + random.below(length);
      gap.time.end = gap.time.begin + 1 + random.below(buffer.lifetime.end - gap.time.begin);
      if (random.chance(50)) {
        gap.low = random.below(buffer.size + 1);
        gap.high = gap.low + random.below(buffer.size - gap.low + 1);
      }
      buffer.gaps.push_back(gap);
    }
    buffer.access_count = random.below(10);
    if (random.chance(3)) {
      buffer.offset = buffer.alignment * random.below(10);
    }
    if (random.chance(60)) {
      std::vector<PoolIdx> pools(problem.pools.size());
      std::iota(pools.begin(), pools.end(), 0);
      for (size_t k = pools.size(); k > 1; --k) {
        std::swap(pools[k - 1], pools[static_cast<size_t>(random.below(static_cast<int64_t>(k)))]);
      }
      pools.resize(static_cast<size_t>(1 + random.below(num_pools)));
      buffer.pools = pools;
    }
    problem.buffers.push_back(buffer);
  }
  if (num_buffers < 2) return problem;
  const int64_t num_relations = random.below(1 + num_buffers / 4);
  for (int64_t k = 0; k < num_relations; ++k) {
    const auto a = static_cast<BufferIdx>(random.below(num_buffers));
    const auto b = static_cast<BufferIdx>((a + 1 + random.below(num_buffers - 1)) % num_buffers);
    switch (random.below(3)) {
      case 0:
        // Pairs with opposite first and second parity never meet in both
        // lists.
        if ((a + b) % 2 == 0) problem.conflicts.push_back({a, b});
        break;
      case 1:
        if ((a + b) % 2 == 1) problem.non_conflicts.push_back({a, b});
        break;
      default:
        problem.overlaps.push_back(
            {a, b, random.below(1 + std::min(problem.buffers[a].size, problem.buffers[b].size))});
    }
  }
  return problem;
}

Problem shuffled(const Problem& problem, uint64_t seed) {
  Random random(seed);
  std::vector<BufferIdx> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    const auto j = static_cast<size_t>(random.below(static_cast<int64_t>(i)));
    std::swap(order[i - 1], order[j]);
  }
  Problem result = problem;
  std::vector<BufferIdx> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    result.buffers[i] = problem.buffers[order[i]];
    place[order[i]] = static_cast<BufferIdx>(i);
  }
  for (Pair& pair : result.conflicts) {
    pair = {place[pair.first], place[pair.second]};
  }
  for (Pair& pair : result.non_conflicts) {
    pair = {place[pair.first], place[pair.second]};
  }
  for (PermittedOverlap& overlap : result.overlaps) {
    overlap = {place[overlap.lower], place[overlap.upper], overlap.bytes};
  }
  return result;
}

Problem scaled(const Problem& problem, int64_t factor) {
  Problem result = problem;
  for (Buffer& buffer : result.buffers) {
    buffer.size *= factor;
    buffer.alignment *= factor;
    if (buffer.offset.has_value()) *buffer.offset *= factor;
    if (buffer.hint.has_value()) *buffer.hint *= factor;
    for (Gap& gap : buffer.gaps) {
      gap.low *= factor;
      gap.high *= factor;
    }
  }
  for (Pool& pool : result.pools) {
    if (pool.capacity.has_value()) *pool.capacity *= factor;
    if (pool.preferred_capacity.has_value()) *pool.preferred_capacity *= factor;
  }
  for (PermittedOverlap& overlap : result.overlaps) overlap.bytes *= factor;
  return result;
}

}  // namespace petrel::exir::plan
