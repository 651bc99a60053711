// SPDX-License-Identifier: Apache-2.0
//
// What is known about a connected set of buffers in one pool: the best plan so
// far, and what no plan can beat.

#ifndef PETREL_EXIR_PLAN_SEARCH_COMPONENT_PLAN_H_
#define PETREL_EXIR_PLAN_SEARCH_COMPONENT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace petrel::exir::plan {

struct ComponentPlan {
  std::vector<int64_t> offsets;
  int64_t peak = 0;
  int64_t lower_bound = 0;
  std::string method;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_COMPONENT_PLAN_H_
