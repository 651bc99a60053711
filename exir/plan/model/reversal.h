// SPDX-License-Identifier: Apache-2.0
//
// The same buffers with time running backwards: what is hard to search in one
// direction is often easy in the other. Offsets of the one are offsets of the
// other.

#ifndef PETREL_EXIR_PLAN_MODEL_REVERSAL_H_
#define PETREL_EXIR_PLAN_MODEL_REVERSAL_H_

#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

inline Problem reversed(const Problem& problem) {
  Problem result = problem;
  for (Buffer& buffer : result.buffers) {
    buffer.lifetime = {-buffer.lifetime.end, -buffer.lifetime.begin};
    for (Gap& gap : buffer.gaps) {
      gap.time = {-gap.time.end, -gap.time.begin};
    }
  }
  return result;
}

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_REVERSAL_H_
