// SPDX-License-Identifier: Apache-2.0
//
// Puts together buffers that leave nothing free, as pieces of a cut rectangle
// do. Two ways take turns, each for ever more steps:
//
//   search of the items of a Contraction, forward and backward in time, which
//   decides in the end;
//   guesses by which items join further, often to a single one, with a short
//   search of what is left.

#ifndef PETREL_EXIR_PLAN_SEARCH_REASSEMBLY_H_
#define PETREL_EXIR_PLAN_SEARCH_REASSEMBLY_H_

#include <array>
#include <cstdint>
#include <memory>

#include "exir/plan/model/problem.h"
#include "exir/plan/search/contraction.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/component_plan.h"
#include "exir/plan/search/random.h"

namespace petrel::exir::plan {

class Reassembler {
 public:
  // Keeps references, but for `items`, those of the problem, contracted.
  Reassembler(const Problem& problem, Contraction items, int64_t capacity, Effort* effort,
              ComponentPlan* plan);
  ~Reassembler();

  // Until the capacity is met or refuted (which raises the lower bound of the
  // plan), or the effort is exhausted. Can be called again to go on.
  void run();

 private:
  struct Direction;

  void search(bool backward, int64_t steps);
  void guess(int64_t steps);
  void keep(const Contraction& items, const ComponentPlan& found, const char* method);

  const Problem& problem_;
  const Contraction items_;
  const int64_t capacity_;
  Effort* effort_;
  ComponentPlan* plan_;
  std::array<std::unique_ptr<Direction>, 2> directions_;
  Random random_;
  int64_t turn_ = 0;
  int64_t guesses_ = 0;
  int64_t steps_ = 0;  // of one turn
  bool decided_ = false;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_REASSEMBLY_H_
