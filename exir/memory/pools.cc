// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/pools.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/plan/model/crowd.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

// Of the buffers that make a plan too large.
constexpr size_t kBuffersNamed = 5;

int64_t round_down(int64_t bytes, int64_t alignment) { return bytes / alignment * alignment; }

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::optional<int64_t> round_down(std::optional<int64_t> bytes, int64_t alignment) {
  if (bytes.has_value()) bytes = round_down(*bytes, alignment);
  return bytes;
}

// Whether a buffer may lie nowhere but in the pool; of all of them when `pool` is none.
bool must_be_in(const plan::Problem& problem, const plan::Buffer& buffer,
                std::optional<plan::PoolIdx> pool) {
  if (!pool.has_value() || problem.pools.size() == 1) return true;
  return buffer.pools.size() == 1 && buffer.pools[0] == *pool;
}

// "" when `capacity` bytes are enough at every single moment.
std::string shortage(const plan::Problem& problem, std::optional<plan::PoolIdx> pool,
                     int64_t capacity, const std::string& who) {
  plan::Problem part;
  for (const plan::Buffer& buffer : problem.buffers) {
    if (must_be_in(problem, buffer, pool)) part.buffers.push_back(buffer);
  }
  const plan::Crowd crowd = plan::largest_crowd(part);
  if (crowd.bytes <= capacity) return "";
  return absl::StrCat(who, " ", capacity, " bytes, ", crowd.bytes - capacity,
                      " more are needed: ", plan::describe(part, crowd, kBuffersNamed));
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

void restrict_buffers(const MemoryPools& pools, const std::vector<std::set<std::string>>& names,
                      std::vector<plan::Buffer>* buffers) {
  if (pools.list.empty()) return;
  for (size_t i = 0; i < buffers->size(); ++i) {
    plan::Buffer& buffer = (*buffers)[i];
    if (pools.allowed) buffer.pools = pools.allowed(names[i]);
    const auto align = [&](const plan::MemoryPool& pool) {
      buffer.alignment = std::max(buffer.alignment, alignment_of(pool));
    };
    for (const plan::PoolIdx pool : buffer.pools) align(pools.list[static_cast<size_t>(pool)]);
    if (buffer.pools.empty()) std::for_each(pools.list.begin(), pools.list.end(), align);
  }
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

absl::Status with_shortage(const plan::Problem& problem, const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status) && !absl::IsResourceExhausted(status)) return status;
  std::vector<std::string> shortages;
  const auto note = [&](std::string text) {
    if (!text.empty()) shortages.push_back(std::move(text));
  };
  bool all_limited = true;
  int64_t total = 0;
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    const plan::Pool& pool = problem.pools[p];
    all_limited = all_limited && pool.capacity.has_value();
    if (!pool.capacity.has_value()) continue;
    total = std::min(plan::kMaxBytes, total + *pool.capacity);
    note(shortage(problem, static_cast<plan::PoolIdx>(p), *pool.capacity,
                  absl::StrCat("pool '", pool.name, "' has")));
  }
  if (all_limited && shortages.empty()) {
    note(shortage(problem, std::nullopt, total, "all pools have"));
  }
  if (shortages.empty()) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("no plan fits: ", absl::StrJoin(shortages, "; ")));
}

}  // namespace petrel::exir
