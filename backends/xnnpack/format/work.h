// SPDX-License-Identifier: Apache-2.0
//
// How much there is to compute in a graph. It pays from the caller's budget of
// element operations, and tells whether threads are worth waking: a fork and join
// costs some microseconds, in which one core does some hundred thousand
// multiply-adds.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_WORK_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_WORK_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Multiply-adds of convolutions and matrix products, and one for every element
// of the output of any other node, or of its inputs where they have more: means of planes
// read what they do not write. Saturates. Precondition: ids and kinds exist.
uint64_t count_multiply_adds(const Graph& graph);

// Whether threads that share nodes compute the graph faster than one. Only large nodes are
// shared (third_party/xnnpack/small_operators.patch); where those are few, as in recurrent
// networks, the others are slower beside threads that wait for the next of them than the large
// ones gain.
bool gains_by_threads(const Graph& graph);

// What every call costs whatever its sizes: a node takes some 20 ns before its first
// element, as long as sixteen elements of a slow operator, and a value is one more
// to look at. Programs that call graphs of empty inputs pay it too.
uint64_t count_call_work(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_WORK_H_
