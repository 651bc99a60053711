// SPDX-License-Identifier: Apache-2.0
//
// Groups of values with one layout in bytes, and who writes which byte. Values
// are numbered by the caller; each begins as a group of its own.
//
//   ByteGroups groups;
//   const int a = groups.add(64, /*is_written=*/true);
//   const int c = groups.add(256, /*is_written=*/false);
//   groups.unite(c, a, 128);      // a is bytes [128, 192) of c
//
// Invariant: the written ranges of a group do not overlap. unite() refuses what
// would break that, or puts a value at two places.
#ifndef PETREL_EXIR_MEMORY_BYTE_GROUPS_H_
#define PETREL_EXIR_MEMORY_BYTE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace petrel::exir {

class ByteGroups {
 public:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };

  int add(int64_t bytes, bool is_written);
  void mark_input(int value) { groups_[group_of(value)].has_input = true; }
  void mark_output(int value) { groups_[group_of(value)].has_output = true; }

  bool are_together(int a, int b) const { return group_of(a) == group_of(b); }
  // Of the begin of `inner` from that of `outer`. Precondition: together.
  int64_t distance(int outer, int inner) const {
    return position_[static_cast<size_t>(inner)] - position_[static_cast<size_t>(outer)];
  }
  const std::vector<int>& members(int value) const { return groups_[group_of(value)].members; }

  // Could unite(outer, inner, offset) be done, with `reserved` ranges of
  // `outer` written by nobody else?
  bool can_unite(int outer, int inner, int64_t offset, const std::vector<Range>& reserved) const;
  // Precondition: can_unite().
  void unite(int outer, int inner, int64_t offset);

 private:
  // Ends by begins; none meets another.
  using Ranges = std::map<int64_t, int64_t>;
  struct Group {
    std::vector<int> members;
    Ranges written;  // relative to the group's zero
    bool has_input = false;
    bool has_output = false;
  };
  static bool meets(const Ranges& ranges, const Range& range);
  size_t group_of(int value) const { return group_[static_cast<size_t>(value)]; }

  std::vector<size_t> group_;      // of each value
  std::vector<int64_t> position_;  // from the zero of its group
  std::vector<Group> groups_;      // merged ones are empty
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_BYTE_GROUPS_H_
