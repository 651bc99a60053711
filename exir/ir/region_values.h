// SPDX-License-Identifier: Apache-2.0
//
// What a node with regions hands to them, in the order of their inputs:
//
//              inputs of each region        results of the node
//   cond       operands                     what the branch that ran gives
//   while_loop carried, operands            carried, after the last round
//   map        a row of each `rows`,        a row each from all rounds
//              operands
//   scan       carried, a row of each       carried, after the last round, then
//              `rows`, operands             a row each from all rounds
//
// `carried` are first values: a round takes what the one before gave.
#ifndef PETREL_EXIR_IR_REGION_VALUES_H_
#define PETREL_EXIR_IR_REGION_VALUES_H_

#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

struct RegionValues {
  std::vector<Value*> carried;
  std::vector<Value*> rows;
  std::vector<Value*> operands;
};

// Precondition: `node` has regions.
RegionValues region_values(const Node& node);

// The type of one of the rows of `tensor`. Precondition: it has a rank of at least 1.
TensorType row_of(const TensorType& tensor);

// The first of `rows` that is not proven to have as many rows as the one before all others: a
// loop counts those of one tensor and takes one of each. Null where all have. Precondition: all
// have a rank of at least 1.
const Value* find_other_row_count(const std::vector<Value*>& rows);

// Its regions run once for each row, or until their condition fails.
bool is_loop(const Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_REGION_VALUES_H_
