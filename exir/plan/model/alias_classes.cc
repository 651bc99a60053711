// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/alias_classes.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// The class needs the bytes from the lowest to the highest that some member
// alive needs; where that is not all of them, a gap says so.
void merge_lifetimes(const std::vector<Stretch>& stretches, const std::vector<int64_t>& position,
                     Buffer* merged) {
  std::vector<int64_t> cuts;
  for (const Stretch& s : stretches) {
    cuts.push_back(s.time.begin);
    cuts.push_back(s.time.end);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  merged->lifetime = {cuts.front(), cuts.back()};
  merged->gaps.clear();
  for (size_t c = 0; c + 1 < cuts.size(); ++c) {
    const Interval time{cuts[c], cuts[c + 1]};
    int64_t low = merged->size;
    int64_t high = 0;
    for (const Stretch& s : stretches) {
      if (s.time.begin > time.begin || s.time.end < time.end) continue;
      low = std::min(low, position[s.buffer] + s.low);
      high = std::max(high, position[s.buffer] + s.high);
    }
    if (low == 0 && high == merged->size) continue;
    if (low >= high) low = high = 0;
    if (!merged->gaps.empty()) {
      Gap& last = merged->gaps.back();
      if (last.time.end == time.begin && last.low == low && last.high == high) {
        last.time.end = time.end;
        continue;
      }
    }
    merged->gaps.push_back({time, low, high});
  }
}

// Where one member is fixed, so is the class.
absl::Status merge_offset(const Buffer& value, int64_t position, Buffer* merged) {
  if (!value.offset.has_value()) return absl::OkStatus();
  const int64_t start = *value.offset - position;
  if (start < 0 || (merged->offset.has_value() && *merged->offset != start)) {
    return invalid("alias: value ", value.id, " is fixed at ", *value.offset,
                   ", where its aliases cannot be");
  }
  merged->offset = start;
  return absl::OkStatus();
}

// A class may be in the pools that all of its members allow.
absl::Status merge_pools(const Buffer& value, Buffer* merged) {
  if (value.pools.empty()) return absl::OkStatus();
  if (merged->pools.empty()) {
    merged->pools = value.pools;
    return absl::OkStatus();
  }
  const auto refused = [&](PoolIdx pool) {
    return std::find(value.pools.begin(), value.pools.end(), pool) == value.pools.end();
  };
  merged->pools.erase(std::remove_if(merged->pools.begin(), merged->pools.end(), refused),
                      merged->pools.end());
  if (!merged->pools.empty()) return absl::OkStatus();
  return invalid("alias: value ", value.id, " allows none of the pools of its aliases");
}

}  // namespace

AliasClasses::AliasClasses(std::vector<Buffer> values)
    : values_(std::move(values)),
      parent_(values_.size()),
      position_(values_.size(), 0),
      buffer_(values_.size(), 0),
      offset_in_buffer_(values_.size(), 0) {
  std::iota(parent_.begin(), parent_.end(), 0);
}

// The root; afterwards the parent is the root and position_ relative to it.
BufferIdx AliasClasses::find(BufferIdx value) {
  BufferIdx root = value;
  int64_t position = 0;
  while (parent_[root] != root) {
    position += position_[root];
    root = parent_[root];
  }
  while (parent_[value] != root && value != root) {
    const BufferIdx next = parent_[value];
    const int64_t own = position_[value];
    parent_[value] = root;
    position_[value] = position;
    position -= own;
    value = next;
  }
  return root;
}

absl::Status AliasClasses::unite(BufferIdx outer, BufferIdx inner, int64_t byte_offset) {
  const auto num_values = static_cast<BufferIdx>(values_.size());
  for (const BufferIdx index : {outer, inner}) {
    if (index < 0 || index >= num_values) {
      return invalid("alias: value index is ", index, ", must be in [0, ", num_values, ")");
    }
  }
  // Bounds the positions in a class of any length below overflow.
  constexpr int64_t kLimit = kMaxBytes >> 8;
  if (byte_offset <= -kLimit || byte_offset >= kLimit) {
    return invalid("alias: value ", values_[inner].id, " is ", byte_offset, " bytes from ",
                   values_[outer].id, ", must be within ", kLimit);
  }
  const BufferIdx outer_root = find(outer);
  const BufferIdx inner_root = find(inner);
  // Position of inner's root relative to outer's.
  const int64_t position = position_[outer] + byte_offset - position_[inner];
  if (outer_root == inner_root) {
    if (position == 0) return absl::OkStatus();
    return invalid("alias: value ", values_[inner].id, " would be ", byte_offset, " bytes after ",
                   values_[outer].id, ", other aliases put it ",
                   position_[inner] - position_[outer], " bytes after it");
  }
  if (position <= -kLimit || position >= kLimit) {
    return invalid("alias: values ", values_[outer_root].id, " and ", values_[inner_root].id,
                   " would be ", position, " bytes apart, must be within ", kLimit);
  }
  parent_[inner_root] = outer_root;
  position_[inner_root] = position;
  return absl::OkStatus();
}

absl::StatusOr<Problem> AliasClasses::problem(std::vector<Pool> pools) {
  Problem problem;
  problem.pools = std::move(pools);
  // Without relations this says that every single value is well-formed.
  problem.buffers = values_;
  PETREL_RETURN_IF_ERROR(check_problem(problem));
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  problem.buffers.clear();

  const std::vector<std::vector<Member>> classes = gather_classes();
  std::vector<std::vector<Stretch>> class_stretches(classes.size());
  for (const Stretch& s : stretches) class_stretches[buffer_[s.buffer]].push_back(s);
  for (size_t c = 0; c < classes.size(); ++c) {
    PETREL_ASSIGN_OR_RETURN(Buffer merged, merge(classes[c], class_stretches[c]));
    problem.buffers.push_back(std::move(merged));
  }
  PETREL_RETURN_IF_ERROR(check_problem(problem));
  return problem;
}

// In the order of their first members.
std::vector<std::vector<AliasClasses::Member>> AliasClasses::gather_classes() {
  std::vector<std::vector<Member>> classes;
  std::vector<int32_t> class_of_root(values_.size(), -1);
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto value = static_cast<BufferIdx>(i);
    const BufferIdx root = find(value);
    if (class_of_root[root] < 0) {
      class_of_root[root] = static_cast<int32_t>(classes.size());
      classes.emplace_back();
    }
    buffer_[i] = class_of_root[root];
    classes[buffer_[i]].push_back({value, root == value ? 0 : position_[i]});
  }
  return classes;
}

absl::StatusOr<Buffer> AliasClasses::merge(const std::vector<Member>& members,
                                           const std::vector<Stretch>& stretches) {
  Buffer merged = values_[members[0].value];
  if (members.size() == 1) {
    offset_in_buffer_[members[0].value] = 0;
    return merged;
  }
  const int64_t begin = begin_of(members, &merged.alignment);
  merged.size = 0;
  merged.access_count = 0;
  merged.offset.reset();
  merged.hint.reset();
  for (const Member& m : members) {
    const Buffer& value = values_[m.value];
    const int64_t position = m.position - begin;
    offset_in_buffer_[m.value] = position;
    if (position % value.alignment != 0 || merged.alignment % value.alignment != 0) {
      return invalid("alias: value ", value.id, " lies ", position,
                     " bytes into a buffer aligned to ", merged.alignment,
                     ", which breaks its alignment ", value.alignment);
    }
    merged.size = std::max(merged.size, position + value.size);
    merged.access_count += value.access_count;
    PETREL_RETURN_IF_ERROR(merge_offset(value, position, &merged));
    if (m.value != members[0].value) {
      PETREL_RETURN_IF_ERROR(merge_pools(value, &merged));
    }
  }
  merged.gaps.clear();
  // Without stretches all members are empty: nothing of it is ever needed.
  if (!stretches.empty()) merge_lifetimes(stretches, offset_in_buffer_, &merged);
  return merged;
}

// A class begins where its strictest member is aligned, at or below the lowest
// byte.
int64_t AliasClasses::begin_of(const std::vector<Member>& members, int64_t* alignment) const {
  int64_t low = members[0].position;
  const Member* strictest = &members[0];
  for (const Member& m : members) {
    low = std::min(low, m.position);
    if (values_[m.value].alignment > values_[strictest->value].alignment) strictest = &m;
  }
  *alignment = values_[strictest->value].alignment;
  const int64_t above = (strictest->position - low) % *alignment;
  return low - (*alignment - above) % *alignment;
}

BufferIdx AliasClasses::buffer_of(BufferIdx value) const { return buffer_[value]; }

Placement AliasClasses::placement(BufferIdx value, const Solution& solution) const {
  const Placement& place = solution.placements[buffer_[value]];
  return {place.pool, place.offset + offset_in_buffer_[value]};
}

}  // namespace petrel::exir::plan
