// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/shortage.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "exir/memory/least_room.h"
#include "exir/plan/model/crowd.h"

namespace petrel::exir {
namespace {

// Of the buffers that make a plan too large.
constexpr size_t kBuffersNamed = 5;

// Of each pool, and behind them of all together.
Room room_of(const MemoryPools& pools) {
  Room room;
  for (const plan::MemoryPool& pool : pools.list) {
    room.push_back(pool.capacity().value_or(kNoLimit));
  }
  room.push_back(pools.most_bytes > 0 ? pools.most_bytes : kNoLimit);
  return room;
}

std::vector<int64_t> units_of(const MemoryPools& pools) {
  std::vector<int64_t> units;
  for (const plan::MemoryPool& pool : pools.list) units.push_back(alignment_of(pool));
  units.push_back(1);
  return units;
}

MemoryPools with_room(const MemoryPools& pools, const Room& room) {
  MemoryPools result = pools;
  for (size_t i = 0; i < pools.list.size(); ++i) {
    result.list[i].size = result.list[i].limit = std::nullopt;
    if (room[i] < kNoLimit) result.list[i].limit = room[i];
  }
  result.most_bytes = room.back() < kNoLimit ? room.back() : 0;
  return result;
}

Room use_of(const PlannedProgram& planned, const MemoryPools& pools) {
  Room use(pools.list.size() + 1, 0);
  for (const PlannedMethod& method : planned.methods) {
    for (size_t i = 0; i < pools.list.size(); ++i) {
      use[i] = std::max(use[i], method.plan.pool_bytes[i]);
    }
    use.back() = std::max(use.back(), planned.state.arena_bytes + method.plan.arena_bytes);
  }
  return use;
}

// What lies in the pool when most of it is in use.
std::string crowd_in(const MemoryPlan& plan, plan::PoolIdx pool) {
  plan::Problem part;
  std::map<plan::BufferIdx, plan::BufferIdx> moved;
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    if (plan.solution.placements[i].pool != pool) continue;
    moved[static_cast<plan::BufferIdx>(i)] = static_cast<plan::BufferIdx>(part.buffers.size());
    part.buffers.push_back(plan.problem.buffers[i]);
  }
  for (const plan::PermittedOverlap& overlap : plan.problem.overlaps) {
    const auto lower = moved.find(overlap.lower), upper = moved.find(overlap.upper);
    if (lower == moved.end() || upper == moved.end()) continue;
    part.overlaps.push_back({lower->second, upper->second, overlap.bytes});
  }
  return plan::describe(part, plan::largest_crowd(part), kBuffersNamed);
}

}  // namespace

bool is_shortage(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsResourceExhausted(status);
}

// Pools are kept to by the planner; all memory together it can only aim at.
bool fits(const PlannedProgram& planned, const MemoryPools& pools) {
  return pools.most_bytes <= 0 ||
         std::all_of(planned.methods.begin(), planned.methods.end(), [&](const auto& method) {
           return planned.state.arena_bytes + method.plan.arena_bytes <= pools.most_bytes;
         });
}

std::optional<MemoryPools> least_pools(const MemoryPools& pools, const PlanFn& plan) {
  const auto attempt = [&](const Room& room) -> std::optional<Room> {
    const MemoryPools roomy = with_room(pools, room);
    const absl::StatusOr<PlannedProgram> planned = plan(roomy);
    if (!planned.ok() || !fits(*planned, roomy)) return std::nullopt;
    return use_of(*planned, pools);
  };
  const std::optional<Room> room = least_room(room_of(pools), units_of(pools), attempt);
  if (!room.has_value()) return std::nullopt;
  return with_room(pools, *room);
}

// Of those that are too small, with what lies there when most is in use.
std::vector<std::string> shortage_texts(const MemoryPools& pools, const MemoryPools& least,
                                        const PlannedProgram& planned) {
  const Room given = room_of(pools), room = room_of(least);
  std::vector<std::string> texts;
  for (size_t i = 0; i < pools.list.size(); ++i) {
    const plan::MemoryPool& pool = pools.list[i];
    if (room[i] <= given[i]) continue;
    const auto fullest = std::max_element(
        planned.methods.begin(), planned.methods.end(),
        [&](const auto& a, const auto& b) { return a.plan.pool_bytes[i] < b.plan.pool_bytes[i]; });
    const int64_t more_size = room[i] - pool.size.value_or(room[i]);
    texts.push_back(absl::StrCat(
        "pool '", pool.name, "' has ", given[i], " bytes, ", room[i] - given[i], " more are needed",
        pool.limit.has_value() && more_size > 0 ? absl::StrCat(", ", more_size, " more of its size")
                                                : "",
        ": in method '", fullest->name, "' ",
        crowd_in(fullest->plan, static_cast<plan::PoolIdx>(i))));
  }
  return texts;
}

}  // namespace petrel::exir
