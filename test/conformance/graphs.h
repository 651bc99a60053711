// SPDX-License-Identifier: Apache-2.0
//
// Methods composed from a fixture's step and barrier, as text IR.
//
//   steps({"a", "", "b"})      step with weight @a, barrier, step with weight @b
#ifndef PETREL_TEST_CONFORMANCE_GRAPHS_H_
#define PETREL_TEST_CONFORMANCE_GRAPHS_H_

#include <string>
#include <vector>

#include "test/conformance/fixture.h"

namespace petrel::conformance {

// One input, one chain, one output. A weight of "" stands for a barrier; names
// of weights differ from those of values, x and v0, v1, ...
std::string steps(const Fixture& fixture, const std::vector<std::string>& weights);

// A chain as above whose every value is returned, too.
std::string steps_with_all_results(const Fixture& fixture, const std::vector<std::string>& weights);

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_GRAPHS_H_
