// SPDX-License-Identifier: Apache-2.0
//
// Improves a plan by small changes to the order in which first fit places its
// buffers: one that touches the top goes somewhere earlier. Steps that do not
// raise the peak are kept, so that the search can drift along plateaus.

#ifndef PETREL_EXIR_PLAN_SEARCH_LOCAL_SEARCH_H_
#define PETREL_EXIR_PLAN_SEARCH_LOCAL_SEARCH_H_

#include <cstdint>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/component_plan.h"

namespace petrel::exir::plan {

// Makes up to `rounds` changes, stops at a peak of `goal`. The plan never gets worse.
void local_search(const Problem& problem, const ConflictGraph& graph, int64_t goal, int64_t rounds,
                  Effort* effort, ComponentPlan* plan);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_LOCAL_SEARCH_H_
