// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/byte_groups.h"

#include <iterator>
#include <utility>

namespace petrel::exir {

// Of the last that begins before the end of `range`: those before it end before it begins.
bool ByteGroups::meets(const Ranges& ranges, const Range& range) {
  const auto behind = ranges.lower_bound(range.end);
  return behind != ranges.begin() && std::prev(behind)->second > range.begin;
}

int ByteGroups::add(int64_t bytes, bool is_written) {
  const int value = static_cast<int>(group_.size());
  group_.push_back(groups_.size());
  position_.push_back(0);
  Group group;
  group.members.push_back(value);
  if (is_written && bytes > 0) group.written.emplace(0, bytes);
  groups_.push_back(std::move(group));
  return value;
}

bool ByteGroups::can_unite(int outer, int inner, int64_t offset,
                           const std::vector<Range>& reserved) const {
  if (are_together(outer, inner)) return distance(outer, inner) == offset;
  const Group& a = groups_[group_of(outer)];
  const Group& b = groups_[group_of(inner)];
  if ((a.has_input || b.has_input) && (a.has_output || b.has_output)) {
    return false;
  }
  // From the zero of the inner group to that of the outer one.
  const int64_t shift =
      position_[static_cast<size_t>(outer)] + offset - position_[static_cast<size_t>(inner)];
  // Of two groups the smaller one is gone through.
  const bool is_inner_smaller = b.written.size() <= a.written.size();
  const Ranges& fewer = is_inner_smaller ? b.written : a.written;
  const int64_t move = is_inner_smaller ? shift : -shift;
  for (const auto& [begin, end] : fewer) {
    if (meets(is_inner_smaller ? a.written : b.written, {begin + move, end + move})) return false;
  }
  const int64_t from_outer = position_[static_cast<size_t>(outer)] - shift;
  for (const Range& range : reserved) {
    if (meets(b.written, {range.begin + from_outer, range.end + from_outer})) return false;
  }
  return true;
}

void ByteGroups::unite(int outer, int inner, int64_t offset) {
  if (are_together(outer, inner)) return;
  size_t into = group_of(outer);
  size_t from = group_of(inner);
  int64_t shift =
      position_[static_cast<size_t>(outer)] + offset - position_[static_cast<size_t>(inner)];
  if (groups_[into].members.size() < groups_[from].members.size()) {
    std::swap(into, from);
    shift = -shift;
  }
  Group& a = groups_[into];
  Group& b = groups_[from];
  for (const int member : b.members) {
    group_[static_cast<size_t>(member)] = into;
    position_[static_cast<size_t>(member)] += shift;
    a.members.push_back(member);
  }
  for (const auto& [begin, end] : b.written) a.written.emplace(begin + shift, end + shift);
  a.has_input |= b.has_input;
  a.has_output |= b.has_output;
  b = Group();
}

}  // namespace petrel::exir
