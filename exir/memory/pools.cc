// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/pools.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

int64_t round_down(int64_t bytes, int64_t alignment) { return bytes / alignment * alignment; }

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::optional<int64_t> round_down(std::optional<int64_t> bytes, int64_t alignment) {
  if (bytes.has_value()) bytes = round_down(*bytes, alignment);
  return bytes;
}

bool reached_by_all(const plan::MemoryPool& pool, const std::set<std::string>& targets) {
  return std::all_of(targets.begin(), targets.end(),
                     [&](const std::string& target) { return pool.reaches(target); });
}

// Takes the pools away that a target of the buffer does not reach.
absl::Status keep_reached(const MemoryPools& pools, const BufferUse& use, plan::Buffer* buffer) {
  const bool is_pinned = !buffer->pools.empty();
  std::vector<plan::PoolIdx> given = buffer->pools;
  for (size_t p = 0; p < pools.list.size() && !is_pinned; ++p) {
    given.push_back(static_cast<plan::PoolIdx>(p));
  }
  std::vector<plan::PoolIdx> reached;
  std::vector<std::string> told;
  for (const plan::PoolIdx index : given) {
    const plan::MemoryPool& pool = pools.list[static_cast<size_t>(index)];
    if (reached_by_all(pool, use.targets)) reached.push_back(index);
    told.push_back(absl::StrCat("'", pool.name, "' is reached by ",
                                pool.targets.empty() ? "all" : absl::StrJoin(pool.targets, ", ")));
  }
  if (reached.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", buffer->id, "' is read and written by ", absl::StrJoin(use.targets, ", "),
        ", and no pool that it may lie in is reached by all of them: ", absl::StrJoin(told, "; ")));
  }
  if (is_pinned || reached.size() < given.size()) buffer->pools = std::move(reached);
  return absl::OkStatus();
}

}  // namespace

int64_t alignment_of(const plan::MemoryPool& pool) {
  return std::max(pool.alignment, static_cast<int64_t>(schema::kDataAlignment));
}

std::vector<plan::Pool> planner_pools(const MemoryPools& pools) {
  std::vector<plan::Pool> result;
  for (const plan::MemoryPool& memory : pools.list) {
    plan::Pool pool = plan::to_pool(memory);
    pool.capacity = round_down(pool.capacity, alignment_of(memory));
    pool.preferred_capacity = round_down(pool.preferred_capacity, alignment_of(memory));
    result.push_back(std::move(pool));
  }
  if (result.empty()) {
    result.resize(1);
    result[0].name = "arena";
  }
  return result;
}

absl::Status restrict_buffers(const MemoryPools& pools, const std::vector<BufferUse>& uses,
                              std::vector<plan::Buffer>* buffers) {
  if (pools.list.empty()) return absl::OkStatus();
  for (size_t i = 0; i < buffers->size(); ++i) {
    plan::Buffer& buffer = (*buffers)[i];
    if (pools.allowed) buffer.pools = pools.allowed(uses[i].names);
    PETREL_RETURN_IF_ERROR(keep_reached(pools, uses[i], &buffer));
    const auto align = [&](const plan::MemoryPool& pool) {
      buffer.alignment = std::max(buffer.alignment, alignment_of(pool));
    };
    for (const plan::PoolIdx pool : buffer.pools) align(pools.list[static_cast<size_t>(pool)]);
    if (buffer.pools.empty()) std::for_each(pools.list.begin(), pools.list.end(), align);
  }
  return absl::OkStatus();
}

std::vector<int64_t> pool_bytes(const MemoryPools& pools, const plan::Problem& problem,
                                const plan::Solution& solution) {
  std::vector<int64_t> bytes(pools.list.size(), 0);
  if (pools.list.empty()) return bytes;  // the one arena is none of them
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const plan::Placement& place = solution.placements[i];
    const auto pool = static_cast<size_t>(place.pool);
    // Tensors without elements have a place all the same.
    const int64_t end = place.offset + std::max<int64_t>(1, problem.buffers[i].size);
    bytes[pool] = std::max(bytes[pool], round_up(end, alignment_of(pools.list[pool])));
  }
  return bytes;
}

}  // namespace petrel::exir
