// SPDX-License-Identifier: Apache-2.0
#include "test/xnnpack/operator_case.h"

#include <fstream>
#include <sstream>

#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"

namespace petrel::test {
namespace {

constexpr char kPath[] = "test/xnnpack/operator_cases.txt";

// "f32[2,3] 0.5 1 ...".
CaseTensor read_tensor(std::istringstream& words) {
  CaseTensor tensor;
  std::string type;
  words >> type;
  std::istringstream sizes(type.substr(4, type.size() - 5));
  for (std::string size; std::getline(sizes, size, ',');) tensor.sizes.push_back(std::stoi(size));
  // Streams do not read infinities.
  for (std::string value; words >> value;) tensor.values.push_back(std::stof(value));
  return tensor;
}

std::vector<OperatorCase> read_cases() {
  std::vector<OperatorCase> cases;
  std::ifstream file(kPath);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    words >> kind;
    if (kind == "case") {
      cases.emplace_back();
      words >> cases.back().name;
    } else if (kind == "input" || kind == "output" || kind == "constant") {
      words >> name;
      CaseTensor tensor = read_tensor(words);
      if (kind == "input") cases.back().inputs.push_back(std::move(tensor));
      if (kind == "output") cases.back().outputs.push_back(std::move(tensor));
      if (kind == "constant") cases.back().constants[name] = std::move(tensor);
    } else if (kind != "end") {
      cases.back().graph += line + "\n";
    }
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
  static const auto* const cases = new std::vector<OperatorCase>(read_cases());
  return *cases;
}

std::ostream& operator<<(std::ostream& out, const OperatorCase& c) { return out << c.name; }

}  // namespace petrel::test
