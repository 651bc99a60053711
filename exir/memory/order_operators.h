// SPDX-License-Identifier: Apache-2.0
//
// Puts the nodes of a graph in an order that needs less memory, where there is
// one: what branches of a network compute does not depend on which comes first,
// how much is alive at one time does.
//
//   PETREL_ASSIGN_OR_RETURN(const OrderReport report,
//                           order_operators(graph, 100'000));
//   // report.peak <= report.given_peak; nobody reaches less than lower_bound
//
// Counts what memory.h plans: every tensor that is neither constant nor a view.
// Nodes with effects keep their order among each other and to whatever shares
// a value with them. The graph stays as it is when nothing better is found.
#ifndef PETREL_EXIR_MEMORY_ORDER_OPERATORS_H_
#define PETREL_EXIR_MEMORY_ORDER_OPERATORS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

struct OrderReport {
  int64_t given_peak = 0;   // most bytes alive at one time, as it was
  int64_t peak = 0;         // as it is now
  int64_t lower_bound = 0;  // of all orders
  bool optimal = false;     // proven
};

// `max_states` bounds the search, and so do 64 MB of memory: on large graphs
// little more than the best of a few orders is found.
absl::StatusOr<OrderReport> order_operators(Graph& graph, int64_t max_states);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_ORDER_OPERATORS_H_
