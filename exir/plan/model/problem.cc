// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace petrel::exir::plan {
namespace {

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

std::string range(const Interval& interval) {
  return absl::StrCat("[", interval.begin, ", ", interval.end, ")");
}

bool inside(const Interval& inner, const Interval& outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

absl::Status check_lifetime(const Buffer& buffer) {
  const Interval& life = buffer.lifetime;
  if (life.begin < -kMaxTime || life.end > kMaxTime || life.begin >= life.end) {
    return invalid("buffer ", label(buffer), ": lifetime ", range(life),
                   " must be non-empty and within ", range({-kMaxTime, kMaxTime}));
  }
  std::vector<Gap> gaps = buffer.gaps;
  std::sort(gaps.begin(), gaps.end(),
            [](const Gap& a, const Gap& b) { return a.time.begin < b.time.begin; });
  for (size_t i = 0; i < gaps.size(); ++i) {
    const Gap& gap = gaps[i];
    if (gap.time.begin >= gap.time.end || !inside(gap.time, life)) {
      return invalid("buffer ", label(buffer), ": gap ", range(gap.time),
                     " must be non-empty and within the lifetime ", range(life));
    }
    if (gap.low < 0 || gap.low > gap.high || gap.high > buffer.size) {
      return invalid("buffer ", label(buffer), ": gap keeps bytes [", gap.low, ", ", gap.high,
                     "), must be within [0, ", buffer.size, ")");
    }
    if (i > 0 && gaps[i - 1].time.end > gap.time.begin) {
      return invalid("buffer ", label(buffer), ": gaps ", range(gaps[i - 1].time), " and ",
                     range(gap.time), " overlap");
    }
  }
  return absl::OkStatus();
}

absl::Status check_buffer(const Problem& problem, const Buffer& buffer) {
  if (buffer.size < 0 || buffer.size >= kMaxBytes) {
    return invalid("buffer ", label(buffer), ": size is ", buffer.size, ", must be in [0, ",
                   kMaxBytes, ")");
  }
  if (buffer.alignment < 1 || buffer.alignment >= kMaxBytes) {
    return invalid("buffer ", label(buffer), ": alignment is ", buffer.alignment,
                   ", must be in [1, ", kMaxBytes, ")");
  }
  if (buffer.access_count < 0) {
    return invalid("buffer ", label(buffer), ": access count is ", buffer.access_count,
                   ", must not be negative");
  }
  if (buffer.offset.has_value()) {
    const int64_t offset = *buffer.offset;
    if (offset < 0 || offset >= kMaxBytes - buffer.size) {
      return invalid("buffer ", label(buffer), ": fixed offset is ", offset, ", must be in [0, ",
                     kMaxBytes - buffer.size, ")");
    }
    if (offset % buffer.alignment != 0) {
      return invalid("buffer ", label(buffer), ": fixed offset ", offset,
                     " is not a multiple of its alignment ", buffer.alignment);
    }
  }
  if (absl::Status status = check_lifetime(buffer); !status.ok()) {
    return status;
  }
  const auto num_pools = static_cast<PoolIdx>(problem.pools.size());
  bool fits = false;
  int64_t largest = 0;
  const int64_t end = buffer.offset.value_or(0) + buffer.size;
  const auto try_pool = [&](const Pool& pool) {
    const int64_t capacity = pool.capacity.value_or(kMaxBytes);
    fits = fits || end <= capacity;
    largest = std::max(largest, capacity);
  };
  std::vector<PoolIdx> seen = buffer.pools;
  std::sort(seen.begin(), seen.end());
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] < 0 || seen[i] >= num_pools) {
      return invalid("buffer ", label(buffer), ": pool index is ", seen[i], ", must be in [0, ",
                     num_pools, ")");
    }
    if (i > 0 && seen[i] == seen[i - 1]) {
      return invalid("buffer ", label(buffer), ": pool ", problem.pools[seen[i]].name,
                     " is listed twice");
    }
    try_pool(problem.pools[seen[i]]);
  }
  if (buffer.pools.empty()) {
    for (const Pool& pool : problem.pools) try_pool(pool);
  }
  if (!fits) {
    return absl::FailedPreconditionError(
        absl::StrCat("no plan fits: buffer ", label(buffer), " ends at byte ", end,
                     " or beyond, its largest pool holds ", largest));
  }
  return absl::OkStatus();
}

absl::Status check_pools(const Problem& problem) {
  if (problem.pools.empty() && !problem.buffers.empty()) {
    return invalid("the problem has buffers but no pool");
  }
  for (const Pool& pool : problem.pools) {
    for (const std::optional<int64_t>& limit : {pool.capacity, pool.preferred_capacity}) {
      if (limit.has_value() && (*limit < 0 || *limit > kMaxBytes)) {
        return invalid("pool ", pool.name, ": capacity is ", *limit, ", must be in [0, ", kMaxBytes,
                       "]");
      }
    }
    if (pool.cost_per_access < 0) {
      return invalid("pool ", pool.name, ": cost per access is ", pool.cost_per_access,
                     ", must not be negative");
    }
  }
  return absl::OkStatus();
}

// Sums that the planner forms must not overflow.
absl::Status check_totals(const Problem& problem) {
  int64_t bytes = 0;
  int64_t cost_per_access = 0;
  for (const Pool& pool : problem.pools) {
    cost_per_access = std::max(cost_per_access, pool.cost_per_access);
  }
  int64_t cost = 0;
  for (const Buffer& buffer : problem.buffers) {
    // A buffer may be pushed up by less than its alignment.
    const int64_t extent = buffer.size + (buffer.alignment - 1);
    if (extent >= kMaxBytes - bytes) {
      return invalid("buffer ", label(buffer), ": its size ", buffer.size,
                     " brings the sum of all sizes beyond ", kMaxBytes);
    }
    bytes += extent;
    int64_t share = 0;
    if (__builtin_mul_overflow(buffer.access_count, cost_per_access, &share) ||
        __builtin_add_overflow(cost, share, &cost)) {
      return invalid("buffer ", label(buffer), ": its access count ", buffer.access_count,
                     " brings the cost beyond 2^63");
    }
  }
  return absl::OkStatus();
}

absl::Status check_indices(const Problem& problem, BufferIdx first, BufferIdx second,
                           const char* what) {
  const auto num_buffers = static_cast<BufferIdx>(problem.buffers.size());
  for (const BufferIdx index : {first, second}) {
    if (index < 0 || index >= num_buffers) {
      return invalid(what, ": buffer index is ", index, ", must be in [0, ", num_buffers, ")");
    }
  }
  if (first == second) {
    return invalid(what, ": buffer ", label(problem.buffers[first]), " is paired with itself");
  }
  return absl::OkStatus();
}

std::vector<std::pair<BufferIdx, BufferIdx>> sorted_pairs(const std::vector<Pair>& pairs) {
  std::vector<std::pair<BufferIdx, BufferIdx>> sorted;
  for (const Pair& pair : pairs) {
    sorted.push_back(std::minmax(pair.first, pair.second));
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

absl::Status check_relations(const Problem& problem) {
  for (const Pair& pair : problem.conflicts) {
    absl::Status status = check_indices(problem, pair.first, pair.second, "conflict");
    if (!status.ok()) return status;
  }
  const auto conflicts = sorted_pairs(problem.conflicts);
  for (const Pair& pair : problem.non_conflicts) {
    absl::Status status = check_indices(problem, pair.first, pair.second, "non-conflict");
    if (!status.ok()) return status;
    const std::pair<BufferIdx, BufferIdx> key = std::minmax(pair.first, pair.second);
    if (std::binary_search(conflicts.begin(), conflicts.end(), key)) {
      return invalid("buffers ", label(problem.buffers[pair.first]), " and ",
                     label(problem.buffers[pair.second]),
                     " are given both as a conflict and as a non-conflict");
    }
  }
  for (const PermittedOverlap& overlap : problem.overlaps) {
    absl::Status status = check_indices(problem, overlap.lower, overlap.upper, "permitted overlap");
    if (!status.ok()) return status;
    const Buffer& lower = problem.buffers[overlap.lower];
    const Buffer& upper = problem.buffers[overlap.upper];
    const int64_t limit = std::min(lower.size, upper.size);
    if (overlap.bytes < 0 || overlap.bytes > limit) {
      return invalid("permitted overlap of buffers ", label(lower), " and ", label(upper), ": ",
                     overlap.bytes, " bytes, must be in [0, ", limit, "]");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string label(const Buffer& buffer) {
  return buffer.origin.empty() ? buffer.id : absl::StrCat(buffer.id, " (", buffer.origin, ")");
}

absl::Status check_names(const Problem& problem) {
  std::map<std::string, const Buffer*> buffers;
  for (const Buffer& buffer : problem.buffers) {
    const auto [first, fresh] = buffers.emplace(buffer.id, &buffer);
    if (!fresh) {
      return invalid("buffer ", label(buffer), " has the id of another, ", label(*first->second));
    }
  }
  std::set<std::string> pools;
  for (const Pool& pool : problem.pools) {
    if (!pools.insert(pool.name).second) {
      return invalid("pool ", pool.name, " is given twice");
    }
  }
  return absl::OkStatus();
}

absl::Status check_problem(const Problem& problem) {
  constexpr size_t kMaxBuffers = size_t{1} << 30;
  if (problem.buffers.size() > kMaxBuffers || problem.pools.size() > kMaxPools) {
    return invalid("the problem has ", problem.buffers.size(), " buffers and ",
                   problem.pools.size(), " pools, at most ", kMaxBuffers, " and ", kMaxPools,
                   " are supported");
  }
  if (absl::Status status = check_pools(problem); !status.ok()) return status;
  for (const Buffer& buffer : problem.buffers) {
    if (absl::Status status = check_buffer(problem, buffer); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = check_totals(problem); !status.ok()) return status;
  return check_relations(problem);
}

}  // namespace petrel::exir::plan
