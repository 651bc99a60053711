// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/contraction.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace petrel::exir::plan {
namespace {

// On each side of a group, to go through all subsets of it.
constexpr size_t kMaxSide = 13;
// With more equal subsets than this nothing is known about a group.
constexpr size_t kMaxEqualSubsets = 2048;
// How often two cuts meet at an instant, against how often one cut looks like
// two: only the order of guesses depends on it.
constexpr double kMeetings = 0.2;

struct Sum {
  int64_t bytes;
  uint32_t members;
};

// Of all subsets, in ascending order.
template <typename SizeOf>
std::vector<Sum> sums_of_subsets(const std::vector<int32_t>& side, const SizeOf& size_of) {
  std::vector<Sum> sums = {{0, 0}};
  std::vector<Sum> merged;
  const auto less = [](const Sum& a, const Sum& b) { return a.bytes < b.bytes; };
  for (size_t i = 0; i < side.size(); ++i) {
    std::vector<Sum> more = sums;
    for (Sum& sum : more) {
      sum.bytes += size_of(side[i]);
      sum.members |= uint32_t{1} << i;
    }
    merged.resize(2 * sums.size());
    std::merge(sums.begin(), sums.end(), more.begin(), more.end(), merged.begin(), less);
    sums.swap(merged);
  }
  return sums;
}

void drop(int32_t item, std::vector<int32_t>* side) {
  side->erase(std::find(side->begin(), side->end(), item));
}

int32_t other_of(const std::vector<int32_t>& pair, int32_t item) {
  return pair[0] == item ? pair[1] : pair[0];
}

int count_bits(uint32_t mask) {
  int count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
  return count;
}

double choose(int n, int k) {
  double result = 1;
  for (int i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
  return result;
}

}  // namespace

std::optional<Contraction> Contraction::of(const Problem& problem, const ConflictGraph& graph,
                                           int64_t capacity) {
  if (!problem.non_conflicts.empty() || !problem.overlaps.empty() || graph.has_extra()) {
    return std::nullopt;
  }
  Contraction result;
  result.problem_ = &problem;
  result.unit_ = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset.has_value() || !buffer.gaps.empty() || buffer.size == 0) {
      return std::nullopt;
    }
    result.unit_ = std::gcd(result.unit_, buffer.size);
  }
  std::map<int64_t, int64_t> load;  // change, then bytes alive from then on
  for (const Buffer& buffer : problem.buffers) {
    if (result.unit_ % buffer.alignment != 0) return std::nullopt;
    load[buffer.lifetime.begin] += buffer.size;
    load[buffer.lifetime.end] -= buffer.size;
  }
  std::map<int64_t, GroupIdx> group_at;
  int64_t before = 0;
  bool any = false;
  for (auto& [time, bytes] : load) {
    bytes += before;
    Group group;
    group.wall = before == 0 || bytes == 0;
    group.tight = (before == 0 || before == capacity) && (bytes == 0 || bytes == capacity);
    any = any || (group.tight && !group.wall);
    before = bytes;
    group_at[time] = static_cast<GroupIdx>(result.groups_.size());
    result.groups_.push_back(std::move(group));
  }
  if (!any) return std::nullopt;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    Item item;
    item.time = buffer.lifetime;
    item.size = buffer.size;
    item.born_in = group_at[buffer.lifetime.begin];
    item.dies_in = group_at[buffer.lifetime.end];
    result.add_item(item, {});
  }
  return result;
}

Contraction::ItemIdx Contraction::add_item(const Item& item, Pieces pieces) {
  const auto index = static_cast<ItemIdx>(items_.size());
  items_.push_back(item);
  pieces_.push_back(std::move(pieces));
  groups_[item.born_in].born.push_back(index);
  groups_[item.born_in].analyzed = false;
  groups_[item.dies_in].died.push_back(index);
  groups_[item.dies_in].analyzed = false;
  ++num_alive_;
  return index;
}

void Contraction::retire(ItemIdx index) {
  Item& item = items_[index];
  item.alive = false;
  drop(index, &groups_[item.born_in].born);
  drop(index, &groups_[item.dies_in].died);
  --num_alive_;
}

// Finds subsets of equal size, unless it has them already.
void Contraction::analyze(Group* group) {
  if (group->analyzed) return;
  group->analyzed = true;
  group->too_large = !group->tight;
  group->equal_subsets.clear();
  if (!group->tight || group->wall || group->died.size() < 2 || group->born.size() < 2) {
    return;
  }
  if (group->died.size() > kMaxSide || group->born.size() > kMaxSide) {
    group->too_large = true;
    return;
  }
  const auto size_of = [this](int32_t i) { return items_[i].size; };
  const std::vector<Sum> died = sums_of_subsets(group->died, size_of);
  const std::vector<Sum> born = sums_of_subsets(group->born, size_of);
  visited_ += static_cast<int64_t>(died.size() + born.size());
  // Neither the first, of none, nor the last, of all.
  size_t from = 1;
  for (size_t i = 1; i + 1 < died.size(); ++i) {
    while (from + 1 < born.size() && born[from].bytes < died[i].bytes) ++from;
    for (size_t j = from; j + 1 < born.size() && born[j].bytes == died[i].bytes; ++j) {
      if (group->equal_subsets.size() == kMaxEqualSubsets) {
        group->too_large = true;
        return;
      }
      group->equal_subsets.push_back(died[i].members | born[j].members << group->died.size());
    }
  }
}

// Whether the two, on the same side, may be in stretches that lie apart.
bool Contraction::separable(const Group& group, ItemIdx a, ItemIdx b) const {
  if (group.too_large) return true;
  if (group.equal_subsets.empty()) return false;
  size_t shift = 0;
  const std::vector<ItemIdx>* side = &group.died;
  if (std::find(side->begin(), side->end(), a) == side->end()) {
    shift = side->size();
    side = &group.born;
  }
  const auto bit_of = [&](ItemIdx item) {
    return shift + static_cast<size_t>(std::find(side->begin(), side->end(), item) - side->begin());
  };
  const size_t bit_a = bit_of(a);
  const size_t bit_b = bit_of(b);
  return std::any_of(group.equal_subsets.begin(), group.equal_subsets.end(),
                     [&](Mask mask) { return ((mask >> bit_a ^ mask >> bit_b) & 1) != 0; });
}

bool Contraction::join_chain(GroupIdx index) {
  const Group& group = groups_[index];
  if (!group.tight || group.wall || group.died.size() != 1 || group.born.size() != 1) {
    return false;
  }
  const ItemIdx first = group.died[0];
  const ItemIdx second = group.born[0];
  Item whole = items_[first];
  whole.time.end = items_[second].time.end;
  whole.dies_in = items_[second].dies_in;
  retire(first);
  retire(second);
  add_item(whole, {{first, 0}, {second, 0}});
  return true;
}

// Between two that live from and to the same blocks are only items that live
// within their time, so that one of the two can trade places with all these.
bool Contraction::join_stacks() {
  std::map<std::pair<GroupIdx, GroupIdx>, std::vector<ItemIdx>> twins;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].alive) continue;
    twins[{items_[i].born_in, items_[i].dies_in}].push_back(static_cast<ItemIdx>(i));
  }
  bool joined = false;
  for (auto& [groups, members] : twins) {
    if (members.size() < 2) continue;
    while (true) {
      analyze(&groups_[groups.first]);
      analyze(&groups_[groups.second]);
      bool again = false;
      for (size_t j = 1; j < members.size() && !again; ++j) {
        for (size_t i = 0; i < j && !again; ++i) {
          if (trust_twins_ ? !groups_[groups.first].tight || !groups_[groups.second].tight
                           : separable(groups_[groups.first], members[i], members[j]) ||
                                 separable(groups_[groups.second], members[i], members[j])) {
            continue;
          }
          Item whole = items_[members[i]];
          const int64_t below = whole.size;
          whole.size += items_[members[j]].size;
          retire(members[i]);
          retire(members[j]);
          const ItemIdx joint = add_item(whole, {{members[i], 0}, {members[j], below}});
          members.erase(members.begin() + static_cast<int64_t>(j));
          members[i] = joint;
          joined = again = true;
        }
      }
      if (!again) break;
    }
  }
  return joined;
}

// x is followed by y and c, which with z is followed by w. As c is within x's
// addresses and next to z, these two are neighbours, and so are y and w.
bool Contraction::join_pinwheel(ItemIdx c) {
  if (!items_[c].alive) return false;
  const Group& before = groups_[items_[c].born_in];
  const Group& after = groups_[items_[c].dies_in];
  if (!before.tight || before.wall || before.died.size() != 1 || before.born.size() != 2 ||
      !after.tight || after.wall || after.died.size() != 2 || after.born.size() != 1) {
    return false;
  }
  const ItemIdx x = before.died[0];
  const ItemIdx y = other_of(before.born, c);
  const ItemIdx z = other_of(after.died, c);
  const ItemIdx w = after.born[0];
  if (items_[x].born_in != items_[z].born_in || items_[y].dies_in != items_[w].dies_in || y == z ||
      x == w) {
    return false;
  }
  Item whole = items_[x];
  whole.time.end = items_[w].time.end;
  whole.dies_in = items_[w].dies_in;
  whole.size += items_[z].size;
  Pieces pieces = {{x, 0}, {y, 0}, {c, items_[y].size}, {z, items_[x].size}, {w, items_[y].size}};
  for (const auto& piece : pieces) retire(piece.first);
  add_item(whole, std::move(pieces));
  return true;
}

void Contraction::contract() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t g = 0; g < groups_.size(); ++g) {
      changed = join_chain(static_cast<GroupIdx>(g)) || changed;
    }
    changed = join_stacks() || changed;
    if (changed) continue;
    for (size_t i = 0; i < items_.size(); ++i) {
      changed = join_pinwheel(static_cast<ItemIdx>(i)) || changed;
    }
  }
}

void Contraction::trust_twins() {
  trust_twins_ = true;
  contract();
}

// Those that contain no other.
std::vector<Contraction::Mask> Contraction::minimal_subsets(const Group& group) const {
  std::vector<Mask> sorted = group.equal_subsets;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](Mask a, Mask b) { return count_bits(a) < count_bits(b); });
  std::vector<Mask> minimal;
  for (const Mask mask : sorted) {
    if (std::none_of(minimal.begin(), minimal.end(),
                     [&](Mask smaller) { return (mask & smaller) == smaller; })) {
      minimal.push_back(mask);
    }
  }
  return minimal;
}

// What the subsets of a group may be, with odds against their being equal by
// chance: so many pairs of subsets there are with so many members, each of which
// is equal once in as many times as there are sizes.
std::vector<Contraction::Option> Contraction::options(const Group& group) const {
  int64_t bytes = 0;
  for (const ItemIdx i : group.died) bytes += items_[i].size;
  const auto num_died = static_cast<int>(group.died.size());
  const auto num_born = static_cast<int>(group.born.size());
  const Mask died_bits = (Mask{1} << num_died) - 1;
  const double sizes = static_cast<double>(bytes) / static_cast<double>(unit_);
  std::vector<Option> options = {{0, 1}};  // one block after all
  double sum = 1;
  for (const Mask mask : minimal_subsets(group)) {
    const double pairs = choose(num_died, count_bits(mask & died_bits)) *
                         choose(num_born, count_bits(mask & ~died_bits));
    options.push_back({mask, kMeetings * sizes / pairs});
    sum += options.back().chance;
  }
  for (Option& option : options) option.chance /= sum;
  return options;
}

void Contraction::split(GroupIdx index, Mask mask) {
  Group subset;
  subset.tight = true;
  Group& whole = groups_[index];
  const auto next = static_cast<GroupIdx>(groups_.size());
  size_t bit = 0;
  for (const bool dying : {true, false}) {
    std::vector<ItemIdx>& side = dying ? whole.died : whole.born;
    std::vector<ItemIdx>& taken = dying ? subset.died : subset.born;
    std::vector<ItemIdx> rest;
    for (const ItemIdx item : side) {
      if ((mask >> bit++ & 1) == 0) {
        rest.push_back(item);
        continue;
      }
      taken.push_back(item);
      (dying ? items_[item].dies_in : items_[item].born_in) = next;
    }
    side = std::move(rest);
  }
  whole.analyzed = false;
  groups_.push_back(std::move(subset));
}

bool Contraction::guess(Random* random, bool daring) {
  // The group about which there is least doubt.
  GroupIdx best = -1;
  Option chosen;
  for (size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    if (!group.tight || group.wall || group.died.empty()) continue;
    analyze(&group);
    if (group.too_large || group.equal_subsets.empty()) continue;
    for (const Option& option : options(group)) {
      if (best >= 0 && option.chance <= chosen.chance) continue;
      best = static_cast<GroupIdx>(g);
      chosen = option;
    }
  }
  if (best < 0) return false;
  if (daring) {
    double dice = static_cast<double>(random->below(1 << 20)) / (1 << 20);
    for (const Option& option : options(groups_[best])) {
      chosen = option;
      dice -= option.chance;
      if (dice < 0) break;
    }
  }
  if (chosen.mask == 0) {
    groups_[best].equal_subsets.clear();
  } else {
    split(best, chosen.mask);
  }
  contract();
  return true;
}

Problem Contraction::reduced() const {
  Problem result;
  result.pools = problem_->pools;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].alive) continue;
    Buffer buffer;
    buffer.size = items_[i].size;
    buffer.alignment = unit_;
    buffer.lifetime = items_[i].time;
    result.buffers.push_back(std::move(buffer));
  }
  return result;
}

std::vector<int64_t> Contraction::expanded(const std::vector<int64_t>& offsets) const {
  std::vector<int64_t> all(items_.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].alive) all[i] = offsets[next++];
  }
  // Pieces are older than what they make.
  for (size_t i = items_.size(); i-- > 0;) {
    for (const auto& [piece, above] : pieces_[i]) all[piece] = all[i] + above;
  }
  all.resize(problem_->buffers.size());
  return all;
}

}  // namespace petrel::exir::plan
