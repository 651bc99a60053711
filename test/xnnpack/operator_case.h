// SPDX-License-Identifier: Apache-2.0
//
// One case of test/eager/cases/xnnpack.txt: a graph, its tensors, and what eager
// PyTorch makes of them. All tensors are f32.

#ifndef PETREL_TEST_XNNPACK_OPERATOR_CASE_H_
#define PETREL_TEST_XNNPACK_OPERATOR_CASE_H_

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::test {

struct CaseTensor {
  std::vector<int32_t> sizes;
  std::vector<float> values;
};

struct OperatorCase {
  std::string name;
  std::string graph;
  std::vector<CaseTensor> inputs;  // in the order of the graph's
  std::map<std::string, CaseTensor> constants;
  std::vector<CaseTensor> outputs;

  // Parsed anew; null after reporting a test failure.
  std::unique_ptr<exir::Graph> parse() const;
};

// All cases of the file. The process ends without it.
const std::vector<OperatorCase>& operator_cases();

// For the names of parameterised tests.
std::ostream& operator<<(std::ostream& out, const OperatorCase& c);

}  // namespace petrel::test

#endif  // PETREL_TEST_XNNPACK_OPERATOR_CASE_H_
