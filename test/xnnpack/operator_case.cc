// SPDX-License-Identifier: Apache-2.0
#include "test/xnnpack/operator_case.h"

#include <utility>

#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"
#include "test/eager/case_file.h"

namespace petrel::test {
namespace {

CaseTensor floats_of(const EagerTensor& tensor) {
  EXPECT_EQ(static_cast<exir::ScalarType>(tensor.scalar_type), exir::ScalarType::kFloat);
  CaseTensor made;
  made.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  for (const double element : tensor.elements) made.values.push_back(static_cast<float>(element));
  return made;
}

void read_cases(const std::string& file, std::vector<OperatorCase>* cases) {
  for (const EagerCase& one : load_eager_cases(file)) {
    OperatorCase& made = cases->emplace_back();
    made.name = one.name;
    made.graph = one.graph;
    for (const EagerTensor& tensor : one.inputs) made.inputs.push_back(floats_of(tensor));
    for (const EagerTensor& tensor : one.constants) made.constants[tensor.name] = floats_of(tensor);
    for (const EagerTensor& tensor : one.expected) made.outputs.push_back(floats_of(tensor));
  }
}

std::vector<OperatorCase> read_all_cases() {
  std::vector<OperatorCase> cases;
  for (const char* file : {"test/eager/cases/xnnpack.txt", "test/eager/cases/norms.txt"}) {
    read_cases(file, &cases);
  }
  return cases;
}

}  // namespace

std::unique_ptr<exir::Graph> OperatorCase::parse() const {
  const auto resolver = [this](const std::string& fqn, const exir::TensorType& type) {
    const std::vector<float>& values = constants.at(fqn).values;
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    auto constant = std::make_shared<exir::Constant>();
    constant->fqn = fqn;
    constant->type = type;
    constant->data = exir::Blob::copy_of({bytes, values.size() * sizeof(float)});
    return exir::ConstantPtr(constant);
  };
  auto parsed = exir::parse_graph(graph, &exir::find_op, resolver);
  if (parsed.ok()) return *std::move(parsed);
  ADD_FAILURE() << parsed.status() << "\n" << graph;
  return nullptr;
}

const std::vector<OperatorCase>& operator_cases() {
  static const auto* const cases = new std::vector<OperatorCase>(read_all_cases());
  return *cases;
}

std::ostream& operator<<(std::ostream& out, const OperatorCase& c) { return out << c.name; }

}  // namespace petrel::test
