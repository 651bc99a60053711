// SPDX-License-Identifier: Apache-2.0
//
// Merges values that share storage (views, in-place results, members of a
// concatenation, slices) into one buffer per class, and translates the plan of
// the buffers back into a place for every value.
//
//   concat of a and b into c:        unite(c, a, 0); unite(c, b, size of a);
//
//       |<-------- c -------->|      While only a is alive the class needs
//       |<-- a -->|<--- b --->|      only a's bytes: that becomes a Gap.
//
// Invariant: within a class every value has one byte position relative to the
// others; unite() refuses contradictions.
//
//   AliasClasses classes(values);
//   PETREL_RETURN_IF_ERROR(classes.unite(c, a, 0));
//   PETREL_ASSIGN_OR_RETURN(Problem problem, classes.problem(pools));
//   PETREL_ASSIGN_OR_RETURN(Solution solution, plan(problem));
//   Placement place_of_a = classes.placement(a, solution);

#ifndef PETREL_EXIR_PLAN_MODEL_ALIAS_CLASSES_H_
#define PETREL_EXIR_PLAN_MODEL_ALIAS_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {

class AliasClasses {
 public:
  // One buffer per value, as if nothing were shared.
  explicit AliasClasses(std::vector<Buffer> values);

  // Value `inner` begins `byte_offset` bytes after the begin of `outer`
  // (may be negative).
  absl::Status unite(BufferIdx outer, BufferIdx inner, int64_t byte_offset);

  // The merged problem. Fails when members of a class have positions that no
  // address aligns all at once, or disjoint sets of allowed pools. A class
  // takes the id, and comes at the position, of its first member.
  absl::StatusOr<Problem> problem(std::vector<Pool> pools);

  // Valid after problem().
  BufferIdx buffer_of(BufferIdx value) const;
  Placement placement(BufferIdx value, const Solution& solution) const;

 private:
  struct Member {
    BufferIdx value;
    int64_t position;  // relative to the root of the class
  };

  BufferIdx find(BufferIdx value);
  std::vector<std::vector<Member>> gather_classes();
  // The buffer of one class, from what its members need over time.
  absl::StatusOr<Buffer> merge(const std::vector<Member>& members,
                               const std::vector<Stretch>& stretches);
  int64_t begin_of(const std::vector<Member>& members, int64_t* alignment) const;

  std::vector<Buffer> values_;
  std::vector<BufferIdx> parent_;
  std::vector<int64_t> position_;  // relative to the parent
  std::vector<BufferIdx> buffer_;
  std::vector<int64_t> offset_in_buffer_;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_ALIAS_CLASSES_H_
