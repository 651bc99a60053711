// SPDX-License-Identifier: Apache-2.0
//
// Values that no operator matches, and that stand in one place of both programs: made from the
// same values, and read by two nodes that match. A node that runs another operator than it should
// is such a one:
//
//   x -- mul -- add       x -- Div -- Add       of the pair (add, Add): the pair (mul, Div)
//
// Programs that compute one thing in two ways have such values as well. So this is asked of nodes
// whose results differ, and of nothing else.
#ifndef PETREL_EXTENSION_DIFF_REPLACED_NODES_H_
#define PETREL_EXTENSION_DIFF_REPLACED_NODES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "extension/diff/value_trace.h"

namespace petrel::extension {

using ValuePairs = std::vector<std::pair<size_t, size_t>>;  // of the first and second program

// The pairs that are not among `pairs`, for what the two values of each of `of` are computed from;
// ascending.
ValuePairs replaced_nodes(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs,
                          const ValuePairs& of, CompareSteps* steps);

// Outputs that have no match, with those at the same place of the other program.
ValuePairs unmatched_outputs(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs,
                             CompareSteps* steps);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_REPLACED_NODES_H_
