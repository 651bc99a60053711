// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/validator.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace petrel::exir::plan {
namespace {

// A rectangle of the picture: bytes [low, high) of a pool during [begin, end).
struct Piece {
  BufferIdx buffer;
  PoolIdx pool;
  int64_t begin, end;
  int64_t low, high;
};

template <typename... Args>
absl::Status wrong(const Args&... args) {
  return absl::InternalError(absl::StrCat("invalid plan: ", args...));
}

// Cuts a placed buffer at its gaps.
void append_pieces(const Problem& problem, const Solution& solution, BufferIdx index,
                   std::vector<Piece>* pieces) {
  const Buffer& buffer = problem.buffers[index];
  const Placement& place = solution.placements[index];
  std::vector<Gap> gaps = buffer.gaps;
  std::sort(gaps.begin(), gaps.end(),
            [](const Gap& a, const Gap& b) { return a.time.begin < b.time.begin; });
  const auto append = [&](int64_t begin, int64_t end, int64_t low, int64_t high) {
    if (begin < end && low < high) {
      pieces->push_back({index, place.pool, begin, end, place.offset + low, place.offset + high});
    }
  };
  int64_t time = buffer.lifetime.begin;
  for (const Gap& gap : gaps) {
    append(time, gap.time.begin, 0, buffer.size);
    append(gap.time.begin, gap.time.end, gap.low, gap.high);
    time = gap.time.end;
  }
  append(time, buffer.lifetime.end, 0, buffer.size);
}

absl::Status check_place(const Problem& problem, const Solution& solution, size_t index) {
  const Buffer& buffer = problem.buffers[index];
  const Placement& place = solution.placements[index];
  if (place.pool < 0 || place.pool >= static_cast<PoolIdx>(problem.pools.size())) {
    return wrong("buffer ", buffer.id, " is in pool ", place.pool, " of ", problem.pools.size());
  }
  const Pool& pool = problem.pools[place.pool];
  if (!buffer.pools.empty() &&
      std::find(buffer.pools.begin(), buffer.pools.end(), place.pool) == buffer.pools.end()) {
    return wrong("buffer ", buffer.id, " may not be in pool ", pool.name);
  }
  if (place.offset < 0 || place.offset > kMaxBytes) {
    return wrong("buffer ", buffer.id, " is at offset ", place.offset);
  }
  if (place.offset % buffer.alignment != 0) {
    return wrong("buffer ", buffer.id, " is at offset ", place.offset, ", not a multiple of ",
                 buffer.alignment);
  }
  if (buffer.offset.has_value() && place.offset != *buffer.offset) {
    return wrong("buffer ", buffer.id, " is at offset ", place.offset, ", was fixed at ",
                 *buffer.offset);
  }
  if (pool.capacity.has_value() && place.offset + buffer.size > *pool.capacity) {
    return wrong("buffer ", buffer.id, " ends at ", place.offset + buffer.size, ", pool ",
                 pool.name, " holds ", *pool.capacity);
  }
  return absl::OkStatus();
}

absl::Status check_peaks(const Problem& problem, const Solution& solution) {
  std::vector<int64_t> peaks(problem.pools.size(), 0);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Placement& place = solution.placements[i];
    peaks[place.pool] = std::max(peaks[place.pool], place.offset + problem.buffers[i].size);
  }
  int64_t sum = 0;
  for (size_t p = 0; p < peaks.size(); ++p) {
    if (solution.pools[p].peak != peaks[p]) {
      return wrong("pool ", problem.pools[p].name, " reaches ", peaks[p], " bytes, the plan says ",
                   solution.pools[p].peak);
    }
    if (solution.pools[p].lower_bound > peaks[p]) {
      return wrong("pool ", problem.pools[p].name, " reaches ", peaks[p],
                   " bytes, below its bound ", solution.pools[p].lower_bound);
    }
    sum += peaks[p];
  }
  if (solution.peak != sum || solution.lower_bound > sum) {
    return wrong("the pools reach ", sum, " bytes, the plan says ", solution.peak, " and at least ",
                 solution.lower_bound);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status validate(const Problem& problem, const Solution& solution) {
  if (solution.placements.size() != problem.buffers.size() ||
      solution.pools.size() != problem.pools.size()) {
    return wrong(solution.placements.size(), " places in ", solution.pools.size(), " pools for ",
                 problem.buffers.size(), " buffers in ", problem.pools.size());
  }
  std::vector<Piece> pieces;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    absl::Status status = check_place(problem, solution, i);
    if (!status.ok()) return status;
    append_pieces(problem, solution, static_cast<BufferIdx>(i), &pieces);
  }

  std::set<std::pair<BufferIdx, BufferIdx>> exempt;
  for (const Pair& pair : problem.non_conflicts) {
    exempt.insert({pair.first, pair.second});
    exempt.insert({pair.second, pair.first});
  }
  for (const PermittedOverlap& overlap : problem.overlaps) {
    const int64_t lower_end =
        solution.placements[overlap.lower].offset + problem.buffers[overlap.lower].size;
    const int64_t upper_begin = solution.placements[overlap.upper].offset;
    if (lower_end - overlap.bytes <= upper_begin) {
      exempt.insert({overlap.lower, overlap.upper});
      exempt.insert({overlap.upper, overlap.lower});
    }
  }

  // Sweep over time; compare every piece with those alive when it begins.
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::vector<Piece> alive;
  for (const Piece& piece : pieces) {
    alive.erase(std::remove_if(alive.begin(), alive.end(),
                               [&](const Piece& p) { return p.end <= piece.begin; }),
                alive.end());
    for (const Piece& other : alive) {
      const int64_t low = std::max(piece.low, other.low);
      const int64_t high = std::min(piece.high, other.high);
      if (piece.pool != other.pool || low >= high ||
          exempt.count({piece.buffer, other.buffer}) > 0) {
        continue;
      }
      return wrong("buffers ", problem.buffers[other.buffer].id, " and ",
                   problem.buffers[piece.buffer].id, " overlap at time ", piece.begin,
                   " in bytes [", low, ", ", high, ") of pool ", problem.pools[piece.pool].name);
    }
    alive.push_back(piece);
  }

  for (const Pair& pair : problem.conflicts) {
    const Placement& a = solution.placements[pair.first];
    const Placement& b = solution.placements[pair.second];
    const int64_t low = std::max(a.offset, b.offset);
    const int64_t high = std::min(a.offset + problem.buffers[pair.first].size,
                                  b.offset + problem.buffers[pair.second].size);
    if (a.pool == b.pool && low < high && exempt.count({pair.first, pair.second}) == 0) {
      return wrong("conflicting buffers ", problem.buffers[pair.first].id, " and ",
                   problem.buffers[pair.second].id, " overlap in bytes [", low, ", ", high,
                   ") of pool ", problem.pools[a.pool].name);
    }
  }
  return check_peaks(problem, solution);
}

}  // namespace petrel::exir::plan
