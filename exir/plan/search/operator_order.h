// SPDX-License-Identifier: Apache-2.0
//
// In which order should operators run so that the values alive at one time
// need least memory? A network with branches leaves the choice:
//
//              +-> big1 -> small1 -+        big1, small1, big2, small2, sum:
//        x ----+                   +-> sum  one big value at a time
//              +-> big2 -> small2 -+        big1, big2, ...: two at a time
//
// Sets of operators that have run are explored in order of the peak so far, so
// that the first complete one is best of all. An operator that needs no more
// than that peak and frees at least what it makes is run at once: waiting never
// helps. What is left of the sets when their number is limited bounds every
// order from below.
//
//   OrderProblem problem;
//   problem.values.push_back({64});           // an input
//   problem.values.push_back({256, 0, true}); // made by operator 0, kept
//   problem.operators.push_back({{0}, {}});   // reads value 0
//   absl::StatusOr<OrderAnswer> answer = best_order(problem, 100'000);

#ifndef PETREL_EXIR_PLAN_SEARCH_OPERATOR_ORDER_H_
#define PETREL_EXIR_PLAN_SEARCH_OPERATOR_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace petrel::exir::plan {

struct OrderProblem {
  struct Value {
    int64_t size = 0;
    int32_t producer = -1;  // an operator; -1: there from the beginning
    bool kept = false;      // alive after the last operator
  };
  struct Operator {
    std::vector<int32_t> reads;  // values
    std::vector<int32_t> after;  // operators, beside those that make `reads`
  };
  std::vector<Value> values;
  std::vector<Operator> operators;
};

struct OrderAnswer {
  std::vector<int32_t> order;  // of all operators
  int64_t peak = 0;            // most bytes alive while one runs
  int64_t given_peak = 0;      // of the order 0, 1, 2, ...
  int64_t lower_bound = 0;     // no order needs less
  bool optimal = false;
  int64_t states = 0;  // sets explored
};

// The order 0, 1, 2, ... must be possible; the answer is never worse, and is
// that order when nothing better is known. Stops exploring beyond `max_states`
// sets, each of which takes about 16 bytes per operator. Fails with InvalidArgument
// when an index is out of range, a size negative or the sum of sizes beyond 2^60.
absl::StatusOr<OrderAnswer> best_order(const OrderProblem& problem, int64_t max_states);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_OPERATOR_ORDER_H_
