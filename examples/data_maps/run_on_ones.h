// SPDX-License-Identifier: Apache-2.0
//
// What the examples here share: runs method forward of a program on ones, with
// the weights that a map gives, and prints the first number of the result.
#ifndef PETREL_EXAMPLES_DATA_MAPS_RUN_ON_ONES_H_
#define PETREL_EXAMPLES_DATA_MAPS_RUN_ON_ONES_H_

#include <string>

#include "runtime/core/named_data_map.h"

namespace petrel::examples {

// An exit code; the runtime has said why when it is not 0.
int run_on_ones(const std::string& program, const runtime::NamedDataMap& weights);

}  // namespace petrel::examples

#endif  // PETREL_EXAMPLES_DATA_MAPS_RUN_ON_ONES_H_
