// SPDX-License-Identifier: Apache-2.0
//
// Time, cut where something changes.
//
// A Stretch is a part of a buffer's lifetime during which it needs the same
// bytes of itself; a buffer without gaps is one stretch. A Section is a
// stretch of time in which the same buffers are alive; only sections that are
// not covered by a busier neighbour's set matter to bounds, so a section
// begins only where a buffer is born after another has died:
//
//   a  |=======|                    sections: {a}, {a, b}, {b, c}, {c}
//   b      |=========|              of which {a, b} and {b, c} are kept:
//   c            |========|         each of the others is part of one of them

#ifndef PETREL_EXIR_PLAN_MODEL_TIMELINE_H_
#define PETREL_EXIR_PLAN_MODEL_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

struct Stretch {
  BufferIdx buffer = 0;
  Interval time;
  int64_t low = 0;  // bytes of the buffer needed: [low, high)
  int64_t high = 0;
};

// Stretches that need no byte are left out. Ordered by begin, then buffer.
std::vector<Stretch> stretches_by_begin(const Problem& problem);

// The maximal sets of stretches alive at one time, in order of time. Members
// are indices into `stretches`, which stretches_by_begin() made.
std::vector<std::vector<int32_t>> maximal_sections(const std::vector<Stretch>& stretches);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_TIMELINE_H_
