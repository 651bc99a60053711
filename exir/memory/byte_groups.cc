// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/byte_groups.h"

#include <utility>

namespace petrel::exir {
namespace {

using Range = ByteGroups::Range;

// Does any range of `a`, moved by `shift`, meet one of `b`?
bool meet(const std::vector<Range>& a, int64_t shift, const std::vector<Range>& b) {
  for (const Range& x : a) {
    for (const Range& y : b) {
      if (x.begin + shift < y.end && y.begin < x.end + shift) return true;
    }
  }
  return false;
}

}  // namespace

int ByteGroups::add(int64_t bytes, bool is_written) {
  const int value = static_cast<int>(group_.size());
  group_.push_back(groups_.size());
  position_.push_back(0);
  Group group;
  group.members.push_back(value);
  if (is_written && bytes > 0) group.written.push_back({0, bytes});
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
  if (meet(b.written, shift, a.written)) return false;
  return !meet(b.written, shift - position_[static_cast<size_t>(outer)], reserved);
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
  for (const Range& range : b.written) {
    a.written.push_back({range.begin + shift, range.end + shift});
  }
  a.has_input |= b.has_input;
  a.has_output |= b.has_output;
  b = Group();
}

}  // namespace petrel::exir
