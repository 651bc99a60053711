// SPDX-License-Identifier: Apache-2.0
//
// Orders in which to place buffers. None wins everywhere (by size loses on
// MobileNets, by lifetime on speech models), all together take milliseconds,
// so the planner tries them all, forward and mirrored in time.
//
//   for (const Ordering& ordering : all_orderings()) {
//     std::vector<BufferIdx> order =
//         ordered(problem, graph, buffers, ordering);
//   }

#ifndef PETREL_EXIR_PLAN_SEARCH_ORDERING_H_
#define PETREL_EXIR_PLAN_SEARCH_ORDERING_H_

#include <string>
#include <vector>

#include "exir/plan/model/edge.h"
#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

// Larger keys first; later keys break ties, then the earlier begin (mirrored:
// the later end), then the position in the problem.
enum class Key {
  kSize,
  kWidth,     // length of the lifetime
  kArea,      // size times width
  kDegree,    // number of conflicts
  kPressure,  // bytes in conflict with the buffer
  kCrowd,     // most bytes alive at once during the lifetime
  kBegin,     // earlier begin first (mirrored: later end first)
  kHint,      // lower hint first
};

struct Ordering {
  std::vector<Key> keys;
  bool mirrored = false;
};

std::vector<Ordering> all_orderings(const Problem& problem);

// Sorts `buffers`; those with a fixed offset come first in any case.
std::vector<BufferIdx> ordered(const Problem& problem, EdgesOf edges_of,
                               std::vector<BufferIdx> buffers, const Ordering& ordering);

// For reports: "size", "crowd-width-area mirrored".
std::string name_of(const Ordering& ordering);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_ORDERING_H_
