// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/block_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exir/plan/model/timeline.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Plans that fit by their bytes in use may not fit for their gaps; then less is asked for, at last
// as little as can be.
constexpr int kTries = 6;
constexpr int64_t kPartLess = 64;

// What there is, for all buffers together; nullopt: no limit.
std::optional<int64_t> room_in(const MemoryPools& pools) {
  std::optional<int64_t> room;
  if (pools.most_bytes > 0) room = pools.most_bytes;
  int64_t sum = 0;
  for (const plan::Pool& pool : planner_pools(pools)) {
    if (!pool.capacity.has_value()) return room;
    sum += std::min(*pool.capacity, plan::kMaxBytes);
  }
  return std::min(sum, room.value_or(sum));
}

bool fits(const MemoryPlan& plan, const MemoryPools& pools) {
  return pools.most_bytes <= 0 || plan.arena_bytes <= pools.most_bytes;
}

// How bad a set of blocks is: the most bytes in use at a time, and all that is beyond the room.
struct Need {
  int64_t most = 0, excess = 0;

  bool is_less(const Need& other) const {
    return std::make_pair(most, excess) < std::make_pair(other.most, other.excess);
  }
};

Need need_of(const plan::Problem& problem, int64_t room) {
  Need need;
  std::multimap<plan::BufferIdx, const plan::PermittedOverlap*> overlaps;  // by the lower one
  for (const plan::PermittedOverlap& overlap : problem.overlaps) {
    overlaps.emplace(overlap.lower, &overlap);
  }
  const std::vector<plan::Stretch> stretches = plan::stretches_by_begin(problem);
  for (const std::vector<int32_t>& section : plan::maximal_sections(stretches)) {
    int64_t live = 0;
    std::set<plan::BufferIdx> alive;
    for (const int32_t member : section) {
      const plan::Stretch& stretch = stretches[static_cast<size_t>(member)];
      live += stretch.high - stretch.low;
      alive.insert(stretch.buffer);
    }
    for (const plan::BufferIdx lower : alive) {
      const auto [begin, end] = overlaps.equal_range(lower);
      for (auto overlap = begin; overlap != end; ++overlap) {
        if (alive.count(overlap->second->upper) != 0) live -= overlap->second->bytes;
      }
    }
    need.most = std::max(need.most, live);
    need.excess += std::max<int64_t>(0, live - room);
  }
  return need;
}

class BlockSearch {
 public:
  BlockSearch(const Graph& graph, const Storage& plain, const MemoryPools& pools,
              int64_t most_steps)
      : graph_(graph), plain_(plain), pools_(pools), steps_left_(most_steps) {
    for (const Node* step : plain.steps_of(graph)) {
      for (StepNodes& block : pools.kernels->blocks_of(*step)) all_.push_back(std::move(block));
    }
  }

  bool has_none() const { return all_.empty(); }

  struct Found {
    Storage storage;
    bool is_enough;  // as far as bytes in use go
  };

  // The blocks with which `room` is enough, or the fewest bytes are in use of what could be tried.
  absl::StatusOr<Found> within(int64_t room) const {
    std::vector<StepNodes> chosen;
    PETREL_ASSIGN_OR_RETURN(Need need, need_with(chosen, room));
    while (need.excess > 0) {
      std::optional<StepNodes> best;
      for (const StepNodes& block : all_) {
        if (meets(block, chosen)) continue;
        if (!may_try()) break;
        chosen.push_back(block);
        PETREL_ASSIGN_OR_RETURN(const Need tried, need_with(chosen, room));
        chosen.pop_back();
        if (!tried.is_less(need)) continue;
        need = tried;
        best = block;
      }
      if (!best.has_value()) break;
      chosen.push_back(*std::move(best));
    }
    PETREL_RETURN_IF_ERROR(drop_needless(need, room, &chosen));
    return Found{storage_with(chosen), need.excess == 0};
  }

 private:
  static bool meets(const StepNodes& block, const std::vector<StepNodes>& chosen) {
    for (const StepNodes& other : chosen) {
      if (std::find_first_of(block.begin(), block.end(), other.begin(), other.end()) !=
          block.end()) {
        return true;
      }
    }
    return false;
  }

  // Later blocks may have made earlier ones needless.
  absl::Status drop_needless(const Need& need, int64_t room, std::vector<StepNodes>* chosen) const {
    for (size_t i = 0; i < chosen->size() && may_try();) {
      std::vector<StepNodes> fewer = *chosen;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      PETREL_ASSIGN_OR_RETURN(const Need tried, need_with(fewer, room));
      if (need.excess == 0 ? tried.excess > 0 : need.is_less(tried)) {
        ++i;
      } else {
        *chosen = std::move(fewer);
      }
    }
    return absl::OkStatus();
  }

  // Each try goes through all steps.
  bool may_try() const {
    steps_left_ -= 1 + static_cast<int64_t>(plain_.steps().size());
    return steps_left_ > 0;
  }

  Storage storage_with(const std::vector<StepNodes>& blocks) const {
    Storage storage = plain_;
    for (const StepNodes& block : blocks) storage.run_together(block);
    return storage;
  }

  absl::StatusOr<Need> need_with(const std::vector<StepNodes>& blocks, int64_t room) const {
    MemoryPools boundless = pools_;
    for (plan::MemoryPool& pool : boundless.list) pool.size = pool.limit = std::nullopt;
    PETREL_ASSIGN_OR_RETURN(const plan::Problem problem,
                            memory_problem(graph_, storage_with(blocks), boundless));
    return need_of(problem, room);
  }

  const Graph& graph_;
  const Storage& plain_;
  const MemoryPools& pools_;
  std::vector<StepNodes> all_;
  mutable int64_t steps_left_;
};

}  // namespace

absl::StatusOr<MemoryPlan> plan_within(const Graph& graph, Storage* storage,
                                       const plan::Options& options, const MemoryPools& pools,
                                       int64_t most_steps) {
  absl::StatusOr<MemoryPlan> plan = plan_memory(graph, *storage, options, pools);
  const std::optional<int64_t> room = room_in(pools);
  if (pools.kernels == nullptr || !room.has_value() || (plan.ok() && fits(*plan, pools))) {
    return plan;
  }
  const BlockSearch search(graph, *storage, pools, most_steps);
  if (search.has_none()) return plan;
  int64_t wanted = *room;
  for (int i = 0; i < kTries; ++i, wanted -= wanted / kPartLess) {
    PETREL_ASSIGN_OR_RETURN(BlockSearch::Found tried, search.within(i + 1 < kTries ? wanted : 0));
    absl::StatusOr<MemoryPlan> fewer = plan_memory(graph, tried.storage, options, pools);
    const bool is_better =
        fewer.ok() ? !plan.ok() || fewer->arena_bytes < plan->arena_bytes : !plan.ok();
    if (is_better) {
      *storage = std::move(tried.storage);
      plan = std::move(fewer);
    }
    if (plan.ok() && fits(*plan, pools)) break;
    if (!tried.is_enough) i = std::max(i, kTries - 2);  // what asks for a little less finds none
  }
  return plan;
}

}  // namespace petrel::exir
